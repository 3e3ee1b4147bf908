"""Nash equilibria of a game in normal form, whatever its number of players."""

from __future__ import annotations

from bestresponse.theory.bimatrix import bimatrix_nash
from bestresponse.theory.equilibrium import NashResult
from bestresponse.theory.normal_form import NormalForm

__all__ = ["nash"]


def nash(game: NormalForm, *, compiled: bool = False) -> NashResult:
    """The Nash equilibria of `game`, each with payoffs, supports, regret, index and stability.

    Two players: all of them, exactly for integer payoffs, with the components that degenerate games have. Raises
    TooLarge for games that may have too many vertices to enumerate. `compiled` loads the compiled enumeration whatever
    the size of the game; it pays before solving many small ones.

    >>> chicken = NormalForm.bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> for e in nash(chicken).equilibria:
    ...     print(e.kind, e.supports, e.payoffs.round(3).tolist(), e.stability)
    pure ((0,), (1,)) [7.0, 2.0] strict, index +1
    pure ((1,), (0,)) [2.0, 7.0] strict, index +1
    mixed ((0, 1), (0, 1)) [4.667, 4.667] evolutionarily stable, index -1
    """
    return bimatrix_nash(game, compiled=compiled)
