"""Compiled search for all extreme equilibria of a bimatrix game.

Vertices of both polytopes are matched by labels.

Polytopes (von Stengel 2002): P = {x >= 0, B'x <= 1}, Q = {y >= 0, Ay <= 1} after shifting payoffs
to be positive. A pair of vertices is an equilibrium when together they carry every label: an
action's label is carried where it is not played or is a best reply. Small integer payoffs are
handled exactly, others in floating point without close ties. This module imports numba; load it
only when it pays.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints, Shorts
from bestresponse.theory.equilibria.vertex_kernels import (
    enlarge,
    enumerate_vertices,
    find_slot,
    new_table,
    solve_vertex,
    walk_vertices,
)

# A determinant below this may be multiplied by another one without leaving 2**53.
_EXACT_LIMIT = 9.0e7


@njit(cache=True, error_model="numpy")
def _minor_bound(largest: float, order: int) -> float:
    """No minor of that order of a matrix with entries in [0, largest] is larger (Hadamard)."""
    return float(largest**order * (order + 1.0) ** (0.5 * (order + 1)) / 2.0**order)


@njit(cache=True, error_model="numpy")
def _span(payoff: Floats) -> tuple[float, float, float]:
    """(smallest payoff, unit, range in units).

    Unit is the greatest common divisor of integer payoffs, else 0.
    """
    m, n = payoff.shape
    low = payoff[0, 0]
    high = payoff[0, 0]
    whole = True
    for i in range(m):
        for j in range(n):
            value = payoff[i, j]
            low = min(low, value)
            high = max(high, value)
            whole &= value == np.floor(value)
    if not whole or high - low > 4e9 or abs(low) > 4e15:
        return low, 0.0, high - low
    unit = np.int64(0)
    for i in range(m):
        for j in range(n):
            other = np.int64(payoff[i, j] - low)
            while other:
                unit, other = other, unit % other
    if unit == 0:
        unit = np.int64(1)
    return low, float(unit), (high - low) / float(unit)


@njit(cache=True)
def _labels(count: int, masks: Ints, tableaus: Floats, order: Ints) -> Ints:
    """Every variable that is zero at each vertex, basic or not, as bits."""
    labels = np.empty(count, np.int64)
    last = tableaus.shape[2] - 1
    for v in range(count):
        labels[v] = masks[v]
        for i in range(tableaus.shape[1]):
            if tableaus[v, i, last] == 0.0:
                labels[v] |= 1 << order[v, i]
    return labels


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


@njit(cache=True)
def _first_alike(labels: Ints, origin: int) -> Ints:
    """For each vertex the first with the same labels, or -1 for the origin.

    The origin is no strategy.
    """
    first = np.empty(labels.shape[0], np.int64)
    table = new_table(labels.shape[0])
    for v in range(labels.shape[0]):
        if labels[v] & origin == origin:
            first[v] = -1
            continue
        slot = find_slot(table, labels, labels[v])
        if table[slot] == 0:
            table[slot] = v + 1
        first[v] = table[slot] - 1
    return first


@njit(cache=True, error_model="numpy")
def _write_point(
    out: Floats,
    at: int,
    raw: int,
    names: Ints,
    T: Floats,
    order: Ints,
) -> None:
    """The point of a vertex, unscaled from out[raw] on and with sum 1 from out[at] on.

    Names[j] is z_j's action.
    """
    total = 0.0
    last = T.shape[1] - 1
    for i in range(T.shape[0]):
        if order[i] < last:
            total += T[i, last]
    for i in range(T.shape[0]):
        if order[i] < last:
            out[at + names[order[i]]] = T[i, last] / total
            out[raw + names[order[i]]] = T[i, last]


@njit(cache=True, error_model="numpy")
def measure_pair_regret(
    MP: Floats,
    MQ: Floats,
    out: Floats,
    range_a: float,
    range_b: float,
) -> float:
    """Return the larger of both players' regrets, each as a share of its payoff range."""
    m, n = MQ.shape
    best = -np.inf
    mean = 0.0
    for i in range(m):
        u = 0.0
        for j in range(n):
            u += MQ[i, j] * out[m + j]
        best = max(best, u)
        mean += out[i] * u
    worst = (best - mean) / range_a
    best = -np.inf
    mean = 0.0
    for j in range(n):
        u = 0.0
        for i in range(m):
            u += MP[j, i] * out[i]
        best = max(best, u)
        mean += out[m + j] * u
    return max(worst, (best - mean) / range_b)


