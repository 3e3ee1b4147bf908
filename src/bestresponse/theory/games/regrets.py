"""Payoffs and regret of a profile of mixed strategies, for any number of players.

Definition: the regret of player i at profile x is max_a u_i(a, x_-i) - u_i(x). A profile is a Nash
equilibrium exactly when every regret is zero, so the largest regret certifies an approximate
equilibrium (Nash 1951).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    Numbers,
    as_normal_form,
)

Profile = tuple[Array, ...]

_SUM_TOLERANCE = 1e-6


def as_profile(game: NormalForm, profile: Sequence[ArrayLike]) -> Profile:
    """`profile` as one probability vector per player, or InvalidGame saying which one is not."""
    if len(profile) != game.num_players:
        raise InvalidGame(
            f"profile: expected {game.num_players} mixed strategies, got {len(profile)}"
        )
    strategies = tuple(np.asarray(mix, dtype=np.float64) for mix in profile)
    for strategy, count, player in zip(strategies, game.shape, game.players, strict=True):
        if strategy.shape != (count,):
            raise InvalidGame(
                f"strategy of {player}: expected {count} probabilities, got shape {strategy.shape}"
            )
        total = float(strategy.sum())
        sums_to_one = abs(total - 1.0) <= _SUM_TOLERANCE  # false where one is not a number
        if not sums_to_one or strategy.min() < -_SUM_TOLERANCE:
            got = f"{strategy.tolist()} (sum {total:g})"
            raise InvalidGame(
                f"strategy of {player}: expected probabilities that sum to 1, got {got}"
            )
    return strategies


def deviation_payoffs(game: GameLike, profile: Sequence[ArrayLike]) -> tuple[Array, ...]:
    """Return for each player what each of its actions would earn against the others' strategies.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> [u.tolist() for u in deviation_payoffs(pd, [[1, 0], [0.5, 0.5]])]
    [[1.5, 3.0], [3.0, 5.0]]
    """
    game = as_normal_form(game)
    mixes = as_profile(game, profile)
    return tuple(contract(game.payoffs[i], mixes, i) for i in range(game.num_players))


def contract(payoffs: Numbers, mixes: Sequence[Numbers], *kept: int) -> Numbers:
    """Average payoffs over the mixtures of all players but those `kept` as axes.

    The axes are the actions of those players.
    """
    for player in reversed(range(len(mixes))):
        if player in kept:
            continue
        mix = mixes[player]
        before = payoffs.shape[:player]
        after = payoffs.shape[player + 1 :]
        # `np.tensordot` does the same and takes two to three times as long for small games.
        averaged = mix @ payoffs.reshape(*before, len(mix), -1) if after else payoffs @ mix
        payoffs = np.asarray(averaged).reshape(before + after)
    return payoffs


def regret(game: GameLike, profile: Sequence[ArrayLike]) -> Array:
    """Say how much each player could gain by its best deviation from `profile`.

    All zero exactly at an equilibrium.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> regret(pd, [[1, 0], [1, 0]]).tolist()
    [2.0, 2.0]
    """
    game = as_normal_form(game)
    mixes = as_profile(game, profile)
    gains = []
    for values, mix in zip(deviation_payoffs(game, mixes), mixes, strict=True):
        gain = float(values.max() - values @ mix)
        gains.append(max(gain, 0.0))  # below 0 it is rounding
    return np.array(gains)
