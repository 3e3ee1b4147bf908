"""The ultimatum game with any amount: a proposer offers a part of the pie, a responder takes it or leaves both nothing.

In the subgame-perfect equilibrium the responder accepts every offer and the proposer offers nothing; people offer
about two fifths and reject offers below one fifth (W. Güth, R. Schmittberger, B. Schwarze, J. Economic Behavior and
Organization 3, 1982). The catalogue's `ultimatum` is the same game in whole tenths, as a tree that can be solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from bestresponse.core.ask import Amount, Ask, Choice
from bestresponse.core.capabilities import EquilibriumSummary, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Action, Role, View
from bestresponse.games.quiz import ask_about_play
from bestresponse.games.texts import TEXTS, drop_goal

__all__ = ["Ultimatum"]

State = tuple[float | str, ...]


@dataclass(frozen=True)
class Ultimatum:
    """Offer a part of the pie; it is taken, or both get nothing."""

    pie: float = 10
    name: str = "ultimatum-amounts"
    version: int = 1
    title = "Ultimatum game"
    unit = ""

    def __post_init__(self) -> None:
        if not self.pie > 0:
            raise UsageError(f"the pie is {self.pie:g}; expected a positive amount")

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return ("proposer", "responder")

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if not state:
            return {"proposer": Amount(0, self.pie)}
        return {"responder": Choice(("accept", "reject"))} if len(state) == 1 else {}

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rules = TEXTS.fill("ultimatum_rules", me=role, pie=f"{self.pie:g}")
        told = f"The proposer offers {state[0]:g} of {self.pie:g}." if state else ""
        if len(state) == 2:
            told += f" The responder {state[1]}s."
        return View(role, rules, told, {"offers": list(state), "rivals": [r for r in self.roles if r != role]})

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: without the sentence about their goal."""
        return drop_goal(self.view(self.start(), role).briefing)

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        (move,) = moves.values()
        return (*state, move if isinstance(move, str) else float(move))

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if len(state) < 2 or state[1] == "reject":
            return {"proposer": 0.0, "responder": 0.0}
        offer = float(state[0])
        return {"proposer": self.pie - offer, "responder": offer}

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the subgame-perfect equilibrium."""
        words = "The responder accepts every offer, and therefore the proposer offers nothing. With a smallest "
        words += "coin, offering one such coin is an equilibrium too."
        own = {"proposer": float(self.pie), "responder": 0.0}
        return EquilibriumSummary("subgame-perfect equilibrium", words, own)

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

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what an offer and its answer earn."""
        return ask_about_play(self, role, rng, ("offer", "choose"))
