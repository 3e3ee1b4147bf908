"""A game table seen as a tree and as a normal form, in plain tuples.

A player knows the moves of all earlier blocks, or, in a game with `sees/3`, its own moves and what it perceived: the
decisions it cannot tell apart share an information set. It forgets nothing, so recall is perfect by construction. The
pure strategies of the normal form give one move for each information set of a player (von Neumann and Morgenstern 1944;
Kuhn 1953); where nature moves, payoffs are expected values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import NATURE
from bestresponse.logic.programs.game_table import SEES, GameTable, Knowledge, Row

__all__ = ["Chance", "Decision", "End", "Node", "NormalFormView", "normal_form", "spell_knowledge", "tree"]

MAX_PROFILES = 100_000
_LONG_NUMBER = 10**20
"""From here on a message does not show a number: nobody reads it, and Python writes none of more than 4,300 digits."""

_PLAIN = re.compile(r"[\w.+/(),'-]+")


_NO_ROW = Row((), (), ())


@dataclass(frozen=True, slots=True)
class End:
    """The game is over; payoffs in the order of the players."""

    payoffs: tuple[Fraction, ...]
    row: Row = field(default=_NO_ROW, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Chance:
    """Nature moves; one child for each move that is possible."""

    moves: tuple[str, ...]
    probabilities: tuple[Fraction, ...]
    children: tuple[Node, ...]
    block: int = field(default=0, compare=False, repr=False)
    row: Row = field(default=_NO_ROW, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """A player moves, knowing only its information set; one child for each move. `block` numbers the groups of
    simultaneous moves of a play; `row` is one way on from here."""

    player: str
    knowledge: Knowledge
    moves: tuple[str, ...]
    children: tuple[Node, ...]
    block: int = field(default=0, compare=False, repr=False)
    row: Row = field(default=_NO_ROW, compare=False, repr=False)

    @property
    def information(self) -> str:
        """The information set as text."""
        return spell_knowledge(self.knowledge)


Node = Decision | Chance | End


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


def spell_knowledge(knowledge: Knowledge) -> str:
    """Write what a player knows; different knowledge is written differently."""
    return " ".join(f"{_spell(who) if who != SEES else 'sees'}:{_spell(what)}" for who, what in knowledge)


def _spell(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name != "sees" else json.dumps(name, ensure_ascii=False)


def tree(table: GameTable) -> Node:
    """The game tree; `InvalidGame` where rows contradict each other, where a player's moves would give away what it
    must not know, or where the probabilities of nature's moves do not sum to 1."""
    root = _build_node(table, list(table.rows), 0)
    known: dict[tuple[str, Knowledge], tuple[str, ...]] = {}
    for node in _walk(root):
        if isinstance(node, Chance) and sum(node.probabilities) != 1:
            when = _say_when(node.row, sum(node.row.blocks[: node.block]))
            raise InvalidGame(f"The probabilities of nature's moves {when} sum to {_say_total(node)}.")
        if isinstance(node, Decision):
            moves = known.setdefault((node.player, node.knowledge), node.moves)
            if moves != node.moves and set(moves) != set(node.moves):
                place = f"{node.player}, knowing {node.information or 'nothing yet'},"
                raise InvalidGame(f"{place} has different moves depending on what it cannot know.")
    return root


def _build_node(table: GameTable, rows: list[Row], depth: int) -> Node:
    first = rows[0]
    if depth == len(first.moves) and len(rows) == 1:
        return End(first.payoffs, first)
    groups: dict[str, list[Row]] = {}
    player = ""
    for row in rows:
        if depth == len(row.moves):
            raise InvalidGame(f"The game has an end {_say_when(row, depth)}, but other rows with the same moves.")
        mover, move = row.moves[depth]
        if groups and mover != player:
            raise InvalidGame(f"The next move {_say_when(row, depth)} is one of {player} and one of {mover}.")
        player = mover
        groups.setdefault(move, []).append(row)
    if player == NATURE:
        return _build_chance(table, groups, depth)
    children = tuple([_build_node(table, group, depth + 1) for group in groups.values()])
    knowledge = table.knowledge(first, depth, player)
    return Decision(player, knowledge, tuple(groups), children, _find_block(first, depth), first)


