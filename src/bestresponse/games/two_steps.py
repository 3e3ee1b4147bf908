"""What games of two share who move one after the other with whole amounts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from random import Random
from typing import ClassVar

from bestresponse.core import Action, Ask, Role, View
from bestresponse.core.capabilities import Question
from bestresponse.core.told import Aim, Event, GameRule, Over, Players, YourTurn
from bestresponse.games.quiz import Verb, ask_about_play

State = tuple[int | str, ...]
"""The moves so far."""


class TwoSteps(ABC):
    """What such games share; a game says what is asked, told and earned."""

    name: str
    version: int
    roles: tuple[Role, ...]
    verbs: ClassVar[tuple[Verb, Verb]]
    unit: ClassVar[str] = ""

    @property
    @abstractmethod
    def rule(self) -> GameRule:
        """The rule that is told."""

    @abstractmethod
    def list_events(self, state: State) -> list[Event]:
        """List what happened."""

    @abstractmethod
    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""

    @abstractmethod
    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        history = self.list_events(state)
        asks = self.asks(state)
        if role in asks:
            history.insert(0, YourTurn())
        if not asks:
            history.append(Over())
        facts = {"rivals": [other for other in self.roles if other != role]}
        return View(role, (Players(self.roles), self.rule, Aim()), tuple(history), facts)

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        (move,) = moves.values()
        return (*state, move if isinstance(move, str) else int(move))

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what some moves of both earn."""
        return ask_about_play(self, role, rng, self.verbs)
