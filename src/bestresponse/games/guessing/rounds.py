"""What games of rounds share in which everybody chooses a number.

The numbers are chosen in secret and at the same time.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import ClassVar

from bestresponse.core import Action, Amount, Ask, Role, View
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import PlayedRounds, Question
from bestresponse.core.paying import pay
from bestresponse.core.told import (
    Aim,
    EarnedSoFar,
    Event,
    GameEvent,
    GameRule,
    NearestWins,
    Over,
    Paid,
    Players,
    Repetition,
    Round,
    Statement,
    split_rounds,
)
from bestresponse.games.quiz import ask_about_play
from bestresponse.games.statements import read_exactly

Rounds = tuple[tuple[float, ...], ...]
"""The numbers of every round, in the order of the roles."""


@dataclass(frozen=True, slots=True)
class NumberChosen(GameEvent):
    """A player chose this number."""

    message = "number-chosen"
    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class NumberRule(GameRule):
    """What numbers earn in a round."""

    @abstractmethod
    def pay(self, chosen: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return what each seat earns with these numbers."""

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction] | None:
        """Pay the numbers that are told."""
        return find_owed(play, self.pay)


class NumberRounds(ABC):
    """What such games share.

    A game says what numbers earn in a round, and which number is its equilibrium.
    """

    rounds: int
    roles: tuple[Role, ...]
    name: str
    version: int
    unit: ClassVar[str] = "points"

    @property
    @abstractmethod
    def ask(self) -> Amount:
        """Which numbers can be chosen."""

    @property
    @abstractmethod
    def equilibrium(self) -> float:
        """The number that everybody chooses in every round in equilibrium."""

    @property
    @abstractmethod
    def rule(self) -> NumberRule | NearestWins:
        """What numbers earn in a round."""

    @property
    def rules(self) -> tuple[Statement, ...]:
        """What is stated of a choice and of what it pays."""
        return (self.rule,)

    def pay(self, chosen: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return what each seat earns in a round with these numbers."""
        rule = self.rule
        return pay(rule, chosen) if isinstance(rule, NearestWins) else rule.pay(chosen)

    def list_choices(self, chosen: Sequence[Fraction]) -> Iterator[Event]:
        """Yield what everybody chose in a round; a game adds what follows from it."""
        for role, number in zip(self.roles, chosen, strict=True):
            yield NumberChosen(role, number)

    def start(self) -> Rounds:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: Rounds) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        return {} if len(state) == self.rounds else dict.fromkeys(self.roles, self.ask)

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rules = (
            Players(self.roles),
            *self.rules,
            Repetition(self.rounds),
            Aim(),
        )
        facts = {"rivals": [other for other in self.roles if other != role]}
        return View(role, rules, tuple(self._list_events(state, role)), facts)

    def _list_events(self, state: Rounds, role: Role) -> Iterator[Event]:
        """Yield what happened in each round, and which round it is."""
        seat = self.roles.index(role)
        total = Fraction(0)
        for number, chosen in enumerate(state, 1):
            exact = list(map(read_exactly, chosen))
            earned = self.pay(exact)[seat]
            total += earned
            yield Round(number)
            yield from self.list_choices(exact)
            yield Paid(role, earned)
        yield Over() if len(state) == self.rounds else Round(self.find_round(state))
        if state:
            yield EarnedSoFar(total)

    def earn(self, chosen: Sequence[float]) -> list[float]:
        """Return what each seat earns in a round with these numbers."""
        exact = [read_exactly(number) for number in chosen]
        return [float(paid) for paid in self.pay(exact)]

    def find_round(self, state: Rounds) -> int:
        """Return the number of the round."""
        return len(state) + 1

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List what everybody chose and what the seat got, round by round."""
        seat = self.roles.index(role)
        others = [k for k in range(len(self.roles)) if k != seat]
        rows = []
        for number, chosen in enumerate(state, 1):
            theirs = [chosen[k] for k in others]
            rows.append((number, chosen[seat], *theirs, self.earn(chosen)[seat]))
        now = self.find_round(state) if len(state) < self.rounds else None
        columns = ("round", "you", *(self.roles[k] for k in others), "your payoff")
        return PlayedRounds(
            now,
            self.rounds,
            self.payoffs(state)[role],
            columns,
            tuple(rows),
        )

    def apply(self, state: Rounds, moves: Mapping[Role, Action]) -> Rounds:
        """Return the state after these moves."""
        chosen = tuple(float(moves[role]) for role in self.roles)
        return (*state, chosen)

    def payoffs(self, state: Rounds) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        earned = [self.earn(chosen) for chosen in state]
        totals = {}
        for seat, role in enumerate(self.roles):
            totals[role] = math.fsum(row[seat] for row in earned)
        return totals

    def choose_equilibrium(self, view: View, ask: Ask) -> float:
        """Choose the same number in every round."""
        return self.equilibrium

    def measure_cost(self, state: Rounds, role: Role, action: Action) -> float:
        """Return what another number loses in its round."""
        seat = self.roles.index(role)
        usual = [self.equilibrium] * len(self.roles)
        other = [*usual[:seat], float(action), *usual[seat + 1 :]]
        return self.earn(usual)[seat] - self.earn(other)[seat]

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what some numbers earn."""
        return ask_about_play(self, role, rng, ("choose",))


def find_owed(
    play: ToldPlay,
    pay: Callable[[Sequence[Fraction]], tuple[Fraction, ...]],
    kind: type[NumberChosen] = NumberChosen,
) -> dict[Role, Fraction] | None:
    """Add up what a rule pays for the numbers of every round that is told."""
    owed = dict.fromkeys(play.roles, Fraction(0))
    for played in split_rounds(play.history)[1]:
        chosen = {one.who: one.amount for one in played.events if isinstance(one, kind)}
        if set(chosen) != set(play.roles):
            return None
        in_order = [chosen[role] for role in play.roles]
        for role, paid in zip(play.roles, pay(in_order), strict=True):
            owed[role] += paid
    return owed
