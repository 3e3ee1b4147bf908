"""The trust game with any amount: what is sent grows on the way, and the receiver may return some of it.

In the subgame-perfect equilibrium nothing is returned and therefore nothing sent; people send about half and are
returned about as much (J. Berg, J. Dickhaut, K. McCabe, Games and Economic Behavior 10, 1995). The catalogue's `trust`
is the same game in whole units, as a tree that can be solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from bestresponse.core.ask import Amount, Ask
from bestresponse.core.capabilities import EquilibriumSummary, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Action, Role, View
from bestresponse.games.quiz import ask_about_play
from bestresponse.games.texts import TEXTS, drop_goal

__all__ = ["Trust"]

State = tuple[float, ...]


@dataclass(frozen=True)
class Trust:
    """Send money that grows on the way, and hope that some comes back."""

    endowment: float = 10
    factor: float = 3
    name: str = "trust-amounts"
    version: int = 1
    title = "Trust game"
    unit = ""

    def __post_init__(self) -> None:
        if not (self.endowment > 0 and self.factor > 0):
            raise UsageError("the trust game needs a positive endowment and factor")

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return ("sender", "receiver")

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if not state:
            return {"sender": Amount(0, self.endowment)}
        return {"receiver": Amount(0, self.factor * state[0])} if len(state) == 1 else {}

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rules = TEXTS.fill("trust_rules", me=role, endowment=f"{self.endowment:g}", factor=f"{self.factor:g}")
        told = f"The sender sent {state[0]:g}; {self.factor * state[0]:g} arrived." if state else ""
        if len(state) == 2:
            told += f" The receiver returned {state[1]:g}."
        return View(role, rules, told, {"sent": list(state), "rivals": [r for r in self.roles if r != role]})

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: without the sentence about their goal."""
        return drop_goal(self.view(self.start(), role).briefing)

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        (move,) = moves.values()
        return (*state, float(move))

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        sent, returned = (*state, 0.0, 0.0)[:2]
        return {"sender": self.endowment - sent + returned, "receiver": self.factor * sent - returned}

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the subgame-perfect equilibrium.

        >>> Trust().describe_equilibrium().payoffs
        {'sender': 10.0, 'receiver': 0.0}
        """
        concept = "subgame-perfect equilibrium"
        words = "The receiver returns nothing, and therefore the sender sends nothing."
        own = {"sender": float(self.endowment), "receiver": 0.0}
        if self.factor <= 1:
            return EquilibriumSummary(concept, words, own)
        total = self.factor * self.endowment
        better = f"Together they would have most, {total:g}, if everything was sent; returning half of it would give "
        better += f"both {total / 2:g}."
        return EquilibriumSummary(concept, words, own, better, {"sender": total / 2, "receiver": total / 2})

    def choose_equilibrium(self, view: View, ask: Ask) -> float:
        """Send and return nothing."""
        return 0.0

    def measure_cost(self, state: State, role: Role, action: Action) -> float:
        """Return what is given away, for nothing comes back."""
        return float(action)

    def word_question(self, ask: Ask) -> str:
        """Ask for an amount."""
        return "How much do you give to the other?"

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what sending and returning some amounts earns."""
        return ask_about_play(self, role, rng, ("send", "return"))
