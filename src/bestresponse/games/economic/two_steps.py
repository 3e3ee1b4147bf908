"""Games of two who move one after the other with any amount: trust, and the ultimatum.

The catalogue's `trust` and `ultimatum` are the same games in whole units, as trees that can be
solved.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from bestresponse.core import Action, Amount, Ask, Choice, Game, Role, View
from bestresponse.core.capabilities import EquilibriumSummary, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import make_phrase
from bestresponse.core.special import (
    OfferAnswered,
    OfferMade,
    ReturnedBack,
    SentOver,
    TrustRule,
    UltimatumRule,
)
from bestresponse.core.told import Aim, Event, Over, Players
from bestresponse.games.quiz import Verb, ask_about_play
from bestresponse.games.statements import read_exactly

State = tuple[float | str, ...]
"""The moves so far."""


class TwoSteps(Game[State], Protocol):
    """What such games share; a game says what is asked, told and earned."""

    verbs: ClassVar[tuple[Verb, Verb]]
    unit: ClassVar[str] = ""

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        (move,) = moves.values()
        return (*state, move if isinstance(move, str) else float(move))

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what some moves of both earn."""
        return ask_about_play(self, role, rng, self.verbs)


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
