"""Families given by their equilibria: dominance solvable, unique mixed equilibrium, number of pure equilibria."""

from __future__ import annotations

import numpy as np

from bestresponse.core.errors import NotCertified, UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.generators.family import check_shape, check_square, family

__all__ = ["dominance_solvable", "fully_mixed", "given_support", "pure_equilibria"]

Shape = tuple[int, ...]
TRIES = 10_000
CONDITION = 1e-3


@family
def dominance_solvable(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """Iterated elimination of strictly dominated actions leaves one profile, which is the only equilibrium.

    An order of elimination is drawn first. Going through it backwards, each action is made worse than a random
    surviving one against everything that has survived by then. Payoffs of each player fill [0, 1].
    """
    check_shape(shape)
    payoffs = rng.random((len(shape), *shape))
    alive = [[int(rng.integers(m))] for m in shape]
    rest = [(i, a) for i, m in enumerate(shape) for a in range(m) if a != alive[i][0]]
    for at in rng.permutation(len(rest)):
        player, action = rest[at]
        better = alive[player][int(rng.integers(len(alive[player])))]
        against = [others if j != player else [action] for j, others in enumerate(alive)]
        instead = [others if j != player else [better] for j, others in enumerate(alive)]
        above = payoffs[player][np.ix_(*instead)]
        payoffs[player][np.ix_(*against)] = above - rng.uniform(0.05, 0.5, above.shape)
        alive[player].append(action)
    return _fill_unit(payoffs)


@family
def fully_mixed(rng: np.random.Generator, shape: Shape = (2, 2), zero_sum: bool = False) -> Array:
    """Square bimatrix games whose only equilibrium gives every action of both players positive probability.

    With x and y in the interior and M = (I - 1x')R(I - y1') of rank m - 1, the zero-sum game M has value 0 and (x, y)
    as its only equilibrium, because an optimal strategy must solve M y = 0 (Kaplansky, "A contribution to von Neumann's
    theory of games", Annals of Mathematics 46, 1945). Unless `zero_sum`, the columns of the first matrix and the rows
    of the second are shifted and both are scaled, which changes no best response (Moulin & Vial, "Strategically
    zero-sum games", Int. J. Game Theory 7, 1978).
    """
    check_square(shape, players=2, at_least=2)
    core = _core(rng, shape[0])
    return np.stack([core, -core]) if zero_sum else _disguise(rng, core)


@family
def given_support(rng: np.random.Generator, shape: Shape = (3, 3), support: int = 2) -> Array:
    """Bimatrix games with one equilibrium, in which both players mix over exactly `support` actions.

    A fully mixed game on `support` actions each, to which actions strictly dominated by mixtures of these are added;
    rows and columns are then shuffled.
    """
    check_shape(shape, players=2)
    if not 1 <= support <= min(shape):
        raise UsageError(f"support: expected 1 to {min(shape)} actions for shape {shape!r}, got {support}")
    row, col = rng.random(shape), rng.random(shape)
    if support > 1:
        row[:support, :support], col[:support, :support] = _fill_unit(_disguise(rng, _core(rng, support)))
    row[support:] = _dominated(rng, row[:support], shape[0] - support)
    col[:, support:] = _dominated(rng, col[:, :support].T, shape[1] - support).T
    rows, cols = rng.permutation(shape[0]), rng.permutation(shape[1])
    return np.stack([row[np.ix_(rows, cols)], col[np.ix_(rows, cols)]])


@family
def pure_equilibria(rng: np.random.Generator, shape: Shape = (2, 2), number: int = 1) -> Array:
    """Games with exactly `number` pure equilibria, payoffs uniform in [0, 1].

    For two players the best responses are drawn first so that exactly `number` pairs answer each other. For more
    players games are drawn until one fits; `NotCertified` after 10,000 tries.
    """
    check_shape(shape)
    most = int(np.prod(shape)) // max(shape)
    least = int(sum(m > 1 for m in shape) < 2)
    if not least <= number <= most:
        raise UsageError(f"number: shape {shape!r} allows {least} to {most} pure equilibria, got {number}")
    if len(shape) == 2:
        return _with_best_responses(rng, shape, number)
    for _ in range(TRIES):
        payoffs = rng.random((len(shape), *shape))
        if _count_pure(payoffs) == number:
            return payoffs
    raise NotCertified(f"no game of shape {shape!r} with {number} pure equilibria in {TRIES} tries; ask for fewer")


def _count_pure(payoffs: Array) -> int:
    """How many profiles give every player a best response."""
    best = [own == own.max(axis=i, keepdims=True) for i, own in enumerate(payoffs)]
    return int(np.logical_and.reduce(best).sum())


def _with_best_responses(rng: np.random.Generator, shape: Shape, count: int) -> Array:
    """Uniform payoffs whose column and row maxima are moved to best responses with `count` mutual pairs."""
    to_row, to_col = _answers(rng, shape, count)
    row, col = rng.random(shape), rng.random(shape)
    for j, i in enumerate(to_col):
        _swap_to_top(row[:, j], i)
    for i, j in enumerate(to_row):
        _swap_to_top(col[i, :], j)
    return np.stack([row, col])


def _answers(rng: np.random.Generator, shape: Shape, count: int) -> tuple[list[int], list[int]]:
    """The column's answer to every row and the row's answer to every column, with `count` mutual pairs."""
    rows, cols = rng.permutation(shape[0])[:count], rng.permutation(shape[1])[:count]
    for _ in range(TRIES):
        to_row = rng.integers(shape[1], size=shape[0])
        to_row[rows] = cols
        free = [[i for i in range(shape[0]) if to_row[i] != j] for j in range(shape[1])]
        fixed = {int(j): int(i) for i, j in zip(rows, cols, strict=True)}
        if all(free[j] for j in range(shape[1]) if j not in fixed):
            to_col = [fixed[j] if j in fixed else int(rng.choice(free[j])) for j in range(shape[1])]
            return [int(j) for j in to_row], to_col
    raise NotCertified(f"no best responses with {count} pure equilibria found for shape {shape!r} in {TRIES} tries")


def _swap_to_top(line: Array, at: int) -> None:
    top = int(line.argmax())
    line[at], line[top] = line[top], line[at]


def _core(rng: np.random.Generator, size: int) -> Array:
    """A zero-sum matrix of value 0 whose only equilibrium is fully mixed."""
    for _ in range(TRIES):
        x, y = ((0.3 / size + 0.7 * rng.dirichlet(np.ones(size))) for _ in range(2))
        core: Array = (np.eye(size) - x) @ rng.uniform(-1, 1, (size, size)) @ (np.eye(size) - y[:, None])
        spread = np.linalg.svd(core, compute_uv=False)
        if spread[-2] > CONDITION * spread[0]:
            return np.asarray(core / np.abs(core).max())
    raise NotCertified(f"no well-conditioned fully mixed game of size {size} in {TRIES} tries; ask for fewer actions")


def _disguise(rng: np.random.Generator, core: Array) -> Array:
    size = len(core)
    scale = rng.uniform(0.5, 1.5, 2)
    return np.stack([scale[0] * core + rng.random((1, size)), -scale[1] * core + rng.random((size, 1))])


def _dominated(rng: np.random.Generator, better: Array, count: int) -> Array:
    """`count` rows, each strictly below a random mixture of the rows of `better`."""
    weights = rng.dirichlet(np.ones(len(better)), count)
    return weights @ better - rng.uniform(0.05, 0.5, (count, better.shape[1]))


def _fill_unit(payoffs: Array) -> Array:
    """Each player's payoffs mapped to [0, 1] by a positive affine map."""
    axes = tuple(range(1, payoffs.ndim))
    low, high = payoffs.min(axis=axes, keepdims=True), payoffs.max(axis=axes, keepdims=True)
    return np.asarray((payoffs - low) / np.where(high > low, high - low, 1.0))
