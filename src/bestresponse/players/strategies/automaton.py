"""A finite automaton in a seat of a repeated two-player game: it reads the history from its view."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import get_ident
from typing import Any

import numpy as np

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import generator, split
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import (
    Automaton,
    classic_strategies,
    classic_strategy,
    cooperative_actions,
    reduced,
    relabelled,
)
from bestresponse.theory.repeated.round_robin import Rules

PROBE = "joss-ann:"
"""What the name of a probe of fingerprints begins with."""


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
    automaton = make_probe(name) if name.startswith(PROBE) else reduced(classic_strategy(name))
    return relabelled(automaton, order[seat], order[1 - seat])


def make_probe(name: str) -> Automaton:
    """Make the probe `joss-ann:X:Y`: tit-for-tat, but X of the time it cooperates and Y of the time defects anyway.

    Where X + Y is above 1 it is the same of the dual, which does the contrary of tit-for-tat (Ashlock and Kim,
    Fingerprinting: visualization and automatic analysis of prisoner's dilemma strategies, 2008).
    """
    try:
        x, y = map(float, name.removeprefix(PROBE).split(":"))
    except ValueError:
        x = y = -1.0
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise UsageError(f"{name!r}: expected {PROBE}X:Y with two numbers from 0 to 1, such as {PROBE}0.1:0.2")
    seen = np.broadcast_to([0, 1], (2, 2, 2))  # the state is what the other did last
    return Automaton(name, np.array([[1 - y, y], [x, 1 - x]]), seen)


@cache
def axelrod_strategy(name: str) -> Any:
    """The class of a strategy, by the name of the class or the name it shows; UsageError where there is none."""
    if find_spec("axelrod") is None:
        raise UsageError("strategies of Axelrod's library need it installed: pip install axelrod")
    library = import_module("axelrod")
    known = {strategy.__name__: strategy for strategy in library.all_strategies}
    by_shown_name = {strategy.name: strategy for strategy in library.all_strategies}
    found = known.get(name) or by_shown_name.get(name)
    if found is None:
        raise UsageError(f"Axelrod's library has no strategy {name!r}.{did_you_mean(name, sorted(known))}")
    return found


def has_axelrod_strategy(name: str) -> bool:
    """Say whether Axelrod's library is installed and has a strategy of that name."""
    try:
        return axelrod_strategy(name) is not None
    except UsageError:
        return False


@cache
def _library_player(name: str, seat: int, thread: int) -> Any:
    """Make a player of the library, once for each seat and thread: its matches begin by resetting it."""
    return axelrod_strategy(name)()


def play_in_library(names: tuple[str, str], form: NormalForm, rules: Rules, seed: int) -> tuple[float, float]:
    """Let two strategies of Axelrod's library play a match there, and return their payoffs.

    A match of 200 rounds takes the library some milliseconds. Asked round by round through views, its strategies would
    have to live through the whole history for every move.
    """
    library = import_module("axelrod")
    players = [_library_player(name, seat, get_ident()) for seat, name in enumerate(names)]
    match = library.Match(players, rules.rounds, 1 - rules.continuation, noise=rules.noise, seed=seed % 2**32)
    cooperate = cooperative_actions(form)
    payoffs = np.zeros(2)
    for moves, times in Counter(match.play()).items():
        chosen = [c if move == library.Action.C else 1 - c for move, c in zip(moves, cooperate, strict=True)]
        payoffs += times * form.payoffs[:, chosen[0], chosen[1]]
    return float(payoffs[0]), float(payoffs[1])


@dataclass(frozen=True, slots=True)
class AxelrodPlayer:
    """`cooperate` gives, for each seat, the number of the action that is to cooperate."""

    strategy: str
    cooperate: tuple[int, int] = (0, 0)
    seed: int = 0

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return f"axelrod:{self.strategy}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        actions = view.facts.get("actions", ())
        if not isinstance(ask, Choice) or "history" not in view.facts or [len(own) for own in actions] != [2, 2]:
            raise UsageError(f"{self.name} plays repeated games of two players with two actions only")
        seat: int = view.facts["seat"]
        library = import_module("axelrod")
        player, other = axelrod_strategy(self.strategy)(), library.MockPlayer()
        player.set_seed(split(self.seed, view.role) % 2**32)
        letters = [
            {own[c]: library.Action.C, own[1 - c]: library.Action.D}
            for own, c in zip(actions, self.cooperate, strict=True)
        ]
        for moves in view.facts["history"]:
            own, theirs = letters[seat][moves[seat]], letters[1 - seat][moves[1 - seat]]
            player.strategy(other)
            player.update_history(own, theirs)
            other.update_history(theirs, own)
        chosen = player.strategy(other)
        return Decision(next(action for action, letter in letters[seat].items() if letter == chosen))
