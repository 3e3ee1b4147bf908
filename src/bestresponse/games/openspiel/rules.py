"""Games of OpenSpiel on OpenSpiel's own states: no tree is unfolded to play or tell them.

A position is a state of OpenSpiel. Where nothing is hidden, its key is who moves and what the state
prints. A state that prints less than it knows would be solved wrongly without a word, so keys are
checked by plays before a game is given away. That is a test and no proof. Where something is
hidden, a player is told its information state, and a tree is unfolded only to solve the game.

M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import TooLarge
from bestresponse.core.game import NATURE, Role, View
from bestresponse.core.told import Event, Prose, Saw, Statement, TextPlace, Worded
from bestresponse.games.openspiel.texts import SPIEL_RULES
from bestresponse.games.positions import Moves, Played, PositionGame, RuledGame
from bestresponse.theory.positions.keys import check_keys
from bestresponse.theory.trees.openspiel import (
    CHANCE_PLAYER,
    load_openspiel,
    name_spiel_actions,
    name_spiel_players,
    open_openspiel,
)

if TYPE_CHECKING:
    import pyspiel

    from bestresponse.theory.trees.tree import Tree

_OTHERS = "This is {title}, played by {count}. A play pays each of them between {range}."
_UNTOLD = {"board_size", "egocentric_obs_tensor", "is_misere", "plain_obs_tensor"}
"""Parameters that change nothing that rules would tell, or that are told by another name."""
_CHECKED_PLAYS = 20
_CHECKED_MOVES = 60
_TOLD_NODES = 500
"""Larger trees are too long to be told."""


@dataclass(frozen=True)
class SpielPosition:
    """A state of OpenSpiel, and OpenSpiel's numbers of the moves that lead there."""

    state: pyspiel.State = field(compare=False)
    made: tuple[int, ...] = ()

    @cached_property
    def actions(self) -> Mapping[str, int]:
        """OpenSpiel's numbers of the moves, by their names."""
        actions = self.state.legal_actions()
        names = name_spiel_actions(self.state, self.state.current_player(), actions)
        return dict(zip(names, actions, strict=True))


