"""Games of OpenSpiel as trees, where `pyspiel` is installed (extra `openspiel`).

Any game, sequential or simultaneous, whose chance can be enumerated: nodes with simultaneous moves become successive
moves without sight of each other. Information sets are OpenSpiel's information state strings.

M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.files.game_text import number_repeats
from bestresponse.theory.games.rationals import read_simplest
from bestresponse.theory.trees.build import NODE_LIMIT, Chance, Leaf, Turn, build_tree
from bestresponse.theory.trees.tree import Tree

__all__ = ["load_openspiel", "openspiel_is_installed"]


def openspiel_is_installed() -> bool:
    """Say whether OpenSpiel can be imported."""
    return find_spec("pyspiel") is not None


def load_openspiel(game: Any, *, limit: int = NODE_LIMIT) -> Tree:
    """Build the tree of an OpenSpiel game, given by its name with parameters ("kuhn_poker(players=3)") or itself."""
    if not openspiel_is_installed():
        raise UsageError("OpenSpiel is not installed: pip install 'bestresponse[openspiel]'")
    if isinstance(game, str):
        game = _loaded(game)
    loader = _Loader(game, tuple(f"player {i + 1}" for i in range(game.num_players())))
    loader.check()
    return build_tree(loader.players, (game.new_initial_state(), ()), loader.expand, limit=limit, name=str(game))


def _loaded(name: str) -> Any:
    import pyspiel

    known = pyspiel.registered_names()
    plain = name.partition("(")[0].strip()
    if plain not in known:
        raise InvalidGame(f"OpenSpiel has no game {plain!r}.{did_you_mean(plain, known)}")
    try:
        return pyspiel.load_game(name)
    except (pyspiel.SpielError, RuntimeError, ValueError) as error:
        raise InvalidGame(f"OpenSpiel cannot load {name!r}: {str(error).splitlines()[0]}") from None


@dataclass(frozen=True, slots=True)
class _Loader:
    """What stands at a position: a state, and the moves chosen so far where players move at the same time."""

    game: Any
    players: tuple[str, ...]

    def check(self) -> None:
        import pyspiel

        kind = self.game.get_type()
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise InvalidGame(f"{self.game} samples its chance moves; a tree needs them listed with probabilities")
        if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
            raise InvalidGame(f"{self.game} is a mean field game; a tree needs a finite number of players")
        perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        if not kind.provides_information_state_string and not perfect:
            raise InvalidGame(f"{self.game} gives no information state strings; a tree needs them")

    def expand(self, position: tuple[Any, tuple[int, ...]]) -> Leaf | Chance | Turn:
        state, chosen = position
        if state.is_terminal():
            return Leaf(state.returns())
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            labels = number_repeats(state.action_to_string(state.current_player(), action) for action, _ in outcomes)
            chances: list[float | Fraction] = [read_simplest(p) for _, p in outcomes]
            if sum(chances) != 1:
                chances = [p for _, p in outcomes]
            branches = zip(labels, outcomes, chances, strict=True)
            return Chance({label: (p, (state.child(action), ())) for label, (action, _), p in branches})
        if state.is_simultaneous_node():
            return self._simultaneous(state, chosen)
        player = state.current_player()
        after = [(state.child(action), ()) for action in state.legal_actions()]
        return self._turn(state, player, state.legal_actions(), after)

    def _simultaneous(self, state: Any, chosen: tuple[int, ...]) -> Turn:
        player = len(chosen)
        actions = state.legal_actions(player) or [0]
        after: list[tuple[Any, tuple[int, ...]]] = []
        for action in actions:
            made = (*chosen, action)
            if len(made) < len(self.players):
                after.append((state, made))
                continue
            child = state.clone()
            child.apply_actions(list(made))
            after.append((child, ()))
        return self._turn(state, player, actions, after)

    def _turn(self, state: Any, player: int, actions: list[int], after: list[Any]) -> Turn:
        known = self.game.get_type().provides_information_state_string
        infoset = state.information_state_string(player) if known else state.history_str()
        labels = number_repeats(state.action_to_string(player, action) for action in actions)
        return Turn(self.players[player], infoset or "start", dict(zip(labels, after, strict=True)))
