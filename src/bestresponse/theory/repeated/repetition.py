"""How a game is repeated: the one description of a match that every engine obeys.

Matches are worked out exactly, drawn round by round, asked move by move
(`games.matrix.game.RepeatedGame`) and answered by best replies. All take a `Repetition`.
"""

from dataclasses import dataclass
from math import expm1, log

from bestresponse.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Repetition:
    """There are at most `rounds` rounds, another with probability `continuation`.

    A payoff counts `discount` times what it would have counted one round before. `noise` is the
    probability that another move is made than was meant, all others being equally likely.
    """

    rounds: int = 200
    noise: float = 0.0
    continuation: float = 1.0
    discount: float = 1.0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UsageError(f"rounds: expected at least 1, got {self.rounds}")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"noise: expected a probability, got {self.noise:g}")
        for what in ("continuation", "discount"):
            factor = getattr(self, what)
            if not 0 < factor <= 1:
                raise UsageError(f"{what}: expected a number above 0, at most 1, got {factor:g}")

    def weigh(self, number: int) -> float:
        """Say what payoffs of a round count for; rounds are numbered from 0."""
        return float(self.discount**number)

    @property
    def weight(self) -> float:
        """What the next round weighs beside this one."""
        return self.continuation * self.discount

    @property
    def expected_weight(self) -> float:
        """The sum of the weights of all rounds, as expected before the first.

        Without a discount this is how many rounds there are on average.
        """
        if self.weight == 1.0:
            return float(self.rounds)
        return -expm1(self.rounds * log(self.weight)) / (1 - self.weight)
