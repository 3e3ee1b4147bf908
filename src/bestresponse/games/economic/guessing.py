"""The guessing game, or p-beauty contest: come closest to a fraction of the average.

With a factor below 1 all numbers but the lowest are dominated step by step, so the only equilibrium is that all choose
the lowest (Moulin 1986); people stop after one to three steps (R. Nagel, American Economic Review 85, 1995).
"""

from __future__ import annotations

import math
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

__all__ = ["Guessing", "level_k"]

Rounds = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Guessing:
    """Choose a number; whoever is closest to 0.8 of the average wins the round."""

    roles: tuple[Role, ...] = ("player 1", "player 2", "player 3", "player 4", "player 5")
    factor: float = 0.8
    low: float = 0
    high: float = 100
    rounds: int = 10
    name: str = "guessing"
    version: int = 1
    title = "Guessing game"
    unit = "points"

    def __post_init__(self) -> None:
        if len(self.roles) < 2 or self.rounds < 1 or not self.low < self.high or not 0 < self.factor < math.inf:
            raise UsageError("a guessing game needs two players or more, a round, low < high and a positive factor")

    def start(self) -> Rounds:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: Rounds) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        return {} if len(state) == self.rounds else dict.fromkeys(self.roles, Amount(self.low, self.high))

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        rules = TEXTS.fill(
            "guessing_rules", me=role, count=len(self.roles), everybody=", ".join(self.roles), low=f"{self.low:g}",
            high=f"{self.high:g}", factor=f"{self.factor:g}", rounds=self.rounds,
        )  # fmt: skip
        past = [self._describe_round(number, guesses) for number, guesses in enumerate(state, 1)]
        now = f"Round {len(state) + 1} of {self.rounds}." if len(state) < self.rounds else "The game is over."
        rivals = [other for other in self.roles if other != role]
        facts = {"past": past, "now": now, "rivals": rivals, "guesses": [list(guesses) for guesses in state]}
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
        won = [self._points(guesses) for guesses in state]
        return {role: math.fsum(points[seat] for points in won) for seat, role in enumerate(self.roles)}

    def target(self, guesses: tuple[float, ...]) -> float:
        """What was to be guessed."""
        return self.factor * math.fsum(guesses) / len(guesses)

    def _points(self, guesses: tuple[float, ...]) -> list[float]:
        distances = [abs(guess - self.target(guesses)) for guess in guesses]
        closest = [distance <= min(distances) + 1e-9 for distance in distances]
        return [won / sum(closest) for won in closest]

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the only equilibrium; None where the factor is 1 or more, or numbers may be negative."""
        if self.factor >= 1 or self.low < 0:
            return None
        words = f"Everybody chooses {self.low:g} in every round, the only number that survives when dominated "
        shared = dict.fromkeys(self.roles, self.rounds / len(self.roles))
        return EquilibriumSummary("equilibrium", f"{words}numbers are left out step by step.", shared)

    def choose_equilibrium(self, view: View, ask: Ask) -> float:
        """Choose the lowest number."""
        return self.low

    def measure_cost(self, state: Rounds, role: Role, action: Action) -> float:
        """Return what another number loses in its round."""
        usual = [float(self.low)] * len(self.roles)
        seat = self.roles.index(role)
        other = [*usual[:seat], float(action), *usual[seat + 1 :]]
        return self._points(tuple(usual))[seat] - self._points(tuple(other))[seat]

    def word_question(self, ask: Ask) -> str:
        """Ask for a number."""
        return f"Which number from {self.low:g} to {self.high:g} do you choose?"

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what some numbers earn."""
        return ask_about_play(self, role, rng, ("choose",))

    def _describe_round(self, number: int, guesses: tuple[float, ...]) -> str:
        chosen = ", ".join(f"{role} {guess:g}" for role, guess in zip(self.roles, guesses, strict=True))
        winners = [role for role, point in zip(self.roles, self._points(guesses), strict=True) if point]
        return f"Round {number}: {chosen}. The target was {self.target(guesses):.2f}; closest: {', '.join(winners)}."


def level_k(game: Guessing, level: int) -> float:
    """What a player who thinks `level` steps ahead chooses: level 0 the middle, each level the factor of the one below.

    >>> round(level_k(Guessing(), 2), 2)
    32.0
    """
    return min(max((game.low + game.high) / 2 * game.factor**level, game.low), game.high)
