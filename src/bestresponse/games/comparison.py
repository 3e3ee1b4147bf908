"""Decide whether two games are the same, and say where they differ.

equal        the same payoffs under the same names
renamed      the same payoffs once players and moves are renamed or reordered
equivalent   so too once each player's payoffs are multiplied by a positive number and shifted: preferences over
             lotteries, and with them best responses and equilibria, are the same (von Neumann and Morgenstern 1944)
ordinal      none of these, but every player ranks the ends alike
different    none of these

Names that occur in both games mean the same unless the caller says otherwise. Two trees are first compared as trees, up
to the order of simultaneous moves (`games.isomorphism`). Trees that are built differently may still have the same
reduced normal form, in which plans with the same payoffs against everything count once (Kohlberg and Mertens 1986):
order, draws and knowledge that change no expected payoff of any plan make no difference to it. `basis` tells which of
the two was found; where trees differ it is said where, the shortest play first.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Literal

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.games.isomorphism import TOLERANCE, Ends, Isomorphism, Scale, find_isomorphism, plain_name
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["Basis", "Comparison", "Relation", "compare_games"]

Relation = Literal["equal", "renamed", "equivalent", "ordinal", "different"]
Basis = Literal["payoff tables", "trees", "reduced normal forms"]

_SCALES: dict[Scale, Relation] = {"payoffs": "renamed", "affine": "equivalent"}
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two games are related; the maps lead from names of the first to names of the second.

    `basis` tells what was compared: trees that are the same game only by their reduced normal forms are different
    trees, and `remarks` tell how they are built differently. `differences` are sentences in the names of the first
    game, at most ten, and `num_differences` counts all. Maps are empty where no renaming was found.
    """

    relation: Relation
    basis: Basis
    players: Mapping[str, str]
    actions: Mapping[str, Mapping[str, str]]
    differences: tuple[str, ...] = ()
    num_differences: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether best responses and equilibria are the same but for names."""
        return self.relation in ("equal", "renamed", "equivalent")


def compare_games(first: NormalForm | Tree, second: NormalForm | Tree, *, any_names: bool = False) -> Comparison:
    """Compare two games; TooLarge where there are too many ends, or too many symmetries.

    With `any_names` a name that occurs in both games need not mean the same.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> compare_games(dilemma, NormalForm.bimatrix([[4, -2], [8, 0]], [[3, 5], [0, 1]])).relation
    'equivalent'
    """
    if isinstance(first, NormalForm) and isinstance(second, NormalForm):
        found = _relate(Ends.of(first), Ends.of(second), "payoff tables", any_names)
        return found if found.same else _tell_differences(found, _find_cells(first, second))
    found = _relate(Ends.of(first), Ends.of(second), "trees", any_names)
    if found.same:
        return found
    told: Iterator[str] = iter(())
    if isinstance(first, Tree) and isinstance(second, Tree):
        told = _find_differences(first, second)
    try:
        forms = [_reduce(game if isinstance(game, NormalForm) else to_normal_form(game)) for game in (first, second)]
        reduced = _relate(Ends.of(forms[0]), Ends.of(forms[1]), "reduced normal forms", any_names)
    except (InvalidGame, TooLarge) as error:
        unknown = f"whether both have the same reduced normal form is not known: {error}"
        return _tell_differences(replace(found, remarks=(unknown,)), told)
    if reduced.same:
        return replace(reduced, remarks=tuple(islice(told, _MOST_LISTED)))
    mixed = isinstance(first, NormalForm) or isinstance(second, NormalForm)
    return _tell_differences(found, _find_cells(*forms) if mixed else told)


def _tell_differences(found: Comparison, sentences: Iterator[str]) -> Comparison:
    told = list(sentences)
    return replace(found, differences=tuple(told[:_MOST_LISTED]), num_differences=len(told))


def _relate(first: Ends, second: Ends, basis: Basis, any_names: bool) -> Comparison:
    for scale, relation in _SCALES.items():
        if found := find_isomorphism(first, second, scale, any_names=any_names):
            players, actions = _name_maps(first, second, found)
            pairs = [*players.items(), *(pair for names in actions.values() for pair in names.items())]
            same_names = all(plain_name(old) == plain_name(new) for old, new in pairs)
            return Comparison("equal" if same_names and scale == "payoffs" else relation, basis, players, actions)
    if found := find_isomorphism(first, second, "order", any_names=any_names):
        return Comparison("ordinal", basis, *_name_maps(first, second, found))
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


def _pair_names(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return where each name of the first list stands in the second: by name where all are the same, else by order."""
    known = {plain_name(name): place for place, name in enumerate(second)}
    wanted = [plain_name(name) for name in first]
    return [known[name] for name in wanted] if set(wanted) == set(known) else list(range(len(first)))


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


