"""Who chooses what, and who gets how much, in one clause of plain English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.translators.words import CHOOSE, NUMBER, Words, read_amount

__all__ = ["Amounts", "Cell", "Choices"]

_ADVERB: Final = (
    r"(?:,|also|both|each|will|would|could|can|might|may|should|do|does|did|only|just|still|then|all|likewise|similarly"
    r"|instead|always|simply|too|decide to|decides to|chooses to|choose to|happens to|end up|ends up|were to|was to"
    r"|is going to|am going to|is likely to|are likely to|to)"
)
_KIND: Final = r"(?:(?:the |an? |my |their |his |her )?(?:(?:option|action|choice|strategy|move|card)\s+)?)"
_NO_CHOICE: Final = (
    r"(?:avoid|fear|reject|refuse|expect|think|believe|assume|know|anticipate|predict|suspect|doubt|leave|abandon"
    r"|like|hate|consider|imagine|prevent|punish|see|say|want|compare|change|switch|deviat)"
)
_GET: Final = (
    r"(?:get|gets|getting|receive|receives|receiving|earn|earns|earning|gain|gains|gaining|make|makes|making|win|wins"
    r"|winning|obtain|obtains|secure|secures|collect|collects|score|scores|have|has|end up with|ends up with"
    r"|(?:am|is|are|be) left with|walks? (?:away|free) with|takes? home|(?:payoff|reward|gain)s? (?:is|are|would be"
    r"|will be)|(?P<loss>lose|loses|losing|forfeit|forfeits))"
)
_GIVE: Final = (
    r"(?:gives?|giving|yields?|yielding|brings?|bringing|earns?|earning|nets?|netting|leaves?|leaving|gets?|pays?"
    r"|paying|grants?|awards?|returns?|(?P<cost>costs?|costing))"
)
_SUM: Final = (
    r"(?:(?:with )?(?:a |an |the |my |their |our )?(?:(?:maximum|minimum|lower|higher|highest|lowest|low|high|moderate"
    r"|mutual|good|decent|smaller|larger|possible|positive|negative|individual|full|equal|sure|total) )*"
    r"(?:payoff|payout|reward|outcome|amount|total|sum|score|return|profit|loss)s? ?(?:of|is|:|\()? ?"
    r"|nothing \(|(?:with )?(?:only |just |exactly |about |a |the )*)?"
)
_GAIN: Final = r"(?:payoff|payout|reward|outcome|gain|take|share|earnings|return|utility|score|profit)"
_NOT_KEPT: Final = r"(?<!them from )(?<!player from )(?<!away from )(?<!deviate from )"
_GIVE_WHOM: Final = r"(?:gives?|yields?|brings?|earns?|nets?|leaves?|gets?|pays?|costs?)\s+(?:me|us|you|each|both)\b"
_NUMBERS: Final = tuple(
    rf"(?P<{name}>(?<![\d.])-?\d{{1,12}}(?:\.\d{{1,12}}|/[1-9]\d{{0,5}})?)" for name in ("first", "second")
)
_PAIRS: Final = (
    re.compile(rf"(?<!\w)\(\s*{_NUMBERS[0]}\s*[,;]\s*{_NUMBERS[1]}\s*\)"),
    re.compile(rf"\bpayoffs?\s+(?:are|of|:)\s+{_NUMBERS[0]}\s+and\s+{_NUMBERS[1]}(?![\d.])", re.IGNORECASE),
    re.compile(rf"(?:->|→|=>|[:=])\s*{_NUMBERS[0]}\s*[,;/]\s*{_NUMBERS[1]}\s*(?=[,;.)]|$)(?!\s*[,;/]\s*(?:and )?-?\d)"),
)
"""(5, 1): what I get, what they get."""


@dataclass(frozen=True, slots=True)
class Cell:
    """An outcome of a game of two, named by its two actions, and where it stands in a text."""

    actions: tuple[int, int]
    start: int
    end: int


class Choices:
    """Finds who chooses what in a clause."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.two = words.count == 2

    def read_choices(self, clause: str) -> tuple[dict[int, int], bool]:
        """The action of each player who is said to choose, and whether the clause is about one case only."""
        made: dict[int, int] = {}
        if self._label.search(clause) is None:
            return made, True
        for whom, action in self._found(clause):
            for who in whom:
                place = self.words.action(who, action) if isinstance(action, str) else action
                if place is not None and made.setdefault(who, place) != place:
                    return {}, False
        return made, True

    def _found(self, clause: str) -> Iterator[tuple[tuple[int, ...], str | int]]:
        taken: list[tuple[int, int]] = []
        for cell in self.cells(clause):
            taken.append((cell.start, cell.end))
            yield from (((who,), cell.actions[who]) for who in (0, 1))
        for pattern in (self._chosen, self._if_chosen, self._said):
            for match in pattern.finditer(clause):
                if not _inside(match.end(), taken):
                    taken.append(match.span())
                    yield self.words.whom(match), match.groupdict().get("deed") or match["action"]
        for pattern, whom in self._unnamed:
            for match in pattern.finditer(clause):
                if not _inside(match.end(), taken):
                    taken.append(match.span())
                    yield whom, match["action"]

    @cached_property
    def _label(self) -> re.Pattern[str]:
        return self.words.compiled(self.words.labels)

    @cached_property
    def _unnamed(self) -> tuple[tuple[re.Pattern[str], tuple[int, ...]], ...]:
        """Ways to name an action without saying whose, and whose it then is."""
        everybody = tuple(range(self.words.count))
        return (
            (self._mutual, everybody),
            (self._against, everybody[1:2]),
            (self._alone, (0,)),
            (self._gerund, (0,)),
        )

    def read_moves(self, text: str) -> Iterator[tuple[tuple[int, ...], str]]:
        """Who is said to choose what, in the order of the text."""
        for match in self._chosen.finditer(text):
            yield self.words.whom(match), match["deed"] or match["action"]

    def cells(self, text: str) -> Iterator[Cell]:
        """(R, B): the first player's choice and the second's; R against B: mine and theirs; unless names tell."""
        if not self.two or self.words.numeric:
            return
        for facing, pattern in self._pairs:
            for match in pattern.finditer(text):
                names = match["first"], match["second"]
                if not facing and self.words.alike and not self.words.clear(*names):
                    continue
                for mine, theirs in (names, names[::-1]):
                    actions = self.words.action(0, mine), self.words.action(1, theirs)
                    if actions[0] is not None and actions[1] is not None:
                        yield Cell((actions[0], actions[1]), match.start(), match.end())
                        break

    @cached_property
    def _pairs(self) -> tuple[tuple[bool, re.Pattern[str]], ...]:
        first, second = (rf"(?P<{name}>{self.words.labels})" for name in ("first", "second"))
        facing = r"(?:against|vs\.?|versus|facing)\s+(?:an? |the |their )?"
        told = r"(?=\s*(?:->|→|=>|[:=]|gives?|pays?|yields?)\s*\(?-?\d)"
        return tuple(
            (faced, self.words.compiled(pattern))
            for faced, pattern in (
                (False, rf"\(\s*{first}\s*[,;/&]\s*{second}\s*\)"),
                (True, rf"{first}\s+{facing}{second}"),
                (False, rf"\bchoices {first} and {second}"),
                (False, rf"(?<![\w(]){first}\s*[,/&-]\s*{second}{told}"),
            )
        )

    @cached_property
    def _chosen(self) -> re.Pattern[str]:
        """Somebody chooses something, or does what an action is called."""
        chosen = rf"{CHOOSE}\s+{_KIND}(?P<action>{self.words.labels})|(?P<deed>{self.words.deeds})"
        return self.words.compiled(rf"(?:{self.words.who})(?:\s*{_ADVERB}){{0,4}}\s+(?:{chosen})")

    @cached_property
    def _if_chosen(self) -> re.Pattern[str]:
        """If I hunt the stag: any verb, in a condition."""
        start = r"\b(?:if|when|whenever|should|suppose|supposing|and|but|while|with)\s+"
        return self.words.compiled(
            rf"{start}(?:{self.words.who})(?:\s*{_ADVERB}){{0,4}}\s+(?!{_NO_CHOICE})[a-z]+\s+"
            rf"(?:the |an? |their |my |his |her )?(?P<action>{self.words.things})"
        )

    @cached_property
    def _said(self) -> re.Pattern[str]:
        """Me: R, them: B; my choice is R."""
        return self.words.compiled(rf"(?:{self.words.who})\s*[:=]\s*(?P<action>{self.words.labels})")

    @cached_property
    def _mutual(self) -> re.Pattern[str]:
        """Mutual cooperation."""
        start = r"\b(?:mutual|joint|bilateral|universal|(?:coordinating|coordination|meeting) on)\s+"
        return self.words.compiled(rf"{start}(?P<action>{self.words.things})")

    @cached_property
    def _against(self) -> re.Pattern[str]:
        """Against Left."""
        start = r"\b(?:against|facing|in response to)\s+(?:their |an? |the |her |his )?"
        return self.words.compiled(rf"{start}(?P<action>{self.words.things})")

    @cached_property
    def _alone(self) -> re.Pattern[str]:
        """Choosing R; R gives me: nobody is named, so the reasoner is meant."""
        verbs = rf"{_NOT_KEPT}\b(?:choosing|picking|selecting|playing|using|going(?: with| for)?)\s+(?:the |an? )?"
        return self.words.compiled(rf"{verbs}(?P<action>{self.words.labels})")

    @cached_property
    def _gerund(self) -> re.Pattern[str]:
        """Hunting Stag, driving Straight; defecting; Stag gives me."""
        verbs = rf"{_NOT_KEPT}\b(?!{_NO_CHOICE})[a-z]{{2,12}}ing\s+(?:the |an? )?(?={self.words.things})"
        gives = rf"(?={self.words.things}(?:\s+(?:would|will|then|also|only|still|always))*\s+{_GIVE_WHOM})"
        deed = rf"{_NOT_KEPT}(?={self.words.gerunds})"
        return self.words.compiled(rf"(?:{verbs}|{gives}|{deed})(?P<action>{self.words.things})")


