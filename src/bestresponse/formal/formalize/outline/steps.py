"""A game as an outline: draws and choices in order, after which options each comes, and what its player knows.

The outline works out every play and names the ends. With the payoffs of the ends it becomes the tree that `tree_json`
reads, and passes its checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.formal.formalize.tree_json import build_table
from bestresponse.logic.programs.game_table import GameTable

__all__ = ["LUCK", "Outline", "OutlineTooLarge", "Step"]

LUCK: Final = "luck"
MOST_ENDS = 64


class OutlineTooLarge(InvalidGame):
    """The game has more plays than can be listed one by one."""


@dataclass(frozen=True, slots=True)
class Step:
    """A draw or a choice. It is made where each step in `after` was made with one of the options listed there.

    `known` holds the numbers of the earlier steps whose options the player knows when it chooses.
    """

    who: str
    options: tuple[str, ...]
    odds: tuple[object, ...] = ()
    after: Mapping[int, frozenset[str]] = field(default_factory=dict)
    known: frozenset[int] = frozenset()

    def name_option(self, option: str) -> str:
        """Name an option with its player: `Mia: bet`; a draw is named alone."""
        return option if self.who == LUCK else f"{self.who}: {option}"


_Play = tuple[tuple[int, str], ...]
"""The numbers of the steps that were made, each with the option that was drawn or chosen."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Players and steps, and the ends to which they lead."""

    players: tuple[str, ...]
    steps: tuple[Step, ...]

    def check(self) -> None:
        """Raise InvalidGame where something is wrong with the steps, OutlineTooLarge where they have too many ends."""
        count = len(self.ends())
        if count > MOST_ENDS:
            raise OutlineTooLarge(f"an outline has at most {MOST_ENDS} ends")
        self.build([(Fraction(0),) * len(self.players)] * count)

    def ends(self) -> list[str]:
        """Name every end by its play: `heads; Lev: dare; Nora: hold`."""
        return [self._name_play(play) for play in islice(self._plays((), 0), MOST_ENDS + 1)]

    def build(self, payoffs: Sequence[Sequence[Fraction]]) -> GameTable:
        """Return the game with the payoffs of every end, in the order of `ends`."""
        return build_table(self.players, self._node((), 0, iter(payoffs)))

    def _plays(self, play: _Play, number: int) -> Iterator[_Play]:
        number = self._find_next(play, number)
        if number == len(self.steps):
            yield play
            return
        for option in self.steps[number].options:
            yield from self._plays((*play, (number, option)), number + 1)

    def _node(self, play: _Play, number: int, payoffs: Iterator[Sequence[Fraction]]) -> JsonObject:
        """Return the tree below a play, as nested JSON."""
        number = self._find_next(play, number)
        if number == len(self.steps):
            return {"end": self._name_play(play), "payoffs": [str(one) for one in next(payoffs)]}
        step = self.steps[number]
        below = [self._node((*play, (number, option)), number + 1, payoffs) for option in step.options]
        if step.who == LUCK:
            branches = zip(step.options, step.odds, below, strict=True)
            return {"chance": [{"draw": name, "probability": odds, "then": then} for name, odds, then in branches]}
        moves = [{"move": name, "then": then} for name, then in zip(step.options, below, strict=True)]
        return {"player": step.who, "knows": self._describe_knowledge(play, number), "moves": moves}

    def _find_next(self, play: _Play, number: int) -> int:
        made = dict(play)
        while number < len(self.steps) and not all(
            made.get(earlier) in options for earlier, options in self.steps[number].after.items()
        ):
            number += 1
        return number

    def _describe_knowledge(self, play: _Play, number: int) -> str:
        """Tell what the mover knows or has done, and between what there is to choose where that is not always the same.

        Nobody forgets: what a player knew at an earlier choice of the play it knows still.
        """
        step = self.steps[number]
        own = {one for one, _ in play if self.steps[one].who == step.who}
        known = own | step.known.union(*(self.steps[one].known for one in own))
        differs = any(one.who == step.who and set(one.options) != set(step.options) for one in self.steps)
        told = self._name_play(tuple(made for made in play if made[0] in known))
        return "; ".join(filter(None, (told, f"{' or '.join(step.options)}?" if differs else "")))

    def _name_play(self, play: _Play) -> str:
        return "; ".join(self.steps[number].name_option(option) for number, option in play)
