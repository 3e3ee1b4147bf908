"""Say in sentences where two games differ that are not the same.

Players, actions and branches are paired by name as far as names agree, and the games are walked
side by side. The sentences are in the names of the first game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from bestresponse.games.isomorphism import TOLERANCE, plain_name
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree


def find_cell_differences(first: NormalForm, second: NormalForm) -> Iterator[str]:
    """Say in which cells of two tables the payoffs differ."""
    if first.num_players != second.num_players:
        yield f"the first game has {first.num_players} players, the second {second.num_players}"
        return
    seats = _pair_names(first.players, second.players)
    shape = tuple(second.shape[seat] for seat in seats)
    if first.shape != shape:
        sizes = [" x ".join(map(str, form.shape)) for form in (first, second)]
        yield f"the first game has {sizes[0]} actions, the second {sizes[1]}"
        return

    theirs_in_our_order = second.payoffs[seats].transpose(0, *(seat + 1 for seat in seats))
    for axis, (names, seat) in enumerate(zip(first.actions, seats, strict=True), start=1):
        order = _pair_names(names, second.actions[seat])
        theirs_in_our_order = np.take(theirs_in_our_order, order, axis=axis)

    for cell in product(*map(range, first.shape)):
        ours = [float(table[cell]) for table in first.payoffs]
        theirs = [float(table[cell]) for table in theirs_in_our_order]
        if not np.allclose(ours, theirs, TOLERANCE, TOLERANCE):
            chosen = zip(first.players, first.actions, cell, strict=True)
            profile = ", ".join(f"{name}: {moves[k]}" for name, moves, k in chosen)
            yield (
                f"after {profile} the payoffs are {_tell(ours)} in the first game and"
                f" {_tell(theirs)} in the second"
            )


def find_tree_differences(first: Tree, second: Tree, any_names: bool) -> list[str]:
    """Say where two trees differ, a shortest play on which they part first.

    Payoffs are compared as they are and on two scales, and the scale on which least is lost is
    told: another scale is no difference at every end.
    """
    if first.num_players != second.num_players:
        return [f"the first game has {first.num_players} players, the second {second.num_players}"]
    seats = _pair_players(first, second, any_names)
    # Quartiles stay where one end is changed, the best and the worst payoff where few ends are
    # alike.
    walks = []
    for span in (None, (0.0, 1.0), (0.25, 0.75)):
        sides = _make_sides(first, second, seats, span)
        walk = list(_Walk(*sides, any_names=any_names).list_differences())
        walk.sort(key=lambda difference: difference.depth)
        walks.append(walk)
    least = min(walks, key=_count_lost)
    return [difference.sentence for difference in least]


def _pair_players(first: Tree, second: Tree, any_names: bool) -> list[int]:
    """Return which player of the second tree is compared with each of the first."""
    if not any_names:
        return _pair_names(first.players, second.players)
    return _pair((_count_turns(first), _count_turns(second)))


def _count_turns(tree: Tree) -> list[int]:
    owners = tree.owner.tolist()
    return [owners.count(seat) for seat in range(tree.num_players)]


def _pair_names(first: Sequence[str], second: Sequence[str]) -> list[int]:
    return _pair((first, second), _make_plain(first, second))


def _make_plain(first: Sequence[str], second: Sequence[str]) -> tuple[list[str], list[str]]:
    return list(map(plain_name, first)), list(map(plain_name, second))


def _pair(*traits: tuple[Sequence[object], Sequence[object]]) -> list[int]:
    """Return where each of the first list is in the second.

    Items are matched by the first trait that is alike, else by order.
    """
    first, second = traits[0]
    free = list(range(len(second)))
    any_trait = [0] * len(first), [0] * len(second)
    partners = dict[int, int]()
    for ours, theirs in (*traits, any_trait):
        for k, trait in enumerate(ours):
            if k in partners:
                continue
            partner = next((j for j in free if theirs[j] == trait), None)
            if partner is not None:
                partners[k] = partner
                free.remove(partner)
    return [partners[k] for k in sorted(partners)]


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two trees that are compared: who moves at each node, and the payoffs.

    Payoffs are given as they are compared and as they are told, all in the order of the first
    tree's players.
    """

    tree: Tree
    owners: list[int]
    payoffs: Array
    told_payoffs: Array


