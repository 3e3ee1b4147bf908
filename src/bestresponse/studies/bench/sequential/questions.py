"""One question about a game played in turn: what to do at one information set, whatever led there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from bestresponse.analysis.theory import find_infoset
from bestresponse.core.ask import PASS, Amount, Ask, Choice, Lottery, Mixture
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import Action, AnyGame, Role, View
from bestresponse.theory.trees.tree import Tree

__all__ = ["Question", "find_views"]

State = tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A game of one answer: the player of an information set sees what it knows there, and says what it would do."""

    name: str
    shown: View
    ask: Choice | Mixture
    version: int = 1

    @property
    def roles(self) -> tuple[Role, ...]:
        """The one seat."""
        return (self.shown.role,)

    def start(self) -> State:
        """Begin before the answer."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Ask once."""
        return {} if state else {self.shown.role: self.ask}

    def view(self, state: State, role: Role) -> View:
        """Show what the player knows at the information set."""
        return self.shown

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """End with the answer."""
        return tuple(moves.values())

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Pay nothing: what a policy earns is computed from all of its answers."""
        return {}


def find_views(game: AnyGame, tree: Tree) -> Mapping[int, View]:
    """Find for every information set of `tree`, which is that of `game`, what its player is shown there."""
    found: dict[int, View] = {}
    waiting = [game.start()]
    while waiting and len(found) < len(tree.infosets):
        state = waiting.pop()
        asks = game.asks(state)
        for role, ask in asks.items():
            if not isinstance(ask, Lottery):
                view = game.view(state, role)
                found.setdefault(find_infoset(tree, view), view)
        answers = [[(role, answer) for answer in _list_answers(ask)] for role, ask in asks.items()]
        waiting += [game.apply(state, dict(moves)) for moves in product(*answers) if moves]
    return found


def _list_answers(ask: Ask) -> list[Action]:
    match ask:
        case Lottery(chances):
            return [outcome for outcome, chance in chances if chance]
        case Choice(options):
            answers: list[Action] = list(options)
        case Amount(low, high, whole=True):
            answers = list(range(int(-(-low // 1)), int(high // 1) + 1))
        case _:
            raise InvalidGame(f"the answers to {type(ask).__name__} cannot be listed; a tree needs choices")
    return [*answers, PASS] if ask.may_pass else answers
