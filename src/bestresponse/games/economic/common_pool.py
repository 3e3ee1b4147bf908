"""A common-pool resource: everybody gains by taking more, and all lose when all do.

Each of n players earns w (e - x) + (x / X) (a X - b X^2). In equilibrium each invests (a - w) / (b (n + 1)), while
together they would do best with X = (a - w) / (2 b). Defaults: the laboratory game of J. M. Walker, R. Gardner and
E. Ostrom, J. Environmental Economics and Management 19, 1990: each invests 8 of 25 where 4.5 would be best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from bestresponse.core.ask import Amount, Ask
from bestresponse.core.capabilities import EquilibriumSummary, PlayedRounds, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Action, Role, View
from bestresponse.games.quiz import ask_about_play
from bestresponse.games.rounds import list_chosen_numbers
from bestresponse.games.texts import TEXTS, drop_goal

__all__ = ["CommonPool"]

Rounds = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class CommonPool:
    """Invest in a pool that yields less for everybody the more is invested."""

    roles: tuple[Role, ...] = tuple(f"player {number}" for number in range(1, 9))
    endowment: int = 25
    outside: float = 5
    slope: float = 23
    bend: float = 0.25
    rounds: int = 10
    name: str = "common-pool"
    version: int = 1
    title = "Common pool"
    unit = "points"

    def __post_init__(self) -> None:
        if len(self.roles) < 2 or self.rounds < 1 or self.endowment < 1 or self.bend <= 0:
            raise UsageError("a common pool needs two players or more, a round, tokens and a positive bend")

    @property
    def equilibrium(self) -> float:
        """What each invests in the symmetric equilibrium of one round.

        >>> CommonPool().equilibrium, CommonPool().optimum
        (8.0, 4.5)
        """
        return max(0.0, min(self.endowment, (self.slope - self.outside) / (self.bend * (len(self.roles) + 1))))

    @property
    def optimum(self) -> float:
        """What each would invest if they could agree."""
        return max(0.0, min(self.endowment, (self.slope - self.outside) / (2 * self.bend * len(self.roles))))

    def start(self) -> Rounds:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: Rounds) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        return {} if len(state) == self.rounds else dict.fromkeys(self.roles, Amount(0, self.endowment))

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rules = TEXTS.fill(
            "common_pool_rules", me=role, count=len(self.roles), everybody=", ".join(self.roles), rounds=self.rounds,
            endowment=self.endowment, outside=f"{self.outside:g}", slope=f"{self.slope:g}", bend=f"{self.bend:g}",
        )  # fmt: skip
        past = [self._describe_round(number, chosen) for number, chosen in enumerate(state, 1)]
        over = len(state) == self.rounds
        now = "The game is over." if over else f"Round {len(state) + 1} of {self.rounds}."
        now = f"{now} You have earned {self.payoffs(state)[role]:.2f} so far."
        facts = {"past": past, "now": now, "rivals": [other for other in self.roles if other != role]}
        return View(role, rules, "\n\n".join((*past, now)), facts)

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List all choices of the rounds so far."""
        return list_chosen_numbers(self, state, role, self.rounds)

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: without the sentence about their goal."""
        return drop_goal(self.view((), role).briefing)

    def apply(self, state: Rounds, moves: Mapping[Role, Action]) -> Rounds:
        """Return the state after these moves."""
        return (*state, tuple(float(moves[role]) for role in self.roles))

    def payoffs(self, state: Rounds) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return {
            role: sum(self.earned(chosen[seat], sum(chosen)) for chosen in state)
            for seat, role in enumerate(self.roles)
        }

    def earned(self, own: float, total: float) -> float:
        """What one player earns in a round in which all invest `total`."""
        return self.outside * (self.endowment - own) + own * (self.slope - self.bend * total)

    def describe_equilibrium(self) -> EquilibriumSummary:
        """Describe the symmetric equilibrium of every round, and what all would invest if they could agree."""
        count = len(self.roles)
        own, best = (self.rounds * self.earned(x, count * x) for x in (self.equilibrium, self.optimum))
        return EquilibriumSummary(
            "equilibrium",
            f"Everybody invests {self.equilibrium:g} in every round.",
            dict.fromkeys(self.roles, float(own)),
            f"Together all would earn most if everybody invested {self.optimum:g}.",
            dict.fromkeys(self.roles, float(best)),
        )

    def choose_equilibrium(self, view: View, ask: Ask) -> float:
        """Invest the same in every round."""
        return self.equilibrium

    def measure_cost(self, state: Rounds, role: Role, action: Action) -> float:
        """Return what another investment loses in its round."""
        others = (len(self.roles) - 1) * self.equilibrium
        usual = self.earned(self.equilibrium, others + self.equilibrium)
        return usual - self.earned(float(action), others + float(action))

    def word_question(self, ask: Ask) -> str:
        """Ask for an investment."""
        return "How many tokens do you invest in the pool?"

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what some investments earn."""
        return ask_about_play(self, role, rng, ("invest",))

    def _describe_round(self, number: int, chosen: tuple[float, ...]) -> str:
        each = ", ".join(f"{role} {x:g}" for role, x in zip(self.roles, chosen, strict=True))
        return f"Round {number}: invested were {each}; together {sum(chosen):g}."
