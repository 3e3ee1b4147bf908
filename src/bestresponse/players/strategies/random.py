"""A player that answers anything legal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
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
    match ask:
        case Choice(options):
            return rng.choice(options)
        case Amount(low, high, whole):
            if whole:
                return float(rng.randint(math.ceil(low), math.floor(high)))
            return min(max(round(rng.uniform(low, high), 2), low), high)
        case Mixture(options):
            weights = [rng.expovariate(1.0) for _ in options]
            return tuple(weight / math.fsum(weights) for weight in weights)
        case Form(fields):
            return {name: _draw(field, rng) for name, field in fields}
        case Words() | Lottery():
            raise UsageError(f"a random player cannot answer {type(ask).__name__}; seat a model or a person")
