"""Find the ways in which one game becomes another by renaming its players and moves.

A game is taken as its ends: each is the set of moves that lead to it, with its payoffs. A move is a
choice at an information set or an outcome of a lottery. Two trees have the same ends exactly where
one becomes the other by exchanging the order of moves that are made without knowing of each other
(G. Bonanno, "Set-theoretic equivalence of extensive-form games", International Journal of Game
Theory 20, 1992); a payoff table is a tree with one information set for each player.

Moves, information sets and ends of both games are coloured together, at first by what can be seen
of them alone, and colours are split until all of one colour have as many neighbours of every other
colour (Weisfeiler and Leman 1968). Games whose colours differ in number are different. Where a
colour still has several moves of each game, two of them are paired by trial, as B. D. McKay does
for graphs ("Practical graph isomorphism", 1981).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Literal, NamedTuple

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.tree import CHANCE, Tree

Scale = Literal["payoffs", "affine", "order", "none"]
"""What counts of payoffs: the numbers, the numbers up to a positive factor and a shift of each
player's, ranks, or nothing."""

TOLERANCE = 1e-9
"""Relative to a payoff or the range of a player's, whichever is less; the largest difference of
equal probabilities."""
_ROUNDING = 1e-13
"""Relative to the range of a player's payoffs: what sums of floating-point numbers lose, and a
thousand times that."""
_LETTERS = re.compile(r"[^\W_]|(?<![^\W_])[+.-](?=\.?\d)|(?<=\d)[./](?=\d)")
_MOST_ENDS = 300_000
_MOST_TRIED = 500
_MOST_ORDERS = 5_000


def plain_name(name: str) -> str:
    """Return a name as it is compared: without case, spaces and signs.

    Signs that belong to a number are kept.

    >>> plain_name("Country A"), plain_name("country_a"), plain_name("bid -1.5")
    ('countrya', 'countrya', 'bid-1.5')
    """
    letters = _LETTERS.findall(name.casefold())
    return "".join(letters) or name


class _Move(NamedTuple):
    """A move by its information set, its label, and its probability where chance makes it."""

    infoset: int
    label: str
    chance: float = 0.0


