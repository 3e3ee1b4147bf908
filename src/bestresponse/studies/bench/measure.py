"""What one play of the benchmark says about its player.

For a player with own payoffs U (own actions as rows), an opponent fixed to its equilibrium strategy
y and an answer x:

    llm_value       x U y                        br_value   max_a (U y)_a
    nash_gap        br_value - llm_value >= 0, zero for any mix of best responses to y
    exploitability  value of the game - min_b (x U)_b >= 0: what a best-responding opponent would
                    take (zero-sum only)

Against an equilibrium opponent every action of the support has gap zero, so a gap of zero may be
luck; exploitability is zero only for strategies that guarantee the value. `_normalised` metrics are
divided by the range of U.

Where equilibria are many, in games that are not zero-sum, the nearest one counts: that whose
strategy for the seat has the smallest total variation distance to the answer, and of equally near
ones that against which it loses least.

The `worst` metrics say what a gap could have been at most, given the game and its opponent; a play
without a readable answer has these alone. Metrics below a billionth of the range of the payoffs are
rounding noise and count as 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Annotated, TypedDict, cast

import numpy as np

from bestresponse.analysis.beliefs import find_remark, judge_belief
from bestresponse.core.errors import StoreError, TooLarge
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Decision
from bestresponse.games.matrix.game import as_strategy
from bestresponse.players.llm.verified import make_label
from bestresponse.players.strategies import BASELINES, EQUILIBRIUM
from bestresponse.report.frames import BASELINE, NumberColumn, column
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.games import own_view
from bestresponse.studies.bench.plan import BASE, BUCKET, Plan, find_theme
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum

NOISE = 1e-9  # of the range of payoffs: smaller gaps are errors of the equilibrium
_ROUNDING = 1e-14  # of the largest payoff, however small the range
_CHUNK = 1000  # plays in memory at a time; those of one shape are measured by one call
_RANGE = "as a share of the game's payoff range"
GENERAL_SUM = "games that are not zero-sum"
VERIFIED_ONLY = "verified models"
BELIEFS_ONLY = "models that are asked what they expect"


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
        int | None,
        column(format=".2f", help=f"attempts until no claim was refuted; {VERIFIED_ONLY}"),
    ]
    claims: Annotated[
        int | None, column(format=".1f", help=f"claims read in the last attempt; {VERIFIED_ONLY}")
    ]
    refuted: Annotated[
        int | None,
        column(format=".2f", help=f"false claims in the last attempt; {VERIFIED_ONLY}"),
    ]
    refuted_first: Annotated[
        int | None,
        column(format=".2f", help=f"false claims in the first attempt; {VERIFIED_ONLY}"),
    ]


class PlayMetrics(TypedDict):
    """What an answer is worth.

    Returns None where there is no readable answer, or in another kind of game.
    """

    llm_value: Annotated[float | None, column("own value", ".2f", "expected payoff")]
    br_value: Annotated[float | None, column("best response", ".2f", "best-response payoff")]
    nash_gap: Annotated[
        float | None,
        column("Nash gap", ".2f", "best response minus own value, against an equilibrium opponent"),
    ]
    gap_ratio: Annotated[float | None, column("gap / best response", ".3f")]
    """the Nash gap divided by the absolute best-response value; none if that is 0"""
    gap_normalised: Annotated[float | None, column("gap / range", ".3f", f"the Nash gap {_RANGE}")]
    payoff_range: float | None
    exploitability: float | None
    exploitability_normalised: Annotated[float | None, column("exploitability / range", ".3f")]
    """what a best-responding opponent gains, as a share of the game's payoff range"""
    equilibrium_distance: Annotated[float | None, column("distance to equilibrium", ".3f")]
    """total variation to the nearest strategy; games that are not zero-sum"""
    gap_nearest: Annotated[float | None, column("gap to nearest", ".2f")]
    """Nash gap against the nearest equilibrium; games that are not zero-sum"""
    dominated_mass: Annotated[float | None, column("dominated", ".3f")]
    """probability on strictly dominated actions; games that are not zero-sum"""
    security_loss: Annotated[float | None, column(format=".2f")]
    """maximin value minus what the answer guarantees; games that are not zero-sum"""
    belief_score: Annotated[
        float | None, column("Brier score", ".3f", f"of the belief, 0 to 2; {BELIEFS_ONLY}")
    ]
    mispredicted: NumberColumn
    """gap / range of a best reply to the belief; only models that are asked what they expect"""
    misread: NumberColumn
    """gap / range of a best reply by the payoffs that a model read, less that; only such models"""
    miscalculated: NumberColumn
    """gap / range of the answer less both; only models that are asked what they expect"""
    worst_normalised: Annotated[
        float | None, column(help="the largest gap / range that an answer could have had")
    ]
    worst_exploitability_normalised: Annotated[
        float | None, column(help="the same for exploitability / range")
    ]


