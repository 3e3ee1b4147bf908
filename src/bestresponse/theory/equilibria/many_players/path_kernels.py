"""Compiled path following for `homotopy`: one path after another, each with its own step.

The coefficients of a system are in one row: for each player, each of its equations and each
combination of the other players' coordinates, in this order. This module imports numba; load it
only when it pays.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CORRECTIONS = 3  # as in `homotopy`


@njit(cache=True, error_model="numpy")
def _evaluate(
    sizes: Ints,
    begin: Complexes,
    target: Complexes,
    z: Complexes,
    t: float,
    value: Complexes,
    jacobian: Complexes,
    by_t: Complexes,
) -> None:
    """Into `value`, `jacobian` and `by_t` the equations at (z, t) and their derivatives."""
    players = len(sizes)
    offset = np.empty(players, np.int64)
    total = 0
    for j in range(players):
        offset[j] = total
        total += sizes[j] - 1
    value[:] = 0.0
    by_t[:] = 0.0
    jacobian[:, :] = 0.0
    digit = np.zeros(players, np.int64)
    rest = np.empty(players + 1, np.complex128)
    others = np.empty(players, np.complex128)
    without = np.empty(players, np.complex128)
    column = np.empty(players, np.int64)
    at = 0
    for i in range(players):
        cells = 1
        for j in range(players):
            if j != i:
                cells *= sizes[j]
        equations = sizes[i] - 1
        digit[:] = 0
        for c in range(cells):
            rest[players] = 1.0
            for j in range(players - 1, -1, -1):
                factor = 1.0 + 0.0j if j == i or digit[j] == 0 else z[offset[j] + digit[j] - 1]
                others[j] = factor
                rest[j] = rest[j + 1] * factor
            before = 1.0 + 0.0j
            used = 0
            for j in range(players):
                if j != i and digit[j] > 0:
                    column[used] = offset[j] + digit[j] - 1
                    without[used] = before * rest[j + 1]
                    used += 1
                before = before * others[j]
            for a in range(equations):
                k = at + a * cells + c
                change = target[k] - begin[k]
                now = begin[k] + t * change
                row = offset[i] + a
                value[row] += now * rest[0]
                by_t[row] += change * rest[0]
                for u in range(used):
                    jacobian[row, column[u]] += now * without[u]
            for j in range(players - 1, -1, -1):
                if j != i:
                    digit[j] += 1
                    if digit[j] < sizes[j]:
                        break
                    digit[j] = 0
        at += equations * cells


@njit(cache=True, error_model="numpy")
def _solve(matrix: Complexes, right: Complexes, other: Complexes) -> bool:
    """Solve for two right sides in place by elimination with the largest pivots.

    False where it is singular.
    """
    n = len(right)
    for k in range(n):
        best = k
        largest = 0.0
        for i in range(k, n):
            size = abs(matrix[i, k].real) + abs(matrix[i, k].imag)
            if size > largest:
                best = i
                largest = size
        if not largest > 1e-300:
            return False
        if best != k:
            for j in range(k, n):
                matrix[k, j], matrix[best, j] = matrix[best, j], matrix[k, j]
            right[k], right[best] = right[best], right[k]
            other[k], other[best] = other[best], other[k]
        inverse = 1.0 / matrix[k, k]
        matrix[k, k] = inverse
        for i in range(k + 1, n):
            factor = matrix[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= factor * matrix[k, j]
                right[i] -= factor * right[k]
                other[i] -= factor * other[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            right[k] -= matrix[k, j] * right[j]
            other[k] -= matrix[k, j] * other[j]
        right[k] *= matrix[k, k]
        other[k] *= matrix[k, k]
    return True


@njit(cache=True, error_model="numpy")
def _largest(values: Complexes) -> float:
    most = 0.0
    for value in values:
        most = max(most, abs(value.real), abs(value.imag))
    return most


@njit(cache=True, error_model="numpy")
def _extrapolate(
    z: Complexes,
    slope: Complexes,
    z0: Complexes,
    slope0: Complexes,
    span: float,
    h: float,
) -> Complexes:
    """Continue the cubic through two points with their slopes, `span` apart, by h.

    A straight line at the start.
    """
    if span == 0.0:
        return z + h * slope
    s = 1.0 + h / span
    s2 = s * s
    s3 = s * s * s
    return (
        (2 * s3 - 3 * s2 + 1) * z0
        + (s3 - 2 * s2 + s) * span * slope0
        + (3 * s2 - 2 * s3) * z
        + (s3 - s2) * span * slope
    )


@njit(cache=True, error_model="numpy")
def _correct(
    sizes: Ints,
    begin: Complexes,
    target: Complexes,
    point: Complexes,
    t: float,
    limits: Floats,
    work: Complexes,
) -> tuple[float, float]:
    """Newton's method at a fixed t: the sizes of the first step and of the last.

    They are infinite if it does not converge.

    Leaves the direction of the path in the first row of `work`.
    """
    n = len(point)
    slope = work[0, :n]
    move = work[1, :n]
    jacobian = work[2:, :n]
    first = 0.0
    for k in range(_CORRECTIONS):
        _evaluate(
            sizes,
            begin,
            target=target,
            z=point,
            t=t,
            value=move,
            jacobian=jacobian,
            by_t=slope,
        )
        if not _solve(jacobian, move, slope):
            return first, np.inf
        for i in range(n):
            point[i] -= move[i]
            slope[i] = -slope[i]
        size = _largest(move) / (1.0 + _largest(point))
        if k == 0:
            first = size
            if not first < limits[3]:
                return first, np.inf
        if size < limits[5]:
            return first, size
    return first, np.inf


@njit(cache=True, error_model="numpy")
def _follow_one(
    sizes: Ints,
    begin: Complexes,
    target: Complexes,
    z: Complexes,
    limits: Floats,
    work: Complexes,
) -> float:
    """Move z along its path; how far it came, 1 being the end.

    `limits`: steps, first and smallest step, tolerances.
    """
    n = len(z)
    t = 0.0
    h = float(limits[1])
    span = 0.0
    _, size = _correct(
        sizes,
        begin,
        target=target,
        point=z,
        t=t,
        limits=limits,
        work=work,
    )
    if not size < limits[5]:
        return 0.0
    slope = work[0, :n].copy()
    z0 = z.copy()
    slope0 = slope.copy()
    for _ in range(int(limits[0])):
        h = min(h, 1.0 - t)
        guess = _extrapolate(z, slope, z0=z0, slope0=slope0, span=span, h=h)
        first, size = _correct(
            sizes,
            begin,
            target=target,
            point=guess,
            t=t + h,
            limits=limits,
            work=work,
        )
        change = (
            limits[4] / max(first, 1e-12)
        ) ** 0.25  # the error of the cubic grows with the fourth power
        if not size < limits[5]:
            h *= max(0.2, min(0.5, change))
            if h < limits[2]:
                return t
            continue
        z0[:] = z
        slope0[:] = slope
        z[:] = guess
        slope[:] = work[0, :n]
        span = h
        t += h
        if t >= 1.0:
            return t
        h *= max(0.5, min(2.0, change))
    return t


@njit(cache=True, error_model="numpy", nogil=True)
def follow_rows(
    sizes: Ints,
    begin: Complexes,
    targets: Complexes,
    z: Complexes,
    owner: Ints,
    reached: Floats,
    limits: Floats,
) -> None:
    """Move every row of z to the end of its path; `reached` says how far each came."""
    n = z.shape[1]
    work = np.empty((n + 2, n), np.complex128)
    for path in range(len(z)):
        reached[path] = _follow_one(
            sizes,
            begin,
            target=targets[owner[path]],
            z=z[path],
            limits=limits,
            work=work,
        )
