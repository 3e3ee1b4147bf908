"""Games in which one can cooperate or defect, and which action is which.

A two-player game with two actions each has this structure if for both players (R. Dawes, "Social dilemmas", Annual
Review of Psychology 31, 1980; M. Macy & A. Flache, PNAS 99, 2002): the other's cooperation helps whatever one does
oneself (R > S and T >= P), and all cooperating is better than all defecting (R > P). The prisoner's dilemma, chicken
and the stag hunt have it; matching pennies, battle of the sexes and pure coordination do not.
"""

from __future__ import annotations

from itertools import product

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["cooperative_actions"]


def cooperative_actions(game: NormalForm) -> tuple[int, int]:
    """Return the action that is to cooperate, for each player; InvalidGame says why where there is none.

    >>> from bestresponse.theory.catalogue.tables import load
    >>> cooperative_actions(load("prisoners-dilemma"))
    (0, 0)
    """
    if game.num_players != 2 or game.shape != (2, 2):
        raise InvalidGame(f"cooperating and defecting needs two players with two actions each, got {game.shape}")
    for first, second in product(range(2), repeat=2):
        if _cooperative(game, first, second):
            return first, second
    raise InvalidGame(
        "no action of this game is to cooperate: one that never hurts the other player, and is better for both than "
        "the other action if both take it"
    )


def _cooperative(game: NormalForm, first: int, second: int) -> bool:
    for own, (mine, theirs) in zip(
        (game.payoffs[0], game.payoffs[1].T), ((first, second), (second, first)), strict=True
    ):
        reward, sucker = own[mine, theirs], own[mine, 1 - theirs]
        temptation, punishment = own[1 - mine, theirs], own[1 - mine, 1 - theirs]
        if not (reward > sucker and temptation >= punishment and reward > punishment):
            return False
    return True
