"""Find how players and actions of one payoff table are renamed to give another.

Actions are told apart by colours: two actions keep the same colour while the payoffs in their rows, with the colours
of the others' actions, are the same. Where a colour holds several actions one of them is paired by trial, and the
colours are refined again, as in tests for the isomorphism of graphs (Weisfeiler and Leman 1968).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import TooLarge
from bestresponse.theory.games.normal_form import Array

__all__ = ["Maps", "find_maps"]

Ints = NDArray[np.int64]
Colours = tuple[tuple[Ints, ...], tuple[Ints, ...]]
"""One colour for each action of each player, in the first table and in the second."""

_MOST_TRIED = 20_000
_MOST_PLAYERS = 8


@dataclass(frozen=True, slots=True)
class Maps:
    """Player k of the first table is `players[k]` of the second, its action a is `actions[k][a]` there."""

    players: tuple[int, ...]
    actions: tuple[tuple[int, ...], ...]

    def carry(self, second: Array) -> Array:
        """Return the second table in the order of the first."""
        turned = second[list(self.players)].transpose(0, *(k + 1 for k in self.players))
        return np.stack([own[np.ix_(*self.actions)] for own in turned])


def find_maps(first: Array, second: Array, wished: Maps | None = None, tolerance: float = 1e-9) -> Maps | None:
    """Return maps under which both tables are the same, `wished` where it is one; None where there is none.

    >>> find_maps(np.array([[[1.0, 2.0]], [[0.0, 3.0]]]), np.array([[[3.0], [0.0]], [[2.0], [1.0]]]))
    Maps(players=(1, 0), actions=((0,), (1, 0)))
    """
    if len(first) > _MOST_PLAYERS:
        raise TooLarge(f"expected at most {_MOST_PLAYERS} players, got {len(first)}: too many orders of them")
    orders = list(permutations(range(len(first))))
    if wished is not None:
        orders.sort(key=lambda players: players != wished.players)
    for players in orders:
        turned = second[list(players)].transpose(0, *(k + 1 for k in players))
        if turned.shape != first.shape:
            continue
        ours, theirs = _number_payoffs(first, turned, tolerance)
        if wished is not None and players == wished.players and (np.array_equal(ours, theirs[np.ix_(*wished.actions)])):
            return wished
        actions = _pair_actions(ours, theirs)
        if actions is not None:
            return Maps(players, actions)
    return None


def _number_payoffs(first: Array, second: Array, tolerance: float) -> tuple[Ints, Ints]:
    """Give every cell a number: the same one exactly where all players' payoffs are the same but for rounding."""
    codes = []
    for ours, theirs in zip(first, second, strict=True):
        both = np.concatenate([ours.ravel(), theirs.ravel()])
        order = np.argsort(both, kind="stable")
        width = float(both.max() - both.min())
        code = np.empty(both.size, dtype=np.int64)
        code[order] = np.concatenate([[0], np.cumsum(np.diff(both[order]) > tolerance * (width or 1.0))])
        codes.append(code)
    numbers = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].reshape(2, *first.shape[1:])
    return numbers[0].astype(np.int64), numbers[1].astype(np.int64)


def _pair_actions(first: Ints, second: Ints) -> tuple[tuple[int, ...], ...] | None:
    """Return for every action of the first table the one of the second that it is; None where there is no way."""
    start = tuple(np.zeros(size, dtype=np.int64) for size in first.shape)
    waiting: list[Colours] = [(start, start)]
    for _ in range(_MOST_TRIED):
        if not waiting:
            return None
        colours = _refine(first, second, waiting.pop())
        if colours is None:
            continue
        if all(len(np.unique(own)) == len(own) for own in colours[0]):
            actions = tuple(_read_pairs(*pair) for pair in zip(*colours, strict=True))
            if np.array_equal(first, second[np.ix_(*actions)]):
                return actions
            continue
        waiting += reversed(list(_split(colours)))
    raise TooLarge(f"the tables have too many symmetries: no renaming was found in {_MOST_TRIED:,} steps")


def _refine(first: Ints, second: Ints, colours: Colours) -> Colours | None:
    """Refine the colours until nothing changes; None where the two tables do not have the same colours."""
    count = -1
    while True:
        cells = _colour_cells(first, second, colours)
        ours, theirs = zip(*(_colour_actions(cells, colours, k) for k in range(first.ndim)), strict=True)
        if any(not np.array_equal(np.sort(a), np.sort(b)) for a, b in zip(ours, theirs, strict=True)):
            return None
        colours = (ours, theirs)
        found = sum(len(np.unique(own)) for own in ours)
        if found == count:
            return colours
        count = found


def _colour_cells(first: Ints, second: Ints, colours: Colours) -> tuple[Ints, Ints]:
    stacked = []
    for table, own in zip((first, second), colours, strict=True):
        grids = np.broadcast_arrays(table, *np.ix_(*own))
        stacked.append(np.stack([grid.ravel() for grid in grids], axis=1))
    numbers = np.unique(np.concatenate(stacked), axis=0, return_inverse=True)[1].reshape(2, *first.shape)
    return numbers[0], numbers[1]


def _colour_actions(cells: tuple[Ints, Ints], colours: Colours, player: int) -> tuple[Ints, Ints]:
    rows = []
    for table, own in zip(cells, colours, strict=True):
        plain = np.sort(np.moveaxis(table, player, 0).reshape(table.shape[player], -1), axis=1)
        rows.append(np.column_stack([own[player], plain]))
    numbers = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    return numbers[: len(rows[0])], numbers[len(rows[0]) :]


def _split(colours: Colours) -> Iterator[Colours]:
    """Pair the first action that shares its colour with each action of that colour in the other table."""
    ours, theirs = colours
    player, own = next((k, own) for k, own in enumerate(ours) if len(np.unique(own)) < len(own))
    values, counts = np.unique(own, return_counts=True)
    shared = values[counts > 1][0]
    fresh = int(own.max()) + 1
    action = int(np.flatnonzero(own == shared)[0])
    for other in np.flatnonzero(theirs[player] == shared):
        yield _recolour(ours, player, action, fresh), _recolour(theirs, player, int(other), fresh)


def _recolour(colours: tuple[Ints, ...], player: int, action: int, fresh: int) -> tuple[Ints, ...]:
    own = colours[player].copy()
    own[action] = fresh
    return (*colours[:player], own, *colours[player + 1 :])


def _read_pairs(ours: Ints, theirs: Ints) -> tuple[int, ...]:
    place = {int(colour): k for k, colour in enumerate(theirs)}
    return tuple(place[int(colour)] for colour in ours)
