"""The gate: nothing of a program runs that this module has not understood and written anew.

Default deny. A clause passes when each goal in its body is a predicate the program defines or one of a short list
(`predicates`); goals and closures must be written out, never computed. What passes is emitted as canonical text without
operators, and only that text reaches an engine: what the engine reads is what was checked.

A call of a predicate nobody defines is an error for the author, but no danger: it is emitted as a goal that raises an
existence error when it is reached, as in any Prolog.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bestresponse.core.errors import ProgramRefused
from bestresponse.logic.gate.clauses import Gate, GatedClause
from bestresponse.logic.gate.goals import MAX_DEPTH, Refusal, Surroundings, checked_body, depth, indicator
from bestresponse.logic.language.diagnostics import Diagnostic, Severity
from bestresponse.logic.language.predicates import QUESTIONS
from bestresponse.logic.language.reader import read, read_term
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, list_of, variables_of, write

__all__ = ["REFUSING", "GatedClause", "GatedGoal", "GatedProgram", "check", "check_goal"]

REFUSING = frozenset(
    {"syntax", "size", "character", "forbidden", "random", "directive", "reserved", "goal", "depth", "clause"}
)
"""Codes of diagnostics for which a program must not run."""
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class GatedProgram:
    """The verdict on a program: what may run of it (nothing, where it is refused) and what is wrong with it."""

    source: str
    clauses: tuple[GatedClause, ...]
    diagnostics: tuple[Diagnostic, ...]
    defined: frozenset[str]

    @property
    def refusals(self) -> tuple[Diagnostic, ...]:
        """Why it must not run; empty if it may."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR and d.code in REFUSING)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong, whether or not it may run."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    @property
    def canonical(self) -> str:
        """The only text an engine ever sees."""
        return "".join(clause.canonical + ".\n" for clause in self.clauses)

    def require(self) -> GatedProgram:
        """Itself, or `ProgramRefused` with the reasons."""
        refusals = self.refusals
        told, rest = refusals[:_MOST_TOLD], refusals[_MOST_TOLD:]
        if told:
            more = f" (and {len(rest)} more)" if rest else ""
            raise ProgramRefused("The program was refused: " + "; ".join(map(str, told)) + more)
        return self

    def given(self, fluents: Iterable[tuple[Term, Term]]) -> GatedProgram:
        """The program with these fluents in place of what `initially/2` says of the same name and first argument."""
        clauses = list(self.clauses)
        for fluent, situation in fluents:
            clauses = [clause for clause in clauses if not _replaced(clause.head, fluent, situation)]
            fact = Struct("initially", (fluent, situation))
            clauses.append(GatedClause(fact, Atom("true")))
        return GatedProgram(self.source, tuple(clauses), self.diagnostics, self.defined | {"initially/2"})


@dataclass(frozen=True, slots=True)
class GatedGoal:
    """A goal that may be asked: `canonical` is the text of `Goal-[Variables]` in the order of `names`."""

    term: Term
    names: tuple[str, ...]
    variables: tuple[Var, ...]
    given: tuple[tuple[Term, Term], ...]

    @property
    def canonical(self) -> str:
        """`Goal-[Variables]` as text."""
        return write(Struct("-", (self.term, list_of(self.variables))))


def check(source: str) -> GatedProgram:
    """Read and check a whole program; nothing is run."""
    reading = read(source)
    gate = Gate(complete=not reading.diagnostics)
    gate.collect(reading.clauses)
    clauses = gate.clauses()
    diagnostics = (*reading.diagnostics, *gate.diagnostics)
    ordered = tuple(sorted(diagnostics, key=lambda d: (d.severity is not Severity.ERROR, d.line, d.column)))
    program = GatedProgram(source, clauses, ordered, frozenset(gate.defined))
    return program if not program.refusals else GatedProgram(source, (), ordered, program.defined)


def check_goal(goal: str | Term, program: GatedProgram) -> GatedGoal:
    """Check one goal, as text or term, to be asked of a program; leading `initialise/2` goals become `given`."""
    try:
        whole = goal if not isinstance(goal, str) or isinstance(goal, Atom) else read_term(goal).term
        goal, given = _split_given(whole)
        if depth(goal) > MAX_DEPTH:
            raise Refusal(f"the goal is nested deeper than {MAX_DEPTH}")
        around = Surroundings(program.defined | QUESTIONS, lambda key: None, closed=True)
        term = checked_body(goal, around)
    except (ValueError, Refusal) as error:
        raise ProgramRefused(f"The goal was refused: {error}") from error
    found = {variable.name: variable for variable in variables_of(whole)}
    names = tuple(name for name in found if not name.startswith("_"))
    return GatedGoal(term, names, tuple(found[name] for name in names), tuple(given))


def _split_given(term: Term) -> tuple[Term, list[tuple[Term, Term]]]:
    given: list[tuple[Term, Term]] = []
    while isinstance(term, Struct) and term.name == "," and indicator(term.args[0]) == "initialise/2":
        first = term.args[0]
        if not isinstance(first, Struct) or not isinstance(first.args[0], Struct) or variables_of(first):
            raise Refusal("initialise/2 takes a fluent and a situation without variables")
        given.append((first.args[0], first.args[1]))
        term = term.args[1]
    if indicator(term) == "initialise/2":
        raise Refusal("initialise/2 stands before the goal it is meant for")
    return term, given


def _replaced(head: Term, fluent: Term, situation: Term) -> bool:
    if not (isinstance(head, Struct) and head.name == "initially" and len(head.args) == 2):
        return False
    old, where = head.args
    if not (isinstance(old, Struct) and isinstance(fluent, Struct) and indicator(old) == indicator(fluent)):
        return False
    same_place = isinstance(where, Var) or where == situation
    return same_place and (isinstance(old.args[0], Var) or old.args[0] == fluent.args[0])
