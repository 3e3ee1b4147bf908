"""What all plays of a player say: the metrics of the benchmark.

Means are over the games as drawn, with intervals that resample games.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import cast

import numpy as np

from bestresponse.core.json import digest
from bestresponse.report.frames import Frame, Metric, Value
from bestresponse.report.stats import statistics
from bestresponse.report.stats.differences import compare_sums
from bestresponse.runs.study import GameValue, Measured
from bestresponse.studies.bench.games import VARIANTS
from bestresponse.studies.bench.measure import (
    GENERAL_SUM,
    VERIFIED_ONLY,
    Case,
    PlayRow,
    Rows,
    find_distance,
    find_values,
    identify_case,
    identify_game,
    is_computed,
    select_base,
    select_original,
)
from bestresponse.studies.bench.plan import Plan
from bestresponse.theory.games.normal_form import Array

_PRECISE = 0.02  # of the payoff range: how well a mean is known once `games_needed` are played
_SAME = 0.01
"""Strategies that differ by less, in total variation, are the same."""
RESAMPLING_SEED = 20
"""Of the resampling: the same for all players, so that they are resampled alike."""
_IN_EQUILIBRIUM = f"share of the answers that are part of some equilibrium; {GENERAL_SUM}"
_NEEDED = (
    "games needed to know the mean gap / range (95 %), if one more game is lost as badly as"
    " possible"
)
_INVARIANCE = (
    "1 - mean total variation distance between the answers to a game and to the same game told"
    " otherwise"
)
_WORST_TELLING = f"{_INVARIANCE}; of the telling in which it is least, with its interval"
_CONTAMINATION = (
    "share of the score (1 - loss / range) that is lost when names, story and order of a game"
    " change; near 0 for a player that reasons, large for one that remembers games"
)
_RATIO = (
    "sum of the Nash gaps / sum of the absolute best-response values; none if all of these are 0"
)
_WITHIN = (
    "standard deviation of the Nash gap between the answers to one game, pooled over games; with"
    " trials"
)
_BETWEEN = "standard deviation between games of the mean Nash gap of a game; with trials"
_CONSISTENCY = "1 - mean total variation distance between two answers to the same game; with trials"
_BOUNDED: Mapping[str, Callable[[PlayRow], float | None]] = {
    "exploitability_normalised": lambda row: row["worst_exploitability_normalised"],
    "gap_normalised": lambda row: row["worst_normalised"],
    "nash_gap": lambda row: (row["worst_normalised"] or 0.0) * (row["payoff_range"] or 0.0),
    "equilibrium_distance": lambda row: 1.0,
    "gap_nearest": lambda row: row["payoff_range"],
    "dominated_mass": lambda row: 1.0,
    "security_loss": lambda row: row["payoff_range"],
    "belief_score": lambda row: 2.0,
    "mispredicted": lambda row: row["worst_normalised"],
    "misread": lambda row: row["worst_normalised"],
    "miscalculated": lambda row: row["worst_normalised"],
}
"""The metrics that are averaged with an interval, and the most that each can be in a game."""


def _average(name: str, most: Callable[[PlayRow], float | None] | None = None) -> Metric[Rows]:
    """Make the metric that averages a column over games as drawn.

    An interval needs the most it can be in a game.
    """

    def compute(rows: Rows) -> Value:
        known = find_values(rows, name)
        numbers = [value for value, _ in known]
        games = [identify_game(row) for _, row in known]
        if not known or most is None:
            return float(np.mean(numbers)) if known else None
        if _is_known(rows):
            return statistics.as_interval(float(np.mean(numbers)))
        worst = max(most(row) or 0.0 for _, row in known)
        least = -worst if name in ("misread", "miscalculated") else 0.0
        return statistics.bound_mean(numbers, (least, worst), games, rng=RESAMPLING_SEED)

    shown = Frame(PlayRow, []).columns[name]
    return Metric(
        name,
        shown.name,
        help=shown.help if most else f"mean {shown.help}",
        format=shown.format,
        compute=compute,
    )


def _is_known(rows: Rows) -> bool:
    """Tell whether what the player of these rows loses is no matter of chance."""
    return is_computed(rows[0]["model"], rows[0]["asked_for"])


def _average_bounded(name: str) -> Metric[Rows]:
    """Make the metric of an average whose most in a game is known."""
    return _average(name, _BOUNDED[name])


_SUCCESSES = (1, 5)
"""Per cent of the payoff range: who loses at most so much counts as successful."""


def find_loss(row: PlayRow) -> float | None:
    """Return what an answer loses as a share of the payoff range.

    This is its exploitability or, in games that are not zero-sum, the gap to the best reply to the
    opponent that it met.
    """
    taken = row["exploitability_normalised"]
    return row["gap_normalised"] if taken is None else taken


def _find_worst(row: PlayRow) -> float:
    """Return the most that `find_loss` could be of the game of a play."""
    taken = row["worst_exploitability_normalised"]
    return (row["worst_normalised"] or 0.0) if taken is None else taken


def _succeed(percent: int) -> Metric[Rows]:
    """Make the metric of the share of answers that lose at most so much of the payoff range."""

    def compute(rows: Rows) -> statistics.Interval | None:
        successes = []
        for row in select_original(rows):
            lost = find_loss(row)
            if lost is not None:
                successes.append((lost <= percent / 100, row))
        return _compute_rate(successes)

    lost = f"exploitability or, in {GENERAL_SUM}, the Nash gap (Wilson interval)"
    explained = f"share of the answers that lose at most {percent / 100} of the range: {lost}"
    return Metric(
        f"success_{percent}",
        f"within {percent} %",
        help=explained,
        format=".2f",
        compute=compute,
    )


def _count_equilibria(rows: Rows) -> statistics.Interval | None:
    """Compute the share of answers that some equilibrium uses.

    The opponent met need not play its part of it.
    """
    known = find_values(rows, "equilibrium_distance")
    return _compute_rate([(distance <= _SAME, row) for distance, row in known])


def _compute_rate(successes: Sequence[tuple[bool, PlayRow]]) -> statistics.Interval | None:
    """Compute a share of answers with an interval, unless it is known.

    This is Wilson's interval, or one over games if some were answered more than once.
    """
    hits = [hit for hit, _ in successes]
    if hits and _is_known([successes[0][1]]):
        return statistics.as_interval(float(np.mean(hits)))
    games = [identify_game(row) for _, row in successes]
    if len(set(games)) < len(games):
        return statistics.bound_mean(hits, (0.0, 1.0), games, rng=RESAMPLING_SEED)
    return statistics.wilson(sum(hits), len(hits)) if hits else None


def _bound_missing(figure: str, worst: str, end: int) -> Metric[Rows]:
    """Make the metric of the least or the most that a mean could be (Manski bounds).

    This is what it would be had every answer been readable.
    """

    def compute(rows: Rows) -> float | None:
        seen = [value for value, _ in find_values(rows, figure)]
        missing = [value for value, row in find_values(rows, worst) if row.get(figure) is None]
        if not missing or len(seen) + len(missing) < len(select_original(rows)):
            return None
        return statistics.missing_bounds(seen, len(missing), missing, 0.0)[end]

    title = Frame(PlayRow, []).columns[figure].name
    side = ("at least", "at most")[end]
    explained = "the mean if every missing answer were perfect, or the worst that the game allows"
    name = f"{figure.removesuffix('_normalised')}_{side.replace(' ', '_')}"
    return Metric(
        name,
        f"{title} {side}",
        help=explained,
        format=".3f",
        compute=compute,
    )


def _count_wrong(name: str, which: str) -> Metric[Rows]:
    """Make the metric that counts the plays whose first or last reasoning holds a false claim."""

    def compute(rows: Rows) -> int | None:
        checked = find_values(rows, name)
        wrong = [row for value, row in checked if value > 0]
        return len(wrong) if checked else None

    explained = f"plays whose {which} reasoning holds a false claim; {VERIFIED_ONLY}"
    return Metric(
        f"wrong_{which}",
        f"wrong at {which}",
        help=explained,
        format="",
        compute=compute,
    )


def _describe_gaps(
    name: str,
    title: str,
    explained: str,
    compute: Callable[[Array], float],
) -> Metric[Rows]:
    """Make the metric of one statistic of the Nash gaps of all answers."""

    def describe(rows: Rows) -> float | None:
        gaps = np.array([gap for gap, _ in find_values(rows, "nash_gap")])
        return float(compute(gaps)) if len(gaps) else None

    return Metric(
        f"nash_gap_{name}",
        f"{title} gap",
        help=explained,
        format=".2f",
        compute=describe,
    )


def compute_gap_ratio(rows: Rows) -> float | None:
    """Divide the sum of the Nash gaps by that of the absolute best-response values.

    A ratio game by game has no mean where one best-response value is 0, and hardly any meaning near
    it; in a ratio of sums such a game counts with its gap. None where every best-response value is
    0.
    """
    gaps = sum(gap for gap, _ in find_values(rows, "nash_gap"))
    values = 0.0
    for value, row in find_values(rows, "br_value"):
        if row["gap_ratio"] is not None:
            values += abs(value)
    return gaps / values if values else None


def _group_gaps(rows: Rows) -> list[list[float]]:
    """Return the known gaps, those of one game and seat together."""
    games: dict[Hashable, list[float]] = defaultdict(list)
    for value, row in find_values(rows, "nash_gap"):
        games[identify_case(row)].append(value)
    return list(games.values())


def _compute_spread_within(rows: Rows) -> float | None:
    """Pool the variances of the gaps within games: each answer counts, less one for every game."""
    repeated = [gaps for gaps in _group_gaps(rows) if len(gaps) > 1]
    if not repeated:
        return None
    squares = 0.0
    freedom = 0
    for gaps in repeated:
        squares += float(np.var(gaps)) * len(gaps)
        freedom += len(gaps) - 1
    return float(np.sqrt(squares / freedom))


def _compute_spread_between(rows: Rows) -> float | None:
    """Compare the games by their mean gaps; None where no game was asked about more than once.

    Without trials it would be the deviation that is next to it under another name.
    """
    games = _group_gaps(rows)
    if len(games) < 2 or max(map(len, games)) == 1:
        return None
    means = [np.mean(gaps) for gaps in games]
    return float(np.std(means, ddof=1))


def _compute_consistency(rows: Rows) -> statistics.Interval | None:
    """Compare every two answers to the same game, told in the same words."""
    answers: dict[Case, list[list[float]]] = defaultdict(list)
    for row in select_original(rows):
        if row["strategy"] is not None:
            answers[identify_case(row)].append(row["strategy"])
    scores = []
    games = []
    for (game, _), strategies in answers.items():
        for first, second in combinations(strategies, 2):
            scores.append(1 - find_distance(first, second))
            games.append(game)
    if not scores:
        return None
    return statistics.bound_mean(scores, (0.0, 1.0), games, rng=RESAMPLING_SEED)


def _compute_worst_invariance(rows: Rows) -> statistics.Interval | None:
    """Compute the invariance of the telling that changes answers most.

    A mean over tellings would hide a player that goes by the order of actions alone, which one of
    them changes.
    """
    tellings: dict[str, list[PlayRow]] = defaultdict(list)
    for row in rows:
        if row["variant"] in VARIANTS:
            tellings[row["variant"]].append(row)
    drawn = select_original(rows)
    found = [_compute_invariance([*drawn, *told]) for told in tellings.values()]
    known = [interval for interval in found if interval is not None]
    return min(known, key=lambda interval: interval.estimate, default=None)


def _compute_invariance(rows: Rows) -> statistics.Interval | None:
    """Compare every answer to a game told otherwise with the answer to the same game as drawn."""
    originals = {(row["game"], row["trial"]): row["strategy"] for row in select_original(rows)}
    scores = []
    games = []
    for row in rows:
        drawn = originals.get((row["game"], row["trial"]))
        if row["variant"] in VARIANTS and row["strategy"] is not None and drawn is not None:
            scores.append(1 - find_distance(row["strategy"], drawn))
            games.append(row["game"])
    return (
        statistics.bound_mean(
            scores,
            (0.0, 1.0),
            games,
            rng=RESAMPLING_SEED,
        )
        if scores
        else None
    )


_RETOLD = ("permuted", "relabelled", "disguised")
"""The variants that change order, names and story: what somebody who remembers a game goes by."""


def _compute_contamination(rows: Rows) -> statistics.Interval | None:
    """Compute the share of the score that is lost when games are retold.

    The score of an answer is 1 less what it loses as a share of the payoff range. Games that were
    answered as drawn and in some retelling count. The interval is that of a difference of scores,
    divided by the score.
    """
    drawn: dict[Hashable, list[float]] = defaultdict(list)
    retold: dict[Hashable, list[float]] = defaultdict(list)
    worst: dict[Hashable, float] = {}
    for row in rows:
        lost = find_loss(row)
        if lost is None:
            continue
        if row["variant"] == "original":
            game = identify_game(row)
            drawn[game].append(1 - lost)
            worst[game] = max(worst.get(game, 0.0), _find_worst(row))
        elif row["variant"] in _RETOLD:
            retold[identify_game(row)].append(1 - lost)

    games = [game for game in drawn if game in retold]
    before = _average_each([drawn[game] for game in games])
    after = _average_each([retold[game] for game in games])
    if not games or not before.sum():
        return None
    most = np.array([worst[game] for game in games])
    bounds = (-most, np.minimum(most, before))
    compared = compare_sums(before - after, before, rng=RESAMPLING_SEED, bounds=bounds)
    return compared.difference


def _average_each(answers: Sequence[Sequence[float]]) -> Array:
    return np.array([np.mean(scores) for scores in answers])


def _count_needed(rows: Rows) -> int | None:
    """Count the games it takes if games vary as those seen and a worst one.

    In the worst one, as much is lost as can be.

    Without the latter, two games without a loss would say that two games are enough.
    """
    gaps: dict[Hashable, list[float]] = defaultdict(list)
    worst = 0.0
    for gap, row in find_values(rows, "gap_normalised"):
        gaps[identify_game(row)].append(gap)
        worst = max(worst, row["worst_normalised"] or 0.0)
    means = [float(np.mean(values)) for values in gaps.values()]
    spread = float(np.std([worst, *means], ddof=1)) if len(gaps) > 1 else 0.0
    return statistics.games_needed(spread, _PRECISE) if spread else None


METRICS: tuple[Metric[Rows], ...] = (
    Metric(
        "asked",
        "plays",
        help="games that the player was asked about",
        format="",
        compute=lambda rows: len(select_original(rows)),
    ),
    Metric(
        "answered",
        "answers",
        help="answers that were read",
        format="",
        compute=lambda rows: len(find_values(rows, "nash_gap")),
    ),
    *map(_succeed, _SUCCESSES),
    _average_bounded("exploitability_normalised"),
    _average_bounded("gap_normalised"),
    _average_bounded("nash_gap"),
    Metric(
        "invariance",
        "invariance",
        help=_WORST_TELLING,
        format=".3f",
        compute=_compute_worst_invariance,
    ),
    Metric(
        "invariance_mean",
        "mean invariance",
        help=f"{_INVARIANCE}; mean over tellings",
        format=".3f",
        compute=_compute_invariance,
    ),
    Metric(
        "contamination",
        "lost when retold",
        help=_CONTAMINATION,
        format=".3f",
        compute=_compute_contamination,
    ),
    Metric(
        "in_equilibrium",
        "in an equilibrium",
        help=_IN_EQUILIBRIUM,
        format=".2f",
        compute=_count_equilibria,
    ),
    _average_bounded("equilibrium_distance"),
    _average_bounded("gap_nearest"),
    _average_bounded("dominated_mass"),
    _average_bounded("security_loss"),
    _average_bounded("belief_score"),
    _average_bounded("mispredicted"),
    _average_bounded("misread"),
    _average_bounded("miscalculated"),
    _average("llm_value"),
    _average("br_value"),
    _describe_gaps(
        "median",
        "median",
        "median of the Nash gaps of all answers",
        np.median,
    ),
    _describe_gaps(
        "std",
        "std of the",
        "standard deviation of the Nash gaps (divided by n, as numpy does)",
        np.std,
    ),
    _describe_gaps("min", "least", "smallest Nash gap of an answer", np.min),
    _describe_gaps("max", "largest", "largest Nash gap of an answer", np.max),
    Metric(
        "gap_ratio",
        "gap ratio",
        help=_RATIO,
        format=".3f",
        compute=compute_gap_ratio,
    ),
    Metric(
        "gap_spread_within",
        "gap spread within games",
        help=_WITHIN,
        format=".2f",
        compute=_compute_spread_within,
    ),
    Metric(
        "gap_spread_between",
        "gap spread between games",
        help=_BETWEEN,
        format=".2f",
        compute=_compute_spread_between,
    ),
    Metric(
        "consistency",
        "consistency",
        help=_CONSISTENCY,
        format=".3f",
        compute=_compute_consistency,
    ),
    _bound_missing("gap_normalised", "worst_normalised", 0),
    _bound_missing("gap_normalised", "worst_normalised", 1),
    _bound_missing("exploitability_normalised", "worst_exploitability_normalised", 0),
    _bound_missing("exploitability_normalised", "worst_exploitability_normalised", 1),
    Metric(
        "games_needed",
        f"games for ± {_PRECISE}",
        help=_NEEDED,
        format=",",
        compute=_count_needed,
    ),
    _average("attempts"),
    _average("claims"),
    _average("refuted"),
    _count_wrong("refuted_first", "first"),
    _count_wrong("refuted", "last"),
)
"""Every metric of a player in one way of asking: one more here is in report, summary, leaderboard
and docs."""


def list_game_values(plan: Plan, measured: Measured) -> Iterator[GameValue]:
    """Yield what models lost in the games as drawn.

    A game is known by its payoffs, whatever its number in the run is.
    """
    rows = cast(Rows, measured.frames["plays"].rows)
    for row in select_base(select_original(rows)):
        payoffs = plan.conditions[row["condition"]].drawn.payoffs[row["game"]]
        game = digest(payoffs.tolist())
        values = {name: cast(float | None, row.get(name)) for name in _BOUNDED}
        bounds = {name: most(row) or 0.0 for name, most in _BOUNDED.items()}
        lost = find_loss(row)
        for percent in _SUCCESSES:
            succeeded = None if lost is None else float(lost <= percent / 100)
            values[f"success_{percent}"] = succeeded
            bounds[f"success_{percent}"] = 1.0
        for name, value in values.items():
            if value is not None:
                yield GameValue(
                    player=(row["model"], row["asked_for"]),
                    metric=name,
                    game=game,
                    part=row["seat"],
                    value=value,
                    most=bounds[name],
                )
