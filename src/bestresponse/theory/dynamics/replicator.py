"""Replicator dynamics: the shares of a population grow with what their strategies earn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.dynamics.trajectory import (
    Trajectory,
    allot,
    check_one_population,
    find_end,
    fitness,
    record,
    space_records,
    start_or_uniform,
    walk,
)
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)

Form = Literal["euler", "rk4", "discrete"]
_EXTINCT = 1e-300  # smaller numbers would soon be denormal, which makes arithmetic slow


def replicator(
    game: GameLike,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    size: float = 0.01,
    form: Form = "rk4",
    one_population: bool = False,
    background: float | None = None,
    mutation: float = 0.0,
    stride: int | None = None,
) -> Trajectory:
    """Let actions that earn more than average grow.

    Takes `steps` steps from `start` [default: uniform play], recorded every `stride` steps and at
    both ends.

    Continuous time (Taylor & Jonker, "Evolutionarily stable strategies and game dynamics",
    Mathematical Biosciences 40, 1978): x_a' = x_a (f_a - mean f), with f_a what action a earns
    against the others' populations. `form` "rk4" and "euler" integrate it with steps of length
    `size` (errors of order size**4 and size), at most 1 / payoff range, lest shares jump past 0.

    Discrete generations (`form` "discrete"; Maynard Smith, "Evolution and the Theory of Games",
    1982): x_a <- x_a (b + f_a) / (b + mean f), b the `background` fitness (by default none; where a
    player has negative payoffs, just enough to make them at least 1).

    With `one_population` the game must be symmetric and plays against itself; `start` then holds
    one strategy for both players. Otherwise every player has a population of its own. Interior rest
    points are exactly the interior equilibria. Shares below 1e-300 become 0.

    `mutation` is the share m of every action's offspring that turns into one of the other actions,
    all alike: x_a' = sum_b x_b f_b q_ba - x_a mean f with q_bb = 1 - m (Hadeler, "Stable
    polymorphisms in a selection model with mutation", SIAM Journal on Applied Mathematics 41,
    1981). Payoffs are then fitnesses, which must not be negative.
    """
    game = as_normal_form(game)
    _check_replicator(
        game,
        size,
        form,
        one_population=one_population,
        mutation=mutation,
    )
    if start is not None and one_population:
        start = [start[0], start[0]]
    state, parts = allot(*game.shape)
    state[:] = np.concatenate(start_or_uniform(game, start))

    growth = _Growth(
        values=fitness(_add_background(game, background) if form == "discrete" else game),
        form=form,
        size=size,
        single=one_population,
        mutation=mutation,
    )
    gaps = chain([0], space_records(steps, stride))
    times, paths = walk(partial(growth.advance, parts), state, gaps, *game.shape)
    unit = 1.0 if form == "discrete" else size
    method = f"replicator, {form}"
    if mutation:
        method += f", mutation {mutation:g}"
    return record(
        game=game,
        method=method,
        times=unit * times,
        paths=paths,
        last=find_end(paths),
    )


def _check_replicator(
    game: NormalForm,
    size: float,
    form: Form,
    one_population: bool,
    mutation: float,
) -> None:
    if form not in get_args(Form):
        raise UsageError(f"form: expected one of {', '.join(get_args(Form))}, got {form!r}")
    if not 0 < size < np.inf:
        raise UsageError(f"size: expected a positive step, got {size:g}")
    ranges = [float(np.ptp(table)) for table in game.payoffs]
    spread = max(ranges)
    if form != "discrete" and size * spread > 1.0:
        raise UsageError(
            f"size: payoffs that range over {spread:g} need steps of at most {1 / spread:g}, got"
            f" {size:g}"
        )
    if one_population:
        check_one_population(game)
    if not 0 <= mutation <= 1:
        raise UsageError(f"mutation: expected a share from 0 to 1, got {mutation:g}")
    lowest = game.payoffs.min()
    if mutation and form != "discrete" and lowest < 0:
        raise UsageError(
            f"mutation: payoffs are fitnesses and must be at least 0, the lowest is {lowest:g}"
        )


def _mutate(offspring: Array, mutation: float) -> Array:
    """Spread a share of every action's offspring over the other actions."""
    if not mutation or len(offspring) == 1:
        return offspring
    moved = mutation * offspring / (len(offspring) - 1)
    kept = offspring * (1.0 - mutation)
    return np.asarray(kept + moved.sum() - moved)


