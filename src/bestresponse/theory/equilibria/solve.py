"""Nash equilibria of a game in normal form, whatever its number of players.

All Nash equilibria of a two-player game, with the components that degenerate games have instead of single points.

A bimatrix game is degenerate when some mixed strategy has more pure best responses than it has actions in its
support; only then can there be infinitely many equilibria. Their set is always the union of finitely many polytopes,
whose corners, the extreme equilibria, are enumerated here (von Stengel 2002, Handbook of Game Theory 3).

How the extreme equilibria of a degenerate bimatrix game hang together: Nash subsets, components and their index.

Join a vertex x of one best-response polytope to a vertex y of the other when (x, y) is an equilibrium. The maximal
complete bipartite subgraphs are the maximal Nash subsets, the connected parts are the components of the set of
equilibria (Winkels 1979; Avis, Rosenberg, Savani and von Stengel 2010, Economic Theory 42).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.engines import ChosenEngine, Engine
from bestresponse.theory.equilibria.extremes import Extremes, extreme_equilibria, most_vertices
from bestresponse.theory.equilibria.integer import determinant_sign, vertices, whole_matrix
from bestresponse.theory.equilibria.lemke_howson import lemke_howson
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.many_players.search import OneMethod, nplayer_nash, nplayer_nash_one
from bestresponse.theory.equilibria.result import Component, Equilibrium, Fractions, NashResult, NashSubset, pure_nash
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_normal_form
from bestresponse.theory.games.regrets import Profile

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
    if exact:
        matrices: list[Any] = [whole_matrix(game, player) for player in (0, 1)]
    else:
        matrices = [(own - own.min()) / (float(np.ptp(own)) or 1.0) + 1.0 for own in game.payoffs]

    def find_sign(player: int, rows: list[int], columns: list[int]) -> int:
        part = [[matrices[player][i][j] for j in columns] for i in rows]
        return determinant_sign(part) if exact else int(np.sign(np.linalg.det(part)))

    indices: dict[Edge, int] = {}
    for x, y, mask in bases:
        rows = [i for i in range(m) if not mask >> i & 1]
        columns = [j for j in range(n) if mask >> (m + j) & 1]
        sign = (-1) ** (len(rows) + 1) * find_sign(0, rows, columns) * find_sign(1, rows, columns)
        edge = (int(x), int(y))
        indices[edge] = indices.get(edge, 0) + sign
    return indices


_EXACT_VERTICES = 1500


def solve_bimatrix(game: NormalForm, *, engine: Engine = "auto") -> NashResult:
    """Find every equilibrium of a two-player game: the extreme ones, and the components they span.

    Pure equilibria come first, then mixed ones by the size of their supports. Integers, fractions and
    decimals up to about 8x8 give exact fractions.
    """
    exact = game.is_exact
    if exact:
        m, n = game.shape
        # Integers of any length take a fraction of a second then, as they do up to about 8x8.
        exact = most_vertices(m, m + n) + most_vertices(n, m + n) <= _EXACT_VERTICES
    extremes = extreme_equilibria(game, exact=exact, engine=engine)
    source = Enumeration(game, extremes)
    equilibria = tuple([Equilibrium(game, source, number) for number in range(extremes.num_equilibria)])
    used: ChosenEngine = "numpy" if extremes.in_integers else "numba"
    return NashResult(equilibria, extremes.method, True, extremes.degenerate, source, engine=used)


@dataclass(eq=False)
class Enumeration:
    """The extreme equilibria of a game, and what follows from them."""

    game: NormalForm
    extremes: Extremes

    @cached_property
    def edges(self) -> list[Edge]:
        """The numbers of both vertices of every extreme equilibrium."""
        return self.extremes.pairs()

    @cached_property
    def indices(self) -> dict[Edge, int]:
        """The indices of the equilibria of the perturbed game, by the extreme one they are close to."""
        return compute_indices(self.game, self.extremes.bases(), self.extremes.exact or self.extremes.in_integers)

    @cached_property
    def parts(self) -> list[list[Edge]]:
        """The edges of each component, both in reading order."""
        return group_connected(self.edges) if self.extremes.degenerate else [[edge] for edge in self.edges]

    @cached_property
    def isolated(self) -> frozenset[Edge]:
        """The equilibria that are components of their own."""
        return frozenset(part[0] for part in self.parts if len(part) == 1)

    def find_degenerate(self) -> bool:
        """Say whether some strategy has too many best replies, one of actions that are never best replies included.

        The enumeration leaves those actions out, and larger games are not looked through a second time for them.
        """
        m, n = self.game.shape
        if self.extremes.degenerate or most_vertices(m, m + n) > _EXACT_VERTICES:
            return self.extremes.degenerate
        column = whole_matrix(self.game, 1)
        corners = vertices([[column[i][j] for i in range(m)] for j in range(n)])
        return any(vertex.basis != vertex.zeros for vertex in corners)

    def find_strategies(self, number: int) -> Profile:
        """Give the mixed strategy of every player."""
        return self.extremes.strategies_at(number)

    def find_index(self, number: int) -> int | None:
        """Compute the index, or None where the equilibrium is not isolated."""
        edge = self.edges[number]
        return self.indices.get(edge, 0) if edge in self.isolated else None

    def find_continuum(self, number: int) -> bool:
        """Say whether the equilibrium is one of a continuum."""
        return self.edges[number] not in self.isolated

    def find_fractions(self, number: int) -> Fractions | None:
        """Give the strategies as fractions, or None where floating point was used."""
        if not self.extremes.exact:
            return None
        return tuple(tuple(Fraction(value, sum(row)) for value in row) for row in self.extremes.numerators(number))

    def build_components(self, equilibria: tuple[Equilibrium, ...]) -> tuple[Component, ...]:
        """Group the equilibria into connected components."""
        found = dict(zip(self.edges, equilibria, strict=True))
        return tuple(self._build_component(part, found) for part in self.parts)

    def _build_component(self, part: list[Edge], found: dict[Edge, Equilibrium]) -> Component:
        members = tuple(found[edge] for edge in part)
        index = sum(self.indices.get(edge, 0) for edge in part)
        x = {k: found[k, h].strategies[0] for k, h in part}
        y = {h: found[k, h].strategies[1] for k, h in part}
        subsets = tuple(
            NashSubset(np.stack([x[k] for k in xs]), np.stack([y[h] for h in ys]))
            for xs, ys in find_maximal_subsets(part)
        )
        return Component(members, subsets, index)


def nash(
    game: GameLike,
    col: ArrayLike | None = None,
    *,
    engine: Engine = "auto",
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
) -> NashResult:
    """Find the Nash equilibria of `game`, each with payoffs, supports, regret, index and stability.

    `game` is a NormalForm, or payoffs: `nash(row, col)` with two matrices, or one nested list with a table per player.

    Two players: all of them, exactly for integer payoffs, with the components that degenerate games have. Raises
    TooLarge for games that may have too many vertices to enumerate. `engine` says
    whether the enumeration is compiled (see `engines`). More players: all pure ones, and mixed ones for as long as
    `seconds`, telling `report` how many there are so far; regular games are usually solved completely, and `complete`
    says so (see `many_players`). One player: its best actions.

    >>> for e in nash([[0, 7], [2, 6]], [[0, 2], [7, 6]]).equilibria:
    ...     print(e.kind, e.supports, e.payoffs.round(3).tolist(), e.stability)
    pure ((0,), (1,)) [7.0, 2.0] strict, index +1
    pure ((1,), (0,)) [2.0, 7.0] strict, index +1
    mixed ((0, 1), (0, 1)) [4.667, 4.667] evolutionarily stable, index -1
    """
    form = as_normal_form(game, col)
    if form.num_players == 2:
        return solve_bimatrix(form, engine=engine)
    return nplayer_nash(form, engine=engine, seconds=seconds, report=report)


def nash_one(game: GameLike, col: ArrayLike | None = None, *, method: OneMethod = "auto") -> Equilibrium:
    """Find one Nash equilibrium: the first pure one if there is one, else by Lemke-Howson or logit tracing.

    With more than two players `method` "logit" asks for what tracing leads to, whether there is a pure one or not.

    >>> nash_one([[1, -1], [-1, 1]], [[-1, 1], [1, -1]]).strategies[0].tolist()
    [0.5, 0.5]
    """
    form = as_normal_form(game, col)
    if form.num_players != 2:
        return nplayer_nash_one(form, method)
    if method != "auto":
        raise UsageError(f"method {method!r} is for more than two players; lemke_howson finds one of two")
    pure = pure_nash(form, tolerance=0.0)
    if not pure:
        return lemke_howson(form)
    return Equilibrium.at(form, tuple(np.eye(m)[a] for m, a in zip(form.shape, pure[0], strict=True)))
