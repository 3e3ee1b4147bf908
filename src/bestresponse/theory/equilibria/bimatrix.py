"""All Nash equilibria of a two-player game, with the components that degenerate games have instead of single points.

A bimatrix game is degenerate when some mixed strategy has more pure best responses than it has actions in its
support; only then can there be infinitely many equilibria. Their set is always the union of finitely many polytopes,
whose corners, the extreme equilibria, are enumerated here (von Stengel 2002, Handbook of Game Theory 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.components import Edge, compute_indices, find_maximal_subsets, group_connected
from bestresponse.theory.equilibria.extremes import Extremes, extreme_equilibria, most_vertices
from bestresponse.theory.equilibria.result import Component, Equilibrium, Fractions, NashResult, NashSubset
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import Profile

__all__ = ["solve_bimatrix"]

_EXACT_VERTICES = 1500


def solve_bimatrix(game: NormalForm, *, engine: Engine = "auto") -> NashResult:
    """Find every equilibrium of a two-player game: the extreme ones, and the components they span.

    Pure equilibria come first, then mixed ones by the size of their supports. Integers, fractions and
    decimals up to about 8x8 give exact fractions.
    """
    extremes = extreme_equilibria(game, exact=game.is_exact and _has_few_vertices(game), engine=engine)
    source = _Enumeration(game, extremes)
    equilibria = tuple([Equilibrium(game, source, number) for number in range(extremes.num_equilibria)])
    return NashResult(equilibria, extremes.method, True, extremes.degenerate, source)


def _has_few_vertices(game: NormalForm) -> bool:
    """Say whether integers of any length take a fraction of a second, as they do up to about 8x8."""
    m, n = game.shape
    return most_vertices(m, m + n) + most_vertices(n, m + n) <= _EXACT_VERTICES


@dataclass(eq=False)
class _Enumeration:
    """The extreme equilibria of a game, and what follows from them."""

    game: NormalForm
    extremes: Extremes

    @cached_property
    def edges(self) -> list[Edge]:
        return self.extremes.pairs()

    @cached_property
    def indices(self) -> dict[Edge, int]:
        return compute_indices(self.game, self.extremes.bases(), self.extremes.exact or self.extremes.in_integers)

    @cached_property
    def parts(self) -> list[list[Edge]]:
        """The edges of each component, both in reading order."""
        return group_connected(self.edges) if self.extremes.degenerate else [[edge] for edge in self.edges]

    @cached_property
    def isolated(self) -> frozenset[Edge]:
        return frozenset(part[0] for part in self.parts if len(part) == 1)

    def find_strategies(self, number: int) -> Profile:
        return self.extremes.strategies_at(number)

    def find_index(self, number: int) -> int | None:
        edge = self.edges[number]
        return self.indices.get(edge, 0) if edge in self.isolated else None

    def find_continuum(self, number: int) -> bool:
        return self.edges[number] not in self.isolated

    def find_fractions(self, number: int) -> Fractions | None:
        if not self.extremes.exact:
            return None
        return tuple(tuple(Fraction(value, sum(row)) for value in row) for row in self.extremes.numerators(number))

    def build_components(self, equilibria: tuple[Equilibrium, ...]) -> tuple[Component, ...]:
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
