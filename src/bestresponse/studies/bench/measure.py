"""What one play of the benchmark says about its player.

For a player with own payoffs U (own actions as rows), an opponent fixed to its equilibrium strategy y and an answer x:

    llm_value       x U y                        br_value   max_a (U y)_a
    nash_gap        br_value - llm_value >= 0, zero for any mix of best responses to y
    exploitability  value of the game - min_b (x U)_b >= 0: what a best-responding opponent would take (zero-sum only)

Against an equilibrium opponent every action of the support has gap zero, so a gap of zero may be luck; exploitability
is zero only for strategies that guarantee the value. `_normalised` figures are divided by the range of U.

A play without a readable answer has no gap: the `worst` figures say what it could have been at most, given the game
and its opponent. Figures below a billionth of the payoffs are rounding noise and count as 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import StoreError
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision
from bestresponse.games.matrix.game import as_strategy
from bestresponse.players.llm.verified import make_label
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.games.drawn import own_view
from bestresponse.studies.bench.games.given import theme_of
from bestresponse.studies.bench.general import general_sum_measures
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.rows import NO_FIGURES, Asked, BenchRow, Figures
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.measure import optimal_opponent_range
from bestresponse.theory.zero_sum.solve import solve_zero_sum

__all__ = ["measure", "measure_strategies"]

_NOISE = 1e-9
_CHUNK = 1000


def measure(plan: Plan, plays: Iterable[StoredPlay]) -> Iterator[BenchRow]:
    """Yield one row for each play, in their order."""
    plays = iter(plays)
    while chunk := list(islice(plays, _CHUNK)):
        yield from _measure_chunk(plan, chunk)


def _measure_chunk(plan: Plan, plays: list[StoredPlay]) -> list[BenchRow]:
    rows: list[BenchRow] = []
    answered: dict[tuple[int, ...], list[tuple[int, Array, Array, Array, Array]]] = defaultdict(list)
    for number, play in enumerate(plays):
        own, other = own_view(np.asarray(play.data["payoffs"], dtype=np.float64), play.data["seat"])
        mine, opponent, labels = _answers(play)
        row: BenchRow = {**_describe(play, own, mine), **NO_FIGURES}
        if mine.action is None or opponent is None:
            row |= _bound(own, other, np.asarray(plan.find_opponent(play.data)))  # type: ignore[typeddict-item]
        else:
            x, y = as_strategy(mine.action, labels), np.asarray(opponent.action, dtype=np.float64)
            row["strategy"] = _carried_back(x, play.data["back"])
            answered[own.shape].append((number, own, other, x, y))
        rows.append(row)
    for group in answered.values():
        numbers, own_all, other_all, x_all, y_all = zip(*group, strict=True)
        figures = measure_strategies(np.stack(own_all), np.stack(other_all), np.stack(x_all), np.stack(y_all))
        for number, figure in zip(numbers, figures, strict=True):
            rows[number] |= figure
    return rows


def _answers(play: StoredPlay) -> tuple[Decision, Decision | None, tuple[str, ...]]:
    """Return what the player and its opponent answered, and the labels of the player's actions."""
    dress = theme_of(play.data)
    seat = play.data["seat"]
    answers = {s.role: s.decision for s in play.record.submissions}
    mine = answers.get(dress.players[seat])
    if mine is None:
        raise StoreError(f"the record of {play.spec} holds no answer of the player it was made for")
    return mine, answers.get(dress.players[1 - seat]), dress.actions[seat][: len(play.data["back"])]


def _describe(play: StoredPlay, own: Array, mine: Decision) -> Asked:
    data = play.data
    last = mine.remarks[-1] if mine.remarks else None
    return {
        "spec": play.spec,
        "condition": data["condition"],
        "game": data["game"],
        "variant": data["variant"],
        "model": make_label(data["model"]),
        "elicit": data["elicit"],
        "format": data["format"],
        "theme": data["theme"],
        "seat": ("row", "col")[data["seat"]],
        "temperature": data["temperature"],
        "rows": own.shape[0],
        "cols": own.shape[1],
        "status": mine.reading.status.value,
        "how": mine.reading.how,
        "strategy": None,
        "attempts": len(mine.remarks) or None,
        "claims": len(last["claims"]) if last else None,
        "refuted": sum(verdict == "refuted" for _, verdict in last["claims"]) if last else None,
    }


def _carried_back(x: Array, back: list[int]) -> list[float]:
    """Return the strategy over the actions in the order the game was drawn."""
    drawn: list[float] = x[np.argsort(back)].tolist()
    return drawn


