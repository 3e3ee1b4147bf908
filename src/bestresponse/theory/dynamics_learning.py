"""The loop that no-regret learning rules share: play a mixed strategy, see what every action would have earned, update.

All players update at once and payoffs are expected payoffs, so nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from bestresponse.theory.normal_form import Array, NormalForm
from bestresponse.theory.trajectory import (
    Engine,
    Profile,
    Trajectory,
    choose_engine,
    fitness,
    record,
    schedule,
    two_matrices,
)

__all__ = ["Rule", "learn"]


class Rule(IntEnum):
    """How the next strategy follows from the past; the numbers are those of the compiled loop."""

    REGRET_MATCHING = 0
    REGRET_MATCHING_PLUS = 1
    MULTIPLICATIVE_WEIGHTS = 2


@dataclass(frozen=True, eq=False, slots=True)
class _Past:
    """Running totals: what each action would have earned, regrets kept above zero, strategies played, payoff earned."""

    totals: Profile
    clipped: Profile
    averages: Profile
    earned: Array


def learn(
    game: NormalForm, rule: Rule, rates: Array, method: str, steps: int, stride: int | None, engine: Engine
) -> Trajectory:
    """`steps` rounds of `rule`; the recorded strategies are averages (linearly weighted for regret matching+)."""
    totals, clipped, averages = (tuple(np.zeros(m) for m in game.shape) for _ in range(3))
    past = _Past(totals, clipped, averages, np.zeros(game.num_players))
    chosen = choose_engine(engine, game, steps)
    advance = (_compiled if chosen == "numba" else _plain)(game, past, rule, rates)
    path, external, times = [], [], [0]
    for count in schedule(steps, stride):
        advance(times[-1], count)
        times.append(times[-1] + count)
        path.append(tuple(average / average.sum() for average in past.averages))
        external.append((np.array([total.max() for total in past.totals]) - past.earned) / times[-1])
    last = tuple(_next(past, i, rule, rates) for i in range(game.num_players))
    return record(game, method, chosen, times[1:], path, last, external)


def _compiled(game: NormalForm, past: _Past, rule: Rule, rates: Array) -> Callable[[int, int], None]:
    from bestresponse.theory.dynamics_kernels import learning_steps

    row, col = two_matrices(game)
    arrays = (past.totals, past.clipped, past.averages, past.earned)
    return lambda time, count: learning_steps(row, col, *arrays, int(rule), rates, time, count)


def _plain(game: NormalForm, past: _Past, rule: Rule, rates: Array) -> Callable[[int, int], None]:
    values = fitness(game)

    def advance(time: int, count: int) -> None:
        for t in range(time + 1, time + count + 1):
            profile = [_next(past, i, rule, rates) for i in range(game.num_players)]
            weight = t if rule is Rule.REGRET_MATCHING_PLUS else 1
            for i, value in enumerate(values(profile)):
                got = profile[i] @ value
                past.earned[i] += got
                past.totals[i][:] += value
                past.clipped[i][:] = np.maximum(past.clipped[i] + value - got, 0.0)
                past.averages[i][:] += weight * profile[i]

    return advance


def _next(past: _Past, i: int, rule: Rule, rates: Array) -> Array:
    """What player i plays now."""
    total = past.totals[i]
    match rule:
        case Rule.REGRET_MATCHING:
            weights = np.maximum(total - past.earned[i], 0.0)
        case Rule.REGRET_MATCHING_PLUS:
            weights = past.clipped[i]
        case Rule.MULTIPLICATIVE_WEIGHTS:
            weights = np.exp(rates[i] * (total - total.max()))
    whole = weights.sum()
    return weights / whole if whole > 0 else np.full(len(total), 1.0 / len(total))
