"""How the extreme equilibria of a degenerate bimatrix game hang together.

They form Nash subsets and components, which have an index.

Join a vertex x of one best-response polytope to a vertex y of the other when (x, y) is an
equilibrium. The maximal complete bipartite subgraphs are the maximal Nash subsets, the connected
parts are the components of the set of equilibria (Winkels 1979; Avis, Rosenberg, Savani and von
Stengel 2010, Economic Theory 42).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bestresponse.theory.arrays import find_range
from bestresponse.theory.equilibria.integer import determinant_sign, whole_matrix
from bestresponse.theory.games.normal_form import NormalForm

Edge = tuple[int, int]
"""An equilibrium by the numbers of its two vertices."""


def group_connected(edges: Sequence[Edge]) -> list[list[Edge]]:
    """Group the edges into connected parts, in order of first appearance.

    >>> group_connected([(0, 0), (1, 1), (0, 2)])
    [[(0, 0), (0, 2)], [(1, 1)]]
    """
    parts: list[list[Edge]] = []
    for edge in edges:
        joined: list[Edge] = []
        apart: list[list[Edge]] = []
        for part in parts:
            firsts, seconds = zip(*part, strict=True)
            if edge[0] in firsts or edge[1] in seconds:
                joined += part
            else:
                apart.append(part)
        parts = [*apart, [*joined, edge]]
    order = {edge: place for place, edge in enumerate(edges)}
    in_order = [sorted(part, key=order.__getitem__) for part in parts]
    return sorted(in_order, key=lambda part: order[part[0]])


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
    subsets = []
    for shared in closed:
        joined = [x for x, ys in neighbours.items() if shared <= ys]
        subsets.append((tuple(sorted(joined)), tuple(sorted(shared))))
    return sorted(subsets)


def compute_indices(
    game: NormalForm,
    bases: Iterable[Sequence[int]],
    exact: bool,
) -> dict[Edge, int]:
    """Compute the index of each equilibrium of the perturbed game.

    Indices are summed by the extreme equilibrium they are close to.

    With positive payoffs and supports I, J of size k it is (-1)**(k + 1) * sign(det A_IJ * det
    B_IJ) (Shapley 1974).
    """
    m, n = game.shape
    matrices: list[Any] = []
    for player in (0, 1):
        if exact:
            matrices.append(whole_matrix(game, player))
        else:
            table = game.payoffs[player]
            payoff_range = find_range(table)
            shifted = table - table.min()
            matrices.append(shifted / payoff_range + 1.0)

    def find_sign(player: int, rows: list[int], columns: list[int]) -> int:
        part = [[matrices[player][i][j] for j in columns] for i in rows]
        if exact:
            return determinant_sign(part)
        return int(np.sign(np.linalg.det(part)))

    indices: dict[Edge, int] = {}
    for x, y, mask in bases:
        rows = [i for i in range(m) if not mask >> i & 1]
        columns = [j for j in range(n) if mask >> (m + j) & 1]
        parity = (-1) ** (len(rows) + 1)
        sign = parity * find_sign(0, rows, columns) * find_sign(1, rows, columns)
        edge = (int(x), int(y))
        indices[edge] = indices.get(edge, 0) + sign
    return indices
