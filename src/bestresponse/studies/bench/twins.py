"""A game beside its twins: the same positions told as other stories, and is the game recognised?

Whoever loses less in the game that everybody knows than in its twins remembers it. The question
which game the rules tell says whether a twin is a disguise for this player at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, TypedDict

from bestresponse.core.game import View
from bestresponse.core.json import canonical
from bestresponse.core.told import prose
from bestresponse.games.parameters import list_parameters
from bestresponse.games.twins.twin import TWINS, find_base
from bestresponse.report.frames import Frame, Heads, Value, column
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.comparison import pair_games
from bestresponse.runs.run import Run
from bestresponse.runs.study import GameValue
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.decision_frames import find_share
from bestresponse.studies.bench.decisions import RECOGNITION, DecisionPoint

_QUESTION = (
    "Do not play yet. Which known game has these rules, perhaps in other words? Choose its name."
)
_OTHERS = ("dots-and-boxes", "hex", "mancala", "another game")
"""What is offered beside the games that have twins."""


class TwinRow(TypedDict):
    """A player at the positions of one telling, beside the same positions as the first tells
    them."""

    player: str
    game: str
    regret: Annotated[Value, column("regret per move", ".4f")]
    difference: Annotated[Interval | None, column("regret / range, less the first", ".3f")]
    """over the positions that were answered in both, with a 95 % interval; positive: worse"""
    recognised: Annotated[Value, column("named the game", ".0%")]


def ask_which(shown: View) -> DecisionPoint:
    """Return the question which game the rules tell that are shown."""
    view = replace(shown, history=(), position=prose(_QUESTION))
    return DecisionPoint(shown.role, RECOGNITION, view, (*TWINS, *_OTHERS), {})


def tabulate_twins(runs: Sequence[Run[BenchConfig]]) -> tuple[str, Frame[TwinRow]] | None:
    """Compare the tellings of one game; None where runs asked about other games or positions."""
    asked = {_describe_positions(run.config) for run in runs}
    if len(asked) > 1 or None in asked:
        return None
    rows: list[TwinRow] = []
    for player, _ in runs[0].metrics.groups:
        rows += _compare(player, runs)
    return "The same positions, told otherwise", Frame(TwinRow, rows)


def _describe_positions(config: BenchConfig) -> str | None:
    """Return what says which positions a run asked about, whatever the story."""
    game = config.positions
    if game is None or not find_base(game.name):
        return None
    drawn = [find_base(game.name), config.seed, config.games, list(config.seat)]
    return canonical([*drawn, dict(list_parameters(game))])


def _compare(player: Heads, runs: Sequence[Run[BenchConfig]]) -> Iterator[TwinRow]:
    first: list[GameValue] = []
    for run in runs:
        values = dict(run.metrics.groups).get(player, {})
        lost = list(_list_losses(player, run))
        paired = pair_games(first, lost)
        first = first or lost
        yield TwinRow(
            player=" / ".join(map(str, player)),
            game=run.config.game.name,  # type: ignore[union-attr]
            regret=values.get("regret"),
            difference=paired.difference if paired else None,
            recognised=values.get("recognised"),
        )


def _list_losses(player: Heads, run: Run[BenchConfig]) -> Iterator[GameValue]:
    """Yield what a player lost, by the numbers of positions, which are those of all tellings."""
    for row in run.frame("plays").rows:
        lost = find_share(row, "regret_normalised")
        if (row["model"], row["asked_for"]) == player and lost is not None:
            yield GameValue(player, "regret_normalised", str(row["decision"]), "", lost, most=1.0)
