"""Slips that a game program's text shows before it runs: contract predicates misspelt or with the wrong number of
arguments, and fluents that are tested but that nothing makes true. Each with its line, its cause and a hint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bestresponse.logic.gate.check import GatedClause, GatedProgram, find_similar
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.predicates import GAME
from bestresponse.logic.language.terms import Struct, Term, Var

__all__ = ["MEMORY", "find_slips", "find_unknown_fluents"]

_CONTRACT = {
    "initial": 1, "initially": 2, "legal": 2, "effect": 3, "abnormal": 3, "final": 1, "finally": 2, "chance": 3,
    "sees": 3,
}  # fmt: skip
_GIVEN = frozenset({"last_move/2", "default_move/2"})
"""Fluents that a tournament sets, whatever the program says."""
MEMORY = "memory/2"
"""The fluent that a tournament sets for a strategy with `start_memory/1`."""


@dataclass(slots=True)
class _Uses:
    """Where each predicate is first defined, what is called, which fluents are tested and which are made true."""

    defined: dict[str, GatedClause] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    tested: dict[str, GatedClause] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    anything: bool = False
    """Whether some clause may make any fluent true."""


def find_slips(program: GatedProgram) -> list[Diagnostic]:
    """Find likely slips in a game program that has passed the gate."""
    uses = _collect(program)
    return [*_find_misnamed(uses), *_find_dead_fluents(uses)]


def find_unknown_fluents(strategy: GatedProgram, game: GatedProgram) -> list[Diagnostic]:
    """Find fluents that the rules of a strategy test, but that never hold when a strategy is asked.

    Asked it is before anybody has moved in the present round, so that only what `initially/2` says holds, and what a
    tournament sets.
    """
    known = set(_GIVEN)
    if "start_memory/1" in strategy.defined:
        known.add(MEMORY)
    anything = False
    for clause in (*game.clauses, *strategy.clauses):
        if clause.line and indicator(clause.head) == "initially/2" and isinstance(clause.head, Struct):
            anything = anything or isinstance(clause.head.args[0], Var)
            known.add(indicator(clause.head.args[0]))
    if anything:
        return []
    return [
        _say(clause, "fluent", f"{fluent} never holds when a strategy is asked", f"use {', '.join(sorted(known))}")
        for clause in strategy.clauses
        for fluent in _find_tested(clause)
        if fluent not in known
    ]


def _find_tested(clause: GatedClause) -> Iterator[str]:
    """Find the fluents that a rule for `select/4` tests in the situation in which it is asked."""
    if indicator(clause.head) != "select/4" or not isinstance(clause.head, Struct):
        return
    asked = clause.head.args[2]
    stack: list[Term] = [clause.body]
    while stack:
        term = stack.pop()
        if not isinstance(term, Struct):
            continue
        fluent = indicator(term.args[0]) if indicator(term) == "holds/2" and term.args[1] == asked else ""
        if fluent:
            yield fluent
        stack.extend(term.args)


def _collect(program: GatedProgram) -> _Uses:
    uses = _Uses()
    for clause in program.clauses:
        if not clause.line:
            continue
        key = indicator(clause.head)
        uses.defined.setdefault(key, clause)
        if key in ("initially/2", "effect/3") and isinstance(clause.head, Struct):
            fluent = clause.head.args[0]
            uses.anything = uses.anything or isinstance(fluent, Var)
            uses.made.add(indicator(fluent))
        _collect_body(clause, uses, tests=key != "select/4")
    return uses


def _collect_body(clause: GatedClause, uses: _Uses, tests: bool) -> None:
    """Note every name in a body as called, and the fluents it tests."""
    stack: list[Term] = [clause.body]
    while stack:
        term = stack.pop()
        key = indicator(term)
        if key:
            uses.called.add(key)
        if isinstance(term, Struct):
            if tests and key == "holds/2" and (fluent := indicator(term.args[0])):
                uses.tested.setdefault(fluent, clause)
            stack.extend(term.args)


def _find_misnamed(uses: _Uses) -> Iterator[Diagnostic]:
    """Find predicates nobody calls whose name is, or resembles, one that the solver asks."""
    for key, clause in uses.defined.items():
        name, arity = key.rsplit("/", 1)
        if key in GAME or key in uses.called:
            continue
        if name in _CONTRACT:
            message = f"{key} is defined, but the solver asks {name}/{_CONTRACT[name]} and nothing calls {key}"
            yield _say(clause, "contract", message, f"give {name} {_CONTRACT[name]} arguments")
            continue
        near = find_similar(name, sorted(other for other, count in _CONTRACT.items() if str(count) == arity))
        if near:
            yield _say(clause, "misspelt", f"nothing calls {key}", f"did you mean {near}/{arity}?")


def _find_dead_fluents(uses: _Uses) -> Iterator[Diagnostic]:
    """Find fluents that are tested but that no effect/3 or initially/2 makes true."""
    if uses.anything:
        return
    names = sorted({key.rsplit("/", 1)[0] for key in uses.made})
    for fluent, clause in uses.tested.items():
        if fluent in uses.made or fluent in _GIVEN:
            continue
        name = fluent.rsplit("/", 1)[0]
        near = name if name in names else find_similar(name, names)
        same = sorted(key for key in uses.made if key.rsplit("/", 1)[0] == near)
        arity = fluent.rsplit("/", 1)[1]
        alike = same or sorted(key for key in uses.made if key.rsplit("/", 1)[1] == arity and key[0] == name[0])
        hint = f"did you mean {alike[0]}?" if alike else "let an effect/3 or initially/2 make it true"
        message = f"{fluent} is tested with holds/2, but no effect/3 or initially/2 ever makes it true"
        yield _say(clause, "fluent", message, hint, Severity.ERROR if same else Severity.WARNING)


def _say(clause: GatedClause, code: str, message: str, hint: str, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(Stage.STATIC, severity, clause.line, clause.column, clause.source_line, message, hint, code)
