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


@njit(cache=True, error_model="numpy")
def _leaving_row(T: Any, R: int, C: int, pos: Any, c: int, D: float, exact: bool) -> int:
    """The row that leaves when column c enters; -1 if there is none, -2 if floating point cannot tell."""
    best = -1
    least = 0.0 if exact else 1e-11
    for i in range(R):
        p = T[i, c]
        if p <= least:
            continue
        if best < 0:
            best = i
            continue
        q = T[best, c]
        cross = T[i, C] * q - T[best, C] * p
        if not exact:
            if abs(cross) <= _NEAR * p * q:
                return -2
        else:
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
    if best >= 0 and not exact and T[best, c] < _SMALL_PIVOT:
        return -2
    return best


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _pivot_float(S: Any, T: Any, R: int, C: int, r: int, c: int) -> float:
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
    return 1.0


@njit(cache=True, error_model="numpy")
def _pivot_exact(S: Any, T: Any, R: int, C: int, r: int, c: int, D: float) -> Any:
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
    return p


@njit(cache=True, inline="always")
def _slot(keys: Any, mask: int) -> Any:
    """Where `mask` is, or belongs, in the open-addressed table of masks + 1 (0 = free)."""
    size = keys.shape[0]
    at = (mask * 0x9E3779B97F4A7C1) >> 11 & (size - 1)
    while keys[at] != 0 and keys[at] != mask + 1:
        at = (at + 1) & (size - 1)
    return at


@njit(cache=True)
def _table_size(capacity: int) -> int:
    size = 16
    while size < 3 * capacity:
        size *= 2
    return size


@njit(cache=True, error_model="numpy")
def _vertices(M: Any, exact: bool, capacity: int) -> Any:
    """All vertices of {z >= 0, Mz <= 1}: (count, bases as bit masks, labels, points, hash keys, hash values).

    Variable j < C is z_j, variable C + i the slack of row i; a mask holds the nonbasic variables, `labels` also the
    basic ones that are zero. Points are scaled by an arbitrary positive factor.
    """
    R, C = M.shape
    size = _table_size(capacity)
    keys = np.zeros(size, np.int64)
    at_slot = np.empty(size, np.int32)
    tableaus = np.empty((capacity, R, C + 1))
    basic = np.empty((capacity, R), np.int8)
    nonbasic = np.empty((capacity, C), np.int8)
    scale = np.empty(capacity)
    masks = np.empty(capacity, np.int64)
    labels = np.empty(capacity, np.int64)
    points = np.zeros((capacity, C))
    pos = np.empty(R + C, np.int64)
    for i in range(R):
        for j in range(C):
            tableaus[0, i, j] = M[i, j]
        tableaus[0, i, C] = 1.0
        basic[0, i] = C + i
    for j in range(C):
        nonbasic[0, j] = j
    masks[0] = (1 << C) - 1
    scale[0] = 1.0
    slot = _slot(keys, masks[0])
    keys[slot] = masks[0] + 1
    at_slot[slot] = 0
    count, head = 1, 0
    while head < count:
        T = tableaus[head]
        D = scale[head]
        mask = masks[head]
        for j in range(C):
            pos[nonbasic[head, j]] = -1 - j
        label = mask
        for i in range(R):
            v = basic[head, i]
            pos[v] = i
            if T[i, C] <= (0.0 if exact else _NEAR):
                if not exact:
                    return DOUBT, masks, labels, points, keys, at_slot
                label |= 1 << v
            elif v < C:
                points[head, v] = T[i, C]
        labels[head] = label
        for c in range(C):
            r = _leaving_row(T, R, C, pos, c, D, exact)
            if r < 0:
                return DOUBT, masks, labels, points, keys, at_slot
            entering, leaving = nonbasic[head, c], basic[head, r]
            new = (mask & ~(1 << entering)) | (1 << leaving)
            slot = _slot(keys, new)
            if keys[slot] != 0:
                continue
            if count >= capacity:
                return DOUBT, masks, labels, points, keys, at_slot
            keys[slot] = new + 1
            at_slot[slot] = count
            if exact:
                scale[count] = _pivot_exact(T, tableaus[count], R, C, r, c, D)
            else:
                scale[count] = _pivot_float(T, tableaus[count], R, C, r, c)
            for i in range(R):
                basic[count, i] = basic[head, i]
            for j in range(C):
                nonbasic[count, j] = nonbasic[head, j]
            basic[count, r] = entering
            nonbasic[count, c] = leaving
            masks[count] = new
            count += 1
        head += 1
    return count, masks, labels, points, keys, at_slot


@njit(cache=True)
def _distinct(labels: Any, count: int, origin: int) -> Any:
    """ids[k]: the first vertex with the labels of vertex k, or -1 for the origin, which is no strategy."""
    ids = np.empty(count, np.int64)
    keys = np.zeros(_table_size(count), np.int64)
    first = np.empty(keys.shape[0], np.int64)
    for k in range(count):
        if labels[k] & origin == origin:
            ids[k] = -1
            continue
        slot = _slot(keys, labels[k])
        if keys[slot] == 0:
            keys[slot] = labels[k] + 1
            first[slot] = k
        ids[k] = first[slot]
    return ids


