"""Sort the words of a sentence about a game into a few kinds, over which the clause grammar is written.

Every kind is one letter, so that a sentence becomes a short string and a rule a regular expression over it:
"With R the worst I can get is 1" is `wamyr=n`. Words without meaning for a claim ("the", "then", "also") are dropped;
words that are not known stay as `_` and keep a rule from reading across them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.translators.words import CHOOSE, Words, read_amount

__all__ = ["Lexer", "Token", "encode"]

_GAIN: Final = (
    r"(?:payoffs?|payouts?|rewards?|profits?|utilit(?:y|ies)|earnings|scores?|amounts?|returns?|gains?(?= (?:is"
    r"|of|are))"
    r"|values?|results?|scenarios?|outcomes?|cells?)"
)
_ADJECTIVE: Final = frozenset(
    {"high", "low", "medium", "up", "down", "left", "right", "safe", "risky", "top", "bottom", "middle", "in", "out"}
)
_PHRASES: Final = (
    ("_", r"(?:step|option|case|scenario|round|section|figure|table|part|point|equation|chapter) \d+\b"),
    ("V", r"no matter (?:what|which|how)(?: the)?(?: \w+){0,3}? (?:does|do|chooses?|plays?|picks?|choice|reacts?"
          r"|responds?|have reacted|have responded)"
          r"|(?:whatever|regardless of (?:what|which)|irrespective of what)(?: the)?(?: \w+){0,3}? (?:does|do"
          r"|chooses?|plays?|picks?)"
          r"|whether (?:or not )?[^,;:]{3,60}? or [^,;:]{2,40}(?=,)"
          r"|in (?:every|each|either|any|all|both) cases?|either way|against (?:every|both|all|any"
          r"|either) (?:of )?(?:\w+ ){0,2}?"
          r"(?:choices?|actions?|prices?|moves?|strateg(?:y|ies))(?: of [\w' ]{2,24}?(?=[,.;]|$))?"),
    ("X", r"other than|except(?: for)?|apart from|besides|with the exception of"),
    ("R", r"instead of|rather than|(?:as )?(?:compared|opposed) (?:with|to)(?: only| just)?|versus|vs\.?"),
    ("^", r"beats?|outperforms?|surpass(?:es)?|exceeds?|trumps?"),
    ("/", r"(?:unilaterally )?(?:deviat|switch|chang)(?:e|es|ed|ing)?(?! (?:to|from|over)\b)(?: unilaterally| alone)?"
          r"(?: (?:its|their|his|her|my) (?:own )?(?:strategy|action|choice))?"),
    ("A", r"(?:all|each) (?:of )?(?:the )?(?:other )?(?:\w+ )?outcomes|(?:every|any|each) (?:other )?outcome"
          r"|all (?:other )?cells"),
    ("@", r"(?:the two|both|the two available|my two) (?:options|actions|choices|strategies)"),
    ("Y", r"in (?:this|that|which|the latter|the former|such a?|that last|this last) (?:case|situation|event)"
          r"|there(?= (?:both|we|I|they)\b)"),
    ("U", r"equally likely to \w+ (?:either|each|any|all)(?: of)?(?: \w+){0,3}?(?=[,.;]|$| then)"
          r"|(?:a )?(?:uniform|50[/-]50|fifty[- ]fifty)"
          r"(?:ly)?(?: \w+)?(?: (?:belief|opponent|distribution|mix|chance|probability))?"
          r"|each (?:of )?(?:\w+ ){0,3}?(?:actions?|prices?|choices?|options?"
          r"|moves?) with (?:equal )?probability(?: 1/\d+)?"),
    ("B", r"BR(?:_?\{?(?:1|me|i)\}?)?(?=\s*\()"
          r"|(?:(?:only|unique|strict) )?(?:best|optimal) (?:response|reply|answer|choice|option|move|action"
          r"|decision|play)s?"),
    ("k", r"(?:means?|brings?|implies|is|would be) a loss of"),
    ("v", r"(?:is|are|would be|being) (?:only )?worth"),
    ("E", r"expected(?: (?:payoff|value|profit|utility|return))?s?|on average|in expectation|average(?: payoff)?"),
    ("%", r"with (?:a )?(?:probability|chance|likelihood)(?: of)?|with probability"),
    ("m", r"security (?:level|value)|worst[- ]case(?: (?:payoff|outcome|scenario|result))?|(?:guaranteed"
          r"|sure) (?:minimum|payoff)"
          r"|at (?:the )?(?:very )?(?:least|worst)"),
    ("J", r"maximin|max-min"),
    ("j", r"minimax|min-max"),
    ("M", r"best[- ]case(?: (?:payoff|outcome|scenario|result))?|up to|at (?:the )?(?:very )?most|at best"),
    ("=", r"(?:peak|amount|come|add up|sum|total)s? (?:at|to)(?= -?\d)"
          r"|(?:is |are )?(?:occurs?|reached|attained|achieved|arises?|comes?)(?= (?:at|when|if|in|from)\b)"),
    ("S", r"industry (?:profit|payoff)s?"
          r"|(?:the )?(?:sum|total)(?: of (?:the |all |both |our )*payoffs| (?:payoff|profit|welfare|sum))?s?"
          r"|(?:joint|combined|collective|total|mutual) (?:payoff|profit|welfare|reward|benefit|sum)s?"),
    ("O", r"pareto[- ](?:optimal|efficient)"),
    ("z", r"pareto[- ](?:dominated|inferior|inefficient)"),
    ("o", r"pareto[- ](?:dominates?|superior)"),
    ("Q", r"(?:(?:pure(?:[- ]strategy)?|strict) )*(?:nash )?equilibri(?:um"
          r"|a)(?: in pure strategies)?(?: point)?s?|saddle points?|(?:strategically )?stable|self-enforcing"),
    ("1", r"(?:the )?(?:only(?! -?\d)|unique|sole)|exactly one|a single"),
    ("d", r"dominant(?: (?:strategy|choice|action|move|option|price))?s?"),
    ("D", r"dominates?|dominating"),
    ("x", r"dominated(?: (?:strategy|choice|action|move|option))?"),
    ("s", r"strictly"),
    ("q", r"weakly"),
    ("Z", r"indifferent|a tie|tied"),
    ("G", r"guarante(?:e|es|ed|eing)|ensur(?:e|es|ing)|assur(?:e|es|ing)|secur(?:e|es|ing)"),
    ("u", r"(?:raise|increase|improve|boost|rise|go(?:es)? up)(?:s|d|ing)?|rising|raising|increasing|improving"),
    ("L", r"(?:drop|fall|decrease|reduce|lower|shrink)(?:s|ed|ing)?|falling|reducing|dropping"),
)  # fmt: skip
_WORDS: Final = (
    ("h", rf"(?:would rather )?(?:{CHOOSE}|set(?:s|ting)?|charg(?:e|es|ing)|post(?:s|ing)?"
          rf"|switch(?:es|ed|ing)?(?= (?:to|from|over)\b)(?: to"
          rf"| over to)?"
          r"|deviat(?:e|es|ed|ing)(?= (?:to|from)\b)(?: to)?|mov(?:e|es|ed|ing)(?= (?:to|from)\b)(?: to)?"
          r"|defecting(?= from \()"
          r"|respond(?:s|ed|ing)? with|repl(?:y|ies|ying) with|undercut(?:s|ting)? with|keeps?(?= \w+ing))"),
    ("r", r"gets?|getting|receiv(?:e|es|ing)|earn(?:s|ing)?|obtain(?:s|ing)?|mak(?:e|es|ing)|win(?:s|ning)?"
          r"|collect(?:s|ing)?"
          r"|scor(?:e|es|ing)(?= -?\d)|pockets?|end(?:s|ing)?(?: up)? with|walks? (?:away|off|free)(?: with)?"
          r"|takes? home"
          r"|(?:am|is|are) looking at"
          r"|hope for|(?:be|am|is|are) left with"
          r"|happen(?:s)?(?: to me)?|gain(?:s|ing)?|achiev(?:e|es)|secure me"),
    ("l", r"los(?:e|es|ing)|forfeits?|stand to lose"),
    ("v", r"giv(?:e|es|ing)|yield(?:s|ing)?|pay(?:s|ing)?|bring(?:s|ing)?|net(?:s|ting)?|leav(?:e|es|ing)|grants?"
          r"|awards?|offers?|provides?|means(?= -?\d)"),
    ("k", r"cost(?:s|ing)?"),
    ("i", r"if|when|whenever|given that|given|suppose|supposing|assuming|should(?= (?:the|they|he|she|I|you|we|my"
          r"|player|both)\b)|once|provided that"),
    ("g", r"against|facing|in response to|to (?=an? \w+ing )"),
    ("w", r"with|by|under|through|via"),
    ("f", r"from"),
    ("F", r"for|of"),
    ("2", r"to"),
    ("P", r"at|in|where"),
    ("=", r"is|are|was|were|be|been|equals?|remains?|being|has|have|stays?|am"),
    ("!", r"not|never|neither|nor|cannot|without|nobody|no one|no(?! doubt| matter)"),
    ("?", r"can|could|might|may|perhaps|maybe|possibly|seems?|appears?|looks?|likely|probably"),
    ("p", r"prefers?|favou?rs?"),
    ("R", r"over(?= \w)"),
    ("K", r"better(?: (?:off|response|reply|answer|choice|option))?|more|higher|greater|larger"),
    ("W", r"worse(?: off)?|less|smaller"),
    ("T", r"than"),
    ("M", r"best|optimal|most|highest|maxim(?:um|a)|max|largest|greatest|maxim(?:al|i[sz](?:e|es|ed|ing))"),
    ("m", r"worst|least|lowest|minim(?:um|a)|min|smallest|minimal"),
    ("N", _GAIN),
    ("~", r"same|equal(?! to)"),
    ("C", r"but|while|whereas|although|though|however|yet|because|since"),
    ("&", r"and|&"),
    ("|", r"or|either"),
    ("b", r"belief|beliefs"),
    ("H", r"(?:this|that|it)(?= (?:is|would|was)\b|'s)"),
)  # fmt: skip
_DROPPED: Final = (
    r"the|an?|should|then|also|would|will|shall|do|does|did|so|thus|hence|therefore|again|still|just|exactly|it"
    r"|its|that|there|too"
    r"|as well|clearly|simply|always|even|only(?= (?:-?\d))|actually|now|ever|possible|possibly|end up|really"
    r"|overall|individual"
    r"|strategy|choice|action|option|move|price|row|column(?! player)|available|own|me(?= being)|likewise"
    r"|similarly|moreover|mere(?:ly)?|obviously|of course|who(?= \w)|namely|strategies|'s"
)
_APPROXIMATE: Final = r"(?:about|approximately|approx\.?|roughly|around|nearly|almost|some|≈|~)\s*"
_NUMBER: Final = r"-?(?:\d{1,3}(?:,\d{3})+(?![\d.]*\d)|\d{1,12}(?:\.\d{1,12})?(?:/[1-9]\d{0,5})?)"
_SPELLED: Final = (
    r"(?:empty-handed|nothing(?! (?:to|but|more|else|like))"
    r"|(?:zero|two|three|four|five|six|seven|eight|nine|ten)(?=\s*(?:[.,;:)]|$|(?:each|apiece|and|but|while|if"
    r"|when|for|from|with|by)\b)))"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or phrase: its kind, what it stands for (players, an action's text, an amount), and where it stands."""

    kind: str
    value: tuple[int, ...] | str | Fraction | None
    start: int
    end: int


