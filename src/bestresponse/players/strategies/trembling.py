"""A player whose hand trembles: now and then another option is played than the one that was chosen.

With probability `noise` the choice is replaced by one of the other options, each as likely as the next, as
`theory.tournament.Rules.noise` has it for automata. The draw depends only on the seed and the view.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.game import View
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator

__all__ = ["Trembling"]


@dataclass(frozen=True, slots=True)
class Trembling:
    """Wraps a player; `reasoning` and calls stay those of the choice it meant."""

    player: Player
    noise: float
    seed: int = 0

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.player.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        decision = self.player.decide(view, ask)
        if not isinstance(ask, Choice) or decision.action is None:
            return decision
        luck = generator(self.seed, "tremble", view.key)
        others = [option for option in ask.options if option != decision.action]
        if not others or luck.random() >= self.noise:
            return decision
        reading = replace(decision.reading, how=f"meant {decision.action}; {decision.reading.how}".rstrip("; "))
        return replace(decision, action=luck.choice(others), reading=reading)
