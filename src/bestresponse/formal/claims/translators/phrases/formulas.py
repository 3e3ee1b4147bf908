"""Formulas and tables of LaTeX: `u(R, B) = 5`, `\\pi_1(R,B) = 5 > 3 = \\pi_1(B,B)`, arrays with `&` and `\\\\`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.translators.words import Words

__all__ = ["Formulas", "rows_from_latex"]

_BEGIN: Final = re.compile(r"\\begin\{(?:array|[bpv]?matrix|tabular|aligned)\}(?:\{[^{}]*\})?")
_END: Final = re.compile(r"\\end\{(?:array|[bpv]?matrix|tabular|aligned)\}")
_NUMBER: Final = r"-?\d{1,12}(?:\.\d{1,12}|/[1-9]\d{0,5})?(?![\w.]*\w)"


def rows_from_latex(lines: list[str]) -> list[str]:
    """Write the rows of LaTeX arrays as rows of a table; every line stays in its place.

    >>> rows_from_latex([r"\\begin{array}{c|c}", r" & X \\\\ \\hline", r"Y & (1, 2)", r"\\end{array}"])
    ['', '| | X |', '| Y | (1, 2) |', '']
    """
    inside = False
    found = []
    for line in lines:
        begins, ends = _BEGIN.search(line), _END.search(line)
        inside = inside or begins is not None
        row = _END.sub("", _BEGIN.sub("", line)) if inside else line
        found.append(_row(row) if inside else row)
        inside = inside and ends is None
    return found


def _row(line: str) -> str:
    plain = re.sub(r"\\\\(?:\[\w+\])?|\\hline|\$", "", line)
    if not re.search(r"(?<!\\)&", plain):
        return plain.strip()
    cells = [cell.strip() for cell in re.split(r"(?<!\\)&", plain)]
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


class Formulas:
    """Reads payoffs that a formula states, in a game of two players."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def read(self, line: str) -> Iterator[tuple[tuple[int, int], int, Fraction]]:
        """Yield each outcome, player and amount that a formula of the line states."""
        if self.words.count != 2 or self.words.numeric:
            return
        for match in self._stated.finditer(line):
            names = match["first"], match["second"]
            actions = self.words.action(0, names[0]), self.words.action(1, names[1])
            if self.words.subject.seat == 1:
                actions = self.words.action(0, names[1]), self.words.action(1, names[0])
            who = self._player(match["index"])
            number = match["after"] or match["before"]
            if actions[0] is None or actions[1] is None or who is None or number is None:
                continue
            yield (actions[0], actions[1]), who, Fraction(number)

    def _player(self, index: str | None) -> int | None:
        """Whose payoff a subscript means; without one the reasoner's."""
        if index is None:
            return 0
        seat = {"1": 0, "2": 1, "row": 0, "col": 1, "me": self.words.subject.seat, "a": 0, "b": 1}.get(index.lower())
        return None if seat is None else self.words.subject.order.index(seat)

    @cached_property
    def _stated(self) -> re.Pattern[str]:
        first, second = (rf"(?P<{name}>{self.words.labels})" for name in ("first", "second"))
        name = r"(?<![\w\\])\\?(?:u|U|pi|π|Π|payoff|v)(?:_?\{?(?P<index>1|2|row|col|me|A|B)\}?)?"
        return re.compile(
            rf"(?:(?<![\w.])(?P<before>{_NUMBER})\s*=\s*)?{name}\s*\(\s*(?i:{first})\s*,\s*(?i:{second})\s*\)"
            rf"(?:\s*=\s*(?P<after>{_NUMBER}))?"
        )
