"""What every dynamic of play returns: the path, its end, and how far from equilibrium it is along the way.

The gain of player i at a profile x is max_a u_i(a, x_-i) - u_i(x); a profile is a Nash equilibrium exactly when all
gains are 0. The external regret of a player after T steps is how much more per step its best fixed action would have
earned against what the others did; it tends to 0 for the learning rules with a guarantee, in every game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from sys import modules
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.normal_form import Array, NormalForm
from bestresponse.theory.regrets import as_profile

__all__ = ["Engine", "Profile", "Trajectory", "choose_engine", "fitness", "record", "schedule", "start_or_uniform"]

Profile = tuple[Array, ...]
Engine = Literal["auto", "numpy", "numba"]
_WORTH_COMPILING = 100_000
_WORTH_CALLING = 1_000


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """A path through the mixed profiles of a game.

    `strategies[i][r]` is player i's recorded strategy at `times[r]`, and `gains[r, i]` what it could gain there by
    deviating. For learning rules the recorded strategies are time averages, `last` is what is played at the end, and
    `external[r, i]` the average external regret so far.
    """

    method: str
    engine: str
    times: Array
    strategies: tuple[Array, ...]
    gains: Array
    last: Profile
    external: Array | None = None

    @property
    def final(self) -> Profile:
        """The recorded strategies at the end."""
        return tuple(path[-1] for path in self.strategies)

    @property
    def gap(self) -> float:
        """The certificate: the final profile is an equilibrium up to this gain of any one player."""
        return float(self.gains[-1].max())

    @property
    def curve(self) -> Array:
        """The largest gain of any player at every recorded time."""
        largest: Array = self.gains.max(axis=1)
        return largest

    def __len__(self) -> int:
        return len(self.times)


def fitness(game: NormalForm) -> Callable[[Sequence[Array]], list[Array]]:
    """A function from a profile to what each action of each player earns against it.

    Leading axes of the strategies are carried along, so a whole path can be evaluated at once.
    """
    payoffs = game.payoffs
    if game.num_players == 2:
        row, col = np.ascontiguousarray(payoffs[0].T), np.ascontiguousarray(payoffs[1])
        return lambda profile: [profile[1] @ row, profile[0] @ col]
    letters = "abcdefghijklmnopqrstuvwxy"[: game.num_players]
    formulas = [
        ",".join([letters, *("..." + other for other in letters if other != own)]) + "->..." + own for own in letters
    ]

    def values(profile: Sequence[Array]) -> list[Array]:
        return [
            np.asarray(np.einsum(formula, payoffs[i], *(mix for j, mix in enumerate(profile) if j != i)))
            for i, formula in enumerate(formulas)
        ]

    return values


def record(
    game: NormalForm,
    method: str,
    engine: str,
    times: Sequence[float],
    path: Sequence[Profile],
    last: Profile,
    external: Sequence[Array] | None = None,
) -> Trajectory:
    """The trajectory through `path`, with the gains of every player at every point."""
    strategies = tuple(np.array([profile[i] for profile in path]) for i in range(game.num_players))
    values = fitness(game)(strategies)
    gains = [value.max(axis=1) - (value * mix).sum(axis=1) for value, mix in zip(values, strategies, strict=True)]
    regrets = None if external is None else np.array(external)
    return Trajectory(method, engine, np.array(times, dtype=np.float64), strategies, np.stack(gains, 1), last, regrets)


def schedule(steps: int, stride: int | None) -> Iterator[int]:
    """How many steps lie between records: every `stride` steps, by default so that there are about 1000, and the end.

    >>> list(schedule(7, 3))
    [3, 3, 1]
    """
    if steps < 1:
        raise UsageError(f"steps: expected at least 1, got {steps}")
    every = max(1, steps // 1000) if stride is None else stride
    if every < 1:
        raise UsageError(f"stride: expected at least 1, got {every}")
    whole, rest = divmod(steps, every)
    yield from [every] * whole + [rest] * (rest > 0)


def choose_engine(engine: Engine, game: NormalForm, steps: int) -> str:
    """`numba` where it is installed, there are two players, and the run is long enough to pay for loading it."""
    if engine not in get_args(Engine):
        raise UsageError(f"engine: expected one of {', '.join(get_args(Engine))}, got {engine!r}")
    if engine == "numba" and (find_spec("numba") is None or game.num_players != 2):
        raise UsageError("engine 'numba' needs two players and the extra 'fast'; use engine='numpy'")
    if engine != "auto":
        return engine
    enough = steps >= (_WORTH_CALLING if "numba" in modules else _WORTH_COMPILING)
    return "numba" if enough and game.num_players == 2 and find_spec("numba") is not None else "numpy"


def start_or_uniform(game: NormalForm, start: Sequence[ArrayLike] | None) -> Profile:
    """`start` as a profile of `game`, or uniform play."""
    if start is None:
        return tuple(np.full(m, 1.0 / m) for m in game.shape)
    return as_profile(game, start)


def two_matrices(game: NormalForm) -> tuple[Any, Any]:
    """The payoffs of a bimatrix game as compiled loops read them: both matrices with the opponent's action first."""
    return np.ascontiguousarray(game.payoffs[0].T), np.ascontiguousarray(game.payoffs[1])
