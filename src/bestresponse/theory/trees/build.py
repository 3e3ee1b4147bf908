"""Growing a `Tree` from a description: what stands at a position, and the positions after it.

The one entry is `build_tree`. A description is nested `Leaf`, `Chance` and `Turn` values, or, for games too large
to write down, a starting position and a function `expand` that says what stands there; the positions may be
anything. The tree is grown depth first without recursion and never past `limit` nodes.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.games.rationals import are_meant
from bestresponse.theory.trees.memory import MemoryGuard
from bestresponse.theory.trees.tree import CHANCE, LEAF, Infoset, Tree, TreeRationals

__all__ = ["NODE_LIMIT", "Chance", "Leaf", "Turn", "build_tree"]

NODE_LIMIT = 1_000_000
"""How many nodes a tree may have unless the caller says otherwise (about 200 bytes each while it grows)."""

_SUM_TOLERANCE = 1e-9

Number = float | Fraction | Decimal
"""What payoffs and probabilities may be given as; all but floats are kept exactly."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The game is over; one payoff per player."""

    payoffs: Sequence[Number]


@dataclass(frozen=True, slots=True)
class Chance:
    """Chance moves: each branch by its label, with its probability and the position after it."""

    branches: Mapping[str, tuple[Number, Any]]


@dataclass(frozen=True, slots=True)
class Turn:
    """`player` moves at the information set `infoset`; each move with the position after it."""

    player: str
    infoset: str
    moves: Mapping[str, Any]
    label: str = ""


def build_tree(
    players: Sequence[str],
    root: object,
    expand: Callable[[Any], Leaf | Chance | Turn] | None = None,
    *,
    limit: int = NODE_LIMIT,
    name: str = "",
) -> Tree:
    """Build the tree below `root`; InvalidGame says where a description is wrong, TooLarge that it passes `limit`.

    >>> pennies = build_tree(["even", "odd"], Turn("even", "e", {
    ...     "heads": Turn("odd", "o", {"heads": Leaf([1, -1]), "tails": Leaf([-1, 1])}),
    ...     "tails": Turn("odd", "o", {"heads": Leaf([-1, 1]), "tails": Leaf([1, -1])})}))
    >>> pennies.num_nodes, len(pennies.infosets)
    (7, 2)
    """
    grower, guard = _Grower(_checked_players(players), limit), MemoryGuard(limit)
    stack: list[tuple[Any, int, int, Number, str, int]] = [(root, -1, -1, 1.0, "", 0)]
    while stack:
        position, parent, move, probability, label, depth = stack.pop()
        node = grower.add(parent, move, probability, label)
        grower.check_size(depth, waiting=len(stack))
        guard.check(node)
        what = position if expand is None else expand(position)
        branches = grower.settle(node, what)
        grower.check_size(depth + 1, waiting=len(stack) + len(branches))
        for k in range(len(branches) - 1, -1, -1):
            text, chance, after = branches[k]
            stack.append((after, node, k, chance, text, depth + 1))
    return grower.tree(name)


def _checked_players(players: Sequence[str]) -> tuple[str, ...]:
    names = tuple(players)
    if not names or len(set(names)) != len(names):
        raise InvalidGame(f"players: expected different names, at least one, got {list(names)}")
    return names


def _is_beyond_floats(given: Number, nearest: float) -> bool:
    """Say whether a number that is no float is none that floats are taken to mean exactly."""
    return not isinstance(given, float) and (given != nearest or not (64.0 * nearest).is_integer())


