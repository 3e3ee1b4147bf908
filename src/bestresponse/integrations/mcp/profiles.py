"""Read strategies that a caller sends, and measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.integrations.mcp.results import BestResponse, CheckedProfile
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.policy import Policy, policy_from_table, uniform_policy
from bestresponse.theory.trees.sequence_form import policy_regrets, policy_value, tree_best_response
from bestresponse.theory.trees.tree import Tree

__all__ = ["Strategies", "check_profile", "respond"]

Strategies = dict[str, str | dict[str, float | str | dict[str, float]]]
"""Player -> action, or action -> probability, or information set -> move or probabilities of moves."""

_EQUAL = 1e-9
_SUM_TOLERANCE = 1e-6


def check_profile(game: NormalForm | Tree, strategies: Strategies) -> CheckedProfile:
    """Measure what every player earns and could gain; an equilibrium where nobody gains more than rounding."""
    _check_players(game.players, strategies, missing=None)
    if isinstance(game, Tree):
        policy = _read_policy(game, strategies)
        payoffs, regrets = policy_value(game, policy), policy_regrets(game, policy)
    else:
        mixes = _read_mixes(game, strategies)
        values = deviation_payoffs(game, mixes)
        earned = [float(u @ x) for u, x in zip(values, mixes, strict=True)]
        payoffs = dict(zip(game.players, earned, strict=True))
        gains = (max(0.0, float(u.max()) - e) for u, e in zip(values, earned, strict=True))
        regrets = dict(zip(game.players, gains, strict=True))
    worst = max(regrets.values())
    fine = worst <= _EQUAL * max(1.0, float(np.abs(game.payoffs).max()))
    return CheckedProfile(is_equilibrium=fine, payoffs=payoffs, regrets=regrets, nash_gap=sum(regrets.values()))


def respond(game: NormalForm | Tree, player: str, strategies: Strategies) -> BestResponse:
    """Find the best response of `player`; its own strategy is not needed."""
    if player not in game.players:
        raise UsageError(f"there is no player {player!r}; the players are {', '.join(game.players)}")
    _check_players(game.players, strategies, missing=player)
    if isinstance(game, Tree):
        found = tree_best_response(game, _read_policy(game, strategies, free=player), player)
        return BestResponse(player=player, best=list(found.moves.values()), moves=found.moves, value=found.value)
    seat = game.players.index(player)
    first: Strategies = {player: game.actions[seat][0]}
    values = deviation_payoffs(game, _read_mixes(game, {**strategies, **first}))[seat]
    best = float(values.max())
    near = _EQUAL * max(1.0, float(np.abs(game.payoffs).max()))
    names = game.actions[seat]
    return BestResponse(
        player=player,
        best=[name for name, value in zip(names, values, strict=True) if value >= best - near],
        value=best,
        action_values=dict(zip(names, map(float, values), strict=True)),
    )


def _check_players(players: Sequence[str], given: Strategies, missing: str | None) -> None:
    unknown = [who for who in given if who not in players]
    absent = [who for who in players if who not in given and who != missing]
    if unknown or absent:
        what = f"there is no player {unknown[0]!r}" if unknown else f"the strategy of {absent[0]!r} is missing"
        raise UsageError(f"{what}; the players are {', '.join(players)}")


def _read_mixes(game: NormalForm, given: Strategies) -> list[Array]:
    return [
        _read_mix(given[who], names, f"strategy of {who}")
        for who, names in zip(game.players, game.actions, strict=True)
    ]


def _read_mix(given: object, names: Sequence[str], what: str) -> Array:
    if isinstance(given, str):
        given = {given: 1.0}
    if not isinstance(given, Mapping):
        raise UsageError(f"{what}: expected an action or probabilities, got {given!r}")
    unknown = [name for name in given if name not in names]
    if unknown:
        raise UsageError(f"{what}: there is no action {unknown[0]!r}; expected {', '.join(names)}")
    mix = np.array([_read_number(given.get(name, 0.0), what) for name in names])
    if mix.min() < 0 or abs(float(mix.sum()) - 1.0) > _SUM_TOLERANCE:
        raise UsageError(f"{what}: expected probabilities that sum to 1, got a sum of {mix.sum():g}")
    return np.asarray(mix / mix.sum())


def _read_number(given: object, what: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise UsageError(f"{what}: expected a probability, got {given!r}")
    return float(given)


def _read_policy(tree: Tree, given: Strategies, free: str | None = None) -> Policy:
    """Read a move or probabilities for every information set; those of `free` are not looked at."""
    usual = uniform_policy(tree).table()
    table: dict[str, dict[str, dict[str, float]]] = {who: {} for who in tree.players}
    for infoset in tree.infosets:
        who = tree.players[infoset.player]
        if who == free:
            table[who][infoset.label] = usual[who][infoset.label]
            continue
        own = given[who]
        if isinstance(own, str) or infoset.label not in own:
            raise UsageError(f"strategy of {who}: expected a move at the information set {infoset.label!r}")
        mix = _read_mix(own[infoset.label], infoset.moves, f"strategy of {who} at {infoset.label!r}")
        table[who][infoset.label] = dict(zip(infoset.moves, mix.tolist(), strict=True))
    return policy_from_table(tree, table)