def _add_background(game: NormalForm, background: float | None) -> NormalForm:
    """Turn payoffs into fitnesses, none of them negative."""
    lowest = [float(table.min()) for table in game.payoffs]
    if background is not None:
        if background + min(lowest) <= 0:
            raise UsageError(
                f"background: expected more than {0 - min(lowest):g}, so that payoffs are positive;"
                f" got {background:g}"
            )
        return NormalForm(game.payoffs + background)

    shifted = []
    for table, low in zip(game.payoffs, lowest, strict=True):
        shifted.append(table if low >= 0 else (table - low) + 1.0)
    return NormalForm(np.stack(shifted))


@dataclass(frozen=True, eq=False, slots=True)
class _Growth:
    """A step of the replicator dynamics; `values` says what every action earns."""

    values: Callable[[Sequence[Array]], list[Array]]
    form: Form
    size: float
    single: bool
    mutation: float

    def advance(self, shares: Sequence[Array], steps: int) -> None:
        """Change the shares of every population in place.

        The second is the first where there is one population.
        """
        populations = shares[:1] if self.single else shares
        for _ in range(steps):
            moved = self._take_step(populations)
            for mix, new in zip(populations, moved, strict=True):
                mix[:] = new
        if self.single:
            shares[1][:] = shares[0]

    def _take_step(self, profile: Sequence[Array]) -> list[Array]:
        if self.form == "discrete":
            return self._breed(profile)
        slopes = self._find_slopes(profile)
        if self.form == "rk4":
            slopes = self._average_slopes(profile, slopes)

        # Probabilities again after rounding: what is below _EXTINCT is gone, the rest sums to 1.
        following = []
        for mix in _move_along(profile, slopes, self.size):
            clipped = np.where(mix > _EXTINCT, mix, 0.0)
            following.append(clipped / clipped.sum())
        return following

    def _find_earnings(self, profile: Sequence[Array]) -> list[Array]:
        """Return what the actions of every population earn."""
        if self.single:
            return self.values([profile[0], profile[0]])[:1]
        return self.values(profile)

    def _breed(self, profile: Sequence[Array]) -> list[Array]:
        """Return the shares in the next generation."""
        following = []
        for mix, value in zip(profile, self._find_earnings(profile), strict=True):
            grown = _mutate(mix * value, self.mutation)
            total = grown.sum()
            # Where nobody has offspring, as where all earn 0, the shares stay.
            shares = grown / total if total > 0 else mix
            following.append(np.where(shares > _EXTINCT, shares, 0.0))
        return following

    def _find_slopes(self, profile: Sequence[Array]) -> list[Array]:
        """Return how fast every share grows in continuous time."""
        slopes = []
        for mix, value in zip(profile, self._find_earnings(profile), strict=True):
            mean = mix @ value
            if self.mutation:
                slopes.append(_mutate(mix * value, self.mutation) - mix * mean)
            else:
                slopes.append(mix * (value - mean))
        return slopes

    def _average_slopes(self, profile: Sequence[Array], first: list[Array]) -> list[Array]:
        """Return the slope that a Runge-Kutta step of order 4 follows."""
        half = self.size / 2
        second = self._find_slopes(_move_along(profile, first, half))
        third = self._find_slopes(_move_along(profile, second, half))
        fourth = self._find_slopes(_move_along(profile, third, self.size))
        averages = []
        for a, b, c, d in zip(first, second, third, fourth, strict=True):
            weighted = a + 2 * b + 2 * c + d
            averages.append(weighted / 6)
        return averages


def _move_along(profile: Sequence[Array], slopes: Sequence[Array], time: float) -> list[Array]:
    return [mix + time * slope for mix, slope in zip(profile, slopes, strict=True)]
