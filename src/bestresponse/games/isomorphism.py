"""Decide whether two games are the same up to names, the order of simultaneous moves and a change of payoffs.

A game is taken as its ends: each is the set of moves that lead to it, with its payoffs. A move is a choice at an
information set or an outcome of a lottery. Two trees have the same ends exactly where one becomes the other by
exchanging the order of moves that are made without knowing of each other (G. Bonanno, "Set-theoretic equivalence of
extensive-form games", International Journal of Game Theory 20, 1992); a payoff table is a tree with one information set
for each player.

Moves, information sets and ends of both games are coloured together, at first by what can be seen of them alone, and
colours are split until all of one colour have as many neighbours of every other colour (Weisfeiler and Leman 1968).
Games whose colours differ in number are different. Where a colour still has several moves of each game, two of them are
paired by trial, as B. D. McKay does for graphs ("Practical graph isomorphism", 1981).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Literal

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.tree import CHANCE, Tree

Scale = Literal["payoffs", "affine", "order", "none"]
"""What counts of payoffs: the numbers, the numbers up to a positive factor and a shift of each player's, ranks, or
nothing."""

TOLERANCE = 1e-9
"""Relative to the range of a player's payoffs, and the largest difference of equal probabilities."""
_MOST_ENDS = 300_000
_MOST_TRIED = 500
_MOST_ORDERS = 5_000


def plain_name(name: str) -> str:
    """Return a name as it is compared: without case, spaces and signs.

    >>> plain_name("Country A"), plain_name("country_a")
    ('countrya', 'countrya')
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name


@dataclass(frozen=True, slots=True)
class Ends:
    """A game by its ends. Moves and information sets are numbered; lotteries are information sets of chance.

    `ends` has the moves that lead to each end, `payoffs` a row for each end.
    """

    players: tuple[str, ...]
    owners: tuple[int, ...]
    infoset_of: tuple[int, ...]
    labels: tuple[str, ...]
    chances: tuple[float, ...]
    ends: tuple[tuple[int, ...], ...]
    payoffs: Array

    @classmethod
    def of(cls, game: NormalForm | Tree) -> Ends:
        """List the ends of a game; TooLarge where there are too many to be compared."""
        count = len(game.leaves) if isinstance(game, Tree) else game.payoffs[0].size
        if count > _MOST_ENDS:
            raise TooLarge(f"the game has {count:,} ends; at most {_MOST_ENDS:,} are compared")
        return cls._of_tree(game) if isinstance(game, Tree) else cls._of_table(game)

    @classmethod
    def _of_table(cls, form: NormalForm) -> Ends:
        starts = [0, *accumulate(form.shape)]
        moves = [(player, name) for player, names in enumerate(form.actions) for name in names]
        ends = product(*(range(start, start + size) for start, size in zip(starts, form.shape, strict=False)))
        owners = tuple(range(form.num_players))
        infosets, labels = tuple(player for player, _ in moves), tuple(name for _, name in moves)
        payoffs = form.payoffs.reshape(form.num_players, -1).T
        return cls(form.players, owners, infosets, labels, (0.0,) * len(moves), tuple(ends), payoffs)

    @classmethod
    def _of_tree(cls, tree: Tree) -> Ends:
        owners = [infoset.player for infoset in tree.infosets]
        moves = [(number, label, 0.0) for number, infoset in enumerate(tree.infosets) for label in infoset.moves]
        first = [0, *accumulate(len(infoset.moves) for infoset in tree.infosets)]
        paths: list[tuple[int, ...]] = [()] * tree.num_nodes
        for node, below in enumerate(tree.children):
            start = first[int(tree.infoset[node])]
            if int(tree.owner[node]) == CHANCE:
                start = len(moves)
                moves += [(len(owners), tree.branch_labels[child], float(tree.probability[child])) for child in below]
                owners.append(CHANCE)
            for number, child in enumerate(below):
                paths[child] = (*paths[node], start + number)
        infosets, labels, chances = zip(*moves, strict=True) if moves else ((), (), ())
        leaves = tree.leaves.tolist()
        ends = tuple(paths[leaf] for leaf in leaves)
        return cls(tree.players, tuple(owners), infosets, labels, chances, ends, tree.payoffs[leaves])


@dataclass(frozen=True, slots=True)
class Isomorphism:
    """Player k of the first game is `players[k]` of the second, its move m is `moves[m]` there."""

    players: tuple[int, ...]
    moves: tuple[int, ...]


def list_isomorphisms(first: Ends, second: Ends, scale: Scale, *, any_names: bool = False) -> Iterator[Isomorphism]:
    """Yield the ways in which the first game becomes the second; TooLarge after too many trials.

    Players of one name are the same, and so are moves of one name of the same player, unless `any_names` is set.
    """
    sizes = [(len(game.players), len(game.labels), len(game.owners), len(game.ends)) for game in (first, second)]
    if sizes[0] != sizes[1]:
        return
    labels = [plain_name(label) for label in (*first.labels, *second.labels)]
    for players in _list_orders(first, second, scale, any_names):
        kinds = _list_kinds(first, second, players, scale, any_names)
        for moves in _Colouring(_join_graphs(first, second), kinds).list_pairings(labels):
            yield Isomorphism(players, moves)


def _list_orders(first: Ends, second: Ends, scale: Scale, any_names: bool) -> Iterator[tuple[int, ...]]:
    """List the ways in which the players of the first game may be those of the second."""

    names = [[plain_name(name) for name in game.players] for game in (first, second)]
    sizes = [[sorted(_count_moves(game, player)) for player in range(len(names[0]))] for game in (first, second)]
    payoffs = [[np.sort(_rescale(own, scale)) for own in game.payoffs.T] for game in (first, second)]
    fits = [
        [
            seat
            for seat, other in enumerate(names[1])
            if (any_names or name == other or (name not in names[1] and other not in names[0]))
            and sizes[0][player] == sizes[1][seat]
            and np.allclose(payoffs[0][player], payoffs[1][seat], 1e-6, 1e-6)
        ]
        for player, name in enumerate(names[0])
    ]
    for tried, players in enumerate(product(*fits)):
        if tried > _MOST_ORDERS:
            raise TooLarge(f"the players can be paired in more than {_MOST_ORDERS:,} ways")
        if len(set(players)) == len(players):
            yield players


def _count_moves(game: Ends, player: int) -> list[int]:
    """Count the moves at every information set of a player."""
    counts = Counter(game.infoset_of)
    return [counts[number] for number, owner in enumerate(game.owners) if owner == player]


def _rescale(payoffs: Array, scale: Scale) -> Array:
    """Return one player's payoffs as they are compared: themselves, from 0 to 1, their ranks, or 0."""
    low, width = payoffs.min(), float(np.ptp(payoffs))
    if scale == "none":
        return np.zeros_like(payoffs)
    if scale == "order":
        return _number_values(payoffs, width).astype(np.float64)
    return payoffs if scale == "payoffs" else (payoffs - low) / (width or 1.0)


