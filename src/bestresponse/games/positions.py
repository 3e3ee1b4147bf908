"""Games that are told by their rules and the position that a play has come to.

A game says who moves at a position, what a move does and what the end pays, and puts rules and
positions into statements. `RuledGame` makes of this a game that players can play; `PositionGame`
adds that nothing is hidden, so that it can be explored as a graph of positions. A prompt is the
rules, the position and the legal moves: no tree is listed anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Generic

from bestresponse.core import NATURE, Action, Ask, Choice, Lottery, Role, View
from bestresponse.core.capabilities import P, ToMove
from bestresponse.core.told import Aim, Chose, Drew, Event, Over, Players, Saw, Statement
from bestresponse.telling.render import write_history
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree

Moves = tuple[tuple[Role, str], ...]
"""Who made which move, draws of nature included."""
Table = tuple[tuple[int, ...], tuple[str, ...]]
"""What was dealt to both, and what was said so far."""


@dataclass(frozen=True, slots=True)
class Played(Generic[P]):
    """A play: who made which move, draws of nature included, and where that led."""

    made: Moves
    position: P


class RuledGame(ABC, Generic[P]):
    """A game in turns that is told by its rules and its positions.

    A play that has not ended after `most_moves` moves and draws is stopped and pays
    `endless_result`.
    """

    name: str
    version = 1
    roles: tuple[Role, ...] = ("player 1", "player 2")
    payoff_bounds: tuple[float, float] = (-1.0, 1.0)
    total: float | None = 0.0
    endless_result: tuple[float, ...] = (0.0, 0.0)
    most_moves = 1_000

    @abstractmethod
    def begin(self) -> P:
        """Return the position before anybody has moved."""

    @abstractmethod
    def find_turn(self, position: P) -> ToMove:
        """Say who moves at a position and how."""

    @abstractmethod
    def advance(self, position: P, move: str) -> P:
        """Return the position after a move."""

    @abstractmethod
    def find_result(self, position: P) -> tuple[float, ...]:
        """Return what a play that is over at this position pays to every seat."""

    @abstractmethod
    def state_rules(self) -> tuple[Statement, ...]:
        """State the rules, in at most 200 words."""

    @abstractmethod
    def state_position(self, position: P, role: Role) -> tuple[Statement, ...]:
        """State what a seat sees of a position, in at most 120 words."""

    @abstractmethod
    def list_seen(self, made: Moves, role: Role) -> tuple[Event, ...]:
        """List what a seat has learnt of the moves and draws so far."""

    def start(self) -> Played[P]:
        """Return the state before anybody has moved."""
        return Played((), self.begin())

    def asks(self, state: Played[P]) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if len(state.made) >= self.most_moves:
            return {}
        turn = self.find_turn(state.position)
        if turn.role == NATURE:
            return {NATURE: Lottery(tuple(zip(turn.moves, turn.chances, strict=True)))}
        return {turn.role: Choice(turn.moves)} if turn.role else {}

    def apply(self, state: Played[P], moves: Mapping[Role, Action]) -> Played[P]:
        """Return the state after a move."""
        ((role, move),) = moves.items()
        return Played((*state.made, (role, move)), self.advance(state.position, move))

    def view(self, state: Played[P], role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, history=list_openly(state.made))
        history = self.list_seen(state.made, role)
        if not self.asks(state):
            history = (*history, Over())
        facts = {"rivals": [other for other in self.roles if other != role]}
        rules = (Players(self.roles), *self.state_rules(), Aim())
        told = self.state_position(state.position, role)
        return View(role, rules, history, facts, position=told)

    def payoffs(self, state: Played[P]) -> Mapping[Role, float]:
        """Return what each role gets; nothing before the end."""
        if self.is_endless(state):
            paid = self.endless_result
        elif self.find_turn(state.position).role:
            paid = (0.0,) * len(self.roles)
        else:
            paid = self.find_result(state.position)
        return dict(zip(self.roles, paid, strict=True))

    def is_endless(self, state: Played[P]) -> bool:
        """Say whether the play was stopped before its end."""
        return len(state.made) >= self.most_moves and bool(self.find_turn(state.position).role)

    def unfold(self, limit: int) -> Tree:
        """Return the tree; TooLarge where it has more than `limit` nodes."""
        return _unfold(self, limit)


class PositionGame(RuledGame[P]):
    """A game of perfect information: everybody sees every move, and the position is all."""

    def list_seen(self, made: Moves, role: Role) -> tuple[Event, ...]:
        """List all moves and draws so far."""
        return list_openly(made)

    def find_position(self, state: Played[P]) -> P:
        """Return the position that a play has come to."""
        return state.position

    def read_position(self, view: View) -> P:
        """Return the position that the moves and draws of a view lead to."""
        position = self.begin()
        for event in view.history:
            if isinstance(event, Chose):
                position = self.advance(position, event.options[0])
            elif isinstance(event, Drew):
                position = self.advance(position, event.outcomes[0])
        return position

    def find_key(self, position: P) -> Hashable:
        """Return what is equal for positions that go on alike: the position, if not more is."""
        return position


class DealtGame(RuledGame[Table]):
    """A game in which each of two is dealt a number that only they see, and both speak in turn.

    `own` is what a player is told of the own number.
    """

    own: str

    def begin(self) -> Table:
        """Return the table before anything is dealt."""
        return (), ()

    def deal(self, pairs: Iterable[tuple[int, ...]]) -> ToMove:
        """Let nature draw one of these pairs of numbers, each as likely as the others."""
        names = tuple(f"{first},{second}" for first, second in pairs)
        chance = 1 / len(names)
        return ToMove(NATURE, names, (chance,) * len(names))

    def advance(self, position: Table, move: str) -> Table:
        """Put down what was dealt, or what was said."""
        dealt, said = position
        if not dealt:
            return tuple(map(int, move.split(","))), ()
        return dealt, (*said, move)

    def list_seen(self, made: Moves, role: Role) -> tuple[Event, ...]:
        """List what was said; of the deal a player sees its own number alone."""
        said = list_openly(made[1:])
        if not made:
            return said
        number = made[0][1].split(",")[self.roles.index(role)]
        return (Saw(self.own.format(number=number)), *said)


@lru_cache(maxsize=2)
def _unfold(game: RuledGame[P], limit: int) -> Tree:
    """Make the tree; what a seat may know is put into words once, not at every node."""
    known: dict[tuple[Role, tuple[Event, ...]], tuple[str, str]] = {}

    def expand(state: Played[P]) -> Leaf | Chance | Turn:
        turn = game.find_turn(state.position)
        if not turn.role or game.is_endless(state):
            paid = game.payoffs(state)
            return Leaf(list(paid.values()))
        after = {move: game.apply(state, {turn.role: move}) for move in turn.moves}
        if turn.role == NATURE:
            different = set(turn.chances)
            even = Fraction(1, len(after)) if len(different) == 1 else None
            drawn = zip(turn.moves, turn.chances, strict=True)
            return Chance({move: (even or chance, after[move]) for move, chance in drawn})
        seen = turn.role, game.list_seen(state.made, turn.role)
        if seen not in known:
            view = game.view(state, turn.role)
            known[seen] = view.key, write_history(view)
        key, label = known[seen]
        return Turn(turn.role, key, after, label)

    return build_tree(game.roles, game.start(), expand, limit=limit, name=game.name)


def list_openly(made: Moves) -> tuple[Event, ...]:
    """List moves and draws as everybody sees them."""
    return tuple(Drew((move,)) if role == NATURE else Chose(role, (move,)) for role, move in made)
