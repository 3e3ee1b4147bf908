"""Replicator dynamics: actions that earn more than average grow.

Continuous time (Taylor & Jonker, "Evolutionarily stable strategies and game dynamics", Mathematical Biosciences 40,
1978): x_a' = x_a (f_a - mean f), with f_a what action a earns against the others' populations. Discrete generations
(Maynard Smith, "Evolution and the Theory of Games", 1982): x_a <- x_a (b + f_a) / (b + mean f), b a background fitness
that makes all fitnesses positive. One population of a symmetric game plays against itself, otherwise every player has
a population of its own. Interior rest points are exactly the interior equilibria. Shares below 1e-300 become 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.normal_form import Array, NormalForm
from bestresponse.theory.trajectory import (
    Engine,
    Profile,
    Trajectory,
    choose_engine,
    fitness,
    record,
    schedule,
    start_or_uniform,
    two_matrices,
)

__all__ = ["replicator"]

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
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """`steps` steps from `start` (uniform play if not given), recorded every `stride` steps and at both ends.

    `form`: "rk4" and "euler" integrate continuous time with steps of length `size` (errors of order size**4 and size);
    "discrete" has generations, with `background` fitness (by default just enough to make all payoffs at least 1).
    With `one_population` the game must be symmetric; `start` then holds one strategy for both players.
    """
    _check(game, size, form, one_population)
    both = None if start is None else ([start[0], start[0]] if one_population else start)
    state = tuple(mix.copy() for mix in start_or_uniform(game, both))
    floors = _floors(game, background) if form == "discrete" else (0.0,) * game.num_players
    chosen = choose_engine(engine, game, steps)
    advance = _compiled(game, state, form, size, one_population, floors) if chosen == "numba" else None
    move = advance or _plain(game, state, form, size, one_population, floors)
    path, times = [_copy(state, one_population)], [0]
    for count in schedule(steps, stride):
        move(count)
        path.append(_copy(state, one_population))
        times.append(times[-1] + count)
    unit = 1.0 if form == "discrete" else size
    return record(game, f"replicator, {form}", chosen, [unit * t for t in times], path, path[-1])


def _check(game: NormalForm, size: float, form: Form, one_population: bool) -> None:
    if form not in get_args(Form):
        raise UsageError(f"form: expected one of {', '.join(get_args(Form))}, got {form!r}")
    if not 0 < size < np.inf:
        raise UsageError(f"size: expected a positive step, got {size:g}")
    if one_population and (game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T)):
        raise UsageError("one_population: expected a symmetric game of two players; this one is not")


def _floors(game: NormalForm, background: float | None) -> tuple[float, ...]:
    lowest = [float(own.min()) for own in game.payoffs]
    if background is None:
        return tuple(1.0 - low for low in lowest)
    if background + min(lowest) <= 0:
        raise UsageError(
            f"background: expected more than {0 - min(lowest):g}, so that payoffs are positive; got {background:g}"
        )
    return (background,) * game.num_players


def _copy(state: Profile, one_population: bool) -> Profile:
    return (state[0].copy(), state[0].copy()) if one_population else tuple(mix.copy() for mix in state)


def _compiled(
    game: NormalForm, state: Profile, form: Form, size: float, single: bool, floors: tuple[float, ...]
) -> Callable[[int], None]:
    from bestresponse.theory.dynamics_kernels import flow_one, flow_two, generations

    row, col = two_matrices(game)
    x, y = state
    if form == "discrete":
        return lambda count: generations(row, col, x, y, single, np.array(floors), count)
    if single:
        return lambda count: flow_one(row, x, size, form == "rk4", count)
    return lambda count: flow_two(row, col, x, y, size, form == "rk4", count)


def _plain(
    game: NormalForm, state: Profile, form: Form, size: float, single: bool, floors: tuple[float, ...]
) -> Callable[[int], None]:
    values = fitness(game)
    live = state[:1] if single else state

    def slopes(profile: Sequence[Array]) -> list[Array]:
        earned = values([profile[0], profile[0]])[:1] if single else values(profile)
        return [mix * (value - mix @ value) for mix, value in zip(profile, earned, strict=True)]

    def generation(profile: Sequence[Array]) -> list[Array]:
        earned = values([profile[0], profile[0]])[:1] if single else values(profile)
        grown = [
            mix * (value + floor) / (mix @ value + floor)
            for mix, value, floor in zip(profile, earned, floors, strict=False)
        ]
        return [np.where(mix > _EXTINCT, mix, 0.0) for mix in grown]

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
            for mix, new in zip(live, step(live), strict=True):
                mix[:] = new

    return advance


def _clean(profile: list[Array]) -> list[Array]:
    """Probabilities again after rounding: what is below _EXTINCT is gone, the rest sums to 1."""
    clipped = [np.where(mix > _EXTINCT, mix, 0.0) for mix in profile]
    return [mix / mix.sum() for mix in clipped]
