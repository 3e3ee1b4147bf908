"""The trust game in whole amounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core import Amount, Ask, Role, View
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import make_phrase
from bestresponse.core.told import Event, GameEvent, GameRule
from bestresponse.games.two_steps import State, TwoSteps


@dataclass(frozen=True, slots=True)
class TrustRule(GameRule):
    """Both have `endowment`; what the sender sends is multiplied, the receiver returns a part."""

    message = "trust"
    endowment: int
    factor: int

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction]:
        """Pay what was sent and returned as it is told."""
        sent = sum(event.amount for event in play.history if isinstance(event, SentOver))
        returned = sum(event.amount for event in play.history if isinstance(event, ReturnedBack))
        kept = Fraction(self.endowment) - sent + returned
        got = Fraction(self.endowment) + self.factor * sent - returned
        return dict(zip(play.roles, (kept, got), strict=True))


@dataclass(frozen=True, slots=True)
class SentOver(GameEvent):
    """The sender sent this much, and so much arrived."""

    message = "sent"
    amount: int
    arrived: int


@dataclass(frozen=True, slots=True)
class ReturnedBack(GameEvent):
    """The receiver returned this much."""

    message = "returned"
    amount: int


@dataclass(frozen=True)
class Trust(TwoSteps):
    """Send money that grows on the way, and hope that some comes back.

    In the subgame-perfect equilibrium nothing is returned and therefore nothing sent; people send
    about half and are returned about as much (J. Berg, J. Dickhaut, K. McCabe, Games and Economic
    Behavior 10, 1995; there too the receiver has an endowment).
    """

    endowment: int = 10
    factor: int = 3
    name: str = "trust"
    version: int = 2
    title = "Trust game"
    roles = ("sender", "receiver")
    verbs = ("send", "return")

    def __post_init__(self) -> None:
        if self.endowment < 1 or self.factor < 1:
            raise UsageError("the trust game needs a positive endowment and factor")

    @property
    def rule(self) -> TrustRule:
        """What can be sent and returned."""
        return TrustRule(self.endowment, self.factor)

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if not state:
            return {"sender": Amount(0, self.endowment, whole=True)}
        if len(state) == 1:
            return {"receiver": Amount(0, self.factor * int(state[0]), whole=True)}
        return {}

    def list_events(self, state: State) -> list[Event]:
        """List what was sent and what was returned."""
        told: list[Event] = [SentOver(int(sent), self.factor * int(sent)) for sent in state[:1]]
        return told + [ReturnedBack(int(back)) for back in state[1:]]

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        sent, returned = map(float, (*state, 0, 0)[:2])
        return {
            "sender": self.endowment - sent + returned,
            "receiver": self.endowment + self.factor * sent - returned,
        }

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the subgame-perfect equilibrium.

        >>> Trust().describe_equilibrium().payoffs
        {'sender': 10.0, 'receiver': 10.0}
        """
        concept = "subgame-perfect equilibrium"
        words = "The receiver returns nothing, and therefore the sender sends nothing."
        payoffs = dict.fromkeys(self.roles, float(self.endowment))
        if self.factor <= 1:
            return EquilibriumSummary(concept, words, payoffs)
        total = (1 + self.factor) * self.endowment
        better = make_phrase(
            "Together they would have most, {total}, if everything was sent; returning half of it"
            " would give both {half}.",
            total=float(total),
            half=float(total / 2),
        )
        return EquilibriumSummary(
            concept,
            words,
            payoffs,
            better,
            {"sender": total / 2, "receiver": total / 2},
        )

    def choose_equilibrium(self, view: View, ask: Ask) -> float:
        """Send and return nothing."""
        return 0.0

    def word_question(self, ask: Ask) -> str:
        """Ask for an amount."""
        return "How much do you give to the other?"
