"""Games in which one can cooperate or defect, and which action is which.

A two-player game with two actions each has this structure if for both players (R. Dawes, "Social dilemmas", Annual
Review of Psychology 31, 1980; M. Macy & A. Flache, PNAS 99, 2002): the other's cooperation helps whatever one does
oneself (R > S and T > P), and all cooperating is better than all defecting (R > P). The prisoner's dilemma, chicken
and the stag hunt have it; matching pennies, battle of the sexes and pure coordination do not.
"""

from __future__ import annotations

from itertools import product

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.normal_form import NormalForm

__all__ = ["cooperative_actions"]


def cooperative_actions(game: NormalForm) -> tuple[int, int]:
    """The action that is to cooperate, for each player; InvalidGame says why where there is none.

    >>> from bestresponse.theory.catalogue import load
    >>> cooperative_actions(load("prisoners-dilemma"))
    (0, 0)
    """
    if game.num_players != 2 or game.shape != (2, 2):
        raise InvalidGame(f"cooperating and defecting needs two players with two actions each, got {game.shape}")
    for first, second in product(range(2), repeat=2):
        if _cooperative(game, first, second):
            return first, second
    raise InvalidGame(
        "no action of this game is to cooperate: an action that helps the other player whatever she does, and is "
        "better for both than the other action if both take it"
    )


def _cooperative(game: NormalForm, first: int, second: int) -> bool:
    row, col = game.payoffs
    helped = (row[:, second] > row[:, 1 - second]).all() and (col[first] > col[1 - first]).all()
    better = all(own[first, second] > own[1 - first, 1 - second] for own in (row, col))
    return bool(helped and better)
