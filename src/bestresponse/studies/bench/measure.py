"""What one play of the benchmark says about its player, and what all plays of a player say.

For a player with own payoffs U (own actions as rows), an opponent fixed to its equilibrium strategy
y and an answer x:

    llm_value       x U y                        br_value   max_a (U y)_a
    nash_gap        br_value - llm_value >= 0, zero for any mix of best responses to y
    exploitability  value of the game - min_b (x U)_b >= 0: what a best-responding opponent would
                    take (zero-sum only)

Against an equilibrium opponent every action of the support has gap zero, so a gap of zero may be
luck; exploitability is zero only for strategies that guarantee the value. `_normalised` figures are
divided by the range of U.

Where equilibria are many, in games that are not zero-sum, the nearest one counts: that whose
strategy for the seat has the smallest total variation distance to the answer, and of equally near
ones that against which it loses least.

The `worst` figures say what a gap could have been at most, given the game and its opponent; a play
without a readable answer has these alone. Figures below a billionth of the payoffs are rounding
noise and count as 0.

From the rows of a run to its frames: players beside baselines, suites, comparisons, readings, and
the plays.

What takes long, such as comparisons, which resample games, is computed when it is asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from heapq import nsmallest
from itertools import combinations, islice
from typing import Annotated, TypedDict, cast

import numpy as np

from bestresponse.core.errors import StoreError, TooLarge
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.lazy import LazyMapping
from bestresponse.core.player import Decision
from bestresponse.games.matrix.game import as_strategy
from bestresponse.players.llm.verified import AGAIN, SPELLING, make_label
from bestresponse.players.strategies import BASELINES, EQUILIBRIUM
from bestresponse.report.figures.charts import compute_fences
from bestresponse.report.frames import (
    BASELINE,
    Frame,
    Heads,
    Metric,
    R,
    Row,
    Value,
    column,
)
from bestresponse.report.numbers import format_number
from bestresponse.report.stats import statistics
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import GameValue, Judgement, Measured
from bestresponse.studies.bench import config as plans
from bestresponse.telling.render import write_rules
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum

_NOISE = 1e-9  # of the largest payoff: smaller gaps are rounding errors
_CHUNK = 1000  # plays in memory at a time; those of one shape are measured by one call
_PRECISE = 0.02  # of the payoff range: how well a mean is known once `games_needed` are played
_SAME = 0.01
"""Strategies that differ by less, in total variation, are the same."""
_SEED = 20
"""Of the resampling: the same for all players, so that they are resampled alike."""
_RANGE = "as a share of the game's payoff range"
_GENERAL = "games that are not zero-sum"
_CHECKED = "verified models"
_IN_EQUILIBRIUM = (
    f"share of the answers that some equilibrium uses, whoever plays its other part; {_GENERAL}"
)
_NEEDED = "to know the mean gap / range (95 %), if one more game is lost as far as can be"
_INVARIANCE = (
    "1 - mean total variation distance between the answers to a game and to the same game told"
    " otherwise"
)
_CONTAMINATION = (
    "share of the score (1 - loss / range) that is lost when names, story and order of a game"
    " change; near 0 for who reasons, large for who remembers games"
)
_RATIO = (
    "sum of the Nash gaps / sum of the absolute best-response values; none where all of these are 0"
)
_WITHIN = (
    "standard deviation of the Nash gap between the answers to one game, pooled over games; with"
    " trials"
)
_BETWEEN = "standard deviation between games of the mean Nash gap of a game; with trials"
_CONSISTENCY = "1 - mean total variation distance between two answers to the same game; with trials"


class Asked(TypedDict):
    """What was asked, and how the answer was read."""

    spec: str
    condition: str
    game: int
    variant: str
    model: str
    asked_for: str
    elicit: str
    format: str
    theme: str
    seat: str
    temperature: float | None
    trial: int
    rows: int
    cols: int
    status: str
    how: str
    strategy: list[float] | None
    attempts: Annotated[
        int | None, column(format=".2f", help=f"reasonings until no claim was refuted; {_CHECKED}")
    ]
    claims: Annotated[
        int | None, column(format=".1f", help=f"claims read in the last reasoning; {_CHECKED}")
    ]
    refuted: Annotated[
        int | None, column(format=".2f", help=f"false claims in the last reasoning; {_CHECKED}")
    ]
    refuted_first: Annotated[
        int | None, column(format=".2f", help=f"false claims in the first reasoning; {_CHECKED}")
    ]


class PlayFigures(TypedDict):
    """What an answer is worth; None where there is no readable answer, or in another kind of
    game."""

    llm_value: Annotated[float | None, column("own value", ".2f", "expected payoff")]
    br_value: Annotated[float | None, column("best response", ".2f", "best-response payoff")]
    nash_gap: Annotated[
        float | None,
        column("Nash gap", ".2f", "best response less own value, equilibrium opponent"),
    ]
    gap_ratio: Annotated[float | None, column("gap / best response", ".3f")]
    """the Nash gap over the absolute best-response value; none where that is 0"""
    gap_normalised: Annotated[float | None, column("gap / range", ".3f", f"the Nash gap {_RANGE}")]
    payoff_range: float | None
    exploitability: float | None
    exploitability_normalised: Annotated[float | None, column("exploitability / range", ".3f")]
    """what a best-responding opponent takes, as a share of the game's payoff range"""
    equilibrium_distance: Annotated[float | None, column("distance to equilibrium", ".3f")]
    """total variation to the nearest strategy; games that are not zero-sum"""
    gap_nearest: Annotated[float | None, column("gap to nearest", ".2f")]
    """Nash gap against the nearest equilibrium; games that are not zero-sum"""
    dominated_mass: Annotated[float | None, column("dominated", ".3f")]
    """probability on strictly dominated actions; games that are not zero-sum"""
    security_loss: Annotated[float | None, column(format=".2f")]
    """maximin value less what the answer guarantees; games that are not zero-sum"""
    worst_normalised: Annotated[
        float | None, column(help="the largest gap / range that an answer could have had")
    ]
    worst_exploitability_normalised: Annotated[
        float | None, column(help="the same of exploitability / range")
    ]


class PlayRow(Asked, PlayFigures):
    """One play of the benchmark; `attempts` and the following three where reasoning was
    verified."""


Rows = Sequence[PlayRow]
_NO_FIGURES = dict.fromkeys(PlayFigures.__annotations__)
_NOT_ZERO_SUM = dict.fromkeys(
    ("exploitability", "exploitability_normalised", "worst_exploitability_normalised")
)


def measure_plays(
    plan: plans.Plan, plays: Iterable[StoredPlay]
) -> Iterator[tuple[PlayRow, StoredPlay]]:
    """Yield a row for each play, in their order; many are measured at once, which is quicker than
    one by one."""
    plays = iter(plays)
    while chunk := list(islice(plays, _CHUNK)):
        yield from zip(_measure_chunk(plan, chunk), chunk, strict=True)


