"""Compiled search for all equilibria of a nondegenerate bimatrix game: vertices of both polytopes, matched by labels.

Polytopes (von Stengel 2002): P = {x >= 0, B'x <= 1}, Q = {y >= 0, Ay <= 1} after scaling payoffs to be positive. A pair
of vertices is an equilibrium when together they carry every label: an action's label is carried where it is not played
or is a best reply. Everything is in floating point and gives up (DOUBT) as soon as a comparison is close to a tie, as
every degenerate game has one. This module imports numba; load it only when it pays.

Vertices are found by reverse search (Avis and Fukuda 1992): the paths that the simplex method with the most negative
reduced cost takes from all vertices to the origin form a tree, which is walked from its root without remembering where
one has been. Only the tableaus on the way to the present vertex are kept, and one mask of bits for every vertex. The
walk also proves that nothing was left out as far as that can be counted: the vertices of a simple polytope with k of d
edges going up are as many as those with d - k (Dehn and Sommerville).

A 3x3 game is solved in closed form: a vertex is a mixture over as many actions of one player as it leaves best replies
of the other. There are 19 pairs of supports of equal size; each gives one candidate per player by Cramer's rule, and an
equilibrium where both are vertices. A candidate that is neither clearly one nor clearly none is a doubt as well.

D. Avis and K. Fukuda, "A pivoting algorithm for convex hulls and vertex enumeration of arrangements and polyhedra",
Discrete & Computational Geometry 8, 1992.
"""

from typing import Any

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints
from bestresponse.theory.equilibria.lemke_howson_kernels import measure_regret

DOUBT = -1
TOO_MANY = -2
_FIRST_LEVELS = 16
_FIRST_ROOM = 256
_MOST_VERTICES = 2**26
_NEAR = 1e-9
_SMALL_PIVOT = 1e-7
_UNSCALED = (0.0, 1.0)  # what to take off payoffs and multiply them with


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def _find_leaving(T: Floats, R: int, C: int, leaving: Ints, best: Floats, second: Floats) -> bool:
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
    """Whether the simplex method comes back from the vertex behind column c: 1, 0, or DOUBT near a tie."""
    up, pivot = T[R, c], T[r, c]
    if up <= 0.0:
        return 0
    for j in range(C):
        if j != c:
            lead = T[R, j] * pivot + up * (1.0 - T[r, j])
            if lead <= _NEAR * up:
                return 0 if lead < -_NEAR * up else DOUBT
    return 1


@njit(cache=True)
def enlarge(array: Any, room: int) -> Any:
    """Copy an array into one with room for more rows."""
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True)
def _exchange(order: Ints, a: int, b: int) -> int:
    """Exchange two variables, and return the bits of both."""
    first, second = order[a], order[b]
    order[a], order[b] = second, first
    return int((1 << first) | (1 << second))


@njit(cache=True, error_model="numpy")
def walk_vertices(M: Floats) -> tuple[int, Ints]:
    """Find all vertices of {z >= 0, Mz <= 1}: (count, DOUBT or TOO_MANY; masks).

    Variable j < C is z_j, variable C + i the slack of row i; masks[v] has a bit for every variable that is zero.
    """
    R, C = M.shape
    tableaus = np.empty((_FIRST_LEVELS, R + 1, C + 1))
    steps = np.empty((_FIRST_LEVELS, C + 2), np.int64)  # leaving rows, the next column, the column taken
    masks = np.empty(_FIRST_ROOM, np.int64)
    order = np.empty(R + C, np.int64)  # the basic variables by row, then the others by column
    order[:R], order[R:] = np.arange(C, R + C), np.arange(C)
    rates = np.empty((2, C))
    ups = np.zeros(C + 1, np.int64)
    # The tableau of the origin, with costs whose optimum it is and that no two vertices should share.
    tableaus[0, :R, :C], tableaus[0, :R, C], tableaus[0, R, C] = M, 1.0, 0.0
    tableaus[0, R, :C] = 1.0 + (0.6180339887498949 * np.arange(1, C + 1)) % 1.0
    mask = np.int64((1 << C) - 1)
    count, level, fresh = 0, 0, True
    while level >= 0:
        T, step = tableaus[level], steps[level]
        if fresh:
            if not _find_leaving(T, R, C, step, rates[0], rates[1]):
                return DOUBT, masks
            if count == masks.shape[0]:
                if count >= _MOST_VERTICES:
                    return TOO_MANY, masks
                masks = enlarge(masks, 2 * count)
            masks[count] = mask
            count += 1
            ups[np.sum(T[R, :C] > 0.0)] += 1
            step[C], fresh = 0, False
        c, found = step[C], 0
        while c < C and found == 0:
            found = _leads_back(T, R, C, step[c], c)
            c += 1
        if found == DOUBT:
            return DOUBT, masks
        step[C] = c
        if found == 0:
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
            tableaus, steps = enlarge(tableaus, 2 * level), enlarge(steps, 2 * level)
        _pivot(tableaus[level - 1], tableaus[level], R, C, r, c)
        mask ^= _exchange(order, r, R + c)
        fresh = True
    for k in range(C + 1):
        if ups[k] != ups[C - k]:
            return DOUBT, masks
    return count, masks


