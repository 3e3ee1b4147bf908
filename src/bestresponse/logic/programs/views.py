"""A game table seen as a tree, in plain tuples.

A player knows the moves of all earlier blocks, or, in a game with `sees/3`, its own moves and what it perceived: the
decisions it cannot tell apart share an information set. It forgets nothing, so recall is perfect by construction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.logic.programs.game_table import SEES, GameTable, Knowledge, Row

__all__ = ["Chance", "Decision", "End", "Node", "spell_knowledge", "tree"]

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
