"""A referee without a model: what the last message of everybody agrees on by the rules of the deal."""

from __future__ import annotations

from dataclasses import dataclass

from bestresponse.core.ask import Ask
from bestresponse.core.game import View
from bestresponse.core.json import canonical
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.games.dialogue.deals import DealRules

__all__ = ["LastNamed"]


@dataclass(frozen=True, slots=True)
class LastNamed:
    """Rules by the last message of each speaker; void where the rules of the deal cannot tell."""

    deal: DealRules
    name: str = "rule: named last"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Say what was agreed, as data."""
        last = dict(view.facts["said"])
        ruling = self.deal.rule([last.get(seat, "") for seat in range(len(view.facts["names"]))])
        if ruling is None:
            return Decision(None, "", Reading(Status.ILLEGAL, "the last messages do not say what was agreed"))
        return Decision(canonical(ruling))
