"""Compiled enumeration of the vertices of one best-response polytope {z >= 0, Mz <= 1}, M positive, in whole numbers.

All vertices are reached by pivoting along edges. Below 2**53 this is fraction-free, hence exact; ties are broken by the
lexicographic rule, which makes the polytope simple, so that degenerate games cannot cycle or hide a vertex. This module
imports numba; load it only when it pays.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints, Shorts
from bestresponse.theory.equilibria.walk_kernels import TOO_MANY, enlarge

__all__ = ["enumerate_vertices", "find_slot", "new_table"]

_FIRST_ROOM = 256
_MOST_NUMBERS = 2**27  # in the tableaus of one polytope: 1 GiB


@njit(cache=True, error_model="numpy")
def _find_leaving(T: Floats, R: int, C: int, leaving: Ints, pos: Ints, D: float) -> None:
    """Into leaving[c] the row that leaves when column c enters, for all c; pos[v] is v's row, or -1 - its column."""
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


@njit(cache=True, error_model="numpy")
def _pivot(S: Floats, T: Floats, R: int, C: int, r: int, c: int, D: float) -> None:
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
def find_slot(table: Shorts, masks: Ints, mask: int) -> int:
    """Say where the number of the vertex with that mask is, or belongs, in the open-addressed table (0 = free)."""
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


@njit(cache=True, error_model="numpy")
def enumerate_vertices(M: Floats) -> tuple[int, Ints, Floats, Ints, Shorts]:
    """Find all vertices of {z >= 0, Mz <= 1}: (count or TOO_MANY; masks, tableaus, order, table).

    Variable j < C is z_j, variable C + i the slack of row i. masks[v] has a bit for every nonbasic variable,
    order[v] are the basic variables by row and then the nonbasic ones by column.
    """
    R, C = M.shape
    room = _FIRST_ROOM
    table = new_table(room)
    tableaus = np.empty((room, R, C + 1))
    order = np.empty((room, R + C), np.int8)
    masks = np.empty(room, np.int64)
    scale = np.empty(room)
    spots = np.empty(R + 2 * C, np.int64)
    leaving, pos = spots[:C], spots[C:]
    tableaus[0, :, :C] = M
    tableaus[0, :, C] = 1.0
    order[0, :R], order[0, R:] = np.arange(C, R + C), np.arange(C)
    masks[0] = (1 << C) - 1
    scale[0] = 1.0
    table[find_slot(table, masks, masks[0])] = 1
    count, head = 1, 0
    while head < count:
        T = tableaus[head]
        for i in range(R):
            pos[order[head, i]] = i
        for j in range(C):
            pos[order[head, R + j]] = -1 - j
        _find_leaving(T, R, C, leaving, pos, scale[head])
        for c in range(C):
            r = leaving[c]
            entering, leaver = order[head, R + c], order[head, r]
            new = (masks[head] & ~(1 << entering)) | (1 << leaver)
            slot = find_slot(table, masks, new)
            if table[slot] != 0:
                continue
            if count == room:
                room *= 2
                if room * R * (C + 1) > _MOST_NUMBERS:
                    return TOO_MANY, masks, tableaus, order, table
                tableaus, order = enlarge(tableaus, room), enlarge(order, room)
                masks, scale = enlarge(masks, room), enlarge(scale, room)
                table = new_table(room)
                for v in range(count):
                    table[find_slot(table, masks, masks[v])] = v + 1
                slot = find_slot(table, masks, new)
                T = tableaus[head]
            _pivot(T, tableaus[count], R, C, r, c, scale[head])
            scale[count] = T[r, c]
            order[count] = order[head]
            order[count, r] = entering
            order[count, R + c] = leaver
            masks[count] = new
            count += 1
            table[slot] = count
        head += 1
    return count, masks, tableaus, order, table
