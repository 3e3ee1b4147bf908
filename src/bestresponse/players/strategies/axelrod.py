"""A strategy of the Axelrod library in a seat of a repeated game; works where `axelrod` is installed.

The library (V. Knight et al., "An open framework for the reproducible study of the iterated prisoner's dilemma",
Journal of Open Research Software 4, 2016) is never needed: it is imported when such a player is made. Its players keep
state, ours are functions of their view, so a strategy is led through the whole history before each move.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.errors import UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split

__all__ = ["AxelrodPlayer", "axelrod_strategy"]


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
