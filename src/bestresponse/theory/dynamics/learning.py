"""The loop that no-regret learning rules share: play a mixed strategy, see what every action would have earned, update.

All players update at once and payoffs are expected payoffs, so nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from bestresponse.theory.dynamics.trajectory import (
    Profile,
    Run,
    Trajectory,
    allot,
    choose_loop,
    external_regrets,
    fitness,
    record,
    schedule,
    stepwise,
    two_matrices,
    walk,
)
from bestresponse.theory.engines import Engine
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["Rule", "learn"]


class Rule(IntEnum):
    """How the next strategy follows from the past; the numbers are those of the compiled loop."""

    REGRET_MATCHING = 0
    REGRET_MATCHING_PLUS = 1
    MULTIPLICATIVE_WEIGHTS = 2


@dataclass(frozen=True, eq=False, slots=True)
class _Past:
    """Running totals: strategies played, what actions would have earned, regrets kept above 0, earnings, steps."""

    averages: Profile
    totals: Profile
    clipped: Profile
    earned: Array
    steps: Array


def learn(
    game: NormalForm, rule: Rule, rates: Array, method: str, steps: int, stride: int | None, engine: Engine
) -> Trajectory:
    """`steps` rounds of `rule`; the recorded strategies are averages (linearly weighted for regret matching+)."""
    sizes, players = (*game.shape * 3, game.num_players, 1), game.num_players
    state, parts = allot(*sizes)
    averages, totals, clipped = (tuple(parts[k * players : (k + 1) * players]) for k in range(3))
    past = _Past(averages, totals, clipped, *parts[-2:])
    chosen = choose_loop(engine, game, steps)
    plain = stepwise(_plain(game, past, rule, rates), state)
    run = _compiled(game, past, state, rule, rates) if chosen == "numba" else plain
    times, held = walk(run, schedule(steps, stride), *sizes)
    external = external_regrets(times, held[players : 2 * players], held[-2])
    last = tuple(_next(past, i, rule, rates) for i in range(game.num_players))
    return record(game, method, chosen, times, held[:players], last, external)


def _compiled(game: NormalForm, past: _Past, state: Array, rule: Rule, rates: Array) -> Run:
    from bestresponse.theory.dynamics.kernels import learning_steps

    row, col = two_matrices(game)
    arrays = (past.averages, past.totals, past.clipped, past.earned, past.steps)
    return lambda gaps, seen: learning_steps(row, col, *arrays, int(rule), rates, gaps, state, seen)


def _plain(game: NormalForm, past: _Past, rule: Rule, rates: Array) -> Callable[[int], None]:
    values = fitness(game)

    def advance(count: int) -> None:
        for _ in range(count):
            past.steps[0] += 1
            profile = [_next(past, i, rule, rates) for i in range(game.num_players)]
            weight = past.steps[0] if rule is Rule.REGRET_MATCHING_PLUS else 1
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
