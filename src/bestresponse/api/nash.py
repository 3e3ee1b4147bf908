"""Find the Nash equilibria of a table.

Little is imported: the first solution of a matrix takes a third of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.result import NashResult
from bestresponse.theory.equilibria.solve import nash as solve_nash
from bestresponse.theory.games.normal_form import NormalForm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bestresponse.games.lookup import GameLike, Matrix


def nash(
    game: GameLike,
    other: Matrix | None = None,
    *,
    method: str = "auto",
    seconds: float = SECONDS,
    engine: Engine = "auto",
) -> NashResult:
    """Find the Nash equilibria of a game, in any form that `solve` takes.

    Trees in their reduced normal form.

    `method` is one of those of `solve` for tables, `seconds` bound the search for all
    equilibria, and `engine` says whether loops are compiled: "numpy", "numba", or
    "auto", where that pays.

    >>> print(nash([[(2, 1), (0, 0)], [(0, 0), (1, 2)]]))
    NashResult(all equilibria: 3, vertex enumeration, exact)
    row: a0; col: a0 (payoffs 2, 1)
    row: a1; col: a1 (payoffs 1, 2)
    row: a0 2/3, a1 1/3; col: a0 1/3, a1 2/3 (payoffs 2/3, 2/3)
    """
    form = _as_table(game, other)
    if method == "auto":
        return solve_nash(form, seconds=seconds, engine=engine)
    from bestresponse.analysis.solve.solution import Wish
    from bestresponse.analysis.solve.solve import find_equilibria

    return find_equilibria(form, Wish(method, seconds=seconds, engine=engine))


_PAYOFFS = (list, tuple, np.ndarray)


def _as_table(game: GameLike, other: Matrix | None) -> NormalForm:
    """Read payoffs directly and look up everything else.

    Looking up takes longer than solving a small game.
    """
    if isinstance(game, NormalForm) and other is None:
        return game
    if other is not None and isinstance(game, _PAYOFFS):
        return NormalForm.bimatrix(cast("ArrayLike", game), cast("ArrayLike", other))
    from bestresponse.games.lookup import as_loaded_game
    from bestresponse.theory.trees.normal_form import to_normal_form

    form = as_loaded_game(game, other).solvable()
    return form if isinstance(form, NormalForm) else to_normal_form(form)