def _say_when(row: Row, depth: int) -> str:
    return f"after {spell_knowledge(row.moves[:depth])}" if depth else "at the start"


def _say_total(node: Chance) -> str:
    total = sum(node.probabilities, Fraction(0))
    if max(abs(total.numerator), total.denominator) < _LONG_NUMBER:
        return f"{total}, not to 1"
    return f"{'less' if total < 1 else 'more'} than 1"


def _build_chance(table: GameTable, groups: dict[str, list[Row]], depth: int) -> Chance:
    """A move of nature, without what has probability 0."""
    odds = {move: group[0].chances[depth] or Fraction(0) for move, group in groups.items()}
    for move, group in groups.items():
        if any((row.chances[depth] or 0) != odds[move] for row in group):
            raise InvalidGame(f"Nature's move {move} {_say_when(group[0], depth)} has several probabilities.")
    possible = {move: chance for move, chance in odds.items() if chance}
    if not possible:
        raise InvalidGame("All of nature's moves in one situation have probability 0.")
    children = tuple([_build_node(table, groups[move], depth + 1) for move in possible])
    first = groups[next(iter(possible))][0]
    return Chance(tuple(possible), tuple(possible.values()), children, _find_block(first, depth), first)


def _find_block(row: Row, depth: int) -> int:
    start = 0
    for number, size in enumerate(row.blocks):
        start += size
        if depth < start:
            return number
    return len(row.blocks)


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, End):
            stack.extend(reversed(node.children))


def normal_form(table: GameTable) -> NormalFormView:
    """The normal form; a strategy of a player with several information sets is its moves joined by `/`."""
    if len(table.rows) > MAX_PROFILES:
        raise TooLarge(f"The game has {len(table.rows):,} ends, too many for a normal form (at most {MAX_PROFILES:,}).")
    root = tree(table)
    sets: list[dict[Knowledge, tuple[str, ...]]] = [{} for _ in table.players]
    for node in _walk(root):
        if isinstance(node, Decision):
            sets[table.players.index(node.player)].setdefault(node.knowledge, node.moves)
    sizes = [prod(len(moves) for moves in found.values()) for found in sets]
    if prod(sizes) > MAX_PROFILES:
        shape = " x ".join(f"{size:,}" for size in sizes)
        raise TooLarge(f"A normal form of {shape} strategies has more than {MAX_PROFILES:,} profiles.")
    plans = [list(product(*found.values())) for found in sets]
    strategies = tuple(tuple("/".join(plan) or "-" for plan in chosen) for chosen in plans)
    where = [{knowledge: place for place, knowledge in enumerate(found)} for found in sets]
    outcomes = [_outcome(root, table.players, where, profile) for profile in product(*plans)]
    payoffs = tuple(tuple(outcome[player] for outcome in outcomes) for player in range(len(table.players)))
    return NormalFormView(table.players, strategies, payoffs)


def _outcome(
    root: Node, players: tuple[str, ...], where: list[dict[Knowledge, int]], profile: tuple[tuple[str, ...], ...]
) -> tuple[Fraction, ...]:
    """What everybody earns, on average over nature's moves, when all follow their plans."""
    total = [Fraction(0)] * len(players)
    stack = [(root, Fraction(1))]
    while stack:
        node, weight = stack.pop()
        if isinstance(node, End):
            total = [earned + weight * payoff for earned, payoff in zip(total, node.payoffs, strict=True)]
        elif isinstance(node, Chance):
            stack += [(child, weight * chance) for child, chance in zip(node.children, node.probabilities, strict=True)]
        else:
            player = players.index(node.player)
            move = profile[player][where[player][node.knowledge]]
            stack.append((node.children[node.moves.index(move)], weight))
    return tuple(total)