def _make_sides(
    first: Tree,
    second: Tree,
    seats: Sequence[int],
    span: tuple[float, float] | None,
) -> tuple[_Side, _Side]:
    """Return both trees with the second's players in the first's order.

    With `span` payoffs are compared after two quantiles of them were made 0 and 1.
    """
    payoffs = [first.payoffs, second.payoffs[:, seats]]
    compared = payoffs
    if span is not None:
        compared = [_rescale(first, payoffs[0], span), _rescale(second, payoffs[1], span)]
    owners = second.owner.tolist()
    renumbered = [seats.index(owner) if owner >= 0 else owner for owner in owners]
    return (
        _Side(first, first.owner.tolist(), compared[0], payoffs[0]),
        _Side(second, renumbered, compared[1], payoffs[1]),
    )


def _rescale(tree: Tree, payoffs: Array, span: tuple[float, float]) -> Array:
    """Move and stretch everybody's payoffs so that two quantiles of them become 0 and 1."""
    low, high = np.quantile(payoffs[tree.leaves], span, axis=0, method="lower")
    scaled: Array = (payoffs - low) / np.where(high > low, high - low, 1.0)
    return scaled


class _Difference(NamedTuple):
    """After how many moves two trees differ, and how.

    Also says how many nodes of the first are not compared because of it.
    """

    depth: int
    sentence: str
    lost: int = 1


def _count_lost(differences: Sequence[_Difference]) -> int:
    """Count the nodes of the first tree that are not compared."""
    return sum(difference.lost for difference in differences)


class _Position(NamedTuple):
    """A node of the first tree and the node of the second that it is compared with."""

    depth: int
    here: int
    there: int


class _Walk:
    """Two trees that are walked side by side."""

    def __init__(self, first: _Side, second: _Side, *, any_names: bool) -> None:
        self.first = first
        self.second = second
        self.any_names = any_names
        self.marks = _mark_subtrees((first, second))
        self.sizes = [1] * first.tree.num_nodes
        for node in range(first.tree.num_nodes - 1, 0, -1):
            parent = int(first.tree.parent[node])
            self.sizes[parent] += self.sizes[node]

    def list_differences(self) -> Iterator[_Difference]:
        """Yield where the trees differ, from their starts on."""
        queue = deque([_Position(0, 0, 0)])
        decisions: list[_Position] = []
        while queue:
            at = queue.popleft()
            difference = self._compare_branches(at)
            if difference is not None:
                yield difference
                continue
            below = self._pair_branches(at)
            queue.extend(below)
            owner = self.first.owners[at.here]
            if owner >= 0:
                decisions.append(at)
            elif owner == CHANCE:
                yield from self._compare_chances(below)
            if not below:
                yield from self._compare_payoffs(at)
        yield from _compare_knowledge(self.first.tree, self.second.tree, decisions)

    def _compare_branches(self, at: _Position) -> _Difference | None:
        """Say who moves or which branches there are, where that differs."""
        first = self.first.tree
        second = self.second.tree
        if self.first.owners[at.here] != self.second.owners[at.there]:
            ours = _name_mover(first, at.here)
            theirs = _name_mover(second, at.there)
            sentence = (
                f"{_name_position(first, at.here)} {ours} in the first game and {theirs} in"
                " the second"
            )
            return _Difference(at.depth, sentence, self.sizes[at.here])
        labels = _list_labels(first, at.here)
        other_labels = _list_labels(second, at.there)
        if len(labels) != len(other_labels):
            ours = ", ".join(labels) or "none"
            theirs = ", ".join(other_labels) or "none"
            sentence = (
                f"{_name_position(first, at.here)} the branches are {ours} in the first game and"
                f" {theirs} in the second"
            )
            return _Difference(at.depth, sentence, self.sizes[at.here])
        return None

    def _pair_branches(self, at: _Position) -> list[_Position]:
        """Pair branches by name, else by probability and what comes after, else by order."""
        first = self.first.tree
        second = self.second.tree
        ours = first.children[at.here]
        theirs = second.children[at.there]
        traits: list[tuple[Sequence[object], Sequence[object]]] = []
        if not self.any_names:
            traits.append(_make_plain(_list_labels(first, at.here), _list_labels(second, at.there)))
        ours_after = _list_after(first, self.marks[0], at.here)
        theirs_after = _list_after(second, self.marks[1], at.there)
        traits.append((ours_after, theirs_after))
        partners = _pair(*traits)
        positions = []
        for child, partner in zip(ours, partners, strict=True):
            positions.append(_Position(at.depth + 1, child, theirs[partner]))
        return positions

    def _compare_chances(self, below: Sequence[_Position]) -> Iterator[_Difference]:
        first = self.first.tree
        for depth, here, there in below:
            p = float(first.probability[here])
            q = float(self.second.tree.probability[there])
            if abs(p - q) > TOLERANCE:
                sentence = (
                    f"{first.path(here)} has probability {p:g} in the first game and {q:g} in the"
                    " second"
                )
                yield _Difference(depth, sentence)

    def _compare_payoffs(self, at: _Position) -> Iterator[_Difference]:
        ours = self.first.payoffs[at.here]
        theirs = self.second.payoffs[at.there]
        if np.allclose(ours, theirs, TOLERANCE, TOLERANCE):
            return
        paid = _tell(self.first.told_payoffs[at.here])
        earned = _tell(self.second.told_payoffs[at.there])
        position = _name_position(self.first.tree, at.here)
        sentence = f"{position} the payoffs are {paid} in the first game and {earned} in the second"
        yield _Difference(at.depth, sentence)


