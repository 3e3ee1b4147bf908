"""Solve a game in normal form and gather what else is known of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from bestresponse import theory
from bestresponse.analysis.solve.solution import TABLE_METHODS, SolvedTable, Value, Wish
from bestresponse.core.errors import NotCertified, SettingError, TooLarge
from bestresponse.theory.engines import has_numba
from bestresponse.theory.equilibria.extremes import most_vertices
from bestresponse.theory.equilibria.result import Equilibrium, NashResult, pure_nash
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.classification import has_constant_sum
from bestresponse.theory.games.normal_form import NormalForm

if TYPE_CHECKING:
    from bestresponse.theory.correlation.equilibria import Objective

_VERTICES = 30_000
"""The most of both polytopes: above, enumerating them takes longer than a user waits unasked."""
_COMPILED_VERTICES = 15_000_000
"""The same where the enumeration is compiled: two to five seconds, because games have a tenth of them."""
_CELLS = 20_000
"""From here on only equilibria and the value are looked for; `pareto_optimal` compares as many cells."""
_ACTIONS = 200
"""The same for the actions of one player: each is compared with every other."""
_LABELS = 60
"""Of Lemke-Howson: up to this many, a path from each; above, one path."""
_PURE_LISTED = 10_000


def solve_table(game: NormalForm, wish: Wish | None = None) -> SolvedTable:
    """Everything about `game` that its size allows."""
    wish = wish or Wish()
    small = int(np.prod(game.shape)) <= _CELLS and max(game.shape) <= _ACTIONS
    left = theory.iterated_elimination(game) if small else None
    found = find_equilibria(game, wish)
    if left is not None and left.solved and not found.complete:
        found = NashResult(found.equilibria, f"{found.method}; unique by iterated elimination", complete=True)
    remarks = []
    if not found.equilibria:
        remarks.append("no pure equilibrium exists; a mixed one does (Nash 1951): use another method")
    if wish.method == "auto" and game.num_players == 2 and not found.complete:
        remarks.append("the method enumeration looks for all of them, which may take long")
    if not small:
        remarks.append(f"dominance, efficiency and kind are left out above {_CELLS:,} cells or {_ACTIONS} actions")
    return SolvedTable(
        game=game,
        nash=found,
        value=_find_value(game, found) if is_constant_sum(game) else None,
        kind=theory.classify(game) if small else None,
        security=tuple(theory.maximin(game, player) for player in range(game.num_players)) if small else None,
        dominated=theory.find_dominated(game) if small else None,
        elimination=left,
        efficiency=theory.efficiency(game, found) if small and found.equilibria else None,
        pareto=theory.pareto_optimal(game) if small else None,
        payoff_dominant=theory.payoff_dominant(found),
        risk_dominant=theory.risk_dominant(game) if game.num_players == 2 and small else None,
        correlated=theory.correlated(game, cast("Objective", wish.objective)) if wish.objective else None,
        remarks=tuple(remarks),
    )


def find_equilibria(game: NormalForm, wish: Wish) -> NashResult:
    """The equilibria by the method wished; SettingError where it is not for such a game."""
    method = wish.method
    if method not in ("auto", *TABLE_METHODS):
        raise SettingError("method", f"{method} solves trees; for a table use auto, {', '.join(TABLE_METHODS)}")
    if method in ("lemke-howson", "zero-sum", "double-oracle") and game.num_players != 2:
        raise SettingError("method", f"{method} is for two players; this game has {game.num_players}")
    if method in ("zero-sum", "double-oracle") and not is_constant_sum(game):
        raise SettingError("method", f"{method} is for games where one player's gain is the other's loss; this is none")
    if wish.engine != "auto" and method not in ("auto", "enumeration"):
        raise SettingError("engine", f"{wish.engine!r} is for enumeration; the method {method} has only one")
    match method:
        case "enumeration":
            return nash(game, engine=wish.engine, seconds=wish.seconds, report=wish.report)
        case "lemke-howson":
            return _by_paths(game)
        case "zero-sum":
            return _optimal_pair(game)
        case "pure":
            return _pure(game)
        case "double-oracle":
            return _search_replies(game, wish.report)
        case _:
            return _whatever_fits(game, wish)


def _whatever_fits(game: NormalForm, wish: Wish) -> NashResult:
    if game.num_players == 2:
        m, n = game.shape
        if max(m, n) <= _ACTIONS and most_vertices(m, m + n) + most_vertices(n, m + n) <= (
            _COMPILED_VERTICES if has_numba() else _VERTICES
        ):
            with suppress(TooLarge):
                return nash(game, engine=wish.engine)
        return _optimal_pair(game) if is_constant_sum(game) else _by_paths(game)
    try:
        return nash(game, engine=wish.engine, seconds=wish.seconds, report=wish.report)
    except (TooLarge, NotCertified):
        only_pure = _pure(game)
        if not only_pure.equilibria:
            raise
        return only_pure


def is_constant_sum(game: NormalForm) -> bool:
    """Say whether two players' payoffs have the same sum in every cell."""
    return game.num_players == 2 and has_constant_sum(game)


