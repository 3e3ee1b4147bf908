"""Decide whether two games are the same, and say where they differ.

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

The relations:

equal        the same payoffs under the same names
renamed      the same payoffs once players and moves are renamed or reordered
equivalent   so too once each player's payoffs are multiplied by a positive number and shifted:
             preferences over lotteries, and with them best responses and equilibria, are the same
             (von Neumann and Morgenstern 1944)
ordinal      none of these, but every player ranks the ends alike
different    none of these

Names of players, and of moves of the same player, that occur in both games mean the same unless the
caller says otherwise. Trees that are built differently may still have the same reduced normal form,
in which plans with the same payoffs against everything count once (Kohlberg and Mertens 1986). That
is a verdict of its own: draws, orders and knowledge that change no expected payoff are gone there,
so that a long story with one decision that matters equals that decision alone.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from typing import Literal, NamedTuple

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

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
    """Return a name as it is compared: without case, spaces and signs, except those that belong to
    a number.

    >>> plain_name("Country A"), plain_name("country_a"), plain_name("bid -1.5")
    ('countrya', 'countrya', 'bid-1.5')
    """
    return "".join(_LETTERS.findall(name.casefold())) or name


@dataclass(frozen=True, slots=True)
class Ends:
    """A game by its ends. Moves and information sets are numbered; lotteries are information sets
    of chance.

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
        ends = product(
            *(range(start, start + size) for start, size in zip(starts, form.shape, strict=False))
        )
        owners = tuple(range(form.num_players))
        infosets = tuple(player for player, _ in moves)
        labels = tuple(name for _, name in moves)
        payoffs = form.payoffs.reshape(form.num_players, -1).T
        return cls(
            form.players, owners, infosets, labels, (0.0,) * len(moves), tuple(ends), payoffs
        )

    @classmethod
    def _of_tree(cls, tree: Tree) -> Ends:
        owners = [infoset.player for infoset in tree.infosets]
        moves = [
            (number, label, 0.0)
            for number, infoset in enumerate(tree.infosets)
            for label in infoset.moves
        ]
        first = [0, *accumulate(len(infoset.moves) for infoset in tree.infosets)]
        paths: list[tuple[int, ...]] = [()] * tree.num_nodes
        for node, below in enumerate(tree.children):
            start = first[int(tree.infoset[node])]
            if int(tree.owner[node]) == CHANCE:
                start = len(moves)
                moves += [
                    (len(owners), tree.branch_labels[child], float(tree.probability[child]))
                    for child in below
                ]
                owners.append(CHANCE)
            for number, child in enumerate(below):
                paths[child] = (*paths[node], start + number)
        infosets, labels, chances = zip(*moves, strict=True) if moves else ((), (), ())
        leaves = tree.leaves.tolist()
        ends = tuple(paths[leaf] for leaf in leaves)
        return cls(
            tree.players, tuple(owners), infosets, labels, chances, ends, tree.payoffs[leaves]
        )


@dataclass(frozen=True, slots=True)
class Isomorphism:
    """Player k of the first game is `players[k]` of the second, its move m is `moves[m]` there."""

    players: tuple[int, ...]
    moves: tuple[int, ...]


def list_isomorphisms(
    first: Ends, second: Ends, scale: Scale, *, any_names: bool = False
) -> Iterator[Isomorphism]:
    """Yield the ways in which the first game becomes the second; TooLarge after too many trials.

    Players of one name are the same, and so are moves of one name of the same player, unless
    `any_names` is set. Where in both games all players have moves of the same names, a name becomes
    the same name for everybody: to meet at x or y is not to avoid each other there.
    """
    sizes = [
        (len(game.players), len(game.labels), len(game.owners), len(game.ends))
        for game in (first, second)
    ]
    if sizes[0] != sizes[1]:
        return
    fold = _choose_folding(first, second)
    labels = [fold(label) for label in (*first.labels, *second.labels)]
    common = [[] if any_names else _list_common_moves(game, fold) for game in (first, second)]
    if len(common[0]) != len(common[1]):
        common = [[], []]
    for players in _list_orders(first, second, scale, fold, any_names):
        kinds = _list_kinds(
            first,
            second,
            players=players,
            scale=scale,
            fold=fold,
            any_names=any_names,
            num_common=len(common[0]),
        )
        for moves in _Colouring(_join_graphs(first, second, common), kinds).list_pairings(labels):
            yield Isomorphism(players, moves)


