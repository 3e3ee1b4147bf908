"""A game written as a logic program, as a game like any other.

The program is never trusted: it passes the gate, runs inside a logic engine within its limits, and
only the table that comes out of it is used from then on. A game in which everybody moves once and
at the same time becomes a normal form; any other becomes a `LogicGame`, which can be played, and
compiled to a tree. `describe_table` says in words which game a table is, `describe_changes` what an
edit changed.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.errors import InvalidGame
from bestresponse.core.files import read_text_file
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.games.texts import join_words
from bestresponse.logic.language.tokens import MAX_CHARACTERS
from bestresponse.logic.programs.game_table import (
    SEES,
    ChanceNode,
    DecisionNode,
    End,
    GameTable,
    Knowledge,
    Node,
    Row,
    spell_knowledge,
    tree,
)
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees import tree as trees
from bestresponse.theory.trees.tree import Leaf, Tree, Turn, build_tree

if TYPE_CHECKING:  # which would load all engines of logic, also for a game that is no program
    from bestresponse.logic.programs.validate import Report

_MOST_CHANGES = 30
State = tuple[str, ...]
"""The moves so far, in the order of the tree."""


@dataclass(frozen=True)
class LogicGame:
    """A game table that can be played, one group of simultaneous moves after the other."""

    table: GameTable
    name: str = "logic"
    version: int = 1

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.table.players

    @cached_property
    def root(self) -> Node:
        """The game tree."""
        return tree(self.table)

    @cached_property
    def tree(self) -> Tree:
        """The game in extensive form; information sets are labelled by what their player knows."""
        return build_tree(self.roles, self.root, self._expand, name=self.name)

    @cached_property
    def rules(self) -> str:
        """The game in words."""
        return describe_table(self.table)

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        node = self._node(state)
        if isinstance(node, ChanceNode):
            odds = zip(node.moves, map(float, node.probabilities), strict=True)
            return {NATURE: Lottery(tuple(odds))}
        return (
            {}
            if isinstance(node, End)
            else {turn.player: Choice(turn.moves) for turn in _find_together(node)}
        )

    def view(self, state: State, role: Role) -> View:
        """What a role knows; the same text or facts for positions it cannot tell apart, and for no
        others."""
        node = self._node(state)
        over = isinstance(node, End)
        known = self.table.knowledge(node.row, len(state), role)
        situation = self._describe_situation(role, known, over)
        facts: dict[str, object] = {
            "players": list(self.roles),
            "seat": self.roles.index(role) if role in self.roles else -1,
        }
        if self.table.private or self.table.chancy:
            facts["known"] = [[source, what] for source, what in known]
        index = self.tree.infoset_index.get((role, _make_key(known)))
        if not over and index is not None and role in self.asks(state):
            facts["infoset"] = self.tree.infosets[index].label
        return View(role, f"You are {role}.\n{self.rules}", situation, facts)

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        node = self._node(state)
        if isinstance(node, End):
            raise InvalidGame(f"{self.name} is over; nobody can move")
        if isinstance(node, ChanceNode):
            return (*state, moves[NATURE])
        return (*state, *(moves[turn.player] for turn in _find_together(node)))

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        node = self._node(state)
        earned = node.payoffs if isinstance(node, End) else (0,) * len(self.roles)
        return dict(zip(self.roles, map(float, earned), strict=True))

    def _describe_situation(self, role: Role, known: Knowledge, over: bool) -> str:
        made = self._list_known(role, known)
        if not made:
            return "You know of no move yet." if self.table.private else "Nobody has moved yet."
        return f"{'It is over' if over else 'So far'}: {made}."

    def _list_known(self, role: Role, known: Knowledge) -> str:
        phrases = []
        for source, what in known:
            if source == SEES:  # the label of a converted tree begins with these words already
                phrases.append(what if what.startswith("you saw ") else f"you saw {what}")
            elif source == NATURE:
                phrases.append(f"{what} was drawn")
            else:
                phrases.append(
                    f"{'you' if self.table.private and source == role else source} chose {what}"
                )
        return ", ".join(phrases)

    def _expand(self, node: Node) -> Leaf | trees.Chance | Turn:
        if isinstance(node, End):
            return Leaf(node.payoffs)
        after = dict(zip(node.moves, node.children, strict=True))
        if isinstance(node, ChanceNode):
            odds = zip(node.moves, node.probabilities, strict=True)
            return trees.Chance({move: (chance, after[move]) for move, chance in odds})
        known = node.player, node.knowledge
        label = self._list_known(*known) or self._describe_situation(*known, over=False)
        moves = self._options[node.player, node.knowledge]
        return Turn(
            node.player, _make_key(node.knowledge), {move: after[move] for move in moves}, label
        )

    @cached_property
    def _options(self) -> dict[tuple[Role, Knowledge], tuple[str, ...]]:
        """The moves in each information set, in the order in which it is met first."""
        options: dict[tuple[Role, Knowledge], tuple[str, ...]] = {}
        stack: list[Node] = [self.root]
        while stack:
            node = stack.pop()
            if isinstance(node, DecisionNode):
                options.setdefault((node.player, node.knowledge), node.moves)
            stack.extend(() if isinstance(node, End) else reversed(node.children))
        return options

    def _node(self, state: State) -> Node:
        node = self.root
        for move in state:
            if isinstance(node, End):
                raise InvalidGame(f"{self.name} was over before the move {move}")
            node = node.children[node.moves.index(move)]
        return node


def _make_key(knowledge: Knowledge) -> str:
    return f"knowing {spell_knowledge(knowledge)}"


def _find_together(node: DecisionNode) -> list[DecisionNode]:
    """Find the decisions that are made at the same time as `node`, itself first; only those that
    certainly come."""
    decisions = [node]
    layer: list[Node] = list(node.children)
    while layer:
        first = layer[0]
        if not isinstance(first, DecisionNode) or first.player in {
            peer.player for peer in decisions
        }:
            return decisions
        turn = (node.block, first.player, first.knowledge, first.moves)
        alike = [
            peer
            for peer in layer
            if isinstance(peer, DecisionNode)
            and (peer.block, peer.player, peer.knowledge, peer.moves) == turn
        ]
        if len(alike) < len(layer):
            return decisions
        decisions.append(first)
        layer = [child for peer in alike for child in peer.children]
    return decisions


def table_as_normal_form(table: GameTable, name: str = "") -> NormalForm:
    """Return the table of a game in which everybody moves once, at the same time, as payoff
    tensors."""
    positions = {
        (player, move): number
        for player, moves in zip(table.players, table.moves, strict=True)
        for number, move in enumerate(moves)
    }
    payoffs = np.zeros((len(table.players), *map(len, table.moves)), dtype=object)
    for row in table.rows:
        made = dict(row.moves)
        profile = [positions[player, made[player]] for player in table.players]
        for seat, payoff in enumerate(row.payoffs):
            payoffs[(seat, *profile)] = payoff.numerator if payoff.denominator == 1 else payoff
    return NormalForm(payoffs, table.players, table.moves, name)


def as_game(table: GameTable, name: str = "") -> NormalForm | LogicGame:
    """A normal form where everybody moves once and at the same time, else a game to be played in
    turns."""
    if (
        not table.sequential
        and not table.chancy
        and all(len(row.moves) == len(table.players) for row in table.rows)
    ):
        return table_as_normal_form(table, name)
    return LogicGame(table, name or "logic")


def read_program_text(path: Path) -> str:
    """The text of a program; InvalidGame where it is too long for a game or no text."""
    try:
        return read_text_file(path, 4 * MAX_CHARACTERS)
    except UnicodeDecodeError as error:
        raise InvalidGame(f"{path}: expected text in UTF-8; byte {error.start} is none") from None
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EFBIG):
            raise
        raise InvalidGame(f"{path} is no game program: {error.strerror}") from None


def program_game(report: Report, name: str) -> NormalForm | LogicGame:
    """The game of a validated program; InvalidGame with what is wrong where it is none."""
    if report.table is None or not report.ok:
        wrong = (
            "; ".join(str(error) for error in report.errors[:3])
            or "no table could be taken out of it"
        )
        more = f" (and {len(report.errors) - 3} more)" if len(report.errors) > 3 else ""
        raise InvalidGame(
            f"{name} is no game: {wrong}{more}; `bestresponse check` shows everything"
        )
    return as_game(report.table, name)


def introduce_players(players: Sequence[str]) -> str:
    """Say who plays.

    >>> introduce_players(["ann"])
    'There is one player: ann.'
    """
    count = "is one player" if len(players) == 1 else f"are {len(players)} players"
    return f"There {count}: {join_words(players)}."


def describe_table(table: GameTable) -> str:
    """The whole game in plain sentences, one end per line."""
    return "\n".join(
        word_game(
            table.players, describe_turns(table), table.rows, len(table.rows), len(table.rows)
        )
    )


def word_game(
    players: Sequence[str], turns: Sequence[str], rows: Sequence[Row], total: int, most: int
) -> tuple[str, ...]:
    """Say who plays, who chooses what when, and at most `most` of all `total` ends."""
    in_turn = any(len(row.blocks) > 1 or row.chances for row in rows)
    ends = "How it can end, and what each of them earns" if in_turn else "What each of them earns"
    return (
        introduce_players(players),
        *turns,
        f"{ends} (the first {most} of {total:,}):" if total > most else f"{ends}:",
        *(f"- {describe_end(row)}: {format_payoffs(players, row.payoffs)}." for row in rows[:most]),
    )


def describe_turns(table: GameTable) -> list[str]:
    """Return a sentence for each choice and each lottery, with what its player knows."""
    if not table.sequential and not table.chancy:
        moves = [
            f"{name} chooses {join_options(options)}."
            for name, options in zip(table.players, table.moves, strict=True)
        ]
        together = ["Everybody chooses at the same time, without seeing what the others choose."]
        return [*moves, *(together if len(table.players) > 1 else [])]
    lines: dict[str, None] = {}
    if table.private:
        lines["Players know only their own moves and what they are shown."] = None
        for player in sorted(table.forgetful):
            lines[
                f"{player} may forget: what is said below of {player} is all that it still knows."
            ] = None
    queue = deque([tree(table)])
    while queue:
        node = queue.popleft()
        if isinstance(node, End):
            continue
        queue += node.children
        if isinstance(node, ChanceNode):
            odds = zip(node.moves, node.probabilities, strict=True)
            drawn = ", ".join(f"{move} with probability {chance}" for move, chance in odds)
            made = node.row.moves[: sum(node.row.blocks[: node.block])]
            lines[f"{say_when(made)}it is drawn by lot: {drawn}."] = None
        else:
            lines[
                f"{say_when(node.knowledge)}{node.player} chooses {join_options(node.moves)}."
            ] = None
    return list(lines)


def say_when(known: Knowledge) -> str:
    """Begin a sentence with what somebody knows: `After seeing gold, `, or `First, `."""
    phrases = []
    for source, what in known:
        seen = f"seeing {what}" if source == SEES else f"{source} has chosen {what}"
        phrases.append(f"{what} was drawn" if source == NATURE else seen)
    return f"After {', '.join(phrases)}, " if phrases else "First, "


def describe_end(row: Row) -> str:
    """Return what happens in one play: `If Ann chooses bet, Bob chooses fold`."""
    steps = (
        f"{move} is drawn" if mover == NATURE else f"{mover} chooses {move}"
        for mover, move in row.moves
    )
    return f"If {', '.join(steps) or 'nobody moves'}"


def format_payoffs(players: Iterable[str], payoffs: Iterable[Fraction]) -> str:
    """`Ann gets 3, Bob gets 1/2`."""
    return ", ".join(
        f"{player} gets {payoff}" for player, payoff in zip(players, payoffs, strict=True)
    )


def join_options(options: tuple[str, ...]) -> str:
    """Return `a, b or c`."""
    if len(options) < 2:
        return options[0] if options else "nothing"
    return f"{', '.join(options[:-1])} or {options[-1]}"


def describe_changes(before: GameTable, after: GameTable) -> tuple[str, ...]:
    """Return one sentence for each difference in the rules; empty where both are the same game
    under the same names."""
    lines: list[str] = []
    if before.players != after.players:
        lines.append(
            f"The players were {', '.join(before.players)} and are now {', '.join(after.players)}."
        )
    old, new = describe_turns(before), describe_turns(after)
    lines += [f"No more: {line}" for line in old if line not in new]
    lines += [f"New: {line}" for line in new if line not in old]
    earned_before, earned_after = (
        {
            describe_end(row): dict(zip(table.players, row.payoffs, strict=True))
            for row in table.rows
        }
        for table in (before, after)
    )
    lines += [f"No more: {end}." for end in earned_before if end not in earned_after]
    for end, earned in earned_after.items():
        was = earned_before.get(end)
        if was is None:
            lines.append(f"New: {end}: {format_payoffs(earned, earned.values())}.")
        elif was != earned:
            phrases = []
            for player, payoff in earned.items():
                earlier = was.get(player, payoff)
                phrases.append(
                    f"{player} gets {payoff}{f' (before: {earlier})' if earlier != payoff else ''}"
                )
            lines.append(f"{end}: {', '.join(phrases)}.")
    more = len(lines) - _MOST_CHANGES
    return (*lines[:_MOST_CHANGES], *([f"and {more} more changes"] if more > 0 else []))
