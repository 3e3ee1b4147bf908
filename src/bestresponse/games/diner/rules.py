"""The diner's dilemma: who shares the bill orders more than anybody would pay for alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core import Amount, Ask, Role
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.games.guessing.rounds import NumberRounds, NumberRule
from bestresponse.games.statements import read_exactly


@dataclass(frozen=True, slots=True)
class BillRule(NumberRule):
    """The price of all courses is shared equally; each is worth `joy` to whoever eats it."""

    message = "bill"
    courses: int
    price: Fraction
    joy: Fraction

    def pay(self, ordered: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Pay for the own courses, less an equal part of the bill."""
        bill = self.price * sum(ordered) / len(ordered)
        return tuple(self.joy * own - bill for own in ordered)


@dataclass(frozen=True)
class Diner(NumberRounds):
    """Order extra courses when everybody pays an equal part of the bill.

    To order is dominant if a course is worth more than the own part of its price; if it is worth
    less than its price, all would be better off without (N. Glance, B. Huberman, Scientific
    American 270, 1994).
    """

    roles: tuple[Role, ...] = tuple(f"player {number}" for number in range(1, 11))
    courses: int = 1
    price: float = 10
    joy: float = 5
    rounds: int = 1
    name: str = "diner"
    version: int = 1
    title = "Diner's dilemma"

    def __post_init__(self) -> None:
        enough = len(self.roles) > 1 and self.rounds > 0 and self.courses > 0
        if not (enough and self.price > 0 and self.joy > 0):
            raise UsageError(
                "diner needs two players or more, a round, a course, and a positive price and joy"
            )

    @property
    def ask(self) -> Amount:
        """How many courses."""
        return Amount(0, self.courses, whole=True)

    @property
    def equilibrium(self) -> float:
        """All courses where the own part of the price is less than they are worth."""
        return float(self.courses if self._gain > 0 else 0)

    @property
    def _gain(self) -> Fraction:
        """What a course is worth beyond the own part of its price."""
        return self.rule.joy - self.rule.price / len(self.roles)

    @property
    def rule(self) -> BillRule:
        """The rule of the bill."""
        return BillRule(self.courses, read_exactly(self.price), read_exactly(self.joy))

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the equilibrium in dominant strategies; None where all orders are as good."""
        if not self._gain:
            return None
        words = "Everybody orders all courses." if self.equilibrium else "Nobody orders a course."
        each = float(self.rounds * int(self.equilibrium) * (self.rule.joy - self.rule.price))
        paid = dict.fromkeys(self.roles, each)
        if each >= 0:
            return EquilibriumSummary("equilibrium in dominant strategies", words, paid)
        return EquilibriumSummary(
            "equilibrium in dominant strategies",
            words,
            paid,
            "All would be better off if nobody ordered a course.",
            dict.fromkeys(self.roles, 0.0),
        )

    def word_question(self, ask: Ask) -> str:
        """Ask for an order."""
        return "How many extra courses do you order?"
