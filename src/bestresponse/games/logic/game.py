"""A game written as a logic program, as a game like any other.

The program is never trusted: it passes the gate, runs inside a logic engine within its limits, and
only the table that results from it is used from then on. A game in which everybody moves once and
at the same time becomes a normal form; any other becomes a `LogicGame`, which can be played, and
compiled to a tree.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.errors import InvalidGame
from bestresponse.core.files import read_text_file
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.core.told import (
    Aim,
    Chose,
    Course,
    Drew,
    Event,
    Over,
    Reached,
    Saw,
    Statement,
    Title,
    Unaware,
    YourTurn,
)
from bestresponse.games.logic.positions import ProgramPositions
from bestresponse.games.statements import check_tree_names, fold_draws, tell
from bestresponse.logic.language.tokens import MAX_CHARACTERS
from bestresponse.logic.programs.game_table import (
    SEES,
    ChanceNode,
    DecisionNode,
    End,
    GameTable,
    Knowledge,
    Node,
    spell_knowledge,
    tree,
)
from bestresponse.telling.knowledge import read_course
from bestresponse.telling.render import check_length, write_events
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees import tree as trees
from bestresponse.theory.trees.tree import Leaf, Tree, Turn, build_tree

if TYPE_CHECKING:  # which would load all engines of logic, also for a game that is no program
    from bestresponse.logic.programs.validate import Report

State = tuple[str, ...]
"""The moves so far, in the order of the tree."""


@dataclass(frozen=True)
class LogicGame:
    """A game table that can be played, one group of simultaneous moves after the other."""

    table: GameTable
    name: str = "logic"
    version: int = 2

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
        return fold_draws(build_tree(self.roles, self.root, self._expand, name=self.name))

    @cached_property
    def stated(self) -> tuple[Statement, ...]:
        """The rules, as they are told to everybody."""
        check_tree_names(self.tree)
        return (Title(self.name), *tell(self.tree), Aim())

    def check_telling(self) -> None:
        """Raise TooLarge where the tree is too large to be told."""
        check_length(self.stated, self.name)

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
        """What a role knows.

        The same events or facts for positions it cannot tell apart, and for no others.
        """
        node = self._node(state)
        known = self.table.knowledge(node.row, len(state), role)
        history = self._list_events(known)
        facts: dict[str, object] = {
            "players": list(self.roles),
            "seat": self.roles.index(role) if role in self.roles else -1,
        }
        if self.table.private or self.table.chancy:
            facts["known"] = [[source, what] for source, what in known]
        index = self.tree.infoset_index.get((role, _make_key(known)))
        if isinstance(node, End):
            history = (*history, Over())
        elif index is not None and role in self.asks(state):
            facts["infoset"] = self.tree.infosets[index].label
            history = (YourTurn(), *history, *self._find_letter(index))
        return View(role, self.stated, history, facts)

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

    def _list_events(self, known: Knowledge) -> tuple[Event, ...]:
        events: list[Event] = []
        for source, what in known:
            if source == SEES:  # the label of a converted tree begins with these words already
                events.append(Saw(what.removeprefix("you saw ")))
            elif source == NATURE:
                events.append(Drew((what,)))
            else:
                events.append(Chose(source, (what,), secret=self.table.private))
        if not events and self.table.private:
            events.append(Unaware())
        return tuple(events)

    def _find_letter(self, index: int) -> tuple[Reached, ...]:
        """Return the letter of an information set in the outline of the rules, where it has one."""
        course = self.stated[2]
        if not isinstance(course, Course):
            return ()
        letter = read_course(course).find_letter(self.tree.infoset.tolist().index(index))
        return (Reached(letter),) if letter else ()

    def _expand(self, node: Node) -> Leaf | trees.Chance | Turn:
        if isinstance(node, End):
            return Leaf(node.payoffs)
        after = dict(zip(node.moves, node.children, strict=True))
        if isinstance(node, ChanceNode):
            odds = zip(node.moves, node.probabilities, strict=True)
            return trees.Chance({move: (chance, after[move]) for move, chance in odds})
        reader = node.player if self.table.private else None
        label = write_events(self._list_events(node.knowledge), reader)
        moves = self._options[node.player, node.knowledge]
        return Turn(
            node.player,
            _make_key(node.knowledge),
            {move: after[move] for move in moves},
            label,
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
    """Find the decisions that are made at the same time as `node`, itself first.

    Only those that certainly come.
    """
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
    """Return the payoff tensors of a game in which everybody moves once, simultaneously."""
    positions = {}
    for player, moves in zip(table.players, table.moves, strict=True):
        for number, move in enumerate(moves):
            positions[player, move] = number
    payoffs = np.zeros((len(table.players), *map(len, table.moves)), dtype=object)
    for row in table.rows:
        made = dict(row.moves)
        profile = [positions[player, made[player]] for player in table.players]
        for seat, payoff in enumerate(row.payoffs):
            payoffs[(seat, *profile)] = payoff.numerator if payoff.denominator == 1 else payoff
    return NormalForm(payoffs, table.players, table.moves, name)


def as_game(table: GameTable, name: str = "") -> NormalForm | LogicGame:
    """A normal form if everybody moves once and simultaneously, else a game in turns."""
    all_move_once = all(len(row.moves) == len(table.players) for row in table.rows)
    if all_move_once and not table.sequential and not table.chancy:
        return table_as_normal_form(table, name)
    return LogicGame(table, name or "logic")


def read_program_text(path: Path) -> str:
    """The text of a program; InvalidGame where it is too long for a game or no text."""
    try:
        return read_text_file(path, 4 * MAX_CHARACTERS)
    except UnicodeDecodeError as error:
        raise InvalidGame(f"{path}: expected text in UTF-8; byte {error.start} is none") from None
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EFBIG, errno.ELOOP):
            raise
        raise InvalidGame(f"{path} is not a game program: {error.strerror}") from None


def program_game(report: Report, name: str) -> NormalForm | LogicGame | ProgramPositions:
    """The game of a validated program; InvalidGame with what is wrong where it is none."""
    if report.ok and report.positions is not None:
        return ProgramPositions(report.positions, report.source, name)
    if report.table is None or not report.ok:
        shown = "; ".join(str(error) for error in report.errors[:3])
        wrong = shown or "no table could be taken out of it"
        more = f" (and {len(report.errors) - 3} more)" if len(report.errors) > 3 else ""
        raise InvalidGame(
            f"{name} is not a game: {wrong}{more}; `bestresponse check` shows everything"
        )
    return as_game(report.table, name)
