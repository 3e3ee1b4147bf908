"""Answers that are found once.

What holds in a situation is asked again and again while a game is walked through.

`Situations` knows the situation that is being looked at and those it came from, each as one object,
so that a call about one of them can be recognised by identity. A call of a tabled predicate about a
known situation runs in a machine of its own, answer by answer as they are asked for; the next call
that is the same up to the names of variables gets these answers, in the same order, with the same
error at the same place. When a situation is left its answers are dropped, so that memory grows with
the length of a play, not with the size of the game.

Where effects and exceptions are facts, the answers of `holds/2` after a move follow from those
before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bestresponse.logic.embedded.compiler import VOID, CompiledClause, match_head
from bestresponse.logic.embedded.unify import Fault, copy, is_ground, spell, undo
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, deref

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine, Work

_HOLDS = "holds/2"
_MAX_NESTING = 60
"""How many machines may wait for each other: each takes some of Python's stack."""
# About what an empty table takes.
_TABLE_CELLS = 40
# A call with so many answers may have no end of them.
_MOST_ANSWERS = 1_000
_NONE: Mapping[object, AnswerTable] = {}


class AnswerTable:
    """The answers of one call: those found so far, and the machine that finds the others."""

    __slots__ = (
        "answers",
        "busy",
        "cells",
        "fault",
        "machine",
        "source",
        "variables",
        "whole",
    )

    def __init__(
        self,
        machine: Machine,
        source: Iterator[None] | None,
        variables: list[Var],
    ) -> None:
        self.answers: list[tuple[Term, ...]] = []
        self.busy = False
        self.cells = 0
        self.fault: Exception | None = None
        self.machine: Machine | None = machine
        self.source = source
        self.variables = variables
        self.whole = True
        """Whether no answer has an unknown part."""

    def find_next(self, caller: Machine) -> bool:
        """Find one more answer; raise what the call raises at this place."""
        if self.fault is not None:
            raise self.fault
        if self.source is None or self.machine is None:
            return False
        self.busy = True
        self.machine.below = caller.below + caller.used
        try:
            has_answer = next(self.source, self) is not self
            if has_answer:
                answer = Struct("", tuple(self.variables)) if self.variables else Atom("")
                kept = copy(answer, self.hold, shared=True)
                self.whole = self.whole and is_ground(kept)
                self.answers.append(kept.args if isinstance(kept, Struct) else ())
            else:
                self.source = self.machine = None
        except Fault as fault:
            self.fault = fault
            raise
        finally:
            self.busy = False
        return has_answer

    def hold(self, cells: int) -> None:
        """Count memory that is kept until the situation is left."""
        self.cells += cells
        if self.machine is not None:
            self.machine.work.held += cells
            self.machine.charge(0)

    def complete(self, caller: Machine) -> bool:
        """Find all answers.

        False where there is no end of them, or an error after some, or unknown parts in them.
        """
        try:
            while not self.busy and self.source is not None and len(self.answers) < _MOST_ANSWERS:
                self.find_next(caller)
        except Fault:
            return False
        return self.source is None and self.whole

    def replay(self, variables: list[Var], machine: Machine) -> Iterator[bool]:
        """Bind the variables of a call to one answer after the other."""
        position = 0
        trail = machine.trail
        while position < len(self.answers) or self.find_next(machine):
            answer = self.answers[position]
            position += 1
            if not self.whole and variables:
                fresh = copy(Struct("", answer), machine.charge, shared=True)
                answer = fresh.args  # type: ignore[union-attr]
            for variable, value in zip(variables, answer, strict=True):
                variable.ref = value
                trail.append(variable)
            yield True


