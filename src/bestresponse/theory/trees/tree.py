"""A game in extensive form, as flat arrays.

Definition (Kuhn 1953): a finite tree; each inner node belongs to a player or to chance; a player's
nodes are partitioned into information sets, whose nodes offer the same moves and cannot be told
apart by the player; each leaf gives every player a payoff. Nodes are numbered in preorder (a parent
before its children, the first branch before the second), so node 0 is the root and one pass from
the last node to the first is backward induction.

H. W. Kuhn, "Extensive games and the problem of information", Contributions to the Theory of Games
II, 1953.

Growing a `Tree` from a description: what is at a position, and the positions after it.

The one entry is `build_tree`. A description is nested `Leaf`, `Chance` and `Turn` values, or, for
games too large to write down, a starting position and a function `expand` that says what is
there; the positions may be anything. The tree is grown depth first without recursion and never past
`limit` nodes.

A behaviour policy: for every information set, a probability for each move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.games.normal_form import Array, are_meant, as_payoffs, read_simplest
from bestresponse.theory.trees.memory import CHECK_EVERY, MemoryGuard

if TYPE_CHECKING:
    from bestresponse.core.game import Game

IntArray = NDArray[np.int64]

CHANCE = -1
"""Owner of a node where chance moves."""
LEAF = -2
"""Owner of a node where the game is over."""


@dataclass(frozen=True, slots=True)
class Infoset:
    """What one player cannot tell apart: `key` identifies it, `label` is for people.

    Both are unique per player.
    """

    player: int
    key: str
    label: str
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TreeRationals:
    """Exact numbers that floats do not hold, by node.

    They are payoffs of leaves, and probabilities of branches of chance.
    """

    payoffs: Mapping[int, tuple[Fraction, ...]]
    probability: Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class Tree:
    """A game tree; `build_tree` makes one from a description and checks it.

    Row i of every array describes node i: `parent` (-1 at the root), `move` (which branch of the
    parent it is), `owner` (a player's index, CHANCE or LEAF), `infoset` (an index into `infosets`,
    -1 where no player moves), `probability` (of the branch, where the parent is chance; else 1) and
    `payoffs` (one per player, 0 off leaves). `rationals` holds integers, fractions and decimals
    that were given and are not floats.
    """

    players: tuple[str, ...]
    parent: IntArray
    move: IntArray
    owner: IntArray
    infoset: IntArray
    probability: Array
    payoffs: Array
    infosets: tuple[Infoset, ...]
    branch_labels: tuple[str, ...]
    name: str = ""
    rationals: TreeRationals | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for numbers in (
            self.parent,
            self.move,
            self.owner,
            self.infoset,
            self.probability,
            self.payoffs,
        ):
            numbers.setflags(write=False)

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.parent)

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return len(self.players)

    @cached_property
    def leaves(self) -> IntArray:
        """The nodes where the game is over."""
        return np.flatnonzero(self.owner == LEAF)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes below each node, in the order of the moves."""
        below: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for node, parent in enumerate(self.parent.tolist()[1:], start=1):
            below[parent].append(node)
        return tuple(map(tuple, below))

    @cached_property
    def first_move(self) -> IntArray:
        """Where each information set's moves begin when all moves are written in one row.

        Ends with their number.
        """
        sizes = [len(infoset.moves) for infoset in self.infosets]
        return np.cumsum([0, *sizes], dtype=np.int64)

    @cached_property
    def infoset_index(self) -> dict[tuple[str, str], int]:
        """Where an information set stands, by its player's name and its label or key.

        Labels come first.
        """
        by_key = {}
        by_label = {}
        for i, infoset in enumerate(self.infosets):
            player = self.players[infoset.player]
            by_key[player, infoset.key] = i
            by_label[player, infoset.label] = i
        return by_key | by_label

    @cached_property
    def reach(self) -> Array:
        """The probability that chance alone lets the play come to each node."""
        reach = self.probability.copy()
        for nodes in self.levels[1:]:
            reach[nodes] *= reach[self.parent[nodes]]
        return reach

    @cached_property
    def depth(self) -> list[int]:
        """The distance of each node from the root."""
        depth = [0] * self.num_nodes
        for node, parent in enumerate(self.parent.tolist()[1:], start=1):
            depth[node] = depth[parent] + 1
        return depth

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The nodes by their distance from the root."""
        order = np.argsort(self.depth, kind="stable").astype(np.int64)
        ends = np.cumsum(np.bincount(self.depth))
        return tuple(np.split(order, ends[:-1]))

    @cached_property
    def is_perfect_information(self) -> bool:
        """Whether every information set is a single node."""
        moving = int(np.count_nonzero(self.infoset >= 0))
        return moving == len(self.infosets)

    @cached_property
    def is_exact(self) -> bool:
        """Whether all numbers are exact, and not floats that may mean a number nearby."""
        return self.rationals is not None or (
            are_meant(self.payoffs) and are_meant(self.probability)
        )

    def read_payoffs(self, leaf: int) -> tuple[Fraction, ...]:
        """Give the payoffs of a leaf as given, or the simplest fractions of their floats."""
        if self.rationals is not None and leaf in self.rationals.payoffs:
            return self.rationals.payoffs[leaf]
        floats = self.payoffs[leaf].tolist()
        return tuple(map(read_simplest, floats))

    def read_probability(self, node: int) -> Fraction:
        """Give the probability of a branch of chance as a fraction.

        It is as it was given, or the simplest fraction of its float.
        """
        if self.rationals is not None and node in self.rationals.probability:
            return self.rationals.probability[node]
        return read_simplest(float(self.probability[node]))

    def list_payoffs(self, leaf: int) -> tuple[Fraction | float, ...]:
        """Give the payoffs of a leaf: fractions where the tree is exact, else floats."""
        if self.is_exact:
            return self.read_payoffs(leaf)
        return tuple(self.payoffs[leaf].tolist())

    def find_probability(self, node: int) -> Fraction | float:
        """Give a chance branch's probability: a fraction if the tree is exact, else a float."""
        return self.read_probability(node) if self.is_exact else float(self.probability[node])

    @cached_property
    def is_constant_sum(self) -> bool:
        """Whether all leaves have the same sum of payoffs, up to rounding if not exact."""
        if self.rationals is not None and self.rationals.payoffs:
            payoffs = map(self.read_payoffs, self.leaves.tolist())
            return len(set(map(sum, payoffs))) == 1
        totals = self.payoffs[self.leaves].sum(axis=1)
        rounding = 0.0
        if not are_meant(self.payoffs):
            rounding = 1e-9 * float(np.abs(self.payoffs).max())
        return bool(np.ptp(totals) <= rounding)

    def climb(self, leaf: int) -> list[tuple[int, int]]:
        """List the nodes of players above a leaf, each with its child on the way, last first."""
        steps = []
        child = leaf
        while child > 0:
            node = int(self.parent[child])
            if self.owner[node] != CHANCE:
                steps.append((node, child))
            child = node
        return steps

    def path(self, node: int) -> str:
        """Say how the play comes to `node`, for messages: `deal JQ > bet > call`."""
        labels = []
        while node > 0:
            labels.append(self.branch_labels[node])
            node = int(self.parent[node])
        return " > ".join(reversed(labels)) or "the root"

    def find_infoset(self, node: int) -> Infoset:
        """Return the information set that a node of a player is in."""
        return self.infosets[int(self.infoset[node])]

    def describe(self, node: int) -> Leaf | Chance | Turn:
        """Say what is at a node, as `build_tree` takes it.

        The positions after it are nodes.
        """
        owner = int(self.owner[node])
        below = self.children[node]
        if owner == LEAF:
            return Leaf(self.list_payoffs(node))
        if owner == CHANCE:
            return Chance(
                {
                    self.branch_labels[child]: (self.find_probability(child), child)
                    for child in below
                }
            )
        infoset = self.find_infoset(node)
        return Turn(
            self.players[owner],
            infoset.key,
            dict(zip(infoset.moves, below, strict=True)),
            infoset.label,
        )

    def __repr__(self) -> str:
        sizes = (
            f"{self.num_nodes} nodes, {len(self.leaves)} leaves, {len(self.infosets)} information"
            " sets"
        )
        return f"Tree({self.name!r}, players={list(self.players)}, {sizes})"


