"""What all dynamics have in common: the path of a game over time, and how it is recorded.

Every rule returns a `Trajectory`: the path, its end, and how far from equilibrium it is along the
way. The gain of player i at a profile x is max_a u_i(a, x_-i) - u_i(x); a profile is a Nash
equilibrium exactly when all gains are 0. The external regret of a player after T steps is how much
more per step its best fixed action would have earned against what the others did; it tends to 0
for the learning rules with a guarantee, in every game.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, as_profile


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """A path through the mixed profiles of a game.

    `strategies[i][r]` is player i's recorded strategy at `times[r]`, and `gains[r, i]` what it
    could gain there by deviating. For learning rules the recorded strategies are time averages,
    `last` is what is played at the end, and `external[r, i]` the average external regret so far.
    """

    method: str
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
        """The certificate: the final profile is an equilibrium up to this gain of one player."""
        return float(self.gains[-1].max())

    @property
    def curve(self) -> Array:
        """The largest gain of any player at every recorded time."""
        return np.asarray(self.gains.max(axis=1))

    def __len__(self) -> int:
        return len(self.times)


def fitness(game: NormalForm) -> Callable[[Sequence[Array]], list[Array]]:
    """A function from a profile to what each action of each player earns against it.

    Leading axes of the strategies are carried along, so a whole path can be evaluated at once.
    """
    payoffs = game.payoffs
    if game.num_players == 2:
        row = np.ascontiguousarray(payoffs[0].T)
        col = np.ascontiguousarray(payoffs[1])
        return lambda profile: [profile[1] @ row, profile[0] @ col]
    if game.num_players == 1:
        return lambda profile: [np.broadcast_to(payoffs[0], profile[0].shape)]

    letters = "abcdefghijklmnopqrstuvwxy"[: game.num_players]
    formulas = []
    for own in letters:
        mixes = ["..." + other for other in letters if other != own]
        operands = ",".join([letters, *mixes])
        formulas.append(f"{operands}->...{own}")

    def values(profile: Sequence[Array]) -> list[Array]:
        earned = []
        for i, formula in enumerate(formulas):
            others = [mix for j, mix in enumerate(profile) if j != i]
            earned.append(np.asarray(np.einsum(formula, payoffs[i], *others)))
        return earned

    return values


def record(
    game: NormalForm,
    method: str,
    times: Array,
    paths: Sequence[Array],
    last: Profile,
    external: Array | None = None,
) -> Trajectory:
    """Return the trajectory along `paths`, with all gains at every point.

    `paths` has one array of weights for each player.
    """
    totals = [path.sum(axis=1, keepdims=True) for path in paths]
    strategies = tuple(path / total for path, total in zip(paths, totals, strict=True))
    values = fitness(game)(strategies)

    gains = []
    for value, mix in zip(values, strategies, strict=True):
        earned = (value * mix).sum(axis=1)
        gains.append(value.max(axis=1) - earned)

    return Trajectory(
        method=method,
        times=times,
        strategies=strategies,
        gains=np.stack(gains, axis=1),
        last=last,
        external=external,
    )


def allot(*sizes: int) -> tuple[Array, list[Array]]:
    """One array of zeros for the whole state of a process, and views of its parts."""
    state = np.zeros(sum(sizes))
    return state, np.split(state, np.cumsum(sizes)[:-1])


def walk(
    advance: Callable[[int], None],
    state: Array,
    gaps: Iterable[int],
    *sizes: int,
) -> tuple[Array, list[Array]]:
    """Numbers of steps at the records, and the parts of the state then, of these sizes.

    `advance` takes so many steps from one record to the next.
    """
    counts = np.fromiter(gaps, dtype=np.int64)
    seen = np.empty((len(counts), sum(sizes)))
    for at, gap in enumerate(counts.tolist()):
        advance(gap)
        seen[at] = state
    return np.cumsum(counts, dtype=np.float64), np.split(seen, np.cumsum(sizes)[:-1], axis=1)


def external_regrets(times: Array, totals: Sequence[Array], earned: Array) -> Array:
    """Average external regrets from what actions would have earned and what was earned."""
    best = np.stack([total.max(axis=1) for total in totals], axis=1)
    return np.asarray((best - earned) / times[:, None])


def space_records(steps: int, stride: int | None) -> Iterator[int]:
    """Say how many steps lie between records, the end included.

    This is `stride`, by default chosen so that there are about 1000 records.

    >>> list(space_records(7, 3))
    [3, 3, 1]
    """
    if steps < 1:
        raise UsageError(f"steps: expected at least 1, got {steps}")
    every = max(1, steps // 1000) if stride is None else stride
    if every < 1:
        raise UsageError(f"stride: expected at least 1, got {every}")

    whole, rest = divmod(steps, every)
    yield from [every] * whole
    if rest:
        yield rest


def start_or_uniform(game: NormalForm, start: Sequence[ArrayLike] | None) -> Profile:
    """`start` as a profile of `game`, or uniform play."""
    if start is not None:
        return as_profile(game, start)
    return tuple(map(find_uniform, game.shape))


def find_uniform(actions: int) -> Array:
    """Return the mix that plays every action equally often."""
    return np.full(actions, 1.0 / actions)


def find_end(paths: Sequence[Array]) -> Profile:
    """Return the last profile of a path."""
    return tuple(path[-1] for path in paths)


def check_one_population(game: NormalForm) -> None:
    """Refuse a game that one population cannot play against itself."""
    if game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T):
        raise UsageError(
            "one_population: expected a symmetric game of two players; this one is not"
        )
