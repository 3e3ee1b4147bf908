"""What games of two share who move one after the other with any amount.

The catalogue's `trust` and `ultimatum` are the same games in whole units, as trees that can be
solved.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from random import Random
from typing import ClassVar

from bestresponse.core import Action, Ask, Role, View
from bestresponse.core.capabilities import Question
from bestresponse.games.quiz import Verb, ask_about_play

State = tuple[float | str, ...]
"""The moves so far."""


class TwoSteps(ABC):
    """What such games share; a game says what is asked, told and earned."""

    name: str
    version: int
    roles: tuple[Role, ...]
    verbs: ClassVar[tuple[Verb, Verb]]
    unit: ClassVar[str] = ""

    @abstractmethod
    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""

    @abstractmethod
    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""

    @abstractmethod
    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        (move,) = moves.values()
        return (*state, move if isinstance(move, str) else float(move))

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what some moves of both earn."""
        return ask_about_play(self, role, rng, self.verbs)
