"""Trembling-hand perfect equilibria of two-player games in normal form."""

from dataclasses import dataclass
from math import inf

import numpy as np

from bestresponse.theory.arrays import as_fractions, find_denominator, find_range
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.extremes import require_two_players
from bestresponse.theory.equilibria.integer import maximize
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.equilibria.solve import solve_bimatrix
from bestresponse.theory.games.dominance import find_weak_mixture
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_normal_form


@dataclass(frozen=True, slots=True, eq=False)
class PerfectEquilibria:
    """The extreme Nash equilibria of a game, and which of them are perfect.

    `complete` as for `nash`.
    """

    equilibria: tuple[Equilibrium, ...]
    perfect: tuple[bool, ...]
    method: str
    complete: bool


def find_perfect(game: GameLike, *, seconds: float = inf) -> PerfectEquilibria:
    """Find the extreme Nash equilibria of a game and say which are perfect.

    The game has two players. Trembling-hand perfect equilibria are limits of equilibria of games in
    which every action is played with some small probability (Selten 1975).

    With two players an equilibrium is perfect exactly when neither strategy is weakly dominated
    (van Damme 1991, Theorem 3.2.2); that is a linear program, solved in whole numbers where the
    equilibrium is known in fractions. NotCertified where all of it takes longer than `seconds`.

    >>> chain_store = NormalForm.bimatrix([[0, 0], [-1, 1]], [[2, 2], [-1, 1]])
    >>> refined = find_perfect(chain_store)
    >>> [(e.supports, p) for e, p in zip(refined.equilibria, refined.perfect)]
    [(((0,), (0,)), False), (((1,), (1,)), True), (((0,), (0, 1)), False)]
    """
    form = as_normal_form(game)
    require_two_players(form, "perfect equilibria")
    deadline = Deadline.after(seconds)
    nash = solve_bimatrix(form, deadline=deadline)
    all_exact = all(e.exact is not None for e in nash.equilibria)
    perfect = []
    for equilibrium in nash.equilibria:
        deadline.check("all perfect equilibria")
        perfect.append(is_perfect(form, equilibrium))
    how = "exact" if all_exact else "to 1e-9"
    return PerfectEquilibria(
        equilibria=nash.equilibria,
        perfect=tuple(perfect),
        method=f"{nash.method}; undominated strategies, {how}",
        complete=nash.complete,
    )


def is_perfect(game: NormalForm, equilibrium: Equilibrium) -> bool:
    """Say whether an equilibrium of two players is trembling-hand perfect."""
    return not any(_is_dominated(game, equilibrium, player) for player in (0, 1))


def _is_dominated(game: NormalForm, equilibrium: Equilibrium, player: int) -> bool:
    """Say whether some mixture never earns less than the player's strategy and sometimes more."""
    if equilibrium.exact is None or not game.is_exact:
        own = np.moveaxis(game.payoffs[player], player, 0)
        lead = own - equilibrium.strategies[player] @ own
        spread = find_range(own)
        return find_weak_mixture(lead / spread) is not None
    exact = as_fractions(np.moveaxis(game.given[player], player, 0))
    earned = np.array(equilibrium.exact[player]) @ exact
    lead = exact - earned
    multiples = lead * find_denominator(lead)
    whole = np.asarray(np.frompyfunc(int, 1, 1)(multiples))
    worth = whole.sum(axis=1)
    best = np.array(maximize((-whole.T).tolist(), worth.tolist()), dtype=object)
    return bool(worth @ best > 0)