def _find_differences(first: Tree, second: Tree) -> Iterator[str]:
    """Say where two trees differ, walking them side by side.

    Players and branches are paired by their names where both trees or positions have the same names, else by order.
    """
    if first.num_players != second.num_players:
        yield f"the first game has {first.num_players} players, the second {second.num_players}"
        return
    seats = _pair_names(first.players, second.players)
    queue = deque([(0, 0)])
    pairs: list[tuple[int, int]] = []
    while queue:
        here, there = queue.popleft()
        place = f"after {first.path(here)}" if here else "at the start"
        owner, other = int(first.owner[here]), int(second.owner[there])
        ours, theirs = first.children[here], second.children[there]
        if other != (seats[owner] if owner >= 0 else owner):
            told = [_name_owner(first, owner), _name_owner(second, other)]
            yield f"{place} {told[0]} in the first game and {told[1]} in the second"
            continue
        names = [[tree.branch_labels[k] for k in below] for tree, below in ((first, ours), (second, theirs))]
        if len(ours) != len(theirs):
            told = [", ".join(own) or "none" for own in names]
            yield f"{place} the branches are {told[0]} in the first game and {told[1]} in the second"
            continue
        below = [(k, theirs[place]) for k, place in zip(ours, _pair_names(*names), strict=True)]
        queue.extend(below)
        if owner >= 0:
            pairs.append((here, there))
        for k, child in below if owner == CHANCE else ():
            p, q = float(first.probability[k]), float(second.probability[child])
            if abs(p - q) > TOLERANCE:
                yield f"{first.path(k)} has probability {p:g} in the first game and {q:g} in the second"
        paid, earned = first.payoffs[here].tolist(), [float(second.payoffs[there][seat]) for seat in seats]
        if owner == LEAF and not np.allclose(paid, earned, TOLERANCE, TOLERANCE):
            yield f"{place} the payoffs are {_tell(paid)} in the first game and {_tell(earned)} in the second"
    yield from _compare_knowledge(first, second, pairs)


def _compare_knowledge(first: Tree, second: Tree, pairs: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Say which positions can be told apart in one of two trees only, over positions that were paired."""
    for side, (one, other) in enumerate((("first", "second"), ("second", "first"))):
        met: dict[int, tuple[int, int]] = {}
        for pair in pairs:
            infosets = int(first.infoset[pair[0]]), int(second.infoset[pair[1]])
            before = met.setdefault(infosets[side], pair)
            known = int(first.infoset[before[0]]), int(second.infoset[before[1]])
            if known[1 - side] != infosets[1 - side]:
                name = first.players[int(first.owner[pair[0]])]
                paths = f"{first.path(before[0])} and {first.path(pair[0])}"
                yield f"{name} cannot tell apart {paths} in the {one} game, but can in the {other}"


def _name_owner(tree: Tree, owner: int) -> str:
    if owner == LEAF:
        return "the game is over"
    return "chance moves" if owner == CHANCE else f"{tree.players[owner]} moves"


def _tell(payoffs: Sequence[float]) -> str:
    return ", ".join(f"{u:g}" for u in payoffs)
