"""A translator without a model: rules that find claims about payoffs in plain English.

It reads a text line by line. Headings and the lines above, by indentation, say under which choices a line speaks; each
clause of the line adds its own ("if they pick B") and states amounts ("I get 3"). A claim is made only where one
outcome and one amount are meant; clauses with negations, alternatives or comparisons of cases are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from bestresponse.formal.claims.claim import Claim, Malformed, Move
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import LONGEST_TEXT, Translation
from bestresponse.formal.claims.translator_moves import MoveReader
from bestresponse.formal.claims.translator_words import BOTH, Words, plain

__all__ = ["RulesTranslator"]

_LONGEST_LINE: Final = 2_000
_INDENT: Final = re.compile(r"^(?P<space>[ \t]*)(?P<mark>(?:[-*•+]|\d+[.)]|[a-z][.)])\s+)?")
_SENTENCES: Final = re.compile(r"(?<=[a-z)\d])[.!?](?=\s|$)", re.IGNORECASE)
_CLAUSES: Final = re.compile(
    r";(?=\s|$)|(?:,\s*|\s+)(?:and|but|while|whereas|or|however,?)\s+(?=(?:if|when|should)\b)"
    r"|,\s*(?=(?:whereas|while|unless)\b)"
)
_LEFT_ALONE: Final = re.compile(
    r"\b(?:not|never|neither|nor|cannot|without|unless|regardless|whatever|irrespective|no matter|either|instead of"
    r"|rather than|compared|versus|assuming|suppose|expected|average|probability|previous|mistaken|incorrect"
    r"|avoid\w*|minimi[sz]\w*)\b|n't\b",
    re.IGNORECASE,
)
_CASE: Final = re.compile(
    r"(?<![\w-])(?P<kind>best|worst)[- ](?:case|possible)(?: scenario| outcome| result| payoff)?s?\b"
    r"(?:(?!for (?:them|him|her|the other|my opponent)|their\b)[^.\d]){0,70}?"
    r"(?<![\d.])(?P<number>-?\d{1,12}(?:\.\d{1,12})?)(?![\d.]*\d|\s*(?:or|to|and)\b)",
    re.IGNORECASE,
)
_FLOOR: Final = re.compile(
    r"(?<!could )(?<!might )(?<!may )(?<!can )\b(?:guarantee|ensure|secure|assure)(?:s|ing|d)?\s+"
    r"(?:(?:that )?(?:me|you|us|I) )?(?:get )?"
    r"(?P<bound>(?:a guaranteed )?at least|(?:a |the )?(?:guaranteed )?minimum(?: payoff| payout)? of"
    r"|a (?:guaranteed |minimum )?payoff of at least)?\s*(?:(?:a |the )(?:\w+ )?(?:payoff|payout|reward) of )?"
    r"(?<![\d.])(?P<number>-?\d{1,12}(?:\.\d{1,12})?)(?![\d.]*\d|\s*(?:or|to|each|if)\b)",
    re.IGNORECASE,
)
_TOGETHER: Final = re.compile(
    r"\b(?:highest|best|maximum|greatest|largest)\s+(?:possible )?(?:mutual|collective|joint|combined|total)\s+"
    r"(?:payoff|benefit|outcome|reward|gain|return)s?",
    re.IGNORECASE,
)
_THAN: Final = re.compile(r"\bwhich (?:is|are)\b.*|\b(?:better|higher|more|less|lower|worse) than\b.*", re.IGNORECASE)
_MORE: Final = re.compile(
    r"(?P<first>(?<![\d.])-?\d{1,12}(?:\.\d{1,12})?)\)?,?\s*(?:which is|is|being|>)\s*(?:still |always |clearly )?"
    r"(?:(?:better|higher|more|greater|larger) than\s*)?"
    r"(?:getting |a payoff of |the )?(?P<second>(?<![\d.])-?\d{1,12}(?:\.\d{1,12})?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Level:
    """The choices a line speaks under, and how deep it stands."""

    depth: int
    chosen: dict[int, int]


@dataclass(frozen=True, slots=True)
class RulesTranslator:
    """Finds claims about payoffs without a model; the yardstick that a model translator must beat."""

    name: str = "rules"

    def translate(self, text: str, subject: Subject) -> Translation:
        """The claims of a text, each once."""
        words = Words(subject)
        read = _Reader(words, subject).read if subject.table is not None else MoveReader(words, subject).read
        found: list[Claim | Malformed] = list(dict.fromkeys(read(plain(text[:LONGEST_TEXT]))))
        if len(text) > LONGEST_TEXT:
            why = f"the text has {len(text):,} characters; the first {LONGEST_TEXT:,} were looked at"
            found.append(Malformed(text[LONGEST_TEXT : LONGEST_TEXT + 40], why))
        return Translation(tuple(found))


class _Reader:
    """One text on its way to claims."""

    def __init__(self, words: Words, subject: Subject) -> None:
        self.words = words
        self.subject = subject
        self.levels: list[_Level] = []

    def read(self, text: str) -> Iterator[Claim]:
        for line in text.splitlines():
            if line.strip() and len(line) <= _LONGEST_LINE:
                yield from self._line(line)

    def _line(self, line: str) -> Iterator[Claim]:
        depth = _depth(line)
        self.levels = [level for level in self.levels if level.depth < depth]
        above = {who: action for level in self.levels for who, action in level.chosen.items()}
        heading = self.words.heading.match(line.strip(" :")) if len(line) < 80 else None
        top = self._chosen({0: heading["action"]}) if heading is not None else {}
        own = top
        for sentence in _SENTENCES.split(line):
            own = top
            for clause in _CLAUSES.split(sentence):
                made, consistent = self._choices(clause)
                own = own | made if consistent else own
                if consistent:
                    yield from self._amounts(clause, above | own)
                yield from _comparisons(clause)
        if line.rstrip().endswith(":") or heading is not None or (own and not self.words.payment.search(line)):
            self.levels.append(_Level(depth, own))

    def _chosen(self, names: dict[int, str]) -> dict[int, int]:
        """Numbers of actions, for players who have an action of that name."""
        return {
            who: self.subject.index[who][self._label(who, name)]
            for who, name in names.items()
            if self._label(who, name) in self.subject.index[who]
        }

    def _label(self, who: int, name: str) -> str:
        own = self.subject.index[who]
        return name if name in own else next((a for a in own if a.casefold() == name.casefold()), name)

    def _choices(self, clause: str) -> tuple[dict[int, int], bool]:
        """Who chooses what in a clause, and whether it is one case only."""
        made: dict[int, int] = {}
        cell = self.words.cell.search(clause) if len(self.subject.players) == 2 else None
        found: list[dict[int, str]] = [{0: cell["first"], 1: cell["second"]}] if cell else []
        taken: list[tuple[int, int]] = []
        for match in self.words.choice.finditer(clause):
            who = self.words.who(match)
            taken.append(match.span())
            if who is not None:
                everybody = range(len(self.subject.players))
                found.append(dict.fromkeys(everybody if who == BOTH else [who], self.words.action(match)))
        for match in self.words.choosing.finditer(clause):
            if not any(start < match.end() <= end for start, end in taken):
                found.append({0: match["action"]})
        for names in found:
            for who, action in self._chosen(names).items():
                if made.setdefault(who, action) != action:
                    return {}, False
        return made, True

    def _amounts(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        if _LEFT_ALONE.search(clause):
            return
        if len(chosen) == len(self.subject.players):
            yield from self._payoffs(_THAN.sub("", clause), chosen)
            yield from self._together(clause, chosen)
        if 0 in chosen:
            yield from self._cases(_THAN.sub("", clause), chosen[0], alone=set(chosen) == {0})
        if 1 in chosen and len(self.subject.players) == 2:
            yield from self._best(clause, chosen[1])
        yield from self._safest(_THAN.sub("", clause))

    def _best(self, clause: str, theirs: int) -> Iterator[Claim]:
        """If they choose R, my best response is B."""
        you, them = self.subject.players
        against = (Move(them, self.subject.actions[1][theirs]),)
        for match in self.words.best.finditer(clause):
            for action in self._chosen({0: match["action"]}).values():
                label = self.subject.actions[0][action]
                yield Claim("best_response", (label, against, you))
                if match["number"]:
                    yield Claim("payoff", (you, Fraction(match["number"]), (*against, Move(you, label))))

    def _safest(self, clause: str) -> Iterator[Claim]:
        """R is the safer choice; choosing R gives the highest guaranteed payoff."""
        for match in self.words.safest.finditer(clause):
            for action in self._chosen({0: match["action"] or match["last"]}).values():
                yield Claim(
                    "highest_guaranteed_payoff_choice", (self.subject.actions[0][action], self.subject.players[0])
                )

    def _payoffs(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        stated: dict[int, set[str]] = {}
        for who, number in self._stated(clause):
            for i in range(len(self.subject.players)) if who == BOTH else [who]:
                stated.setdefault(i, set()).add(number)
        outcome = tuple(
            Move(self.subject.players[i], self.subject.actions[i][chosen[i]])
            for i in reversed(range(len(self.subject.players)))
        )
        for who, numbers in sorted(stated.items()):
            if len(numbers) == 1:
                yield Claim("payoff", (self.subject.players[who], Fraction(numbers.pop()), outcome))

    def _stated(self, clause: str) -> Iterator[tuple[int, str]]:
        for pattern in (self.words.payment, self.words.owned):
            for match in pattern.finditer(clause):
                who = self.words.who(match)
                if who is not None:
                    yield who, match["number"]
        for match in self.words.shared.finditer(clause):
            groups = match.groupdict()
            yield (0 if groups["you"] else 1 if groups["them"] else BOTH), match["number"]
        if len(self.subject.players) == 2:
            for match in self.words.pair.finditer(clause):
                yield 0, match["first"]
                yield 1, match["second"]

    def _together(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        made, _ = self._choices(clause)
        if made == chosen and _TOGETHER.search(clause):
            actions = tuple(self.subject.actions[i][k] for i, k in sorted(chosen.items()))
            yield Claim("highest_mutual_payoff", (actions,))

    def _cases(self, clause: str, action: int, alone: bool) -> Iterator[Claim]:
        """Best and worst case of a choice; `alone`: nothing is said about what the others choose."""
        label = self.subject.actions[0][action]
        for match in _FLOOR.finditer(clause):
            if not (match["bound"] or alone):
                continue
            floor = Fraction(match["number"])
            yield Claim("lowest_individual_payoff_for_choice", (floor, label, self.subject.players[0]))
        for match in _CASE.finditer(clause):
            form = "highest" if match["kind"].lower() == "best" else "lowest"
            value = Fraction(match["number"])
            yield Claim(f"{form}_individual_payoff_for_choice", (value, label, self.subject.players[0]))


def _depth(line: str) -> int:
    """How deep a line stands: by its indentation, and a list item deeper than plain text."""
    match = _INDENT.match(line)
    if match is None:
        return 0
    return 2 * len(match["space"].expandtabs(4)) + (1 if match["mark"] else 0)


def _comparisons(clause: str) -> Iterator[Claim]:
    for match in _MORE.finditer(clause):
        if re.search(r"than|>", match.group()):
            yield Claim("higher", (Fraction(match["first"]), Fraction(match["second"])))