NODE_LIMIT = 1_000_000
"""How many nodes a tree may have unless the caller says otherwise (about 200 bytes each while it
grows)."""

_SUM_TOLERANCE = 1e-9  # thirds and tenths as floats do not sum to 1 exactly

Position = TypeVar("Position")

Number = float | Fraction | Decimal
"""What payoffs and probabilities may be given as; all but floats are kept exactly."""


class Leaf(NamedTuple):
    """The game is over; one payoff per player."""

    payoffs: Sequence[Number]


class Chance(NamedTuple):
    """Chance moves: each branch by its label, with its probability and the position after it."""

    branches: Mapping[str, tuple[Number, Any]]


class Turn(NamedTuple):
    """`player` moves at the information set `infoset`; each move with the position after it."""

    player: str
    infoset: str
    moves: Mapping[str, Any]
    label: str = ""


def build_tree(
    players: Sequence[str],
    root: Position,
    expand: Callable[[Position], Leaf | Chance | Turn] | None = None,
    *,
    limit: int = NODE_LIMIT,
    name: str = "",
) -> Tree:
    """Build the tree below `root`.

    InvalidGame says where a description is wrong, TooLarge that it passes `limit`.

    >>> pennies = build_tree(["even", "odd"], Turn("even", "e", {
    ...     "heads": Turn("odd", "o", {"heads": Leaf([1, -1]), "tails": Leaf([-1, 1])}),
    ...     "tails": Turn("odd", "o", {"heads": Leaf([-1, 1]), "tails": Leaf([1, -1])})}))
    >>> pennies.num_nodes, len(pennies.infosets)
    (7, 2)
    """
    return Grower(players, expand).grow(root, limit, name)


