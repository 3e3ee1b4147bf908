"""Game tables from plain lines: one for each way a game can go.

`~1/2 heads > Nora[dare] hold : 3,-3` draws heads with probability 1/2, then Nora, who knows only what stands in the
brackets and what she did herself, holds; then come everybody's payoffs. Without any brackets everything is seen.
`{a|b}` stands for one line with a and one with b; all braces of a line are taken together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from bestresponse.core.game import NATURE
from bestresponse.logic.programs.game_table import GameTable, Row

_BRACES = re.compile(r"\{([^{}]*)\}")
_DRAW = re.compile(r"~(\S+)\s+(.+)")
_Step = tuple[str, str, Fraction | None, str | None]
"""Who moves, which move, its probability if it is drawn, and what the mover knows, if that is said."""


def read_lines(players: Sequence[str], text: str) -> GameTable:
    """Return the table of a game; ValueError says which line is wrong.

    >>> read_lines(["a"], "~{1/3|2/3} {x|y} > a stay : {1|0}").rows[1].chances
    (Fraction(2, 3), None)
    """
    lines = [one for line in text.splitlines() if line.strip() for one in _unfold(line.strip())]
    plays = [(_read_steps(players, line), line) for line in lines]
    private = any(knows is not None for steps, _ in plays for *_, knows in steps)
    chancy = any(chance is not None for steps, _ in plays for _, _, chance, _ in steps)
    rows = tuple(_build_row(players, steps, line, chancy, private) for steps, line in plays)
    moves = tuple(
        tuple(dict.fromkeys(move for row in rows for who, move in row.moves if who == player)) for player in players
    )
    return GameTable(tuple(players), moves, rows, private=private)


def _unfold(line: str) -> Iterator[str]:
    groups = [found.split("|") for found in _BRACES.findall(line)]
    counts = {len(group) for group in groups}
    if len(counts) > 1:
        raise ValueError(f"all braces of a line need equally many parts: {line}")
    for k in range(counts.pop() if counts else 1):
        yield _BRACES.sub(lambda found, k=k: found[1].split("|")[k], line)  # type: ignore[misc]


def _read_steps(players: Sequence[str], line: str) -> list[_Step]:
    return [_read_step(players, part.strip()) for part in line.rpartition(":")[0].split(">")]


def _read_step(players: Sequence[str], part: str) -> _Step:
    drawn = _DRAW.fullmatch(part)
    if drawn is not None:
        return NATURE, drawn[2], Fraction(drawn[1]), None
    for who in sorted(players, key=len, reverse=True):
        if part.startswith((f"{who} ", f"{who}[")):
            rest = part[len(who) :]
            known, _, move = rest[1:].partition("]") if rest.startswith("[") else ("", "", rest)
            return who, move.strip(), None, known.strip() if rest.startswith("[") else None
    raise ValueError(f"nobody of {', '.join(players)} moves in {part!r}")


def _build_row(players: Sequence[str], steps: list[_Step], line: str, chancy: bool, private: bool) -> Row:
    payoffs = tuple(Fraction(part.strip()) for part in line.rpartition(":")[2].split(","))
    if len(payoffs) != len(players):
        raise ValueError(f"{len(payoffs)} payoffs for {len(players)} players: {line}")
    later = [*steps[1:], None]
    percepts = tuple(((step[0], step[3]),) if step is not None and step[3] else () for step in later)
    return Row(
        tuple((who, move) for who, move, _, _ in steps),
        payoffs,
        (1,) * len(steps),
        tuple(chance for _, _, chance, _ in steps) if chancy else (),
        percepts if private else (),
    )
