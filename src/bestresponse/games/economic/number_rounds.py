"""Games of rounds in which everybody chooses a number: guessing and a common pool.

The numbers are chosen in secret and at the same time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import ClassVar, Protocol

from bestresponse.core import Action, Amount, Ask, Game, Role, View
from bestresponse.core.capabilities import EquilibriumSummary, PlayedRounds, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.paying import find_target, pay
from bestresponse.core.phrase import Phrase, make_phrase
from bestresponse.core.special import (
    EarnedSoFar,
    Invested,
    NumberChosen,
    NumberEach,
    PoolRule,
    TargetWas,
)
from bestresponse.core.told import (
    Aim,
    Event,
    NearestWins,
    NumberRule,
    Over,
    Paid,
    Players,
    Repetition,
    Round,
    Statement,
)
from bestresponse.games.quiz import Verb, ask_about_play
from bestresponse.games.statements import read_exactly

Rounds = tuple[tuple[float, ...], ...]
"""The numbers of every round, in the order of the roles."""


class NumberRounds(Game[Rounds], Protocol):
    """What such games share.

    A game says what numbers earn in a round, and which number is its equilibrium.
    """

    rounds: int
    verb: ClassVar[Verb]
    unit: ClassVar[str] = "points"

    @property
    def ask(self) -> Amount:
        """Which numbers can be chosen."""

    @property
    def equilibrium(self) -> float:
        """The number that everybody chooses in every round in equilibrium."""

    @property
    def rule(self) -> NumberRule:
        """What the numbers of a round pay."""

    @property
    def choosing(self) -> tuple[Statement, ...]:
        """What is stated of a choice beyond the rule."""
        return ()

    def list_choices(self, chosen: Sequence[Fraction]) -> Iterator[Event]:
        """Yield what everybody chose in a round, and what follows from it."""

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
            *self.choosing,
            self.rule,
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
            earned = pay(self.rule, exact)[seat]
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
        return [float(paid) for paid in pay(self.rule, exact)]

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
        return ask_about_play(self, role, rng, (self.verb,))


@dataclass(frozen=True)
class Guessing(NumberRounds):
    """Choose a number: the closest to 0.8 of the average wins the round.

    This is the p-beauty contest.

    With a factor below 1 all numbers but the lowest are dominated step by step, so the only
    equilibrium is that all choose the lowest (Moulin 1986); people stop after one to three steps
    (R. Nagel, American Economic Review 85, 1995).
    """

    roles: tuple[Role, ...] = (
        "player 1",
        "player 2",
        "player 3",
        "player 4",
        "player 5",
    )
    factor: float = 0.8
    low: float = 0
    high: float = 100
    rounds: int = 10
    name: str = "guessing"
    version: int = 1
    title = "Guessing game"
    verb: ClassVar[Verb] = "choose"

    def __post_init__(self) -> None:
        if (
            len(self.roles) < 2
            or self.rounds < 1
            or not self.low < self.high
            or not 0 < self.factor < math.inf
        ):
            raise UsageError(
                "a guessing game needs two players or more, a round, low < high and a positive"
                " factor"
            )

    @property
    def ask(self) -> Amount:
        """Any number from the lowest to the highest."""
        return Amount(self.low, self.high)

    @property
    def equilibrium(self) -> float:
        """The lowest number."""
        return float(self.low)

    @property
    def rule(self) -> NearestWins:
        """The nearest share one point."""
        return NearestWins(read_exactly(self.factor), Fraction(1))

    @property
    def choosing(self) -> tuple[Statement, ...]:
        """From which number to which."""
        return (NumberEach(read_exactly(self.low), read_exactly(self.high)),)

    def target(self, guesses: Sequence[float]) -> float:
        """Return what was to be guessed."""
        exact = [read_exactly(guess) for guess in guesses]
        return float(find_target(self.rule, exact))

    def list_choices(self, chosen: Sequence[Fraction]) -> Iterator[Event]:
        """Yield all numbers, and the target to four decimals."""
        for role, number in zip(self.roles, chosen, strict=True):
            yield NumberChosen(role, number)
        yield TargetWas(round(find_target(self.rule, chosen), 4))

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the only equilibrium.

        Returns None where the factor is 1 or more, or numbers may be negative.
        """
        if self.factor >= 1 or self.low < 0:
            return None
        words = make_phrase(
            "Everybody chooses {number} in every round, the only number that survives when"
            " dominated numbers are left out step by step.",
            number=float(self.low),
        )
        shared = dict.fromkeys(self.roles, self.rounds / len(self.roles))
        return EquilibriumSummary("equilibrium", words, shared)

    def word_question(self, ask: Ask) -> Phrase:
        """Ask for a number."""
        return make_phrase(
            "Which number from {low} to {high} do you choose?",
            low=float(self.low),
            high=float(self.high),
        )