def _is_beyond_floats(number: Number, nearest: float) -> bool:
    """Say whether a number that is no float is none that floats are taken to mean exactly."""
    if isinstance(number, float):
        return False
    is_meant = (64.0 * nearest).is_integer()
    return number != nearest or not is_meant


class Grower(Generic[Position]):
    """A tree while it grows.

    Of every node the number of its information set, CHANCE or LEAF as its `kind`.
    """

    def __init__(
        self,
        players: Sequence[str],
        expand: Callable[[Position], Leaf | Chance | Turn] | None,
    ) -> None:
        if not players or len(set(players)) != len(players):
            raise InvalidGame(
                f"players: expected different names, at least one, got {list(players)}"
            )
        self.players = tuple(players)
        self.expand = expand
        self.index = {player: i for i, player in enumerate(players)}
        self.parent: list[int] = []
        self.move: list[int] = []
        self.kind: list[int] = []
        self.infosets: list[Infoset] = []
        self.known: dict[tuple[int, str], int] = {}
        self.taken: set[tuple[int, str]] = set()
        self.payoffs: list[float] = []
        self.exact_payoffs: dict[int, tuple[Fraction, ...]] = {}
        self.draws: dict[int, list[tuple[str, Number]]] = {}

    def grow(self, root: Position, limit: int, name: str) -> Tree:
        """Add all nodes, depth first."""
        guard = MemoryGuard(limit)
        settle = self.settle
        add_kind = self.kind.append
        add_parent = self.parent.append
        add_move = self.move.append
        stack: list[tuple[Position, int, int]] = [(root, -1, -1)]
        node = 0
        while stack:
            position, parent, move = stack.pop()
            add_parent(parent)
            add_move(move)
            if node % CHECK_EVERY == 0:
                guard.check(node)
            kind, after = settle(node, position)
            add_kind(kind)
            if after:
                if node + len(stack) + len(after) >= limit:
                    raise TooLarge(
                        f"the tree has more than {limit} nodes: stopped after {node + 1} at depth"
                        f" {len(self._path(node))} with {len(stack) + len(after)} more positions"
                        " found; raise the limit or solve a smaller version of the game"
                    )
                for k in range(len(after) - 1, -1, -1):
                    stack.append((after[k], node, k))
            node += 1
        return self._build(name)

    def settle(self, node: int, position: Position) -> tuple[int, Sequence[Position]]:
        """Record what is at `node`: its kind, and the positions after it.

        Its parent and move are known.
        """
        what = position if self.expand is None else self.expand(position)
        match what:
            case Leaf(payoffs):
                self.payoffs.extend(self._checked_payoffs(node, payoffs))
                return LEAF, ()
            case Turn():
                return self.find_infoset(node, what), list(what.moves.values())
            case Chance():
                self.draws[node] = self._checked_draws(node, what)
                return CHANCE, [after for _, after in what.branches.values()]
            case _:
                raise self._wrong(
                    node, f"expected a Leaf, Chance or Turn, got {type(what).__name__}"
                )

    def _build(self, name: str) -> Tree:
        parent, move, kind = (
            np.array(row, dtype=np.int64) for row in (self.parent, self.move, self.kind)
        )
        payoffs = np.zeros((len(kind), len(self.players)))
        at_leaves = np.array(self.payoffs, dtype=np.float64)
        payoffs[kind == LEAF] = at_leaves.reshape(-1, len(self.players))
        probability = np.ones(len(kind))
        exact_chances = {}
        is_drawn = kind[parent[1:]] == CHANCE
        for node in (np.flatnonzero(is_drawn) + 1).tolist():
            draws = self.draws[int(parent[node])]
            _, chance = draws[int(move[node])]
            nearest = float(chance)
            probability[node] = nearest
            if _is_beyond_floats(chance, nearest):
                exact_chances[node] = Fraction(chance)
        rationals = None
        if self.exact_payoffs or exact_chances:
            # The numbers that floats do not hold are kept if all others are exact as floats.
            others = (
                np.delete(payoffs, list(self.exact_payoffs), axis=0),
                np.delete(probability, [*exact_chances]),
            )
            if all(map(are_meant, others)):
                rationals = TreeRationals(self.exact_payoffs, exact_chances)
        movers = [infoset.player for infoset in self.infosets]
        owners = np.array([*movers, LEAF, CHANCE])  # these two found at -2 and -1
        return Tree(
            players=self.players,
            parent=parent,
            move=move,
            owner=owners[kind],
            infoset=np.maximum(kind, -1),
            probability=probability,
            payoffs=payoffs,
            infosets=tuple(self.infosets),
            branch_labels=("", *map(self._label, self.parent[1:], self.move[1:])),
            name=name,
            rationals=rationals,
        )

    def _label(self, parent: int, move: int) -> str:
        kind = self.kind[parent]
        if kind == CHANCE:
            label, _ = self.draws[parent][move]
            return label
        return self.infosets[kind].moves[move]

    def _checked_payoffs(self, node: int, payoffs: Sequence[Number]) -> Sequence[float]:
        if len(payoffs) != len(self.players):
            raise self._wrong(node, f"expected {len(self.players)} payoffs, got {len(payoffs)}")
        types = set(map(type, payoffs))
        try:
            floats = list(map(float, payoffs))
        except (TypeError, ValueError, OverflowError):
            floats = [math.nan]
        if not all(map(math.isfinite, floats)) or str in types:
            raise self._wrong(node, f"expected finite payoffs, got {list(payoffs)}")
        if types != {float} and any(map(_is_beyond_floats, payoffs, floats)):
            self.exact_payoffs[node] = tuple(Fraction(u) for u in payoffs)
        return floats

    def _checked_draws(self, node: int, chance: Chance) -> list[tuple[str, Number]]:
        draws = [(label, p) for label, (p, _) in chance.branches.items()]
        if not draws:
            raise self._wrong(node, "chance has no branch; expected at least one")
        for label, p in draws:
            if not 0 <= p <= 1 + _SUM_TOLERANCE:
                raise self._wrong(
                    node, f"chance draws {label!r} with {p}; expected a probability between 0 and 1"
                )
        total = math.fsum(p for _, p in draws)
        if abs(total - 1) > _SUM_TOLERANCE:
            raise self._wrong(node, f"the probabilities of chance sum to {total:.12g}; expected 1")
        shares = [p for _, p in draws]
        are_exact = not any(isinstance(p, float) for p in shares)
        if are_exact and sum(Fraction(p) for p in shares) != 1:
            return [(label, float(p)) for label, p in draws]  # rounded by whoever wrote them
        return draws

    def find_infoset(self, node: int, turn: Turn) -> int:
        """Find the number of an information set, a new one where it is seen first.

        Its moves are always the same.
        """
        player = self.index.get(turn.player)
        if player is None:
            raise self._wrong(
                node, f"{turn.player!r} moves; expected one of {', '.join(self.players)}"
            )
        moves = tuple(turn.moves)
        if not moves:
            raise self._wrong(node, f"{turn.player} has no move; expected at least one")
        number = self.known.get((player, turn.infoset))
        if number is None:
            number = self.known[player, turn.infoset] = len(self.infosets)
            self.infosets.append(
                Infoset(player, turn.infoset, self._new_label(player, turn), moves)
            )
        elif self.infosets[number].moves != moves:
            label = self.infosets[number].label
            before = ", ".join(self.infosets[number].moves)
            subject = f"the information set {label!r} of {turn.player}"
            raise self._wrong(
                node,
                f"{subject} offers {', '.join(moves)} here and {before} before; expected the same",
            )
        return number

    def _new_label(self, player: int, turn: Turn) -> str:
        """The wanted label, with a number behind it where another information set has taken it."""
        wanted = label = turn.label or turn.infoset
        count = 1
        while (player, label) in self.taken:
            count += 1
            label = f"{wanted} ({count})"
        self.taken.add((player, label))
        return label

    def _path(self, node: int) -> list[str]:
        """List the moves that lead to a node, and it itself."""
        labels = []
        while node > 0:
            labels.append(self._label(self.parent[node], self.move[node]))
            node = self.parent[node]
        return ["the root", *reversed(labels)]

    def _wrong(self, node: int, why: str) -> InvalidGame:
        root, *moves = self._path(node)
        place = " > ".join(moves) or root
        return InvalidGame(f"at {place}: {why}")


