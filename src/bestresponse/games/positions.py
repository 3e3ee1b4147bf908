"""Games that are told by their rules and the position that a play has come to.

A game says who moves at a position, what a move does and what the end pays, and puts rules and
positions into statements. `RuledGame` makes of this a game that players can play; `PositionGame`
adds that nothing is hidden, so that it can be explored as a graph of positions. A prompt is the
rules, the position and the legal moves: no tree is listed anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic

from bestresponse.core import NATURE, Action, Ask, Choice, Lottery, Role, View
from bestresponse.core.capabilities import P, ToMove
from bestresponse.core.told import Aim, Chose, Drew, Event, Over, Players, Statement

Moves = tuple[tuple[Role, str], ...]
"""Who made which move, draws of nature included."""


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


def list_openly(made: Moves) -> tuple[Event, ...]:
    """List moves and draws as everybody sees them."""
    return tuple(Drew((move,)) if role == NATURE else Chose(role, (move,)) for role, move in made)
