"""Decide whether two games are the same, and say where they differ.

Trees are compared up to the order of simultaneous moves (`games.isomorphism`); a table is the tree in which nobody sees
what the others choose. The relations:

equal        the same payoffs under the same names
renamed      the same payoffs once players and moves are renamed or reordered
equivalent   so too once each player's payoffs are multiplied by a positive number and shifted: preferences over
             lotteries, and with them best responses and equilibria, are the same (von Neumann and Morgenstern 1944)
ordinal      none of these, but every player ranks the ends alike
different    none of these

Names that occur in both games mean the same unless the caller says otherwise. Trees that are built differently may
still have the same reduced normal form, in which plans with the same payoffs against everything count once (Kohlberg
and Mertens 1986). That is a verdict of its own: draws, orders and knowledge that change no expected payoff are gone
there, so that a long story with one decision that matters equals that decision alone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.games.isomorphism import TOLERANCE, Ends, Isomorphism, Scale, list_isomorphisms, plain_name
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

Relation = Literal["equal", "renamed", "equivalent", "ordinal", "different"]
Basis = Literal["payoff tables", "trees", "reduced normal forms"]
Verdict = Literal["same tree", "same reduced form, other tree", "same order of payoffs", "different"]

_SCALES: dict[Scale, Relation] = {"payoffs": "renamed", "affine": "equivalent", "order": "ordinal"}
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two games are related; the maps lead from names of the first to names of the second.

    `basis` tells what was compared. `differences` are sentences in the names of the first game, a shortest play on
    which the games part first, at most ten; `num_differences` counts all. Maps are empty where there is no renaming.
    """

    relation: Relation
    basis: Basis
    players: Mapping[str, str]
    actions: Mapping[str, Mapping[str, str]]
    differences: tuple[str, ...] = ()
    num_differences: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What the comparison comes to."""
        if self.relation == "different":
            return "different"
        if self.relation == "ordinal":
            return "same order of payoffs"
        return "same reduced form, other tree" if self.basis == "reduced normal forms" else "same tree"

    @property
    def same(self) -> bool:
        """Whether both are one tree up to names, the order of simultaneous moves and positive affine payoffs."""
        return self.verdict == "same tree"

    @property
    def exact(self) -> bool:
        """Whether both are one tree payoff for payoff, up to names and the order of simultaneous moves."""
        return self.same and self.relation != "equivalent"


def compare_games(first: NormalForm | Tree, second: NormalForm | Tree, *, any_names: bool = False) -> Comparison:
    """Compare two games; TooLarge where there are too many ends, or too many symmetries.

    With `any_names` a name that occurs in both games need not mean the same.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> compare_games(dilemma, NormalForm.bimatrix([[4, -2], [8, 0]], [[3, 5], [0, 1]])).relation
    'equivalent'
    """
    if isinstance(first, NormalForm) and isinstance(second, NormalForm):
        found = _relate(Ends.of(first), Ends.of(second), "payoff tables", any_names)
        return found if found.same else _add_differences(found, list(_find_cells(first, second)))
    found = _relate(Ends.of(first), Ends.of(second), "trees", any_names)
    if found.same:
        return found
    sentences: list[str] = []
    if isinstance(first, Tree) and isinstance(second, Tree):
        sentences = _find_differences(first, second, any_names)
    try:
        forms = [_reduce(game if isinstance(game, NormalForm) else to_normal_form(game)) for game in (first, second)]
        reduced = _relate(Ends.of(forms[0]), Ends.of(forms[1]), "reduced normal forms", any_names)
    except (InvalidGame, TooLarge) as error:
        unknown = f"whether both have the same reduced normal form is not known: {error}"
        return _add_differences(replace(found, remarks=(unknown,)), sentences)
    if reduced.verdict == "same reduced form, other tree":
        return _add_differences(reduced, sentences)
    return _add_differences(found, sentences or list(_find_cells(*forms)))


def _add_differences(found: Comparison, sentences: Sequence[str]) -> Comparison:
    return replace(found, differences=tuple(sentences[:_MOST_LISTED]), num_differences=len(sentences))


def _relate(first: Ends, second: Ends, basis: Basis, any_names: bool) -> Comparison:
    for scale, relation in _SCALES.items():
        for found in list_isomorphisms(first, second, scale, any_names=any_names):
            players, actions = _name_maps(first, second, found)
            pairs = [*players.items(), *(pair for names in actions.values() for pair in names.items())]
            same_names = all(plain_name(old) == plain_name(new) for old, new in pairs)
            return Comparison("equal" if same_names and scale == "payoffs" else relation, basis, players, actions)
    return Comparison("different", basis, {}, {})


def _name_maps(first: Ends, second: Ends, found: Isomorphism) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    players = {name: second.players[seat] for name, seat in zip(first.players, found.players, strict=True)}
    actions: dict[str, dict[str, str]] = {name: {} for name in first.players}
    for move, other in enumerate(found.moves):
        owner = first.owners[first.infoset_of[move]]
        if owner != CHANCE:
            actions[first.players[owner]].setdefault(first.labels[move], second.labels[other])
    return players, actions


def _reduce(form: NormalForm) -> NormalForm:
    """Keep the first of actions that give everybody the same payoffs against everything, and name plans by moves."""
    flat = form.payoffs.reshape(form.num_players, -1)
    scale = np.maximum(np.ptp(flat, axis=1), 1.0)
    payoffs, actions = form.payoffs, list(form.actions)
    for player in range(form.num_players):
        rows = np.moveaxis(payoffs, player + 1, 0).reshape(payoffs.shape[player + 1], len(payoffs), -1)
        plain = np.round(rows / scale[None, :, None], 9).reshape(len(rows), -1) + 0.0
        kept = np.sort(np.unique(plain, axis=0, return_index=True)[1])
        payoffs = np.take(payoffs, kept, axis=player + 1)
        # A plan is called `place: move; place: move`, and places bear other names in other trees.
        moves = tuple("; ".join(re.sub(r"^.*: ", "", part) for part in actions[player][k].split("; ")) for k in kept)
        actions[player] = moves if len(set(moves)) == len(moves) else tuple(actions[player][k] for k in kept)
    return NormalForm(payoffs, form.players, tuple(actions), form.name)


def _pair(*traits: tuple[Sequence[object], Sequence[object]]) -> list[int]:
    """Return where each of the first list stands in the second: by the first trait that is alike, else by order."""
    free, places = list(range(len(traits[0][1]))), dict[int, int]()
    for ours, theirs in (*traits, ([0] * len(traits[0][0]), [0] * len(free))):
        for k, trait in enumerate(ours):
            match = None if k in places else next((j for j in free if theirs[j] == trait), None)
            if match is not None:
                places[k] = match
                free.remove(match)
    return [place for _, place in sorted(places.items())]


def _pair_names(first: Sequence[str], second: Sequence[str]) -> list[int]:
    return _pair(([*map(plain_name, first)], [*map(plain_name, second)]))


def _find_cells(first: NormalForm, second: NormalForm) -> Iterator[str]:
    """Say in which cells of two tables the payoffs differ."""
    if first.num_players != second.num_players:
        yield f"the first game has {first.num_players} players, the second {second.num_players}"
        return
    seats = _pair_names(first.players, second.players)
    if first.shape != tuple(second.shape[seat] for seat in seats):
        sizes = [" x ".join(map(str, form.shape)) for form in (first, second)]
        yield f"the first game has {sizes[0]} actions, the second {sizes[1]}"
        return
    orders = [_pair_names(names, second.actions[seat]) for names, seat in zip(first.actions, seats, strict=True)]
    turned = second.payoffs[seats].transpose(0, *(seat + 1 for seat in seats))
    for cell in product(*map(range, first.shape)):
        ours = [float(own[cell]) for own in first.payoffs]
        theirs = [float(own[tuple(order[k] for order, k in zip(orders, cell, strict=True))]) for own in turned]
        if not np.allclose(ours, theirs, TOLERANCE, TOLERANCE):
            chosen = zip(first.players, first.actions, cell, strict=True)
            place = ", ".join(f"{name}: {moves[k]}" for name, moves, k in chosen)
            yield f"after {place} the payoffs are {_tell(ours)} in the first game and {_tell(theirs)} in the second"


def _find_differences(first: Tree, second: Tree, any_names: bool) -> list[str]:
    """Say where two trees differ, a shortest play on which they part first.

    Payoffs are compared as they are and on two scales, and the scale on which least is lost is told: another scale is
    no difference at every end.
    """
    if first.num_players != second.num_players:
        return [f"the first game has {first.num_players} players, the second {second.num_players}"]
    if any_names:
        turns = [[int(np.sum(tree.owner == seat)) for seat in range(tree.num_players)] for tree in (first, second)]
        seats = _pair((turns[0], turns[1]))
    else:
        seats = _pair_names(first.players, second.players)
    walks = []
    # Quartiles stay where one end is changed, the best and the worst payoff where few ends are alike.
    for span in (None, (0.0, 1.0), (0.25, 0.75)):
        payoffs = first.payoffs, second.payoffs[:, seats]
        if span is not None:
            payoffs = _rescale(first, payoffs[0], span), _rescale(second, payoffs[1], span)
        walks.append(sorted(_walk(first, second, seats, payoffs, any_names), key=lambda difference: difference.depth))
    least = min(walks, key=lambda differences: sum(difference.lost for difference in differences))
    return [difference.sentence for difference in least]


def _rescale(tree: Tree, payoffs: Array, span: tuple[float, float]) -> Array:
    """Move and stretch everybody's payoffs so that two quantiles of them become 0 and 1."""
    low, high = np.quantile(payoffs[tree.leaves], span, axis=0, method="lower")
    scaled: Array = (payoffs - low) / np.where(high > low, high - low, 1.0)
    return scaled