def _choose_folding(*games: Ends) -> Callable[[str], str]:
    """Return how names are compared: plainly, or as they stand where two names in a game would
    become one."""
    for game in games:
        moves = {
            (game.owners[infoset], label)
            for infoset, label in zip(game.infoset_of, game.labels, strict=True)
        }
        for names in (moves, {(0, name) for name in game.players}):
            if len({(owner, plain_name(name)) for owner, name in names}) < len(names):
                return str
    return plain_name


def _list_common_moves(game: Ends, fold: Callable[[str], str]) -> list[list[int]]:
    """List the moves of every name where all players have moves of the same names, else nothing."""
    by_name: dict[str, list[int]] = {}
    movers: dict[str, set[int]] = {}
    for move, (infoset, label) in enumerate(zip(game.infoset_of, game.labels, strict=True)):
        if game.owners[infoset] != CHANCE:
            by_name.setdefault(fold(label), []).append(move)
            movers.setdefault(fold(label), set()).add(game.owners[infoset])
    shared = all(len(owners) == len(game.players) > 1 for owners in movers.values())
    return list(by_name.values()) if shared else []


def _list_orders(
    first: Ends, second: Ends, scale: Scale, fold: Callable[[str], str], any_names: bool
) -> Iterator[tuple[int, ...]]:
    """List the ways in which the players of the first game may be those of the second."""

    names = [[fold(name) for name in game.players] for game in (first, second)]
    sizes: list[list[list[int]]] = []  # of all information sets, by game and player
    for game in (first, second):
        counts = Counter(game.infoset_of)
        sets = [
            [k for k, owner in enumerate(game.owners) if owner == player]
            for player in range(len(names[0]))
        ]
        sizes.append([sorted(counts[k] for k in infosets) for infosets in sets])
    payoffs = [
        [np.sort(_scale_payoffs(column, scale)) for column in game.payoffs.T]
        for game in (first, second)
    ]
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


def _scale_payoffs(payoffs: Array, scale: Scale) -> Array:
    """Return one player's payoffs as they are compared: themselves, from 0 to 1, their ranks, or
    0."""
    low = payoffs.min()
    width = float(np.ptp(payoffs))
    if scale == "none":
        return np.zeros_like(payoffs)
    if scale == "order":
        return _number_values(payoffs, width).astype(np.float64)
    return payoffs if scale == "payoffs" else (payoffs - low) / (width or 1.0)


