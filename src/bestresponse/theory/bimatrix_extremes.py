"""All extreme equilibria of a bimatrix game: the pairs of vertices of the best-response polytopes with all labels.

Every equilibrium of a nondegenerate game is extreme; in a degenerate game the equilibria are the convex combinations
of extreme ones within maximal Nash subsets (Winkels 1979; Avis, Rosenberg, Savani and von Stengel 2010).
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.bimatrix_integer import Vertex, vertices, whole_payoffs
from bestresponse.theory.normal_form import Array, NormalForm

__all__ = ["Extremes", "extreme_equilibria", "most_vertices", "require_two_players"]

_MEMORY_LIMIT = 2**30
_INTEGER_BYTES = 80
_MASK_BITS = 62
_WORTH_COMPILING = 10
_REGRET_LIMIT = 1e-9


class Extremes(NamedTuple):
    """`x[e]`, `y[e]` are the strategies of extreme equilibrium e.

    `pairs[e]` are the numbers of its two vertices. `numerators` are the strategies as whole numbers (divide by their
    sum), or None where floating point was used. `bases` has one row (vertex of x, vertex of y, nonbasic variables of
    x's polytope as bits) for every equilibrium of the lexicographically perturbed, hence nondegenerate, game.
    """

    x: Array
    y: Array
    pairs: NDArray[np.int64]
    bases: Any
    numerators: tuple[NDArray[Any], NDArray[Any]] | None
    degenerate: bool
    regret: float
    method: str


def extreme_equilibria(game: NormalForm, *, exact: bool = False) -> Extremes:
    """All extreme equilibria of a two-player game, each certified by its regret.

    Without numba, with `exact`, and for small games while numba is not loaded, integers of any length are used. The
    compiled enumeration is exact too for small integer payoffs; others it solves in floating point, and any
    comparison close to a tie makes the whole game be solved again with integers. Raises TooLarge, before memory
    goes, when the polytopes may have too many vertices: `lemke_howson` finds one equilibrium of such a game.

    >>> extreme_equilibria(NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])).x.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.667, 0.333]]
    """
    payoffs = game.payoffs
    if payoffs.shape[0] != 2:
        require_two_players(game, "extreme_equilibria")
    _, m, n = payoffs.shape
    kernel = _kernel(m + n)
    if kernel is None:
        return _by_integers(game)
    capacities = _CAPACITIES.get((m, n)) or _capacities(m, n)
    count, whole, degenerate, worst, pairs, bases, raw_x, raw_y, x, y = kernel(payoffs, *capacities)
    if count < 0 or (exact and not whole) or not (degenerate or count % 2) or worst > _REGRET_LIMIT * _range(payoffs):
        return _by_integers(game)
    if whole:
        return Extremes(x, y, pairs, bases, (raw_x, raw_y), degenerate, worst, "vertex enumeration, exact")
    return Extremes(x, y, pairs, bases, None, degenerate, worst, "vertex enumeration, floating point")


def _range(payoffs: Array) -> float:
    return float(max(np.ptp(payoffs[0]), np.ptp(payoffs[1])))


def require_two_players(game: NormalForm, what: str) -> None:
    if game.num_players != 2:
        raise InvalidGame(f"{what}: expected a game of two players, got one of {game.num_players}")


def most_vertices(dimension: int, facets: int) -> int:
    """The largest number of vertices a polytope can have (upper bound theorem, McMullen 1970).

    >>> most_vertices(6, 12)
    112
    """
    half, rest = dimension // 2, (dimension + 1) // 2
    return comb(facets - rest, half) + comb(facets - half - 1, rest - 1)


_CAPACITIES: dict[tuple[int, int], tuple[int, int]] = {}


def _capacities(m: int, n: int) -> tuple[int, int]:
    """The vertex bounds of both polytopes, once they are known to fit in memory."""
    bounds = _checked_bounds(m, n, 8)
    _CAPACITIES[m, n] = bounds
    return bounds


def _checked_bounds(m: int, n: int, bytes_a_number: int) -> tuple[int, int]:
    p, q = most_vertices(m, m + n), most_vertices(n, m + n)
    size = bytes_a_number * (p * n * (m + 1) + q * m * (n + 1))
    if size > _MEMORY_LIMIT:
        raise TooLarge(
            f"a {m}x{n} game may have {p:,} + {q:,} vertices to enumerate, about {size / 2**30:.1f} GiB "
            f"(limit {_MEMORY_LIMIT / 2**30:g} GiB); lemke_howson finds one equilibrium, pure_nash the pure ones"
        )
    return p, q


def _kernel(labels: int) -> Any:
    """The compiled enumeration, or None where it does not exist, does not fit or would not pay."""
    kernels = sys.modules.get("bestresponse.theory.bimatrix_kernels")
    if labels > _MASK_BITS:
        return None
    if kernels is not None:
        return kernels.extreme_pairs  # type: ignore[attr-defined,unused-ignore]
    if (labels <= _WORTH_COMPILING and "numba" not in sys.modules) or find_spec("numba") is None:
        return None
    from bestresponse.theory.bimatrix_kernels import extreme_pairs

    return extreme_pairs


def _by_integers(game: NormalForm) -> Extremes:
    m, n = game.shape
    _checked_bounds(m, n, _INTEGER_BYTES)
    row, column = whole_payoffs(game.payoffs[0]), whole_payoffs(game.payoffs[1])
    in_p = list(vertices([list(line) for line in zip(*column, strict=True)]))
    in_q = [_relabelled(vertex, m, n) for vertex in vertices(row)]
    ids_p, ids_q = _first_with_zeros(in_p, (1 << m) - 1), _first_with_zeros(in_q, (1 << n) - 1 << m)
    pairs = _matched(in_p, in_q, ids_p, ids_q, (1 << m + n) - 1)
    basis_of = {vertex.basis: k for k, vertex in enumerate(in_q)}
    bases = []
    for k, vertex in enumerate(in_p):
        partner = basis_of.get((1 << m + n) - 1 ^ vertex.basis)
        if partner:
            bases.append((ids_p[k], ids_q[partner], vertex.basis))
    numerators = (
        np.array([in_p[k].point for k, _ in pairs], dtype=object),
        np.array([in_q[h].point for _, h in pairs], dtype=object),
    )
    x, y = (_unit(points) for points in numerators)
    degenerate = any(vertex.basis != vertex.zeros for vertex in (*in_p, *in_q))
    worst = _largest_regret(game, x, y)
    index = np.array(pairs, dtype=np.int64)
    return Extremes(x, y, index, bases, numerators, degenerate, worst, "vertex enumeration, exact")


def _relabelled(vertex: Vertex, m: int, n: int) -> Vertex:
    """A vertex of y's polytope, its variables (y first, slacks second) renumbered by label (rows first)."""
    low = (1 << n) - 1

    def turned(mask: int) -> int:
        return (mask & low) << m | mask >> n

    return Vertex(turned(vertex.basis), turned(vertex.zeros), vertex.point)


def _first_with_zeros(found: list[Vertex], origin: int) -> list[int]:
    first: dict[int, int] = {}
    return [-1 if v.zeros & origin == origin else first.setdefault(v.zeros, k) for k, v in enumerate(found)]


def _matched(
    in_p: list[Vertex], in_q: list[Vertex], ids_p: list[int], ids_q: list[int], full: int
) -> list[tuple[int, int]]:
    ends_p = [k for k, first in enumerate(ids_p) if first == k]
    ends_q = [h for h, first in enumerate(ids_q) if first == h]
    return [(k, h) for k in ends_p for h in ends_q if in_p[k].zeros | in_q[h].zeros == full]


def _unit(points: NDArray[Any]) -> Array:
    rows = [[value / sum(row) for value in row] for row in points]
    return np.array(rows, dtype=np.float64).reshape(points.shape)


def _largest_regret(game: NormalForm, x: Array, y: Array) -> float:
    row, column = y @ game.payoffs[0].T, x @ game.payoffs[1]
    gains = np.maximum(row.max(axis=1) - (row * x).sum(axis=1), column.max(axis=1) - (column * y).sum(axis=1))
    return float(max(gains.max(), 0.0))
