"""All Nash equilibria of a two-player game, with the components that degenerate games have instead of single points.

A bimatrix game is degenerate when some mixed strategy has more pure best responses than it has actions in its
support; only then can there be infinitely many equilibria. Their set is always the union of finitely many polytopes,
whose corners, the extreme equilibria, are enumerated here (von Stengel 2002, Handbook of Game Theory 3).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bestresponse.theory.equilibria.components import Edge, connected, indices, maximal_subsets
from bestresponse.theory.equilibria.evolutionary import evolutionarily_stable, is_symmetric_bimatrix
from bestresponse.theory.equilibria.extremes import Extremes, extreme_equilibria, most_vertices, require_two_players
from bestresponse.theory.equilibria.result import Component, Equilibrium, NashResult, NashSubset
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["bimatrix_nash"]

_EXACT_VERTICES = 1500
_TIE = 1e-9


def bimatrix_nash(game: NormalForm, *, compiled: bool = False) -> NashResult:
    """Every equilibrium of a two-player game: the extreme ones, and the components they span.

    Pure equilibria come first, then mixed ones by the size of their supports. Integer payoffs up to about 8x8 give
    exact fractions. `compiled` loads the compiled enumeration whatever the size, worth it before many small games.
    """
    require_two_players(game, "bimatrix_nash")
    whole = bool((game.payoffs == np.rint(game.payoffs)).all())
    extremes = extreme_equilibria(game, exact=whole and _few_vertices(game), compiled=compiled)
    edges = extremes.pairs()
    index_at = indices(game, extremes.bases(), extremes.exact)
    parts = connected(edges) if extremes.degenerate else [[edge] for edge in edges]
    alone = {part[0]: index_at.get(part[0], 0) for part in parts if len(part) == 1}
    described = _described(game, extremes, [alone.get(edge) for edge in edges])
    ordered = sorted(zip(edges, described, strict=True), key=lambda pair: _reading_order(pair[1]))
    found = dict(ordered)
    rank = {edge: k for k, (edge, _) in enumerate(ordered)}
    parts = sorted((sorted(part, key=rank.__getitem__) for part in parts), key=lambda part: rank[part[0]])
    components = tuple(_component(part, found, index_at) for part in parts)
    return NashResult(tuple(found.values()), components, extremes.degenerate, True, extremes.method)


def _described(game: NormalForm, extremes: Extremes, index: list[int | None]) -> list[Equilibrium]:
    """All equilibria with their payoffs, regrets and stability, worked out together."""
    x, y = extremes.x, extremes.y
    row, col = game.payoffs
    earned = (y @ row.T, x @ col)
    best = tuple(values.max(axis=1) for values in earned)
    payoffs = np.stack([(earned[0] * x).sum(axis=1), (earned[1] * y).sum(axis=1)], axis=1)
    regrets = np.maximum(np.maximum(best[0] - payoffs[:, 0], best[1] - payoffs[:, 1]), 0.0)
    slack = (_TIE * float(np.ptp(row)), _TIE * float(np.ptp(col)))
    single = [(values >= top[:, None] - s).sum(axis=1) == 1 for values, top, s in zip(earned, best, slack, strict=True)]
    strict = single[0] & single[1]
    stable = _stability(game, x, y)
    return [
        Equilibrium(
            (x[e], y[e]), payoffs[e], float(regrets[e]), bool(strict[e]), index[e], stable[e], _fractions(extremes, e)
        )
        for e in range(len(x))
    ]


def _stability(game: NormalForm, x: Array, y: Array) -> list[bool | None]:
    """Evolutionary stability of the symmetric equilibria of a symmetric game; None for everything else."""
    if not is_symmetric_bimatrix(game):
        return [None] * len(x)
    same = np.abs(x - y).max(axis=1) <= 1e-12
    return [evolutionarily_stable(game.payoffs[0], x[e]) if same[e] else None for e in range(len(x))]


def _few_vertices(game: NormalForm) -> bool:
    """Up to about 8x8, integers of any length take a fraction of a second."""
    m, n = game.shape
    return most_vertices(m, m + n) + most_vertices(n, m + n) <= _EXACT_VERTICES


def _fractions(extremes: Extremes, e: int) -> tuple[tuple[Fraction, ...], ...] | None:
    if not extremes.exact:
        return None
    return tuple(tuple(Fraction(value, sum(row)) for value in row) for row in extremes.numerators(e))


def _reading_order(e: Equilibrium) -> tuple[int, tuple[tuple[float, ...], ...]]:
    size = sum(len(support) for support in e.supports)
    return size, tuple(tuple((-x).tolist()) for x in e.strategies)


def _component(part: list[Edge], found: dict[Edge, Equilibrium], index_at: dict[Edge, int]) -> Component:
    """The component of these equilibria, which come in reading order."""
    members = tuple(found[edge] for edge in part)
    index = sum(index_at.get(edge, 0) for edge in part)
    if len(part) == 1:
        x, y = members[0].strategies
        return Component(members, (NashSubset(x[None, :], y[None, :]),), index)
    x_of = {k: found[k, h].strategies[0] for k, h in part}
    y_of = {h: found[k, h].strategies[1] for k, h in part}
    subsets = tuple(
        NashSubset(np.stack([x_of[k] for k in xs]), np.stack([y_of[h] for h in ys])) for xs, ys in maximal_subsets(part)
    )
    return Component(members, subsets, index)