def measure_strategies(own: Array, other: Array, x: Array, y: Array) -> list[Figures]:
    """Compute the figures of strategies `x` (n, actions) against the opponents `y`, for n games of one shape."""
    spread = np.ptp(own, axis=(1, 2))
    against = np.einsum("nij,nj->ni", own, y)
    llm, best = np.einsum("ni,ni->n", x, against), against.max(axis=1)
    gap, support = _without_noise(best - llm, own), _is_positive(y).sum(axis=1)
    columns: JsonObject = {
        "llm_value": llm,
        "br_value": best,
        "nash_gap": gap,
        "gap_normalised": _shares(gap, spread),
        "payoff_range": spread,
        "support": support,
        "pure_equilibrium": support == 1,
        "entropy": _entropy(x),
    }
    zero_sum = (own == -other).all(axis=(1, 2))
    if zero_sum.all():
        columns |= _zero_sum_columns(own, x, y, best, gap)
    rows = [
        {**NO_FIGURES, **dict(zip(columns, cells, strict=True))}
        for cells in zip(*(c.tolist() for c in columns.values()), strict=True)
    ]
    if not zero_sum.all():
        for row, a, b, mix in zip(rows, own, other, x, strict=True):
            row |= general_sum_measures(a, b, mix)
    return cast(list[Figures], rows)


def _without_noise(figure: Array, own: Array) -> Array:
    """Return the figures of n games with negative ones and rounding errors set to 0."""
    floor = _NOISE * np.abs(own).max(axis=(1, 2))
    return np.where(figure > floor, figure, 0.0)


def _zero_sum_columns(own: Array, x: Array, y: Array, value: Array, gap: Array) -> dict[str, Array]:
    """The best-response value against an optimal opponent is the value of the game."""
    exploitability = _without_noise(value - np.einsum("ni,nij->nj", x, own).min(axis=1), own)
    spread = np.ptp(own, axis=(1, 2))
    widest = gap.copy()
    for k in np.flatnonzero(~_certainly_unique(own, y, value) & exploitability.astype(bool)):
        lowest, _ = optimal_opponent_range(own[k], x[k])
        widest[k] = max(value[k] - lowest, gap[k])
    return {
        "value": value,
        "exploitability": exploitability,
        "exploitability_normalised": _shares(exploitability, spread),
        "gap_any_equilibrium": widest,
    }


def _certainly_unique(own: Array, y: Array, value: Array) -> NDArray[np.bool_]:
    """Whether each `y` is surely the opponent's only optimal strategy (False: perhaps not).

    Another optimal strategy would use no column that some optimal x makes strictly worse for the opponent, and would
    be worth the value in every row that x plays: if x punishes every column that y leaves out, and its rows determine
    y, there is none.
    """
    unit = _shares(own - value[:, None, None], np.ptp(own, axis=(1, 2), keepdims=True))
    x = solve_zero_sum(own).row
    used, playing = _is_positive(y), _is_positive(x)
    others_punished = (used | _is_positive(np.einsum("ni,nij->nj", x, unit))).all(axis=1)
    kernel = np.where(playing[:, :, None] & used[:, None, :], unit, 0.0)
    bordered = np.concatenate([kernel, used[:, None, :].astype(np.float64)], axis=1)
    determined = np.linalg.matrix_rank(bordered, tol=_NOISE) == used.sum(axis=1)
    return np.asarray(others_punished & determined)


def _bound(own: Array, other: Array, opponent: Array) -> dict[str, float]:
    """Say how bad a missing answer could have been at most in this game against this opponent."""
    spread, against = float(np.ptp(own)), own @ opponent
    worst_gap = float(np.ptp(against))
    found = {"br_value": float(against.max()), "payoff_range": spread, "worst_gap": worst_gap}
    found["worst_normalised"] = worst_gap / spread if spread else 0.0
    if (own == -other).all():
        worst = float(against.max() - own.min())
        found["worst_exploitability_normalised"] = worst / spread if spread else 0.0
    return found


def _is_positive(share: Array) -> NDArray[np.bool_]:
    return share > _NOISE


def _shares(figure: Array, spread: Array) -> Array:
    return np.divide(figure, spread, out=np.zeros_like(figure), where=spread > 0)


def _entropy(x: Array) -> Array:
    """In bits."""
    logs = np.log2(x, out=np.zeros_like(x), where=x > 0)
    return np.asarray(np.abs((x * logs).sum(axis=1)))