def _number_values(values: Array, width: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Number values by size, the same number for those that differ by rounding only.

    One payoff of a billion does not make 3 and 4 the same, nor do they become so by adding a
    billion to all.
    """
    order = np.argsort(values, kind="stable")
    numbers = np.empty(len(values), dtype=np.int64)
    sizes = np.minimum(np.maximum(np.abs(values[order][1:]), 1.0), width or 1.0)
    apart = np.diff(values[order]) > TOLERANCE * sizes + _ROUNDING * width
    numbers[order] = np.concatenate([[0], np.cumsum(apart)])
    return numbers


def _join_graphs(first: Ends, second: Ends, common: Sequence[list[list[int]]]) -> list[list[int]]:
    """Return the neighbours of every move, information set, end and common name, the first game's
    before the second's.

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


def _list_kinds(
    first: Ends,
    second: Ends,
    players: tuple[int, ...],
    scale: Scale,
    fold: Callable[[str], str],
    any_names: bool,
    num_common: int,
) -> Iterator[tuple[object, ...]]:
    """Say what can be seen of every node of `_join_graphs` alone, in its order."""
    codes = []
    # From 0 to 1, payoffs beside a huge one are all but equal, so that their order is compared too.
    scales: tuple[Scale, ...] = ("affine", "order") if scale == "affine" else (scale,)
    for (player, seat), way in product(enumerate(players), scales):
        both = np.concatenate(
            [
                _scale_payoffs(first.payoffs[:, player], way),
                _scale_payoffs(second.payoffs[:, seat], way),
            ]
        )
        codes.append(_number_values(both, float(np.ptp(both))).tolist())
    ends = zip(*codes, strict=True)
    chances = iter(_number_values(np.array([*first.chances, *second.chances]), 1.0).tolist())
    seats = {seat: player for player, seat in enumerate(players)} | {CHANCE: CHANCE}
    owners = [first.owners, [seats[owner] for owner in second.owners]]
    names = [
        [
            (owner_of[infoset], fold(label))
            for infoset, label in zip(game.infoset_of, game.labels, strict=True)
        ]
        for game, owner_of in zip((first, second), owners, strict=True)
    ]
    shared = set() if any_names else set(names[0]) & set(names[1])
    for game, owner_of, named in zip((first, second), owners, names, strict=True):
        yield from (
            ("move", owner, next(chances), name if (owner, name) in shared else "")
            for owner, name in named
        )
        yield from (("infoset", owner) for owner in owner_of)
        yield from (("end", next(ends)) for _ in game.ends)
        yield from (("name",) for _ in range(num_common))


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
        """Split colours until all nodes of one have as many neighbours of every other; False where
        one is uneven.

        `queue` are the colours that are new.
        """
        while queue:
            counts = Counter(other for node in self.cells[queue.pop()] for other in self.near[node])
            parts: dict[int, dict[int, list[int]]] = {}
            for node, count in counts.items():
                parts.setdefault(self.colour[node], {}).setdefault(count, []).append(node)
            if not all(
                self.divide(colour, list(by_count.values()), queue)
                for colour, by_count in parts.items()
            ):
                return False
        return True

    def divide(self, colour: int, parts: list[list[int]], queue: list[int]) -> bool:
        """Give parts of a colour's nodes, and the rest of them, colours of their own; False where
        one is uneven.

        The largest keeps the colour: what the others have of neighbours tells what it has (Hopcroft
        1971).
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
        """Yield which move of the second game each of the first can be, by their numbers; nothing
        where they differ.

        `labels` are those of the first game's moves, then those of the second's: of several that
        fit, one with the same label is taken first.
        """
        count = len(labels) // 2
        if not all(map(self.is_even, self.cells)) or not self.split(list(range(len(self.cells)))):
            return
        colours = self.colour
        cells = self.cells
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
                fits = self.divide(
                    self.colour[move], [[move, others[trail[len(widths) - 1]]]], queue
                )
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
        raise TooLarge(
            f"the games have too many symmetries: no renaming was found in {_MOST_TRIED} trials"
        )


Relation = Literal["equal", "renamed", "equivalent", "ordinal", "different"]
Basis = Literal["payoff tables", "trees", "reduced normal forms"]
Verdict = Literal[
    "same tree", "same reduced form, other tree", "same order of payoffs", "different"
]

_SCALES: dict[Scale, Relation] = {"payoffs": "renamed", "affine": "equivalent", "order": "ordinal"}
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two games are related; the maps lead from names of the first to names of the second.

    `basis` tells what was compared. `differences` are sentences in the names of the first game, a
    shortest play on which the games part first, at most ten; `num_differences` counts all. Maps are
    empty where there is no renaming.
    """

    relation: Relation
    basis: Basis
    players: Mapping[str, str]
    actions: Mapping[str, Mapping[str, str]]
    differences: tuple[str, ...] = ()
    num_differences: int = 0
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether the games are the same, so that `if compare(...)` means what it says."""
        return self.same

    @property
    def verdict(self) -> Verdict:
        """What the comparison comes to."""
        if self.relation == "different":
            return "different"
        if self.relation == "ordinal":
            return "same order of payoffs"
        return (
            "same reduced form, other tree" if self.basis == "reduced normal forms" else "same tree"
        )

    @property
    def same(self) -> bool:
        """Whether both are one tree up to names, the order of simultaneous moves and positive
        affine payoffs."""
        return self.verdict == "same tree"

    @property
    def exact(self) -> bool:
        """Whether both are one tree payoff for payoff, up to names and the order of simultaneous
        moves."""
        return self.same and self.relation != "equivalent"


def compare_games(
    first: NormalForm | Tree, second: NormalForm | Tree, *, any_names: bool = False
) -> Comparison:
    """Compare two games; TooLarge where there are too many ends, or too many symmetries.

    With `any_names` a name that occurs in both games need not mean the same.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> compare_games(dilemma, NormalForm.bimatrix([[4, -2], [8, 0]], [[3, 5], [0, 1]])).relation
    'equivalent'
    """
    if isinstance(first, NormalForm) and isinstance(second, NormalForm):
        comparison = _relate(Ends.of(first), Ends.of(second), "payoff tables", any_names)
        return (
            comparison
            if comparison.same
            else _add_differences(comparison, list(_find_cells(first, second)))
        )
    comparison = _relate(Ends.of(first), Ends.of(second), "trees", any_names)
    if comparison.same:
        return comparison
    sentences: list[str] = []
    if isinstance(first, Tree) and isinstance(second, Tree):
        sentences = _find_differences(first, second, any_names)
    try:
        forms = [
            _reduce(game if isinstance(game, NormalForm) else to_normal_form(game))
            for game in (first, second)
        ]
        reduced = _relate(Ends.of(forms[0]), Ends.of(forms[1]), "reduced normal forms", any_names)
    except (InvalidGame, TooLarge) as error:
        unknown = f"whether both have the same reduced normal form is not known: {error}"
        return _add_differences(replace(comparison, remarks=(unknown,)), sentences)
    if reduced.verdict == "same reduced form, other tree":
        return _add_differences(reduced, sentences)
    return _add_differences(comparison, sentences or list(_find_cells(*forms)))


def _add_differences(comparison: Comparison, sentences: Sequence[str]) -> Comparison:
    return replace(
        comparison, differences=tuple(sentences[:_MOST_LISTED]), num_differences=len(sentences)
    )


def _relate(first: Ends, second: Ends, basis: Basis, any_names: bool) -> Comparison:
    fold = _choose_folding(first, second)
    for scale, relation in _SCALES.items():
        for isomorphism in list_isomorphisms(first, second, scale, any_names=any_names):
            players, actions = _name_maps(first, second, isomorphism)
            pairs = [
                *players.items(),
                *(pair for names in actions.values() for pair in names.items()),
            ]
            same_names = all(fold(old) == fold(new) for old, new in pairs)
            return Comparison(
                "equal" if same_names and scale == "payoffs" else relation, basis, players, actions
            )
    return Comparison("different", basis, {}, {})


def _name_maps(
    first: Ends, second: Ends, isomorphism: Isomorphism
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    players = {
        name: second.players[seat]
        for name, seat in zip(first.players, isomorphism.players, strict=True)
    }
    actions: dict[str, dict[str, str]] = {name: {} for name in first.players}
    for move, other in enumerate(isomorphism.moves):
        owner = first.owners[first.infoset_of[move]]
        if owner != CHANCE:
            actions[first.players[owner]].setdefault(first.labels[move], second.labels[other])
    return players, actions


def _reduce(form: NormalForm) -> NormalForm:
    """Keep the first of actions that give everybody the same payoffs against everything, and name
    plans by moves."""
    flat = form.payoffs.reshape(form.num_players, -1)
    scale = np.maximum(np.ptp(flat, axis=1), 1.0)
    payoffs = form.payoffs
    actions = list(form.actions)
    for player in range(form.num_players):
        rows = np.moveaxis(payoffs, player + 1, 0).reshape(
            payoffs.shape[player + 1], len(payoffs), -1
        )
        plain = np.round(rows / scale[None, :, None], 12).reshape(len(rows), -1) + 0.0
        kept = np.sort(np.unique(plain, axis=0, return_index=True)[1])
        payoffs = np.take(payoffs, kept, axis=player + 1)
        # A plan is called `place: move; place: move`, and places bear other names in other trees.
        moves = tuple(
            "; ".join(re.sub(r"^.*: ", "", part) for part in actions[player][k].split("; "))
            for k in kept
        )
        actions[player] = (
            moves if len(set(moves)) == len(moves) else tuple(actions[player][k] for k in kept)
        )
    return NormalForm(payoffs, form.players, tuple(actions), form.name)


def _pair(*traits: tuple[Sequence[object], Sequence[object]]) -> list[int]:
    """Return where each of the first list is in the second: by the first trait that is alike,
    else by order."""
    free = list(range(len(traits[0][1])))
    partners = dict[int, int]()
    for ours, theirs in (*traits, ([0] * len(traits[0][0]), [0] * len(free))):
        for k, trait in enumerate(ours):
            match = None if k in partners else next((j for j in free if theirs[j] == trait), None)
            if match is not None:
                partners[k] = match
                free.remove(match)
    return [partner for _, partner in sorted(partners.items())]


def _pair_names(first: Sequence[str], second: Sequence[str]) -> list[int]:
    return _pair((first, second), ([*map(plain_name, first)], [*map(plain_name, second)]))


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
    orders = [
        _pair_names(names, second.actions[seat])
        for names, seat in zip(first.actions, seats, strict=True)
    ]
    turned = second.payoffs[seats].transpose(0, *(seat + 1 for seat in seats))
    for cell in product(*map(range, first.shape)):
        ours = [float(table[cell]) for table in first.payoffs]
        theirs = [
            float(table[tuple(order[k] for order, k in zip(orders, cell, strict=True))])
            for table in turned
        ]
        if not np.allclose(ours, theirs, TOLERANCE, TOLERANCE):
            chosen = zip(first.players, first.actions, cell, strict=True)
            profile = ", ".join(f"{name}: {moves[k]}" for name, moves, k in chosen)
            yield (
                f"after {profile} the payoffs are {_tell(ours)} in the first game and"
                f" {_tell(theirs)} in the second"
            )


def _find_differences(first: Tree, second: Tree, any_names: bool) -> list[str]:
    """Say where two trees differ, a shortest play on which they part first.

    Payoffs are compared as they are and on two scales, and the scale on which least is lost is
    told: another scale is no difference at every end.
    """
    if first.num_players != second.num_players:
        return [f"the first game has {first.num_players} players, the second {second.num_players}"]
    if any_names:
        turns = [
            [int(np.sum(tree.owner == seat)) for seat in range(tree.num_players)]
            for tree in (first, second)
        ]
        seats = _pair((turns[0], turns[1]))
    else:
        seats = _pair_names(first.players, second.players)
    walks = []
    # Quartiles stay where one end is changed, the best and the worst payoff where few ends are
    # alike.
    for span in (None, (0.0, 1.0), (0.25, 0.75)):
        payoffs = first.payoffs, second.payoffs[:, seats]
        if span is not None:
            payoffs = _rescale(first, payoffs[0], span), _rescale(second, payoffs[1], span)
        walks.append(
            sorted(
                _walk(first, second, seats, payoffs, any_names),
                key=lambda difference: difference.depth,
            )
        )
    least = min(walks, key=lambda differences: sum(difference.lost for difference in differences))
    return [difference.sentence for difference in least]


def _rescale(tree: Tree, payoffs: Array, span: tuple[float, float]) -> Array:
    """Move and stretch everybody's payoffs so that two quantiles of them become 0 and 1."""
    low, high = np.quantile(payoffs[tree.leaves], span, axis=0, method="lower")
    scaled: Array = (payoffs - low) / np.where(high > low, high - low, 1.0)
    return scaled


class _Difference(NamedTuple):
    """After how many moves two trees differ, how, and how many nodes of the first are not compared
    because of it."""

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
    owners = (
        first.owner.tolist(),
        [seats.index(owner) if owner >= 0 else owner for owner in second.owner.tolist()],
    )
    marks = _mark_subtrees((first, second), owners, payoffs)
    queue = deque([(0, 0, 0)])
    pairs: list[tuple[int, int, int]] = []
    while queue:
        depth, here, there = queue.popleft()
        ours = first.children[here]
        theirs = second.children[there]
        names = [
            [tree.branch_labels[k] for k in below]
            for tree, below in ((first, ours), (second, theirs))
        ]
        if owners[0][here] != owners[1][there]:
            movers = _name_mover(first, here), _name_mover(second, there)
            sentence = (
                f"{_name_position(first, here)} {movers[0]} in the first game and {movers[1]} in"
                " the second"
            )
            yield _Difference(depth, sentence, sizes[here])
            continue
        if len(ours) != len(theirs):
            listed = " in the first game and ".join(", ".join(labels) or "none" for labels in names)
            sentence = f"{_name_position(first, here)} the branches are {listed} in the second"
            yield _Difference(depth, sentence, sizes[here])
            continue
        after = (
            [(round(float(first.probability[k]), 9), marks[0][k]) for k in ours],
            [(round(float(second.probability[k]), 9), marks[1][k]) for k in theirs],
        )
        traits = (
            [after]
            if any_names
            else [([*map(plain_name, names[0])], [*map(plain_name, names[1])]), after]
        )
        below = [(k, theirs[j]) for k, j in zip(ours, _pair(*traits), strict=True)]
        queue.extend((depth + 1, *pair) for pair in below)
        if owners[0][here] >= 0:
            pairs.append((depth, here, there))
        for k, child in below if owners[0][here] == CHANCE else ():
            p = float(first.probability[k])
            q = float(second.probability[child])
            if abs(p - q) > TOLERANCE:
                sentence = (
                    f"{first.path(k)} has probability {p:g} in the first game and {q:g} in the"
                    " second"
                )
                yield _Difference(depth + 1, sentence)
        if not ours and not np.allclose(payoffs[0][here], payoffs[1][there], TOLERANCE, TOLERANCE):
            paid = _tell(first.payoffs[here])
            earned = _tell(second.payoffs[there][list(seats)])
            position = _name_position(first, here)
            sentence = (
                f"{position} the payoffs are {paid} in the first game and {earned} in the second"
            )
            yield _Difference(depth, sentence)
    yield from _compare_knowledge(first, second, pairs)


def _mark_subtrees(
    trees: tuple[Tree, Tree], owners: tuple[list[int], list[int]], payoffs: tuple[Array, Array]
) -> list[list[int]]:
    """Give every node a number, the same for nodes after which the same can happen, names and
    knowledge aside."""
    numbers: dict[object, int] = {}
    marks: list[list[int]] = []
    for tree, owner_of, paid in zip(trees, owners, payoffs, strict=True):
        rounded = np.round(paid, 9).tolist()
        mark = [0] * tree.num_nodes
        for node in range(tree.num_nodes - 1, -1, -1):
            below = sorted(
                (round(float(tree.probability[k]), 9), mark[k]) for k in tree.children[node]
            )
            kind = owner_of[node], *(below or rounded[node])
            mark[node] = numbers.setdefault(kind, len(numbers))
        marks.append(mark)
    return marks


def _compare_knowledge(
    first: Tree, second: Tree, pairs: Sequence[tuple[int, int, int]]
) -> Iterator[_Difference]:
    """Say which positions can be told apart in one of two trees only, over positions that were
    paired."""
    for side, (game, other) in enumerate((("first", "second"), ("second", "first"))):
        met: dict[int, tuple[int, int]] = {}
        for depth, *pair in pairs:
            infosets = int(first.infoset[pair[0]]), int(second.infoset[pair[1]])
            before = met.setdefault(infosets[side], (pair[0], pair[1]))
            known = int(first.infoset[before[0]]), int(second.infoset[before[1]])
            if known[1 - side] != infosets[1 - side]:
                name = first.players[int(first.owner[pair[0]])]
                paths = f"{first.path(before[0])} and {first.path(pair[0])}"
                sentence = (
                    f"{name} cannot tell apart {paths} in the {game} game, but can in the {other}"
                )
                yield _Difference(depth, sentence)


def _name_position(tree: Tree, node: int) -> str:
    return f"after {tree.path(node)}" if node else "at the start"


def _name_mover(tree: Tree, node: int) -> str:
    owner = int(tree.owner[node])
    if owner == LEAF:
        return "the game is over"
    return "chance moves" if owner == CHANCE else f"{tree.players[owner]} moves"


def _tell(payoffs: Sequence[float] | Array) -> str:
    return ", ".join(f"{u:g}" for u in payoffs)
