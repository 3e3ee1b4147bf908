"""All solutions of the equations of a mixed equilibrium, by following paths.

The paths start from a system whose solutions are known.

On given supports player i's actions all earn the same: u_i(a, x_-i) = u_i(0, x_-i) for a = 1, ...,
d_i, which is linear and homogeneous in the mixture x_j of every other player. Replace each equation
by a product of random linear forms, one for each other player; its solutions follow by linear
algebra, and their number is the largest that a regular game can have (McKelvey and McLennan 1997).
While the products are moved into the true equations along a line, the complex solutions move along
as many paths, and their ends are all isolated solutions with probability one (Morgan and Sommese
1987). Mixtures are held in random complex coordinates, x_j = Q_j (1, z_j), in which no solution is
at infinity.

The paths of many systems of one shape are followed together: `players` axes of sizes d_j + 1, one
batch axis.

Path following for `homotopy` in plain numpy: all paths together, each with its own step.

Predicts by Runge and Kutta's method of fourth order and corrects by Newton's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.engines import Engine, load_kernels
from bestresponse.theory.games.normal_form import Array

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Tensors = Sequence[Complexes]
"""For each player the coefficients of its equations: (systems, equations, coordinates of every
other player)."""
Limits = tuple[int, float, float, float, float, float]
"""How many steps; the first and the smallest; the largest first correction that is accepted, the
largest after which the step is doubled, and the size of a correction that ends them."""

_CORRECTIONS = (
    3  # Newton's method doubles digits: what three do not reach is too far, and the step is cut
)


def split_by_player(z: Complexes, sizes: Sequence[int]) -> list[Complexes]:
    """Cut the columns into one block for each player."""
    ends = np.cumsum(sizes) - np.arange(1, len(sizes) + 1)
    return np.split(z, ends[:-1], axis=1)


def with_one(block: Complexes) -> Complexes:
    """Put a column of ones in front."""
    return np.concatenate([np.ones((len(block), 1), dtype=np.complex128), block], axis=1)


def follow(
    sizes: Sequence[int],
    begin: Tensors,
    targets: Tensors,
    z: Complexes,
    owner: NDArray[np.int_],
    limits: Limits,
) -> Floats:
    """Move every row of z to the end of its path; how far each came, 1 being the end."""
    steps, first_step, smallest, accepted, easy, converged = limits
    t = np.zeros(len(z))
    step = np.full(len(z), first_step)
    left = np.arange(len(z))
    for _ in range(steps):
        if not len(left):
            break
        ends = [target[owner[left]] for target in targets]
        h = np.minimum(step[left], 1.0 - t[left])
        guess = _predict(begin, ends, sizes=sizes, z=z[left], t=t[left], h=h)
        landed, first = _correct(
            begin,
            ends,
            sizes=sizes,
            z=guess,
            t=t[left] + h,
            converged=converged,
        )
        good = first < accepted
        z[left[good]] = landed[good]
        t[left[good]] += h[good]
        longer = np.where(first < easy, 2.0 * h, h)
        step[left] = np.where(good, longer, h / 3.0)
        goes_on = (t[left] < 1.0) & (step[left] > smallest)
        left = left[goes_on]
    return t


def _predict(
    begin: Tensors,
    ends: Tensors,
    sizes: Sequence[int],
    z: Complexes,
    t: Floats,
    h: Floats,
) -> Complexes:
    def slope(at: Complexes, when: Floats) -> Complexes:
        _, jacobian, by_t = evaluate(begin, ends, sizes, at, when)
        return _solve(jacobian, -by_t)

    # The method of Runge and Kutta.
    wide = h[:, None]
    half = wide / 2
    middle = t + h / 2
    first = slope(z, t)
    second = slope(z + half * first, middle)
    third = slope(z + half * second, middle)
    fourth = slope(z + wide * third, t + h)
    total = first + 2 * second + 2 * third + fourth
    return z + wide / 6 * total


def _correct(
    begin: Tensors,
    ends: Tensors,
    sizes: Sequence[int],
    z: Complexes,
    t: Floats,
    converged: float,
) -> tuple[Complexes, Floats]:
    """Newton's method at a fixed t: the points, and the size of the first step.

    The size is infinite if it did not converge.
    """
    first = size = np.zeros(len(z))
    for k in range(_CORRECTIONS):
        value, jacobian, _ = evaluate(begin, ends, sizes, z, t)
        move = _solve(jacobian, -value)
        z = z + move
        largest = np.abs(z).max(axis=1)
        size = np.abs(move).max(axis=1) / (1.0 + largest)
        if k == 0:
            first = size
    return z, np.where(size < converged, first, np.inf)


def _solve(jacobian: Complexes, right: Complexes) -> Complexes:
    columns = right[..., None]
    try:
        solved = np.linalg.solve(jacobian, columns)
    except np.linalg.LinAlgError:
        solved = np.linalg.pinv(jacobian) @ columns
    return np.asarray(solved[..., 0])


def evaluate(
    begin: Tensors,
    ends: Tensors,
    sizes: Sequence[int],
    z: Complexes,
    t: Floats,
) -> tuple[Complexes, Complexes, Complexes]:
    """Return the values of the equations at (z, t), their derivatives by z, and by t."""
    y = [with_one(block) for block in split_by_player(z, sizes)]
    offsets = np.cumsum([0, *sizes]) - np.arange(len(sizes) + 1)
    value = np.empty_like(z)
    by_t = np.empty_like(z)
    jacobian = np.zeros((len(z), z.shape[1], z.shape[1]), dtype=np.complex128)
    for i, (old, new) in enumerate(zip(begin, ends, strict=True)):
        rows = slice(offsets[i], offsets[i + 1])
        change = new - old
        times = t.reshape(-1, *[1] * (old.ndim - 1))
        now = old + times * change
        others = [j for j in range(len(sizes)) if j != i]
        by_t[:, rows] = _contract(change, [y[j] for j in others], -1)
        for axis, j in enumerate(others):
            table = _contract(now, [y[j] for j in others], axis)
            jacobian[:, rows, offsets[j] : offsets[j + 1]] = table[:, :, 1:]
        last = y[others[-1]]
        value[:, rows] = (table * last[:, None, :]).sum(axis=2)
    return value, jacobian, by_t


def _contract(tensor: Complexes, mixes: list[Complexes], keep: int) -> Complexes:
    """Sum over the others' coordinates, weighted by `mixes`, all but the one at `keep`."""
    for k in range(len(mixes) - 1, -1, -1):
        if k != keep:
            axis = k + 2
            moved = np.moveaxis(tensor, axis, -1)
            weights = mixes[k].reshape(len(tensor), *[1] * (moved.ndim - 2), -1)
            tensor = (moved * weights).sum(axis=-1)
    return tensor