@dataclass(frozen=True, eq=False)
class SpielGame(RuledGame[SpielPosition]):
    """A game of OpenSpiel that is played in turn."""

    name: str
    game: pyspiel.Game = field(repr=False)

    def __post_init__(self) -> None:
        """Take over what OpenSpiel says of the game."""
        game = self.game
        count = game.num_players()
        total = game.utility_sum()
        own = {
            "roles": name_spiel_players(game),
            "payoff_bounds": (min(0.0, game.min_utility()), max(0.0, game.max_utility())),
            "total": total,
            "endless_result": ((total or 0.0) / count,) * count,
            # OpenSpiel ends every play by itself.
            "most_moves": game.max_game_length() + game.max_chance_nodes_in_history() + 1,
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def begin(self) -> SpielPosition:
        """Return OpenSpiel's first state."""
        return SpielPosition(self.game.new_initial_state())

    def find_turn(self, position: SpielPosition) -> ToMove:
        """Say who moves, with OpenSpiel's names of the moves."""
        state = position.state
        if state.is_terminal():
            return ToMove()
        moves = tuple(position.actions)
        player = state.current_player()
        if player != CHANCE_PLAYER:
            return ToMove(self.roles[player], moves)
        chances = dict(state.chance_outcomes())
        total = sum(chances.values())
        drawn = [chances[action] / total for action in position.actions.values()]
        return ToMove(NATURE, moves, tuple(drawn))

    def advance(self, position: SpielPosition, move: str) -> SpielPosition:
        """Let OpenSpiel make the move."""
        action = position.actions[move]
        return SpielPosition(position.state.child(action), (*position.made, action))

    def find_result(self, position: SpielPosition) -> tuple[float, ...]:
        """Return what OpenSpiel pays."""
        return tuple(position.state.returns())

    def state_rules(self) -> tuple[Statement, ...]:
        """State the rules in our words where there are some; OpenSpiel has none."""
        least, most = self.payoff_bounds
        chosen = self.game.get_parameters()
        places = {
            **chosen,
            "last": "loses" if chosen.get("is_misere") else "wins",
            "title": self.game.get_type().long_name,
            "count": len(self.roles),
            "range": f"{least:g};{most:g}",
        }
        told = []
        for name, value in places.items():
            parts = str(value).split(";")
            told.append(TextPlace(name, tuple(parts), "and"))
        return (Worded(self._find_text(), tuple(told)),)

    def _find_text(self) -> str:
        """Find our rules; none where the game was changed in a way that they do not speak of."""
        name = self.game.get_type().short_name
        text = SPIEL_RULES.get(name, _OTHERS)
        usual = open_openspiel(name).get_parameters() if text != _OTHERS else {}
        chosen = self.game.get_parameters()
        for key in set(usual) - _UNTOLD:
            if chosen[key] != usual[key] and f"{{{key}}}" not in text:
                return _OTHERS
        return text


@dataclass(frozen=True, eq=False)
class OpenSpielGame(SpielGame, PositionGame[SpielPosition]):
    """A game of OpenSpiel that is played in turn, hides nothing, and pays at the end."""

    def find_key(self, position: SpielPosition) -> tuple[int, str]:
        """Return who moves and what the state prints."""
        return position.state.current_player(), str(position.state)

    def state_position(self, position: SpielPosition, role: Role) -> tuple[Statement, ...]:
        """Show what OpenSpiel shows of the state."""
        state = position.state
        shows = self.game.get_type().provides_observation_string
        shown = state.observation_string(self.roles.index(role)) if shows else str(state)
        return (Prose(shown.strip("\n")),)


@dataclass(frozen=True, eq=False)
class HiddenSpielGame(SpielGame):
    """A game of OpenSpiel that is played in turn and hides something."""

    def unfold(self, limit: int) -> Tree:
        """Return the tree, whose information sets are called as players are told them."""
        return load_openspiel(self.game, limit=limit)

    def list_seen(self, made: Moves, role: Role) -> tuple[Event, ...]:
        """List nothing: the information state says all that a player has seen."""
        return ()

    def view(self, state: Played[SpielPosition], role: Role) -> View:
        """Return the information state of a role, which is its history."""
        shown = super().view(state, role)
        if role == NATURE:
            return shown
        known = self._show(state.position, role)
        facts = {**shown.facts, "infoset": known}
        return replace(shown, history=(Saw(known), *shown.history), facts=facts)

    def state_position(self, position: SpielPosition, role: Role) -> tuple[Statement, ...]:
        """Show what OpenSpiel says a player knows."""
        return (Prose(self._show(position, role).strip("\n")),)

    def _show(self, position: SpielPosition, role: Role) -> str:
        return position.state.information_state_string(self.roles.index(role)) or "start"


def load_openspiel_game(name: str) -> SpielGame | Tree:
    """Load a game of OpenSpiel: by its positions where it has them, as a tree if that is small.

    Raises:
        InvalidGame: there is no such game, or its states print less than they know.
    """
    game = open_openspiel(name)
    kind = game.get_type()
    has_positions = (
        kind.information == kind.Information.PERFECT_INFORMATION
        and kind.dynamics == kind.Dynamics.SEQUENTIAL
        and kind.reward_model == kind.RewardModel.TERMINAL
        and kind.chance_mode != kind.ChanceMode.SAMPLED_STOCHASTIC
    )
    if not has_positions:
        if kind.dynamics != kind.Dynamics.SEQUENTIAL or not kind.provides_information_state_string:
            return load_openspiel(game)
        try:
            return load_openspiel(game, limit=_TOLD_NODES)
        except TooLarge:
            return HiddenSpielGame(f"openspiel:{name}", game)
    made = OpenSpielGame(f"openspiel:{name}", game)
    check_keys(made, plays=_CHECKED_PLAYS, most_moves=_CHECKED_MOVES)
    return made
