"""A game table seen as a tree and as a normal form, in plain tuples.

A player who moves at the same time as others does not see their moves: the decisions it cannot tell apart share an
information set. The pure strategies of the normal form give one move for each information set of a player
(von Neumann and Morgenstern 1944; Kuhn 1953).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.logic.programs.table import GameTable, Row

__all__ = ["Decision", "End", "NormalFormView", "normal_form", "tree"]

MAX_PROFILES = 100_000


@dataclass(frozen=True, slots=True)
class End:
    """The game is over; payoffs in the order of the players."""

    payoffs: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A player moves, knowing only its information set; one child for each move."""

    player: str
    information: str
    moves: tuple[str, ...]
    children: tuple[Decision | End, ...]


@dataclass(frozen=True, slots=True)
class NormalFormView:
    """Players, their pure strategies, and for each player its payoffs, the last player's strategy changing fastest."""

    players: tuple[str, ...]
    strategies: tuple[tuple[str, ...], ...]
    payoffs: tuple[tuple[Fraction, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of strategies, to fold each player's payoffs into a tensor."""
        return tuple(map(len, self.strategies))


def tree(table: GameTable) -> Decision | End:
    """The game tree; `InvalidGame` where a player's moves would give away what it must not know."""
    root = _node(list(table.rows), 0)
    known: dict[tuple[str, str], tuple[str, ...]] = {}
    for node in _decisions(root):
        moves = known.setdefault((node.player, node.information), node.moves)
        if moves != node.moves:
            place = f"{node.player} after {node.information or 'the start'}"
            raise InvalidGame(f"{place} has different moves depending on a simultaneous move it cannot see.")
    return root


def _node(rows: list[Row], depth: int) -> Decision | End:
    first = rows[0]
    if depth == len(first.moves):
        return End(first.payoffs)
    player = first.moves[depth][0]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.moves[depth][1], []).append(row)
    seen = first.moves[: _block_start(first, depth)]
    information = " ".join(f"{who}:{move}" for who, move in seen)
    children = tuple(_node(group, depth + 1) for group in groups.values())
    return Decision(player, information, tuple(groups), children)


def _block_start(row: Row, depth: int) -> int:
    start = 0
    for size in row.blocks:
        if depth < start + size:
            break
        start += size
    return start


def _decisions(root: Decision | End) -> Iterator[Decision]:
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Decision):
            yield node
            stack.extend(reversed(node.children))


def normal_form(table: GameTable) -> NormalFormView:
    """The normal form; a strategy of a player with several information sets is its moves joined by `/`."""
    if len(table.rows) > MAX_PROFILES:
        raise TooLarge(f"The game has {len(table.rows):,} ends, too many for a normal form (at most {MAX_PROFILES:,}).")
    root = tree(table)
    sets: list[dict[str, tuple[str, ...]]] = [{} for _ in table.players]
    for node in _decisions(root):
        sets[table.players.index(node.player)].setdefault(node.information, node.moves)
    sizes = [prod(len(moves) for moves in found.values()) for found in sets]
    if prod(sizes) > MAX_PROFILES:
        shape = " x ".join(f"{size:,}" for size in sizes)
        raise TooLarge(f"A normal form of {shape} strategies has more than {MAX_PROFILES:,} profiles.")
    plans = [list(product(*found.values())) for found in sets]
    strategies = tuple(tuple("/".join(plan) or "-" for plan in chosen) for chosen in plans)
    where = [{information: place for place, information in enumerate(found)} for found in sets]
    outcomes = [_outcome(root, table.players, where, profile) for profile in product(*plans)]
    payoffs = tuple(tuple(outcome[player] for outcome in outcomes) for player in range(len(table.players)))
    return NormalFormView(table.players, strategies, payoffs)


def _outcome(
    root: Decision | End, players: tuple[str, ...], where: list[dict[str, int]], profile: tuple[tuple[str, ...], ...]
) -> tuple[Fraction, ...]:
    node = root
    while isinstance(node, Decision):
        player = players.index(node.player)
        move = profile[player][where[player][node.information]]
        node = node.children[node.moves.index(move)]
    return node.payoffs
