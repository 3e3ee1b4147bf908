"""The ultimatum in whole amounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core import Amount, Ask, Choice, Role, View
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.core.told import Event, GameEvent, GameRule
from bestresponse.games.two_steps import State, TwoSteps
from bestresponse.telling.course import Narrator


@dataclass(frozen=True, slots=True)
class UltimatumRule(GameRule):
    """The proposer offers a part of `pie`; the responder accepts, or both get nothing."""

    message = "ultimatum"
    pie: int

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction]:
        """Pay the offer that is told, if it is told to be accepted."""
        offer = Fraction(sum(one.amount for one in play.history if isinstance(one, OfferMade)))
        accepted = OfferAnswered(accepted=True) in play.history
        paid = (self.pie - offer, offer) if accepted else (Fraction(0), Fraction(0))
        return dict(zip(play.roles, paid, strict=True))


@dataclass(frozen=True, slots=True)
class OfferMade(GameEvent):
    """The proposer offered this much of the pie."""

    message = "offered"
    amount: int
    pie: int


@dataclass(frozen=True, slots=True)
class OfferAnswered(GameEvent):
    """The responder accepted or rejected."""

    message = "answered"
    accepted: bool

    def tell(self, words: Narrator) -> str:
        """Say which of both."""
        return words.fill(self, ".accepted" if self.accepted else ".rejected")


@dataclass(frozen=True)
class Ultimatum(TwoSteps):
    """Offer a part of the pie; it is taken, or both get nothing.

    In the subgame-perfect equilibria the responder accepts every offer, or every one but nothing,
    and the proposer offers the least that is accepted; people offer about two fifths and reject
    offers below one fifth (W. Güth, R. Schmittberger, B. Schwarze, J. Economic Behavior and
    Organization 3, 1982).
    """

    pie: int = 10
    name: str = "ultimatum"
    version: int = 2
    title = "Ultimatum game"
    roles = ("proposer", "responder")
    verbs = ("offer", "answer")

    def __post_init__(self) -> None:
        if self.pie < 1:
            raise UsageError(f"the pie is {self.pie}; expected at least 1")

    @property
    def rule(self) -> UltimatumRule:
        """What can be offered."""
        return UltimatumRule(self.pie)

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if not state:
            return {"proposer": Amount(0, self.pie, whole=True)}
        return {"responder": Choice(("accept", "reject"))} if len(state) == 1 else {}

    def list_events(self, state: State) -> list[Event]:
        """List the offer and the answer."""
        told: list[Event] = [OfferMade(int(offer), self.pie) for offer in state[:1]]
        return told + [OfferAnswered(answer == "accept") for answer in state[1:]]

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if len(state) < 2 or state[1] == "reject":
            return {"proposer": 0.0, "responder": 0.0}
        offer = float(state[0])
        return {"proposer": self.pie - offer, "responder": offer}

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the subgame-perfect equilibrium."""
        words = (
            "The responder accepts every offer, and therefore the proposer offers nothing. With a"
            " smallest coin, offering one such coin is an equilibrium too."
        )
        payoffs = {"proposer": float(self.pie), "responder": 0.0}
        return EquilibriumSummary("subgame-perfect equilibrium", words, payoffs)

    def choose_equilibrium(self, view: View, ask: Ask) -> float | str:
        """Offer nothing, accept everything."""
        return "accept" if isinstance(ask, Choice) else 0.0

    def word_question(self, ask: Ask) -> str:
        """Ask for an offer or for an answer to it."""
        return "Do you accept the offer?" if isinstance(ask, Choice) else "How much do you offer?"
