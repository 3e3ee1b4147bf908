"""All equilibria of one 3x3 bimatrix game in closed form, compiled.

A vertex of a best-response polytope is a mixture over as many actions of one player as it leaves
best replies of the other. On 3x3 there are 19 pairs of supports of equal size; each gives one
candidate per player by Cramer's rule, and an equilibrium where both are vertices. A candidate that
is neither clearly one nor clearly none, as every degenerate vertex is, and payoffs in whole numbers
leave the game to `extreme_pairs`. This module imports numba; load it only when it pays.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats
from bestresponse.theory.equilibria.extreme_kernels import (
    extreme_pairs,
    measure_pair_regret,
    sort_rows,
)
from bestresponse.theory.equilibria.vertex_kernels import NEAR_TIE

_SINGULAR = 1e-6  # a smaller determinant lets rounding grow beyond NEAR_TIE
_NO = 0
_YES = 1
_DOUBT = -1


@njit(cache=True)
def _others(k: int) -> tuple[int, int]:
    """The next of three indices and the one before, both cyclically."""
    return (k + 1 if k < 2 else 0), (k - 1 if k > 0 else 2)


@njit(cache=True)
def _judge(lead: float) -> int:
    """Whether a number is positive; _DOUBT where it is too close to 0 to tell."""
    if lead > NEAR_TIE:
        return _YES
    if lead < -NEAR_TIE:
        return _NO
    return _DOUBT


@njit(cache=True, error_model="numpy")
def _pure(M: Floats, i: int, j: int) -> int:
    """Whether action i is the only best reply to j."""
    k, r = _others(i)
    lead = M[i, j] - max(M[k, j], M[r, j])
    return _judge(lead)


@njit(cache=True, error_model="numpy")
def _pair(M: Floats, r: int, c: int, z: Floats) -> int:
    """Whether all actions but r are the best replies to a mixture z of all but c.

    The mixture is written.
    """
    i, k = _others(r)
    j, h = _others(c)
    a = M[i, j] - M[k, j]
    b = M[k, h] - M[i, h]
    if a * b <= 0.0:
        return _NO
    if abs(a + b) < _SINGULAR:
        return _DOUBT
    z[c] = 0.0
    z[j] = b / (a + b)
    z[h] = a / (a + b)
    lead_j = M[i, j] - M[r, j]
    lead_h = M[i, h] - M[r, h]
    lead = z[j] * lead_j + z[h] * lead_h
    return _judge(lead)


@njit(cache=True, error_model="numpy")
def _full(M: Floats, z: Floats) -> int:
    """Whether all three actions are best replies to a mixture z of all three, which is written."""
    total = 0.0
    for c in range(3):
        j, h = _others(c)
        first_j = M[0, j] - M[1, j]
        first_h = M[0, h] - M[1, h]
        second_j = M[1, j] - M[2, j]
        second_h = M[1, h] - M[2, h]
        z[c] = first_j * second_h - first_h * second_j
        total += z[c]
    if abs(total) < _SINGULAR:
        return _DOUBT
    least = 1.0
    for c in range(3):
        z[c] /= total
        least = min(least, z[c])
    return _judge(least)


@njit(cache=True, error_model="numpy")
def _scaled(payoffs: Floats, M: Floats) -> bool:
    """Both payoffs into [0, 1], the second transposed, so that the replying action comes first.

    False if not to do.
    """
    whole = True
    for s in range(2):
        low = payoffs[s, 0, 0]
        high = payoffs[s, 0, 0]
        for i in range(3):
            for j in range(3):
                value = payoffs[s, i, j]
                low = min(low, value)
                high = max(high, value)
                whole &= value == np.floor(value)
        if not high > low:
            return False
        for i in range(3):
            for j in range(3):
                M[s, i if s == 0 else j, j if s == 0 else i] = (payoffs[s, i, j] - low) / (
                    high - low
                )
    return not whole


@njit(cache=True, error_model="numpy")
def _search(M: Floats, out: Floats) -> int:
    """Write the equilibria as the first six numbers of the rows of `out`; how many, or _DOUBT."""
    A = M[0]
    B = M[1]
    count = 0
    for i in range(3):
        for j in range(3):
            first = _pure(A, i, j)
            second = _pure(B, j, i)
            if first == _DOUBT or second == _DOUBT:
                return _DOUBT
            if first == _YES and second == _YES:
                out[count, i] = 1.0
                out[count, 3 + j] = 1.0
                count += 1
    for r in range(3):
        for c in range(3):
            first = _pair(A, r, c, out[count, 3:6])
            second = _pair(B, c, r, out[count, :3])
            if first == _DOUBT or second == _DOUBT:
                return _DOUBT
            if first == _YES and second == _YES:
                count += 1
            else:
                out[count, :6] = 0.0
    first = _full(A, out[count, 3:6])
    second = _full(B, out[count, :3])
    if first == _DOUBT or second == _DOUBT:
        return _DOUBT
    if first == _YES and second == _YES:
        return count + 1
    out[count, :6] = 0.0
    return count


@njit(cache=True, error_model="numpy")
def extreme_pairs_of_three(payoffs: Floats) -> tuple[int, int, bool, bool, float, Floats]:
    """Say what `extreme_pairs` gives, for payoffs of shape (2, 3, 3)."""
    M = np.empty((2, 3, 3))
    if not _scaled(payoffs, M):
        return extreme_pairs(payoffs)
    out = np.zeros((14, 14))
    count = _search(M, out)
    if count <= 0 or count > 7:
        return extreme_pairs(payoffs)
    worst = 0.0
    for e in range(count):
        mask = 0
        for k in range(6):
            out[e, 6 + k] = out[e, k]
            mask |= ((out[e, k] == 0.0) == (k < 3)) << k
        out[e, 12] = e
        out[e, 13] = e
        out[count + e, 0] = e
        out[count + e, 1] = e
        out[count + e, 2] = mask
        worst = max(worst, measure_pair_regret(M[1], M[0], out[e], 1.0, 1.0))
    if count > 1:
        sort_rows(out, count, 6)
    return count, count, False, False, worst, out
