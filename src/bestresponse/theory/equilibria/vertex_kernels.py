"""Compiled enumeration of the vertices of one best-response polytope {z >= 0, Mz <= 1}, M positive.

`walk_vertices` works in floating point by reverse search (Avis and Fukuda 1992): the paths that the
simplex method with the most negative reduced cost takes from all vertices to the origin form a
tree, which is walked from its root without remembering where one has been. Only the tableaus on the
way to the present vertex are kept, and one mask of bits for every vertex. The walk gives up (DOUBT)
as soon as a comparison is close to a tie. It also proves that nothing was left out as far as that
can be counted: the vertices of a simple polytope with k of d edges going up are as many as those
with d - k (Dehn and Sommerville).

D. Avis and K. Fukuda, "A pivoting algorithm for convex hulls and vertex enumeration of arrangements
and polyhedra", Discrete & Computational Geometry 8, 1992.

This module imports numba; load it only when it pays.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints, Numbers, Shorts

DOUBT = -1
TOO_MANY = -2
_GOLDEN = 0.6180339887498949  # its multiples, modulo 1, keep apart better than any others
_FIRST_LEVELS = 16  # room is doubled when it is full
_FIRST_ROOM = 256
_MOST_VERTICES = 2**26  # half a GiB of masks
NEAR_TIE = 1e-9  # far above rounding: whatever is closer to a tie is left to whole numbers
_SMALL_PIVOT = 1e-7  # dividing by less would multiply rounding errors beyond `NEAR_TIE`


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def _find_leaving(
    T: Floats,
    R: int,
    C: int,
    leaving: Ints,
    best: Floats,
    second: Floats,
) -> bool:
    """Into leaving[c] the row that leaves when column c enters, for all c.

    False if a tie is too close to call.
    """
    for c in range(C):
        best[c] = -1.0
        second[c] = -1.0
        leaving[c] = 0
    for i in range(R):
        if T[i, C] <= NEAR_TIE:
            return False
        inverse = 1.0 / T[i, C]
        for c in range(C):
            rate = T[i, c] * inverse
            old = best[c]
            better = rate > old
            lesser = old if better else rate
            best[c] = rate if better else old
            leaving[c] = i if better else leaving[c]
            second[c] = max(second[c], lesser)
    clear = True
    for c in range(C):
        clear &= best[c] - second[c] > NEAR_TIE * best[c] and T[leaving[c], c] >= _SMALL_PIVOT
    return clear


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _pivot(S: Floats, T: Floats, R: int, C: int, r: int, c: int) -> None:
    inverse = 1.0 / S[r, c]
    for j in range(C + 1):
        T[r, j] = S[r, j] * inverse
    T[r, c] = inverse
    for i in range(R + 1):
        if i != r:
            f = S[i, c]
            for j in range(C + 1):
                T[i, j] = S[i, j] - f * T[r, j]
            T[i, c] = -f * inverse


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _leads_back(T: Floats, R: int, C: int, r: int, c: int) -> int:
    """Whether the simplex method returns from the vertex behind column c.

    Returns 1, 0, or DOUBT near a tie.
    """
    up = T[R, c]
    pivot = T[r, c]
    if up <= 0.0:
        return 0
    for j in range(C):
        if j != c:
            lead = T[R, j] * pivot + up * (1.0 - T[r, j])
            if lead <= NEAR_TIE * up:
                return 0 if lead < -NEAR_TIE * up else DOUBT
    return 1


@njit(cache=True)
def enlarge(array: Numbers, room: int) -> Numbers:
    """Copy an array into one with room for more rows."""
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True, error_model="numpy")
def _lay_root(M: Floats, T: Floats) -> None:
    """Write the tableau of the origin, with costs whose optimum it is.

    No two vertices should share these costs.
    """
    R, C = M.shape
    for i in range(R):
        for j in range(C):
            T[i, j] = M[i, j]
        T[i, C] = 1.0
    for j in range(C):
        T[R, j] = 1.0 + (_GOLDEN * (j + 1)) % 1.0
    T[R, C] = 0.0


@njit(cache=True)
def _exchange(order: Ints, a: int, b: int) -> int:
    """Exchange two variables, and return the bits of both."""
    first = order[a]
    second = order[b]
    order[a] = second
    order[b] = first
    return int((1 << first) | (1 << second))


@njit(cache=True, error_model="numpy")
def walk_vertices(M: Floats) -> tuple[int, Ints]:
    """Find all vertices of {z >= 0, Mz <= 1}: (count, DOUBT or TOO_MANY; masks).

    Variable j < C is z_j, variable C + i the slack of row i; masks[v] has a bit for every variable
    that is zero.
    """
    R, C = M.shape
    tableaus = np.empty((_FIRST_LEVELS, R + 1, C + 1))
    # By level: the leaving rows, the next column, the column taken.
    steps = np.empty((_FIRST_LEVELS, C + 2), np.int64)
    masks = np.empty(_FIRST_ROOM, np.int64)
    order = np.empty(R + C, np.int64)  # the basic variables by row, then the others by column
    order[:R] = np.arange(C, R + C)
    order[R:] = np.arange(C)
    rates = np.empty((2, C))
    ups = np.zeros(C + 1, np.int64)
    _lay_root(M, tableaus[0])
    mask = np.int64((1 << C) - 1)
    count = 0
    level = 0
    fresh = True
    while level >= 0:
        T = tableaus[level]
        step = steps[level]
        if fresh:
            if not _find_leaving(
                T,
                R,
                C=C,
                leaving=step,
                best=rates[0],
                second=rates[1],
            ):
                return DOUBT, masks
            if count == masks.shape[0]:
                if count >= _MOST_VERTICES:
                    return TOO_MANY, masks
                masks = enlarge(masks, 2 * count)
            masks[count] = mask
            count += 1
            ups[np.sum(T[R, :C] > 0.0)] += 1
            step[C] = 0
            fresh = False
        c = step[C]
        back = 0
        while c < C and back == 0:
            back = _leads_back(T, R, C, step[c], c)
            c += 1
        if back == DOUBT:
            return DOUBT, masks
        step[C] = c
        if back == 0:
            level -= 1
            if level >= 0:
                c = steps[level, C + 1]
                mask ^= _exchange(order, steps[level, c], R + c)
            continue
        c -= 1
        r = step[c]
        step[C + 1] = c
        level += 1
        if level == tableaus.shape[0]:
            tableaus = enlarge(tableaus, 2 * level)
            steps = enlarge(steps, 2 * level)
        _pivot(tableaus[level - 1], tableaus[level], R=R, C=C, r=r, c=c)
        mask ^= _exchange(order, r, R + c)
        fresh = True
    for k in range(C + 1):
        if ups[k] != ups[C - k]:
            return DOUBT, masks
    return count, masks


@njit(cache=True, error_model="numpy")
def solve_vertex(M: Floats, mask: int, point: Floats) -> None:
    """Write the vertex with that mask into `point`.

    It is solved afresh by elimination with pivots from the whole column.
    """
    R, C = M.shape
    columns = np.empty(C, np.int64)
    rows = np.empty(R, np.int64)
    size = tight = 0
    for j in range(C):
        point[j] = 0.0
        if not mask >> j & 1:
            columns[size] = j
            size += 1
    for i in range(R):
        if mask >> (C + i) & 1:
            rows[tight] = i
            tight += 1
    A = np.ones((size, size + 1))
    for k in range(size):
        for h in range(size):
            A[k, h] = M[rows[k], columns[h]]
    for h in range(size):
        best = h
        for k in range(h + 1, size):
            if abs(A[k, h]) > abs(A[best, h]):
                best = k
        for j in range(h, size + 1):
            A[h, j], A[best, j] = A[best, j], A[h, j]
        for k in range(h + 1, size):
            f = A[k, h] / A[h, h]
            for j in range(h + 1, size + 1):
                A[k, j] -= f * A[h, j]
    for h in range(size - 1, -1, -1):
        value = A[h, size]
        for j in range(h + 1, size):
            value -= A[h, j] * point[columns[j]]
        point[columns[h]] = value / A[h, h]


@njit(cache=True)
def find_slot(table: Shorts, masks: Ints, mask: int) -> int:
    """Say where the number of a vertex is, or belongs, in the open-addressed table.

    The vertex has that mask, and 0 means free.
    """
    size = table.shape[0]
    at = (mask * 0x9E3779B97F4A7C1) >> 11 & (size - 1)
    while table[at] != 0 and masks[table[at] - 1] != mask:
        at = (at + 1) & (size - 1)
    return int(at)


@njit(cache=True)
def new_table(capacity: int) -> Shorts:
    """Make an empty open-addressed table that stays at most half full."""
    size = 16
    while size < 2 * capacity:
        size *= 2
    return np.zeros(size, np.int32)
