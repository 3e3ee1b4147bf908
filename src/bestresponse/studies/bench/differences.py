"""Players, and versions of the same games, compared on the games that both answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.players.llm.verified import AGAIN, find_spelling, is_verified
from bestresponse.players.strategies import EQUILIBRIUM
from bestresponse.report.frames import column
from bestresponse.report.stats.differences import PairedComparison, holm, paired_difference
from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.bench.measure import Case, Rows, find_values, identify_case
from bestresponse.studies.bench.metrics import RESAMPLING_SEED
from bestresponse.studies.bench.results import COMPARED, Results, tell_as_drawn

_MOST_LOST = {
    "gap_normalised": "worst_normalised",
    "exploitability_normalised": "worst_exploitability_normalised",
}
_COMPARED_BASELINES = ("uniform", "maximin", EQUILIBRIUM)


class DifferenceRow(TypedDict):
    """Two players, or two versions of the same games, compared on the games that both answered."""

    comparison: str
    player: str
    against: Annotated[str, column("compared with")]
    by: Annotated[str, column(help="the figure that is compared")]
    difference: Annotated[Interval, column("difference, 95 % by sign flips", ".3f")]
    """mean difference, and all that the test of p does not reject; negative: the first is better"""
    games: int
    p: Annotated[float, column("p, exchangeable on every game", ".3g")]
    """sign-flip test of this comparison alone"""
    p_adjusted: Annotated[float | None, column("adjusted p", ".3g")]
    """for the number of comparisons of this kind (Holm); those of models among themselves are one
    family, those with baselines are not adjusted"""
    effect: Annotated[
        float | None, column(format=".2f", help="mean difference over its deviation between games")
    ]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its name, and its plays."""

    name: str
    rows: Rows


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides that are compared, and the kind of the comparison."""

    comparison: str
    first: Side
    second: Side


def _list_pairs(results: Results) -> Iterator[Pair]:
    """Yield what is compared: players and baselines, verified models and plain ones, versions."""
    config = results.plan.config
    # a player without a model that was put among the models is not compared with itself
    beside = [name for name in _COMPARED_BASELINES if name not in config.model]
    others = list(results.base) + [name for name in beside if name in results.baselines]
    for number, (player, rows) in enumerate(results.base.items()):
        mine = Side(player, rows)
        for other in others[number + 1 :]:
            theirs = results.base.get(other) or results.baselines[other]
            yield Pair("players", mine, Side(other, theirs))
        if spelling := find_spelling(player):
            plain = player.removeprefix(spelling)
            for other in (AGAIN + plain, plain) if is_verified(player) else (plain,):
                if other in results.base and other != player:
                    kind = "verified" if is_verified(player) else "beliefs"
                    yield Pair(kind, mine, Side(other, results.base[other]))
        if config.suite == "invariance":
            for variant in results.plan.variants:
                varied = tell_as_drawn(results.players[player], variant)
                told = Side(f"{player}, {variant}", varied)
                yield Pair("variants", told, Side(f"{player}, as drawn", rows))


def _average_answers(rows: Rows, figure: str) -> dict[Case, float]:
    """Return what a player lost in each game, the mean over trials."""
    answers: dict[Case, list[float]] = defaultdict(list)
    for value, row in find_values(rows, figure):
        answers[identify_case(row)].append(value)
    return {case: float(np.mean(values)) for case, values in answers.items()}


def list_differences(results: Results) -> Iterator[DifferenceRow]:
    """Compare every pair by every metric; p values are adjusted by kind of comparison."""
    rows: list[DifferenceRow] = []
    families: dict[str, list[int]] = defaultdict(list)
    for pair in _list_pairs(results):
        for figure, title in COMPARED.items():
            is_landmark = pair.second.name in results.baselines
            compared = _compare_on_common_games(pair, figure, is_landmark)
            if compared is None:
                continue
            # Baselines are landmarks and no hypotheses: they take nothing from the tests of models.
            if not is_landmark:
                families[pair.comparison].append(len(rows))
            difference = DifferenceRow(
                comparison=pair.comparison,
                player=pair.first.name,
                against=pair.second.name,
                by=title,
                difference=compared.difference,
                games=compared.difference.n,
                p=compared.p_value,
                p_adjusted=None,
                effect=compared.effect,
            )
            rows.append(difference)

    for family in families.values():
        unadjusted = [rows[number]["p"] for number in family]
        adjusted = holm(unadjusted)
        for number, p in zip(family, adjusted.tolist(), strict=True):
            rows[number]["p_adjusted"] = p
    yield from rows


def _compare_on_common_games(
    pair: Pair,
    figure: str,
    is_landmark: bool,
) -> PairedComparison | None:
    """Compare two players by what they lost in the games that both answered.

    What a landmark loses in a game is known and what a model loses is not. Returns None where these
    games are fewer than two.
    """
    first = pair.first.rows
    second = pair.second.rows
    a = _average_answers(first, figure)
    b = _average_answers(second, figure)
    common = sorted(a.keys() & b.keys())
    games = [case[0] for case in common]
    if len(set(games)) < 2:
        return None
    worst = _average_answers(first, _MOST_LOST[figure])
    other_worst = _average_answers(second, _MOST_LOST[figure])
    by_case = [(a[case], b[case], worst[case], other_worst[case]) for case in common]
    ours, theirs, most, most_of_theirs = np.array(by_case).T
    bounds = (-theirs, most - theirs) if is_landmark else (-most_of_theirs, most)
    return paired_difference(ours, theirs, games, rng=RESAMPLING_SEED, bounds=bounds)