def _measure_chunk(plan: plans.Plan, plays: list[StoredPlay]) -> list[PlayRow]:
    rows: list[JsonObject] = []
    answered: dict[tuple[int, ...], list[tuple[int, JsonMapping, Array, Sequence[float]]]] = (
        defaultdict(list)
    )
    for number, play in enumerate(plays):
        data = play.data
        seat = play.data["seat"]
        decision = find_decision(play)
        opponent = find_decision(play, opponent=True)
        if decision is None:
            raise StoreError(
                f"the record of {play.spec} holds no answer of the player it was made for"
            )
        row = _describe(plan, play, decision)
        if decision.action is None or opponent is None:
            own, other = plans.own_view(np.asarray(data["payoffs"], dtype=np.float64), seat)
            row |= _bound(own, other, np.asarray(plan.find_opponent(data)))
        else:
            x = as_strategy(
                decision.action, plans.find_theme(data).actions[seat][: len(data["back"])]
            )
            answered[seat, len(x), len(opponent.action)].append((number, data, x, opponent.action))
        rows.append(row)
    for (seat, *_), group in answered.items():
        numbers, specs, strategies, opponents = zip(*group, strict=True)
        payoffs = np.array([data["payoffs"] for data in specs], dtype=np.float64)
        own, other = map(np.ascontiguousarray, plans.own_view(payoffs, seat))
        x = np.stack(strategies)
        y = np.array(opponents, dtype=np.float64)
        # Strategies are kept over the actions in the order in which they were drawn.
        as_drawn = np.argsort([data["back"] for data in specs], axis=1)
        kept = np.take_along_axis(x, as_drawn, axis=1).tolist()
        for number, strategy, figures in zip(
            numbers, kept, measure_strategies(own, other, x, y), strict=True
        ):
            rows[number] |= {"strategy": strategy, **figures}
    return cast(list[PlayRow], rows)


def find_decision(play: StoredPlay, *, opponent: bool = False) -> Decision | None:
    """Return the answer of the player that a play was made for, or of its opponent."""
    role = plans.find_theme(play.data).players[play.data["seat"] ^ opponent]
    return next((s.decision for s in play.record.submissions if s.role == role), None)


def _describe(plan: plans.Plan, play: StoredPlay, decision: Decision) -> dict[str, object]:
    data = play.data
    claims = [remark["claims"] for remark in decision.remarks]
    shape = len(data["payoffs"][0]), len(data["payoffs"][0][0])
    refuted = [sum(claim["verdict"] == "refuted" for claim in attempt) for attempt in claims]
    return {
        "spec": play.spec,
        **{name: data[name] for name in ("condition", "game", "variant")},
        "model": make_label(data["model"]),
        "asked_for": describe_asking(plan, data),
        **{name: data[name] for name in ("elicit", "format", "theme")},
        "seat": ("row", "col")[data["seat"]],
        "temperature": data["temperature"],
        "trial": data.get("trial", 0),
        "rows": shape[data["seat"]],
        "cols": shape[1 - data["seat"]],
        "status": decision.reading.status.value,
        "how": decision.reading.how,
        "strategy": None,
        "attempts": len(claims) or None,
        "claims": len(claims[-1]) if claims else None,
        "refuted": refuted[-1] if claims else None,
        "refuted_first": refuted[0] if claims else None,
        **_NO_FIGURES,
    }


def describe_asking(plan: plans.Plan, data: JsonMapping) -> str:
    """Say how the player of a play was asked, naming only what varies in this run."""
    config = plan.config
    seat = ("row", "col")[data["seat"]]
    varied = ((data["format"], config.format), (data["theme"], config.theme), (seat, config.seat))
    return ", ".join([data["elicit"], *(value for value, chosen in varied if len(chosen) > 1)])


def measure_strategies(own: Array, other: Array, x: Array, y: Array) -> list[JsonObject]:
    """Compute the figures of strategies `x` (n, actions) against the opponents `y`, for n games of
    one shape."""
    spread = np.ptp(own, axis=(1, 2))
    against = np.einsum("nij,nj->ni", own, y)
    llm = np.einsum("ni,ni->n", x, against)
    best = against.max(axis=1)
    gap = _without_noise(best - llm, own)
    # the best-response value against an optimal opponent is the value of the game
    exploitability = _without_noise(best - np.einsum("ni,nij->nj", x, own).min(axis=1), own)
    columns: JsonObject = {
        "llm_value": llm,
        "br_value": best,
        "nash_gap": gap,
        "gap_normalised": _share(gap, spread),
        "payoff_range": spread,
        "worst_normalised": _share(np.ptp(against, axis=1), spread),
        "exploitability": exploitability,
        "exploitability_normalised": _share(exploitability, spread),
        "worst_exploitability_normalised": _share(best - own.min(axis=(1, 2)), spread),
    }
    lists = [numbers.tolist() for numbers in columns.values()]
    rows = [
        _NO_FIGURES | dict(zip(columns, cells, strict=True)) for cells in zip(*lists, strict=True)
    ]
    for k in np.flatnonzero(size := _without_noise(np.abs(best), own)):
        rows[k]["gap_ratio"] = float(gap[k] / size[k])
    for k in np.flatnonzero((own != -other).any(axis=(1, 2))):
        rows[k] |= _NOT_ZERO_SUM | _measure_general_sum(own[k], other[k], x[k])
    return rows


def _without_noise(figure: Array, payoffs: Array) -> Array:
    """Return the figures of n games with negative ones and rounding errors set to 0."""
    return np.where(figure > _NOISE * np.abs(payoffs).max(axis=(-2, -1)), figure, 0.0)


def _measure_general_sum(own: Array, other: Array, x: Array) -> dict[str, object]:
    """Compute the figures of strategy `x` in the game (own, other); no equilibria where it is too
    large for them."""
    row: JsonObject = {
        "dominated_mass": float(x[list(_find_dominated(own.shape, own.tobytes()))].sum()),
        "security_loss": float(
            _without_noise(solve_zero_sum(own).values[0] - (x @ own).min(), own)
        ),
    }
    equilibria = _find_equilibria(own.shape, own.tobytes(), other.tobytes())
    if equilibria:
        distances = [0.5 * float(np.abs(x - mine).sum()) for mine, _ in equilibria]
        nearest = [
            own @ y
            for far, (_, y) in zip(distances, equilibria, strict=True)
            if far <= min(distances) + _NOISE
        ]
        gap = min(against.max() - x @ against for against in nearest)
        row |= {
            "equilibrium_distance": min(distances),
            "gap_nearest": float(_without_noise(gap, own)),
        }
    return row


@lru_cache(maxsize=4096)
def _find_equilibria(
    shape: tuple[int, int], own: bytes, other: bytes
) -> tuple[tuple[Array, ...], ...]:
    """Find all (extreme) equilibria; none where the game is too large to enumerate."""
    matrices = [np.frombuffer(data, dtype=np.float64).reshape(shape) for data in (own, other)]
    try:
        return tuple(
            equilibrium.strategies
            for equilibrium in nash(NormalForm.bimatrix(*matrices)).equilibria
        )
    except TooLarge:
        return ()


@lru_cache(maxsize=4096)
def _find_dominated(shape: tuple[int, int], payoffs: bytes) -> tuple[int, ...]:
    """Find the actions that some mixture of the others beats against everything: a zero-sum game
    each."""
    matrix = np.frombuffer(payoffs, dtype=np.float64).reshape(shape)
    tolerance = _NOISE * float(np.ptp(matrix))
    advantages = (
        [np.delete(matrix, k, axis=0) - matrix[k] for k in range(shape[0])] if shape[0] > 1 else []
    )
    return tuple(
        k for k, gain in enumerate(advantages) if float(solve_zero_sum(gain).values[0]) > tolerance
    )


