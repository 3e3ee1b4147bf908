"""Compiled search for all extreme equilibria of a bimatrix game: vertices of both polytopes,
matched by labels.

Polytopes (von Stengel 2002): P = {x >= 0, B'x <= 1}, Q = {y >= 0, Ay <= 1} after shifting payoffs
to be positive. A pair of vertices is an equilibrium when together they carry every label: an
action's label is carried where it is not played or is a best reply. Small integer payoffs are
handled exactly, others in floating point without close ties. This module imports numba; load it
only when it pays.

All equilibria of one 3x3 bimatrix game in closed form, compiled; the general enumeration where a
tie is too close.

A vertex of a best-response polytope is a mixture over as many actions of one player as it leaves
best replies of the other. On 3x3 there are 19 pairs of supports of equal size; each gives one
candidate per player by Cramer's rule, and an equilibrium where both are vertices. A candidate that
is neither clearly one nor clearly none, as every degenerate vertex is, and payoffs in whole numbers
leave the game to `extreme_pairs`. Imports numba; load it only when it pays.

Compiled enumeration of the vertices of a best-response polytope, in floating point and in whole
numbers.

Compiled enumeration of the vertices of one best-response polytope {z >= 0, Mz <= 1}, M positive, in
floating point.

Reverse search (Avis and Fukuda 1992): the paths that the simplex method with the most negative
reduced cost takes from all vertices to the origin form a tree, which is walked from its root
without remembering where one has been. Only the tableaus on the way to the present vertex are kept,
and one mask of bits for every vertex. The walk gives up (DOUBT) as soon as a comparison is close to
a tie. It also proves that nothing was left out as far as that can be counted: the vertices of a
simple polytope with k of d edges going up are as many as those with d - k (Dehn and Sommerville).

D. Avis and K. Fukuda, "A pivoting algorithm for convex hulls and vertex enumeration of arrangements
and polyhedra", Discrete & Computational Geometry 8, 1992.

Compiled enumeration of the vertices of one best-response polytope {z >= 0, Mz <= 1}, M positive, in
whole numbers.

All vertices are reached by pivoting along edges. Below 2**53 this is fraction-free, hence exact;
ties are broken by the lexicographic rule, which makes the polytope simple, so that degenerate games
cannot cycle or hide a vertex.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints, Numbers, Shorts

DOUBT = -1
TOO_MANY = -2
_FIRST_LEVELS = 16  # room is doubled when it is full
_FIRST_ROOM = 256
_MOST_VERTICES = 2**26  # half a GiB of masks
_NEAR = 1e-9  # far above rounding: whatever is closer to a tie is left to whole numbers
_SMALL_PIVOT = 1e-7  # dividing by less would multiply rounding errors beyond `_NEAR`


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def _find_leaving(T: Floats, R: int, C: int, leaving: Ints, best: Floats, second: Floats) -> bool:
    """Into leaving[c] the row that leaves when column c enters, for all c; False if a tie is too
    close to call."""
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
    """Whether the simplex method comes back from the vertex behind column c: 1, 0, or DOUBT near a
    tie."""
    up = T[R, c]
    pivot = T[r, c]
    if up <= 0.0:
        return 0
    for j in range(C):
        if j != c:
            lead = T[R, j] * pivot + up * (1.0 - T[r, j])
            if lead <= _NEAR * up:
                return 0 if lead < -_NEAR * up else DOUBT
    return 1


@njit(cache=True)
def enlarge(array: Numbers, room: int) -> Numbers:
    """Copy an array into one with room for more rows."""
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True, error_model="numpy")
def _lay_root(M: Floats, T: Floats) -> None:
    """Write the tableau of the origin, with costs whose optimum it is and that no two vertices
    should share."""
    R, C = M.shape
    for i in range(R):
        for j in range(C):
            T[i, j] = M[i, j]
        T[i, C] = 1.0
    for j in range(C):
        T[R, j] = 1.0 + (0.6180339887498949 * (j + 1)) % 1.0
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
    steps = np.empty(
        (_FIRST_LEVELS, C + 2), np.int64
    )  # leaving rows, the next column, the column taken
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
            if not _find_leaving(T, R, C=C, leaving=step, best=rates[0], second=rates[1]):
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
    """Write the vertex with that mask into `point`, solved afresh by elimination with pivots from
    the whole column."""
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


_MOST_NUMBERS = 2**27  # in the tableaus of one polytope: 1 GiB


@njit(cache=True, error_model="numpy")
def _find_leaving_exactly(T: Floats, R: int, C: int, leaving: Ints, pos: Ints, D: float) -> None:
    """Into leaving[c] the row that leaves when column c enters, for all c; pos[v] is v's row, or -1
    - its column."""
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
def _pivot_exactly(S: Floats, T: Floats, R: int, C: int, r: int, c: int, D: float) -> None:
    """Fraction-free: the tableau times the determinant of its basis stays in whole numbers (Bareiss
    1968)."""
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
    """Say where the number of the vertex with that mask is, or belongs, in the open-addressed table
    (0 = free)."""
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

    Variable j < C is z_j, variable C + i the slack of row i. masks[v] has a bit for every nonbasic
    variable, order[v] are the basic variables by row and then the nonbasic ones by column.
    """
    R, C = M.shape
    room = _FIRST_ROOM
    table = new_table(room)
    tableaus = np.empty((room, R, C + 1))
    order = np.empty((room, R + C), np.int8)
    masks = np.empty(room, np.int64)
    scale = np.empty(room)
    spots = np.empty(R + 2 * C, np.int64)
    leaving = spots[:C]
    pos = spots[C:]
    tableaus[0, :, :C] = M
    tableaus[0, :, C] = 1.0
    order[0, :R] = np.arange(C, R + C)
    order[0, R:] = np.arange(C)
    masks[0] = (1 << C) - 1
    scale[0] = 1.0
    table[find_slot(table, masks, masks[0])] = 1
    count = 1
    head = 0
    while head < count:
        T = tableaus[head]
        for i in range(R):
            pos[order[head, i]] = i
        for j in range(C):
            pos[order[head, R + j]] = -1 - j
        _find_leaving_exactly(T, R, C=C, leaving=leaving, pos=pos, D=scale[head])
        for c in range(C):
            r = leaving[c]
            entering = order[head, R + c]
            leaver = order[head, r]
            new = (masks[head] & ~(1 << entering)) | (1 << leaver)
            slot = find_slot(table, masks, new)
            if table[slot] != 0:
                continue
            if count == room:
                room *= 2
                if room * R * (C + 1) > _MOST_NUMBERS:
                    return TOO_MANY, masks, tableaus, order, table
                tableaus = enlarge(tableaus, room)
                order = enlarge(order, room)
                masks = enlarge(masks, room)
                scale = enlarge(scale, room)
                table = new_table(room)
                for v in range(count):
                    table[find_slot(table, masks, masks[v])] = v + 1
                slot = find_slot(table, masks, new)
                T = tableaus[head]
            _pivot_exactly(T, tableaus[count], R=R, C=C, r=r, c=c, D=scale[head])
            scale[count] = T[r, c]
            order[count] = order[head]
            order[count, r] = entering
            order[count, R + c] = leaver
            masks[count] = new
            count += 1
            table[slot] = count
        head += 1
    return count, masks, tableaus, order, table