class _Grower:
    """The arrays of a tree while it grows."""

    def __init__(self, players: tuple[str, ...], limit: int) -> None:
        self.players = players
        self.limit = limit
        self.index = {player: i for i, player in enumerate(players)}
        self.parent, self.move = array("q"), array("q")
        self.owner, self.infoset = array("q"), array("q")
        self.probability, self.payoffs = array("d"), array("d")
        self.labels: list[str] = []
        self.infosets: list[Infoset] = []
        self.known: dict[tuple[int, str], int] = {}
        self.taken: set[tuple[int, str]] = set()
        self.exact_payoffs: dict[int, tuple[Fraction, ...]] = {}
        self.exact_chances: dict[int, Fraction] = {}

    def check_size(self, depth: int, waiting: int) -> None:
        if len(self.parent) + waiting > self.limit:
            raise TooLarge(
                f"the tree has more than {self.limit} nodes: stopped after {len(self.parent)} at depth {depth} with "
                f"{waiting} more positions found; raise the limit or solve a smaller version of the game"
            )

    def add(self, parent: int, move: int, probability: Number, label: str) -> int:
        """Add a node whose owner is settled next."""
        if _is_beyond_floats(probability, float(probability)):
            self.exact_chances[len(self.parent)] = Fraction(probability)
        self.parent.append(parent)
        self.move.append(move)
        self.probability.append(float(probability))
        self.labels.append(label)
        return len(self.parent) - 1

    def settle(self, node: int, what: object) -> list[tuple[str, Number, Any]]:
        """Record what stands at `node`; its branches as (label, probability, position)."""
        match what:
            case Leaf():
                self._own(LEAF, -1, self._checked_payoffs(node, what))
                return []
            case Chance():
                self._own(CHANCE, -1, (0.0,) * len(self.players))
                return self._checked_branches(node, what)
            case Turn():
                player, infoset = self._find_infoset(node, what)
                self._own(player, infoset, (0.0,) * len(self.players))
                return [(move, 1.0, after) for move, after in what.moves.items()]
            case _:
                raise self._wrong(node, f"expected a Leaf, Chance or Turn, got {type(what).__name__}")

    def tree(self, name: str) -> Tree:
        return Tree(
            players=self.players,
            parent=np.array(self.parent, dtype=np.int64),
            move=np.array(self.move, dtype=np.int64),
            owner=np.array(self.owner, dtype=np.int64),
            infoset=np.array(self.infoset, dtype=np.int64),
            probability=np.array(self.probability, dtype=np.float64),
            payoffs=np.array(self.payoffs, dtype=np.float64).reshape(len(self.parent), len(self.players)),
            infosets=tuple(self.infosets),
            branch_labels=tuple(self.labels),
            name=name,
            rationals=self._keep_rationals(),
        )

    def _keep_rationals(self) -> TreeRationals | None:
        """The numbers that floats do not hold, if all others are exact as floats."""
        if not self.exact_payoffs and not self.exact_chances:
            return None
        payoffs = np.array(self.payoffs, dtype=np.float64).reshape(len(self.parent), len(self.players))
        probability = np.array(self.probability, dtype=np.float64)
        payoffs[list(self.exact_payoffs)] = 0.0
        probability[list(self.exact_chances)] = 0.0
        meant = are_meant(payoffs) and are_meant(probability)
        return TreeRationals(self.exact_payoffs, self.exact_chances) if meant else None

    def _own(self, owner: int, infoset: int, payoffs: Sequence[float]) -> None:
        self.owner.append(owner)
        self.infoset.append(infoset)
        self.payoffs.extend(payoffs)

    def _checked_payoffs(self, node: int, leaf: Leaf) -> Sequence[float]:
        payoffs = leaf.payoffs
        if len(payoffs) != len(self.players):
            raise self._wrong(node, f"expected {len(self.players)} payoffs, got {len(payoffs)}")
        try:
            floats = [float(u) for u in payoffs]
        except (TypeError, ValueError, OverflowError):
            floats = [math.nan]
        if not all(map(math.isfinite, floats)) or any(isinstance(u, str) for u in payoffs):
            raise self._wrong(node, f"expected finite payoffs, got {list(payoffs)}")
        if any(map(_is_beyond_floats, payoffs, floats)):
            self.exact_payoffs[node] = tuple(Fraction(u) for u in payoffs)
        return floats

    def _checked_branches(self, node: int, chance: Chance) -> list[tuple[str, Number, Any]]:
        branches = [(label, p, after) for label, (p, after) in chance.branches.items()]
        if not branches:
            raise self._wrong(node, "chance has no branch; expected at least one")
        for label, p, _ in branches:
            if not 0 <= p <= 1 + _SUM_TOLERANCE:
                raise self._wrong(node, f"chance draws {label!r} with {p}; expected a probability between 0 and 1")
        total = math.fsum(p for _, p, _ in branches)
        if abs(total - 1) > _SUM_TOLERANCE:
            raise self._wrong(node, f"the probabilities of chance sum to {total:.12g}; expected 1")
        if not any(isinstance(p, float) for _, p, _ in branches) and sum(Fraction(p) for _, p, _ in branches) != 1:
            return [(label, float(p), after) for label, p, after in branches]  # rounded by whoever wrote them
        return branches

    def _find_infoset(self, node: int, turn: Turn) -> tuple[int, int]:
        player = self.index.get(turn.player)
        if player is None:
            raise self._wrong(node, f"{turn.player!r} moves; expected one of {', '.join(self.players)}")
        moves = tuple(turn.moves)
        if not moves:
            raise self._wrong(node, f"{turn.player} has no move; expected at least one")
        found = self.known.get((player, turn.infoset))
        if found is None:
            found = self.known[player, turn.infoset] = len(self.infosets)
            self.infosets.append(Infoset(player, turn.infoset, self._new_label(player, turn), moves))
        elif self.infosets[found].moves != moves:
            label, before = self.infosets[found].label, ", ".join(self.infosets[found].moves)
            place = f"the information set {label!r} of {turn.player}"
            raise self._wrong(node, f"{place} offers {', '.join(moves)} here and {before} before; expected the same")
        return player, found

    def _new_label(self, player: int, turn: Turn) -> str:
        """The wanted label, with a number behind it where another information set has taken it."""
        wanted = label = turn.label or turn.infoset
        count = 1
        while (player, label) in self.taken:
            count += 1
            label = f"{wanted} ({count})"
        self.taken.add((player, label))
        return label

    def _wrong(self, node: int, why: str) -> InvalidGame:
        path = []
        while node > 0:
            path.append(self.labels[node])
            node = self.parent[node]
        return InvalidGame(f"at {' > '.join(reversed(path)) or 'the root'}: {why}")
