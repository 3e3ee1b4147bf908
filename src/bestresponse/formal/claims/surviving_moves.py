"""What somebody will certainly not do in a tree with hidden moves, whatever the others do and whatever it believes.

A move is taken away where another move of the same information set is better at every node of the set: the least that
it can lead to is more than the most that the first can lead to, with averages over nature and among the moves that are
left. This is repeated until nothing changes; what is left is a superset of what rational players may do (Li 2017 calls
such a move obviously dominated).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Final

from bestresponse.core.errors import TooLarge
from bestresponse.formal.claims.subject import exact
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["Surviving", "find_surviving_moves"]

MOST_NODES: Final = 20_000

Values = list[tuple[Fraction, ...]]
"""For each node a value for each player."""


@dataclass(frozen=True, slots=True)
class Surviving:
    """The moves that are left in each information set, and the least and most that each node can be worth."""

    moves: tuple[frozenset[int], ...]
    least: Values
    most: Values


def find_surviving_moves(tree: Tree) -> Surviving:
    """Take away obviously dominated moves until there are none."""
    if tree.num_nodes > MOST_NODES:
        raise TooLarge(f"the tree has {tree.num_nodes:,} nodes; hidden moves are looked through in {MOST_NODES:,}")
    sets: list[list[int]] = [[] for _ in tree.infosets]
    for node, place in enumerate(tree.infoset.tolist()):
        if place >= 0:
            sets[place].append(node)
    moves = [frozenset(range(len(one.moves))) for one in tree.infosets]
    while True:
        least, most = _bound(tree, moves, min), _bound(tree, moves, max)
        fewer = [
            kept - {bad for good, bad in permutations(kept, 2) if _is_better(tree, nodes, good, bad, least, most)}
            for nodes, kept in zip(sets, moves, strict=True)
        ]
        if fewer == moves:
            return Surviving(tuple(moves), least, most)
        moves = fewer


def _bound(tree: Tree, moves: list[frozenset[int]], choose: Callable[[tuple[Fraction, ...]], Fraction]) -> Values:
    values: Values = [()] * tree.num_nodes
    for node in reversed(range(tree.num_nodes)):
        owner, children = int(tree.owner[node]), tree.children[node]
        if owner == LEAF:
            values[node] = tuple(map(exact, tree.payoffs[node].tolist()))
        elif owner == CHANCE:
            parts = [[exact(tree.probability[child]) * value for value in values[child]] for child in children]
            values[node] = tuple(sum(part, Fraction(0)) for part in zip(*parts, strict=True))
        else:
            kept = [values[children[k]] for k in moves[int(tree.infoset[node])]]
            values[node] = tuple(map(choose, zip(*kept, strict=True)))
    return values


def _is_better(tree: Tree, nodes: list[int], good: int, bad: int, least: Values, most: Values) -> bool:
    seat = int(tree.owner[nodes[0]])
    return all(least[tree.children[node][good]][seat] > most[tree.children[node][bad]][seat] for node in nodes)
