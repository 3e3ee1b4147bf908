"""Divide the dollar: all claim a part, and nobody gets anything if they claim too much together."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core import Amount, Ask, Role
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.games.guessing.rounds import NumberRounds, NumberRule
from bestresponse.games.statements import read_exactly


@dataclass(frozen=True, slots=True)
class DollarRule(NumberRule):
    """Claims of at most `total` together are paid."""

    message = "divide"
    total: Fraction

    def pay(self, claims: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Pay all claims or none."""
        return tuple(claims) if sum(claims) <= self.total else (Fraction(0),) * len(claims)


@dataclass(frozen=True)
class DivideDollar(NumberRounds):
    """Claim a part of a sum: all are paid, or nobody is if the claims are too high together.

    Any claims that add up to the sum are an equilibrium; in the only one in which all do the same
    each claims an equal part (J. Nash, 1953, for two; L. Shapley, M. Shubik for more).
    """

    roles: tuple[Role, ...] = tuple(f"player {number}" for number in range(1, 11))
    total: float = 100
    rounds: int = 1
    name: str = "divide-dollar"
    version: int = 1
    title = "Divide the dollar"

    def __post_init__(self) -> None:
        if len(self.roles) < 2 or self.rounds < 1 or not self.total > 0:
            raise UsageError("divide-dollar needs two players or more, a round and a positive sum")

    @property
    def ask(self) -> Amount:
        """Any part of the sum."""
        return Amount(0, self.total)

    @property
    def equilibrium(self) -> float:
        """An equal part."""
        return self.total / len(self.roles)

    @property
    def rule(self) -> DollarRule:
        """The rule of the sum."""
        return DollarRule(read_exactly(self.total))

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the equilibrium in which all do the same."""
        words = "Everybody claims an equal part."
        each = self.rounds * self.equilibrium
        return EquilibriumSummary("equilibrium", words, dict.fromkeys(self.roles, each))

    def word_question(self, ask: Ask) -> str:
        """Ask for a claim."""
        return "How much do you claim?"