_EXACT_LIMIT = (
    9.0e7  # a determinant below this may be multiplied by another one without leaving 2**53
)


@njit(cache=True, error_model="numpy")
def _minor_bound(largest: float, order: int) -> float:
    """No minor of that order of a matrix with entries in [0, largest] is larger (Hadamard)."""
    return float(largest**order * (order + 1.0) ** (0.5 * (order + 1)) / 2.0**order)


@njit(cache=True, error_model="numpy")
def _span(payoff: Floats) -> tuple[float, float, float]:
    """(smallest payoff, unit, range in units); unit is the greatest common divisor of integer
    payoffs, else 0."""
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
    """Renumber variables of the polytope of x over the used rows: row i becomes bit i, the others
    are always zero."""
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
    """For each vertex the first with the same labels, or -1 for the origin, which is no
    strategy."""
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
def _write_point(out: Floats, at: int, raw: int, names: Ints, T: Floats, order: Ints) -> None:
    """The point of a vertex, unscaled from out[raw] on and with sum 1 from out[at] on; names[j] is
    z_j's action."""
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
def _measure_regret(MP: Floats, MQ: Floats, out: Floats, range_a: float, range_b: float) -> float:
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
    """Whether row a is read before row b: smaller supports first, then more on the first
    actions."""
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
    """Put the first `count` rows, equilibria with their strategies in the first `side` columns, in
    reading order."""
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
def _pair_points(
    labels_p: Ints, labels_q: Ints, first_p: Ints, first_q: Ints, full: int
) -> tuple[Ints, int]:
    """Find the pairs of different points that have all labels together, and their number; `first_p`
    and `first_q` give the first vertex that is the same point."""
    pairs = np.empty((8, 2), np.int64)
    count = 0
    for v in range(labels_p.shape[0]):
        if first_p[v] != v:
            continue
        for w in range(labels_q.shape[0]):
            if first_q[w] == w and labels_p[v] | labels_q[w] == full:
                if count == pairs.shape[0]:
                    pairs = enlarge(pairs, 2 * count)
                pairs[count, 0] = v
                pairs[count, 1] = w
                count += 1
    return pairs, count