def encode(tokens: list[Token]) -> str:
    """Write the kinds of the tokens in a row."""
    return "".join(token.kind for token in tokens)


class Lexer:
    """Splits sentences about one game of two players into tokens."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def read(self, sentence: str) -> list[Token]:
        """Return the tokens of a sentence."""
        return list(self._tokens(sentence))

    def _tokens(self, text: str) -> Iterator[Token]:
        place = 0
        while place < len(text):
            match = self._pattern.match(text, place)
            if match is None:
                place += 1
                continue
            token = self._token(match)
            if token is not None:
                yield token
            place = match.end()

    def _token(self, match: re.Match[str]) -> Token | None:
        group = str(match.lastgroup)
        kind, value = self._sort(group, match)
        return Token(kind, value, match.start(), match.end()) if kind else None

    def _sort(self, group: str, match: re.Match[str]) -> tuple[str, tuple[int, ...] | str | Fraction | None]:
        text = match.group().strip()
        if group.startswith("kind"):
            return self._kinds[int(group[4:])], text
        match group:
            case "person":
                return self._person(text)
            case "cell":
                return self._cell(text)
            case "action":
                return "a", text
            case "number":
                value = Fraction(0) if text.lower() == "empty-handed" else read_amount(text.rstrip("."))
                return ("_", None) if value is None else ("n", value)
            case "percent":
                return "n", Fraction(text.rstrip("% ")) / 100
            case "mark":
                return {"→": "=", "⇒": "=", "=": "=", ":": ":"}.get(text, text), text
            case "word" | "rough":
                return "_", text
            case _:
                return "", None

    def _person(self, text: str) -> tuple[str, tuple[int, ...]]:
        own = re.fullmatch(r"(?:my|your|mine|our)", text, re.IGNORECASE)
        if own or re.fullmatch(r"(?:their|his|its)", text, re.IGNORECASE):
            return ("y", (0,)) if own else ("t", (1,))
        if text.casefold() in ("mutual", "joint"):
            return "e", (0, 1)
        found = re.match(self.words.who, re.sub(r"'s?$", "", text), re.IGNORECASE)
        whom = self.words.whom(found) if found is not None else ()
        if whom == (0,):
            return "y", whom
        return ("t" if whom and 0 not in whom else "e" if whom else "_"), whom

    def _cell(self, text: str) -> tuple[str, tuple[int, ...] | None]:
        names = re.findall(self.words.labels, text, re.IGNORECASE)[:2]
        if len(names) != 2 or (self.words.alike and not self.words.clear(*names)):
            return "_", None
        for mine, theirs in (names, names[::-1]):
            actions = self.words.action(0, mine), self.words.action(1, theirs)
            if actions[0] is not None and actions[1] is not None:
                return "c", (actions[0], actions[1])
        return "_", None

    @cached_property
    def _kinds(self) -> list[str]:
        return [kind for kind, _ in (*_PHRASES, *_WORDS)]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        label = self._labels
        who = re.sub(r"\?P<\w+>", "?:", self.words.who)
        own = r"my|your|mine|our(?= (?:best|optimal)\b)"
        people = rf"(?P<person>(?:{who})(?:'s?)?|\b(?:{own}|their|his|its(?= best)|mutual|joint(?= {label}))\b)"
        kinds = [rf"(?P<kind{place}>\b(?:{pattern})(?!\w))" for place, (_, pattern) in enumerate((*_PHRASES, *_WORDS))]
        first, later = kinds[: len(_PHRASES)], kinds[len(_PHRASES) :]
        parts = [
            *first,
            rf"(?P<cell>\(\s*{label}\s*[,;/&]\s*{label}\s*\))",
            r"\b(?:the other|other)(?= (?:\w+ )?(?:options?|actions?|choices?|cells?|outcomes?|two|three))",
            people,
            rf"(?P<action>{label})",
            rf"(?P<rough>{_APPROXIMATE}{_NUMBER})",
            rf"(?P<percent>{_NUMBER}\s?%)",
            rf"(?P<number>(?<![\w.]){_NUMBER}(?![\w]|\.\d|\s?%)|\b{_SPELLED})",
            *later,
            rf"\b(?:{_DROPPED})\b(?!')",
            r"(?P<mark>[,;:()=<>?→⇒])",
            r"(?P<word>[\w'][\w'.-]*\w|\w)",
            r"\s+",
        ]
        return re.compile("|".join(parts), re.IGNORECASE)

    @cached_property
    def _labels(self) -> str:
        """Any action; one that is also an everyday adjective only as the game spells it."""
        names = [name for own in self.words.subject.actions for name in own]
        exact = sorted({name for name in names if name.casefold() in _ADJECTIVE}, key=lambda name: (-len(name), name))
        if not exact:
            return self.words.things
        others = self.words.pattern_for([name for name in self.words.ordered if name not in exact])
        return rf"(?:(?-i:\b(?:{'|'.join(map(re.escape, exact))})\b)|{others})"
