"""The trust game with any amounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bestresponse.core import Action, Amount, Ask, Role, View
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import EquilibriumSummary
from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import make_phrase
from bestresponse.core.told import Aim, Event, GameEvent, GameRule, Over, Players
from bestresponse.games.quiz import Verb
from bestresponse.games.statements import read_exactly
from bestresponse.games.two_steps import State, TwoSteps


@dataclass(frozen=True, slots=True)
class TrustRule(GameRule):
    """The sender sends any part of `endowment`, it is multiplied, the receiver returns any part."""

    message: ClassVar[str] = "trust"
    endowment: Fraction
    factor: Fraction

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction]:
        """Pay what was sent and returned as it is told."""
        sent = sum(event.amount for event in play.history if isinstance(event, SentOver))
        returned = sum(event.amount for event in play.history if isinstance(event, ReturnedBack))
        paid = self.endowment - sent + returned, self.factor * sent - returned
        return dict(zip(play.roles, paid, strict=True))


@dataclass(frozen=True, slots=True)
class SentOver(GameEvent):
    """The sender sent this much, and so much arrived."""

    message: ClassVar[str] = "sent"
    amount: Fraction
    arrived: Fraction


@dataclass(frozen=True, slots=True)
class ReturnedBack(GameEvent):
    """The receiver returned this much."""

    message: ClassVar[str] = "returned"
    amount: Fraction


@dataclass(frozen=True)
class Trust(TwoSteps):
    """Send money that grows on the way, and hope that some comes back.

    In the subgame-perfect equilibrium nothing is returned and therefore nothing sent; people send
    about half and are returned about as much (J. Berg, J. Dickhaut, K. McCabe, Games and Economic
    Behavior 10, 1995).
    """

    endowment: float = 10
    factor: float = 3
    name: str = "trust-amounts"
    version: int = 1
    title = "Trust game"
    roles = ("sender", "receiver")
    verbs: ClassVar[tuple[Verb, Verb]] = ("send", "return")

    def __post_init__(self) -> None:
        if not (self.endowment > 0 and self.factor > 0):
            raise UsageError("the trust game needs a positive endowment and factor")

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if not state:
            return {"sender": Amount(0, self.endowment)}
        if len(state) == 1:
            most = self.factor * float(state[0])
            return {"receiver": Amount(0, most)}
        return {}

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rule = TrustRule(read_exactly(self.endowment), read_exactly(self.factor))
        history: list[Event] = []
        if state:
            sent = read_exactly(float(state[0]))
            history.append(SentOver(sent, rule.factor * sent))
        if len(state) == 2:
            returned = read_exactly(float(state[1]))
            history += [ReturnedBack(returned), Over()]
        facts = {"sent": list(state), "rivals": [r for r in self.roles if r != role]}
        return View(role, (Players(self.roles), rule, Aim()), tuple(history), facts)

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        sent, returned = map(float, (*state, 0.0, 0.0)[:2])
        return {
            "sender": self.endowment - sent + returned,
            "receiver": self.factor * sent - returned,
        }

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the subgame-perfect equilibrium.

        >>> Trust().describe_equilibrium().payoffs
        {'sender': 10.0, 'receiver': 0.0}
        """
        concept = "subgame-perfect equilibrium"
        words = "The receiver returns nothing, and therefore the sender sends nothing."
        payoffs = {"sender": float(self.endowment), "receiver": 0.0}
        if self.factor <= 1:
            return EquilibriumSummary(concept, words, payoffs)
        total = self.factor * self.endowment
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

    def measure_cost(self, state: State, role: Role, action: Action) -> float:
        """Return what is given away, for nothing comes back."""
        return float(action)

    def word_question(self, ask: Ask) -> str:
        """Ask for an amount."""
        return "How much do you give to the other?"
