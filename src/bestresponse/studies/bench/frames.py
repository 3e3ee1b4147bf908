"""From the plays of a run to the frames of its report.

What takes long, such as comparisons, which resample games, is computed when it is asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.core.lazy import LazyMapping
from bestresponse.report.frames import BASELINE, Frame, Heads, R, Row, column
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Measured
from bestresponse.studies.bench.differences import DifferenceRow, list_differences
from bestresponse.studies.bench.measure import (
    NOISE,
    Case,
    PlayRow,
    Rows,
    find_values,
    identify_case,
    measure_plays,
    select_base,
)
from bestresponse.studies.bench.plan import BASE, Plan
from bestresponse.studies.bench.results import (
    Results,
    tabulate_buckets,
    tabulate_versions,
)

_MOST_TEXTS = 20
_LONGEST_READING = 120  # characters; readings that begin alike are counted together


def measure_tables(plan: Plan, folder: RunFolder) -> Measured:
    """Measure the finished plays."""
    rows = [row for row, _ in measure_plays(plan, folder.sorted_plays())]
    rows.sort(
        key=lambda row: (
            row["condition"] != BASE,
            row["condition"],
            row["game"],
            row["spec"],
        )
    )

    results = Results(plan, rows)
    groups: dict[Heads, Callable[[], Rows]] = {}
    for group, played in results.group(select_base(rows)).items():
        groups[group] = partial(list, played)
    # A player that was asked for is not listed twice.
    for name in (name for name in results.baselines if name not in plan.config.model):
        groups[name, BASELINE] = partial(results.baselines.__getitem__, name)

    frames = {name: partial(make, results) for name, make in _FRAMES.items()}
    answered = [row for row in rows if row["nash_gap"] is not None]
    return Measured(
        LazyMapping(frames),
        answered=len(answered),
        labels=("player", "asked for"),
        groups=LazyMapping(groups),
    )


class GameLossRow(TypedDict):
    """What a player or a baseline lost in one game, and the game with its solution.

    The loss is the mean over trials.
    """

    player: str
    condition: Annotated[str, column(help="base, or a condition of the suite")]
    game: int
    seat: str
    answers: Annotated[int, column(help="answers that were read; more than one with trials")]
    nash_gap: Annotated[float, column("Nash gap", ".2f")]
    gap_normalised: Annotated[float, column("Nash gap / payoff range", ".3f")]
    gap_spread: Annotated[float | None, column(format=".2f")]
    """standard deviation of the Nash gap between the answers to this game; with trials"""
    exploitability_normalised: Annotated[
        float | None, column("exploitability / payoff range", ".3f")
    ]
    hardness: Annotated[float | None, column("gap of uniform play / payoff range", ".3f")]
    rows: int
    cols: int
    equilibrium: Annotated[
        str, column(help="pure or mixed: the equilibrium that the opponent plays")
    ]
    value: Annotated[float, column(format=".2f", help="what that equilibrium pays the row player")]
    row_payoffs: Annotated[list[list[float]], column(help="payoff matrix of the row player")]
    col_payoffs: Annotated[list[list[float]], column(help="payoff matrix of the column player")]
    row_equilibrium: Annotated[list[float], column(help="equilibrium strategy of the row player")]
    col_equilibrium: Annotated[
        list[float], column(help="equilibrium strategy of the column player")
    ]


class DrawnSolution(TypedDict):
    """A game of the run and the equilibrium that opponents play."""

    rows: int
    cols: int
    equilibrium: str
    value: float
    row_payoffs: list[list[float]]
    col_payoffs: list[list[float]]
    row_equilibrium: list[float]
    col_equilibrium: list[float]


def solve_drawn(plan: Plan, condition: str, game: int) -> DrawnSolution:
    """Return a drawn game of a condition with its equilibrium.

    It is the one that opponents and the baseline `equilibrium` play.
    """
    drawn = plan.conditions[condition].drawn
    own, other = drawn.payoffs[game]
    row, col = drawn.get_equilibrium(game)
    pure = max(row) > 1 - NOISE and max(col) > 1 - NOISE
    value = row @ own @ col
    return DrawnSolution(
        rows=len(row),
        cols=len(col),
        equilibrium="pure" if pure else "mixed",
        value=float(value),
        row_payoffs=own.tolist(),
        col_payoffs=other.tolist(),
        row_equilibrium=row.tolist(),
        col_equilibrium=col.tolist(),
    )


def _list_games(results: Results) -> Iterator[GameLossRow]:
    hardness: dict[tuple[str, Case], float] = {}
    if results.baselines:
        uniform = find_values(results.baselines["uniform"], "gap_normalised")
        hardness = {(BASE, identify_case(row)): gap for gap, row in uniform}

    solve = cache(partial(solve_drawn, results.plan))
    shown = dict(results.players)
    for name in results.baselines:
        if name not in results.plan.config.model:  # nobody is shown under two names
            shown[name] = results.baselines[name]
    for player, rows in shown.items():
        answers: dict[tuple[str, Case], list[PlayRow]] = defaultdict(list)
        for _, row in find_values(rows, "nash_gap"):
            answers[row["condition"], identify_case(row)].append(row)
        for case, played in answers.items():
            condition = played[0]["condition"]
            game = played[0]["game"]
            gaps = [row["nash_gap"] or 0.0 for row in played]
            shares = [row["gap_normalised"] or 0.0 for row in played]
            taken = [value for value, _ in find_values(played, "exploitability_normalised")]
            yield GameLossRow(
                player=player,
                condition=condition,
                game=game,
                seat=played[0]["seat"],
                answers=len(played),
                nash_gap=float(np.mean(gaps)),
                gap_normalised=float(np.mean(shares)),
                gap_spread=float(np.std(gaps, ddof=1)) if len(gaps) > 1 else None,
                exploitability_normalised=float(np.mean(taken)) if taken else None,
                hardness=None if player in results.baselines else hardness.get(case),
                **solve(condition, game),
            )


class TextRow(TypedDict):
    """How often answers were repaired in some way, or could not be read for some reason."""

    kind: str
    text: Annotated[str, column("what was said")]
    times: int


def _count_texts(results: Results) -> Iterator[TextRow]:
    readings: Counter[tuple[str, str]] = Counter()
    for row in results.rows:
        if row["how"]:
            readings[row["status"], row["how"][:_LONGEST_READING]] += 1
    for (kind, text), count in readings.most_common(_MOST_TEXTS):
        yield TextRow(kind=kind, text=text, times=count)


def _count_answers(results: Results) -> Frame[Row]:
    readings = Readings()
    for player, rows in results.players.items():
        for row in rows:
            readings.add(player, row["status"], row["how"])
    return readings.frames["answers"]


def _frame(
    row: type[R], list_rows: Callable[[Results], Iterable[R]]
) -> Callable[[Results], Frame[R]]:
    return lambda results: Frame(row, list(list_rows(results)))


_FRAMES: Mapping[str, Callable[[Results], Frame[Row]]] = {
    "plays": lambda results: Frame(PlayRow, results.rows),
    **{name: partial(tabulate_versions, name) for name in ("same_games", "variants", "settings")},
    "buckets": tabulate_buckets,
    "differences": _frame(DifferenceRow, list_differences),
    "games": _frame(GameLossRow, _list_games),
    "texts": _frame(TextRow, _count_texts),
    "answers": _count_answers,
}
"""What makes the frames of a run, by their names."""
