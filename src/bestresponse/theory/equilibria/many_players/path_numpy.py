"""Path following for `homotopy` in plain numpy: all paths together, each with its own step.

Predicts by Runge and Kutta's method of fourth order and corrects by Newton's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Complexes", "Limits", "Tensors", "evaluate", "follow", "split", "with_one"]

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Tensors = Sequence[Complexes]
"""For each player the coefficients of its equations: (systems, equations, coordinates of every other player)."""
Limits = tuple[int, float, float, float, float, float]
"""How many steps; the first and the smallest; the largest first correction that is accepted, the largest after which
the step is doubled, and the size of a correction that ends them."""

_CORRECTIONS = 3


def split(z: Complexes, sizes: Sequence[int]) -> list[Complexes]:
    """Cut the columns into one block for each player."""
    return np.split(z, np.cumsum([m - 1 for m in sizes])[:-1], axis=1)


def with_one(block: Complexes) -> Complexes:
    """Put a column of ones in front."""
    return np.concatenate([np.ones((len(block), 1), dtype=np.complex128), block], axis=1)


def follow(
    sizes: Sequence[int], begin: Tensors, targets: Tensors, z: Complexes, owner: NDArray[np.int_], limits: Limits
) -> Floats:
    """Move every row of z to the end of its path; how far each came, 1 being the end."""
    steps, first_step, smallest, accepted, easy, converged = limits
    t, step = np.zeros(len(z)), np.full(len(z), first_step)
    left = np.arange(len(z))
    for _ in range(steps):
        if not len(left):
            break
        ends = [target[owner[left]] for target in targets]
        h = np.minimum(step[left], 1.0 - t[left])
        guess = _predict(begin, ends, sizes, z[left], t[left], h)
        landed, first = _correct(begin, ends, sizes, guess, t[left] + h, converged)
        good = first < accepted
        z[left[good]] = landed[good]
        t[left[good]] += h[good]
        step[left] = np.where(good, np.where(first < easy, 2.0, 1.0) * h, h / 3.0)
        left = left[(t[left] < 1.0) & (step[left] > smallest)]
    return t


def _predict(begin: Tensors, ends: Tensors, sizes: Sequence[int], z: Complexes, t: Floats, h: Floats) -> Complexes:
    def slope(at: Complexes, when: Floats) -> Complexes:
        _, jacobian, by_t = evaluate(begin, ends, sizes, at, when)
        return _solve(jacobian, -by_t)

    wide = h[:, None]
    one = slope(z, t)
    two = slope(z + wide / 2 * one, t + h / 2)
    three = slope(z + wide / 2 * two, t + h / 2)
    four = slope(z + wide * three, t + h)
    return z + wide / 6 * (one + 2 * two + 2 * three + four)


def _correct(
    begin: Tensors, ends: Tensors, sizes: Sequence[int], z: Complexes, t: Floats, converged: float
) -> tuple[Complexes, Floats]:
    """Newton's method at a fixed t: the points, and the size of the first step, infinite where it did not converge."""
    first = size = np.zeros(len(z))
    for k in range(_CORRECTIONS):
        value, jacobian, _ = evaluate(begin, ends, sizes, z, t)
        move = _solve(jacobian, -value)
        z = z + move
        size = np.abs(move).max(axis=1) / (1.0 + np.abs(z).max(axis=1))
        if k == 0:
            first = size
    return z, np.where(size < converged, first, np.inf)


def _solve(jacobian: Complexes, right: Complexes) -> Complexes:
    try:
        return np.asarray(np.linalg.solve(jacobian, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(jacobian) @ right[..., None])[..., 0])


def evaluate(
    begin: Tensors, ends: Tensors, sizes: Sequence[int], z: Complexes, t: Floats
) -> tuple[Complexes, Complexes, Complexes]:
    """Return the values of the equations at (z, t), their derivatives by z, and by t."""
    y = [with_one(block) for block in split(z, sizes)]
    offsets = np.concatenate([[0], np.cumsum([m - 1 for m in sizes])])
    value = np.empty_like(z)
    by_t = np.empty_like(z)
    jacobian = np.zeros((len(z), z.shape[1], z.shape[1]), dtype=np.complex128)
    for i, (old, new) in enumerate(zip(begin, ends, strict=True)):
        rows = slice(offsets[i], offsets[i + 1])
        change = new - old
        now = old + t.reshape(-1, *[1] * (old.ndim - 1)) * change
        others = [j for j in range(len(sizes)) if j != i]
        by_t[:, rows] = _contract(change, [y[j] for j in others], -1)
        for place, j in enumerate(others):
            table = _contract(now, [y[j] for j in others], place)
            jacobian[:, rows, offsets[j] : offsets[j + 1]] = table[:, :, 1:]
        value[:, rows] = (table * y[others[-1]][:, None, :]).sum(axis=2)
    return value, jacobian, by_t


def _contract(tensor: Complexes, mixes: list[Complexes], keep: int) -> Complexes:
    """Sum over the others' coordinates, weighted by `mixes`, all but the one at `keep`."""
    for place in range(len(mixes) - 1, -1, -1):
        if place != keep:
            axis = place + 2
            moved = np.moveaxis(tensor, axis, -1)
            weights = mixes[place].reshape(len(tensor), *[1] * (moved.ndim - 2), -1)
            tensor = (moved * weights).sum(axis=-1)
    return tensor