@dataclass(frozen=True)
class CommonPool(NumberRounds):
    """Invest in a pool that yields less for everybody the more is invested.

    Each of n players earns w (e - x) + (x / X) (a X - b X^2). In equilibrium each invests (a - w) /
    (b (n + 1)), while together they would do best with X = (a - w) / (2 b). Defaults: the
    laboratory game of J. M. Walker, R. Gardner and E. Ostrom, J. Environmental Economics and
    Management 19, 1990: each invests 8 of 25 where 4.5 would be best.
    """

    roles: tuple[Role, ...] = tuple(f"player {number}" for number in range(1, 9))
    endowment: int = 25
    outside: float = 5
    slope: float = 23
    bend: float = 0.25
    rounds: int = 10
    name: str = "common-pool"
    version: int = 1
    title = "Common pool"
    verb: ClassVar[Verb] = "invest"

    def __post_init__(self) -> None:
        if len(self.roles) < 2 or self.rounds < 1 or self.endowment < 1 or self.bend <= 0:
            raise UsageError(
                "a common pool needs two players or more, a round, tokens and a positive bend"
            )

    @property
    def ask(self) -> Amount:
        """Any part of the tokens."""
        return Amount(0, self.endowment)

    @property
    def equilibrium(self) -> float:
        """What each invests in the symmetric equilibrium of one round.

        >>> CommonPool().equilibrium, CommonPool().optimum
        (8.0, 4.5)
        """
        advantage = self.slope - self.outside
        tokens = advantage / (self.bend * (len(self.roles) + 1))
        return max(0.0, min(self.endowment, tokens))

    @property
    def optimum(self) -> float:
        """What each would invest if they could agree."""
        advantage = self.slope - self.outside
        tokens = advantage / (2 * self.bend * len(self.roles))
        return max(0.0, min(self.endowment, tokens))

    @property
    def rule(self) -> PoolRule:
        """Add what the tokens that are kept earn to what those in the pool do."""
        return PoolRule(
            endowment=Fraction(self.endowment),
            outside=read_exactly(self.outside),
            slope=read_exactly(self.slope),
            bend=read_exactly(self.bend),
        )

    def list_choices(self, chosen: Sequence[Fraction]) -> Iterator[Event]:
        """Yield all investments."""
        for role, tokens in zip(self.roles, chosen, strict=True):
            yield Invested(role, tokens)

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe each round's symmetric equilibrium and what all would agree to invest."""
        count = len(self.roles)
        payoff = self.rounds * self.earn([self.equilibrium] * count)[0]
        best = self.rounds * self.earn([self.optimum] * count)[0]
        words = make_phrase(
            "Everybody invests {tokens} in every round.", tokens=_round(self.equilibrium)
        )
        better = make_phrase(
            "Together all would earn most if everybody invested {tokens}.",
            tokens=_round(self.optimum),
        )
        return EquilibriumSummary(
            concept="equilibrium",
            words=words,
            payoffs=dict.fromkeys(self.roles, float(payoff)),
            better=better,
            better_payoffs=dict.fromkeys(self.roles, float(best)),
        )

    def word_question(self, ask: Ask) -> str:
        """Ask for an investment."""
        return "How many tokens do you invest in the pool?"


def _round(number: float | Fraction) -> float:
    """Round a number that is told to six digits."""
    return float(f"{float(number):g}")