def _bound(own: Array, other: Array, opponent: Array) -> dict[str, float]:
    """Say how bad a missing answer could have been at most in this game against this opponent."""
    spread = float(np.ptp(own))
    against = own @ opponent
    worst = {"payoff_range": spread, "worst_normalised": float(np.ptp(against)) / (spread or 1.0)}
    if (own == -other).all():
        worst["worst_exploitability_normalised"] = float(against.max() - own.min()) / (
            spread or 1.0
        )
    return worst


def _share(figure: Array, spread: Array) -> Array:
    return np.divide(figure, spread, out=np.zeros_like(figure), where=spread > 0)


def measure_baseline(plan: plans.Plan, name: str, games: list[int]) -> list[PlayRow]:
    """Measure a baseline on games of the base settings; `equilibrium` plays its part of the
    opponent's equilibrium."""
    drawn = plan.conditions[plans.BASE].drawn
    shapes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for k in games:
        shapes[drawn.payoffs[k].shape].append(k)
    rows = [row for alike in shapes.values() for row in _measure_alike(plan, name, alike)]
    rows.sort(key=lambda row: (plan.config.seat.index(row["seat"]), row["game"]))
    return rows


def _measure_alike(plan: plans.Plan, name: str, games: list[int]) -> list[PlayRow]:
    """Measure a baseline on games of one shape, in every seat."""
    drawn = plan.conditions[plans.BASE].drawn
    rows: list[JsonObject] = []
    for seat in plan.config.seat:
        own_seat = 0 if seat == "row" else 1
        own, other = map(
            np.stack, zip(*(plans.own_view(drawn.payoffs[k], own_seat) for k in games), strict=True)
        )
        mixes, opponents = (
            np.stack([drawn.get_equilibrium(k)[s] for k in games]) for s in (own_seat, 1 - own_seat)
        )
        if name != EQUILIBRIUM:
            mixes = BASELINES[name](own, other, plan.config.seed)
        blank = dict.fromkeys(Asked.__annotations__) | {
            "model": name,
            "asked_for": BASELINE,
            "condition": plans.BASE,
        }
        blank |= {
            "variant": "original",
            "seat": seat,
            "rows": own.shape[1],
            "cols": own.shape[2],
            "status": "valid",
        }
        blank |= {"trial": 0}
        for k, mix, figures in zip(
            games, mixes, measure_strategies(own, other, mixes, opponents), strict=True
        ):
            rows.append({**blank, "game": k, "strategy": mix.tolist(), **figures})
    return cast(list[PlayRow], rows)


def select_original(rows: Iterable[PlayRow]) -> list[PlayRow]:
    """Return the rows of the games told as drawn."""
    return [row for row in rows if row["variant"] == "original"]


def find_values(rows: Rows, name: str) -> list[tuple[float, PlayRow]]:
    """Return the known numbers of a column in games as drawn, each with its row."""
    values = [(cast(float | None, row.get(name)), row) for row in select_original(rows)]
    return [(float(value), row) for value, row in values if value is not None]


def identify_game(row: PlayRow) -> Hashable:
    """Return what tells the game of a row from others: all orders of a well-known game are one
    game."""
    if row["condition"].startswith(plans.BUCKET):  # game 3 of one bucket is not game 3 of another
        return f"{row['condition']}, game {row['game']}"
    classic = row["condition"].startswith((plans.NAMED, plans.ANONYMOUS))
    return (
        row["condition"].removeprefix(plans.NAMED).removeprefix(plans.ANONYMOUS)
        if classic
        else row["game"]
    )


_BOUNDED: Mapping[str, Callable[[PlayRow], float | None]] = {
    "exploitability_normalised": lambda row: row["worst_exploitability_normalised"],
    "gap_normalised": lambda row: row["worst_normalised"],
    "nash_gap": lambda row: (row["worst_normalised"] or 0.0) * (row["payoff_range"] or 0.0),
    "equilibrium_distance": lambda row: 1.0,
    "gap_nearest": lambda row: row["payoff_range"],
    "dominated_mass": lambda row: 1.0,
    "security_loss": lambda row: row["payoff_range"],
}
"""The figures that are averaged with an interval, and the most that each can be in a game."""


def _average(name: str, most: Callable[[PlayRow], float | None] | None = None) -> Metric[Rows]:
    """Make the metric that averages a column over games as drawn; an interval needs the most it can
    be in a game."""

    def compute(rows: Rows) -> Value:
        known = find_values(rows, name)
        numbers = [value for value, _ in known]
        games = [identify_game(row) for _, row in known]
        if not known or most is None:
            return float(np.mean(numbers)) if known else None
        worst = max(most(row) or 0.0 for _, row in known)
        return statistics.bound_mean(numbers, (0.0, worst), games, rng=_SEED)

    shown = Frame(PlayRow, []).columns[name]
    return Metric(
        name,
        shown.name,
        help=shown.help if most else f"mean {shown.help}",
        unit="",
        format=shown.format,
        compute=compute,
    )


def _average_bounded(name: str) -> Metric[Rows]:
    """Make the metric that averages a figure whose most in a game is known."""
    return _average(name, _BOUNDED[name])


_SUCCESSES = (1, 5)
"""Per cent of the payoff range: who loses at most so much counts as successful."""


def _find_loss(row: PlayRow) -> float | None:
    """Return what an answer loses as a share of the payoff range: its exploitability or, in games
    that are not zero-sum, the gap to the best reply to the opponent that it met."""
    taken = row["exploitability_normalised"]
    return row["gap_normalised"] if taken is None else taken


def _succeed(percent: int) -> Metric[Rows]:
    """Make the metric of the share of answers that lose at most so much of the payoff range."""

    def compute(rows: Rows) -> statistics.Interval | None:
        losses = [(_find_loss(row), row) for row in select_original(rows)]
        return _compute_rate(
            [(lost <= percent / 100, row) for lost, row in losses if lost is not None]
        )

    lost = f"exploitability or, in {_GENERAL}, the Nash gap (Wilson interval)"
    explained = f"share of the answers that lose at most {percent / 100} of the range: {lost}"
    return Metric(
        f"success_{percent}",
        f"within {percent} %",
        help=explained,
        unit="",
        format=".2f",
        compute=compute,
    )


def _count_equilibria(rows: Rows) -> statistics.Interval | None:
    """Compute the share of answers that some equilibrium uses, whether or not the opponent met
    plays its part of it."""
    return _compute_rate(
        [(distance <= _SAME, row) for distance, row in find_values(rows, "equilibrium_distance")]
    )


def _compute_rate(successes: Sequence[tuple[bool, PlayRow]]) -> statistics.Interval | None:
    """Compute a share of answers: Wilson's interval, or one over games where some were answered
    more than once."""
    hits = [hit for hit, _ in successes]
    games = [identify_game(row) for _, row in successes]
    if len(set(games)) < len(games):
        return statistics.bound_mean(hits, (0.0, 1.0), games, rng=_SEED)
    return statistics.wilson(sum(hits), len(hits)) if hits else None


