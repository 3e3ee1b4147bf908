"""Turn payoff tables and trees of the theory into game tables, with exact numbers.

Floats are read as the simple fractions they stand for (0.1 is 1/10, the float next to a third is 1/3). Where an
information set holds several positions, its player perceives the set's label when the play comes there, and nothing
else but its own moves: under perfect recall this is the same knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import NATURE
from bestresponse.logic.programs.game_table import GameTable, Row
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["read_fraction", "table_from_cells", "table_from_tree"]

MOST_ENDS = 20_000
_DENOMINATOR = 1_000_000
_ROUNDING = 1e-12


def table_from_cells(
    players: tuple[str, ...], moves: tuple[tuple[str, ...], ...], payoffs: tuple[tuple[Fraction, ...], ...]
) -> GameTable:
    """Return the table of a game where all move once, at the same time; the last player's move changes fastest."""
    profiles = list(product(*moves))
    if len(profiles) != len(payoffs):
        raise InvalidGame(f"{len(profiles)} combinations of moves need as many payoffs, got {len(payoffs)}")
    rows = tuple(
        Row(tuple(zip(players, profile, strict=True)), earned, (len(players),))
        for profile, earned in zip(profiles, payoffs, strict=True)
    )
    return GameTable(players, moves, rows)


def table_from_tree(tree: Tree) -> GameTable:
    """Return the table of a tree; InvalidGame without perfect recall, TooLarge past 20,000 ends.

    >>> from bestresponse.theory import load_tree
    >>> table_from_tree(load_tree("kuhn-poker")).rows[0].chances[0]
    Fraction(1, 6)
    """
    if len(tree.leaves) > MOST_ENDS:
        raise TooLarge(f"the tree has {len(tree.leaves):,} ends; at most {MOST_ENDS:,} are written as a program")
    if NATURE in tree.players:
        raise InvalidGame(f"a player is named {NATURE!r}, which in programs is the name of chance")
    to_sequence_form(tree)  # refuses a tree without perfect recall
    _check_lotteries(tree)
    labels = _tell_branches_apart(tree)
    rows = tuple(_build_row(tree, leaf, labels) for leaf in tree.leaves.tolist())
    if not any((tree.owner == CHANCE).tolist()):
        rows = tuple(Row(row.moves, row.payoffs, row.blocks, (), row.percepts) for row in rows)
    moves = tuple(
        tuple(dict.fromkeys(move for one in tree.infosets if one.player == seat for move in one.moves))
        for seat in range(tree.num_players)
    )
    return GameTable(tree.players, moves, rows, private=not tree.is_perfect_information)


def read_fraction(number: float) -> Fraction:
    """Return the simple fraction that a float stands for, or its shortest decimal where there is none."""
    simple = Fraction(number).limit_denominator(_DENOMINATOR)
    return simple if abs(float(simple) - number) <= _ROUNDING * max(1.0, abs(number)) else Fraction(repr(number))


def _check_lotteries(tree: Tree) -> None:
    for node, below in enumerate(tree.children):
        total = sum(read_fraction(float(tree.probability[child])) for child in below)
        if int(tree.owner[node]) == CHANCE and total != 1:
            raise InvalidGame(f"after {tree.path(node)} the probabilities sum to {total}; a program needs exactly 1")


def _tell_branches_apart(tree: Tree) -> list[str]:
    """Return the label of every branch, with a number behind it where branches of one node bear the same label."""
    labels = list(tree.branch_labels)
    for below in tree.children:
        seen: dict[str, int] = {}
        for child in below:
            seen[labels[child]] = count = seen.get(labels[child], 0) + 1
            if count > 1:
                labels[child] = f"{labels[child]} #{count}"
    return labels


def _build_row(tree: Tree, leaf: int, labels: list[str]) -> Row:
    path = list(reversed(list(_climb(tree, leaf))))
    parents = [int(tree.parent[node]) for node in path]
    owners = [int(tree.owner[node]) for node in parents]
    names = [NATURE if owner == CHANCE else tree.players[owner] for owner in owners]
    chances = tuple(
        read_fraction(float(tree.probability[node])) if owner == CHANCE else None
        for node, owner in zip(path, owners, strict=True)
    )
    percepts = () if tree.is_perfect_information else tuple(_find_percept(tree, node) for node in path)
    moves = tuple(zip(names, (labels[node] for node in path), strict=True))
    payoffs = tuple(read_fraction(float(u)) for u in tree.payoffs[leaf])
    return Row(moves, payoffs, (1,) * len(path), chances, percepts)


def _climb(tree: Tree, node: int) -> Iterator[int]:
    while node > 0:
        yield node
        node = int(tree.parent[node])


def _find_percept(tree: Tree, node: int) -> tuple[tuple[str, str], ...]:
    owner = int(tree.owner[node])
    if owner in (CHANCE, LEAF):
        return ()
    return ((tree.players[owner], tree.infosets[int(tree.infoset[node])].label),)
