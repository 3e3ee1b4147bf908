"""The guessing game, or p-beauty contest: the nearest to a part of the average wins."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core import Amount, Ask, Role
from bestresponse.core.agreement import ToldPlay, find_rule, hold_equal
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.core.paying import find_target, pay
from bestresponse.core.phrase import Phrase, make_phrase
from bestresponse.core.told import Event, GameEvent, GameRule, NearestWins, Statement
from bestresponse.games.guessing.rounds import NumberRounds, find_owed
from bestresponse.games.statements import read_exactly


@dataclass(frozen=True, slots=True)
class NumberEach(GameRule):
    """All choose a number in this range at the same time."""

    message = "number-each"
    low: Fraction
    high: Fraction

    def check_asks(self, asks: Mapping[Role, Ask]) -> None:
        """The range that is told is the range that is asked for."""
        for role, ask in asks.items():
            if isinstance(ask, Amount):
                hold_equal(self.low, ask.low, f"the lowest number that {role} can choose")
                hold_equal(self.high, ask.high, f"the highest number that {role} can choose")

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction] | None:
        """Pay the numbers that are told by the rule that is told beside this one."""
        rule = find_rule(play.rules, NearestWins)
        return None if rule is None else find_owed(play, lambda chosen: pay(rule, chosen))


@dataclass(frozen=True, slots=True)
class TargetWas(GameEvent):
    """The number that was to be guessed, to four decimals."""

    message = "target"
    amount: Fraction


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
    def rules(self) -> tuple[Statement, ...]:
        """From which number to which, and who wins."""
        return NumberEach(read_exactly(self.low), read_exactly(self.high)), self.rule

    def target(self, guesses: Sequence[float]) -> float:
        """Return what was to be guessed."""
        exact = [read_exactly(guess) for guess in guesses]
        return float(find_target(self.rule, exact))

    def list_choices(self, chosen: Sequence[Fraction]) -> Iterator[Event]:
        """Yield all numbers, and the target to four decimals."""
        yield from super().list_choices(chosen)
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
