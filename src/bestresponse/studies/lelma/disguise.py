"""A game told so that its name cannot be recognised: neutral letters, plain player names, perhaps in reverse order."""

from __future__ import annotations

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.normal_form import NormalForm

__all__ = ["disguised"]

_LETTERS = ("B", "R", "G", "W", "K", "P", "Y", "N", "V", "T", "M", "C")


def disguised(game: NormalForm, *, letters: bool = True, inverted: bool = True) -> NormalForm:
    """`game` without its name; actions become letters (the same where all players' actions have the same names), and
    their order is reversed if `inverted`.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("C", "D"), ("C", "D")))
    >>> told = disguised(pd)
    >>> told.actions[0], told.payoffs[0].tolist()
    (('R', 'B'), [[1.0, 5.0], [0.0, 3.0]])
    """
    payoffs, actions = game.payoffs, game.actions
    players = tuple(f"Player {i + 1}" for i in range(game.num_players))
    if letters:
        actions = _lettered(actions)
    if inverted:
        payoffs = np.flip(payoffs, axis=tuple(range(1, payoffs.ndim)))
        actions = tuple(tuple(reversed(own)) for own in actions)
    return NormalForm(payoffs, players, actions)


def _lettered(actions: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    if all(own == actions[0] for own in actions):
        return tuple(_some(0, len(own)) for own in actions)
    start, found = 0, []
    for own in actions:
        found.append(_some(start, len(own)))
        start += len(own)
    return tuple(found)


def _some(start: int, count: int) -> tuple[str, ...]:
    if start + count > len(_LETTERS):
        raise UsageError(f"there are letters for {len(_LETTERS)} actions; tell this game under its own names (--plain)")
    return _LETTERS[start : start + count]