_LIMITS: Limits = (400, 0.05, 1e-7, 0.03, 2e-3, 1e-9)
_REGULAR = 1e-9  # of the largest singular value: at a smaller one several paths may end
KERNELS = "bestresponse.theory.equilibria.many_players.path_kernels"
_WORTH_COMPILING = 150  # paths


@dataclass(frozen=True, slots=True, eq=False)
class PathEnds:
    """Where the paths of one shape end.

    For each path this has the system it belongs to, every player's x_j, and how it ended.

    `regular` says that the end was reached with a derivative far from singular, so that no other
    path of the system can end there.
    """

    system: NDArray[np.int_]
    points: tuple[Complexes, ...]
    regular: NDArray[np.bool_]


@lru_cache(maxsize=4096)
def count_paths(sizes: tuple[int, ...]) -> int:
    """Count the paths for players who mix `sizes` actions.

    This is the coefficient of McKelvey and McLennan's polynomial.

    >>> count_paths((2, 2, 2)), count_paths((3, 3, 3)), count_paths((2, 2, 3)), count_paths((4, 2))
    (2, 10, 2, 0)
    """
    room = tuple(size - 1 for size in sizes)
    ways = Counter({room: 1})
    for i, size in enumerate(sizes):
        for _ in range(size - 1):
            after: Counter[tuple[int, ...]] = Counter()
            for left, count in ways.items():
                for j, free in enumerate(left):
                    if j != i and free:
                        after[(*left[:j], free - 1, *left[j + 1 :])] += count
            ways = after
    return sum(ways.values())