@njit(cache=True)
def _is_before(out: Floats, a: int, b: int, side: int) -> bool:
    """Whether row a is read before row b.

    Smaller supports come first, then more weight on the first actions.
    """
    size_a = 0
    size_b = 0
    for k in range(side):
        size_a += out[a, k] > 0.0
        size_b += out[b, k] > 0.0
    if size_a != size_b:
        return bool(size_a < size_b)
    for k in range(side):
        if out[a, k] != out[b, k]:
            return bool(out[a, k] > out[b, k])
    return a < b


@njit(cache=True)
def sort_rows(out: Floats, count: int, side: int) -> None:
    """Put the first `count` rows in reading order.

    The rows are equilibria with their strategies in the first `side` columns.
    """
    order = np.arange(count)
    gap = count // 2
    while gap > 0:
        for k in range(gap, count):
            moved = order[k]
            at = k
            while at >= gap and _is_before(out, moved, order[at - gap], side):
                order[at] = order[at - gap]
                at -= gap
            order[at] = moved
        gap //= 2
    for k in range(count):
        if order[k] != k:
            out[:count] = out[order]
            return


@njit(cache=True)
def _put_pair(pairs: Ints, count: int, v: int, w: int) -> Ints:
    """Write a pair of vertices after `count` others; return the array, enlarged if it was full."""
    if count == pairs.shape[0]:
        pairs = enlarge(pairs, 2 * count)
    pairs[count, 0] = v
    pairs[count, 1] = w
    return pairs


@njit(cache=True)
def _pair_points(
    labels_p: Ints,
    labels_q: Ints,
    first_p: Ints,
    first_q: Ints,
    full: int,
) -> tuple[Ints, int]:
    """Find the pairs of different points that have all labels together, and their number.

    `first_p` and `first_q` give the first vertex that is the same point.
    """
    pairs = np.empty((8, 2), np.int64)
    count = 0
    for v in range(labels_p.shape[0]):
        if first_p[v] != v:
            continue
        for w in range(labels_q.shape[0]):
            if first_q[w] == w and labels_p[v] | labels_q[w] == full:
                pairs = _put_pair(pairs, count, v, w)
                count += 1
    return pairs, count


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
def _pair_exactly(
    MP: Floats,
    MQ: Floats,
    range_a: float,
    range_b: float,
) -> tuple[int, int, bool, bool, float, Floats]:
    """Do the work of `extreme_pairs` for small whole payoffs >= 1, even degenerate games."""
    m, n = MQ.shape
    count_q, masks_q, tableaus_q, order_q, table_q = enumerate_vertices(MQ)
    if count_q < 0:
        return count_q, 0, True, False, 0.0, MP
    labels_q = _labels(count_q, masks_q, tableaus_q, order_q)
    used = _used_rows(labels_q, count_q, m, n)
    count_p, masks_p, tableaus_p, order_p, _ = enumerate_vertices(
        MP if used.shape[0] == m else MP[:, used]
    )
    if count_p < 0:
        return count_p, 0, True, False, 0.0, MP
    degenerate = False
    first_p = masks_p
    first_q = masks_q
    labels_p = _labels(count_p, masks_p, tableaus_p, order_p)
    for v in range(count_p):
        degenerate |= labels_p[v] != masks_p[v]
    _by_label(labels_p, count_p, used, m)
    for v in range(count_q):
        degenerate |= labels_q[v] != masks_q[v]
    _by_label(masks_p, count_p, used, m)
    bases, lexicographic = _pair_bases(masks_p, count_p, masks_q, table_q, (m, n))
    pairs = bases
    count = lexicographic
    if degenerate:
        low_n = (1 << n) - 1
        low_m = (1 << m) - 1
        for v in range(count_q):
            labels_q[v] = ((labels_q[v] & low_n) << m) | (labels_q[v] >> n)
        first_p = _first_alike(labels_p, low_m)
        first_q = _first_alike(labels_q, low_n << m)
        full = (1 << (m + n)) - 1
        pairs, count = _pair_points(labels_p, labels_q, first_p, first_q, full)
    side = m + n
    out = np.zeros((count + lexicographic, 2 * side + 2))
    columns = np.arange(n)
    worst = 0.0
    for e in range(count):
        v = pairs[e, 0]
        w = pairs[e, 1]
        _write_point(out[e], 0, raw=side, names=used, T=tableaus_p[v], order=order_p[v])
        _write_point(
            out[e],
            m,
            raw=side + m,
            names=columns,
            T=tableaus_q[w],
            order=order_q[w],
        )
        out[e, 2 * side] = v
        out[e, 2 * side + 1] = w
        worst = max(worst, measure_pair_regret(MP, MQ, out[e], range_a, range_b))
    for k in range(lexicographic):
        v = bases[k, 0]
        w = bases[k, 1]
        out[count + k, 0] = first_p[v] if degenerate else v
        out[count + k, 1] = first_q[w] if degenerate else w
        out[count + k, 2] = masks_p[v]
    if count > 1:
        sort_rows(out, count, side)
    return count, lexicographic, True, degenerate, worst, out


