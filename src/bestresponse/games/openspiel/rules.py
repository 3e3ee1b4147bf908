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
from bestresponse.games.openspiel.texts import RULES
from bestresponse.games.positions import PositionGame
from bestresponse.theory.files.game_text import number_repeats
from bestresponse.theory.positions.keys import check_keys
from bestresponse.theory.trees.openspiel import CHANCE_PLAYER, load_openspiel, open_openspiel

if TYPE_CHECKING:
    import pyspiel

    from bestresponse.theory.trees.tree import Tree

_OTHERS = "This is {title}, played by {count}. A play pays each of them between {range}."
_UNTOLD = {"board_size", "egocentric_obs_tensor", "is_misere", "plain_obs_tensor"}
"""Parameters that change nothing that rules would tell, or that are told by another name."""
_CHECKED_PLAYS = 20
_CHECKED_MOVES = 60


@dataclass(frozen=True, eq=False)
class Reached:
    """A state of OpenSpiel."""

    state: pyspiel.State

    @cached_property
    def actions(self) -> Mapping[str, int]:
        """OpenSpiel's numbers of the moves, by their names."""
        state = self.state
        player = state.current_player()
        actions = state.legal_actions()
        names = number_repeats(state.action_to_string(player, action) for action in actions)
        return dict(zip(names, actions, strict=True))


@dataclass(frozen=True, eq=False)
class OpenSpielGame(PositionGame[Reached]):
    """A game of OpenSpiel that is played in turn, hides nothing, and pays at the end."""

    name: str
    game: pyspiel.Game = field(repr=False)

    def __post_init__(self) -> None:
        """Take over what OpenSpiel says of the game."""
        game = self.game
        count = game.num_players()
        total = game.utility_sum()
        own = {
            "roles": tuple(f"player {seat + 1}" for seat in range(count)),
            "payoff_bounds": (min(0.0, game.min_utility()), max(0.0, game.max_utility())),
            "total": total,
            "endless_result": ((total or 0.0) / count,) * count,
            # OpenSpiel ends every play by itself.
            "most_moves": game.max_game_length() + game.max_chance_nodes_in_history() + 1,
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def begin(self) -> Reached:
        """Return OpenSpiel's first state."""
        return Reached(self.game.new_initial_state())

    def find_turn(self, position: Reached) -> ToMove:
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
        drawn = tuple(chances[action] / total for action in position.actions.values())
        return ToMove(NATURE, moves, drawn)

    def advance(self, position: Reached, move: str) -> Reached:
        """Let OpenSpiel make the move."""
        return Reached(position.state.child(position.actions[move]))

    def find_result(self, position: Reached) -> tuple[float, ...]:
        """Return what OpenSpiel pays."""
        return tuple(position.state.returns())

    def find_key(self, position: Reached) -> tuple[int, str]:
        """Return who moves and what the state prints."""
        return position.state.current_player(), str(position.state)

    def state_rules(self) -> tuple[Statement, ...]:
        """State the rules in our words where there are some; OpenSpiel has none."""
        least, most = self.payoff_bounds
        chosen = self.game.get_parameters()
        places = {name: tuple(str(value).split(";")) for name, value in chosen.items()}
        places["last"] = ("loses" if chosen.get("is_misere") else "wins",)
        places["title"] = (self.game.get_type().long_name,)
        places["count"] = (str(len(self.roles)),)
        places["range"] = (f"{least:g}", f"{most:g}")
        told = tuple(TextPlace(name, parts, "and") for name, parts in places.items())
        return (Worded(self._find_text(), told),)

    def _find_text(self) -> str:
        """Find our rules; none where the game was changed in a way that they do not speak of."""
        name = self.game.get_type().short_name
        text = RULES.get(name, _OTHERS)
        usual = open_openspiel(name).get_parameters() if text != _OTHERS else {}
        chosen = self.game.get_parameters()
        changed = {key for key in usual if chosen[key] != usual[key]} - _UNTOLD
        return text if all(f"{{{key}}}" in text for key in changed) else _OTHERS

    def state_position(self, position: Reached, role: Role) -> tuple[Statement, ...]:
        """Show what OpenSpiel shows of the state."""
        state = position.state
        shows = self.game.get_type().provides_observation_string
        shown = state.observation_string(self.roles.index(role)) if shows else str(state)
        return (Prose(shown.strip("\n")),)


def load_game(name: str) -> OpenSpielGame | Tree:
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
