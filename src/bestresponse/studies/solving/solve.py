"""Solve a game that was found, whatever its form."""

from __future__ import annotations

from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import Found
from bestresponse.studies.solving.solution import SolvedTable, SolvedTree, Wish
from bestresponse.studies.solving.tables import solve_table
from bestresponse.studies.solving.trees import solve_any_tree
from bestresponse.theory.tree import Tree

__all__ = ["solve_found"]


def solve_found(found: Found, wish: Wish | None = None) -> SolvedTable | SolvedTree:
    """Everything known of the game; options that would do nothing for it are a UsageError.

    >>> from bestresponse.games.lookup import find_game
    >>> solve_found(find_game("matching-pennies")).value.number
    0.0
    """
    wish = wish or Wish()
    game = found.solvable()
    if isinstance(game, Tree):
        return solve_any_tree(game, wish)
    if wish.iterations:
        raise UsageError("--iterations does nothing for a game in normal form; it is for trees solved by CFR")
    return solve_table(game, wish)
