"""The words by which plain English speaks of amounts, actions and players, for one game."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.subject import Subject

__all__ = ["CHOOSE", "NUMBER", "Words", "read_amount", "reduce_sums", "strip_markup"]

_COUNTED: Final = (
    *("nothing", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_VALUES: Final = {word: Fraction(max(0, place - 1)) for place, word in enumerate(_COUNTED)} | {"half": Fraction(1, 2)}
_UNIT: Final = r"(?:points?|dollars?|units?|euros?|pounds?|USD|EUR|each|apiece)"
_SPELLED: Final = (
    rf"(?:{'|'.join(word for word in _COUNTED if word not in ('one', 'nothing'))})"
    rf"|nothing(?!\s*\()|one(?=\s+{_UNIT}|\s*(?:[.,;:)]|$))|half(?=\s+an?\s+{_UNIT})"
)
_DIGITS: Final = r"-?(?:\d{1,3}(?:,\d{3})+|\d{1,12}(?:\.\d{1,12}|/[1-9]\d{0,5})?)"
NUMBER: Final = (
    rf"(?P<number>(?<![\w.])(?:{_DIGITS}|(?:{_SPELLED})(?![\w'])))"
    r"(?![\d.,]*\d|\s*(?:%|percent\b|(?:or|to)\s+-?\d|(?:or|to)\s+(?:two|three|four|five|ten)\b|-\s*\d|/\s*\d))"
)
CHOOSE: Final = (
    r"(?:choose|chooses|chose|chosen|choosing|pick|picks|picked|picking|select|selects|selected|selecting|play|plays"
    r"|played|playing|go(?:es)?(?: (?:with|for))?|going(?: (?:with|for))?|opt(?:s|ed|ing)? for|use|uses|using|take"
    r"|takes|taking|adopt|adopts|adopting|stick(?:s|ing)? (?:with|to)|throw|throws|throwing"
    r"|coordinat(?:e|es|ing) on|settl(?:e|es|ing) on|(?:is|are|am|be|being|both) (?:on|at)|on)"
)
_NOUN: Final = (
    r"(?:anonymous )?(?:player|person|one|side|party|participant|driver|firm|company|hunter|prisoner|suspect|seller"
    r"|bidder|team|country|agent|individual|guy|opponent|partner)"
)
_THEM: Final = (
    rf"they|them|she|he|him|her|(?:the |my |your |an? )?(?:other|rival|opposing|second) {_NOUN}"
    r"|(?:the |my |your |an? |this |that )?(?:anonymous )?(?:opponent|counterpart|partner|rival|adversary|competitor"
    r"|co-?player)|(?:the |an? )?anonymous (?:player|person)|the other|other"
)
_BOTH: Final = (
    r"both(?: of (?:us|you|them)| (?:players|sides|parties|firms|companies|drivers|hunters|prisoners|suspects"
    r"|agents)|(?: of)? (?:I|you|me) and [a-z ]{2,30}?)?"
    r"|(?:we|they) both|they each"
    r"|(?:I|you) and (?:the )?(?:other|anonymous) player(?: both)?"
)
_ALL: Final = (
    r"we all|we each|we|each (?:player|of us|of you|person|one|side|firm|company|driver|hunter)|each|everyone"
    r"|everybody|every player"
    r"|all (?:of us|players|of them|(?:the )?(?:two|three|four|five|\d)(?: of us| players)?)|all"
    r"|the (?:two|three|four|five) of us"
)
_ELSE: Final = r"everyone else|everybody else|(?:all |both )?(?:the )?others|the other (?:two|three|four)(?: players)?"
_SHORT: Final = {
    "'d": " would",
    "'ll": " will",
    "'m": " am",
    "'re": " are",
    "'ve": " have",
}
_TERM: Final = r"\(?\s*-?\d{1,9}(?:\.\d{1,9})?(?:/\d{1,9})?%?\s*\)?"
_SUM: Final = re.compile(
    rf"(?<![\w.(])(?:{_TERM}\s*(?:[-+*/x×·]|\\times|\\cdot)?\s*){{2,12}}=\s*(?P<result>-?\d{{1,9}}(?:\.\d{{1,9}})?)(?![\d.]*\d|\s*[-+*/×·])"
)
_BARE: Final = frozenset({"a", "i", "I"})


def strip_markup(text: str) -> str:
    """The text without markup, currency signs, short forms and what nobody sees; lines and indentation stay.

    >>> strip_markup("**I'd** get $3 or minus two points")
    'I would get 3 or -two'
    """
    text = re.sub(r"\\(?:text|textbf|mathbf|mathrm)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\[()\[\]]", "", text)
    text = re.sub(r"[*_`#]{2,}|[*`]", "", text.replace("’", "'").replace("‘", "'").replace("−", "-"))
    text = re.sub(r"\b(?:minus|negative)\s+(?=[\dtfsenz])", "-", text.replace("½", "0.5"))
    text = re.sub(r"(?<![\w.])[+]\s?(?=\d)", "", text)
    text = re.sub(r"-\s?\\?[$€£]\s?(?=\d)", "-", text)
    text = re.sub(r"\\?[$€£]\s?(?=-?\d)|(?<=\d)\s?\\?[$€£]", "", text)
    text = re.sub(rf"(?<=\d)\s?{_UNIT.replace('|each|apiece', '')}\b", "", text)
    text = re.sub(rf"\b({'|'.join(_COUNTED)})\s{_UNIT.replace('|each|apiece', '')}\b", r"\1", text)
    text = re.sub(r"[\"“”'](\w{1,20})[\"“”']|[\"“”](\w[\w -]{0,30}\w)[\"“”]", r"\1\2", text)
    text = re.sub(r"(?<=\w)'(?:d|ll|m|re|ve)\b", lambda found: _SHORT[found.group()], text)
    return "".join(c for c in text if c in "\n\t" or c.isprintable())


def read_amount(text: str) -> Fraction | None:
    """The number that is written or spelled; None for a ratio that is hardly one number.

    >>> read_amount("1,250"), read_amount("-three"), read_amount("1/2"), read_amount("5/3")
    (Fraction(1250, 1), Fraction(-3, 1), Fraction(1, 2), None)
    """
    word = text.strip().lower().replace(",", "")
    sign, word = (-1, word[1:]) if word.startswith("-") else (1, word)
    if word.split()[0] in _VALUES:
        return sign * _VALUES[word.split()[0]]
    value = Fraction(word)
    return None if "/" in word and not 0 < value < 1 else sign * value


def reduce_sums(text: str) -> str:
    """Return the text with the result in the place of each sum or product that is worked out.

    >>> reduce_sums("Up gives 0.5*3 + 0.5*0 = 1.5 on average")
    'Up gives 1.5 on average'
    """
    return _SUM.sub(lambda found: found["result"], text)


def _inflected(word: str) -> set[str]:
    """A verb as it is used: swerve, swerves, swerved, swerving; and as a noun: defection."""
    word = word.casefold()
    stem = word[:-1] if word.endswith("e") else word
    found = {word, f"{word}s", f"{stem}ed", f"{stem}ing", f"{stem}ion", f"{word}ment"}
    if word.endswith(("s", "x", "ch", "sh")):
        found.add(f"{word}es")
    if re.search(r"[^aeiou]y$", word):
        found |= {f"{word[:-1]}ies", f"{word[:-1]}ied"}
    if re.search(r"[^aeiou][aeiou][bdglmnprt]$", word):
        found |= {f"{word}{word[-1]}{end}" for end in ("ed", "ing")}
    return found


def _forms(action: str) -> str:
    """A pattern of the ways to write an action; a single letter is taken as it stands."""
    if len(action) == 1:
        return f"(?-i:{re.escape(action)})"
    first, *rest = re.split(r"[\s_-]+", action.strip())
    heads = _inflected(first) if first.isalpha() and len(first) > 2 else {first}
    tail = "".join(rf"[\s_-]+{re.escape(word)}" for word in rest)
    return "|".join(re.escape(head) + tail for head in sorted(heads, key=lambda head: (-len(head), head)))


class Words:
    """How one game is spoken of: patterns for its players and actions, and what a match means."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.count = len(subject.players)

    @cached_property
    def ordered(self) -> list[str]:
        """All actions, the longest first, so that no name hides a longer one."""
        return sorted({a for own in self.subject.actions for a in own if a.strip()}, key=lambda a: (-len(a), a))

    @cached_property
    def _initials(self) -> dict[str, str]:
        """Actions by their capital first letter, where these are all different and no action is a letter."""
        names = dict.fromkeys(name for own in self.subject.actions for name in own if name.strip())
        letters = [name.strip()[0].upper() for name in names]
        plain = all(len(name) > 1 for name in names) and len(set(letters)) == len(letters)
        return dict(zip(letters, names, strict=True)) if plain and self.count == 2 else {}

    def spell_out(self, text: str) -> str:
        """Write out what is abbreviated: (C, D) or CD as an outcome, "nobody cooperates" as what both then do."""
        text = re.sub(r"\b(for|to) either (firm|player|side|one)\b", r"\1 each \2", text, flags=re.IGNORECASE)
        if self.count == 2 and self.alike and len(self.subject.actions[0]) == 2:
            text = self._nobody.sub(self._turn, text)
        if not self._initials:
            return text
        one = f"[{''.join(map(re.escape, self._initials))}]"
        pairs = re.compile(rf"\(\s*({one})\s*[,;/]\s*({one})\s*\)|(?<![\w-])({one})/?({one})(?![\w-])")
        return pairs.sub(lambda found: "({}, {})".format(*(self._initials[x] for x in found.groups() if x)), text)

    @cached_property
    def _nobody(self) -> re.Pattern[str]:
        who = r"(?:nobody|no one|neither(?: (?:of us|player|side|firm|party))?)"
        return self.compiled(rf"\b{who} (?:{CHOOSE} )?(?P<action>{self.things})(?=\s*(?:[,:;]|$|we\b|then\b))")

    def _turn(self, match: re.Match[str]) -> str:
        place = self.action(0, match["action"])
        return match.group() if place is None else f"both choose {self.subject.actions[0][1 - place]}"

    @cached_property
    def labels(self) -> str:
        """Any action, in any of its forms."""
        return self.pattern_for(self.ordered)

    @cached_property
    def deeds(self) -> str:
        """Actions that can be said as a verb: I cooperate, they stay silent."""
        return self.pattern_for([a for a in self.ordered if len(a) > 2 and re.split(r"[\s_-]", a)[0].isalpha()])

    @cached_property
    def things(self) -> str:
        """Actions that are not also an article or a pronoun."""
        return self.pattern_for([a for a in self.ordered if a not in _BARE])

    @cached_property
    def gerunds(self) -> str:
        """Actions said as what one does: defecting, staying silent."""
        verbs = [a for a in self.ordered if len(a) > 2 and re.split(r"[\s_-]", a)[0].isalpha()]
        forms = [form for a in verbs for form in _forms(a).split("|") if re.match(r"[a-z]+ing\b", form)]
        return rf"(?:(?<![\w'-])(?:{'|'.join(forms)})(?![\w']|-\w))" if forms else "(?!)"

    def clear(self, first: str, second: str) -> bool:
        """Whether a pair such as (2, 1) says whose is whose.

        The reasoner's stands first, and so does the first player's; where these are not the same, only equal ones do.
        """
        return self.subject.seat == 0 or first.casefold() == second.casefold()

    def pattern_for(self, actions: list[str]) -> str:
        """Return a pattern that matches any of these actions, in any of their forms."""
        return rf"(?:(?<![\w'-])(?:{'|'.join(map(_forms, actions))})(?![\w']|-\w))" if actions else "(?!)"

    @cached_property
    def numeric(self) -> bool:
        """Whether some action is called by a number, so that a number alone tells nothing."""
        return any(action[:1].isdigit() for own in self.subject.actions for action in own)

    @cached_property
    def alike(self) -> bool:
        """Whether everybody has the same actions, so that an action alone does not tell whose it is."""
        return all(own == self.subject.actions[0] for own in self.subject.actions)

    @cached_property
    def _known(self) -> tuple[tuple[tuple[re.Pattern[str], int], ...], ...]:
        return tuple(
            tuple((re.compile(rf"(?i:{_forms(a)})"), k) for k, a in enumerate(own)) for own in self.subject.actions
        )

    def action(self, who: int, text: str) -> int | None:
        """The place of an action of one player; None where that player has none of this name."""
        own = self.subject.index[who]
        if text in own:
            return own[text]
        return next((k for pattern, k in self._known[who] if pattern.fullmatch(text)), None)

    @cached_property
    def people(self) -> dict[str, int]:
        """Names of single players, longest first."""
        named = {name.casefold(): i for i, name in enumerate(self.subject.players)}
        named |= {self.subject.game.players[seat].casefold(): i for i, seat in enumerate(self.subject.order)}
        named |= {f"player {seat + 1}": i for i, seat in enumerate(self.subject.order)}
        if self.count == 2:
            for i, seat in enumerate(self.subject.order):
                side = ("row", "column")[seat]
                named |= {f"{side} player": i, side: i}
        return {name: named[name] for name in sorted(named, key=len, reverse=True) if len(name) > 1}

    @cached_property
    def who(self) -> str:
        """Somebody, or several: the groups say who."""
        names = rf"(?:the )?(?:{'|'.join(map(re.escape, self.people))})"
        several = rf"(?:I|{names})(?:(?:, (?:and )?| and )(?:I|{names})){{1,5}}" if self.count > 2 else "(?!)"
        them = _THEM if self.count == 2 else "(?!)"
        everybody = rf"{_BOTH}|{_ALL}" if self.count == 2 else _ALL
        return (
            rf"(?P<several>\b(?:{several})\b)|(?P<rest>\b(?:{_ELSE})\b)|(?P<all>\b(?:{everybody})\b)"
            rf"|(?P<named>\b(?:{names})\b)|(?P<them>\b(?:{them})\b)|(?P<you>\b(?:I|you|me|myself)\b)"
        )

    def whom(self, match: re.Match[str]) -> tuple[int, ...]:
        """Which players a match speaks of; empty where it does not say."""
        found = {name: text for name, text in match.groupdict().items() if text}
        everybody = tuple(range(self.count))
        if "several" in found:
            parts = re.split(r", (?:and )?| and ", found["several"])
            return tuple(dict.fromkeys(0 if part.casefold() == "i" else self._one(part) for part in parts))
        if "all" in found:
            return everybody
        if "rest" in found:
            return everybody[1:]
        if "named" in found:
            return (self._one(found["named"]),)
        return (1,) if "them" in found else (0,) if "you" in found else ()

    def _one(self, name: str) -> int:
        folded = name.casefold()
        return self.people[folded if folded in self.people else folded.removeprefix("the ")]

    def compiled(self, pattern: str) -> re.Pattern[str]:
        """Compile a pattern that ignores case."""
        return re.compile(pattern, re.IGNORECASE)
