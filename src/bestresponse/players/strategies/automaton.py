"""A finite automaton in a seat of a repeated two-player game: it reads the history from its view."""

from __future__ import annotations

from dataclasses import dataclass

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.dilemma import cooperative_actions
from bestresponse.theory.repeated.library import classic_strategies, classic_strategy
from bestresponse.theory.repeated.reduce import reduced, relabelled

__all__ = ["AutomatonPlayer", "list_automata", "make_automaton"]


@dataclass(frozen=True, slots=True)
class AutomatonPlayer:
    """Plays `automaton`; a mixed action is drawn anew for each view, always the same for the same seed and view."""

    automaton: Automaton
    seed: int = 0

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.automaton.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        actions = view.facts.get("actions", ())
        if not isinstance(ask, Choice) or "history" not in view.facts or len(actions) != 2:
            raise UsageError(f"the strategy {self.name} plays repeated games of two players only")
        seat: int = view.facts["seat"]
        own, other = (list(actions[who]) for who in (seat, 1 - seat))
        state = 0
        for moves in view.facts["history"]:
            state = int(self.automaton.step[state, own.index(moves[seat]), other.index(moves[1 - seat])])
        mix = self.automaton.mix[state]
        return Decision(generator(self.seed, view.key).choices(own, mix.tolist())[0])


def list_automata(form: NormalForm) -> tuple[str, ...]:
    """List the classic strategies; none where no action of the stage game is cooperation."""
    try:
        cooperative_actions(form)
    except InvalidGame:
        return ()
    return tuple(automaton.name for automaton in classic_strategies())


def make_automaton(name: str, form: NormalForm, seat: int) -> Automaton:
    """Make the classic strategy for that seat: the library counts actions as cooperate, defect, the game may not."""
    order = [(first, 1 - first) for first in cooperative_actions(form)]
    return relabelled(reduced(classic_strategy(name)), order[seat], order[1 - seat])
