"""Solve a game that was found, whatever its form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Wish
from bestresponse.analysis.solve.tables import solve_table
from bestresponse.analysis.solve.trees import solve_any_tree
from bestresponse.core.errors import InvalidGame, SettingError
from bestresponse.games.lookup import Found
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.sequence_form import has_perfect_recall
from bestresponse.theory.trees.tree import Tree

_LARGEST = 1e100
_FORGETS = (
    "Somebody forgets. These are the equilibria in plans: a mixture of plans is drawn before the play, which a player "
    "who draws move by move and forgets may not be able to do"
)


def solve_found(found: Found, wish: Wish | None = None) -> SolvedTable | SolvedTree:
    """Everything known of the game; options that would do nothing for it are a UsageError.

    >>> from bestresponse.games.lookup import find_game
    >>> solve_found(find_game("matching-pennies")).value.number
    0.0
    """
    return solve_form(found.solvable(), wish)


def solve_form(game: NormalForm | Tree, wish: Wish | None = None) -> SolvedTable | SolvedTree:
    """Solve a table or a tree; InvalidGame where its payoffs are out of range."""
    wish = wish or Wish()
    check_scale(game)
    if isinstance(game, Tree) and has_perfect_recall(game):
        return solve_any_tree(game, wish)
    if isinstance(game, Tree):
        # A player who forgets has no sequence form; its plans have a table, unless it is absent-minded.
        solved = solve_table(to_normal_form(game), wish)
        return replace(solved, remarks=(_FORGETS, *solved.remarks))
    if wish.iterations:
        raise SettingError("iterations", "it does nothing for a game in normal form; it is for trees solved by CFR")

    return solve_table(game, wish)


def check_scale(game: NormalForm | Tree) -> None:
    """Refuse payoffs whose products overflow or vanish, with InvalidGame."""
    largest = float(np.abs(game.payoffs).max())
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise InvalidGame(
            f"{game.name or 'this game'}: the largest payoff is {largest:g}; expected payoffs between "
            f"{1 / _LARGEST:g} and {_LARGEST:g} in size; multiply them all by a constant, which changes no equilibrium"
        )
