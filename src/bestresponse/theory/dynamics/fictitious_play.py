"""Fictitious play: everybody plays a best reply to what the others have done so far.

Brown, "Iterative solution of games by fictitious play", 1951. The first move is a best reply to uniform play; ties go
to the action with the lowest index. Empirical frequencies converge to equilibrium in zero-sum games (Robinson, "An
iterative method of solving a game", Annals of Mathematics 54, 1951) and potential games, not in all: see the game
`shapley` of the catalogue. With more than two players, the reply is to the joint frequencies of the others' actions.

With a finite `precision` it is stochastic fictitious play (Fudenberg & Kreps, "Learning mixed equilibria", Games and
Economic Behavior 5, 1993): the action is drawn with probability proportional to exp(precision * average payoff). With
a `gain` the newest round has that weight and older ones fade (Fudenberg & Levine, "The Theory of Learning in Games",
1998).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
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
    start_or_uniform,
    stepwise,
    two_matrices,
    walk,
)
from bestresponse.theory.engines import Engine
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.seeds import Seed, generator

__all__ = ["fictitious_play"]


@dataclass(frozen=True, eq=False, slots=True)
class _Tally:
    """Running totals: what each action would have earned, how often it was played, what was earned."""

    totals: Profile
    counts: Profile
    earned: Array


def fictitious_play(
    game: NormalForm,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    weight: float = 0.0,
    gain: float | None = None,
    precision: float | None = None,
    seed: Seed = 0,
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """`steps` rounds; the recorded strategies are the frequencies of the actions played so far.

    The first move replies to `start` (uniform play if not given), which counts for `weight` rounds. With a `gain`
    above 0 and at most 1 beliefs move by that share towards what was played last, instead of by 1 / round, and are
    what is recorded. `precision` (with `seed`) makes play stochastic; without it there is nothing random.
    """
    if gain is not None and not 0 < gain <= 1:
        raise UsageError(f"gain: expected a share above 0 and at most 1, got {gain:g}")
    if not 0 <= weight < np.inf:
        raise UsageError(f"weight: expected a number of rounds of at least 0, got {weight:g}")
    if precision is not None and not 0 <= precision < np.inf:
        raise UsageError(f"precision: expected a number >= 0, got {precision:g}")
    sizes, players = (*game.shape, *game.shape, game.num_players), game.num_players
    state, parts = allot(*sizes)
    tally = _Tally(tuple(parts[players:-1]), tuple(parts[:players]), parts[-1])
    rng = generator(seed)
    believed = start_or_uniform(game, start)
    expected = fitness(game)(believed)
    for i, (mix, values) in enumerate(zip(believed, expected, strict=True)):
        tally.counts[i][:] = (weight if gain is None else 1.0) * mix
        tally.totals[i][:] = (weight if gain is None else 1.0) * values
    _play(game, tally, tuple(_choose(value, precision, rng) for value in expected), gain)
    chosen = choose_loop(engine, game, steps) if precision is None and gain is None else "numpy"
    plain = stepwise(_plain(game, tally, precision, rng, gain), state)
    run = _compiled(game, tally, state) if chosen == "numba" else plain
    times, held = walk(run, _without_first(schedule(steps, stride)), *sizes)
    external = external_regrets(times + 1, held[players:-1], held[-1]) if gain is None and not weight else None
    last = tuple(np.eye(len(total))[total.argmax()] for total in tally.totals)
    method = "fictitious play" if precision is None else f"stochastic fictitious play, precision {precision:g}"
    method += "" if gain is None else f", gain {gain:g}"
    return record(game, method, chosen, times + 1, held[:players], last, external)


def _without_first(gaps: Iterator[int]) -> Iterator[int]:
    """The same stops when the first round has been played already."""
    yield next(gaps) - 1
    yield from gaps


def _compiled(game: NormalForm, tally: _Tally, state: Array) -> Run:
    from bestresponse.theory.dynamics.kernels import best_reply_steps

    row, col = two_matrices(game)
    totals, others = tally.totals
    counts, facing = tally.counts
    return lambda gaps, seen: best_reply_steps(
        row, col, totals, others, counts, facing, tally.earned, gaps, state, seen
    )


def _plain(
    game: NormalForm, tally: _Tally, precision: float | None, rng: np.random.Generator, gain: float | None
) -> Callable[[int], None]:
    def advance(count: int) -> None:
        for _ in range(count):
            scale = None if precision is None else precision / float(tally.counts[0].sum())
            _play(game, tally, tuple(_choose(total, scale, rng) for total in tally.totals), gain)

    return advance


def _choose(values: Array, precision: float | None, rng: np.random.Generator) -> int:
    if precision is None:
        return int(values.argmax())
    weights = np.exp(precision * (values - values.max())).cumsum()
    return int(weights.searchsorted(rng.random() * weights[-1], side="right"))


def _play(game: NormalForm, tally: _Tally, actions: tuple[int, ...], gain: float | None) -> None:
    """Add a round to the totals; with a gain they fade by it first, so that they stay averages."""
    kept, new = (1.0, 1.0) if gain is None else (1.0 - gain, gain)
    for i, (own, action) in enumerate(zip(game.payoffs, actions, strict=True)):
        tally.counts[i][:] *= kept
        tally.counts[i][action] += new
        tally.earned[i] += own[actions]
        tally.totals[i][:] *= kept
        tally.totals[i][:] += new * own[(*actions[:i], slice(None), *actions[i + 1 :])]
