"""Decide whether two games are the same up to names, order and positive affine payoffs, and say where they differ.

equal        the same payoffs under the same names
renamed      the same payoffs once players and actions are renamed or reordered
equivalent   so too once each player's payoffs are multiplied by a positive number and shifted: preferences over
             lotteries, and with them best responses and equilibria, are the same (von Neumann and Morgenstern 1944)
different    none of these

Trees are compared by their reduced normal forms, in which strategies with the same payoffs against everything count
once (Kohlberg and Mertens 1986): order, draws and knowledge that change no expected payoff of any plan make no
difference to this, and are told beside it. Where two trees differ it is said where, position by position.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bestresponse.games.table_matching import Maps, find_maps
from bestresponse.games.tree_differences import find_tree_differences
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Tree

__all__ = ["Comparison", "Relation", "compare_games"]

Relation = Literal["equal", "renamed", "equivalent", "different"]

_TOLERANCE = 1e-9
"""Relative to the range of a player's payoffs."""
_MOST_TRIED = 2_000
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two games are related; the maps lead from names of the first to names of the second.

    `basis` tells what was compared; `differences` are sentences in the names of the first game, at most ten, and
    `num_differences` counts all. Maps are empty where the games differ in size. `remarks` tell how two trees of the
    same game are built differently.
    """

    relation: Relation
    basis: Literal["payoff tables", "reduced normal forms"]
    players: Mapping[str, str]
    actions: Mapping[str, Mapping[str, str]]
    differences: tuple[str, ...] = ()
    num_differences: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether best responses and equilibria are the same but for names."""
        return self.relation != "different"


def compare_games(first: NormalForm | Tree, second: NormalForm | Tree) -> Comparison:
    """Compare two games; TooLarge where the normal form of a tree would not fit.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> compare_games(dilemma, NormalForm.bimatrix([[2, 10], [0, 6]], [[2, 0], [10, 6]])).relation
    'equivalent'
    """
    if not isinstance(first, Tree) and not isinstance(second, Tree):
        return _compare_tables(first, second, "payoff tables")
    forms = [_merge_duplicates(_as_table(game)) for game in (first, second)]
    found = _compare_tables(forms[0], forms[1], "reduced normal forms")
    if not (isinstance(first, Tree) and isinstance(second, Tree)):
        return found
    players = _pair_players(first.players, second.players, found.players)
    told = list(find_tree_differences(first, second, players))
    if found.same:
        return replace(found, remarks=tuple(told[:_MOST_LISTED]) if _count(first) != _count(second) else ())
    return replace(found, differences=tuple(told[:_MOST_LISTED]), num_differences=len(told)) if told else found


def _count(tree: Tree) -> tuple[int, int]:
    return len(tree.leaves), len(tree.infosets)


def _pair_players(first: Sequence[str], second: Sequence[str], found: Mapping[str, str]) -> list[int]:
    """Return where each player of the first game sits in the second: as was found, else by name, else by order."""
    if found:
        return [second.index(found[who]) for who in first]
    named = _match_texts(first, second)
    return list(named) if named is not None else list(range(len(first)))


def _compare_tables(
    first: NormalForm, second: NormalForm, basis: Literal["payoff tables", "reduced normal forms"]
) -> Comparison:
    wrong = _find_other_size(first, second)
    if wrong:
        return Comparison("different", basis, {}, {}, (wrong,), 1)
    relation, maps = _find_relation(first, second)
    if maps is not None:
        return Comparison(relation, basis, *_name_maps(first, second, maps))
    maps, cells = _find_nearest(first, second)
    told = tuple(_tell_cell(first, second, maps, cell) for cell in cells[:_MOST_LISTED])
    return Comparison("different", basis, *_name_maps(first, second, maps), told, len(cells))


def _as_table(game: NormalForm | Tree) -> NormalForm:
    return to_normal_form(game) if isinstance(game, Tree) else game


def _merge_duplicates(form: NormalForm) -> NormalForm:
    """Keep the first of the actions that give everybody the same payoffs against everything."""
    scale = np.maximum(_measure_ranges(form.payoffs), 1.0)
    payoffs, actions = form.payoffs, list(form.actions)
    for player in range(form.num_players):
        rows = np.moveaxis(payoffs, player + 1, 0).reshape(payoffs.shape[player + 1], len(payoffs), -1)
        plain = np.round(rows / scale[None, :, None], 9).reshape(len(rows), -1) + 0.0
        kept = np.sort(np.unique(plain, axis=0, return_index=True)[1])
        payoffs = np.take(payoffs, kept, axis=player + 1)
        actions[player] = tuple(actions[player][k] for k in kept)
    return NormalForm(payoffs, form.players, tuple(actions), form.name)


def _measure_ranges(payoffs: Array) -> Array:
    flat = payoffs.reshape(len(payoffs), -1)
    return np.asarray(flat.max(axis=1) - flat.min(axis=1))


