"""Lemke and Howson's path for many bimatrix games at once, compiled.

Imports numba; load it only when it pays.

Floating point with the lexicographic rule; numbers closer than 1e-11 count as tied. The caller
checks the regret of every answer and repeats with exact integers what does not hold.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints

_TIE = 1e-11
_LONGEST = (
    100_000  # pivots: paths can be exponentially long, and one that rounding made cycle has no end
)


@njit(cache=True, error_model="numpy")
def _leaving(T: Floats, R: int, C: int, pos: Ints, c: int) -> int:
    """The row that leaves when column c enters.

    Pos[v] is the row of variable v, or -1 - its column.
    """
    best = -1
    q = 1.0
    right = 0.0
    for i in range(R):
        p = T[i, c]
        if p <= 1e-10:
            continue
        cross = T[i, C] * q - right * p
        tie = _TIE * p * q
        if (
            best < 0
            or cross < -tie
            or (cross <= tie and _lexicographically_before(T, R, C=C, pos=pos, i=i, k=best, c=c))
        ):
            best = i
            q = p
            right = T[i, C]
    return best


@njit(cache=True, error_model="numpy")
def _lexicographically_before(
    T: Floats,
    R: int,
    C: int,
    pos: Ints,
    i: int,
    k: int,
    c: int,
) -> bool:
    p = T[i, c]
    q = T[k, c]
    for slack in range(C, C + R):
        at = pos[slack]
        if at >= 0:
            difference = (1.0 / p if at == i else 0.0) - (1.0 / q if at == k else 0.0)
        else:
            difference = T[i, -1 - at] / p - T[k, -1 - at] / q
        if abs(difference) > _TIE:
            return difference < 0.0
    return False


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def pivot_condensed(T: Floats, r: int, c: int) -> None:
    """Exchange the variables of row r and column c of a condensed tableau."""
    inverse = 1.0 / T[r, c]
    width = T.shape[1]
    for j in range(width):
        T[r, j] *= inverse
    T[r, c] = inverse
    for i in range(T.shape[0]):
        f = T[i, c]
        if i != r and f != 0.0:
            T[i, c] = 0.0
            for j in range(width):
                T[i, j] -= f * T[r, j]


@njit(cache=True, error_model="numpy", fastmath=True)
def find_bounds(payoff: Floats) -> tuple[float, float]:
    """Find the smallest payoff, and 1 / range."""
    low = payoff[0, 0]
    high = payoff[0, 0]
    for i in range(payoff.shape[0]):
        for j in range(payoff.shape[1]):
            low = min(low, payoff[i, j])
            high = max(high, payoff[i, j])
    return low, 1.0 / (high - low) if high > low else 1.0


@njit(cache=True, error_model="numpy")
def _fill(
    T: Floats,
    payoff: Floats,
    bounds: tuple[float, float],
    order: Ints,
    pos: Ints,
) -> None:
    """The tableau of {z >= 0, Mz <= 1} at the origin, payoffs shifted and scaled into [1, 2]."""
    R = T.shape[0]
    C = T.shape[1] - 1
    low, scale = bounds
    for i in range(R):
        for j in range(C):
            T[i, j] = (payoff[i, j] - low) * scale + 1.0
        T[i, C] = 1.0
        order[i] = C + i
        pos[C + i] = i
    for j in range(C):
        order[R + j] = j
        pos[j] = -1 - j


@njit(cache=True, error_model="numpy")
def _enter(T: Floats, order: Ints, pos: Ints, variable: int) -> int:
    """Bring a variable into the basis.

    The variable that left, or -1 where rounding left no row to choose.
    """
    R = T.shape[0]
    C = T.shape[1] - 1
    c = -1 - pos[variable]
    r = _leaving(T, R, C, pos, c)
    if r < 0:
        return -1
    leaver = order[r]
    pivot_condensed(T, r, c)
    order[r] = variable
    order[R + c] = leaver
    pos[variable] = r
    pos[leaver] = -1 - c
    return int(leaver)


@njit(cache=True, error_model="numpy")
def _read(T: Floats, order: Ints, out: Floats) -> None:
    R = T.shape[0]
    C = T.shape[1] - 1
    total = 0.0
    for i in range(R):
        if order[i] < C:
            out[order[i]] = max(T[i, C], 0.0)
            total += out[order[i]]
    for j in range(C):
        out[j] /= total


@njit(cache=True, error_model="numpy", fastmath=True)
def measure_regret(
    payoff: Floats,
    own: Floats,
    other: Floats,
    bounds: tuple[float, float],
) -> float:
    """Say what the best action earns more than the mixture `own` against `other`.

    This is a share of the range.
    """
    best = -np.inf
    mean = 0.0
    for i in range(payoff.shape[0]):
        u = 0.0
        for j in range(payoff.shape[1]):
            u += (payoff[i, j] - bounds[0]) * other[j]
        best = max(best, u)
        mean += u * own[i]
    return (best - mean) * bounds[1]


@njit(cache=True, error_model="numpy")
def follow_all(
    A: Floats,
    B: Floats,
    label: int,
    X: Floats,
    Y: Floats,
    regrets: Floats,
    pivots: Ints,
) -> None:
    """Follow the path from the artificial equilibrium by dropping `label`.

    This is done for every game whose regret is not 0 yet.

    Where it got lost, X, Y and regrets stay as they came.
    """
    games, m, n = A.shape
    P = np.empty((n, m + 1))
    Q = np.empty((m, n + 1))
    order_p = np.empty(m + n, np.int64)
    pos_p = np.empty(m + n, np.int64)
    order_q = np.empty(m + n, np.int64)
    pos_q = np.empty(m + n, np.int64)
    for g in range(games):
        if regrets[g] == 0.0:
            continue
        bounds_a = find_bounds(A[g])
        bounds_b = find_bounds(B[g])
        _fill(P, B[g].T, bounds_b, order_p, pos_p)
        _fill(Q, A[g], bounds_a, order_q, pos_q)
        current = label
        in_p = label < m
        steps = 0
        while steps < _LONGEST:
            steps += 1
            if in_p:
                current = _enter(P, order_p, pos_p, current)
            else:
                leaver = _enter(
                    Q,
                    order_q,
                    pos_q,
                    current - m if current >= m else n + current,
                )
                current = -1 if leaver < 0 else (leaver + m if leaver < n else leaver - n)
            if current < 0 or current == label:
                break
            in_p = not in_p
        pivots[g] = steps
        if current != label:
            continue
        _read(P, order_p, X[g])
        _read(Q, order_q, Y[g])
        regrets[g] = max(
            measure_regret(
                A[g],
                X[g],
                Y[g],
                bounds_a,
            ),
            measure_regret(
                B[g].T,
                Y[g],
                X[g],
                bounds_b,
            ),
        )
