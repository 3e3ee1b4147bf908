"""A player for every game in which one chooses among options."""

from dataclasses import dataclass
from typing import Any

from bestresponse.core import Ask, Choice, Decision, Game, View, find_first_asks


@dataclass(frozen=True)
class First:
    """Take the first option. Made for one seat: `First(game, role, seed)`."""

    game: Game[Any]
    role: str
    seed: int
    name: str = "first"

    def decide(self, view: View, ask: Ask) -> Decision:
        return Decision(ask.options[0])

    @staticmethod
    def plays(game: Game[Any]) -> bool:
        return all(isinstance(ask, Choice) for ask in find_first_asks(game).values())
