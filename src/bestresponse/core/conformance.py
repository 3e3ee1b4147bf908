"""Check the promises of games and players; authors of new ones run this too.

    from bestresponse.core.conformance import check_game, check_player

Each raises `Broken` (an AssertionError) that says which promise was broken and where.
"""

import json
import math
from random import Random
from typing import get_args

from bestresponse.core.agreement import Disagreement, check_end, check_statements
from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.capabilities import (
    AdjustableRounds,
    NamedStrategies,
    Quiz,
    find_equilibrium_moves,
    measure_decision_cost,
)
from bestresponse.core.codec import record_from_json, record_to_json
from bestresponse.core.episode import Episode
from bestresponse.core.errors import InvalidGame, InvalidMove
from bestresponse.core.game import NATURE, REFEREE, Game, S
from bestresponse.core.names import check_distinct, check_roles
from bestresponse.core.player import Decision, Player

_FREE = 1e-9  # rounding of payoffs that are summed in floats


class Broken(AssertionError):
    """A game or a player does not keep a promise."""


def any_legal_action(ask: Ask, rng: Random) -> object:
    """Some action that `ask` accepts."""
    match ask:
        case Choice(options):
            return rng.choice(options)
        case Amount(low, high, whole):
            if whole:
                return float(rng.randint(math.ceil(low), math.floor(high)))
            amount = round(rng.uniform(low, high), 2)
            return min(max(amount, low), high)
        case Words():
            return rng.choice(("hello", "no", "perhaps later"))
        case Mixture(options):
            weights = [rng.expovariate(1.0) for _ in options]
            total = math.fsum(weights)
            return tuple(weight / total for weight in weights)
        case Form(fields):
            return {name: any_legal_action(field, rng) for name, field in fields}
        case Lottery(chances):
            return rng.choice([outcome for outcome, p in chances if p > 0])


def check_game(game: Game[S], seed: int = 0, max_steps: int = 10_000) -> None:
    """Play once at random and check every promise that `Game` makes."""
    rng = Random(seed)
    episode = Episode(game)
    hold(game.start() == episode.state, "start() gives another state each time")
    different = set(game.roles)
    hold(0 < len(different) == len(game.roles), "roles must be different and not none")
    _check_names(game)
    for _ in range(max_steps):
        if episode.over:
            break
        _check_equilibrium(game, episode)
        _check_step(game, episode, rng)
    else:
        raise Broken(f"{game.name} did not end within {max_steps} steps")
    payoffs = game.payoffs(episode.state)
    hold(
        set(payoffs) == set(game.roles),
        f"payoffs for {sorted(payoffs)}, roles are {sorted(game.roles)}",
    )
    are_finite = all(map(math.isfinite, payoffs.values()))
    hold(are_finite, f"a payoff is not finite: {dict(payoffs)}")
    _check_telling(game, episode.state)
    written = json.dumps(record_to_json(episode.record({})))
    record = record_from_json(json.loads(written))
    replay = Episode(game, record.submissions)
    hold(replay.state == episode.state, "a replay ends in another state")
    _check_extras(game, rng)


def _check_names(game: Game[S]) -> None:
    """Everybody can tell apart who plays and what can be chosen first."""
    try:
        check_roles(tuple(game.roles))
        for role, ask in game.asks(game.start()).items():
            if isinstance(ask, Choice):
                check_distinct(tuple(ask.options), f"an option of {role}")
    except InvalidGame as error:
        raise Broken(str(error)) from None


def _check_telling(game: Game[S], end: S) -> None:
    """What the game states is what it executes."""
    try:
        check_statements(game)
        check_end(game, end)
    except Disagreement as error:
        raise Broken(f"what {game.name} states is not what it does: {error}") from None


def _check_equilibrium(game: Game[S], episode: Episode[S]) -> None:
    """The moves of a known equilibrium are legal and cost nothing."""
    for role, move in find_equilibrium_moves(game, episode.state).items():
        try:
            episode.pending[role].check(move)
        except InvalidMove as error:
            raise Broken(f"in its equilibrium {role} plays what is not legal: {error}") from None
        cost = measure_decision_cost(game, episode.state, role, move)
        hold(cost is None or cost <= _FREE, f"{role} pays {cost} for playing the equilibrium")


def _check_extras(game: Game[S], rng: Random) -> None:
    """What a game says of itself beyond its rules holds."""
    for role in game.roles:
        if isinstance(game, NamedStrategies):
            made = [game.make_strategy(name, role, 0) for name in game.strategy_names]
            hold(all(made), f"make_strategy() does not know all of strategy_names for {role}")
            are_players = all(hasattr(player, "decide") for player in made)
            hold(are_players, "make_strategy() returns something that is not a player")
        if isinstance(game, Quiz):
            answers = [question.answer for question in game.make_quiz(role, rng)]
            are_finite = all(map(math.isfinite, answers))
            hold(are_finite, f"a question to {role} has no finite answer")
    if isinstance(game, AdjustableRounds):
        hold(game.with_rounds(2).roles == game.roles, "with_rounds() changes the roles")


def _check_step(game: Game[S], episode: Episode[S], rng: Random) -> None:
    before = episode.state
    pending = episode.pending
    hold(
        set(pending) <= {*game.roles, NATURE, REFEREE},
        f"an unknown role is asked: {', '.join(pending)}",
    )
    views = {role: game.view(before, role) for role in pending}
    for role, ask in pending.items():
        hold(views[role].role == role, f"the view of {role} is addressed to {views[role].role}")
        hold(
            views[role].key == game.view(before, role).key,
            f"two looks of {role} at one state differ",
        )
        hold(type(ask) in get_args(Ask), f"the ask {ask!r} is of no kind that `Ask` lists")
    for role, ask in pending.items():
        episode.submit(role, Decision(any_legal_action(ask, rng)))
    asked_again = dict(game.asks(before))
    hold(asked_again == pending, "apply() changed the state it was given")
    for role, view in views.items():
        seen_again = game.view(before, role)
        hold(seen_again.key == view.key, "apply() changed what a role saw before")


def check_player(
    player: Player,
    game: Game[S],
    seed: int = 0,
    max_steps: int = 10_000,
) -> None:
    """Seat `player` everywhere except nature.

    Its decisions must be legal and the same for the same view.
    """
    rng = Random(seed)
    episode = Episode(game)
    hold(isinstance(player.name, str) and player.name != "", "a player needs a name")
    for _ in range(max_steps):
        if episode.over:
            return
        for role, ask in episode.pending.items():
            if role in (NATURE, REFEREE):
                episode.submit(role, Decision(any_legal_action(ask, rng)))
                continue
            view = episode.view(role)
            decision = player.decide(view, ask)
            hold(
                decision.action == player.decide(view, ask).action,
                f"{player.name} decides differently on one view",
            )
            episode.submit(role, decision)
    raise Broken(f"{game.name} did not end within {max_steps} steps")


def hold(kept: bool, promise: str) -> None:
    """Raise `Broken` where a promise is not kept."""
    if not kept:
        raise Broken(promise)
