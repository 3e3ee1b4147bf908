"""The ultimatum with any amounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bestresponse.core import Action, Amount, Ask, Choice, Role, View
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.core.told import Aim, Event, GameEvent, GameRule, Over, Players
from bestresponse.games.quiz import Verb
from bestresponse.games.statements import read_exactly
from bestresponse.games.two_steps import State, TwoSteps
from bestresponse.telling.course import Narrator


@dataclass(frozen=True, slots=True)
class UltimatumRule(GameRule):
    """The proposer offers any part of `pie`; the responder accepts, or both get nothing."""

    message: ClassVar[str] = "ultimatum"
    pie: Fraction

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction]:
        """Pay the offer that is told, if it is told to be accepted."""
        offer = sum(event.amount for event in play.history if isinstance(event, OfferMade))
        accepted = OfferAnswered(accepted=True) in play.history
        paid = (self.pie - offer, Fraction(offer)) if accepted else (Fraction(0), Fraction(0))
        return dict(zip(play.roles, paid, strict=True))


@dataclass(frozen=True, slots=True)
class OfferMade(GameEvent):
    """The proposer offered this much of the pie."""

    message: ClassVar[str] = "offered"
    amount: Fraction
    pie: Fraction


@dataclass(frozen=True, slots=True)
class OfferAnswered(GameEvent):
    """The responder accepted or rejected."""

    message: ClassVar[str] = "answered"
    accepted: bool

    def tell(self, words: Narrator) -> str:
        """Say which of both."""
        return words.fill(self, ".accepted" if self.accepted else ".rejected")


@dataclass(frozen=True)
class Ultimatum(TwoSteps):
    """Offer a part of the pie; it is taken, or both get nothing.

    In the subgame-perfect equilibrium the responder accepts every offer and the proposer offers
    nothing; people offer about two fifths and reject offers below one fifth (W. Güth, R.
    Schmittberger, B. Schwarze, J. Economic Behavior and Organization 3, 1982).
    """

    pie: float = 10
    name: str = "ultimatum-amounts"
    version: int = 1
    title = "Ultimatum game"
    roles = ("proposer", "responder")
    verbs: ClassVar[tuple[Verb, Verb]] = ("offer", "choose")

    def __post_init__(self) -> None:
        if not self.pie > 0:
            raise UsageError(f"the pie is {self.pie:g}; expected a positive amount")

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if not state:
            return {"proposer": Amount(0, self.pie)}
        return {"responder": Choice(("accept", "reject"))} if len(state) == 1 else {}

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rule = UltimatumRule(read_exactly(self.pie))
        history: list[Event] = []
        if state:
            offer = read_exactly(float(state[0]))
            history.append(OfferMade(offer, rule.pie))
        if len(state) == 2:
            history += [OfferAnswered(state[1] == "accept"), Over()]
        facts = {"offers": list(state), "rivals": [r for r in self.roles if r != role]}
        return View(role, (Players(self.roles), rule, Aim()), tuple(history), facts)

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

    def measure_cost(self, state: State, role: Role, action: Action) -> float:
        """Return what is offered without need, or refused."""
        if role == "proposer":
            return float(action)
        return float(state[0]) if action == "reject" else 0.0

    def word_question(self, ask: Ask) -> str:
        """Ask for an offer or for an answer to it."""
        return "Do you accept the offer?" if isinstance(ask, Choice) else "How much do you offer?"
