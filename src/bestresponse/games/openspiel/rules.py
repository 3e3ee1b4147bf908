"""Games of OpenSpiel of perfect information, on OpenSpiel's own states: no tree is unfolded.

A position is a state of OpenSpiel; its key is who moves and what the state prints. A state that
prints less than it knows would be solved wrongly without a word, so keys are checked by plays
before a game is given away. That is a test and no proof.

M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from bestresponse.core.capabilities import ToMove
from bestresponse.core.game import NATURE, Role
from bestresponse.core.told import Prose, Statement, TextPlace, Worded
from bestresponse.games.openspiel.texts import SPIEL_RULES
from bestresponse.games.positions import PositionGame
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


@dataclass(frozen=True, eq=False)
class SpielPosition:
    """A state of OpenSpiel."""

    state: pyspiel.State

    @cached_property
    def actions(self) -> Mapping[str, int]:
        """OpenSpiel's numbers of the moves, by their names."""
        actions = self.state.legal_actions()
        names = name_spiel_actions(self.state, self.state.current_player(), actions)
        return dict(zip(names, actions, strict=True))


@dataclass(frozen=True, eq=False)
class OpenSpielGame(PositionGame[SpielPosition]):
    """A game of OpenSpiel that is played in turn, hides nothing, and pays at the end."""

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
        return SpielPosition(position.state.child(position.actions[move]))

    def find_result(self, position: SpielPosition) -> tuple[float, ...]:
        """Return what OpenSpiel pays."""
        return tuple(position.state.returns())

    def find_key(self, position: SpielPosition) -> tuple[int, str]:
        """Return who moves and what the state prints."""
        return position.state.current_player(), str(position.state)

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

    def state_position(self, position: SpielPosition, role: Role) -> tuple[Statement, ...]:
        """Show what OpenSpiel shows of the state."""
        state = position.state
        shows = self.game.get_type().provides_observation_string
        shown = state.observation_string(self.roles.index(role)) if shows else str(state)
        return (Prose(shown.strip("\n")),)


def load_openspiel_game(name: str) -> OpenSpielGame | Tree:
    """Load a game of OpenSpiel: by its positions where it has them, otherwise as a tree.

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
        return load_openspiel(game)
    made = OpenSpielGame(f"openspiel:{name}", game)
    check_keys(made, plays=_CHECKED_PLAYS, most_moves=_CHECKED_MOVES)
    return made
