"""Games that begin with stages of a mechanism and go on as the game within."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.game import NATURE, Action, AnyGame, Role, View
from bestresponse.core.told import Aim, Chose, Event, GameRule, YourTurn

Step = tuple[tuple[Role, str | float], ...]
"""Who did what at the same time."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What was answered in the stages, where the game within is then, and how it came there."""

    said: tuple[Step, ...] = ()
    play: Any = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class StagedGame(ABC):
    """A game that begins with public answers to `ask_stage` and goes on as `within`."""

    within: AnyGame
    name: str
    rule: GameRule

    @abstractmethod
    def ask_stage(self, said: tuple[Step, ...]) -> Mapping[Role, Choice]:
        """Say who answers what next; nobody where the game within begins."""

    def tell_answer(self, who: Role, answer: str) -> Event:
        """Tell what somebody answered."""
        return Chose(who, (answer,))

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.within.version

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.within.roles

    def start(self) -> Staged:
        """Return the state before anybody has moved."""
        return Staged()

    def asks(self, state: Staged) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        return self.ask_stage(state.said) if state.play is None else self.within.asks(state.play)

    def apply(self, state: Staged, moves: Mapping[Role, Action]) -> Staged:
        """Return the state after these moves."""
        step = tuple((role, moves[role]) for role in self.asks(state))
        if state.play is not None:
            return Staged(state.said, self.within.apply(state.play, moves), (*state.steps, step))
        said = (*state.said, step)
        return Staged(said, None if self.ask_stage(said) else self.within.start())

    def find_within(self, state: Staged) -> object:
        """Return the state of the game within, its start where it has not begun."""
        return self.within.start() if state.play is None else state.play

    def payoffs(self, state: Staged) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return self.within.payoffs(self.find_within(state))

    def view(self, state: Staged, role: Role) -> View:
        """Return what `role` may know in `state`: all answers, and what the game within shows.

        What happened is told as a history also where the game within tells a position.
        """
        seen = self.within.view(self.find_within(state), role)
        if role == NATURE:
            return seen
        answers = (self.tell_answer(who, str(made)) for step in state.said for who, made in step)
        history: tuple[Event, ...] = seen.history
        if state.play is None:
            history = (YourTurn(),) if role in self.asks(state) else ()
        rules = [rule for rule in seen.rules if not isinstance(rule, Aim)]
        aims = [rule for rule in seen.rules if isinstance(rule, Aim)]
        return replace(
            seen,
            rules=(*rules, self.rule, *aims),
            history=(*answers, *history),
            position=(),
        )