@njit(cache=True, error_model="numpy")
def solve_vertex(M: Floats, mask: int, point: Floats) -> None:
    """Write the vertex with that mask into `point`, solved afresh by elimination with pivots from the whole column."""
    R, C = M.shape
    point[:] = 0.0
    columns = np.flatnonzero((mask >> np.arange(C)) & 1 == 0)
    rows = np.flatnonzero((mask >> np.arange(C, C + R)) & 1)
    size = columns.shape[0]
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
def _used_rows(masks_q: Ints, count: int, m: int, n: int) -> Ints:
    """The rows that are a best reply to something: no other can be played in an equilibrium."""
    tight = np.int64(0)
    for v in range(count):
        tight |= masks_q[v] >> n
    return np.flatnonzero((tight >> np.arange(m)) & 1)


@njit(cache=True)
def _by_label(masks: Ints, count: int, used: Ints, m: int) -> None:
    """Renumber variables of the polytope of x over the used rows: row i becomes bit i, the others are always zero."""
    size = used.shape[0]
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
def _is_before(out: Floats, a: int, b: int, side: int) -> bool:
    """Whether row a is read before row b: smaller supports first, then more on the first actions."""
    size_a, size_b = 0, 0
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
def sort_rows(out: Floats, side: int) -> Floats:
    """Put equilibria, with their strategies in the first `side` columns, in reading order."""
    order = np.arange(out.shape[0])
    for k in range(1, out.shape[0]):
        moved, at = order[k], k
        while at > 0 and _is_before(out, moved, order[at - 1], side):
            order[at] = order[at - 1]
            at -= 1
        order[at] = moved
    return out[order]


@njit(cache=True)
def _scale(payoff: Floats) -> Floats:
    """Bring payoffs into [1, 2]."""
    low = payoff.min()
    spread = payoff.max() - low
    scaled: Floats = (payoff - low) / (spread if spread > 0.0 else 1.0) + 1.0
    return scaled


@njit(cache=True, error_model="numpy", nogil=True)
def extreme_pairs(payoffs: Floats) -> tuple[int, float, Floats]:
    """Find all equilibria of a bimatrix game of shape (2, m, n) with m + n <= 52 that is nowhere close to a tie.

    Returns (their number, DOUBT or TOO_MANY; the largest regret as a share of the payoff range; a table). A row of the
    table is x, y, and a mask: row i's bit i is set where x does not play it, column j's bit m + j where it is a best
    reply to x.
    """
    _, m, n = payoffs.shape
    side = m + n
    MQ, MP = _scale(payoffs[0]), _scale(np.ascontiguousarray(payoffs[1].T))
    count_q, masks_q = walk_vertices(MQ)
    if count_q < 0:
        return count_q, 0.0, MP
    used = _used_rows(masks_q, count_q, m, n)
    MU = MP if used.shape[0] == m else MP[:, used].copy()
    count_p, masks_p = walk_vertices(MU)
    if count_p < 0:
        return count_p, 0.0, MP
    labels = masks_p[:count_p].copy()
    _by_label(labels, count_p, used, m)
    known = np.sort(masks_q[1:count_q])  # without the origin, which is no strategy
    pairs = np.empty((8, 2), np.int64)
    count = 0
    for v in range(1, count_p):
        wanted = ((1 << side) - 1) ^ labels[v]
        partner = (wanted >> m) | ((wanted & ((1 << m) - 1)) << n)
        at = np.searchsorted(known, partner)
        if at < known.shape[0] and known[at] == partner:
            if count == pairs.shape[0]:
                pairs = enlarge(pairs, 2 * count)
            pairs[count, 0], pairs[count, 1] = v, partner
            count += 1
    out = np.zeros((count, side + 1))
    worst = 0.0
    x, y = np.empty(used.shape[0]), np.empty(n)
    for e in range(count):
        v = pairs[e, 0]
        solve_vertex(MU, masks_p[v], x)
        solve_vertex(MQ, pairs[e, 1], y)
        row = out[e]
        row[used] = x / x.sum()
        row[m:side] = y / y.sum()
        row[side] = labels[v]
        worst = max(worst, measure_regret(MQ, row[:m], row[m:side], _UNSCALED))
        worst = max(worst, measure_regret(MP, row[m:side], row[:m], _UNSCALED))
    return count, worst, sort_rows(out, side)