class Amounts:
    """Finds who gets how much in a clause."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def read_amounts(self, clause: str) -> dict[int, Fraction]:
        """What each player is said to get; a player of whom two amounts are told is left out."""
        found: dict[int, set[Fraction]] = {}
        for whom, number, sign in self._found(clause):
            value = read_amount(number)
            if value is not None:
                for who in whom:
                    found.setdefault(who, set()).add(value * sign)
        return {who: values.pop() for who, values in sorted(found.items()) if len(values) == 1}

    def _found(self, clause: str) -> Iterator[tuple[tuple[int, ...], str, int]]:
        for pattern in (self.payment, self._gift, self._owned):
            for match in pattern.finditer(clause):
                groups = match.groupdict()
                loss = bool(groups.get("loss") or groups.get("cost")) and not match["number"].startswith("-")
                yield self.words.whom(match), match["number"], -1 if loss else 1
                yield from self._and_them(clause, match.end(), -1 if loss else 1)
        for match in self._shared.finditer(clause):
            whom = tuple(range(self.words.count)) if match["each"] else self.words.whom(match)
            yield whom, match["number"], 1
        if self.words.count == 2:
            for match in (match for pattern in _PAIRS for match in pattern.finditer(clause)):
                if self.words.clear(match["first"], match["second"]):
                    yield (0,), match["first"], 1
                    yield (1,), match["second"], 1

    def _and_them(self, clause: str, start: int, sign: int) -> Iterator[tuple[tuple[int, ...], str, int]]:
        """... and my opponent 1."""
        match = self._rest.match(clause, start)
        if match is not None:
            yield self.words.whom(match), match["number"], sign

    @cached_property
    def payment(self) -> re.Pattern[str]:
        """Somebody gets some amount."""
        return self.words.compiled(rf"(?:{self.words.who})(?:\s*{_ADVERB}){{0,4}}\s+{_GET}\s+{_SUM}{NUMBER}")

    @cached_property
    def _gift(self) -> re.Pattern[str]:
        """It gives me 3."""
        return self.words.compiled(rf"\b{_GIVE}\s+(?:{self.words.who})\s+{_SUM}{NUMBER}")

    @cached_property
    def _rest(self) -> re.Pattern[str]:
        return self.words.compiled(rf"\s*(?:,\s*)?(?:and|but|while)\s+(?:{self.words.who})\s+(?:only |just )?{NUMBER}")

    @cached_property
    def _owned(self) -> re.Pattern[str]:
        """My payoff: 3; their payoff is 0."""
        case = r"(?:\s(?:from|for|when|if|in)\b[^.;:=\d]{1,60}?\b(?=is\b|would\b|will\b))?"
        mine = r"(?P<you>\b(?:my|your)\b)"
        theirs = r"(?P<them>\b(?:their|his|her|(?:the )?other(?: player)?'s|(?:the |my )?opponent's)\b)"
        return self.words.compiled(rf"(?:{mine}|{theirs})\s+{_GAIN}{case}\s*(?:is|=|:|of|would be|will be)+\s*{NUMBER}")

    @cached_property
    def _shared(self) -> re.Pattern[str]:
        """3 for both; 3 each; 3 for me."""
        each = r"(?P<each>each\b|apiece\b|for (?:each|both|everyone|everybody|all)\b|per (?:person|player|head)\b)"
        return self.words.compiled(rf"{NUMBER}\s+(?:{each}|(?:for|to)\s+(?:{self.words.who}))")


def _inside(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start < place <= end for start, end in spans)