def _bound_missing(figure: str, worst: str, end: int) -> Metric[Rows]:
    """Make the metric of the least or the most that a mean would be had every answer been readable
    (Manski bounds)."""

    def compute(rows: Rows) -> float | None:
        seen = [value for value, _ in find_values(rows, figure)]
        missing = [value for value, row in find_values(rows, worst) if row.get(figure) is None]
        if not missing or len(seen) + len(missing) < len(select_original(rows)):
            return None
        return statistics.missing_bounds(seen, len(missing), missing, 0.0)[end]

    title = Frame(PlayRow, []).columns[figure].name
    side = ("at least", "at most")[end]
    explained = (
        "had every answer been readable: the missing ones perfect, or the worst the game allows"
    )
    name = f"{figure.removesuffix('_normalised')}_{side.replace(' ', '_')}"
    return Metric(name, f"{title} {side}", help=explained, unit="", format=".3f", compute=compute)


def _count_wrong(name: str, which: str) -> Metric[Rows]:
    """Make the metric that counts the plays whose first or last reasoning holds a false claim."""

    def compute(rows: Rows) -> int | None:
        checked = find_values(rows, name)
        return sum(value > 0 for value, _ in checked) if checked else None

    explained = f"plays whose {which} reasoning holds a false claim; {_CHECKED}"
    return Metric(
        f"wrong_{which}", f"wrong at {which}", help=explained, unit="", format="", compute=compute
    )


def _describe_gaps(
    name: str, title: str, explained: str, compute: Callable[[Array], float]
) -> Metric[Rows]:
    """Make the metric of one statistic of the Nash gaps of all answers."""

    def describe(rows: Rows) -> float | None:
        gaps = np.array([gap for gap, _ in find_values(rows, "nash_gap")])
        return float(compute(gaps)) if len(gaps) else None

    return Metric(
        f"nash_gap_{name}", f"{title} gap", help=explained, unit="", format=".2f", compute=describe
    )


def compute_gap_ratio(rows: Rows) -> float | None:
    """Divide the sum of the Nash gaps by that of the absolute best-response values.

    A ratio game by game has no mean where one best-response value is 0, and hardly any meaning near
    it; in a ratio of sums such a game counts with its gap. None where every best-response value is
    0.
    """
    gaps = sum(gap for gap, _ in find_values(rows, "nash_gap"))
    values = sum(
        abs(value) for value, row in find_values(rows, "br_value") if row["gap_ratio"] is not None
    )
    return gaps / values if values else None


def _group_answers(rows: Rows, name: str) -> list[list[float]]:
    """Return the known numbers of a column, those of one game and seat together."""
    games: dict[Hashable, list[float]] = defaultdict(list)
    for value, row in find_values(rows, name):
        games[_identify(row)].append(value)
    return list(games.values())


def _compute_spread_within(rows: Rows) -> float | None:
    """Pool the variances of the gaps within games: each answer counts, less one for every game."""
    repeated = [gaps for gaps in _group_answers(rows, "nash_gap") if len(gaps) > 1]
    if not repeated:
        return None
    squares = sum(float(np.var(gaps)) * len(gaps) for gaps in repeated)
    return float(np.sqrt(squares / sum(len(gaps) - 1 for gaps in repeated)))


def _compute_spread_between(rows: Rows) -> float | None:
    """Compare the games by their mean gaps; None where no game was asked about more than once.

    Without trials it would be the deviation that is next to it under another name.
    """
    games = _group_answers(rows, "nash_gap")
    if len(games) < 2 or all(len(gaps) == 1 for gaps in games):
        return None
    return float(np.std([np.mean(gaps) for gaps in games], ddof=1))


def _compute_consistency(rows: Rows) -> statistics.Interval | None:
    """Compare every two answers to the same game, told in the same words."""
    answers: dict[tuple[Hashable, int, str], list[list[float]]] = defaultdict(list)
    for row in select_original(rows):
        if row["strategy"] is not None:
            answers[_identify(row)].append(row["strategy"])
    scores = []
    games = []
    for (game, _, _), strategies in answers.items():
        for first, second in combinations(strategies, 2):
            scores.append(1 - 0.5 * float(np.abs(np.subtract(first, second)).sum()))
            games.append(game)
    if not scores:
        return None
    return statistics.bound_mean(scores, (0.0, 1.0), games, rng=_SEED)


def _compute_invariance(rows: Rows) -> statistics.Interval | None:
    """Compare every answer to a game told otherwise with the answer to the same game as drawn."""
    originals = {(row["game"], row["trial"]): row["strategy"] for row in select_original(rows)}
    scores = []
    games = []
    for row in rows:
        drawn = originals.get((row["game"], row["trial"]))
        if row["variant"] in plans.VARIANTS and row["strategy"] is not None and drawn is not None:
            scores.append(1 - 0.5 * float(np.abs(np.subtract(row["strategy"], drawn)).sum()))
            games.append(row["game"])
    return statistics.bound_mean(scores, (0.0, 1.0), games, rng=_SEED) if scores else None


_RETOLD = ("permuted", "relabelled", "disguised")
"""The variants that change order, names and story: what somebody who remembers a game goes by."""
_RESAMPLES_OF_RATIO = 2000


def _compute_contamination(rows: Rows) -> statistics.Interval | None:
    """Compute the share of the score that is lost when games are retold.

    The score of an answer is 1 less what it loses as a share of the payoff range. Games that were
    answered as drawn and in some retelling count; games are weighted anew for the interval.
    """
    drawn: dict[Hashable, list[float]] = defaultdict(list)
    retold: dict[Hashable, list[float]] = defaultdict(list)
    for row in rows:
        lost = _find_loss(row)
        if lost is not None and row["variant"] == "original":
            drawn[identify_game(row)].append(1 - lost)
        if lost is not None and row["variant"] in _RETOLD:
            retold[identify_game(row)].append(1 - lost)
    games = [game for game in drawn if game in retold]
    before = np.array([np.mean(drawn[game]) for game in games])
    after = np.array([np.mean(retold[game]) for game in games])
    if not games or not before.sum():
        return None
    estimate = float(1 - after.sum() / before.sum())
    rng = np.random.default_rng(_SEED)
    weights = rng.standard_exponential((_RESAMPLES_OF_RATIO, len(games)))
    draws = 1 - (weights @ after) / (weights @ before)
    least = min(-1.0, estimate)
    return statistics.interval_of_draws(estimate, draws, len(games), (least, 1.0))


def is_gap_known(rows: Rows, half_width: float) -> bool:
    """Tell whether the mean gap / range of a player is known to within `half_width`: by the
    interval that is printed, and by one that may be looked at after every play."""
    known = find_values(rows, "gap_normalised")
    worst = max(row["worst_normalised"] or 0.0 for _, row in known)
    return statistics.precision_reached(
        [gap for gap, _ in known],
        half_width,
        [identify_game(row) for _, row in known],
        bounds=(0.0, worst),
        rng=_SEED,
    )