@dataclass(frozen=True, slots=True)
class Ends:
    """A game by its ends.

    Moves and information sets are numbered; lotteries are information sets of chance.

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
        if isinstance(game, Tree):
            return cls._of_tree(game)
        return cls._of_table(game)

    @classmethod
    def _of_table(cls, form: NormalForm) -> Ends:
        moves: list[_Move] = []
        choices: list[range] = []
        for player, names in enumerate(form.actions):
            first = len(moves)
            moves += [_Move(player, name) for name in names]
            choices.append(range(first, len(moves)))
        return cls._of_moves(
            moves,
            players=form.players,
            owners=range(form.num_players),
            ends=tuple(product(*choices)),
            payoffs=form.payoffs.reshape(form.num_players, -1).T,
        )

    @classmethod
    def _of_tree(cls, tree: Tree) -> Ends:
        owners = [infoset.player for infoset in tree.infosets]
        moves: list[_Move] = []
        for number, infoset in enumerate(tree.infosets):
            moves += [_Move(number, label) for label in infoset.moves]
        first = [0, *accumulate(len(infoset.moves) for infoset in tree.infosets)]

        paths: list[tuple[int, ...]] = [()] * tree.num_nodes
        for node, below in enumerate(tree.children):
            start = first[int(tree.infoset[node])]
            if int(tree.owner[node]) == CHANCE:
                start = len(moves)
                for child in below:
                    probability = float(tree.probability[child])
                    moves.append(_Move(len(owners), tree.branch_labels[child], probability))
                owners.append(CHANCE)
            for number, child in enumerate(below):
                paths[child] = (*paths[node], start + number)

        leaves = tree.leaves.tolist()
        ends = [paths[leaf] for leaf in leaves]
        return cls._of_moves(
            moves,
            players=tree.players,
            owners=owners,
            ends=tuple(ends),
            payoffs=tree.payoffs[leaves],
        )

    @classmethod
    def _of_moves(
        cls,
        moves: Sequence[_Move],
        *,
        players: tuple[str, ...],
        owners: Sequence[int],
        ends: tuple[tuple[int, ...], ...],
        payoffs: Array,
    ) -> Ends:
        return cls(
            players=players,
            owners=tuple(owners),
            infoset_of=tuple(move.infoset for move in moves),
            labels=tuple(move.label for move in moves),
            chances=tuple(move.chance for move in moves),
            ends=ends,
            payoffs=payoffs,
        )

    def list_sizes(self) -> tuple[int, int, int, int]:
        """Return how many players, moves, information sets and ends there are."""
        return len(self.players), len(self.labels), len(self.owners), len(self.ends)

    def list_moves(self) -> Iterator[tuple[int, str]]:
        """Yield who makes each move, and its label."""
        for infoset, label in zip(self.infoset_of, self.labels, strict=True):
            yield self.owners[infoset], label

    def list_infoset_sizes(self, player: int) -> list[int]:
        """Return how many moves a player has at each information set, the fewest first."""
        counts = Counter(self.infoset_of)
        sizes = [counts[k] for k, owner in enumerate(self.owners) if owner == player]
        return sorted(sizes)


@dataclass(frozen=True, slots=True)
class Isomorphism:
    """Player k of the first game is `players[k]` of the second, its move m is `moves[m]` there."""

    players: tuple[int, ...]
    moves: tuple[int, ...]


Folding = Callable[[str], str]
"""How names are compared."""


def list_isomorphisms(
    first: Ends,
    second: Ends,
    scale: Scale,
    *,
    any_names: bool = False,
) -> Iterator[Isomorphism]:
    """Yield the ways in which the first game becomes the second; TooLarge after too many trials.

    Players of one name are the same, and so are moves of one name of the same player, unless
    `any_names` is set. Where in both games all players have moves of the same names, a name becomes
    the same name for everybody: to meet at x or y is not to avoid each other there.
    """
    if first.list_sizes() != second.list_sizes():
        return
    fold = choose_folding(first, second)
    labels = [fold(label) for label in (*first.labels, *second.labels)]
    common: list[list[list[int]]] = [[], []]
    if not any_names:
        common = [_list_common_moves(game, fold) for game in (first, second)]
        if len(common[0]) != len(common[1]):
            common = [[], []]

    games = _TwoGames(first, second, scale=scale, fold=fold, any_names=any_names)
    for players in games.list_orders():
        near = _join_graphs(first, second, common)
        kinds = games.list_kinds(players, num_common=len(common[0]))
        for moves in _Colouring(near, kinds).list_pairings(labels):
            yield Isomorphism(players, moves)


def choose_folding(*games: Ends) -> Folding:
    """Return how names are compared.

    They are compared plainly, or unchanged if two names in a game would become one.
    """
    for game in games:
        moves = set(game.list_moves())
        players = {(0, name) for name in game.players}
        for names in (moves, players):
            plain = {(owner, plain_name(name)) for owner, name in names}
            if len(plain) < len(names):
                return str
    return plain_name


def _list_common_moves(game: Ends, fold: Folding) -> list[list[int]]:
    """List the moves of every name where all players have moves of the same names, else nothing."""
    by_name: dict[str, list[int]] = {}
    movers: dict[str, set[int]] = {}
    for move, (owner, label) in enumerate(game.list_moves()):
        if owner != CHANCE:
            by_name.setdefault(fold(label), []).append(move)
            movers.setdefault(fold(label), set()).add(owner)
    everybody = set(range(len(game.players)))
    shared = all(owners == everybody for owners in movers.values())
    return list(by_name.values()) if shared and len(everybody) > 1 else []


@dataclass(frozen=True)
class _TwoGames:
    """Two games of the same size, and what has to be alike for one to be the other."""

    first: Ends
    second: Ends
    scale: Scale
    fold: Folding
    any_names: bool

    def list_orders(self) -> Iterator[tuple[int, ...]]:
        """List the ways in which the players of the first game may be those of the second."""
        fits = self._list_fitting_seats()
        for tried, players in enumerate(product(*fits)):
            if tried > _MOST_ORDERS:
                raise TooLarge(f"the players can be paired in more than {_MOST_ORDERS:,} ways")
            if len(set(players)) == len(players):
                yield players

    def _list_fitting_seats(self) -> list[list[int]]:
        """List for each player of the first game who of the second may match.

        A match has as much to choose from and to earn, and may have that name.
        """
        seats = range(len(self.first.players))
        traits = []
        for game in (self.first, self.second):
            sizes = [game.list_infoset_sizes(seat) for seat in seats]
            payoffs = [np.sort(scale_payoffs(column, self.scale)) for column in game.payoffs.T]
            traits.append((sizes, payoffs))
        (sizes, payoffs), (other_sizes, other_payoffs) = traits

        fits: list[list[int]] = []
        for player in seats:
            fitting = []
            for seat in seats:
                if not self._may_be(player, seat) or sizes[player] != other_sizes[seat]:
                    continue
                if np.allclose(payoffs[player], other_payoffs[seat], 1e-6, 1e-6):
                    fitting.append(seat)
            fits.append(fitting)
        return fits

    def _may_be(self, player: int, seat: int) -> bool:
        """Tell whether names allow it: both have the same, or each has one that is only here."""
        names = [self.fold(name) for name in self.first.players]
        others = [self.fold(name) for name in self.second.players]
        name = names[player]
        other = others[seat]
        return self.any_names or name == other or (name not in others and other not in names)

    def list_kinds(
        self,
        players: tuple[int, ...],
        *,
        num_common: int,
    ) -> Iterator[tuple[object, ...]]:
        """Say what can be seen of every node of `_join_graphs` alone, in its order.

        `num_common` is how many names all players share.
        """
        payoffs = iter(self._number_payoffs(players))
        both_chances = np.array([*self.first.chances, *self.second.chances])
        chances = iter(_number_values(both_chances, 1.0).tolist())
        players_of_first = {player: player for player in range(len(players))}
        players_of_second = {seat: player for player, seat in enumerate(players)}

        sides = []
        for game, player_of in ((self.first, players_of_first), (self.second, players_of_second)):
            owner_of = player_of | {CHANCE: CHANCE}
            named = [(owner_of[owner], self.fold(label)) for owner, label in game.list_moves()]
            sides.append((game, owner_of, named))
        shared = set() if self.any_names else set(sides[0][2]) & set(sides[1][2])

        for game, owner_of, named in sides:
            for owner, name in named:
                known_name = name if (owner, name) in shared else ""
                yield "move", owner, next(chances), known_name
            for owner in game.owners:
                yield "infoset", owner_of[owner]
            for _ in game.ends:
                yield "end", next(payoffs)
            for _ in range(num_common):
                yield ("name",)

    def _number_payoffs(self, players: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return for each end the number of every player's payoff there.

        The ends of the first game come before those of the second.
        """
        # From 0 to 1, payoffs beside a huge one are all but equal, so that their order is compared
        # too.
        scales: tuple[Scale, ...] = ("affine", "order") if self.scale == "affine" else (self.scale,)
        columns: list[list[int]] = []
        for (player, seat), scale in product(enumerate(players), scales):
            ours = scale_payoffs(self.first.payoffs[:, player], scale)
            theirs = scale_payoffs(self.second.payoffs[:, seat], scale)
            both = np.concatenate([ours, theirs])
            width = float(np.ptp(both))
            columns.append(_number_values(both, width).tolist())
        return list(zip(*columns, strict=True))


