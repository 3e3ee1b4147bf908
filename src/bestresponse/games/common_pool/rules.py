"""A common pool, which yields less for everybody the more is invested."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bestresponse.core import Amount, Ask, Role
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import make_phrase
from bestresponse.core.told import GameRule, Statement
from bestresponse.games.number_rounds import Chosen, NumberRounds, find_owed
from bestresponse.games.quiz import Verb
from bestresponse.games.statements import read_exactly


@dataclass(frozen=True, slots=True)
class PoolRule(GameRule):
    """All invest tokens in a pool at the same time.

    A token that is kept earns `outside`, one in the pool `slope` less `bend` times all tokens in
    the pool.
    """

    message: ClassVar[str] = "pool"
    endowment: Fraction
    outside: Fraction
    slope: Fraction
    bend: Fraction

    def pay(self, invested: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Add what the tokens that are kept earn to what those in the pool do."""
        each = self.slope - self.bend * sum(invested)
        return tuple(self.outside * (self.endowment - own) + own * each for own in invested)

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction] | None:
        """Pay the tokens that are told."""
        return find_owed(play, Invested, self.pay)


@dataclass(frozen=True, slots=True)
class Invested(Chosen):
    """A player put this many tokens into the pool."""

    message: ClassVar[str] = "invested"


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
    choice: ClassVar[type[Chosen]] = Invested

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
    def rules(self) -> tuple[Statement, ...]:
        """What the pool pays."""
        return (self.rule,)

    def pay(self, chosen: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Pay by the rule."""
        return self.rule.pay(chosen)

    @property
    def rule(self) -> PoolRule:
        """The rule with the numbers of this pool."""
        return PoolRule(
            endowment=Fraction(self.endowment),
            outside=read_exactly(self.outside),
            slope=read_exactly(self.slope),
            bend=read_exactly(self.bend),
        )

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
