"""Nash equilibria of a game in normal form, whatever its number of players.

A bimatrix game is degenerate when some mixed strategy has more pure best responses than it has
actions in its support; only then can there be infinitely many equilibria. Their set is always the
union of finitely many polytopes, whose corners, the extreme equilibria, are enumerated here (von
Stengel 2002, Handbook of Game Theory 3).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.engines import ChosenEngine, Engine
from bestresponse.theory.equilibria.extremes import (
    EXACT_VERTICES,
    extreme_equilibria,
    most_vertices,
)
from bestresponse.theory.equilibria.lemke_howson import follow_short_path
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.result import Equilibrium, NashResult, pure_nash
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_normal_form

if TYPE_CHECKING:
    from bestresponse.theory.equilibria.many_players.search import OneMethod


def solve_bimatrix(
    game: NormalForm,
    *,
    engine: Engine = "auto",
    deadline: Deadline,
) -> NashResult:
    """Find every equilibrium of a two-player game: the extreme ones, and the components they span.

    Pure equilibria come first, then mixed ones by the size of their supports. Integers, fractions
    and decimals up to about 8x8 give exact fractions. NotCertified where that takes longer than the
    `deadline`.
    """
    exact = game.is_exact
    if exact:
        m, n = game.shape
        # Integers of any length take a fraction of a second then, as they do up to about 8x8.
        exact = most_vertices(m, m + n) + most_vertices(n, m + n) <= EXACT_VERTICES
    extremes = extreme_equilibria(game, exact=exact, engine=engine, deadline=deadline)
    equilibria = tuple(
        [Equilibrium(game, extremes, number) for number in range(len(extremes.edges))]
    )
    used: ChosenEngine = "numpy" if extremes.in_integers else "numba"
    return NashResult(
        equilibria,
        extremes.method,
        True,
        extremes.degenerate,
        extremes,
        engine=used,
    )


def nash(
    game: GameLike,
    col: ArrayLike | None = None,
    *,
    engine: Engine = "auto",
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
) -> NashResult:
    """Find the Nash equilibria of `game`, each with payoffs, supports, regret, index and stability.

    `game` is a NormalForm, or payoffs: `nash(row, col)` with two matrices, or one nested list with
    a table per player.

    Two players: all of them, exactly for integer payoffs, with the components that degenerate games
    have. Raises TooLarge for games that may have too many vertices to enumerate, and NotCertified
    where that takes longer than `seconds`. `engine` says whether the enumeration is compiled (see
    `engines`). More players: all pure ones, and mixed ones for as long as `seconds`, telling
    `report` how many there are so far; regular games are usually solved completely, and `complete`
    says so (see `many_players`). One player: its best actions.

    >>> for e in nash([[0, 7], [2, 6]], [[0, 2], [7, 6]]).equilibria:
    ...     print(e.kind, e.supports, e.payoffs.round(3).tolist(), e.stability)
    pure ((0,), (1,)) [7.0, 2.0] strict, index +1
    pure ((1,), (0,)) [2.0, 7.0] strict, index +1
    mixed ((0, 1), (0, 1)) [4.667, 4.667] evolutionarily stable, index -1
    """
    form = as_normal_form(game, col)
    if form.num_players == 2:
        return solve_bimatrix(form, engine=engine, deadline=Deadline.after(seconds))
    # Two players need none of it, and loading it takes as long as solving many of their games.
    from bestresponse.theory.equilibria.many_players.search import nplayer_nash

    return nplayer_nash(form, engine=engine, seconds=seconds, report=report)


def nash_one(
    game: GameLike,
    col: ArrayLike | None = None,
    *,
    method: OneMethod = "auto",
    seconds: float = inf,
) -> Equilibrium:
    """Find one Nash equilibrium.

    It is the first pure one if there is one, else found by Lemke-Howson or logit tracing.

    With more than two players `method` "logit" asks for what tracing leads to, whether there is a
    pure one or not. NotCertified where none is found within `seconds`.

    >>> nash_one([[1, -1], [-1, 1]], [[-1, 1], [1, -1]]).strategies[0].tolist()
    [0.5, 0.5]
    """
    form = as_normal_form(game, col)
    if form.num_players != 2:
        from bestresponse.theory.equilibria.many_players.search import nplayer_nash_one

        return nplayer_nash_one(form, method, seconds)
    if method != "auto":
        raise UsageError(
            f"method {method!r} is for more than two players; lemke_howson finds one of two"
        )
    pure = pure_nash(form)
    if not pure:
        return follow_short_path(form, Deadline.after(seconds))
    return Equilibrium.at(
        form, tuple(np.eye(m)[a] for m, a in zip(form.shape, pure[0], strict=True))
    )
