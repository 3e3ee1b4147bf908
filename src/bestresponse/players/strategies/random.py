"""A player that answers anything legal."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from bestresponse.core.ask import Ask, Form, Lottery, Words
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, Role, View
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator

__all__ = ["RandomPlayer", "make_random"]


@dataclass(frozen=True, slots=True)
class RandomPlayer:
    """Some legal move, each as likely as any other."""

    seed: int = 0
    name: str = "random"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Draw an answer that depends on the seed and the view only."""
        return Decision(_draw(ask, generator(self.seed, view.key)))


def make_random(game: AnyGame, role: Role, seed: int) -> RandomPlayer:
    """Seat a random player."""
    return RandomPlayer(seed)


def _draw(ask: Ask, rng: Random) -> Any:
    fields = [field for _, field in ask.fields] if isinstance(ask, Form) else [ask]
    for field in fields:
        if isinstance(field, Words | Lottery):
            raise UsageError(f"a random player cannot answer {type(field).__name__}; seat a model or a person")
    return any_legal_action(ask, rng)
