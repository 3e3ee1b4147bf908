"""One equilibrium of a game of several players by approximating it again and again by a polymatrix game.

In a polymatrix game a player's payoff is a sum of payoffs against each other player, so that its equilibria solve a
linear complementarity problem (Howson 1972). Near a profile x every game is close to one: what action a earns against y
is about the sum over j of u_i(a, y_j; the others at x) less (n - 2) times what it earns at x. Its equilibrium is the
next x, as in Newton's method (Govindan and Wilson 2004); shorter steps are taken where that makes regret larger, and
other starts where it does not end.

S. Govindan and R. Wilson, "Computing Nash equilibria by iterated polymatrix approximation", Journal of Economic
Dynamics and Control 28, 2004.
"""

from __future__ import annotations

import numpy as np

from bestresponse.core.errors import NotCertified
from bestresponse.theory.equilibria.many_players.newton import (
    action_payoffs,
    equal_payoffs,
    pair_payoffs,
    worst_regret,
)
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.regrets import Profile
from bestresponse.theory.trees.lemke import solve_complementarity

__all__ = ["approximate_to_equilibrium", "solve_polymatrix"]

_REGRET_LIMIT = 1e-9
_STARTS = 20
_ROUNDS = 40
_SHARES = (1.0, 0.5, 0.25, 0.1)
_USED = 1e-7


def approximate_to_equilibrium(payoffs: Array) -> Profile | None:
    """Find mixtures of regret at most 1e-9 for payoffs scaled into [0, 1], or None where no start led there."""
    generator = np.random.default_rng(0)
    shape = payoffs.shape[1:]
    for start in range(_STARTS):
        mix = tuple(generator.dirichlet(np.ones(m)) if start else np.full(m, 1.0 / m) for m in shape)
        found = _iterate(payoffs, mix)
        if found is not None:
            return found
    return None


def _iterate(payoffs: Array, mix: Profile) -> Profile | None:
    for _ in range(_ROUNDS):
        try:
            ahead = solve_polymatrix(*_approximate(payoffs, mix))
        except (NotCertified, np.linalg.LinAlgError):
            return None
        polished = _polish(payoffs, ahead)
        if polished is not None:
            return polished
        tries = [tuple((1.0 - s) * x + s * y for x, y in zip(mix, ahead, strict=True)) for s in _SHARES]
        mix = min(tries, key=lambda one: worst_regret(payoffs, one))
    return None


def _polish(payoffs: Array, mix: Profile) -> Profile | None:
    supports = tuple(tuple(int(a) for a in np.flatnonzero(x > _USED)) for x in mix)
    found = equal_payoffs(payoffs, supports, mix)
    return found if found is not None and worst_regret(payoffs, found) <= _REGRET_LIMIT else None


def _approximate(payoffs: Array, mix: Profile) -> tuple[list[list[Array]], list[Array]]:
    """What actions earn against each other player's, the rest at `mix`, and what is to be added to that."""
    players = range(len(mix))
    pairs = [
        [pair_payoffs(payoffs, mix, i, j) if i != j else np.zeros((len(mix[i]), len(mix[i]))) for j in players]
        for i in players
    ]
    return pairs, [-(len(mix) - 2) * action_payoffs(payoffs, mix, i) for i in players]


def solve_polymatrix(pairs: list[list[Array]], extra: list[Array]) -> Profile:
    """Find an equilibrium of the game in which action a of player i earns sum_j pairs[i][j][a] y_j + extra[i][a].

    >>> penny = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> nothing = np.zeros((2, 2))
    >>> [x.round(9).tolist() for x in solve_polymatrix([[nothing, penny], [-penny, nothing]], [np.zeros(2)] * 2)]
    [[0.5, 0.5], [0.5, 0.5]]
    """
    sizes = [len(own) for own in extra]
    rows = enumerate(zip(pairs, extra, strict=True))
    gains = np.block([[block + own[:, None] * (j == i) for j, block in enumerate(row)] for i, (row, own) in rows])
    costs = gains.max() + 1.0 - gains
    ends = np.cumsum(sizes)
    total, players = int(ends[-1]), len(sizes)
    matrix = np.zeros((total + players, total + players))
    matrix[:total, :total] = costs
    for i, (low, high) in enumerate(zip(ends - sizes, ends, strict=True)):
        matrix[low:high, total + i] = -1.0
        matrix[total + i, low:high] = 1.0
    right = np.concatenate([np.zeros(total), -np.ones(players)])
    found = solve_complementarity(matrix, right)[:total]
    return tuple(x / x.sum() for x in np.split(found, ends[:-1]))
