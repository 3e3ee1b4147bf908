"""Compiled enumeration of the vertices of one best-response polytope {z >= 0, Mz <= 1}, M positive.

All vertices are reached by pivoting along edges. Two modes share the code. Whole numbers below 2**53: fraction-free,
hence exact, ties broken by the lexicographic rule, which makes the polytope simple, so that degenerate games cannot
cycle or hide a vertex. Floating point: gives up (DOUBT) as soon as a comparison is close to a tie, so that the caller
can decide it with integers of any length. This module imports numba; load it only when it pays.
"""

from typing import Any

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints, Shorts

__all__ = ["DOUBT", "TOO_MANY", "enumerate_vertices", "find_slot", "new_table"]

DOUBT = -1
TOO_MANY = -2
_FIRST_ROOM = 4096
_MOST_NUMBERS = 2**27  # in the tableaus of one polytope: 1 GiB
_NEAR = 1e-9
_SMALL_PIVOT = 1e-7


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def _leaving_float(T: Floats, R: int, C: int, leaving: Ints, best: Floats, second: Floats) -> bool:
    """Into leaving[c] the row that leaves when column c enters, for all c; False if a tie is too close to call."""
    for c in range(C):
        best[c] = -1.0
        second[c] = -1.0
        leaving[c] = 0
    for i in range(R):
        if T[i, C] <= _NEAR:
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
        clear &= best[c] - second[c] > _NEAR * best[c] and T[leaving[c], c] >= _SMALL_PIVOT
    return clear


@njit(cache=True, error_model="numpy")
def _leaving_exact(T: Floats, R: int, C: int, leaving: Ints, pos: Ints, D: float) -> None:
    """The same on whole numbers, ties broken by the lexicographic rule; pos[v] is v's row, or -1 - its column."""
    for c in range(C):
        best = -1
        for i in range(R):
            p = T[i, c]
            if p <= 0.0:
                continue
            if best < 0:
                best = i
                continue
            q = T[best, c]
            cross = T[i, C] * q - T[best, C] * p
            k = 0
            while cross == 0.0 and k < R:
                at = pos[C + k]
                if at >= 0:
                    cross = (D * q if at == i else 0.0) - (D * p if at == best else 0.0)
                else:
                    cross = T[i, -1 - at] * q - T[best, -1 - at] * p
                k += 1
            if cross < 0.0:
                best = i
        leaving[c] = best


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _pivot_float(S: Floats, T: Floats, R: int, C: int, r: int, c: int) -> None:
    inverse = 1.0 / S[r, c]
    for j in range(C + 1):
        T[r, j] = S[r, j] * inverse
    T[r, c] = inverse
    for i in range(R):
        if i != r:
            f = S[i, c]
            for j in range(C + 1):
                T[i, j] = S[i, j] - f * T[r, j]
            T[i, c] = -f * inverse


@njit(cache=True, error_model="numpy")
def _pivot_exact(S: Floats, T: Floats, R: int, C: int, r: int, c: int, D: float) -> None:
    """Fraction-free: the tableau times the determinant of its basis stays in whole numbers (Bareiss 1968)."""
    p = S[r, c]
    for i in range(R):
        if i != r:
            f = S[i, c]
            for j in range(C + 1):
                T[i, j] = (S[i, j] * p - f * S[r, j]) / D
            T[i, c] = -f
    for j in range(C + 1):
        T[r, j] = S[r, j]
    T[r, c] = D


@njit(cache=True)
def _most_vertices(dimension: int, facets: int) -> int:
    """The upper bound theorem, as in `extremes.most_vertices`."""
    half, rest = dimension // 2, (dimension + 1) // 2
    first, second = 1, 1
    for k in range(half):
        first = first * (facets - rest - k) // (k + 1)
    for k in range(rest - 1):
        second = second * (facets - half - 1 - k) // (k + 1)
    return first + second


@njit(cache=True)
def find_slot(table: Shorts, masks: Ints, mask: int) -> int:
    """Where the number of the vertex with that mask is, or belongs, in the open-addressed table (0 = free)."""
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


@njit(cache=True)
def _enlarged(array: Any, room: int) -> Any:
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True)
def _rehashed(masks: Ints, count: int, capacity: int) -> Shorts:
    table = new_table(capacity)
    for v in range(count):
        table[find_slot(table, masks, masks[v])] = v + 1
    return table


@njit(cache=True, error_model="numpy")
def enumerate_vertices(M: Floats, exact: bool) -> tuple[int, Ints, Floats, Ints, Shorts]:
    """Find all vertices of {z >= 0, Mz <= 1}: (count, DOUBT or TOO_MANY; masks, tableaus, order, table).

    Room is made as vertices are found, up to 1 GiB, because their largest possible number is seldom come near.

    Variable j < C is z_j, variable C + i the slack of row i. masks[v] has a bit for every nonbasic variable,
    order[v] are the basic variables by row and then the nonbasic ones by column.
    """
    R, C = M.shape
    bound = _most_vertices(C, R + C)
    most = min(bound, max(_MOST_NUMBERS // (R * (C + 1)), _FIRST_ROOM))
    capacity = min(bound, _FIRST_ROOM)
    table = new_table(capacity)
    tableaus = np.empty((capacity, R, C + 1))
    order = np.empty((capacity, R + C), np.int8)
    masks = np.empty(capacity, np.int64)
    scale = np.empty(capacity if exact else 1)
    rates = np.empty((2, C))
    best, second = rates[0], rates[1]
    spots = np.empty(R + 2 * C, np.int64)
    leaving, pos = spots[:C], spots[C:]
    for i in range(R):
        for j in range(C):
            tableaus[0, i, j] = M[i, j]
        tableaus[0, i, C] = 1.0
        order[0, i] = C + i
    for j in range(C):
        order[0, R + j] = j
    masks[0] = (1 << C) - 1
    scale[0] = 1.0
    table[find_slot(table, masks, masks[0])] = 1
    count, head = 1, 0
    while head < count:
        T = tableaus[head]
        mask = masks[head]
        if exact:
            for i in range(R):
                pos[order[head, i]] = i
            for j in range(C):
                pos[order[head, R + j]] = -1 - j
            _leaving_exact(T, R, C, leaving, pos, scale[head])
        elif not _leaving_float(T, R, C, leaving, best, second):
            return DOUBT, masks, tableaus, order, table
        for c in range(C):
            r = leaving[c]
            entering, leaver = order[head, R + c], order[head, r]
            new = (mask & ~(1 << entering)) | (1 << leaver)
            slot = find_slot(table, masks, new)
            if table[slot] != 0:
                continue
            if count >= capacity:
                if capacity >= most:
                    return (DOUBT if most == bound else TOO_MANY), masks, tableaus, order, table
                room = min(2 * capacity, most)
                tableaus = _enlarged(tableaus, room)
                order = _enlarged(order, room)
                masks = _enlarged(masks, room)
                if exact:
                    scale = _enlarged(scale, room)
                table = _rehashed(masks, count, room)
                slot = find_slot(table, masks, new)
                T = tableaus[head]
                capacity = room
            if exact:
                _pivot_exact(T, tableaus[count], R, C, r, c, scale[head])
                scale[count] = T[r, c]
            else:
                _pivot_float(T, tableaus[count], R, C, r, c)
            for v in range(R + C):
                order[count, v] = order[head, v]
            order[count, r] = entering
            order[count, R + c] = leaver
            masks[count] = new
            count += 1
            table[slot] = count
        head += 1
    return count, masks, tableaus, order, table
