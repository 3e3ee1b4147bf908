"""What theory says of the registered rules that are no table and no small tree: the equilibrium, in words and as moves.

`known_equilibrium` tells it, `equilibrium_moves` plays it, `cost_of` says what another answer would have cost against
others who keep to it. All three are functions of the rules and of nothing else; where no equilibrium is known they
say so with None. Sources are named in the modules of the games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import Ask, Form
from bestresponse.core.game import NATURE, Action, Game, Role
from bestresponse.games.economic.common_pool import CommonPool
from bestresponse.games.economic.guessing import Guessing
from bestresponse.games.economic.public_goods import PublicGoods
from bestresponse.games.economic.sealed_bid import SealedBid
from bestresponse.games.economic.sealed_bid import State as Bids
from bestresponse.games.economic.trust import Trust
from bestresponse.games.economic.ultimatum import Ultimatum

__all__ = ["Known", "cost_of", "equilibrium_moves", "known_equilibrium"]

Moves = Callable[[Any], Mapping[Role, Action]]
"""What everybody who is asked in a state does."""


@dataclass(frozen=True, slots=True)
class Known:
    """An equilibrium: its concept, in words what everybody does, and what that earns.

    `payoffs` is empty where they depend on what nature draws. `better` says what would earn everybody together the
    most, and `better_payoffs` how much; both are empty where the equilibrium does.
    """

    concept: str
    words: str
    payoffs: Mapping[Role, float]
    better: str = ""
    better_payoffs: Mapping[Role, float] | None = None


def known_equilibrium(game: Game[Any]) -> Known | None:
    """The equilibrium of `game`, or None where none is known here.

    >>> known = known_equilibrium(Trust())
    >>> known.concept, dict(known.payoffs)
    ('subgame-perfect equilibrium', {'sender': 10.0, 'receiver': 0.0})
    """
    if _moves(game) is None:
        return None
    match game:
        case PublicGoods():
            return _public_goods(game)
        case CommonPool():
            return _common_pool(game)
        case Guessing():
            words = f"Everybody chooses {game.low:g} in every round, the only number that survives when dominated "
            return Known("equilibrium", f"{words}numbers are left out step by step.", _payoffs(game, _moves(game)))
        case Trust():
            return _trust(game)
        case Ultimatum():
            words = "The responder accepts every offer, and therefore the proposer offers nothing. With a smallest "
            words += "coin, offering one such coin is an equilibrium too."
            return Known("subgame-perfect equilibrium", words, _payoffs(game, _moves(game)))
        case SealedBid(price="first"):
            n = len(game.roles)
            words = f"Everybody bids {n - 1}/{n} of the own value, up to the grain of whole numbers."
            return Known("Bayesian equilibrium", words, {})
        case _:
            words = "Everybody bids the own value; whatever the others do, no other bid earns more."
            return Known("equilibrium in dominant strategies", words, {})


def equilibrium_moves(game: Game[Any], state: Any) -> Mapping[Role, Action] | None:
    """What each of those who are asked in `state` does in the known equilibrium, None where there is none.

    >>> equilibrium_moves(CommonPool(), ())["player 3"]
    8.0
    """
    moves = _moves(game)
    return None if moves is None or not game.asks(state) or NATURE in game.asks(state) else moves(state)


def cost_of(game: Game[Any], state: Any, role: Role, action: Action) -> float | None:
    """What `role` loses by answering `action` in `state`, if all else is played as in the known equilibrium.

    In auctions this is an expectation over the values of the others. None where no equilibrium is known.

    >>> cost_of(PublicGoods(), (), "player 1", 10), cost_of(Ultimatum(), (3.0,), "responder", "reject")
    (6.0, 3.0)
    """
    moves = _moves(game)
    if moves is None or role not in game.asks(state):
        return None
    if isinstance(game, SealedBid):
        value = state.values[game.roles.index(role)]
        best = expected_gain(game, role, value, game.equilibrium(value))
        return max(0.0, best - expected_gain(game, role, value, float(action)))
    kept = moves(state)
    ends = [_played_out(game, moves, game.apply(state, {**kept, role: own})) for own in (kept[role], action)]
    usual, other = (game.payoffs(end)[role] for end in ends)
    return max(0.0, float(usual - other))


def expected_gain(game: SealedBid, role: Role, value: float, bid: float) -> float:
    """What `bid` earns on average when the others bid as in equilibrium; equal bids go by the order of the roster."""
    seat = game.roles.index(role)
    levels = [game.equilibrium(v) for v in range(game.highest + 1)]
    before, after = seat, len(game.roles) - 1 - seat

    def beats(limit: float) -> float:
        """The probability that every other bid is at most `limit`, and loses against `bid` where it ties."""
        below = sum(level < limit for level in levels) / len(levels)
        level_too = sum(level <= limit for level in levels) / len(levels)
        return float((below if limit == bid else level_too) ** before * level_too**after)

    if game.price == "first":
        return (value - bid) * beats(bid)
    gain, sure = 0.0, 0.0
    for price in sorted({level for level in levels if level <= bid}):
        now = beats(price)
        gain, sure = gain + (value - price) * (now - sure), now
    return gain


def _moves(game: Game[Any]) -> Moves | None:
    """How the known equilibrium of `game` is played."""
    match game:
        case PublicGoods() if game.factor < len(game.roles):
            return lambda state: _same(game.asks(state), 0)
        case CommonPool():
            return lambda state: _same(game.asks(state), game.equilibrium)
        case Guessing() if game.factor < 1 and game.low >= 0:
            return lambda state: _same(game.asks(state), game.low)
        case Trust():
            return lambda state: _same(game.asks(state), 0.0)
        case Ultimatum():
            return lambda state: {"responder": "accept"} if state else {"proposer": 0.0}
        case SealedBid():
            return lambda state: _bids(game, state)
        case _:
            return None


def _same(asks: Mapping[Role, Ask], amount: float) -> dict[Role, Action]:
    """The same amount from everybody, in every field where there are several."""
    return {
        role: {name: amount for name, _ in ask.fields} if isinstance(ask, Form) else amount
        for role, ask in asks.items()
    }


def _bids(game: SealedBid, state: Bids) -> dict[Role, Action]:
    return {role: game.equilibrium(value) for role, value in zip(game.roles, state.values, strict=True)}


def _played_out(game: Game[Any], moves: Moves, state: Any) -> Any:
    while game.asks(state):
        state = game.apply(state, moves(state))
    return state


def _payoffs(game: Game[Any], moves: Moves | None) -> dict[Role, float]:
    end = _played_out(game, moves, game.start()) if moves else game.start()
    return {role: float(amount) for role, amount in game.payoffs(end).items()}


def _public_goods(game: PublicGoods) -> Known:
    words = "Nobody puts anything in: a coin costs its giver more than comes back to the giver."
    if game.punishment:
        words += " Nobody punishes either, as that costs coins and changes nothing later."
    own = _payoffs(game, _moves(game))
    if game.factor <= 1:
        return Known("subgame-perfect equilibrium", words, own)

    def all_in(state: Any) -> Mapping[Role, Action]:
        return _same(game.asks(state), 0 if len(state) % game.stages else game.endowment)

    better = f"Together all would have most if everybody put in all {game.endowment} coins in every round."
    return Known("subgame-perfect equilibrium", words, own, better, _payoffs(game, all_in))


def _common_pool(game: CommonPool) -> Known:
    words = f"Everybody invests {game.equilibrium:g} in every round."
    better = f"Together all would earn most if everybody invested {game.optimum:g}."
    best = _payoffs(game, lambda state: _same(game.asks(state), game.optimum))
    return Known("equilibrium", words, _payoffs(game, _moves(game)), better, best)


def _trust(game: Trust) -> Known:
    words = "The receiver returns nothing, and therefore the sender sends nothing."
    own = _payoffs(game, _moves(game))
    if game.factor <= 1:
        return Known("subgame-perfect equilibrium", words, own)
    total = game.factor * game.endowment
    better = f"Together they would have most, {total:g}, if everything was sent; returning half of it would give both "
    better += f"{total / 2:g}."
    return Known("subgame-perfect equilibrium", words, own, better, {"sender": total / 2, "receiver": total / 2})
