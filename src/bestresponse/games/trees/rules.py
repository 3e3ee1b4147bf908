"""Trees that follow a rule which is shorter than the tree: poker, trust, the ultimatum.

A rule is stated only where the tree that it makes is this very tree, so that what is told is what
is played.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from bestresponse.core.errors import UsageError
from bestresponse.core.told import GameRule
from bestresponse.games.statements import tell
from bestresponse.telling.course import Narrator
from bestresponse.theory.catalogue.trees import kuhn_poker, leduc_poker, trust, ultimatum
from bestresponse.theory.trees.tree import CHANCE, Tree


@dataclass(frozen=True, slots=True)
class TrustCoinsRule(GameRule):
    """The trust game in whole coins; the receiver has the endowment too."""

    message: ClassVar[str] = "trust"
    endowment: int
    factor: int


@dataclass(frozen=True, slots=True)
class UltimatumCoinsRule(GameRule):
    """The ultimatum in whole coins."""

    message: ClassVar[str] = "ultimatum"
    pie: int


@dataclass(frozen=True, slots=True)
class KuhnRule(GameRule):
    """Poker with these cards, the lowest first, and at most one bet of 1 coin.

    Each player gets a card and puts in a stake of 1 coin.
    """

    message: ClassVar[str] = "kuhn"
    cards: tuple[str, ...]
    first: str

    def tell(self, words: Narrator) -> str:
        """Tell it with the names of the cards."""
        cards = words.language.join(map(words.name_card, self.cards), "standard")
        return words.fill(self, count=len(self.cards), cards=cards)


@dataclass(frozen=True, slots=True)
class LeducRule(GameRule):
    """Poker of two with two cards of each rank, one open card and two rounds of bets.

    Ranks are listed lowest first. Raises have these sizes, with at most `most_raises` per round.
    """

    message: ClassVar[str] = "leduc"
    cards: tuple[str, ...]
    first: str
    first_raise: int
    second_raise: int
    most_raises: int

    def tell(self, words: Narrator) -> str:
        """Tell it with the names of the cards."""
        cards = words.language.join(map(words.name_card, self.cards), "standard")
        return words.fill(self, count=2 * len(self.cards), cards=cards)


TreeRule = KuhnRule | LeducRule | TrustCoinsRule | UltimatumCoinsRule
POKER = (KuhnRule, LeducRule)


@lru_cache(maxsize=32)
def find_tree_rule(tree: Tree) -> TreeRule | None:
    """Find the rule that makes this tree; None where none does."""
    for guess in (_guess_kuhn, _guess_leduc, _guess_trust, _guess_ultimatum):
        rule = guess(tree)
        if rule is not None and _makes(rule, tree):
            return rule
    return None


def make_tree(rule: TreeRule) -> Tree:
    """Make the tree of a rule."""
    match rule:
        case KuhnRule(cards):
            return kuhn_poker(len(cards) - 1)
        case LeducRule():
            return leduc_poker()
        case TrustCoinsRule(endowment, factor):
            return trust(endowment, factor)
        case UltimatumCoinsRule(pie):
            return ultimatum(pie)


def _makes(rule: TreeRule, tree: Tree) -> bool:
    try:
        made = make_tree(rule)
    except UsageError:
        return False
    return made.num_nodes == tree.num_nodes and tell(made) == tell(tree)


def _guess_kuhn(tree: Tree) -> KuhnRule | None:
    num_players = len(tree.players)
    if int(tree.owner[0]) != CHANCE:
        return None
    dealt = {card for node in tree.children[0] for card in tree.branch_labels[node]}
    cards = tuple(card for card in _ORDER if card in dealt)
    is_deck = len(cards) == len(dealt) == num_players + 1
    return KuhnRule(cards, tree.players[0]) if is_deck else None


_ORDER = "9TJQKA"
"""Letters of cards, the lowest first."""


def _guess_leduc(tree: Tree) -> LeducRule | None:
    if tree.num_nodes != _LEDUC_NODES:
        return None
    first = tree.players[0]
    return LeducRule(("J", "Q", "K"), first, first_raise=2, second_raise=4, most_raises=2)


_LEDUC_NODES = 1939


def _guess_trust(tree: Tree) -> TrustCoinsRule | None:
    sums = tree.children[0]
    if tree.players != ("sender", "receiver") or len(sums) < 2:
        return None
    after_one_coin = tree.children[sums[1]]
    return TrustCoinsRule(endowment=len(sums) - 1, factor=len(after_one_coin) - 1)


def _guess_ultimatum(tree: Tree) -> UltimatumCoinsRule | None:
    if tree.players != ("proposer", "responder"):
        return None
    offers = tree.children[0]
    return UltimatumCoinsRule(len(offers) - 1)
