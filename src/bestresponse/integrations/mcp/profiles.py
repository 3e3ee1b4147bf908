"""Read strategies that a caller sends, and measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bestresponse.core.ask import Mixture
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.sequence_form import policy_regrets, policy_value
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table, uniform_policy

Strategies = dict[str, str | dict[str, float | str | dict[str, float]]]
"""Player -> action, or action -> probability, or information set -> move or probabilities of moves."""


def measure_profile(game: NormalForm | Tree, strategies: Strategies) -> tuple[dict[str, float], dict[str, float]]:
    """Return what every player earns, and what each could gain by deviating alone."""
    read_others(game, strategies, player=None)
    if isinstance(game, Tree):
        policy = read_policy(game, strategies)
        return policy_value(game, policy), policy_regrets(game, policy)
    mixes = _read_mixes(game, strategies)
    values = deviation_payoffs(game, mixes)
    earned = [float(u @ x) for u, x in zip(values, mixes, strict=True)]
    gains = [max(0.0, float(u.max()) - payoff) for u, payoff in zip(values, earned, strict=True)]
    return dict(zip(game.players, earned, strict=True)), dict(zip(game.players, gains, strict=True))


def value_actions(game: NormalForm, player: str, strategies: Strategies) -> dict[str, float]:
    """Return what every action of a player earns against the others."""
    seat = game.players.index(player)
    whole: Strategies = {**strategies, player: game.actions[seat][0]}
    values = deviation_payoffs(game, _read_mixes(game, whole))[seat]
    return dict(zip(game.actions[seat], map(float, values), strict=True))


def read_others(game: NormalForm | Tree, strategies: Strategies, player: str | None) -> None:
    """Raise UsageError unless there is a strategy for every player but `player`, and for nobody else."""
    unknown = [name for name in (*strategies, *([player] if player else [])) if name not in game.players]
    absent = [name for name in game.players if name not in strategies and name != player]
    if unknown or absent:
        what = f"there is no player {unknown[0]!r}" if unknown else f"the strategy of {absent[0]!r} is missing"
        raise UsageError(f"{what}; the players are {', '.join(game.players)}")


def read_policy(tree: Tree, strategies: Strategies, free: str | None = None) -> Policy:
    """Read a move or probabilities for every information set; those of `free` are not looked at."""
    table = uniform_policy(tree).table()
    for infoset in tree.infosets:
        player = tree.players[infoset.player]
        if player == free:
            continue
        plan = strategies[player]
        if isinstance(plan, str) or infoset.label not in plan:
            raise UsageError(f"strategy of {player}: expected a move at the information set {infoset.label!r}")
        mix = _read_mix(plan[infoset.label], infoset.moves, f"strategy of {player} at {infoset.label!r}")
        table[player][infoset.label] = dict(zip(infoset.moves, mix.tolist(), strict=True))
    return policy_from_table(tree, table)


def _read_mixes(game: NormalForm, strategies: Strategies) -> list[Array]:
    return [
        _read_mix(strategies[player], names, f"strategy of {player}")
        for player, names in zip(game.players, game.actions, strict=True)
    ]


def _read_mix(written: object, names: Sequence[str], what: str) -> Array:
    if isinstance(written, str):
        written = {written: 1.0}
    if not isinstance(written, Mapping):
        raise UsageError(f"{what}: expected an action or probabilities, got {written!r}")
    unknown = [name for name in written if name not in names]
    if unknown:
        raise UsageError(f"{what}: there is no action {unknown[0]!r}; expected {', '.join(names)}")
    mix = [written.get(name, 0.0) for name in names]
    try:
        Mixture(tuple(names)).check(mix)
    except InvalidMove as error:
        raise UsageError(f"{what}: {error}") from None
    shares: Array = np.asarray(mix, dtype=np.float64) / sum(mix)
    return shares
