"""Games of OpenSpiel as trees, where `pyspiel` is installed (extra `openspiel`).

Any game, sequential or simultaneous, whose chance can be enumerated: nodes with simultaneous moves
become successive moves without sight of each other. Information sets are OpenSpiel's information
state strings.

M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.files.game_text import number_repeats
from bestresponse.theory.games.normal_form import read_simplest
from bestresponse.theory.trees.tree import NODE_LIMIT, Chance, Leaf, Tree, Turn, build_tree

if TYPE_CHECKING:
    import pyspiel

CHANCE_PLAYER = -1
"""OpenSpiel's number for chance."""


def openspiel_is_installed() -> bool:
    """Say whether OpenSpiel can be imported."""
    return find_spec("pyspiel") is not None


def open_openspiel(name: str) -> pyspiel.Game:
    """Load a game of OpenSpiel by its name with parameters, such as "kuhn_poker(players=3)"."""
    if not openspiel_is_installed():
        raise UsageError(f"OpenSpiel is not installed: {install_hint('openspiel')}")
    import pyspiel

    known = pyspiel.registered_names()
    plain = name.partition("(")[0].strip()
    if plain not in known:
        raise InvalidGame(f"OpenSpiel has no game {plain!r}.{did_you_mean(plain, known)}")
    try:
        return pyspiel.load_game(name)
    except (pyspiel.SpielError, RuntimeError, ValueError) as error:
        raise InvalidGame(f"OpenSpiel cannot load {name!r}: {str(error).splitlines()[0]}") from None


def load_openspiel(game: str | pyspiel.Game, *, limit: int = NODE_LIMIT) -> Tree:
    """Build the tree of an OpenSpiel game.

    The game is given by its name with parameters ("kuhn_poker(players=3)") or itself.
    """
    if isinstance(game, str):
        game = open_openspiel(game)
    kind = game.get_type()
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise InvalidGame(
            f"{game} samples its chance moves; a tree needs them listed with probabilities"
        )
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise InvalidGame(f"{game} is a mean field game; a tree needs a finite number of players")
    perfect = kind.information == kind.Information.PERFECT_INFORMATION
    if not perfect and not kind.provides_information_state_string:
        raise InvalidGame(f"{game} gives no information state strings; a tree needs them")
    players = name_spiel_players(game)
    unfolding = SpielTree(players, kind.provides_information_state_string)
    root = SpielNode(game.new_initial_state())
    return build_tree(players, root, unfolding.expand, limit=limit, name=str(game))


@dataclass(frozen=True, slots=True)
class SpielNode:
    """A state, and the moves of those who have chosen in it where all choose at the same time."""

    state: pyspiel.State
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SpielTree:
    """Says what is at a state; `tells` is whether states say what a player knows."""

    players: tuple[str, ...]
    tells: bool

    def expand(self, reached: SpielNode) -> Leaf | Chance | Turn:
        """Say who moves, and where each move leads."""
        state = reached.state
        if state.is_terminal():
            return Leaf(state.returns())
        if state.is_chance_node():
            return _list_draws(state)
        if state.is_simultaneous_node():
            player = len(reached.chosen)
            actions = state.legal_actions(player) or [0]  # who has no move waits
        else:
            player = state.current_player()
            actions = state.legal_actions()
        known = state.information_state_string(player) if self.tells else state.history_str()
        names = name_spiel_actions(state, player, actions)
        places = [self._choose(reached, action) for action in actions]
        moves = dict(zip(names, places, strict=True))
        return Turn(self.players[player], known or "start", moves)

    def _choose(self, reached: SpielNode, action: int) -> SpielNode:
        """Make a move; of those who choose at the same time only the last one leads on."""
        state = reached.state
        if not state.is_simultaneous_node():
            return SpielNode(state.child(action))
        chosen = (*reached.chosen, action)
        if len(chosen) < len(self.players):
            return SpielNode(state, chosen)
        after = state.clone()
        after.apply_actions(list(chosen))
        return SpielNode(after)


def name_spiel_players(game: pyspiel.Game) -> tuple[str, ...]:
    """Name the players, whom OpenSpiel numbers from 0."""
    return tuple(f"player {seat + 1}" for seat in range(game.num_players()))


def name_spiel_actions(state: pyspiel.State, player: int, actions: Iterable[int]) -> list[str]:
    """Name actions as OpenSpiel does, with numbers where two would have one name."""
    names = [state.action_to_string(player, action) for action in actions]
    return number_repeats(names)


def _list_draws(state: pyspiel.State) -> Chance:
    actions, odds = zip(*state.chance_outcomes(), strict=True)
    chances: list[float | Fraction] = list(map(read_simplest, odds))
    if sum(chances) != 1:
        chances = list(odds)
    places = [SpielNode(state.child(action)) for action in actions]
    branches = zip(chances, places, strict=True)
    names = name_spiel_actions(state, CHANCE_PLAYER, actions)
    return Chance(dict(zip(names, branches, strict=True)))
