"""The game as a table, every way it can end with what each player moved and earned, and as a tree.

Exact values.

A player knows the moves of all earlier blocks, or, in a game with `sees/3`, its own moves and what
it perceived: the decisions it cannot tell apart share an information set. It forgets nothing,
unless the program says so: whoever perceives `FORGETS` knows from then on only what it perceives
with it and later.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE

SEES = ""
"""Is in a player's knowledge where there is something it perceived, instead of who moved."""

FORGETS = "forgets_everything"
"""What a player perceives who forgets all that it did and perceived before."""

_LONG_NUMBER = 10**20
"""From here on a message does not show a number: nobody reads it, and Python writes none of more
than 4,300 digits."""
_PLAIN = re.compile(r"[\w.+/(),'-]+")

Percepts = tuple[tuple[str, str], ...]
"""Who perceives what, at one step."""
Knowledge = tuple[tuple[str, str], ...]
"""What a player knows, in order: (who moved, which move), or (`SEES`, what it perceived)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way the game ends: its moves, payoffs and blocks of simultaneous moves.

    Moves are (player, move) in order, payoffs in the order of `GameTable.players`. Blocks say how
    many of the moves, from the first on, were made at the same time: `(2,)` for two simultaneous
    moves, `(1, 1)` for one after the other.
    """

    moves: tuple[tuple[str, str], ...]
    payoffs: tuple[Fraction, ...]
    blocks: tuple[int, ...]
    chances: tuple[Fraction | None, ...] = ()
    """The probability of each move that nature made, `None` for others; empty in a game without
    chance."""
    percepts: tuple[Percepts, ...] = ()
    """What each player perceived of each move, in a game with `sees/3`."""


@dataclass(frozen=True, slots=True)
class GameTable:
    """A finite game. `moves` lists each player's moves in order of appearance."""

    players: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...]
    every_order: bool = True
    """Whether all plays were compared in all orders of simultaneous moves; in a large game only
    some are."""
    private: bool = False
    """Whether players know only their own moves and what `sees/3` shows them, instead of all
    earlier moves."""

    @property
    def chancy(self) -> bool:
        """Whether nature moves."""
        return any(row.chances for row in self.rows)

    @property
    def sequential(self) -> bool:
        """Whether anybody moves after having seen a move."""
        return any(len(row.blocks) > 1 for row in self.rows)

    @property
    def forgetful(self) -> frozenset[str]:
        """The players who forget something somewhere."""
        forgetful: set[str] = set()
        for row in self.rows:
            for seen in row.percepts:
                forgetful.update(seer for seer, what in seen if what == FORGETS)
        return frozenset(forgetful)

    def payoffs(self, profile: Sequence[str]) -> tuple[Fraction, ...]:
        """What everybody earns when each player, in order, makes the given move once."""
        wanted = dict(zip(self.players, profile, strict=True))
        for row in self.rows:
            made = dict(row.moves)
            others = [player for player, move in wanted.items() if made.get(player, move) != move]
            if len(made) == len(row.moves) and not others:
                return row.payoffs
        raise InvalidGame(f"No end of the game has the moves {', '.join(profile)}.")

    def knowledge(
        self,
        row: Row,
        depth: int,
        player: str,
        *,
        counted: bool = False,
    ) -> Knowledge:
        """What a player knows before the block of the move at `depth`.

        At the end of the play, `depth` is the number of moves.

        What it perceives of several moves of one block counts once, unless `counted` is set.
        """
        known: list[tuple[str, str]] = []
        start = 0
        for size in row.blocks:
            stop = start + size
            if depth < stop:
                break
            if not self.private:
                known += row.moves[start:stop]
            else:
                known += [move for move in row.moves[start:stop] if move[0] == player]
                if any((player, FORGETS) in seen for seen in row.percepts[start:stop]):
                    known.clear()
                percepts = [
                    what
                    for seen in row.percepts[start:stop]
                    for seer, what in {*seen}
                    if seer == player and what != FORGETS
                ]
                known += [(SEES, what) for what in sorted(percepts if counted else {*percepts})]
            start = stop
        return tuple(known)


_NO_ROW = Row((), (), ())


