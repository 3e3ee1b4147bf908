"""A player that follows a policy where the policy speaks, and is itself otherwise.

`Guided(player, policy)` decides every choice by the policy of a game tree (an equilibrium, say), at the information set
that its view names; what the policy does not cover, such as putting a chosen tone into words, the wrapped player does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from bestresponse.core.ask import Ask, Choice, Mixture
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import View
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator

__all__ = ["Guidance", "Guided"]


class Guidance(Protocol):
    """Probabilities of moves at an information set, as `theory.Policy` gives them."""

    def at(self, player: str, label: str) -> dict[str, float]:
        """InvalidGame where the policy knows no such information set."""


@dataclass(frozen=True, slots=True)
class Guided:
    """`player` guided by `policy`; the draw depends only on the seed and on what is seen."""

    player: Player
    policy: Guidance
    seed: int = 0

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return f"guided {self.player.name}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Choice | Mixture):
            return self.player.decide(view, ask)
        try:
            known = self.policy.at(view.role, view.key)
        except InvalidGame:
            decision = self.player.decide(view, ask)
            return replace(decision, reasoning=f"the policy does not know this situation. {decision.reasoning}".strip())
        chances = tuple(known.get(option, 0.0) for option in ask.options)
        total = sum(chances)
        if total <= 0:
            return self.player.decide(view, ask)
        shares = tuple(chance / total for chance in chances)
        told = ", ".join(f"{option} {share:.3f}" for option, share in zip(ask.options, shares, strict=True))
        if isinstance(ask, Mixture):
            return Decision(shares, f"the policy plays {told}")
        drawn = generator(self.seed, "guided", view.key).choices(ask.options, shares)[0]
        return Decision(drawn, f"the policy plays {told}")