def _pure(game: NormalForm) -> NashResult:
    cells = pure_nash(game)
    if len(cells) > _PURE_LISTED:
        raise TooLarge(f"the game has {len(cells):,} pure equilibria; more than {_PURE_LISTED:,} are not listed")
    equilibria = []
    for cell in cells:
        exact = tuple(
            tuple(Fraction(a == chosen) for a in range(m)) for chosen, m in zip(cell, game.shape, strict=True)
        )
        equilibria.append(Equilibrium.at(game, tuple(np.array(mix, dtype=np.float64) for mix in exact), exact))
    return NashResult(tuple(equilibria), "pure strategies only", all_pure=True, mixed_searched=False)


def _by_paths(game: NormalForm) -> NashResult:
    """The ends of Lemke-Howson's paths, and the pure equilibria they miss."""
    few = sum(game.shape) <= _LABELS
    ends = theory.lemke_howson_all(game) if few else (theory.lemke_howson(game),)
    pure = _pure(game).equilibria
    mixed = tuple(e for e in ends if e.kind == "mixed")
    paths = "from every label" if few else "from the first label"
    return NashResult((*pure, *mixed), f"pure strategies and Lemke-Howson {paths}", all_pure=True)


def _optimal_pair(game: NormalForm) -> NashResult:
    solved = theory.solve_zero_sum_game(game.payoffs[0])
    pair = Equilibrium.at(game, (np.array(solved.row), np.array(solved.col)))
    return NashResult((pair,), f"zero-sum, {solved.step.name.lower().replace('_', ' ')}")


def _search_replies(game: NormalForm, report: Callable[[str], None] | None) -> NashResult:
    """One optimal pair by a double oracle, as good as its regret."""
    listen = None if report is None else lambda bounds: report(str(bounds))
    found = theory.search_matrix(game.payoffs[0], report=listen)
    mixes = tuple(np.zeros(m) for m in game.shape)
    for mix, part in zip(mixes, (found.first, found.second), strict=True):
        for p, action in part:
            mix[action] += p
    return NashResult((Equilibrium.at(game, mixes),), f"double oracle, {found.bounds.steps:,} steps")


def _find_value(game: NormalForm, found: NashResult) -> Value:
    if game.payoffs[0].size > _CELLS and found.equilibria:  # any equilibrium earns the value, up to both regrets
        e = found.equilibria[0]
        return Value(float(e.payoffs[0]), None, game.players[0], 2 * e.regret)
    level = theory.maximin(game, 0)
    at_equilibrium = (payoffs[0] for e in found.equilibria if (payoffs := e.exact_payoffs) is not None)
    exact = level.exact[0] if level.exact is not None else next(at_equilibrium, None)
    return Value(level.value if exact is None else float(exact), exact, game.players[0], level.gap)