@dataclass(frozen=True, slots=True)
class End:
    """The game is over; payoffs in the order of the players."""

    payoffs: tuple[Fraction, ...]
    row: Row = field(default=_NO_ROW, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ChanceNode:
    """Nature moves; one child for each move that is possible."""

    moves: tuple[str, ...]
    probabilities: tuple[Fraction, ...]
    children: tuple[Node, ...]
    block: int = field(default=0, compare=False, repr=False)
    row: Row = field(default=_NO_ROW, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DecisionNode:
    """A player moves, knowing only its information set; one child for each move.

    `block` numbers the groups of simultaneous moves of a play; `row` is one way on from here.
    """

    player: str
    knowledge: Knowledge
    moves: tuple[str, ...]
    children: tuple[Node, ...]
    block: int = field(default=0, compare=False, repr=False)
    row: Row = field(default=_NO_ROW, compare=False, repr=False)


Node = DecisionNode | ChanceNode | End


def spell_knowledge(knowledge: Knowledge) -> str:
    """Write what a player knows; different knowledge is written differently."""
    parts = []
    for mover, what in knowledge:
        source = "sees" if mover == SEES else _spell(mover)
        parts.append(f"{source}:{_spell(what)}")
    return " ".join(parts)


def _spell(name: str) -> str:
    if _PLAIN.fullmatch(name) and name != "sees":
        return name
    return json.dumps(name, ensure_ascii=False)


def tree(table: GameTable) -> Node:
    """The game tree.

    Raises `InvalidGame` if rows contradict each other, if a player's moves would give away what it
    must not know, or if the probabilities of nature's moves do not sum to 1.
    """
    return _TreeBuilder(table).build(list(table.rows), 0)


class _TreeBuilder:
    """Builds nodes from their rows and compares the moves in each information set."""

    def __init__(self, table: GameTable) -> None:
        self._table = table
        self._moves: dict[tuple[str, Knowledge], set[str]] = {}
        self._counted: dict[tuple[str, Knowledge], Knowledge] = {}

    def build(self, rows: list[Row], depth: int) -> Node:
        """Return the node after the first `depth` moves, which all `rows` share."""
        first = rows[0]
        if depth == len(first.moves) and len(rows) == 1:
            return End(first.payoffs, first)
        groups: dict[str, list[Row]] = {}
        player = ""
        for row in rows:
            if depth == len(row.moves):
                raise InvalidGame(
                    f"The game has an end {_say_when(row, depth)}, but other rows with the same"
                    " moves."
                )
            mover, move = row.moves[depth]
            if groups and mover != player:
                raise InvalidGame(
                    f"The next move {_say_when(row, depth)} is one of {player} and one of {mover}."
                )
            player = mover
            groups.setdefault(move, []).append(row)
        if player == NATURE:
            return self._build_chance(groups, depth)
        return self._build_decision(player, groups, depth)

    def _build_decision(
        self,
        player: str,
        groups: dict[str, list[Row]],
        depth: int,
    ) -> DecisionNode:
        first = next(iter(groups.values()))[0]
        knowledge = self._table.knowledge(first, depth, player)
        if self._moves.setdefault((player, knowledge), set(groups)) != groups.keys():
            knowing = spell_knowledge(knowledge) or "nothing yet"
            raise InvalidGame(
                f"{player}, knowing {knowing}, has different moves depending on what it cannot"
                " know."
            )
        if self._table.private:
            counted = self._table.knowledge(first, depth, player, counted=True)
            if self._counted.setdefault((player, knowledge), counted) != counted:
                raise InvalidGame(
                    f"What {player} sees of moves made at the same time counts once, so it cannot"
                    f" tell how often it has seen it {_say_when(first, depth)}; let sees/3 say who"
                    " made the move, or how many."
                )
        children = tuple([self.build(group, depth + 1) for group in groups.values()])
        return DecisionNode(
            player,
            knowledge,
            moves=tuple(groups),
            children=children,
            block=_find_block(first, depth),
            row=first,
        )

    def _build_chance(self, groups: dict[str, list[Row]], depth: int) -> ChanceNode:
        """Return a move of nature, without what has probability 0."""
        first = next(iter(groups.values()))[0]
        when = _say_when(first, depth)
        odds: dict[str, Fraction] = {}
        for move, group in groups.items():
            chances = {row.chances[depth] or Fraction(0) for row in group}
            odds[move] = group[0].chances[depth] or Fraction(0)
            if len(chances) > 1:
                raise InvalidGame(f"Nature's move {move} {when} has several probabilities.")
        total = sum(odds.values())
        if total != 1:
            short = max(abs(total.numerator), total.denominator) < _LONG_NUMBER
            shown = f"{total}, not to 1" if short else f"{'less' if total < 1 else 'more'} than 1"
            raise InvalidGame(f"The probabilities of nature's moves {when} sum to {shown}.")
        possible = {move: chance for move, chance in odds.items() if chance}
        children = tuple([self.build(groups[move], depth + 1) for move in possible])
        return ChanceNode(
            tuple(possible),
            tuple(possible.values()),
            children,
            _find_block(first, depth),
            first,
        )


def _find_block(row: Row, depth: int) -> int:
    return bisect_right(list(accumulate(row.blocks)), depth)


def _say_when(row: Row, depth: int) -> str:
    return f"after {spell_knowledge(row.moves[:depth])}" if depth else "at the start"
