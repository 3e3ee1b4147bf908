"""Nash equilibria of a game in normal form, whatever its number of players."""

from __future__ import annotations

import numpy as np

from bestresponse.theory.equilibria.bimatrix import bimatrix_nash
from bestresponse.theory.equilibria.lemke_howson import lemke_howson
from bestresponse.theory.equilibria.many_players import nplayer_nash, nplayer_nash_one
from bestresponse.theory.equilibria.pure import pure_nash
from bestresponse.theory.equilibria.result import Equilibrium, NashResult, describe
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["nash", "nash_one"]


def nash(game: NormalForm, *, compiled: bool = False) -> NashResult:
    """The Nash equilibria of `game`, each with payoffs, supports, regret, index and stability.

    Two players: all of them, exactly for integer payoffs, with the components that degenerate games have. Raises
    TooLarge for games that may have too many vertices to enumerate. `compiled` loads the compiled enumeration whatever
    the size of the game; it pays before solving many small ones. More players: all pure ones and the mixed ones that
    Newton's method finds, certified but not claimed to be complete (see `nplayer`). One player: its best actions.

    >>> chicken = NormalForm.bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> for e in nash(chicken).equilibria:
    ...     print(e.kind, e.supports, e.payoffs.round(3).tolist(), e.stability)
    pure ((0,), (1,)) [7.0, 2.0] strict, index +1
    pure ((1,), (0,)) [2.0, 7.0] strict, index +1
    mixed ((0, 1), (0, 1)) [4.667, 4.667] evolutionarily stable, index -1
    """
    if game.num_players == 2:
        return bimatrix_nash(game, compiled=compiled)
    return nplayer_nash(game)


def nash_one(game: NormalForm) -> Equilibrium:
    """One Nash equilibrium: the first pure one if there is one, else by Lemke-Howson (two players) or logit tracing.

    >>> nash_one(NormalForm.zero_sum([[1, -1], [-1, 1]])).strategies[0].tolist()
    [0.5, 0.5]
    """
    if game.num_players != 2:
        return nplayer_nash_one(game)
    pure = pure_nash(game, tolerance=0.0)
    if not pure:
        return lemke_howson(game)
    return describe(game, tuple(np.eye(m)[a] for m, a in zip(game.shape, pure[0], strict=True)))
