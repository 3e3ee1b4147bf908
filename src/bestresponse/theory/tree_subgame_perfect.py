"""Subgame perfect equilibria of trees with perfect information, ties included.

Definition (Selten 1965): a strategy profile that is a Nash equilibrium in every subgame. With perfect information
backward induction finds the pure ones: at each node its owner takes a best branch. Where branches tie, each choice
gives its own equilibria, and they are counted exactly: every node keeps how many equilibria of its subgame lead to
each payoff vector. Payoffs are compared after rounding to 12 digits of the largest payoff.

R. Selten, "Spieltheoretische Behandlung eines Oligopolmodells mit Nachfrageträgheit", Z. f. d. gesamte
Staatswissenschaft 121, 1965.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import Game
from bestresponse.theory.compile_tree import as_tree
from bestresponse.theory.tree import CHANCE, LEAF, Tree

__all__ = ["SubgamePerfect", "SubgamePerfectEquilibrium", "subgame_perfect"]

Payoffs = tuple[float, ...]
_COMBINATIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class SubgamePerfectEquilibrium:
    """One pure equilibrium: each player's move at every own information set, and what it earns."""

    moves: dict[str, dict[str, str]]
    payoffs: dict[str, float]


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
        return self.count == len(self.equilibria)


def subgame_perfect(game: Tree | Game[Any], limit: int = 1000) -> SubgamePerfect:
    """Backward induction; lists all pure equilibria if there are at most `limit`, else the first and their number.

    >>> from bestresponse.theory.classics_trees import entry_deterrence
    >>> subgame_perfect(entry_deterrence()).equilibria[0].moves
    {'entrant': {'market': 'in'}, 'incumbent': {'entry': 'share'}}
    """
    tree = as_tree(game)
    if not tree.is_perfect_information:
        name = tree.name or "the tree"
        raise InvalidGame(f"{name} has {_shared(tree)}; backward induction needs perfect information")
    reachable = _count(tree)
    count = sum(reachable[0].values())
    listed = count if count <= limit else 1
    found = [profile for _, profile in zip(range(listed), _profiles(tree, reachable, listed), strict=False)]
    equilibria = tuple(_equilibrium(tree, choices) for choices in found)
    outcomes = tuple(dict(zip(tree.players, payoffs, strict=True)) for payoffs in sorted(reachable[0], reverse=True))
    return SubgamePerfect(count, equilibria, outcomes)


def _shared(tree: Tree) -> str:
    sizes = np.bincount(tree.infoset[tree.infoset >= 0])
    infoset = tree.infosets[int(np.argmax(sizes))]
    return f"an information set of {int(sizes.max())} nodes ({infoset.label!r} of {tree.players[infoset.player]})"


def _count(tree: Tree) -> list[dict[Payoffs, int]]:
    """For each node: the payoff vectors of its subgame's equilibria, and how many equilibria give each."""
    digits = _digits(tree)
    tables: list[dict[Payoffs, int]] = [{} for _ in range(tree.num_nodes)]
    for node in range(tree.num_nodes - 1, -1, -1):
        if tree.owner[node] == LEAF:
            tables[node] = {_rounded(tree.payoffs[node].tolist(), digits): 1}
            continue
        below = [tables[child] for child in tree.children[node]]
        if math.prod(map(len, below)) > _COMBINATIONS:
            raise TooLarge(f"the ties below {tree.path(node)} combine in more than {_COMBINATIONS} ways")
        for chosen in product(*(table.items() for table in below)):
            ways = math.prod(count for _, count in chosen)
            for _, payoffs in _continuations(tree, node, [vector for vector, _ in chosen], digits):
                tables[node][payoffs] = tables[node].get(payoffs, 0) + ways
    return tables


def _digits(tree: Tree) -> int:
    largest = float(np.abs(tree.payoffs).max())
    return 12 - math.ceil(math.log10(largest)) if largest > 0 else 12


def _rounded(payoffs: list[float], digits: int) -> Payoffs:
    return tuple(round(u, digits) for u in payoffs)


def _continuations(tree: Tree, node: int, below: list[Payoffs], digits: int) -> list[tuple[int, Payoffs]]:
    """The best moves at `node` and their payoffs, given those of each branch; at chance the mean, as move -1."""
    owner = int(tree.owner[node])
    if owner == CHANCE:
        weights = tree.probability[list(tree.children[node])]
        return [(-1, _rounded((weights @ np.array(below)).tolist(), digits))]
    best = max(payoffs[owner] for payoffs in below)
    return [(move, payoffs) for move, payoffs in enumerate(below) if payoffs[owner] == best]


def _profiles(tree: Tree, reachable: list[dict[Payoffs, int]], listed: int) -> Iterator[dict[int, int]]:
    """Equilibria as maps from information set to move, up to `listed` of them, ties in the order of the moves."""
    digits = _digits(tree)
    tables: list[list[tuple[Payoffs, dict[int, int]]]] = [[] for _ in range(tree.num_nodes)]
    for node in range(tree.num_nodes - 1, -1, -1):
        if tree.owner[node] == LEAF:
            tables[node] = [(payoffs, {}) for payoffs in reachable[node]]
            continue
        for chosen in product(*(tables[child] for child in tree.children[node])):
            merged: dict[int, int] = {}
            for _, choices in chosen:
                merged |= choices
            for move, payoffs in _continuations(tree, node, [vector for vector, _ in chosen], digits):
                own = {} if move < 0 else {int(tree.infoset[node]): move}
                tables[node].append((payoffs, merged | own))
            if len(tables[node]) >= listed:
                break
        for child in tree.children[node]:
            tables[child] = []
        del tables[node][listed:]
    return iter([choices for _, choices in tables[0]])


def _equilibrium(tree: Tree, choices: dict[int, int]) -> SubgamePerfectEquilibrium:
    moves: dict[str, dict[str, str]] = {player: {} for player in tree.players}
    for index, infoset in enumerate(tree.infosets):
        moves[tree.players[infoset.player]][infoset.label] = infoset.moves[choices[index]]
    payoffs = _walk(tree, choices)
    return SubgamePerfectEquilibrium(moves, dict(zip(tree.players, payoffs, strict=True)))


def _walk(tree: Tree, choices: dict[int, int]) -> list[float]:
    """The expected payoffs when everybody follows `choices`."""
    values = tree.payoffs.copy()
    for node in range(tree.num_nodes - 1, -1, -1):
        below = list(tree.children[node])
        if tree.owner[node] == CHANCE:
            values[node] = tree.probability[below] @ values[below]
        elif below:
            values[node] = values[below[choices[int(tree.infoset[node])]]]
    return [float(u) for u in values[0]]
