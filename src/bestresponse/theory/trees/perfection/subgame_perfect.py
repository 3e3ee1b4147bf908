"""Subgame perfect equilibria of trees with perfect information, ties included.

Definition (Selten 1965): a strategy profile that is a Nash equilibrium in every subgame. With perfect information
backward induction finds the pure ones: at each node its owner takes a best branch. Where branches tie, each choice
gives its own equilibria, and they are counted exactly: every node keeps how many equilibria of its subgame lead to
each payoff vector. Ties are exact too: payoffs and probabilities are taken as the rationals that were given, floats as
those they stand for (0.1 as 1/10, 0.333... as 1/3).

R. Selten, "Spieltheoretische Behandlung eines Oligopolmodells mit Nachfrageträgheit", Z. f. d. gesamte
Staatswissenschaft 121, 1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import Game
from bestresponse.theory.trees.compile import as_tree
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["SubgamePerfect", "SubgamePerfectEquilibrium", "subgame_perfect"]

Payoffs = tuple[Fraction, ...]
Profile = tuple[Payoffs, dict[int, int]]

_COMBINATIONS = 100_000


@dataclass(frozen=True, slots=True)
class SubgamePerfectEquilibrium:
    """One pure equilibrium: each player's move at every own information set, and what it earns."""

    moves: dict[str, dict[str, str]]
    payoffs: dict[str, float]
    exact: dict[str, Fraction] | None


@dataclass(frozen=True, slots=True)
class SubgamePerfect:
    """All pure subgame perfect equilibria (`count` of them) if they are few, else the first one alone.

    `outcomes` holds every payoff vector that one of them reaches, in any case.
    """

    count: int
    equilibria: tuple[SubgamePerfectEquilibrium, ...]
    outcomes: tuple[dict[str, float], ...]

    @property
    def complete(self) -> bool:
        """Whether all of them are listed."""
        return self.count == len(self.equilibria)


def subgame_perfect(game: Tree | Game[Any], limit: int = 1000) -> SubgamePerfect:
    """Backward induction; lists all pure equilibria if there are at most `limit`, else the first and their number.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> subgame_perfect(load_tree("entry-deterrence")).equilibria[0].moves
    {'entrant': {'market': 'in'}, 'incumbent': {'entry': 'share'}}
    """
    tree = as_tree(game)
    if not tree.is_perfect_information:
        name = tree.name or "the tree"
        raise InvalidGame(f"{name} has {_shared(tree)}; backward induction needs perfect information")
    reachable = _count(tree)
    count = sum(reachable[0].values())
    listed = count if count <= limit else 1
    equilibria = tuple(_equilibrium(tree, *profile) for profile in _profiles(tree, reachable, listed))
    outcomes = tuple(_named(tree, payoffs) for payoffs in sorted(reachable[0], reverse=True))
    return SubgamePerfect(count, equilibria, outcomes)


def _shared(tree: Tree) -> str:
    sizes = np.bincount(tree.infoset[tree.infoset >= 0])
    infoset = tree.infosets[int(np.argmax(sizes))]
    return f"an information set of {int(sizes.max())} nodes ({infoset.label!r} of {tree.players[infoset.player]})"


def _count(tree: Tree) -> list[dict[Payoffs, int]]:
    """For each node: the payoff vectors of its subgame's equilibria, and how many equilibria give each."""
    tables: list[dict[Payoffs, int]] = [{} for _ in range(tree.num_nodes)]
    for node in range(tree.num_nodes - 1, -1, -1):
        owner = int(tree.owner[node])
        below = [tables[child] for child in tree.children[node]]
        if owner == LEAF:
            tables[node] = {tree.read_payoffs(node): 1}
        elif owner == CHANCE:
            tables[node] = _drawn(tree, node, below)
        else:
            tables[node] = _chosen(owner, below)
    return tables