def _find_other_size(first: NormalForm, second: NormalForm) -> str:
    if first.num_players != second.num_players:
        return f"the first game has {first.num_players} players, the second {second.num_players}"
    if sorted(first.shape) != sorted(second.shape):
        sizes = [" x ".join(map(str, form.shape)) for form in (first, second)]
        return f"the first game has {sizes[0]} actions, the second {sizes[1]}"
    return ""


def _find_relation(first: NormalForm, second: NormalForm) -> tuple[Relation, Maps | None]:
    named = _match_names(first, second)
    if named is not None and _is_equal(first.payoffs, second.payoffs, named):
        return "equal", named
    if maps := find_maps(first.payoffs, second.payoffs, named, _TOLERANCE):
        return "renamed", maps
    maps = find_maps(_scale_to_unit(first.payoffs), _scale_to_unit(second.payoffs), named, _TOLERANCE)
    return ("equivalent", maps) if maps else ("different", None)


def _match_names(first: NormalForm, second: NormalForm) -> Maps | None:
    """Return the maps by which every name stays the same but for upper and lower case; None where there are none."""
    players = _match_texts(first.players, second.players)
    if players is None:
        return None
    moves = [_match_texts(names, second.actions[players[k]]) for k, names in enumerate(first.actions)]
    return Maps(players, tuple(m for m in moves if m is not None)) if None not in moves else None


def _match_texts(first: Sequence[str], second: Sequence[str]) -> tuple[int, ...] | None:
    known = {name.casefold(): k for k, name in enumerate(second)}
    found = [known.get(name.casefold()) for name in first]
    complete = len(known) == len(second) == len(first) and None not in found and len(set(found)) == len(found)
    return tuple(k for k in found if k is not None) if complete else None


def _scale_to_unit(payoffs: Array) -> Array:
    """Shift and stretch each player's payoffs to run from 0 to 1; constant ones become 0."""
    shape = (len(payoffs), *(1,) * (payoffs.ndim - 1))
    flat = payoffs.reshape(len(payoffs), -1)
    ranges = _measure_ranges(payoffs)
    low = flat.min(axis=1).reshape(shape)
    return np.asarray((payoffs - low) / np.where(ranges > 0, ranges, 1.0).reshape(shape))


def _find_cells(first: Array, second: Array, maps: Maps) -> NDArray[np.intp]:
    """List the cells of the first table in which the payoffs differ from those of the second."""
    scale = np.maximum(_measure_ranges(first), _measure_ranges(second[list(maps.players)]))
    limit = _TOLERANCE * np.where(scale > 0, scale, 1.0).reshape(-1, *(1,) * (first.ndim - 1))
    return np.argwhere((np.abs(first - maps.carry(second)) > limit).any(axis=0))


def _is_equal(first: Array, second: Array, maps: Maps) -> bool:
    return len(_find_cells(first, second, maps)) == 0


def _find_nearest(first: NormalForm, second: NormalForm) -> tuple[Maps, list[tuple[int, ...]]]:
    """Return the maps with the fewest cells that differ; those by name where the names agree."""
    named = _match_names(first, second)
    tried = [named] if named is not None else islice(_iterate_maps(first.shape, second.shape), _MOST_TRIED)
    found = [
        (len(cells), number, maps, cells)
        for number, maps in enumerate(tried)
        for cells in [_find_cells(first.payoffs, second.payoffs, maps)]
    ]
    _, _, maps, cells = min(found, key=lambda one: one[:2])
    return maps, [tuple(map(int, cell)) for cell in cells]


def _iterate_maps(first: tuple[int, ...], second: tuple[int, ...]) -> Iterator[Maps]:
    for players in permutations(range(len(first))):
        if all(size == second[k] for size, k in zip(first, players, strict=True)):
            small = math.prod(map(math.factorial, first)) <= _MOST_TRIED
            orders = (
                product(*(permutations(range(size)) for size in first))
                if small
                else [tuple(tuple(range(size)) for size in first)]
            )
            yield from (Maps(players, tuple(order)) for order in orders)


def _name_maps(first: NormalForm, second: NormalForm, maps: Maps) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    players = {who: second.players[k] for who, k in zip(first.players, maps.players, strict=True)}
    actions = {
        who: {name: second.actions[maps.players[seat]][k] for name, k in zip(names, maps.actions[seat], strict=True)}
        for seat, (who, names) in enumerate(zip(first.players, first.actions, strict=True))
    }
    return players, actions


def _tell_cell(first: NormalForm, second: NormalForm, maps: Maps, cell: tuple[int, ...]) -> str:
    chosen = ", ".join(f"{who}: {names[a]}" for who, names, a in zip(first.players, first.actions, cell, strict=True))
    ours = [own[cell] for own in first.payoffs]
    theirs = [own[cell] for own in maps.carry(second.payoffs)]
    return f"after {chosen} the payoffs are {_tell(ours)} in the first game and {_tell(theirs)} in the second"


def _tell(payoffs: Sequence[float]) -> str:
    return ", ".join(f"{float(u):g}" for u in payoffs)
