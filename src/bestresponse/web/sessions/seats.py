"""Who fills the seats that no person takes: strategies by name, models, nature, and stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bestresponse.core.ask import Ask, Words
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Action, Game, Role, View
from bestresponse.core.player import Nature, Player
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.games.water.game import Water
from bestresponse.models.base import Model
from bestresponse.players.llm.agent import Agent
from bestresponse.players.lookup import rival
from bestresponse.players.strategies.automaton import AutomatonPlayer
from bestresponse.players.strategies.baselines import BASELINES, BaselinePlayer
from bestresponse.players.water.bidders import BIDDERS
from bestresponse.theory.repeated.library import classic_strategies, classic_strategy

__all__ = ["OpenModel", "check_strategy", "player_for", "stand_in_for", "strategies_for"]

OpenModel = Callable[[str], Model]
NO_WORDS = "(no message)"


def strategies_for(game: Game[Any]) -> tuple[str, ...]:
    """The strategies that can sit in any seat of `game`."""
    match game:
        case Water():
            return tuple(BIDDERS)
        case RepeatedGame() if game.form.num_players == 2:
            return (*BASELINES, *_automata(game))
        case MatrixGame() if game.form.num_players == 2:
            return tuple(BASELINES)
        case TreeGame():
            return ("random", "equilibrium")
        case _:
            return ("random",)


def _automata(game: RepeatedGame) -> tuple[str, ...]:
    if game.form.shape != (2, 2):
        return ()
    return tuple(automaton.name for automaton in classic_strategies() if automaton.name not in BASELINES)


def check_strategy(game: Game[Any], name: str) -> None:
    """UsageError where no strategy of that name plays `game`."""
    known = strategies_for(game)
    if name not in known:
        raise UsageError(f"there is no strategy named {name!r} for {game.name}.{did_you_mean(name, list(known))}")


def player_for(seat: str, game: Game[Any], role: Role, seed: int, open_model: OpenModel) -> Player:
    """The player that the words `strategy:NAME` or `model:NAME` put into the seat of `role`, or nature."""
    if role == NATURE:
        return Nature(seed)
    kind, _, name = seat.partition(":")
    if kind == "model":
        model = open_model(name)
        return Agent(model, style="json" if model.abilities.schema else "line")
    check_strategy(game, name)
    if isinstance(game, RepeatedGame) and name in _automata(game):
        return AutomatonPlayer(classic_strategy(name), split(seed, "seat", role))
    if isinstance(game, RepeatedGame) and name in BASELINES and game.form.num_players == 2:
        return BaselinePlayer(name, split(seed, "seat", role))
    player = rival(name, game, role, seed)
    assert player is not None, f"{name} is on the list of strategies for {game.name}"
    return player


def stand_in_for(name: str, game: Game[Any], view: View, ask: Ask, seed: int) -> Action:
    """What the strategy `name` answers in the place of `view.role`; words are not put into anybody's mouth."""
    if isinstance(ask, Words):
        return NO_WORDS
    return player_for(f"strategy:{name}", game, view.role, seed, _no_model).decide(view, ask).action


def _no_model(name: str) -> Model:
    raise UsageError(f"the model {name} does not stand in for anybody")
