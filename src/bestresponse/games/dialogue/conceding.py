"""Who makes offers in a dialogue and needs no model.

It asks for what is best for itself first and for less with each of its messages, down to nothing at
its last one, and accepts whatever is worth as much to it as what it would ask for. It knows what
its seat knows, weighs a few drawn offers, and writes no words (a time-dependent tactic as in P.
Faratin, C. Sierra, N. R. Jennings, Robotics and Autonomous Systems 24, 1998).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter

from bestresponse.core.ask import NO_WORDS, Ask, Choice, Form
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.errors import InvalidMove
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.games.dialogue.deals import DealRules, Moves, OfferFields

_DRAWN = 1_000
CONCEDER = "simulated"
"""Its name, which is that of everybody in dialogues who needs no model."""
ACCEPT = "accept"
OFFER = "make an offer"
LEAVE = "walk away"


@dataclass(frozen=True, slots=True)
class Conceder:
    """Concedes from the best offer to none over `replies` messages of its own."""

    deal: DealRules
    names: tuple[str, ...]
    fields: OfferFields
    replies: int
    seed: int = 0
    name: str = CONCEDER

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        match ask:
            case Form((("message", _), ("move", Choice(options)))):
                return Decision({"message": NO_WORDS, "move": self._choose_move(view, options)})
            case Form():
                return Decision(self._draw_offer(view, ask))
            case Choice(options) if isinstance(self.deal, Moves):
                worths = dict(zip(options, map(sum, self.deal.table), strict=True))
                return Decision(max(worths, key=worths.__getitem__))
        return Decision(NO_WORDS)

    def _choose_move(self, view: View, options: tuple[str, ...]) -> str:
        """Accept what is worth as much as it would ask for; offer as long as it can."""
        if ACCEPT in options:
            _, last = view.facts["moves"][-1]
            wanted = 0.0
            if OFFER in options:
                wanted = self._weigh(view, self._draw_offer(view, Form(self.fields)))
            if self._weigh(view, last) >= wanted:
                return ACCEPT
        return OFFER if OFFER in options else LEAVE

    def _draw_offer(self, view: View, ask: Form) -> Mapping[str, object]:
        """Return the drawn offer that is worth hardly more than what it asks for now."""
        rng = view.draw(self.seed, "offer")
        worths: list[tuple[float, Mapping[str, object]]] = []
        for _ in range(_DRAWN):
            terms = _round(any_legal_action(ask, rng))
            worth = self._weigh(view, terms)
            if worth >= 0:
                worths.append((worth, terms))
        if not worths:
            return _round(any_legal_action(ask, rng))
        best, _ = max(worths, key=itemgetter(0))
        spoken = len(view.facts["moves"]) // 2
        wanted = best * (1 - spoken / self.replies)
        fitting = [one for one in worths if one[0] >= wanted]
        _, terms = min(fitting, key=itemgetter(0))
        return terms

    def _weigh(self, view: View, terms: Mapping[str, object]) -> float:
        """Return what terms are worth to itself, below 0 where they cannot be carried out."""
        own = view.facts["private"]
        seat = view.facts["seat"]
        # Nobody knows what the other owns: a piece of everything, as far as it can tell.
        other = {**own, "endowment": dict.fromkeys(own.get("endowment", ()), 1)}
        private = (own, other) if seat == 0 else (other, own)
        try:
            deal = self.deal.read(self.deal.make_ruling(terms, self.names), self.names, private)
        except InvalidMove:
            return -1.0
        return self.deal.utilities(deal, private)[seat]


def _round(terms: object) -> Mapping[str, object]:
    """Round prices as people name them."""
    assert isinstance(terms, Mapping)
    return {name: round(x) if isinstance(x, float) else x for name, x in terms.items()}
