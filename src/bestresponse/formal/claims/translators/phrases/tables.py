"""Payoffs that a text lays out as a table or a list of outcomes, in a game of two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.translators.phrases.outcomes import Cell, Choices
from bestresponse.formal.claims.translators.words import Words

__all__ = ["Tables", "is_row"]

Told = tuple[tuple[int, int], int, Fraction]
"""An outcome as my action and theirs, a player, and what that player gets."""
_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?"
_AMOUNTS: Final = re.compile(rf"^\s*\(?\s*(?P<one>{_NUMBER})\s*[,;/|]\s*(?P<two>{_NUMBER})\s*\)?\s*$")
_AFTER: Final = (
    re.compile(
        rf"\s*(?:->|→|=>|[:=])\s*\(?\s*(?P<one>{_NUMBER})\s*[,;/|]\s*(?P<two>{_NUMBER})\s*\)?(?=\s*(?:[,;.)]|$))"
        r"(?!\s*[,;/]\s*(?:and )?-?\d)"
    ),
    re.compile(
        r"\s+(?:gives?|pays?|yields?|is|results? in|leads? to)\s+"
        rf"\(?\s*(?P<one>{_NUMBER})\s*[,;]\s*(?P<two>{_NUMBER})\s*\)?(?=\s*(?:[,;.)]|$))"
    ),
    re.compile(rf"\s*(?:->|→|=>|[:=])\s*(?P<one>(?P<two>{_NUMBER}))\s+(?:each|apiece|for (?:both|each))\b"),
)
"""What may follow the name of an outcome: both payoffs, or one for both."""
_MINE: Final = re.compile(r"\b(?:I|me|my|mine|you|your|player 1|player A|row)\b", re.IGNORECASE)
_THEIRS: Final = re.compile(
    r"\b(?:they|them|their|other|opponent|partner|rival|player 2|player B|col|column)\b", re.IGNORECASE
)

_WHOSE: Final = re.compile(
    r"\b(?:(?P<mine>my|your)|(?P<theirs>their|his|her|(?:the )?(?:other(?: player)?|opponent)'s)) "
    r"(?:payoff|profit|payout|reward|earnings|score)\b",
    re.IGNORECASE,
)


def is_row(line: str) -> bool:
    """Whether a line is a row of a table: cells between upright strokes."""
    return line.strip().startswith("|") and line.count("|") >= 3


class Tables:
    """Reads tables (`| Up | 2, 1 | 0, 0 |`) and lists of outcomes (`(Up, Left): 2, 1`)."""

    def __init__(self, words: Words, choices: Choices) -> None:
        self.words = words
        self.choices = choices

    def read_list(self, line: str) -> Iterator[Told]:
        """(Up, Left): 2, 1; AB = 0/5."""
        for cell in (*self.choices.cells(line), *self._joined(line)):
            match = next((found for pattern in _AFTER if (found := pattern.match(line, cell.end))), None)
            if match is not None and self.words.clear(match["one"], match["two"]):
                yield cell.actions, 0, Fraction(match["one"])
                yield cell.actions, 1, Fraction(match["two"])

    def _joined(self, line: str) -> Iterator[Cell]:
        """AB: two letters without anything between them."""
        for match in self._letters.finditer(line) if self.words.count == 2 else ():
            mine, theirs = self.words.action(0, match["first"]), self.words.action(1, match["second"])
            if mine is not None and theirs is not None and self.words.clear(match["first"], match["second"]):
                yield Cell((mine, theirs), match.start(), match.end())

    @cached_property
    def _letters(self) -> re.Pattern[str]:
        letters = [a for own in self.words.subject.actions for a in own if len(a) == 1 and a.isalpha()]
        one = f"[{''.join(map(re.escape, letters))}]" if letters else "(?!)"
        return re.compile(rf"(?<![\w])(?P<first>{one})(?P<second>{one})(?=\s*(?:->|→|=>|[:=]))")

    def read_table(self, lines: Sequence[str]) -> Iterator[Told]:
        """A table with one player's actions above and the other's at the left; rows that are none are passed over."""
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        rows = [row for row in rows if not all(set(cell) <= set("-: ") for cell in row)]
        if self.words.count != 2 or len(rows) < 2:
            return
        head, sides = rows[0][1:], [row[0] for row in rows[1:]]
        across = self._owner(head, sides)
        for side, row in zip(sides, rows[1:], strict=True):
            for top, cell in zip(head, row[1:], strict=False):
                yield from self._single(side, top, cell)
                match = _AMOUNTS.match(cell)
                own, other = self._label(1 - across, side), self._label(across, top)
                if match is None or own is None or other is None:
                    continue
                if match["one"] != match["two"] and (across == 0 or not self.words.clear(match["one"], match["two"])):
                    continue
                actions = (own, other) if across == 1 else (other, own)
                yield actions, 0, Fraction(match["one"])
                yield actions, 1, Fraction(match["two"])

    def _single(self, side: str, top: str, cell: str) -> Iterator[Told]:
        """A cell with one amount under a heading that says whose payoff from which action it is."""
        amount = re.fullmatch(rf"\(?\s*({_NUMBER})\s*\)?", cell)
        whose = _WHOSE.search(top)
        if amount is None or whose is None:
            return
        who = 0 if whose["mine"] else 1
        own, other = self._label(who, top), self._label(1 - who, side)
        if own is not None and other is not None:
            yield ((own, other) if who == 0 else (other, own)), who, Fraction(amount[1])

    def _owner(self, head: Sequence[str], sides: Sequence[str]) -> int:
        """Whose actions stand above: the other's, unless names or persons say that they are the reasoner's."""
        above, aside = " ".join(head), " ".join(sides)
        if not self.words.alike and all(self._label(0, cell) is not None for cell in head if cell):
            return 0
        mine = _MINE.search(above) and not _THEIRS.search(above)
        return 0 if mine and not _MINE.search(aside) else 1

    def _label(self, who: int, cell: str) -> int | None:
        """The one action that a heading names; what follows a colon counts before what stands before it."""
        found = re.findall(f"(?i:{self.words.labels})", cell.rpartition(":")[2]) or re.findall(
            f"(?i:{self.words.labels})", cell
        )
        places = {self.words.action(who, one) for one in found}
        return places.pop() if len(places) == 1 else None