def _count_needed(rows: Rows) -> int | None:
    """Count the games it takes if games vary as those seen and one more in which as much is lost as
    can be.

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
        help="games put to the player",
        unit="",
        format="",
        compute=lambda rows: len(select_original(rows)),
    ),
    Metric(
        "answered",
        "answers",
        help="answers that were read",
        unit="",
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
        help=_INVARIANCE,
        unit="",
        format=".3f",
        compute=_compute_invariance,
    ),
    Metric(
        "contamination",
        "lost when retold",
        help=_CONTAMINATION,
        unit="",
        format=".3f",
        compute=_compute_contamination,
    ),
    Metric(
        "in_equilibrium",
        "in an equilibrium",
        help=_IN_EQUILIBRIUM,
        unit="",
        format=".2f",
        compute=_count_equilibria,
    ),
    _average_bounded("equilibrium_distance"),
    _average_bounded("gap_nearest"),
    _average_bounded("dominated_mass"),
    _average_bounded("security_loss"),
    _average("llm_value"),
    _average("br_value"),
    _describe_gaps("median", "median", "median of the Nash gaps of all answers", np.median),
    _describe_gaps(
        "std",
        "std of the",
        "standard deviation of the Nash gaps (divided by n, as numpy does)",
        np.std,
    ),
    _describe_gaps("min", "least", "smallest Nash gap of an answer", np.min),
    _describe_gaps("max", "largest", "largest Nash gap of an answer", np.max),
    Metric("gap_ratio", "gap ratio", help=_RATIO, unit="", format=".3f", compute=compute_gap_ratio),
    Metric(
        "gap_spread_within",
        "gap spread within games",
        help=_WITHIN,
        unit="",
        format=".2f",
        compute=_compute_spread_within,
    ),
    Metric(
        "gap_spread_between",
        "gap spread between games",
        help=_BETWEEN,
        unit="",
        format=".2f",
        compute=_compute_spread_between,
    ),
    Metric(
        "consistency",
        "consistency",
        help=_CONSISTENCY,
        unit="",
        format=".3f",
        compute=_compute_consistency,
    ),
    *(_bound_missing("gap_normalised", "worst_normalised", end) for end in (0, 1)),
    *(
        _bound_missing("exploitability_normalised", "worst_exploitability_normalised", end)
        for end in (0, 1)
    ),
    Metric(
        "games_needed",
        f"games for ± {_PRECISE}",
        help=_NEEDED,
        unit="",
        format=",",
        compute=_count_needed,
    ),
    _average("attempts"),
    _average("claims"),
    _average("refuted"),
    _count_wrong("refuted_first", "first"),
    _count_wrong("refuted", "last"),
)
"""Every figure of a player in one way of asking: one more here is in report, summary, leaderboard
and docs."""


def list_game_values(config: plans.BenchConfig, measured: Measured) -> Iterator[GameValue]:
    """Yield what models lost in the games as drawn; a game is known by its payoffs, whatever its
    number in the run is."""
    plan = plans.Plan(config)
    rows = cast(Rows, measured.frames["plays"].rows)
    for row in _select(select_original(rows), plans.BASE):
        payoffs = plan.conditions[row["condition"]].drawn.payoffs[row["game"]]
        game = digest(payoffs.tolist())
        values = {name: cast(float | None, row.get(name)) for name in _BOUNDED}
        bounds = {name: most(row) or 0.0 for name, most in _BOUNDED.items()}
        for percent in _SUCCESSES:
            lost = _find_loss(row)
            values[f"success_{percent}"] = None if lost is None else float(lost <= percent / 100)
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


_COMPARED = {"gap_normalised": "gap / range", "exploitability_normalised": "exploitability / range"}
"""The figures by which players are compared, and what they are called."""
_MOST_LOST = {
    "gap_normalised": "worst_normalised",
    "exploitability_normalised": "worst_exploitability_normalised",
}
_COMPARED_BASELINES = ("uniform", "maximin", EQUILIBRIUM)
_VERSION_METRICS = ("asked", "answered", *_COMPARED, "success_1", "success_5")
# Worst plays are in the report with their texts, so their number may not grow with the run.
_MOST_LISTED = 100
_MOST_OUTLIERS = 20
_MOST_TEXTS = 20
_LONGEST_REPLY = 3500
_LONGEST_READING = 120  # characters; readings that begin alike are counted together


@dataclass(frozen=True)
class Results:
    """The measured plays of a run, and the worst of them with their records."""

    plan: plans.Plan
    rows: list[PlayRow]
    worst: list[tuple[PlayRow, StoredPlay]]

    def group(self, rows: Iterable[PlayRow]) -> dict[tuple[str, str], list[PlayRow]]:
        """Group rows by player and way of asking, in the order of the settings."""
        groups: dict[tuple[str, str], list[PlayRow]] = {}
        for data, _ in self.plan.count_by_first():
            groups[make_label(data["model"]), describe_asking(self.plan, data)] = []
        for row in rows:
            groups[row["model"], row["asked_for"]].append(row)
        return {group: played for group, played in groups.items() if played}

    @cached_property
    def players(self) -> dict[str, list[PlayRow]]:
        """All rows of every player in every way of asking, by its name."""
        return {" / ".join(group): rows for group, rows in self.group(self.rows).items()}

    @cached_property
    def base(self) -> dict[str, list[PlayRow]]:
        """The rows of every player in the games as drawn under the base settings."""
        return {
            player: _select(select_original(rows), plans.BASE)
            for player, rows in self.players.items()
        }

    @cached_property
    def baselines(self) -> Mapping[str, list[PlayRow]]:
        """The rows of every baseline on the games that were put to the models."""
        games = sorted({row["game"] for rows in self.base.values() for row in rows})
        names = (*BASELINES, EQUILIBRIUM) if games else ()
        return LazyMapping(
            {name: partial(measure_baseline, self.plan, name, games) for name in names}
        )


def _select(rows: Rows, *prefixes: str) -> list[PlayRow]:
    """Select the rows of the conditions whose names begin so."""
    return [row for row in rows if row["condition"].startswith(prefixes)]


def measure_bench(config: plans.BenchConfig, folder: RunFolder) -> Measured:
    """Measure the finished plays."""
    plan = plans.Plan(config)
    rows: list[PlayRow] = []
    worst: list[tuple[PlayRow, StoredPlay]] = []
    pairs = measure_plays(plan, folder.sorted_plays())
    while chunk := list(islice(pairs, _CHUNK)):
        rows += [row for row, _ in chunk]
        worst = nsmallest(_MOST_LISTED, [*worst, *chunk], key=lambda pair: _rank(pair[0]))
    rows.sort(
        key=lambda row: (row["condition"] != plans.BASE, row["condition"], row["game"], row["spec"])
    )
    results = Results(plan, rows, worst)
    groups: dict[Heads, Callable[[], Rows]] = {
        group: partial(list, played)
        for group, played in results.group(_select(rows, plans.BASE)).items()
    }
    groups |= {
        (name, BASELINE): partial(results.baselines.__getitem__, name) for name in results.baselines
    }
    return Measured(
        LazyMapping({name: partial(make, results) for name, make in _FRAMES.items()}),
        sum(row["nash_gap"] is not None for row in rows),
        ("player", "asked for"),
        LazyMapping(groups),
    )


def _rank(row: PlayRow) -> tuple[bool, float, float, int]:
    """Order plays: unreadable answers first, then large losses."""
    loss = row["exploitability_normalised"] or 0.0
    return row["nash_gap"] is not None, -loss, -(row["gap_normalised"] or 0.0), row["game"]


class GameLossRow(TypedDict):
    """What a player or a baseline lost in one game (the mean over trials), and the game with its
    solution."""

    player: str
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
        str, column(help="pure or mixed: the equilibrium that the opponent plays its part of")
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


def solve_drawn(drawn: plans.Drawn, game: int) -> DrawnSolution:
    """Return a drawn game with the equilibrium that opponents and the baseline `equilibrium`
    play."""
    payoffs = drawn.payoffs[game]
    row, col = drawn.get_equilibrium(game)
    pure = max(row) > 1 - _NOISE and max(col) > 1 - _NOISE
    return DrawnSolution(
        rows=payoffs.shape[1],
        cols=payoffs.shape[2],
        equilibrium="pure" if pure else "mixed",
        value=float(row @ payoffs[0] @ col),
        row_payoffs=payoffs[0].tolist(),
        col_payoffs=payoffs[1].tolist(),
        row_equilibrium=row.tolist(),
        col_equilibrium=col.tolist(),
    )


def _list_games(results: Results) -> Iterator[GameLossRow]:
    uniform = (
        find_values(results.baselines["uniform"], "gap_normalised") if results.baselines else []
    )
    hardness = {_identify(row): gap for gap, row in uniform}
    drawn = results.plan.conditions[plans.BASE].drawn
    solved: dict[int, DrawnSolution] = {}
    for player, rows in {**results.base, **results.baselines}.items():
        answers: dict[tuple[Hashable, int, str], list[PlayRow]] = defaultdict(list)
        for _, row in find_values(rows, "nash_gap"):
            answers[_identify(row)].append(row)
        for case, played in answers.items():
            game = played[0]["game"]
            if game not in solved:
                solved[game] = solve_drawn(drawn, game)
            gaps = [row["nash_gap"] or 0.0 for row in played]
            taken = [value for value, _ in find_values(played, "exploitability_normalised")]
            yield GameLossRow(
                player=player,
                game=game,
                seat=played[0]["seat"],
                answers=len(played),
                nash_gap=float(np.mean(gaps)),
                gap_normalised=float(np.mean([row["gap_normalised"] or 0.0 for row in played])),
                gap_spread=float(np.std(gaps, ddof=1)) if len(gaps) > 1 else None,
                exploitability_normalised=float(np.mean(taken)) if taken else None,
                hardness=None if player in results.baselines else hardness[case],
                **solved[game],
            )


def _identify(row: PlayRow) -> tuple[Hashable, int, str]:
    """Return what two players who were asked the same have in common: the game, its number in the
    run, and the seat."""
    return identify_game(row), row["game"], row["seat"]


class VersionRow(TypedDict):
    """The figures of a player in one version of the games; the metrics are further columns."""

    player: str
    version: str
    actions: Annotated[
        int | None, column("actions of each player", help="where all games have as many")
    ]


def _list_versions(results: Results) -> Iterator[tuple[str, str, str, Rows]]:
    """Yield plays that are measured for themselves: their frame, the player, the version of the
    games, and the rows."""
    for player, rows in results.players.items():
        original = select_original(rows)
        base = results.base[player]
        answered = {_identify(row) for _, row in find_values(base, "nash_gap")}
        if 0 < len(answered) < len(base):
            version = f"the {len(answered)} that {player} answered"
            for name, played in {player: base, **results.baselines}.items():
                yield (
                    "same_games",
                    name,
                    version,
                    [row for row in played if _identify(row) in answered],
                )
        match results.plan.config.suite:
            case "sensitivity":
                for condition in results.plan.conditions:
                    yield (
                        "settings",
                        player,
                        condition,
                        [row for row in original if row["condition"] == condition],
                    )
            case "invariance":
                for variant in results.plan.variants:
                    yield (
                        "variants",
                        player,
                        variant,
                        [row for row in rows if row["variant"] in ("original", variant)],
                    )
            case "generalisation":
                square = [
                    row
                    for row in _select(original, plans.BASE, plans.SIZE)
                    if row["rows"] == row["cols"]
                ]
                for size in sorted({row["rows"] for row in square}):
                    yield (
                        "sizes",
                        player,
                        f"{size} x {size}",
                        [row for row in square if row["rows"] == size],
                    )
                yield "names", player, "named", _select(original, plans.NAMED)
                yield "names", player, "anonymous", _select(original, plans.ANONYMOUS)
                yield "padding", player, "padded", _tell_as_drawn(rows, plans.PADDED)
                yield "padding", player, "as drawn", base


def _tell_as_drawn(rows: Rows, variant: str) -> list[PlayRow]:
    """Return the rows of a variant as if the games had been drawn so, to be compared with the games
    as drawn."""
    swapped = {"row": "col", "col": "row"} if variant == "swapped" else {"row": "row", "col": "col"}
    return [
        cast(PlayRow, {**row, "variant": "original", "seat": swapped[row["seat"]]})
        for row in rows
        if row["variant"] == variant
    ]


def _tabulate_versions(frame: str, results: Results) -> Frame[VersionRow]:
    wanted = ("invariance",) if frame == "variants" else _VERSION_METRICS
    metrics = [metric for metric in METRICS if metric.name in wanted]
    table: list[VersionRow] = []
    for name, player, version, rows in _list_versions(results):
        if name == frame and rows:
            sizes = {row["rows"] for row in rows}
            head = VersionRow(
                player=player, version=version, actions=sizes.pop() if len(sizes) == 1 else None
            )
            table.append(
                cast(
                    VersionRow,
                    {**head, **{metric.name: metric.compute(rows) for metric in metrics}},
                )
            )
    return Frame(VersionRow, table, {metric.name: metric.column for metric in metrics})


class BucketRow(TypedDict):
    """The figures of a player in the games of one bucket, of one tier, or of all; the metrics are
    further columns."""

    player: str
    tier: Annotated[
        str,
        column(help="1: a saddle point; 2: a mix in games up to 3 x 3; 3: a mix in larger ones"),
    ]
    size: str
    range: Annotated[str, column("payoffs", help="narrow: from -10 to 10; medium: 50; wide: 100")]
    equilibrium: Annotated[str, column(help="pure: there is a saddle point; mixed: there is none")]


_BUCKET_METRICS = (
    "asked",
    "answered",
    "nash_gap",
    "nash_gap_median",
    "nash_gap_std",
    "gap_ratio",
    "gap_normalised",
    "exploitability_normalised",
    "success_1",
)
_ALL = "all"


def _list_buckets(results: Results, player: str) -> Iterator[tuple[BucketRow, Rows]]:
    """Yield the rows of a player in every bucket, then in every tier, then in all buckets
    together."""
    played = _select(select_original(results.players[player]), plans.BUCKET)
    for bucket in plans.BUCKETS:
        head = BucketRow(
            player=player,
            tier=bucket.tier,
            size=f"{bucket.size} x {bucket.size}",
            range=bucket.range,
            equilibrium=bucket.equilibrium,
        )
        yield head, _select(played, bucket.name)
    for tier in (*dict.fromkeys(bucket.tier for bucket in plans.BUCKETS), _ALL):
        names = [bucket.name for bucket in plans.BUCKETS if tier in (bucket.tier, _ALL)]
        head = BucketRow(player=player, tier=tier, size=_ALL, range=_ALL, equilibrium=_ALL)
        yield head, _select(played, *names)


def _tabulate_buckets(results: Results) -> Frame[BucketRow]:
    metrics = [metric for metric in METRICS if metric.name in _BUCKET_METRICS]
    table: list[BucketRow] = []
    for player in results.players if results.plan.config.suite == "buckets" else ():
        for head, rows in _list_buckets(results, player):
            if rows:
                figures = {metric.name: metric.compute(rows) for metric in metrics}
                table.append(cast(BucketRow, {**head, **figures}))
    return Frame(BucketRow, table, {metric.name: metric.column for metric in metrics})


class DifferenceRow(TypedDict):
    """Two players, or two versions of the same games, compared on the games that both answered."""

    comparison: str
    player: str
    against: Annotated[str, column("compared with")]
    by: Annotated[str, column(help="the figure that is compared")]
    difference: Annotated[statistics.Interval, column(format=".3f")]
    """mean difference; negative: the first is better"""
    games: int
    p: Annotated[float, column(format=".3g", help="sign-flip test of this comparison alone")]
    p_adjusted: Annotated[float | None, column("adjusted p", ".3g")]
    """for the number of comparisons of this kind (Holm); those of models among themselves are one
    family, those with baselines are not adjusted"""
    effect: Annotated[
        float | None, column(format=".2f", help="mean difference over its deviation between games")
    ]


def _list_pairs(results: Results) -> Iterator[tuple[str, str, Rows, str, Rows]]:
    """Yield what is compared: the kind of comparison, and twice a name with its rows."""
    # a player without a model that was put among the models is not compared with itself
    beside = [name for name in _COMPARED_BASELINES if name not in results.plan.config.model]
    others = list(results.base) + [name for name in beside if name in results.baselines]
    for number, (player, rows) in enumerate(results.base.items()):
        for other in others[number + 1 :]:
            yield (
                "players",
                player,
                rows,
                other,
                results.base.get(other) or results.baselines[other],
            )
        if player.startswith((SPELLING, AGAIN)):
            plain = player.removeprefix(SPELLING).removeprefix(AGAIN)
            for other in (AGAIN + plain, plain):
                if other in results.base and other != player:
                    yield "verified", player, rows, other, results.base[other]
        for variant in results.plan.variants if results.plan.config.suite == "invariance" else ():
            varied = _tell_as_drawn(results.players[player], variant)
            yield "variants", f"{player}, {variant}", varied, f"{player}, as drawn", rows
    versions = {
        (frame, player, version): rows for frame, player, version, rows in _list_versions(results)
    }
    for frame, version, other in (
        ("names", "named", "anonymous"),
        ("padding", "padded", "as drawn"),
    ):
        for player in results.players if results.plan.config.suite == "generalisation" else ():
            sides = versions[frame, player, version], versions[frame, player, other]
            yield frame, f"{player}, {version}", sides[0], f"{player}, {other}", sides[1]


def _average_answers(rows: Rows, figure: str) -> dict[tuple[Hashable, int, str], float]:
    """Return what a player lost in each game, the mean over trials."""
    answers: dict[tuple[Hashable, int, str], list[float]] = defaultdict(list)
    for value, row in find_values(rows, figure):
        answers[_identify(row)].append(value)
    return {case: float(np.mean(values)) for case, values in answers.items()}


def _list_differences(results: Results) -> Iterator[DifferenceRow]:
    rows: list[DifferenceRow] = []
    families: dict[str, list[int]] = defaultdict(list)
    for comparison, first, played, second, others in _list_pairs(results):
        for figure, title in _COMPARED.items():
            compared = _compare_on_common_games(played, others, figure)
            if compared is None:
                continue
            # Baselines are landmarks and no hypotheses: they take nothing from the tests of models.
            if second not in results.baselines:
                families[comparison].append(len(rows))
            rows.append(
                DifferenceRow(
                    comparison=comparison,
                    player=first,
                    against=second,
                    by=title,
                    difference=compared.difference,
                    games=compared.difference.n,
                    p=compared.p_value,
                    p_adjusted=None,
                    effect=compared.effect,
                )
            )
    for family in families.values():
        adjusted = statistics.holm([rows[number]["p"] for number in family])
        for number, p in zip(family, adjusted.tolist(), strict=True):
            rows[number]["p_adjusted"] = p
    yield from rows


def _compare_on_common_games(
    rows: Rows, others: Rows, figure: str
) -> statistics.PairedComparison | None:
    """Compare two players by what they lost in the games that both answered; None where these are
    fewer than two."""
    a = _average_answers(rows, figure)
    b = _average_answers(others, figure)
    common = sorted(a.keys() & b.keys(), key=lambda case: (case[1], case[2], str(case[0])))
    games = [case[0] for case in common]
    if len(set(games)) < 2:
        return None
    shared = set(common)
    both = [row for row in (*rows, *others) if _identify(row) in shared]
    most = max(value for value, _ in find_values(both, _MOST_LOST[figure]))
    return statistics.paired_difference(
        [a[case] for case in common], [b[case] for case in common], games, rng=_SEED, most=most
    )


class SelfPlayRow(TypedDict):
    """What a model that answered both seats of games could gain when it meets itself."""

    model: Annotated[str, column("player")]
    elicit: Annotated[str, column("asked for")]
    games: int
    regret: Annotated[
        float, column("mean regret / range", ".3f", "largest gain of a seat from swapping actions")
    ]
    largest: Annotated[float, column(format=".3f")]


def _measure_self_play(results: Results) -> Iterator[SelfPlayRow]:
    # Both seats of a game are asked in the same format and theme.
    answers: dict[tuple[str, str], dict[tuple[int, int], dict[str, list[float]]]] = {}
    for row in (row for rows in results.base.values() for row in rows):
        if row["strategy"] is not None:
            games = answers.setdefault(
                (row["model"], row["asked_for"].removesuffix(f", {row['seat']}")), {}
            )
            games.setdefault((row["game"], row["trial"]), {})[row["seat"]] = row["strategy"]
    payoffs = results.plan.conditions[plans.BASE].drawn.payoffs
    for (model, elicit), games in answers.items():
        met = {case: seats for case, seats in games.items() if len(seats) == 2}
        regrets = [compute_regret(payoffs[game], seats) for (game, _), seats in met.items()]
        if regrets:
            yield SelfPlayRow(
                model=model,
                elicit=elicit,
                games=len({game for game, _ in met}),
                regret=float(np.mean(regrets)),
                largest=max(regrets),
            )


def compute_regret(payoffs: Array, mixes: Mapping[str, list[float]]) -> float:
    """Compute the largest share of its payoff range that a seat could gain by swapping actions
    against the other."""
    gains = []
    for matrix, x, y in (
        (payoffs[0], mixes["row"], mixes["col"]),
        (payoffs[1].T, mixes["col"], mixes["row"]),
    ):
        against = matrix @ y
        gains.append(float(x @ (against.max() - against)) / (float(np.ptp(matrix)) or 1.0))
    return max(gains)


class TextRow(TypedDict):
    """How often answers were repaired in some way, or could not be read for some reason."""

    kind: str
    text: Annotated[str, column("what was said")]
    times: int


def _count_texts(results: Results) -> Iterator[TextRow]:
    readings = Counter(
        (row["status"], row["how"][:_LONGEST_READING]) for row in results.rows if row["how"]
    )
    for (kind, text), count in readings.most_common(_MOST_TEXTS):
        yield TextRow(kind=kind, text=text, times=count)


def _count_answers(results: Results) -> Frame[Row]:
    readings = Readings()
    for player, rows in results.players.items():
        for row in rows:
            readings.add(player, row["status"], row["how"])
    return readings.frames["answers"]


class ListedRow(TypedDict):
    """A play in words: the answer and what it lost, everything that was said, and the game with its
    solution."""

    play: Annotated[
        int, column(help="its number in this table, by which outliers are named", anchor="play")
    ]
    player: Annotated[
        str, column(help="and the suite's version of the game, where it is not the game as drawn")
    ]
    transcript: Annotated[
        str, column(help="the reply, how it was read and judged, and the prompt; open it to read")
    ]
    answer: Annotated[str | None, column(help="probabilities of the own actions")]
    gap_normalised: Annotated[float | None, column("gap / range", ".3f")]
    exploitability_normalised: Annotated[float | None, column("exploitability / range", ".3f")]
    payoffs: Annotated[str, column(help="own payoffs by action; the other's behind a bar")]
    solution: Annotated[str | None, column(help="an optimal strategy in a zero-sum game")]
    opponent: Annotated[str, column(help="the equilibrium strategy that the opponent plays")]
    game: Annotated[int, column(help="number of the game in the run")]


def _list_worst(results: Results) -> Iterator[ListedRow]:
    for number, (row, play) in enumerate(results.worst, 1):
        data = play.data
        strategy = row["strategy"]
        own, other = plans.own_view(np.asarray(data["payoffs"], dtype=np.float64), data["seat"])
        names = plans.find_theme(data).actions[data["seat"]]
        zero_sum = bool((own == -other).all())
        bar = np.full((len(own), 1), np.nan)
        lines = own if zero_sum else np.concatenate([own, bar, other], axis=1)
        version = " ".join(
            word
            for word in (row["condition"], row["variant"])
            if word not in (plans.BASE, "original")
        )
        yield ListedRow(
            play=number,
            player=" / ".join(filter(None, (row["model"], row["asked_for"], version))),
            transcript=_write_transcript(row, play),
            answer=(
                None if strategy is None else _write_mix(names, np.asarray(strategy)[data["back"]])
            ),
            gap_normalised=row["gap_normalised"],
            exploitability_normalised=row["exploitability_normalised"],
            payoffs="\n".join(
                f"{name}: {_write_numbers(line)}" for name, line in zip(names, lines, strict=False)
            ),
            solution=_write_solution(play),
            opponent=_write_opponent(results.plan, play),
            game=row["game"],
        )


def _write_transcript(row: PlayRow, play: StoredPlay) -> str:
    """Write what a model said, how that was read and what was refuted in it, and what it had been
    asked."""
    decision = find_decision(play)
    game = plans.make_bench_game(play.data)
    reply = decision.reasoning[:_LONGEST_REPLY] if decision is not None else ""
    judged = (
        f"claims: {row['claims']}, refuted: {row['refuted']}" if row["claims"] is not None else ""
    )
    asked = write_rules(game.view((), game.roles[play.data["seat"]]))
    read = f"read as {row['status']}{': ' if row['how'] else ''}{row['how']}"
    return "\n\n".join(filter(None, (reply or "(nothing)", read, judged, f"The prompt:\n{asked}")))


def _write_mix(names: Sequence[str], mix: Array) -> str:
    """Write the probabilities that are not 0 with the names of their actions."""
    shares = [
        f"{name}\N{NO-BREAK SPACE}{round(float(p), 3):g}"
        for name, p in zip(names, mix, strict=False)
        if p
    ]
    return ", ".join(shares)


def _write_numbers(numbers: Array) -> str:
    """Write numbers in a line; what is none separates the payoffs of two players."""
    return "\N{NO-BREAK SPACE}".join(
        "|" if np.isnan(n) else format_number(round(float(n), 3)) for n in numbers
    )


def judge_plays(config: plans.BenchConfig, plays: Sequence[StoredPlay]) -> list[Judgement]:
    """Say what every play lost, as a share of the payoff range, and what would have been right."""
    plan = plans.Plan(config)
    return [_judge_play(plan, row, play) for row, play in measure_plays(plan, plays)]


def _judge_play(plan: plans.Plan, row: PlayRow, play: StoredPlay) -> Judgement:
    """Judge a play by what a best response takes where that is known, else by its Nash gap; a pure
    answer cannot be a mixture, and is judged by its gap."""
    gap = row["gap_normalised"]
    exploitability = row["exploitability_normalised"]
    numbers = {"Gap / range": gap, "Exploitability / range": exploitability}
    facts = [
        (name, format_number(value, ".3f")) for name, value in numbers.items() if value is not None
    ]
    solution = _write_solution(play)
    if solution is not None:
        facts.append(("Optimal strategy", solution))
    facts.append(("The opponent plays", _write_opponent(plan, play)))
    exploited = exploitability is not None and row["elicit"] != "pure"
    return Judgement(exploitability if exploited else gap, tuple(facts))


def _write_solution(play: StoredPlay) -> str | None:
    """Write an optimal strategy of the player that a play was made for; None where the game is not
    zero-sum."""
    data = play.data
    own, other = plans.own_view(np.asarray(data["payoffs"], dtype=np.float64), data["seat"])
    if not (own == -other).all():
        return None
    return _write_mix(plans.find_theme(data).actions[data["seat"]], solve_zero_sum(own).row[0])


def _write_opponent(plan: plans.Plan, play: StoredPlay) -> str:
    names = plans.find_theme(play.data).actions[1 - play.data["seat"]]
    played = find_decision(play, opponent=True)
    mix = plan.find_opponent(play.data) if played is None else played.action
    return _write_mix(names, np.asarray(mix))


class OutlierRow(TypedDict):
    """A play far above the rest of its player's, beyond the whisker of the picture."""

    figure: str
    play: Annotated[
        int | None, column(help="its number in the table of plays, to which it links", link="play")
    ]
    game: int
    player: str
    value: Annotated[float, column(format=".3f")]