def scale_payoffs(payoffs: Array, scale: Scale) -> Array:
    """Return one player's payoffs as compared: themselves, from 0 to 1, ranks, or 0."""
    width = float(np.ptp(payoffs))
    match scale:
        case "none":
            return np.zeros_like(payoffs)
        case "order":
            return _number_values(payoffs, width).astype(np.float64)
        case "affine":
            above_worst: Array = payoffs - payoffs.min()
            return above_worst / (width or 1.0)
        case "payoffs":
            return payoffs


def _number_values(values: Array, width: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Number values by size, the same number for those that differ by rounding only.

    One payoff of a billion does not make 3 and 4 the same, nor do they become so by adding a
    billion to all.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    sizes = np.maximum(np.abs(ordered[1:]), 1.0)
    sizes = np.minimum(sizes, width or 1.0)
    is_larger = np.diff(ordered) > TOLERANCE * sizes + _ROUNDING * width

    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(is_larger)])
    return numbers


def _join_graphs(first: Ends, second: Ends, common: Sequence[list[list[int]]]) -> list[list[int]]:
    """Return the neighbours of every move, information set, end and common name.

    Those of the first game come before those of the second.

    `common` has for each game the moves of every name that all players share.
    """
    near: list[list[int]] = []
    for game, named in zip((first, second), common, strict=True):
        moves = len(near)
        infosets = len(near) + len(game.labels)
        near += [[infosets + infoset] for infoset in game.infoset_of]
        near += [[] for _ in game.owners]
        for move, infoset in enumerate(game.infoset_of):
            near[infosets + infoset].append(moves + move)
        for end in game.ends:
            for move in end:
                near[moves + move].append(len(near))
            near.append([moves + move for move in end])
        for alike in named:
            for move in alike:
                near[moves + move].append(len(near))
            near.append([moves + move for move in alike])
    return near