def _number_values(values: Array, width: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Number values by size, the same number for those that differ by rounding only."""
    order = np.argsort(values, kind="stable")
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > TOLERANCE * (width or 1.0))])
    return numbers


def _join_graphs(first: Ends, second: Ends) -> list[list[int]]:
    """Return the neighbours of every move, information set and end, the first game's before the second's."""
    near: list[list[int]] = []
    for game in (first, second):
        moves, infosets = len(near), len(near) + len(game.labels)
        near += [[infosets + infoset] for infoset in game.infoset_of]
        near += [[] for _ in game.owners]
        for move, infoset in enumerate(game.infoset_of):
            near[infosets + infoset].append(moves + move)
        for end in game.ends:
            for move in end:
                near[moves + move].append(len(near))
            near.append([moves + move for move in end])
    return near


def _list_kinds(
    first: Ends, second: Ends, players: tuple[int, ...], scale: Scale, any_names: bool
) -> Iterator[tuple[object, ...]]:
    """Say what can be seen of every move, information set and end alone, in the order of `_join_graphs`."""
    codes = []
    for player, seat in enumerate(players):
        both = np.concatenate([_rescale(first.payoffs[:, player], scale), _rescale(second.payoffs[:, seat], scale)])
        codes.append(_number_values(both, float(np.ptp(both))).tolist())
    ends = zip(*codes, strict=True)
    chances = iter(_number_values(np.array([*first.chances, *second.chances]), 1.0).tolist())
    seats = {seat: player for player, seat in enumerate(players)} | {CHANCE: CHANCE}
    owners = [first.owners, [seats[owner] for owner in second.owners]]
    names = [
        [(own[infoset], plain_name(label)) for infoset, label in zip(game.infoset_of, game.labels, strict=True)]
        for game, own in zip((first, second), owners, strict=True)
    ]
    shared = set() if any_names else set(names[0]) & set(names[1])
    for game, own, named in zip((first, second), owners, names, strict=True):
        yield from (("move", owner, next(chances), name if (owner, name) in shared else "") for owner, name in named)
        yield from (("infoset", owner) for owner in own)
        yield from (("end", next(ends)) for _ in game.ends)


class _Colouring:
    """The nodes of a graph by colour; those from `half` on belong to the second game."""

    def __init__(self, near: list[list[int]], kinds: Iterator[tuple[object, ...]]) -> None:
        numbers: dict[object, int] = {}
        self.near = near
        self.half = len(near) // 2
        self.colour = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
        self.cells: list[set[int]] = [set() for _ in numbers]
        for node, colour in enumerate(self.colour):
            self.cells[colour].add(node)

    def is_even(self, cell: Collection[int]) -> bool:
        """Tell whether as many nodes belong to one game as to the other."""
        return 2 * sum(node < self.half for node in cell) == len(cell)

    def split(self, queue: list[int]) -> bool:
        """Split colours until all nodes of one have as many neighbours of every other; False where one is uneven.

        `queue` are the colours that are new.
        """
        while queue:
            counts = Counter(other for node in self.cells[queue.pop()] for other in self.near[node])
            parts: dict[int, dict[int, list[int]]] = {}
            for node, count in counts.items():
                parts.setdefault(self.colour[node], {}).setdefault(count, []).append(node)
            if not all(self.divide(colour, list(by_count.values()), queue) for colour, by_count in parts.items()):
                return False
        return True

    def divide(self, colour: int, parts: list[list[int]], queue: list[int]) -> bool:
        """Give parts of a colour's nodes, and the rest of them, colours of their own; False where one is uneven.

        The largest keeps the colour: what the others have of neighbours tells what it has (Hopcroft 1971).
        """
        cell = self.cells[colour]
        rest = len(cell) - sum(map(len, parts))
        largest = max(parts, key=len)
        if rest < len(largest):
            parts = [part for part in parts if part is not largest]
            parts += [list(cell.difference(largest, *parts))] if rest else []
        for part in parts:
            cell.difference_update(part)
            for node in part:
                self.colour[node] = len(self.cells)
            queue.append(len(self.cells))
            self.cells.append(set(part))
        return all(map(self.is_even, parts))

    def list_pairings(self, labels: Sequence[str]) -> Iterator[tuple[int, ...]]:
        """Yield which move of the second game each of the first can be, by their numbers; nothing where they differ.

        `labels` are those of the first game's moves, then those of the second's: of several that fit, one with the same
        label is taken first.
        """
        count = len(labels) // 2
        if not all(map(self.is_even, self.cells)) or not self.split(list(range(len(self.cells)))):
            return
        colours, cells = self.colour, self.cells
        trail: list[int] = []
        for _ in range(_MOST_TRIED):
            self.colour, self.cells = list(colours), list(map(set, cells))
            widths: list[int] = []
            fits = True
            for move in range(count):
                cell = self.cells[self.colour[move]]
                if not fits or len(cell) == 2:
                    continue
                others = sorted(node for node in cell if node >= self.half)
                others.sort(key=lambda node: labels[count + node - self.half] != labels[move])
                widths.append(len(others))
                trail += [0] * (len(widths) - len(trail))
                queue: list[int] = []
                fits = self.divide(self.colour[move], [[move, others[trail[len(widths) - 1]]]], queue)
                fits = fits and self.split(queue)
            if fits:
                yield tuple(max(self.cells[self.colour[move]]) - self.half for move in range(count))
            # Pair the next candidate instead of what was paired last, or go back a choice.
            trail = trail[: len(widths)]
            while trail and trail[-1] + 1 == widths[len(trail) - 1]:
                trail.pop()
            if not trail:
                return
            trail[-1] += 1
        raise TooLarge(f"the games have too many symmetries: no renaming was found in {_MOST_TRIED} trials")