TreeLike: TypeAlias = "Tree | Game[Any] | str | Path"
"""A tree, a game of this package that compiles to one, the name of a tree of the catalogue, or the
path of a file."""


def as_tree(game: TreeLike) -> Tree:
    """Return `game` itself if it is a tree, else the tree it names or compiles to."""
    if isinstance(game, Tree):
        return game
    if isinstance(game, str | Path):
        from bestresponse.theory.games.reading import find_tree

        return find_tree(game)
    # Games that are trees already need none of what games written as programs are made of.
    from bestresponse.theory.trees.compile import compile_game

    return compile_game(game)


PolicyTable = Mapping[str, Mapping[str, Mapping[str, float]]]
"""player -> information set (label) -> move -> probability"""

_POLICY_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Policy:
    """Probabilities of all moves of `tree` in one row.

    Those of information set i start at `tree.first_move[i]`.
    """

    tree: Tree
    probabilities: Array

    def __post_init__(self) -> None:
        probabilities = (
            as_payoffs(self.probabilities, "policy").copy() if self.tree.infosets else np.zeros(0)
        )
        if probabilities.shape != (self.tree.first_move[-1],):
            expected = int(self.tree.first_move[-1])
            raise InvalidGame(
                f"policy: expected {expected} probabilities, got an array of shape"
                f" {probabilities.shape}"
            )
        if self.tree.infosets:
            _check_distributions(self.tree, probabilities)
        probabilities.setflags(write=False)
        object.__setattr__(self, "probabilities", probabilities)

    def __str__(self) -> str:
        """Say what is played at every information set, one a line."""
        lines = []
        for player, sets in self.table().items():
            for label, moves in sets.items():
                played = []
                for move, p in moves.items():
                    if p > 0:
                        played.append(move if p == 1 else f"{move} {p:.6g}")
                lines.append(f"{player} at {label}: {', '.join(played)}")
        return "\n".join(lines)

    def at(self, player: str, label: str) -> dict[str, float]:
        """Return the probabilities of the moves at the information set with this label or key."""
        index = self.tree.infoset_index.get((player, label))
        if index is None:
            raise InvalidGame(f"{player!r} has no information set {label!r} in {self.tree!r}")
        return self._row(index, self.tree.infosets[index])

    def table(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return all of it as plain data: player, information set, move, probability."""
        table: dict[str, dict[str, dict[str, float]]] = {player: {} for player in self.tree.players}
        for index, infoset in enumerate(self.tree.infosets):
            table[self.tree.players[infoset.player]][infoset.label] = self._row(index, infoset)
        return table

    def _row(self, index: int, infoset: Infoset) -> dict[str, float]:
        first, last = self.tree.first_move[index : index + 2]
        numbers = self.probabilities[first:last].tolist()
        return dict(zip(infoset.moves, numbers, strict=True))


def uniform_policy(tree: Tree) -> Policy:
    """Every move of an information set equally likely."""
    sizes = np.diff(tree.first_move)
    return Policy(tree, np.repeat(1.0 / sizes, sizes))


def policy_from_table(tree: Tree, table: PolicyTable) -> Policy:
    """Read the policy in `table`.

    A move left out has probability 0, an information set left out is an error.
    """
    row = np.zeros(int(tree.first_move[-1]))
    for index, infoset in enumerate(tree.infosets):
        player = tree.players[infoset.player]
        probabilities = table.get(player, {}).get(infoset.label)
        if probabilities is None:
            raise InvalidGame(
                f"policy: {player} has no probabilities at the information set {infoset.label!r}"
            )
        unknown = [move for move in probabilities if move not in infoset.moves]
        if unknown:
            expected = ", ".join(infoset.moves)
            raise InvalidGame(
                f"policy: {player} has no move {unknown[0]!r} at {infoset.label!r}; expected"
                f" {expected}"
            )
        first = tree.first_move[index]
        row[first : first + len(infoset.moves)] = [
            probabilities.get(move, 0.0) for move in infoset.moves
        ]
    return Policy(tree, row)


def _check_distributions(tree: Tree, probabilities: Array) -> None:
    totals = np.add.reduceat(probabilities, tree.first_move[:-1])
    least = np.minimum.reduceat(probabilities, tree.first_move[:-1])
    is_off = np.abs(totals - 1) > _POLICY_TOLERANCE
    is_negative = least < -_POLICY_TOLERANCE
    wrong = np.flatnonzero(is_off | is_negative)
    if wrong.size:
        index = int(wrong[0])
        infoset = tree.infosets[index]
        first, last = tree.first_move[index : index + 2]
        mix = probabilities[first:last].tolist()
        where = f"{tree.players[infoset.player]} at {infoset.label!r}"
        raise InvalidGame(f"policy of {where}: expected probabilities that sum to 1, got {mix}")