def _mark_subtrees(sides: Sequence[_Side]) -> list[list[int]]:
    """Number every node, with the same number if the same can happen afterwards.

    Names and knowledge do not count.
    """
    numbers: dict[object, int] = {}
    marks: list[list[int]] = []
    for side in sides:
        rounded = np.round(side.payoffs, 9).tolist()
        mark = [0] * side.tree.num_nodes
        for node in range(side.tree.num_nodes - 1, -1, -1):
            below = sorted(_list_after(side.tree, mark, node))
            kind = side.owners[node], *(below or rounded[node])
            mark[node] = numbers.setdefault(kind, len(numbers))
        marks.append(mark)
    return marks


def _list_after(tree: Tree, marks: Sequence[int], node: int) -> list[tuple[float, int]]:
    """List the probability and the mark of every branch of a node."""
    after = []
    for child in tree.children[node]:
        chance = float(tree.probability[child])
        after.append((round(chance, 9), marks[child]))
    return after


def _list_labels(tree: Tree, node: int) -> list[str]:
    return [tree.branch_labels[k] for k in tree.children[node]]


def _compare_knowledge(
    first: Tree,
    second: Tree,
    positions: Sequence[_Position],
) -> Iterator[_Difference]:
    """Say which positions can be told apart in one of two trees only."""
    for side, (game, other) in enumerate((("first", "second"), ("second", "first"))):
        met: dict[int, _Position] = {}
        for position in positions:
            infosets = _find_infosets(first, second, position)
            before = met.setdefault(infosets[side], position)
            known = _find_infosets(first, second, before)
            if known[1 - side] != infosets[1 - side]:
                name = first.players[int(first.owner[position.here])]
                paths = f"{first.path(before.here)} and {first.path(position.here)}"
                sentence = (
                    f"{name} cannot tell apart {paths} in the {game} game, but can in the {other}"
                )
                yield _Difference(position.depth, sentence)


def _find_infosets(first: Tree, second: Tree, position: _Position) -> tuple[int, int]:
    return int(first.infoset[position.here]), int(second.infoset[position.there])


def _name_position(tree: Tree, node: int) -> str:
    return f"after {tree.path(node)}" if node else "at the start"


def _name_mover(tree: Tree, node: int) -> str:
    owner = int(tree.owner[node])
    if owner == LEAF:
        return "the game is over"
    return "chance moves" if owner == CHANCE else f"{tree.players[owner]} moves"


def _tell(payoffs: Sequence[float] | Array) -> str:
    return ", ".join(f"{u:g}" for u in payoffs)