def _assignments(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """For every equation, player by player, whose linear form vanishes.

    Every player's forms exactly d_j times.
    """
    owners = [i for i, size in enumerate(sizes) for _ in range(size - 1)]
    room = [size - 1 for size in sizes]

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(owners):
            yield chosen
            return
        owner = owners[len(chosen)]
        for j in range(len(sizes)):
            if j != owner and room[j]:
                room[j] -= 1
                yield from extend((*chosen, j))
                room[j] += 1

    yield from extend(())


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """Random coordinates of every player, products of linear forms, and their solutions.

    The solutions are those of the system of the products.
    """

    bases: tuple[Complexes, ...]
    tensors: tuple[Complexes, ...]
    solutions: Complexes


@lru_cache(maxsize=64)
def _prepare(sizes: tuple[int, ...], seed: int) -> _Start:
    """Draw a system of as many products of linear forms, whose solutions can be written down."""
    generator = np.random.default_rng([seed, *sizes])
    drawn = [_draw(generator, (m, m)) for m in sizes]
    bases = tuple(np.linalg.qr(matrix)[0] for matrix in drawn)
    # Player i has one equation for each of its actions but one, with a form in each other's mix.
    owners = []
    forms = []
    for i, num_actions in enumerate(sizes):
        for _ in range(num_actions - 1):
            owners.append(i)
            forms.append({j: _draw(generator, (m,)) for j, m in enumerate(sizes) if j != i})
    tensors = []
    for i in range(len(sizes)):
        equations = [form.values() for form, owner in zip(forms, owners, strict=True) if owner == i]
        products = [reduce(np.multiply.outer, vectors) for vectors in equations]
        tensors.append(np.stack(products)[None])
    solutions = [_vanish(sizes, forms, chosen) for chosen in _assignments(sizes)]
    return _Start(bases, tuple(tensors), np.array(solutions, dtype=np.complex128))


def _draw(generator: np.random.Generator, shape: tuple[int, ...]) -> Complexes:
    drawn = generator.normal(size=shape) + 1j * generator.normal(size=shape)
    length = np.sqrt(2 * shape[-1])
    return np.asarray(drawn / length)


def _vanish(
    sizes: Sequence[int],
    forms: list[dict[int, Complexes]],
    chosen: tuple[int, ...],
) -> Complexes:
    """The z at which in every equation the linear form of the player chosen is 0."""
    parts = []
    for j in range(len(sizes)):
        vanishing = [form[j] for form, player in zip(forms, chosen, strict=True) if player == j]
        rows = np.stack(vanishing)
        parts.append(np.linalg.solve(rows[:, 1:], -rows[:, 0]))
    return np.concatenate(parts)


def follow_paths(payoffs: Sequence[Array], seed: int = 0, engine: Engine = "auto") -> PathEnds:
    """Follow all paths of systems of one shape.

    `payoffs[i]` has shape (systems, actions of every player).
    """
    sizes = payoffs[0].shape[1:]
    start = _prepare(sizes, seed)
    targets = []
    for i, table in enumerate(payoffs):
        first = np.moveaxis(table, i + 1, 1)
        # What every other action earns more than the first: (systems, equations, others'
        # actions...).
        leads = first[:, 1:] - first[:, :1]
        targets.append(_turn(leads, i, start.bases))
    paths = len(start.solutions)
    systems = len(payoffs[0])
    z = np.tile(start.solutions, (systems, 1))
    owner = np.repeat(np.arange(systems), paths)
    kernels = load_kernels(KERNELS, engine, len(z), _WORTH_COMPILING)
    if kernels is not None:
        reached = np.zeros(len(z))
        limits = np.array(_LIMITS)
        kernels.follow_rows(
            np.array(sizes),
            _flat(start.tensors)[0],
            targets=_flat(targets),
            z=z,
            owner=owner,
            reached=reached,
            limits=limits,
        )
    else:
        reached = follow(
            sizes,
            start.tensors,
            targets=targets,
            z=z,
            owner=owner,
            limits=_LIMITS,
        )
    points = []
    for block, basis in zip(split_by_player(z, sizes), start.bases, strict=True):
        points.append(with_one(block) @ basis.T)
    regular = _are_regular(start, targets, z, reached, owner)
    return PathEnds(owner, tuple(points), regular)


def _flat(tensors: Tensors) -> Complexes:
    """All coefficients of a system in one row."""
    rows = [tensor.reshape(len(tensor), -1) for tensor in tensors]
    return np.concatenate(rows, axis=1)


def _are_regular(
    start: _Start,
    targets: Tensors,
    z: Complexes,
    reached: Array,
    owner: NDArray[np.int_],
) -> NDArray[np.bool_]:
    regular = reached >= 1.0
    if regular.any():
        ends = [target[owner[regular]] for target in targets]
        sizes = [len(basis) for basis in start.bases]
        _, jacobian, _ = evaluate(
            start.tensors,
            ends,
            sizes,
            z[regular],
            reached[regular],
        )
        singular = np.linalg.svd(jacobian, compute_uv=False)
        regular[regular] = singular[:, -1] > _REGULAR * singular[:, 0]
    return regular


def _turn(tensor: Array, player: int, bases: tuple[Complexes, ...]) -> Complexes:
    """The same in the random coordinates of the other players."""
    turned = tensor.astype(np.complex128)
    for axis, basis in enumerate((b for j, b in enumerate(bases) if j != player), start=2):
        turned = np.moveaxis(np.tensordot(turned, basis, axes=([axis], [0])), -1, axis)
    return turned