_SINGULAR = 1e-6  # a smaller determinant lets rounding grow beyond _NEAR
_NO, _YES, _DOUBT = 0, 1, -1


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
    """Whether all actions but r are the best replies to a mixture z of all but c, which is written."""
    (i, k), (j, h) = _others(r), _others(c)
    a, b = M[i, j] - M[k, j], M[k, h] - M[i, h]
    if a * b <= 0.0:
        return _NO
    if abs(a + b) < _SINGULAR:
        return _DOUBT
    z[c], z[j], z[h] = 0.0, b / (a + b), a / (a + b)
    lead = z[j] * (M[i, j] - M[r, j]) + z[h] * (M[i, h] - M[r, h])
    return _YES if lead > _NEAR else (_NO if lead < -_NEAR else _DOUBT)


@njit(cache=True, error_model="numpy")
def _full(M: Floats, z: Floats) -> int:
    """Whether all three actions are best replies to a mixture z of all three, which is written."""
    total = 0.0
    for c in range(3):
        j, h = _others(c)
        z[c] = (M[0, j] - M[1, j]) * (M[1, h] - M[2, h]) - (M[0, h] - M[1, h]) * (M[1, j] - M[2, j])
        total += z[c]
    if abs(total) < _SINGULAR:
        return _DOUBT
    least = 1.0
    for c in range(3):
        z[c] /= total
        least = min(least, z[c])
    return _YES if least > _NEAR else (_NO if least < -_NEAR else _DOUBT)


@njit(cache=True, error_model="numpy")
def _search(A: Floats, B: Floats, out: Floats) -> int:
    """Write the equilibria as the first six numbers of the rows of `out`; how many, or _DOUBT."""
    count = 0
    for i in range(3):
        for j in range(3):
            first, second = _pure(A, i, j), _pure(B, j, i)
            if first == _DOUBT or second == _DOUBT:
                return _DOUBT
            if first == _YES and second == _YES:
                out[count, i] = 1.0
                out[count, 3 + j] = 1.0
                count += 1
    for r in range(3):
        for c in range(3):
            first, second = _pair(A, r, c, out[count, 3:6]), _pair(B, c, r, out[count, :3])
            if first == _DOUBT or second == _DOUBT:
                return _DOUBT
            if first == _YES and second == _YES:
                count += 1
            else:
                out[count, :6] = 0.0
    first, second = _full(A, out[count, 3:6]), _full(B, out[count, :3])
    if first == _DOUBT or second == _DOUBT:
        return _DOUBT
    if first == _YES and second == _YES:
        return count + 1
    out[count, :6] = 0.0
    return count


@njit(cache=True, error_model="numpy")
def extreme_pairs_of_three(payoffs: Floats) -> tuple[int, float, Floats]:
    """Say what `extreme_pairs` gives, for payoffs of shape (2, 3, 3)."""
    A, B = _scale(payoffs[0]), _scale(np.ascontiguousarray(payoffs[1].T))
    out = np.zeros((20, 7))
    count = _search(A, B, out)
    worst = 0.0
    for e in range(count):
        mask = 0
        for k in range(6):
            mask |= ((out[e, k] == 0.0) == (k < 3)) << k
        out[e, 6] = mask
        worst = max(worst, measure_regret(A, out[e, :3], out[e, 3:6], _UNSCALED))
        worst = max(worst, measure_regret(B, out[e, 3:6], out[e, :3], _UNSCALED))
    return count, worst, sort_rows(out[: max(count, 0)], 6)