def _chosen(owner: int, below: list[dict[Payoffs, int]]) -> dict[Payoffs, int]:
    """A move and its payoffs are best in all profiles in which every other branch gives the owner no more."""
    least = max(min(payoffs[owner] for payoffs in table) for table in below)
    values = sorted({payoffs[owner] for table in below for payoffs in table if payoffs[owner] >= least}, reverse=True)
    found: dict[Payoffs, int] = {}
    for value in values:
        no_more = [sum(ways for payoffs, ways in table.items() if payoffs[owner] <= value) for table in below]
        profiles = math.prod(no_more)
        for table, own in zip(below, no_more, strict=True):
            for payoffs, ways in table.items():
                if payoffs[owner] == value:
                    found[payoffs] = found.get(payoffs, 0) + ways * (profiles // own)
    return found


def _drawn(tree: Tree, node: int, below: list[dict[Payoffs, int]]) -> dict[Payoffs, int]:
    """The mean payoffs of every combination of the branches' equilibria."""
    found: dict[Payoffs, int] = {(Fraction(0),) * tree.num_players: 1}
    for child, table in zip(tree.children[node], below, strict=True):
        if len(found) * len(table) > _COMBINATIONS:
            raise TooLarge(f"the ties below {tree.path(node)} combine in more than {_COMBINATIONS} ways")
        share = tree.read_probability(child)
        sums: dict[Payoffs, int] = {}
        for (before, many), (payoffs, ways) in product(found.items(), table.items()):
            total = _plus(before, share, payoffs)
            sums[total] = sums.get(total, 0) + many * ways
        found = sums
    return found


def _plus(before: Payoffs, share: Fraction, payoffs: Payoffs) -> Payoffs:
    return tuple(sum_ + share * u for sum_, u in zip(before, payoffs, strict=True))


def _continuations(tree: Tree, node: int, below: list[Payoffs]) -> list[tuple[int, Payoffs]]:
    """The best moves at `node` and their payoffs, given those of each branch; at chance the mean, as move -1."""
    owner = int(tree.owner[node])
    if owner == CHANCE:
        mean: Payoffs = (Fraction(0),) * tree.num_players
        for child, payoffs in zip(tree.children[node], below, strict=True):
            mean = _plus(mean, tree.read_probability(child), payoffs)
        return [(-1, mean)]
    best = max(payoffs[owner] for payoffs in below)
    return [(move, payoffs) for move, payoffs in enumerate(below) if payoffs[owner] == best]


def _profiles(tree: Tree, reachable: list[dict[Payoffs, int]], listed: int) -> list[Profile]:
    """Up to `listed` equilibria as payoffs and a map from information set to move; ties in the order of the moves."""
    tables: list[list[Profile]] = [[] for _ in range(tree.num_nodes)]
    for node in range(tree.num_nodes - 1, -1, -1):
        if tree.owner[node] == LEAF:
            tables[node] = [(payoffs, {}) for payoffs in reachable[node]]
            continue
        for chosen in product(*(tables[child] for child in tree.children[node])):
            merged: dict[int, int] = {}
            for _, choices in chosen:
                merged |= choices
            for move, payoffs in _continuations(tree, node, [vector for vector, _ in chosen]):
                own = {} if move < 0 else {int(tree.infoset[node]): move}
                tables[node].append((payoffs, merged | own))
            if len(tables[node]) >= listed:
                break
        for child in tree.children[node]:
            tables[child] = []
        del tables[node][listed:]
    return tables[0]


def _equilibrium(tree: Tree, payoffs: Payoffs, choices: dict[int, int]) -> SubgamePerfectEquilibrium:
    moves: dict[str, dict[str, str]] = {player: {} for player in tree.players}
    for index, infoset in enumerate(tree.infosets):
        moves[tree.players[infoset.player]][infoset.label] = infoset.moves[choices[index]]
    exact = dict(zip(tree.players, payoffs, strict=True)) if tree.is_exact else None
    return SubgamePerfectEquilibrium(moves, _named(tree, payoffs), exact)


def _named(tree: Tree, payoffs: Payoffs) -> dict[str, float]:
    return dict(zip(tree.players, map(float, payoffs), strict=True))