class _Difference(NamedTuple):
    """After how many moves two trees differ, how, and how many nodes of the first are not compared because of it."""

    depth: int
    sentence: str
    lost: int = 1


def _walk(
    first: Tree, second: Tree, seats: Sequence[int], payoffs: tuple[Array, Array], any_names: bool
) -> Iterator[_Difference]:
    """Yield where two trees differ, walking them side by side.

    Branches are paired by name, else by their probability and what comes after them, else by order.
    """
    sizes = [1] * first.num_nodes
    for node in range(first.num_nodes - 1, 0, -1):
        sizes[int(first.parent[node])] += sizes[node]
    owners = first.owner.tolist(), [seats.index(owner) if owner >= 0 else owner for owner in second.owner.tolist()]
    marks = _mark_subtrees((first, second), owners, payoffs)
    widest = max(1.0, float(np.abs(payoffs[0]).max()))
    queue = deque([(0, 0, 0)])
    pairs: list[tuple[int, int, int]] = []
    while queue:
        depth, here, there = queue.popleft()
        ours, theirs = first.children[here], second.children[there]
        names = [[tree.branch_labels[k] for k in below] for tree, below in ((first, ours), (second, theirs))]
        if owners[0][here] != owners[1][there]:
            movers = _name_mover(first, here), _name_mover(second, there)
            sentence = f"{_name_place(first, here)} {movers[0]} in the first game and {movers[1]} in the second"
            yield _Difference(depth, sentence, sizes[here])
            continue
        if len(ours) != len(theirs):
            listed = " in the first game and ".join(", ".join(labels) or "none" for labels in names)
            sentence = f"{_name_place(first, here)} the branches are {listed} in the second"
            yield _Difference(depth, sentence, sizes[here])
            continue
        after = (
            [(round(float(first.probability[k]), 9), marks[0][k]) for k in ours],
            [(round(float(second.probability[k]), 9), marks[1][k]) for k in theirs],
        )
        traits = [after] if any_names else [([*map(plain_name, names[0])], [*map(plain_name, names[1])]), after]
        below = [(k, theirs[j]) for k, j in zip(ours, _pair(*traits), strict=True)]
        queue.extend((depth + 1, *pair) for pair in below)
        if owners[0][here] >= 0:
            pairs.append((depth, here, there))
        for k, child in below if owners[0][here] == CHANCE else ():
            p, q = float(first.probability[k]), float(second.probability[child])
            if abs(p - q) > TOLERANCE:
                sentence = f"{first.path(k)} has probability {p:g} in the first game and {q:g} in the second"
                yield _Difference(depth + 1, sentence)
        if not ours and np.abs(payoffs[0][here] - payoffs[1][there]).max() > TOLERANCE * widest:
            paid, earned = _tell(first.payoffs[here]), _tell(second.payoffs[there][list(seats)])
            place = _name_place(first, here)
            sentence = f"{place} the payoffs are {paid} in the first game and {earned} in the second"
            yield _Difference(depth, sentence)
    yield from _compare_knowledge(first, second, pairs)