@njit(cache=True, error_model="numpy")
def _write_pair(
    out: Floats,
    MP: Floats,
    MQ: Floats,
    mask_p: int,
    mask_q: int,
    used: Ints,
) -> None:
    """Write the equilibrium of two vertices, as `_write_point` does.

    The vertices are given by the variables that are zero there.
    """
    m, n = MQ.shape
    side = m + n
    x = np.empty(used.shape[0])
    y = np.empty(n)
    solve_vertex(MP, mask_p, x)
    solve_vertex(MQ, mask_q, y)
    total_x = x.sum()
    total_y = y.sum()
    for k in range(used.shape[0]):
        out[side + used[k]] = x[k]
        out[used[k]] = x[k] / total_x
    for j in range(n):
        out[side + m + j] = y[j]
        out[m + j] = y[j] / total_y


@njit(cache=True, error_model="numpy")
def _pair_by_walk(MP: Floats, MQ: Floats) -> tuple[int, int, bool, bool, float, Floats]:
    """Do the work of `extreme_pairs` in floating point, for payoffs in [1, 2].

    The payoffs must be nowhere close to a tie.
    """
    m, n = MQ.shape
    side = m + n
    count_q, masks_q = walk_vertices(MQ)
    if count_q < 0:
        return count_q, 0, False, False, 0.0, MP
    used = _used_rows(masks_q, count_q, m, n)
    MU = MP if used.shape[0] == m else MP[:, used].copy()
    count_p, masks_p = walk_vertices(MU)
    if count_p < 0:
        return count_p, 0, False, False, 0.0, MP
    table = new_table(count_q)
    for w in range(count_q):
        table[find_slot(table, masks_q, masks_q[w])] = w + 1
    labels = masks_p[:count_p].copy()
    _by_label(labels, count_p, used, m)
    pairs, count = _pair_bases(labels, count_p, masks_q, table, (m, n))
    out = np.zeros((2 * count, 2 * side + 2))
    worst = 0.0
    for e in range(count):
        v = pairs[e, 0]
        w = pairs[e, 1]
        _write_pair(out[e], MU, MQ=MQ, mask_p=masks_p[v], mask_q=masks_q[w], used=used)
        out[e, 2 * side] = v
        out[e, 2 * side + 1] = w
        worst = max(worst, measure_pair_regret(MP, MQ, out[e], 1.0, 1.0))
        out[count + e, 0] = v
        out[count + e, 1] = w
        out[count + e, 2] = labels[v]
    if count > 1:
        sort_rows(out, count, side)
    return count, count, False, False, worst, out


@njit(cache=True, error_model="numpy", nogil=True)
def extreme_pairs(payoffs: Floats) -> tuple[int, int, bool, bool, float, Floats]:
    """Find all extreme equilibria of a bimatrix game of shape (2, m, n) with m + n <= 52.

    Returns (count, bases, exact, degenerate, regret, table). Count is the number of equilibria,
    DOUBT or TOO_MANY. Row e < count of the table is an equilibrium: x, y, both unscaled, and the
    numbers of both vertices (equal numbers are the same vertex). `bases` rows follow, one for every
    equilibrium of the lexicographically perturbed game: the numbers of both vertices and the mask
    of the basis of the first.
    """
    _, m, n = payoffs.shape
    low_a, unit_a, range_a = _span(payoffs[0])
    low_b, unit_b, range_b = _span(payoffs[1])
    order = max(min(m, n + 1), min(n, m + 1))
    largest = _minor_bound(max(range_a, range_b) + 1.0, order)
    exact = unit_a > 0.0 and unit_b > 0.0 and largest < _EXACT_LIMIT
    if not exact:
        unit_a = range_a or 1.0
        unit_b = range_b or 1.0
    MP = np.empty((n, m))
    MQ = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            MQ[i, j] = (payoffs[0, i, j] - low_a) / unit_a + 1.0
            MP[j, i] = (payoffs[1, i, j] - low_b) / unit_b + 1.0
    if not exact:
        return _pair_by_walk(MP, MQ)
    return _pair_exactly(MP, MQ, range_a or 1.0, range_b or 1.0)