@dataclass(frozen=True, slots=True)
class _Trial:
    """How many candidates each move paired by trial had, and whether all fits."""

    widths: list[int]
    fits: bool


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
        num_of_first = sum(node < self.half for node in cell)
        return 2 * num_of_first == len(cell)

    def split(self, queue: list[int]) -> bool:
        """Split colours until all nodes of one have as many neighbours of every other.

        False where one is uneven.

        `queue` are the colours that are new.
        """
        while queue:
            cell = self.cells[queue.pop()]
            counts = Counter(other for node in cell for other in self.near[node])
            parts: dict[int, dict[int, list[int]]] = {}
            for node, count in counts.items():
                by_count = parts.setdefault(self.colour[node], {})
                by_count.setdefault(count, []).append(node)
            for colour, by_count in parts.items():
                if not self.divide(colour, list(by_count.values()), queue):
                    return False
        return True

    def divide(self, colour: int, parts: list[list[int]], queue: list[int]) -> bool:
        """Give parts of a colour's nodes, and the rest of them, colours of their own.

        False where one is uneven.

        The largest keeps the colour: what the others have of neighbours tells what it has (Hopcroft
        1971).
        """
        cell = self.cells[colour]
        rest = len(cell) - sum(map(len, parts))
        largest = max(parts, key=len)
        if rest < len(largest):
            parts = [part for part in parts if part is not largest]
            if rest:
                parts.append(list(cell.difference(largest, *parts)))
        for part in parts:
            cell.difference_update(part)
            for node in part:
                self.colour[node] = len(self.cells)
            queue.append(len(self.cells))
            self.cells.append(set(part))
        return all(map(self.is_even, parts))

    def list_pairings(self, labels: Sequence[str]) -> Iterator[tuple[int, ...]]:
        """Yield which move of the second game each of the first can be, by their numbers.

        Returns nothing where they differ.

        `labels` are those of the first game's moves, then those of the second's: of several that
        fit, one with the same label is taken first.
        """
        count = len(labels) // 2
        all_colours = list(range(len(self.cells)))
        if not all(map(self.is_even, self.cells)) or not self.split(all_colours):
            return
        colours = self.colour
        cells = self.cells
        trail: list[int] = []
        for _ in range(_MOST_TRIED):
            self.colour = list(colours)
            self.cells = [set(cell) for cell in cells]
            trial = self._pair_moves(labels, trail)
            if trial.fits:
                cells_of_moves = [self.cells[self.colour[move]] for move in range(count)]
                yield tuple(max(cell) - self.half for cell in cells_of_moves)
            # Pair the next candidate instead of what was paired last, or go back a choice.
            trail = trail[: len(trial.widths)]
            while trail and trail[-1] + 1 == trial.widths[len(trail) - 1]:
                trail.pop()
            if not trail:
                return
            trail[-1] += 1
        raise TooLarge(
            f"the games have too many symmetries: no renaming was found in {_MOST_TRIED} trials"
        )

    def _pair_moves(self, labels: Sequence[str], trail: list[int]) -> _Trial:
        """Pair every move: where several fit with the candidate whose number is next in `trail`.

        Where the trail ends, the first candidate is taken and added to it.
        """
        count = len(labels) // 2
        own_labels = labels[:count]
        other_labels = labels[count:]
        widths: list[int] = []
        for move in range(count):
            colour = self.colour[move]
            if len(self.cells[colour]) == 2:
                continue
            candidates = sorted(node for node in self.cells[colour] if node >= self.half)
            label = own_labels[move]
            candidates.sort(key=lambda node: other_labels[node - self.half] != label)
            widths.append(len(candidates))
            if len(trail) < len(widths):
                trail.append(0)
            chosen = candidates[trail[len(widths) - 1]]

            new_colours: list[int] = []
            if not self.divide(colour, [[move, chosen]], new_colours):
                return _Trial(widths, fits=False)
            if not self.split(new_colours):
                return _Trial(widths, fits=False)
        return _Trial(widths, fits=True)
