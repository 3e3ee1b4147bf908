"""A game played move by move, as the reasoner in one seat is told it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.disguise import disguised_tree, moves_by_player
from bestresponse.theory.trees.tree import Tree

__all__ = ["ToldTree"]


@dataclass(frozen=True)
class ToldTree:
    """A tree under the names and signs of a run, and the seat of the player who reasons."""

    config: VerifyConfig
    original: Tree

    @property
    def seat(self) -> int:
        """The place of the player who reasons."""
        return self.config.seat

    @cached_property
    def tree(self) -> Tree:
        """The game as the reasoner is told it."""
        return disguised_tree(self.original, letters=self.config.disguised, inverted=self.config.inverted)

    @property
    def role(self) -> str:
        """The name of the player who reasons."""
        return self.tree.players[self.seat]

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The moves to choose from."""
        return moves_by_player(self.tree)[self.seat]
