"""Trees that follow a rule which is shorter than the tree: poker.

A rule is stated only for the very tree of the catalogue that it describes, so that what is told is
what is played.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from bestresponse.core.told import GameRule
from bestresponse.games.statements import tell
from bestresponse.telling.course import Narrator
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class PokerRule(GameRule):
    """Poker with these cards, the lowest first; `first` bets first."""

    cards: tuple[str, ...]
    first: str
    copies: ClassVar[int] = 1
    """Of each card."""

    def tell(self, words: Narrator) -> str:
        """Tell it with the names of the cards."""
        cards = words.language.join(map(words.name_card, self.cards), "standard")
        return words.fill(self, count=self.copies * len(self.cards), cards=cards)


@dataclass(frozen=True, slots=True)
class KuhnRule(PokerRule):
    """Each player gets a card and puts in a stake of 1 coin; there is at most one bet of 1 coin."""

    message = "kuhn"


@dataclass(frozen=True, slots=True)
class LeducRule(PokerRule):
    """Two players, two cards of each rank, one open card and two rounds of bets.

    Raises have these sizes, with at most `most_raises` per round.
    """

    message = "leduc"
    copies = 2
    first_raise: int
    second_raise: int
    most_raises: int


TREE_TELLING: dict[str, PokerRule] = {
    "kuhn-poker": KuhnRule(("J", "Q", "K"), "player 1"),
    "kuhn-poker-3": KuhnRule(("T", "J", "Q", "K"), "player 1"),
    "leduc-poker": LeducRule(
        ("J", "Q", "K"), "player 1", first_raise=2, second_raise=4, most_raises=2
    ),
}
"""By the names of the catalogue."""


@lru_cache(maxsize=32)
def find_tree_rule(tree: Tree) -> PokerRule | None:
    """Find the rule of a tree: that of the catalogue's tree of its name, if it is this very one."""
    rule = TREE_TELLING.get(tree.name)
    if rule is None:
        return None
    known = load_tree(tree.name)
    is_known = known.num_nodes == tree.num_nodes and tell(known) == tell(tree)
    return rule if is_known else None
