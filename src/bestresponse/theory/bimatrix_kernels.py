"""Compiled enumeration of the vertices of both best-response polytopes of a bimatrix game, and their matching.

Polytopes (von Stengel 2002): P = {x >= 0, B'x <= 1}, Q = {y >= 0, Ay <= 1} after shifting payoffs to be positive.
A pair of vertices is an equilibrium when together they carry every label. All vertices are reached by pivoting along
edges; the lexicographic ratio rule makes the polytopes simple, so degenerate games cannot cycle or hide a vertex.

Two modes share the code. Small integer payoffs: fraction-free pivoting on whole numbers below 2**53, hence exact.
Everything else: floating point, and the kernel gives up (status DOUBT) as soon as a comparison is close to a tie, so
that the caller can decide it with integers of any length. This module imports numba; load it only when it pays.
"""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["DOUBT", "extreme_pairs"]

DOUBT = -1
_NEAR = 1e-9
_SMALL_PIVOT = 1e-7
_EXACT_LIMIT = 9.0e7  # a determinant below this may be multiplied by another one without leaving 2**53


@njit(cache=True, error_model="numpy")
def _minor_bound(largest: float, order: int) -> Any:
    """No minor of that order of a matrix with entries in [0, largest] is larger (Hadamard)."""
    return largest**order * (order + 1.0) ** (0.5 * (order + 1)) / 2.0**order


@njit(cache=True, error_model="numpy")
def _span(payoff: Any) -> tuple[float, float, float]:
    """(smallest payoff, unit, range in units); unit is the greatest common divisor of integer payoffs, else 0."""
    low, high = payoff[0, 0], payoff[0, 0]
    for value in payoff.flat:
        low = min(low, value)
        high = max(high, value)
    if high - low > 4e9 or abs(low) > 4e15:
        return low, 0.0, high - low
    unit = np.int64(0)
    for value in payoff.flat:
        if value != np.floor(value):
            return low, 0.0, high - low
        other = np.int64(value - low)
        while other:
            unit, other = other, unit % other
    if unit == 0:
        unit = np.int64(1)
    return low, float(unit), (high - low) / float(unit)


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def _leaving_float(T: Any, R: int, C: int, leaving: Any, best: Any, second: Any) -> bool:
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
def _leaving_exact(T: Any, R: int, C: int, leaving: Any, pos: Any, D: float) -> None:
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
def _pivot_float(S: Any, T: Any, R: int, C: int, r: int, c: int) -> None:
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
def _pivot_exact(S: Any, T: Any, R: int, C: int, r: int, c: int, D: float) -> None:
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
    """The upper bound theorem, as in `bimatrix_extremes.most_vertices`."""
    half, rest = dimension // 2, (dimension + 1) // 2
    first, second = 1, 1
    for k in range(half):
        first = first * (facets - rest - k) // (k + 1)
    for k in range(rest - 1):
        second = second * (facets - half - 1 - k) // (k + 1)
    return first + second


@njit(cache=True)
def _slot(table: Any, masks: Any, mask: int) -> Any:
    """Where the number of the vertex with that mask is, or belongs, in the open-addressed table (0 = free)."""
    size = table.shape[0]
    at = (mask * 0x9E3779B97F4A7C1) >> 11 & (size - 1)
    while table[at] != 0 and masks[table[at] - 1] != mask:
        at = (at + 1) & (size - 1)
    return at


@njit(cache=True)
def _table(capacity: int) -> Any:
    size = 16
    while size < 2 * capacity:
        size *= 2
    return np.zeros(size, np.int32)


@njit(cache=True, error_model="numpy")
def _vertices(M: Any, exact: bool) -> Any:
    """All vertices of {z >= 0, Mz <= 1}: (count or DOUBT, masks, tableaus, order, table).

    Variable j < C is z_j, variable C + i the slack of row i. masks[v] has a bit for every nonbasic variable,
    order[v] are the basic variables by row and then the nonbasic ones by column.
    """
    R, C = M.shape
    capacity = _most_vertices(C, R + C)
    table = _table(capacity)
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
    table[_slot(table, masks, masks[0])] = 1
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
            slot = _slot(table, masks, new)
            if table[slot] != 0:
                continue
            if count >= capacity:
                return DOUBT, masks, tableaus, order, table
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


@njit(cache=True)
def _labels(count: int, masks: Any, tableaus: Any, order: Any) -> Any:
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
def _used_rows(masks_q: Any, count: int, m: int, n: int) -> Any:
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
def _by_label(masks: Any, count: int, used: Any, m: int) -> None:
    """Renumber variables of the polytope of x over the used rows: row i becomes bit i, the others are always zero."""
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
def _first_alike(labels: Any, origin: int) -> Any:
    """For each vertex the first with the same labels, or -1 for the origin, which is no strategy."""
    first = np.empty(labels.shape[0], np.int64)
    table = _table(labels.shape[0])
    for v in range(labels.shape[0]):
        if labels[v] & origin == origin:
            first[v] = -1
            continue
        slot = _slot(table, labels, labels[v])
        if table[slot] == 0:
            table[slot] = v + 1
        first[v] = table[slot] - 1
    return first


