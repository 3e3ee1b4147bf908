"""How the extreme equilibria of a degenerate bimatrix game hang together: Nash subsets, components and their index.

Join a vertex x of one best-response polytope to a vertex y of the other when (x, y) is an equilibrium. The maximal
complete bipartite subgraphs are the maximal Nash subsets, the connected parts are the components of the set of
equilibria (Winkels 1979; Avis, Rosenberg, Savani and von Stengel 2010, Economic Theory 42).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bestresponse.theory.equilibria.integer import determinant_sign, whole_matrix
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["Edge", "compute_indices", "find_maximal_subsets", "group_connected"]

Edge = tuple[int, int]


def group_connected(edges: Sequence[Edge]) -> list[list[Edge]]:
    """Group the edges into connected parts, in order of first appearance.

    >>> group_connected([(0, 0), (1, 1), (0, 2)])
    [[(0, 0), (0, 2)], [(1, 1)]]
    """
    parts: list[tuple[set[int], set[int], list[Edge]]] = []
    for x, y in edges:
        touching = [part for part in parts if x in part[0] or y in part[1]]
        merged: tuple[set[int], set[int], list[Edge]] = ({x}, {y}, [])
        for part in touching:
            merged[0].update(part[0])
            merged[1].update(part[1])
            merged[2].extend(part[2])
        merged[2].append((x, y))
        at = parts.index(touching[0]) if touching else len(parts)
        parts = [part for part in parts if part not in touching]
        parts.insert(at, merged)
    order = {edge: k for k, edge in enumerate(edges)}
    return [sorted(part[2], key=order.__getitem__) for part in parts]


def find_maximal_subsets(edges: Iterable[Edge]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Find all maximal complete bipartite subgraphs, as (x vertices, y vertices).

    >>> find_maximal_subsets([(0, 0), (0, 1), (1, 1)])
    [((0,), (0, 1)), ((0, 1), (1,))]
    """
    neighbours: dict[int, frozenset[int]] = {}
    for x, y in edges:
        neighbours[x] = neighbours.get(x, frozenset()) | {y}
    closed: set[frozenset[int]] = set()
    for shared in neighbours.values():
        closed |= {shared & other for other in closed} | {shared}
    closed.discard(frozenset())
    subsets = [(tuple(sorted(x for x, ys in neighbours.items() if shared <= ys)), shared) for shared in closed]
    return sorted((xs, tuple(sorted(ys))) for xs, ys in subsets)


def compute_indices(game: NormalForm, bases: Iterable[Sequence[int]], exact: bool) -> dict[Edge, int]:
    """Compute the index of each equilibrium of the perturbed game, summed by the extreme equilibrium it is close to.

    With positive payoffs and supports I, J of size k it is (-1)**(k + 1) * sign(det A_IJ * det B_IJ) (Shapley 1974).
    """
    m, n = game.shape
    signs = [_make_sign(game, player, exact) for player in (0, 1)]
    found: dict[Edge, int] = {}
    for x, y, mask in bases:
        rows = [i for i in range(m) if not mask >> i & 1]
        columns = [j for j in range(n) if mask >> (m + j) & 1]
        sign = (-1) ** (len(rows) + 1) * signs[0].of(rows, columns) * signs[1].of(rows, columns)
        edge = (int(x), int(y))
        found[edge] = found.get(edge, 0) + sign
    return found


class _ExactSign:
    def __init__(self, game: NormalForm, player: int) -> None:
        self._whole = whole_matrix(game, player)

    def of(self, rows: list[int], columns: list[int]) -> int:
        return determinant_sign([[self._whole[i][j] for j in columns] for i in rows])


class _FloatSign:
    def __init__(self, game: NormalForm, player: int) -> None:
        payoff = game.payoffs[player]
        self._positive = (payoff - payoff.min()) / (float(np.ptp(payoff)) or 1.0) + 1.0

    def of(self, rows: list[int], columns: list[int]) -> int:
        if len(rows) == 1:
            return 1
        return int(np.sign(np.linalg.det(self._positive[rows][:, columns])))


def _make_sign(game: NormalForm, player: int, exact: bool) -> _ExactSign | _FloatSign:
    return _ExactSign(game, player) if exact else _FloatSign(game, player)
