"""Recorded plays, and whether a program allows them and pays what was paid.

A file holds one play per line. As JSON that is `{"moves": [["ann", "high"], ["bob", "low"]],
"payoffs": {"ann": 0, "bob": 3}}`; as CSV a column `moves` (`ann: high; bob: low`) and a column of
payoffs for each player. Draws are moves of nature. Moves that are made at the same time may be
recorded in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.logic.programs.orders import make_defect
from bestresponse.logic.programs.positions import PositionTable
from bestresponse.logic.programs.report import Report

_EXPECTED = (
    "moves (`ann: high; bob: low`, or in JSON [[PLAYER, MOVE], ...]) and payoffs (a column for each"
    " player, or in JSON {PLAYER: NUMBER, ...})"
)
_MOST_TOLD = 5
"""Plays of which is told what breaks them, and moves that are named as allowed."""

Moves = tuple[tuple[str, str], ...]
"""Who made which move."""


@dataclass(frozen=True, slots=True)
class RecordedPlay:
    """A play as it was recorded: its line, its moves, and what players earned."""

    line: int
    moves: Moves
    payoffs: Mapping[str, Fraction]

    def __str__(self) -> str:
        paid = ", ".join(f"{player} {payoff}" for player, payoff in self.payoffs.items())
        return f"{_write_moves(self.moves)}. Payoffs: {paid}"


Plays = tuple[RecordedPlay, ...]


def read_recorded_plays(path: Path, rows: Iterable[tuple[int, Mapping[str, object]]]) -> Plays:
    """Read recorded plays from the numbered rows of a file; UsageError names a row that is none."""
    plays = []
    known: dict[Moves, RecordedPlay] = {}
    for line, row in rows:
        try:
            play = _read_play(line, row)
        except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
            raise UsageError(
                f"{path}, line {line}: expected {_EXPECTED}; got {str(dict(row))[:100]}"
            ) from None
        first = known.setdefault(play.moves, play)
        if first.payoffs != play.payoffs:
            raise UsageError(
                f"{path}, line {line}: the moves of line {first.line} with other payoffs; one of"
                " them must be wrong"
            )
        plays.append(play)
    if not plays:
        raise UsageError(f"{path} holds no plays; write one per line")
    return tuple(plays)


def _read_play(line: int, row: Mapping[str, object]) -> RecordedPlay:
    told = row["moves"]
    if isinstance(told, str):
        told = [made.split(":", 1) for made in told.split(";")]
    if not isinstance(told, list):
        raise TypeError
    moves = tuple((str(player).strip(), str(move).strip()) for player, move in told)
    cells = row.get("payoffs")
    if not isinstance(cells, dict):
        cells = {name: cell for name, cell in row.items() if name != "moves"}
    payoffs = {name: Fraction(str(cell)) for name, cell in cells.items() if str(cell).strip()}
    if not moves or not payoffs:
        raise ValueError
    return RecordedPlay(line, moves, payoffs)


def check_plays(report: Report, plays: Plays) -> Report:
    """Return the report with an error for each play that its game does not allow, or pays else."""
    rules = _Rules.read(report.table or report.positions)
    if rules is None or not report.ok:
        return report
    broken = []
    for play in plays:
        if wrong := rules.find_fault(play):
            broken.append(
                make_defect("plays", f"the play of line {play.line}: {wrong[0]}", wrong[1])
            )
    if len(broken) > _MOST_TOLD:
        count = f"{len(broken):,} of {len(plays):,} recorded plays do not fit the rules"
        broken = [*broken[:_MOST_TOLD], make_defect("plays", count)]
    return replace(report, diagnostics=(*report.diagnostics, *broken))


@dataclass(frozen=True, slots=True)
class _Rules:
    """A game to follow plays through, from place 0 on.

    `after` says of each place what may be made there at the same time, in alphabetical order, and
    where that leads; `paid` what players earn who stop there.
    """

    players: tuple[str, ...]
    after: tuple[Mapping[Moves, int], ...]
    paid: Mapping[int, tuple[Fraction, ...]]

    @classmethod
    def read(cls, game: GameTable | PositionTable | None) -> _Rules | None:
        """Return the rules of a game that is told by its plays or by its positions."""
        match game:
            case None:
                return None
            case PositionTable():
                steps: list[dict[Moves, int]] = []
                for here in game.positions:
                    moves = zip(here.moves, here.following, strict=True)
                    steps.append({((here.player, move),): place for move, place in moves})
                ends = {n: here.payoffs for n, here in enumerate(game.positions) if here.payoffs}
                return cls(game.players, tuple(steps), ends)
        after: list[dict[Moves, int]] = [{}]
        paid = {}
        for row in game.rows:
            if 0 in row.chances:
                continue
            place = 0
            for start, stop in pairwise((0, *accumulate(row.blocks))):
                made = tuple(sorted(row.moves[start:stop]))
                if made not in after[place]:
                    after[place][made] = len(after)
                    after.append({})
                place = after[place][made]
            paid[place] = row.payoffs
        return cls(game.players, tuple(after), paid)

    def find_fault(self, play: RecordedPlay) -> tuple[str, str] | None:
        """Say what is wrong with a play, and what would be right; None where it fits."""
        count, place = self._follow(play.moves, 0, 0)
        if count == len(play.moves) and place in self.paid:
            return self._find_other_payoff(play, place)
        if place in self.paid:
            return f"the game is over after move {count}, {_write_moves(play.moves[:count])}", ""
        made: list[tuple[str, str]] = []
        blocks = list(self.after[place])
        for move in play.moves[count:]:
            fitting = [block for block in blocks if move in block and move not in made]
            if not fitting:
                break
            made.append(move)
            blocks = fitting
        open_moves = dict.fromkeys(m for block in blocks for m in block if m not in made)
        allowed = f"allowed there: {_write_moves(tuple(open_moves)[:_MOST_TOLD])}"
        if len(open_moves) > _MOST_TOLD:
            allowed += f" and {len(open_moves) - _MOST_TOLD:,} more"
        count += len(made)
        if count == len(play.moves):
            return "the game is not over after its last move", allowed
        wrong = _write_moves(play.moves[count : count + 1])
        return f"move {count + 1}, {wrong}, is not allowed", allowed

    def _follow(self, moves: Moves, count: int, place: int) -> tuple[int, int]:
        """Return how many moves fit the rules, up to the last that were made together, and where
        they lead."""
        furthest = (count, place)
        for size in {*map(len, self.after[place])}:
            made = tuple(sorted(moves[count : count + size]))
            if made in self.after[place]:
                reached = self._follow(moves, count + size, self.after[place][made])
                furthest = max(furthest, reached)
        return furthest

    def _find_other_payoff(self, play: RecordedPlay, place: int) -> tuple[str, str] | None:
        earned = dict(zip(self.players, self.paid[place], strict=True))
        for player, payoff in play.payoffs.items():
            if player not in earned:
                return f"{player} is not a player", f"the players are {', '.join(self.players)}"
            if earned[player] != payoff:
                moves = _write_moves(play.moves)
                return f"{player} gets {earned[player]} after {moves}; {payoff} was recorded", ""
        return None


def _write_moves(moves: Moves) -> str:
    return "; ".join(f"{player}: {move}" for player, move in moves)
