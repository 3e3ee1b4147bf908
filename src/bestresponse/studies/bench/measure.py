"""What one play of the benchmark says about its player.

For a player with own payoffs U (own actions as rows), an opponent fixed to its equilibrium strategy y and an answer x:

    llm_value       x U y                        br_value   max_a (U y)_a
    nash_gap        br_value - llm_value >= 0, zero for any mix of best responses to y
    exploitability  value of the game - min_b (x U)_b >= 0: what a best-responding opponent would take (zero-sum only)

Against an equilibrium opponent every action of the support has gap zero, so a gap of zero may be luck; exploitability
is zero only for strategies that guarantee the value. `_normalised` figures are divided by the range of U.

A play without a readable answer has no gap: the `worst` figures say what it could have been at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bestresponse.core.episode import Record
from bestresponse.core.errors import StoreError
from bestresponse.games.matrix import as_strategy
from bestresponse.studies.bench.drawn import own_view
from bestresponse.studies.bench.general import general_sum_measures
from bestresponse.studies.bench.playing import game_of
from bestresponse.theory.normal_form import Array
from bestresponse.theory.zero_sum_measure import optimal_opponent_range

__all__ = ["measure", "measure_strategy"]

Row = dict[str, Any]
_SUPPORT = 1e-9


def measure(spec: str, data: Mapping[str, Any], record: Record) -> Row:
    """One flat row: what was asked, how the answer was read, and what it is worth."""
    game = game_of(data)
    seat = data["seat"]
    own, other = own_view(np.asarray(data["payoffs"], dtype=np.float64), seat)
    answers = {s.role: s.decision for s in record.submissions}
    mine = answers.get(game.roles[seat])
    if mine is None:
        raise StoreError(f"the record of {spec} holds no answer of the player it was made for")
    row: Row = {
        "spec": spec,
        **{name: data[name] for name in ("condition", "game", "variant", "model", "elicit", "format", "theme")},
        "seat": ("row", "col")[seat],
        "temperature": data["temperature"],
        "rows": own.shape[0],
        "cols": own.shape[1],
        "status": mine.reading.status.value,
        "how": mine.reading.how,
    }
    opponent = answers.get(game.roles[1 - seat])
    if mine.action is None or opponent is None:
        return row | {"strategy": None} | _unanswered(own, other, None if opponent is None else opponent.action)
    x = as_strategy(mine.action, game.form.actions[seat])
    y = as_strategy(opponent.action, game.form.actions[1 - seat])
    back = np.empty_like(x)
    back[list(data["back"])] = x
    return row | {"strategy": back.tolist()} | measure_strategy(own, other, x, y)


def measure_strategy(own: Array, other: Array, x: Array, y: Array) -> Row:
    """The figures of strategy `x` against the equilibrium opponent `y`."""
    spread = float(np.ptp(own))
    against = own @ y
    llm_value, br_value = float(x @ against), float(against.max())
    gap = max(br_value - llm_value, 0.0)
    row: Row = {
        "llm_value": llm_value,
        "br_value": br_value,
        "nash_gap": gap,
        "gap_normalised": gap / spread if spread else 0.0,
        "payoff_range": spread,
        "support": int((y > _SUPPORT).sum()),
        "pure_equilibrium": bool((y > 1 - _SUPPORT).any()),
        "entropy": _entropy(x),
    }
    if np.array_equal(own, -other):
        row |= _zero_sum_measures(own, x, br_value, y, gap)
        row["exploitability_normalised"] = row["exploitability"] / spread if spread else 0.0
        return row
    return row | general_sum_measures(own, other, x)


def _zero_sum_measures(own: Array, x: Array, value: float, y: Array, gap: float) -> Row:
    """The best-response value against an optimal opponent is the value of the game."""
    exploitability = max(value - float((x @ own).min()), 0.0)
    widest = gap
    if not _certainly_unique(own, y, value) and exploitability > 0:
        lowest, _ = optimal_opponent_range(own, x)
        widest = max(value - lowest, gap, 0.0)
    return {"value": value, "exploitability": exploitability, "gap_any_equilibrium": widest}


def _certainly_unique(own: Array, y: Array, value: float) -> bool:
    """Whether `y` is surely the opponent's only optimal strategy (False: perhaps not).

    So it is if an optimal x uses exactly the best rows and makes every column that y leaves out strictly worse for
    the opponent, and the square system of these rows and the columns in use determines y.
    """
    spread = max(float(np.ptp(own)), 1e-300)
    unit = (own - value) / spread
    best, used = np.flatnonzero(unit @ y >= -1e-9), np.flatnonzero(y > _SUPPORT)
    if len(best) != len(used):
        return False
    kernel = unit[np.ix_(best, used)]
    goal = np.append(np.zeros(len(used)), 1.0)
    x = np.linalg.lstsq(np.vstack([kernel.T, np.ones(len(best))]), goal, rcond=None)[0]
    settled = bool((x > _SUPPORT).all() and np.abs(x @ kernel).max() < 1e-9)
    rest = np.delete(x @ unit[best], used)
    return settled and bool((rest > 1e-9).all()) and _rank(kernel) == len(used)


def _rank(kernel: Array) -> int:
    return int(np.linalg.matrix_rank(np.vstack([kernel, np.ones(kernel.shape[1])]), tol=1e-9))


def _unanswered(own: Array, other: Array, opponent: Any) -> Row:
    """No figures, only how bad they could have been; 1 is the most a normalised figure can be."""
    row: Row = {"llm_value": None, "nash_gap": None, "gap_normalised": None, "exploitability": None}
    spread = float(np.ptp(own))
    row |= {"exploitability_normalised": None, "payoff_range": spread, "worst_gap": spread, "worst_normalised": 1.0}
    if opponent is not None:
        against = own @ np.asarray(opponent, dtype=np.float64)
        row |= {"br_value": float(against.max()), "worst_gap": float(np.ptp(against))}
        row["worst_normalised"] = row["worst_gap"] / spread if spread else 0.0
    return row


def _entropy(x: Array) -> float:
    used = x[x > 0]
    return max(float(-(used * np.log2(used)).sum()), 0.0)
