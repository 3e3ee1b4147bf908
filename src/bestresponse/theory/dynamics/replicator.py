"""Replicator dynamics: actions that earn more than average grow.

Continuous time (Taylor & Jonker, "Evolutionarily stable strategies and game dynamics", Mathematical Biosciences 40,
1978): x_a' = x_a (f_a - mean f), with f_a what action a earns against the others' populations. Discrete generations
(Maynard Smith, "Evolution and the Theory of Games", 1982): x_a <- x_a (b + f_a) / (b + mean f), b a background fitness
that makes all fitnesses positive. One population of a symmetric game plays against itself, otherwise every player has
a population of its own. Interior rest points are exactly the interior equilibria. Shares below 1e-300 become 0.

With mutation a share m of every action's offspring turns into one of the other actions, all alike:
x_a' = sum_b x_b f_b q_ba - x_a mean f with q_bb = 1 - m (Hadeler, "Stable polymorphisms in a selection model with
mutation", SIAM Journal on Applied Mathematics 41, 1981). Payoffs are then fitnesses, which must not be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import UsageError
from bestresponse.theory.dynamics.trajectory import (
    Run,
    Trajectory,
    allot,
    choose_loop,
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

Form = Literal["euler", "rk4", "discrete"]
_EXTINCT = 1e-300


def replicator(
    game: NormalForm,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    size: float = 0.01,
    form: Form = "rk4",
    one_population: bool = False,
    background: float | None = None,
    mutation: float = 0.0,
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """Take `steps` steps from `start` (uniform play if not given), recorded every `stride` steps and at both ends.

    `form`: "rk4" and "euler" integrate continuous time with steps of length `size` (errors of order size**4 and size),
    at most 1 / payoff range, lest shares jump past 0; "discrete" has generations, with `background` fitness (by
    default just enough to make all payoffs at least 1).
    With `one_population` the game must be symmetric; `start` then holds one strategy for both players. `mutation` is
    the share of offspring that turn into another action; the loop is then never compiled.
    """
    _check(game, size, form, one_population)
    _check_mutation(game, mutation, form, engine)
    both = None if start is None else ([start[0], start[0]] if one_population else start)
    state, parts = allot(*game.shape)
    state[:] = np.concatenate(start_or_uniform(game, both))
    played = _add_background(game, background) if form == "discrete" else game
    chosen = "numpy" if mutation else choose_loop(engine, game, steps)
    plain = stepwise(_plain(played, parts, form, size, one_population, mutation), state)
    run = _compiled(played, parts, form, size, one_population) if chosen == "numba" else plain
    times, paths = walk(run, chain([0], schedule(steps, stride)), *game.shape)
    unit = 1.0 if form == "discrete" else size
    method = f"replicator, {form}" + (f", mutation {mutation:g}" if mutation else "")
    return record(game, method, chosen, unit * times, paths, tuple(path[-1] for path in paths))


def replicator_velocity(game: NormalForm, profile: Sequence[Array]) -> tuple[Array, ...]:
    """Compute how fast each share changes at `profile`, in continuous time; leading axes hold many profiles at once."""
    values = fitness(game)([np.asarray(mix, dtype=np.float64) for mix in profile])
    return tuple(
        np.asarray(mix * (value - (mix * value).sum(axis=-1, keepdims=True)))
        for mix, value in zip(profile, values, strict=True)
    )


def _check(game: NormalForm, size: float, form: Form, one_population: bool) -> None:
    if form not in get_args(Form):
        raise UsageError(f"form: expected one of {', '.join(get_args(Form))}, got {form!r}")
    if not 0 < size < np.inf:
        raise UsageError(f"size: expected a positive step, got {size:g}")
    spread = max(float(np.ptp(own)) for own in game.payoffs)
    if form != "discrete" and size * spread > 1.0:
        raise UsageError(f"size: payoffs that range over {spread:g} need steps of at most {1 / spread:g}, got {size:g}")
    if one_population and (game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T)):
        raise UsageError("one_population: expected a symmetric game of two players; this one is not")


def _check_mutation(game: NormalForm, mutation: float, form: Form, engine: Engine) -> None:
    if not 0 <= mutation <= 1:
        raise UsageError(f"mutation: expected a share from 0 to 1, got {mutation:g}")
    if mutation and form != "discrete" and game.payoffs.min() < 0:
        raise UsageError(
            f"mutation: payoffs are fitnesses and must be at least 0, the lowest is {game.payoffs.min():g}"
        )
    if mutation and engine == "numba":
        raise UsageError("mutation: the compiled loop has none; use engine='numpy'")


def _mutate(offspring: Array, mutation: float) -> Array:
    """Spread a share of every action's offspring over the other actions."""
    if not mutation or len(offspring) == 1:
        return offspring
    moved = mutation * offspring / (len(offspring) - 1)
    return np.asarray(offspring * (1.0 - mutation) + moved.sum() - moved)


