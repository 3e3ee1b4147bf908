"""The embedded engine: logic programs run inside Python, with nothing to install and no way out.

engine = EmbeddedEngine()
program = engine.load(source)              # gate, compile
engine.solutions(program, "game(s0, F)")   # answers as terms
"""

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.logic.embedded.builtins import SINGLE
from bestresponse.logic.embedded.compiler import (
    Code,
    CompiledClause,
    Predicate,
    compile_clause,
    compile_goal,
)
from bestresponse.logic.embedded.machine import Machine
from bestresponse.logic.embedded.tables import Situations
from bestresponse.logic.embedded.unify import copy, undo
from bestresponse.logic.engine import Answer, Limits, LogicEngine, Program
from bestresponse.logic.gate.check import (
    GatedClause,
    GatedGoal,
    GatedProgram,
    check_goal,
    check_source,
)
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.library import CLOSURE_TEXT, LIBRARY_TEXT
from bestresponse.logic.language.reader import read
from bestresponse.logic.language.terms import Struct, Term
from bestresponse.logic.programs.solver_language import TRUSTED


class EmbeddedEngine(LogicEngine):
    """A `LogicEngine` in Python.

    `seed` drives the random predicates; the same questions give the same answers.
    """

    name = "embedded"

    def __init__(self, limits: Limits | None = None, seed: int = 0) -> None:
        self.limits = limits or Limits()
        self.draw: Callable[[int, int], int] = random.Random(seed).randint

    def load(self, source: str | GatedProgram) -> Program:
        """Check and compile a program, or `ProgramRefused`."""
        gated = (check_source(source) if isinstance(source, str) else source).require()
        return Program(gated, _Compiled(gated))

    def solutions(
        self,
        program: Program,
        goal: str | Term,
        limit: int | None = None,
    ) -> tuple[Answer, ...]:
        """The first `limit` solutions of a goal, all of them by default."""
        gated = check_goal(goal, program.gated)
        machine, code, slots = self._prepared(program, gated)
        answers: list[Answer] = []
        output = _Output(self.limits)
        try:
            for _ in machine.solve(code, slots):
                values = map(output.take, gated.variables)
                answers.append(dict(zip(gated.names, values, strict=True)))
                if limit is not None and len(answers) >= limit:
                    break
                if len(answers) > self.limits.answers:
                    raise LimitReached(f"There are more than {self.limits.answers:,} answers.")
        finally:
            undo(machine.trail, 0)
        return tuple(answers)

    def _prepared(self, program: Program, goal: GatedGoal) -> tuple[Machine, Code, list[Any]]:
        compiled = program.handle
        if not isinstance(compiled, _Compiled):
            raise LogicError("This program was loaded by another engine; load it with this one.")
        predicates = compiled.initialise(goal) if goal.fluents else compiled.predicates
        situations = Situations() if compiled.repeatable else None
        machine = Machine(predicates, self.limits, self.draw, situations)
        code, slots = compile_goal(goal.term, compiled.own)
        return machine, code, slots


class _Output:
    """Counts what the answers take."""

    def __init__(self, limits: Limits) -> None:
        self.left = limits.output

    def take(self, term: Term) -> Term:
        """Copy a term and count its size as when written.

        Parts that are shared count wherever they occur.
        """
        taken = copy(term, lambda cells: None, shared=True)
        stack = [taken]
        while stack:
            part = stack.pop()
            if part.__class__ is Struct:
                self.left -= 4 * len(part.args) + 4
                if self.left < 0:
                    raise LimitReached("The answers are larger than the limit on output.")
                stack += part.args
        return taken


class _Compiled:
    """A gated program as predicates, beside the solver and the library."""

    def __init__(self, gated: GatedProgram) -> None:
        self.gated = gated
        self.own = {key: key for key in gated.defined}
        self.repeatable = "random" not in gated.canonical and "maybe" not in gated.canonical
        clauses: dict[str, list[CompiledClause]] = {}
        for clause in gated.clauses:
            clauses.setdefault(indicator(clause.head), []).append(self._compiled(clause))
        self.predicates: Mapping[str, Predicate] = {
            **_trusted(),
            **{key: Predicate(group) for key, group in clauses.items()},
        }

    def _compiled(self, clause: GatedClause) -> CompiledClause:
        return compile_clause(
            clause.head,
            clause.body,
            self.own,
            (clause.line, clause.source_line),
        )

    def initialise(self, goal: GatedGoal) -> Mapping[str, Predicate]:
        """The predicates with `initially/2` as the goal wants it."""
        changed = self.gated.initialise(goal.fluents).clauses
        initially = [
            self._compiled(clause) for clause in changed if indicator(clause.head) == "initially/2"
        ]
        return {**self.predicates, "initially/2": Predicate(initially)}


@cache
def _trusted() -> dict[str, Predicate]:
    """Compile the solver and the list library once.

    Inside the library its own predicates are meant, whatever a program may redefine, so they are
    known under a second name that no program can write.
    """
    solver = _predicates(TRUSTED, {})
    solver["holds/2"].tabled = True
    text = LIBRARY_TEXT + CLOSURE_TEXT
    inner = {key: f"\0{key}" for key in _predicates(text, {}) if key not in SINGLE}
    library = _predicates(text, inner)
    return {
        **library,
        **{inner[key]: predicate for key, predicate in library.items() if key in inner},
        **solver,
    }


def _predicates(text: str, own: Mapping[str, str]) -> dict[str, Predicate]:
    clauses: dict[str, list[CompiledClause]] = {}
    for clause in read(text).clauses:
        head, body = clause.parts
        clauses.setdefault(indicator(head), []).append(compile_clause(head, body, own))
    return {key: Predicate(group) for key, group in clauses.items()}