def _list_outliers(results: Results) -> Iterator[OutlierRow]:
    numbers = {row["spec"]: number for number, (row, _) in enumerate(results.worst, 1)}
    for figure in _COMPARED:
        outliers = []
        for player, rows in results.base.items():
            known = find_values(rows, figure)
            fence = compute_fences([value for value, _ in known])[1] if known else 0.0
            # More than the rounding of equal values above it.
            outliers += [(value, player, row) for value, row in known if value > fence + 1e-9]
        for value, player, row in sorted(outliers, key=lambda outlier: -outlier[0])[
            :_MOST_OUTLIERS
        ]:
            play = numbers.get(row["spec"])
            yield OutlierRow(figure=figure, play=play, game=row["game"], player=player, value=value)


def _frame(
    row: type[R], list_rows: Callable[[Results], Iterable[R]]
) -> Callable[[Results], Frame[R]]:
    return lambda results: Frame(row, list(list_rows(results)))


_FRAMES: Mapping[str, Callable[[Results], Frame[Row]]] = {
    "plays": lambda results: Frame(PlayRow, results.rows),
    **{
        name: partial(_tabulate_versions, name)
        for name in ("same_games", "variants", "settings", "sizes", "names", "padding")
    },
    "buckets": _tabulate_buckets,
    "differences": _frame(DifferenceRow, _list_differences),
    "self_play": _frame(SelfPlayRow, _measure_self_play),
    "games": _frame(GameLossRow, _list_games),
    "outliers": _frame(OutlierRow, _list_outliers),
    "listed": _frame(ListedRow, _list_worst),
    "texts": _frame(TextRow, _count_texts),
    "answers": _count_answers,
}
"""What makes the frames of a run, by their names."""