class PlayRow(Asked, PlayMetrics):
    """One play of the benchmark.

    `attempts` and the following three where reasoning was verified.
    """


_COMPUTED = ("uniform", "maximin", EQUILIBRIUM)


def is_computed(model: str, asked_for: str) -> bool:
    """Tell whether a strategy is computed: what it loses is known, and needs no interval."""
    return model in _COMPUTED and asked_for.startswith("mixed")


Rows = Sequence[PlayRow]
SEATS = ("row", "col")
_NO_METRICS = dict.fromkeys(PlayMetrics.__annotations__)
_NOT_ZERO_SUM = dict.fromkeys(
    ("exploitability", "exploitability_normalised", "worst_exploitability_normalised")
)


def measure_plays(plan: Plan, plays: Iterable[StoredPlay]) -> Iterator[tuple[PlayRow, StoredPlay]]:
    """Yield a row for each play, in their order.

    Many are measured at once, which is quicker than one by one.
    """
    plays = iter(plays)
    while chunk := list(islice(plays, _CHUNK)):
        yield from zip(_measure_chunk(plan, chunk), chunk, strict=True)


def _measure_chunk(plan: Plan, plays: list[StoredPlay]) -> list[PlayRow]:
    rows: list[JsonObject] = []
    alike: dict[tuple[int, ...], list[_Answer]] = defaultdict(list)
    for play in plays:
        data = play.data
        seat = play.data["seat"]
        decision = find_decision(play)
        opponent = find_decision(play, opponent=True)
        if decision is None:
            raise StoreError(
                f"the record of {play.spec} holds no answer of the player it was made for"
            )
        row = _describe(plan, play, decision)
        rows.append(row)
        if decision.action is None or opponent is None:
            payoffs = np.asarray(data["payoffs"], dtype=np.float64)
            own, other = own_view(payoffs, seat)
            # How bad a missing answer could have been at most.
            spread = float(np.ptp(own))
            against = own @ np.asarray(plan.find_opponent(data))
            divisor = spread or 1.0
            row["payoff_range"] = spread
            row["worst_normalised"] = float(np.ptp(against)) / divisor
            if np.array_equal(own, -other):
                worst = float(against.max() - own.min())
                row["worst_exploitability_normalised"] = worst / divisor
            continue

        names = find_theme(data).actions[seat]
        strategy = as_strategy(decision.action, names[: len(data["back"])])
        answer = _Answer(row, data, strategy, opponent.action, decision)
        alike[seat, len(strategy), len(opponent.action)].append(answer)

    for (seat, *_), answers in alike.items():
        _measure_answers(seat, answers)
    return cast(list[PlayRow], rows)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A readable answer: the row that it fills, its play, both strategies, and all it decided."""

    row: JsonObject
    data: JsonMapping
    strategy: Array
    opponent: Sequence[float]
    decision: Decision


def _measure_answers(seat: int, answers: Sequence[_Answer]) -> None:
    """Fill the rows of answers of one seat in games of one shape."""
    payoffs = np.array([answer.data["payoffs"] for answer in answers], dtype=np.float64)
    own, other = map(np.ascontiguousarray, own_view(payoffs, seat))
    x = np.stack([answer.strategy for answer in answers])
    y = np.array([answer.opponent for answer in answers], dtype=np.float64)
    metrics = measure_strategies(own, other, x, y)

    # Strategies are kept over the actions in the order in which they were drawn.
    as_drawn = np.argsort([answer.data["back"] for answer in answers], axis=1)
    kept = np.take_along_axis(x, as_drawn, axis=1).tolist()
    for number, (answer, measured) in enumerate(zip(answers, metrics, strict=True)):
        answer.row["strategy"] = kept[number]
        answer.row.update(measured)
        belief = find_remark(answer.decision, "belief")
        if belief is not None:
            shares = own[number] / (measured["payoff_range"] or 1.0)
            read = find_remark(answer.decision, "payoffs")
            answer.row.update(judge_belief(shares, x[number], belief, y[number], read))


def find_decision(play: StoredPlay, *, opponent: bool = False) -> Decision | None:
    """Return the answer of the player that a play was made for, or of its opponent."""
    role = find_theme(play.data).players[play.data["seat"] ^ opponent]
    return next((s.decision for s in play.record.submissions if s.role == role), None)


def _describe(plan: Plan, play: StoredPlay, decision: Decision) -> dict[str, object]:
    data = play.data
    claims = [remark["claims"] for remark in decision.remarks if "claims" in remark]
    matrix = data["payoffs"][0]
    shape = (len(matrix), len(matrix[0]))
    refuted = []
    for attempt in claims:
        verdicts = [claim["verdict"] for claim in attempt]
        refuted.append(verdicts.count("refuted"))
    return {
        "spec": play.spec,
        "condition": data["condition"],
        "game": data["game"],
        "variant": data["variant"],
        "model": make_label(data["model"]),
        "asked_for": describe_asking(plan, data),
        "elicit": data["elicit"],
        "format": data["format"],
        "theme": data["theme"],
        "seat": SEATS[data["seat"]],
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
        **_NO_METRICS,
    }


def describe_asking(plan: Plan, data: JsonMapping) -> str:
    """Say how the player of a play was asked, naming only what varies in this run."""
    config = plan.config
    words = [data["elicit"]]
    if len(config.format) > 1:
        words.append(data["format"])
    if len(config.theme) > 1:
        words.append(data["theme"])
    if len(config.seat) > 1:
        words.append(SEATS[data["seat"]])
    if len(config.effort) > 1:
        words.append(data.get("effort") or str(data["reasoning_tokens"]))
    return ", ".join(words)


def measure_strategies(
    own: Array,
    other: Array,
    x: Array,
    y: Array,
) -> list[JsonObject]:
    """Compute the metrics of strategies `x` (n, actions) against the opponents `y`.

    There are n games of one shape.
    """
    spread = np.ptp(own, axis=(1, 2))
    against = np.einsum("nij,nj->ni", own, y)
    llm = np.einsum("ni,ni->n", x, against)
    best = against.max(axis=1)
    gap = _without_noise(best - llm, own)
    # the best-response value against an optimal opponent is the value of the game
    guaranteed = np.einsum("ni,nij->nj", x, own).min(axis=1)
    exploitability = _without_noise(best - guaranteed, own)
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
    rows = []
    for cells in zip(*lists, strict=True):
        rows.append(_NO_METRICS | dict(zip(columns, cells, strict=True)))

    size = _without_noise(np.abs(best), own)
    for k in np.flatnonzero(size):
        rows[k]["gap_ratio"] = float(gap[k] / size[k])

    is_general = (own != -other).any(axis=(1, 2))
    for k in np.flatnonzero(is_general):
        rows[k] |= _NOT_ZERO_SUM | _measure_general_sum(own[k], other[k], x[k])
    return rows


def _without_noise(figure: Array, payoffs: Array) -> Array:
    """Return the metrics of n games with negative ones and rounding errors set to 0."""
    spread = np.ptp(payoffs, axis=(-2, -1))
    largest = np.abs(payoffs).max(axis=(-2, -1))
    return np.where(figure > NOISE * spread + _ROUNDING * largest, figure, 0.0)


def _measure_general_sum(own: Array, other: Array, x: Array) -> dict[str, object]:
    """Compute the metrics of strategy `x` in the game (own, other).

    No equilibria where it is too large for them.
    """
    dominated = list(_find_dominated(own.shape, own.tobytes()))
    maximin = solve_zero_sum(own).values[0]
    guaranteed = (x @ own).min()
    row: JsonObject = {
        "dominated_mass": float(x[dominated].sum()),
        "security_loss": float(_without_noise(maximin - guaranteed, own)),
    }
    equilibria = _find_equilibria(own.shape, own.tobytes(), other.tobytes())
    if not equilibria:
        return row

    distances = [find_distance(x, mine) for mine, _ in equilibria]
    least = min(distances)
    gaps = []
    for distance, (_, y) in zip(distances, equilibria, strict=True):
        if distance <= least + NOISE:
            against = own @ y
            gaps.append(against.max() - x @ against)
    row["equilibrium_distance"] = least
    row["gap_nearest"] = float(_without_noise(min(gaps), own))
    return row


def find_distance(x: Array | Sequence[float], y: Array | Sequence[float]) -> float:
    """Return the total variation distance between two strategies."""
    difference = np.subtract(x, y)
    return 0.5 * float(np.abs(difference).sum())


@lru_cache(maxsize=4096)
def _find_equilibria(
    shape: tuple[int, int],
    own: bytes,
    other: bytes,
) -> tuple[tuple[Array, ...], ...]:
    """Find all (extreme) equilibria; none where the game is too large to enumerate."""
    matrices = [np.frombuffer(data, dtype=np.float64).reshape(shape) for data in (own, other)]
    try:
        equilibria = nash(NormalForm.bimatrix(*matrices)).equilibria
    except TooLarge:
        return ()
    return tuple(equilibrium.strategies for equilibrium in equilibria)


@lru_cache(maxsize=4096)
def _find_dominated(shape: tuple[int, int], payoffs: bytes) -> tuple[int, ...]:
    """Find the actions that some mixture of the others beats against everything.

    Each action takes a zero-sum game.
    """
    matrix = np.frombuffer(payoffs, dtype=np.float64).reshape(shape)
    tolerance = NOISE * float(np.ptp(matrix))
    num_actions = shape[0]
    if num_actions == 1:
        return ()

    dominated = []
    for k in range(num_actions):
        advantages = np.delete(matrix, k, axis=0) - matrix[k]
        if solve_zero_sum(advantages).values[0] > tolerance:
            dominated.append(k)
    return tuple(dominated)


def _share(figure: Array, spread: Array) -> Array:
    return np.divide(figure, spread, out=np.zeros_like(figure), where=spread > 0)


def measure_baseline(plan: Plan, name: str, games: list[int]) -> list[PlayRow]:
    """Measure a baseline on games of the base settings.

    `equilibrium` plays its part of the opponent's equilibrium.
    """
    drawn = plan.conditions[BASE].drawn
    shapes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for k in games:
        shapes[drawn.payoffs[k].shape].append(k)
    rows: list[PlayRow] = []
    for alike in shapes.values():
        rows += _measure_alike(plan, name, alike)
    rows.sort(key=lambda row: (plan.config.seat.index(row["seat"]), row["game"]))
    return rows


def _measure_alike(plan: Plan, name: str, games: list[int]) -> list[PlayRow]:
    """Measure a baseline on games of one shape, in every seat."""
    drawn = plan.conditions[BASE].drawn
    rows: list[JsonObject] = []
    for seat in plan.config.seat:
        own_seat = SEATS.index(seat)
        views = [own_view(drawn.payoffs[k], own_seat) for k in games]
        own = np.stack([mine for mine, _ in views])
        other = np.stack([theirs for _, theirs in views])
        equilibria = [drawn.get_equilibrium(k) for k in games]
        opponents = np.stack([equilibrium[1 - own_seat] for equilibrium in equilibria])
        if name == EQUILIBRIUM:
            mixes = np.stack([equilibrium[own_seat] for equilibrium in equilibria])
        else:
            mixes = BASELINES[name](own, other, plan.config.seed)

        measured = measure_strategies(own, other, mixes, opponents)
        for k, mix, metrics in zip(games, mixes, measured, strict=True):
            row: JsonObject = dict.fromkeys(Asked.__annotations__)
            row |= {
                "model": name,
                "asked_for": BASELINE,
                "condition": BASE,
                "variant": "original",
                "game": k,
                "seat": seat,
                "trial": 0,
                "rows": own.shape[1],
                "cols": own.shape[2],
                "status": "valid",
                "strategy": mix.tolist(),
                **metrics,
            }
            rows.append(row)
    return cast(list[PlayRow], rows)


def select_original(rows: Iterable[PlayRow]) -> list[PlayRow]:
    """Return the rows of the games told as drawn."""
    return [row for row in rows if row["variant"] == "original"]


def find_values(rows: Rows, name: str) -> list[tuple[float, PlayRow]]:
    """Return the known numbers of a column in games as drawn, each with its row."""
    values = [(cast(float | None, row.get(name)), row) for row in select_original(rows)]
    return [(float(value), row) for value, row in values if value is not None]


def select_base(rows: Iterable[PlayRow]) -> list[PlayRow]:
    """Return the rows under the base settings."""
    return [row for row in rows if row["condition"] == BASE]


def select_conditions(rows: Rows, *prefixes: str) -> list[PlayRow]:
    """Select the rows of the conditions whose names begin so."""
    return [row for row in rows if row["condition"].startswith(prefixes)]


GameId = tuple[str, int]
"""A bucket, if there is one, and the number of a game in it."""


def identify_game(row: PlayRow) -> GameId:
    """Return what tells the game of a row from others: game 3 of two buckets is not one game."""
    bucket = row["condition"] if row["condition"].startswith(BUCKET) else ""
    return bucket, row["game"]


Case = tuple[GameId, str]
"""A game of the run, and the seat."""


def identify_case(row: PlayRow) -> Case:
    """Return what two players who were asked the same have in common."""
    return identify_game(row), row["seat"]