@njit(cache=True)
def _pair_bases(
    masks_p: Ints, count_p: int, masks_q: Ints, table_q: Shorts, shape: tuple[int, int]
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
            if count == pairs.shape[0]:
                pairs = enlarge(pairs, 2 * count)
            pairs[count, 0] = v
            pairs[count, 1] = w
            count += 1
    return pairs, count


@njit(cache=True, error_model="numpy")
def _pair_exactly(
    MP: Floats, MQ: Floats, range_a: float, range_b: float
) -> tuple[int, int, bool, bool, float, Floats]:
    """Do the work of `extreme_pairs` for small whole payoffs of at least 1, degenerate games
    included."""
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
        _write_point(out[e], m, raw=side + m, names=columns, T=tableaus_q[w], order=order_q[w])
        out[e, 2 * side] = v
        out[e, 2 * side + 1] = w
        worst = max(worst, _measure_regret(MP, MQ, out[e], range_a, range_b))
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
def _write_pair(out: Floats, MP: Floats, MQ: Floats, mask_p: int, mask_q: int, used: Ints) -> None:
    """Write the equilibrium of two vertices, given by the variables that are zero there, as
    `_write_point` does."""
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
    """Do the work of `extreme_pairs` in floating point, for payoffs in [1, 2] that are nowhere
    close to a tie."""
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
        worst = max(worst, _measure_regret(MP, MQ, out[e], 1.0, 1.0))
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


_SINGULAR = 1e-6  # a smaller determinant lets rounding grow beyond _NEAR
_NO = 0
_YES = 1
_DOUBT = -1


@njit(cache=True)
def _others(k: int) -> tuple[int, int]:
    return (k + 1 if k < 2 else 0), (k - 1 if k > 0 else 2)


@njit(cache=True, error_model="numpy")
def _pure(M: Floats, i: int, j: int) -> int:
    """Whether action i is the only best reply to j."""
    k, r = _others(i)
    lead = M[i, j] - max(M[k, j], M[r, j])
    return _YES if lead > _NEAR else (_NO if lead < -_NEAR else _DOUBT)


@njit(cache=True, error_model="numpy")
def _pair(M: Floats, r: int, c: int, z: Floats) -> int:
    """Whether all actions but r are the best replies to a mixture z of all but c, which is
    written."""
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
    if lead > _NEAR:
        return _YES
    return _NO if lead < -_NEAR else _DOUBT


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
    return _YES if least > _NEAR else (_NO if least < -_NEAR else _DOUBT)


@njit(cache=True, error_model="numpy")
def _scaled(payoffs: Floats, M: Floats) -> bool:
    """Both payoffs into [0, 1], the second transposed, so that the replying action comes first;
    False if not to do."""
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
        worst = max(worst, _measure_regret(M[1], M[0], out[e], 1.0, 1.0))
    if count > 1:
        sort_rows(out, count, 6)
    return count, count, False, False, worst, out