@njit(cache=True)
def _grown(pairs: Any) -> Any:
    larger = np.empty((2 * pairs.shape[0], pairs.shape[1]), np.int64)
    larger[: pairs.shape[0]] = pairs
    return larger


@njit(cache=True, error_model="numpy")
def _normalised(points: Any, pairs: Any, count: int, column: int) -> tuple[Any, Any]:
    raw = np.empty((count, points.shape[1]))
    unit = np.empty((count, points.shape[1]))
    for e in range(count):
        total = 0.0
        for j in range(points.shape[1]):
            raw[e, j] = points[pairs[e, column], j]
            total += raw[e, j]
        for j in range(points.shape[1]):
            unit[e, j] = raw[e, j] / total
    return raw, unit


@njit(cache=True, error_model="numpy")
def _largest_regret(payoffs: Any, X: Any, Y: Any) -> float:
    _, m, n = payoffs.shape
    worst = 0.0
    for e in range(X.shape[0]):
        best, mean = -np.inf, 0.0
        for i in range(m):
            u = 0.0
            for j in range(n):
                u += payoffs[0, i, j] * Y[e, j]
            best = max(best, u)
            mean += X[e, i] * u
        worst = max(worst, best - mean)
        best, mean = -np.inf, 0.0
        for j in range(n):
            u = 0.0
            for i in range(m):
                u += payoffs[1, i, j] * X[e, i]
            best = max(best, u)
            mean += Y[e, j] * u
        worst = max(worst, best - mean)
    return worst


@njit(cache=True, error_model="numpy")
def extreme_pairs(payoffs: Any, capacity_p: int, capacity_q: int) -> Any:
    """All extreme equilibria of a bimatrix game of shape (2, m, n), m + n <= 62.

    Returns (status, exact, degenerate, regret, pairs, bases, raw_x, raw_y, X, Y). Status is the number of equilibria
    or DOUBT. `pairs[e]` names the vertices of equilibrium e (equal numbers are the same vertex); `bases[k]` =
    (vertex of P, vertex of Q, nonbasic mask in P) of every equilibrium of the lexicographically perturbed game.
    """
    _, m, n = payoffs.shape
    low_a, unit_a, range_a = _span(payoffs[0])
    low_b, unit_b, range_b = _span(payoffs[1])
    order = max(min(m, n + 1), min(n, m + 1))
    largest = max(range_a, range_b) + 1.0
    exact = unit_a > 0.0 and unit_b > 0.0 and _minor_bound(largest, order) < _EXACT_LIMIT
    if not exact:
        unit_a = range_a if range_a > 0.0 else 1.0
        unit_b = range_b if range_b > 0.0 else 1.0
    MP = np.empty((n, m))
    MQ = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            MQ[i, j] = (payoffs[0, i, j] - low_a) / unit_a + 1.0
            MP[j, i] = (payoffs[1, i, j] - low_b) / unit_b + 1.0
    pairs = np.empty((16, 2), np.int64)
    bases = np.empty((16, 3), np.int64)
    none = np.empty((0, 0))
    count_p, masks_p, labels_p, points_p, _, _ = _vertices(MP, exact, capacity_p)
    if count_p < 0:
        return DOUBT, exact, False, 0.0, pairs, bases, none, none, none, none
    count_q, masks_q, labels_q, points_q, keys, at_slot = _vertices(MQ, exact, capacity_q)
    if count_q < 0:
        return DOUBT, exact, False, 0.0, pairs, bases, none, none, none, none
    full = (1 << (m + n)) - 1
    low_n, low_m = (1 << n) - 1, (1 << m) - 1
    degenerate = False
    if exact:
        for k in range(count_p):
            degenerate |= labels_p[k] != masks_p[k]
        for k in range(count_q):
            degenerate |= labels_q[k] != masks_q[k]
            labels_q[k] = ((labels_q[k] & low_n) << m) | (labels_q[k] >> n)
    ids_p = _distinct(labels_p, count_p, low_m)
    ids_q = _distinct(labels_q, count_q, low_n << m) if degenerate else np.arange(count_q)
    lexicographic = 0
    for k in range(1, count_p):
        wanted = full ^ masks_p[k]
        slot = _slot(keys, (wanted >> m) | ((wanted & low_m) << n))
        if keys[slot] != 0 and at_slot[slot] != 0:
            if lexicographic == bases.shape[0]:
                bases = _grown(bases)
            bases[lexicographic, 0] = ids_p[k]
            bases[lexicographic, 1] = ids_q[at_slot[slot]]
            bases[lexicographic, 2] = masks_p[k]
            lexicographic += 1
    count = 0
    if not degenerate:
        count = lexicographic
        pairs = bases[:, :2]
    else:
        for k in range(count_p):
            if ids_p[k] != k:
                continue
            for h in range(count_q):
                if ids_q[h] == h and labels_p[k] | labels_q[h] == full:
                    if count == pairs.shape[0]:
                        pairs = _grown(pairs)
                    pairs[count, 0] = k
                    pairs[count, 1] = h
                    count += 1
    raw_x, X = _normalised(points_p, pairs, count, 0)
    raw_y, Y = _normalised(points_q, pairs, count, 1)
    regret = _largest_regret(payoffs, X, Y)
    return count, exact, degenerate, regret, pairs[:count], bases[:lexicographic], raw_x, raw_y, X, Y
