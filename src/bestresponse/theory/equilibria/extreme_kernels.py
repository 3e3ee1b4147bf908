"""Compiled search for all extreme equilibria of a bimatrix game.

Vertices of both polytopes are matched by labels.

Polytopes (von Stengel 2002): P = {x >= 0, B'x <= 1}, Q = {y >= 0, Ay <= 1} after shifting payoffs
to be positive. A pair of vertices is an equilibrium when together they carry every label: an
action's label is carried where it is not played or is a best reply. All in floating point without
close ties. This module imports numba; load it only when it pays.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints, Shorts
from bestresponse.theory.equilibria.vertex_kernels import (
    enlarge,
    find_slot,
    new_table,
    solve_vertex,
    walk_vertices,
)


@njit(cache=True)
def _used_rows(masks_q: Ints, count: int, m: int, n: int) -> Ints:
    """The rows that are a best reply to something: no other can be played in an equilibrium."""
    tight = np.int64(0)
    for v in range(count):
        tight |= masks_q[v] >> n
    used = np.empty(m, np.int64)
    size = 0
    for i in range(m):
        if tight >> i & 1:
            used[size] = i
            size += 1
    return used[:size]


@njit(cache=True)
def _by_label(masks: Ints, count: int, used: Ints, m: int) -> None:
    """Renumber variables of the polytope of x over the used rows.

    Row i becomes bit i, and the others are always zero.
    """
    size = used.shape[0]
    if size == m:
        return
    unused = (1 << m) - 1
    for i in used:
        unused ^= 1 << i
    for v in range(count):
        mask = masks[v]
        label = unused | (mask >> size << m)
        for k in range(size):
            label |= (mask >> k & 1) << used[k]
        masks[v] = label


@njit(cache=True, error_model="numpy")
def measure_pair_regret(
    MP: Floats,
    MQ: Floats,
    out: Floats,
) -> float:
    """Return the larger of both players' regrets; both payoffs range over 1."""
    m, n = MQ.shape
    best = -np.inf
    mean = 0.0
    for i in range(m):
        u = 0.0
        for j in range(n):
            u += MQ[i, j] * out[m + j]
        best = max(best, u)
        mean += out[i] * u
    worst = best - mean
    best = -np.inf
    mean = 0.0
    for j in range(n):
        u = 0.0
        for i in range(m):
            u += MP[j, i] * out[i]
        best = max(best, u)
        mean += out[m + j] * u
    return max(worst, best - mean)


@njit(cache=True)
def _put_pair(pairs: Ints, count: int, v: int, w: int) -> Ints:
    """Write a pair of vertices after `count` others; return the array, enlarged if it was full."""
    if count == pairs.shape[0]:
        pairs = enlarge(pairs, 2 * count)
    pairs[count, 0] = v
    pairs[count, 1] = w
    return pairs


@njit(cache=True)
def _pair_bases(
    masks_p: Ints,
    count_p: int,
    masks_q: Ints,
    table_q: Shorts,
    shape: tuple[int, int],
) -> tuple[Ints, int]:
    """Find the pairs of bases that have all labels together, and their number."""
    m, n = shape
    full = (1 << (m + n)) - 1
    low_m = (1 << m) - 1
    pairs = np.empty((8, 2), np.int64)
    count = 0
    for v in range(1, count_p):
        wanted = full ^ masks_p[v]
        mask = (wanted >> m) | ((wanted & low_m) << n)
        w = table_q[find_slot(table_q, masks_q, mask)] - 1
        if w > 0:
            pairs = _put_pair(pairs, count, v, w)
            count += 1
    return pairs, count


@njit(cache=True, error_model="numpy")
def _write_point(out: Floats, M: Floats, mask: int, names: Ints) -> None:
    """Write the strategy of a vertex, given by the variables that are zero there.

    Names[k] is z_k's action.
    """
    point = np.empty(names.shape[0])
    solve_vertex(M, mask, point)
    total = point.sum()
    for k in range(names.shape[0]):
        out[names[k]] = point[k] / total


@njit(cache=True)
def _scale(payoff: Floats) -> Floats:
    """Give payoffs moved and scaled into [1, 2]."""
    low = payoff.min()
    spread = payoff.max() - low
    unit: Floats = (payoff - low) / (spread if spread > 0.0 else 1.0)
    return unit + 1.0


@njit(cache=True, error_model="numpy", nogil=True)
def extreme_pairs(payoffs: Floats) -> tuple[int, float, Floats]:
    """Find all equilibria of a bimatrix game of shape (2, m, n) with m + n <= 52.

    Returns (count, regret, table). Count is the number of equilibria, DOUBT where payoffs are close
    to a tie, or TOO_MANY. A row of the table is an equilibrium: x, y, the numbers of both vertices
    and the mask of the basis of the first.
    """
    _, m, n = payoffs.shape
    MP = _scale(payoffs[1]).T.copy()
    MQ = _scale(payoffs[0])
    count_q, masks_q = walk_vertices(MQ)
    if count_q < 0:
        return count_q, 0.0, MP
    used = _used_rows(masks_q, count_q, m, n)
    MU = MP if used.shape[0] == m else MP[:, used].copy()
    count_p, masks_p = walk_vertices(MU)
    if count_p < 0:
        return count_p, 0.0, MP
    table = new_table(count_q)
    for w in range(count_q):
        table[find_slot(table, masks_q, masks_q[w])] = w + 1
    labels = masks_p[:count_p].copy()
    _by_label(labels, count_p, used, m)
    pairs, count = _pair_bases(labels, count_p, masks_q, table, (m, n))
    side = m + n
    columns = np.arange(n)
    out = np.zeros((count, side + 3))
    worst = 0.0
    for e in range(count):
        v = pairs[e, 0]
        w = pairs[e, 1]
        _write_point(out[e], MU, masks_p[v], used)
        _write_point(out[e, m:], MQ, masks_q[w], columns)
        worst = max(worst, measure_pair_regret(MP, MQ, out[e]))
        out[e, side] = v
        out[e, side + 1] = w
        out[e, side + 2] = labels[v]
    return count, worst, out
