"""Welfare-maximising correlated equilibria of many bimatrix games, compiled.

Imports numba; load it only when it pays.

The same program and the same steps as `equilibria` describes, one game at a time.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints
from bestresponse.theory.correlation.equilibria import VIOLATION_LIMIT
from bestresponse.theory.equilibria.lemke_howson_kernels import find_bounds, pivot_condensed
from bestresponse.theory.zero_sum.simplex import PIVOT_EPSILON

_COST_EPSILON = 1e-11
_GIVE_UP_AFTER = 2000


@njit(cache=True, error_model="numpy")
def _incentives(A: Floats, B: Floats, G: Floats) -> None:
    """G[k, i * n + j]: what the k-th disobedience gains in cell (i, j), per payoff range."""
    m, n = A.shape
    _, scale = find_bounds(A)
    k = 0
    for recommended in range(m):
        for instead in range(m):
            if recommended != instead:
                for j in range(n):
                    G[k, recommended * n + j] = (A[instead, j] - A[recommended, j]) * scale
                k += 1
    _, scale = find_bounds(B)
    for recommended in range(n):
        for instead in range(n):
            if recommended != instead:
                for i in range(m):
                    G[k, i * n + recommended] = (B[i, instead] - B[i, recommended]) * scale
                k += 1


@njit(cache=True)
def _best_cell(A: Floats, B: Floats) -> int:
    """The cell of largest welfare if it is a pure equilibrium, else -1.

    Nothing can be better than that cell.
    """
    m, n = A.shape
    row = 0
    col = 0
    for i in range(m):
        for j in range(n):
            if A[i, j] + B[i, j] > A[row, col] + B[row, col]:
                row = i
                col = j
    for i in range(m):
        if A[i, col] > A[row, col]:
            return -1
    for j in range(n):
        if B[row, j] > B[row, col]:
            return -1
    return int(row * n + col)


@njit(cache=True, error_model="numpy")
def _welfare(A: Floats, B: Floats, w: Floats) -> None:
    """The sum of payoffs of every cell, moved and scaled into [1, 2]."""
    m, n = A.shape
    low = A[0, 0] + B[0, 0]
    high = A[0, 0] + B[0, 0]
    for i in range(m):
        for j in range(n):
            total = A[i, j] + B[i, j]
            w[i * n + j] = total
            low = min(low, total)
            high = max(high, total)
    scale = 1.0 / (high - low) if high > low else 1.0
    for c in range(m * n):
        w[c] = (w[c] - low) * scale + 1.0


@njit(cache=True, error_model="numpy")
def _simplex(T: Floats, basic: Ints, nonbasic: Ints) -> bool:
    R = T.shape[0] - 1
    C = T.shape[1] - 1
    for _ in range(_GIVE_UP_AFTER):
        c = -1
        lowest = -_COST_EPSILON
        for j in range(C):
            if T[R, j] < lowest:
                lowest = T[R, j]
                c = j
        if c < 0:
            return True
        r = -1
        right = 0.0
        step = 1.0
        for i in range(R):
            p = T[i, c]
            if p > PIVOT_EPSILON and (r < 0 or T[i, C] * step < right * p):
                r = i
                right = T[i, C]
                step = p
        if r < 0:
            return False
        pivot_condensed(T, r, c)
        basic[r], nonbasic[c] = nonbasic[c], basic[r]
    return False


@njit(cache=True, error_model="numpy")
def _certify(
    G: Floats,
    w: Floats,
    T: Floats,
    basic: Ints,
    nonbasic: Ints,
    p: Floats,
    bound: Floats,
) -> tuple[float, float]:
    """Write the distribution into p; (largest incentive, distance to the dual bound).

    Without shifts the right side is that of the last row alone: the column of its slack.
    """
    R = T.shape[0] - 1
    C = T.shape[1] - 1
    slack = 0
    while slack < C - 1 and nonbasic[slack] != C + R - 1:
        slack += 1
    total = 0.0
    for r in range(R):
        if basic[r] < C:
            p[basic[r]] = max(T[r, slack], 0.0)
            total += p[basic[r]]
    if not total > 0.0:
        return np.inf, np.inf
    value = 0.0
    for c in range(C):
        p[c] /= total
        value += p[c] * w[c]
        bound[c] = w[c]
    for c in range(C):
        k = nonbasic[c] - C
        if 0 <= k < R - 1 and T[R, c] > 0.0:
            for cell in range(C):
                bound[cell] -= T[R, c] * G[k, cell]
    worst = 0.0
    for k in range(R - 1):
        gain = 0.0
        for c in range(C):
            gain += G[k, c] * p[c]
        worst = max(worst, gain)
    return worst, bound.max() - value


@njit(cache=True, error_model="numpy")
def solve_all(
    A: Floats,
    B: Floats,
    shifts: Floats,
    p: Floats,
    violations: Floats,
    gaps: Floats,
) -> None:
    """Fill p (games, cells), the incentives to disobey and the optimality gaps.

    Both are relative, and the incentive is the largest one of every game.

    The rows of `shifts` are tried in turn until the certificate holds.
    """
    games, m, n = A.shape
    C = m * n
    R = m * (m - 1) + n * (n - 1) + 1
    G = np.zeros((R - 1, C))
    T = np.empty((R + 1, C + 1))
    w = np.empty(C)
    bound = np.empty(C)
    basic = np.empty(R, np.int64)
    nonbasic = np.empty(C, np.int64)
    for g in range(games):
        cell = _best_cell(A[g], B[g])
        if cell >= 0:
            p[g, cell] = 1.0
            violations[g] = gaps[g] = 0.0
            continue
        _incentives(A[g], B[g], G)
        _welfare(A[g], B[g], w)
        for attempt in range(shifts.shape[0]):
            # The tableau of p = 0; its last row but one says that p sums to at most 1.
            T[: R - 1, :C] = G
            T[R - 1, :C] = 1.0
            T[R, :C] = -w
            T[:R, C] = shifts[attempt]
            T[R, C] = 0.0
            T[R - 1, C] += 1.0
            basic[:], nonbasic[:] = np.arange(C, C + R), np.arange(C)
            if _simplex(T, basic, nonbasic):
                p[g] = 0.0
                violations[g], gaps[g] = _certify(
                    G,
                    w,
                    T=T,
                    basic=basic,
                    nonbasic=nonbasic,
                    p=p[g],
                    bound=bound,
                )
                if violations[g] <= VIOLATION_LIMIT and gaps[g] <= VIOLATION_LIMIT:
                    break