@njit(cache=True, error_model="numpy")
def _write_point(out: Any, at: int, raw: int, names: Any, T: Any, order: Any) -> None:
    """The point of a vertex, unscaled from out[raw] on and with sum 1 from out[at] on; names[j] is z_j's action."""
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
def _regret(MP: Any, MQ: Any, out: Any, range_a: float, range_b: float) -> float:
    """The larger of both players' regrets, each as a share of its payoff range."""
    m, n = MQ.shape
    best, mean = -np.inf, 0.0
    for i in range(m):
        u = 0.0
        for j in range(n):
            u += MQ[i, j] * out[m + j]
        best = max(best, u)
        mean += out[i] * u
    worst = (best - mean) / range_a
    best, mean = -np.inf, 0.0
    for j in range(n):
        u = 0.0
        for i in range(m):
            u += MP[j, i] * out[i]
        best = max(best, u)
        mean += out[m + j] * u
    return max(worst, (best - mean) / range_b)


@njit(cache=True)
def _grown(rows: Any) -> Any:
    larger = np.empty((2 * rows.shape[0], rows.shape[1]), np.int64)
    larger[: rows.shape[0]] = rows
    return larger


@njit(cache=True, error_model="numpy")
def _rounded_span(span: float) -> float:
    return span if span > 0.0 else 1.0


@njit(cache=True, error_model="numpy")
def extreme_pairs(payoffs: Any) -> Any:
    """All extreme equilibria of a bimatrix game of shape (2, m, n) with m + n <= 52.

    Returns (count, bases, exact, degenerate, regret, table). Count is the number of equilibria or DOUBT. Row e <
    count of the table is an equilibrium: x, y, both unscaled, and the numbers of both vertices (equal numbers are the
    same vertex). `bases` rows follow, one for every equilibrium of the lexicographically perturbed game: the numbers
    of both vertices and the mask of the basis of the first.
    """
    _, m, n = payoffs.shape
    low_a, unit_a, range_a = _span(payoffs[0])
    low_b, unit_b, range_b = _span(payoffs[1])
    order = max(min(m, n + 1), min(n, m + 1))
    exact = unit_a > 0.0 and unit_b > 0.0 and _minor_bound(max(range_a, range_b) + 1.0, order) < _EXACT_LIMIT
    if not exact:
        unit_a, unit_b = _rounded_span(range_a), _rounded_span(range_b)
        range_a, range_b = 1.0, 1.0
    MP = np.empty((n, m))
    MQ = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            MQ[i, j] = (payoffs[0, i, j] - low_a) / unit_a + 1.0
            MP[j, i] = (payoffs[1, i, j] - low_b) / unit_b + 1.0
    count_q, masks_q, tableaus_q, order_q, table_q = _vertices(MQ, exact)
    if count_q < 0:
        return DOUBT, 0, exact, False, 0.0, MP
    labels_q = _labels(count_q, masks_q, tableaus_q, order_q) if exact else masks_q
    used = _used_rows(labels_q, count_q, m, n)
    count_p, masks_p, tableaus_p, order_p, _ = _vertices(MP if used.shape[0] == m else MP[:, used], exact)
    if count_p < 0:
        return DOUBT, 0, exact, False, 0.0, MP
    full, low_n, low_m = (1 << (m + n)) - 1, (1 << n) - 1, (1 << m) - 1
    degenerate = False
    first_p, first_q = masks_p, masks_q
    bases = np.empty((8, 2), np.int64)
    pairs = bases
    count = 0
    if exact:
        labels_p = _labels(count_p, masks_p, tableaus_p, order_p)
        for v in range(count_p):
            degenerate |= labels_p[v] != masks_p[v]
        _by_label(labels_p, count_p, used, m)
        for v in range(count_q):
            degenerate |= labels_q[v] != masks_q[v]
        if degenerate:
            pairs = np.empty((8, 2), np.int64)
            for v in range(count_q):
                labels_q[v] = ((labels_q[v] & low_n) << m) | (labels_q[v] >> n)
            first_p, first_q = _first_alike(labels_p, low_m), _first_alike(labels_q, low_n << m)
            for v in range(count_p):
                for w in range(count_q if first_p[v] == v else 0):
                    if first_q[w] == w and labels_p[v] | labels_q[w] == full:
                        if count == pairs.shape[0]:
                            pairs = _grown(pairs)
                        pairs[count, 0] = v
                        pairs[count, 1] = w
                        count += 1
    _by_label(masks_p, count_p, used, m)
    lexicographic = 0
    for v in range(1, count_p):
        wanted = full ^ masks_p[v]
        w = table_q[_slot(table_q, masks_q, (wanted >> m) | ((wanted & low_m) << n))] - 1
        if w > 0:
            if lexicographic == bases.shape[0]:
                bases = _grown(bases)
            bases[lexicographic, 0] = v
            bases[lexicographic, 1] = w
            lexicographic += 1
    if not degenerate:
        pairs, count = bases, lexicographic
    side = m + n
    out = np.zeros((count + lexicographic, 2 * side + 2))
    columns = np.arange(n)
    worst = 0.0
    for e in range(count):
        v, w = pairs[e, 0], pairs[e, 1]
        _write_point(out[e], 0, side, used, tableaus_p[v], order_p[v])
        _write_point(out[e], m, side + m, columns, tableaus_q[w], order_q[w])
        out[e, 2 * side] = v
        out[e, 2 * side + 1] = w
        worst = max(worst, _regret(MP, MQ, out[e], _rounded_span(range_a), _rounded_span(range_b)))
    for k in range(lexicographic):
        v, w = bases[k, 0], bases[k, 1]
        out[count + k, 0] = first_p[v] if degenerate else v
        out[count + k, 1] = first_q[w] if degenerate else w
        out[count + k, 2] = masks_p[v]
    return count, lexicographic, exact, degenerate, worst, out