class Situations:
    """The current situation, those it came from, and what was asked about each."""

    __slots__ = ("chain", "tables")

    def __init__(self) -> None:
        self.chain: list[Term] = []
        self.tables: dict[object, dict[object, AnswerTable]] = {}

    def enter(self, situation: Term, work: Work) -> Term:
        """Return the object that represents a situation.

        All situations that it did not come from are forgotten.
        """
        moves: list[Term] = []
        current = deref(situation)
        while (
            _identify(current) not in self.tables
            and isinstance(current, Struct)
            and (current.name, len(current.args)) == ("do", 2)
        ):
            moves.append(current.args[0])
            current = deref(current.args[1])
        if not all(map(is_ground, moves)):
            return situation
        if _identify(current) in self.tables:
            self._leave(current, work)
        elif isinstance(current, Atom):
            self._leave(None, work)
            self._push(current)
        else:
            return situation
        for move in reversed(moves):
            current = Struct(
                "do",
                (copy(move, _ignore, shared=True), current),
                not isinstance(current, Struct) or current.solid,
            )
            self._push(current)
        return current

    def find(
        self,
        machine: Machine,
        key: str,
        arguments: list[Term],
    ) -> tuple[AnswerTable, list[Var]] | None:
        """Return the table of a call about a known situation, and the variables in it.

        The situation is the last argument of the call.
        """
        situation = deref(arguments[-1])
        tables = self.tables.get(_identify(situation))
        if tables is None:
            return None
        variables: list[Var] = []
        try:
            name = (key, *[spell(argument, variables) for argument in arguments[:-1]])
        except RecursionError:
            return None
        table = tables.get(name)
        if table is None:
            if machine.nesting >= _MAX_NESTING:
                return None
            for unasked in self._find_unasked(name, situation):
                table = self._open(machine, name, arguments[:-1], variables, unasked)
                self.tables[_identify(unasked)][name] = table
        return None if table is None or table.busy else (table, variables)

    def _find_unasked(self, name: object, situation: Term) -> list[Term]:
        """List the situations, the first one first, up to this one of which this was not asked."""
        unasked: list[Term] = []
        while name not in self.tables[_identify(situation)]:
            unasked.append(situation)
            if (
                not isinstance(situation, Struct)
                or _identify(deref(situation.args[1])) not in self.tables
            ):
                break
            situation = deref(situation.args[1])
        return unasked[::-1]

    def _open(
        self,
        machine: Machine,
        name: tuple[Any, ...],
        arguments: list[Term],
        variables: list[Var],
        situation: Term,
    ) -> AnswerTable:
        fresh = copy(Struct("", (*arguments, *variables)), machine.charge, shared=True)
        assert isinstance(fresh, Struct)
        asked = fresh.args[: len(arguments)]
        unknown = list(fresh.args[len(arguments) :])
        table = AnswerTable(machine, None, unknown)  # type: ignore[arg-type]
        table.hold(_TABLE_CELLS)
        if name[0] == _HOLDS and isinstance(situation, Struct):
            earlier = self.tables.get(_identify(deref(situation.args[1])), _NONE).get(name)
            if earlier is not None and self._progress(
                machine,
                asked[0],
                table,
                situation,
                earlier,
            ):
                return table
        table.machine = machine.nest()
        table.source = table.machine.run_predicate(name[0], [*asked, situation])
        return table

    def _progress(
        self,
        machine: Machine,
        fluent: Term,
        table: AnswerTable,
        situation: Struct,
        earlier: AnswerTable,
    ) -> bool:
        """Find what holds after a move, by facts alone.

        These are its effects, and what held before unless it is abnormal.

        False where rules have to be followed for that, where facts are about some situations only,
        or where something is not fully known.
        """
        arguments = (fluent, *situation.args)
        effects = machine.predicates["effect/3"].select(arguments)
        exceptions = machine.predicates["abnormal/3"].select(arguments)
        if machine.predicates["initially/2"].select((fluent, situation)) or any(
            clause.body is not None or clause.head[2][0] != VOID
            for clause in (*effects, *exceptions)
        ):
            return False
        if not earlier.complete(machine):
            return False
        variables = table.variables
        trail: list[Var] = []
        answers: list[tuple[Any, ...]] = []
        for clause in effects:
            if match_head(clause, arguments, trail):
                answers.append(tuple(map(_resolve, variables)))
            undo(trail, 0)
        for answer in earlier.answers if exceptions else ():
            for variable, value in zip(variables, answer, strict=True):
                variable.ref = value
                trail.append(variable)
            if not any(_fits(clause, arguments) for clause in exceptions):
                answers.append(answer)
            undo(trail, 0)
        if any(value is None for answer in answers for value in answer):
            return False
        table.answers = answers if exceptions else answers + earlier.answers
        table.machine = None
        return True

    def _push(self, situation: Term) -> None:
        self.chain.append(situation)
        self.tables[_identify(situation)] = {}

    def _leave(self, situation: Term | None, work: Work) -> None:
        kept = None if situation is None else _identify(situation)
        while self.chain and _identify(self.chain[-1]) != kept:
            for table in self.tables.pop(_identify(self.chain.pop())).values():
                work.held -= table.cells


def _fits(clause: CompiledClause, arguments: tuple[Term, ...]) -> bool:
    trail: list[Var] = []
    fits = match_head(clause, arguments, trail)
    undo(trail, 0)
    return fits


def _resolve(variable: Var) -> Term | None:
    """Return what a variable is bound to, None where that is not fully known."""
    term = deref(variable)
    if isinstance(term, Struct):
        return copy(term, _ignore) if is_ground(term) else None
    return None if isinstance(term, Var) else term


def _identify(situation: Term) -> object:
    """Return the identity of a structure or the name of an initial situation.

    A known situation keeps the structure alive.
    """
    return id(situation) if situation.__class__ is Struct else situation


def _ignore(cells: int) -> None:
    """Copies of moves are as small as the moves, and dropped with their situation."""