def _add_background(game: NormalForm, background: float | None) -> NormalForm:
    """Turn payoffs into fitnesses, all of them positive."""
    lowest = [float(own.min()) for own in game.payoffs]
    if background is None:
        return NormalForm(np.stack([(own - low) + 1.0 for own, low in zip(game.payoffs, lowest, strict=True)]))
    if background + min(lowest) <= 0:
        raise UsageError(
            f"background: expected more than {0 - min(lowest):g}, so that payoffs are positive; got {background:g}"
        )
    return NormalForm(game.payoffs + background)


def _compiled(game: NormalForm, start: Sequence[Array], form: Form, size: float, single: bool) -> Run:
    from bestresponse.theory.dynamics.kernels import flow, generations

    widths = [m if m <= 8 else _round_up(m, 16) for m in game.shape]
    heights = [_round_up(m, 4) if m > 8 else m for m in game.shape]
    row, col = (
        _padded(matrix, tall, wide)
        for matrix, tall, wide in zip(two_matrices(game), heights[::-1], widths, strict=True)
    )
    state, (x, y) = allot(*widths)
    for wide, mix in zip((x, y), start, strict=True):
        wide[: len(mix)] = mix

    def run(gaps: NDArray[np.int64], seen: Array) -> None:
        raw = np.empty((len(gaps), len(state)))
        if form == "discrete":
            generations(row, col, x, y, single, gaps, state, raw)
        else:
            flow((row, col), x, y, size, form == "rk4", single, gaps, state, raw)
        seen[:] = np.hstack([raw[:, : game.shape[0]], raw[:, widths[0] : widths[0] + game.shape[1]]])

    return run


def _round_up(actions: int, unit: int) -> int:
    """Actions rounded up to what the compiled loops handle at once; the actions added have no share and earn 0."""
    return unit * -(-actions // unit)


def _padded(matrix: Array, rows: int, columns: int) -> Array:
    wide = np.zeros((rows, columns))
    wide[: matrix.shape[0], : matrix.shape[1]] = matrix
    return wide


def _plain(
    game: NormalForm, state: Sequence[Array], form: Form, size: float, single: bool, mutation: float
) -> Callable[[int], None]:
    values = fitness(game)

    def slopes(profile: Sequence[Array]) -> list[Array]:
        earned = values([profile[0], profile[0]])[:1] if single else values(profile)
        if mutation:
            pairs = zip(profile, earned, strict=True)
            return [_mutate(mix * value, mutation) - mix * (mix @ value) for mix, value in pairs]
        return [mix * (value - mix @ value) for mix, value in zip(profile, earned, strict=True)]

    def generation(profile: Sequence[Array]) -> list[Array]:
        earned = values([profile[0], profile[0]])[:1] if single else values(profile)
        grown = [_mutate(mix * value, mutation) for mix, value in zip(profile, earned, strict=True)]
        return [np.where(mix > _EXTINCT, mix, 0.0) for mix in (share / share.sum() for share in grown)]

    def euler(profile: Sequence[Array]) -> list[Array]:
        return _clean([mix + size * slope for mix, slope in zip(profile, slopes(profile), strict=True)])

    def rk4(profile: Sequence[Array]) -> list[Array]:
        found = [slopes(profile)]
        for part in (0.5, 0.5, 1.0):
            found.append(slopes([mix + size * part * slope for mix, slope in zip(profile, found[-1], strict=True)]))
        moves = [size / 6 * (a + 2 * b + 2 * c + d) for a, b, c, d in zip(*found, strict=True)]
        return _clean([mix + move for mix, move in zip(profile, moves, strict=True)])

    step = {"euler": euler, "rk4": rk4, "discrete": generation}[form]

    def advance(count: int) -> None:
        for _ in range(count):
            moved = step(state[:1] if single else state)
            for mix, new in zip(state, moved * 2 if single else moved, strict=True):
                mix[:] = new

    return advance


def _clean(profile: list[Array]) -> list[Array]:
    """Probabilities again after rounding: what is below _EXTINCT is gone, the rest sums to 1."""
    clipped = [np.where(mix > _EXTINCT, mix, 0.0) for mix in profile]
    return [mix / mix.sum() for mix in clipped]