def _mark_subtrees(
    trees: tuple[Tree, Tree], owners: tuple[list[int], list[int]], payoffs: tuple[Array, Array]
) -> list[list[int]]:
    """Give every node a number, the same for nodes after which the same can happen, names and knowledge aside."""
    numbers: dict[object, int] = {}
    marks: list[list[int]] = []
    for tree, own, paid in zip(trees, owners, payoffs, strict=True):
        rounded, mark = np.round(paid, 9).tolist(), [0] * tree.num_nodes
        for node in range(tree.num_nodes - 1, -1, -1):
            below = sorted((round(float(tree.probability[k]), 9), mark[k]) for k in tree.children[node])
            kind = own[node], *(below or rounded[node])
            mark[node] = numbers.setdefault(kind, len(numbers))
        marks.append(mark)
    return marks


def _compare_knowledge(first: Tree, second: Tree, pairs: Sequence[tuple[int, int, int]]) -> Iterator[_Difference]:
    """Say which positions can be told apart in one of two trees only, over positions that were paired."""
    for side, (game, other) in enumerate((("first", "second"), ("second", "first"))):
        met: dict[int, tuple[int, int]] = {}
        for depth, *pair in pairs:
            infosets = int(first.infoset[pair[0]]), int(second.infoset[pair[1]])
            before = met.setdefault(infosets[side], (pair[0], pair[1]))
            known = int(first.infoset[before[0]]), int(second.infoset[before[1]])
            if known[1 - side] != infosets[1 - side]:
                name = first.players[int(first.owner[pair[0]])]
                paths = f"{first.path(before[0])} and {first.path(pair[0])}"
                sentence = f"{name} cannot tell apart {paths} in the {game} game, but can in the {other}"
                yield _Difference(depth, sentence)


def _name_place(tree: Tree, node: int) -> str:
    return f"after {tree.path(node)}" if node else "at the start"


def _name_mover(tree: Tree, node: int) -> str:
    owner = int(tree.owner[node])
    if owner == LEAF:
        return "the game is over"
    return "chance moves" if owner == CHANCE else f"{tree.players[owner]} moves"


def _tell(payoffs: Sequence[float] | Array) -> str:
    return ", ".join(f"{u:g}" for u in payoffs)
