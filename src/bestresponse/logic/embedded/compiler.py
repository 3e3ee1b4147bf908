"""Clauses into code for the embedded machine.

A clause becomes patterns for its head and a chain of instructions for its body. An instruction is a
tuple `(operation, next, first, second, origin)`; control constructs are woven into the chain, so
that the machine needs neither recursion nor a stack of goals. Each activation of a clause has a
list of slots: slot 0 holds the height of the choice points at its call (what a cut returns to), the
others its variables and what inner constructs must remember.

Patterns are tuples: `(VOID,)`, `(FIRST, slot)` and `(LATER, slot)` for variables, `(CONSTANT,
term)`, `(GROUND, term)`, `(COMPOUND, name, patterns)` and `(SEQUENCE, patterns, tail)` for lists.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partialmethod
from typing import Any, NamedTuple

from bestresponse.logic.embedded.builtins import MANY, SINGLE
from bestresponse.logic.embedded.unify import bind, copy, unify
from bestresponse.logic.language.terms import (
    CONS,
    Atom,
    Struct,
    Term,
    Var,
    deref,
    goals_of,
    items_of,
    walk_terms,
)

VOID, FIRST, LATER, CONSTANT, GROUND, COMPOUND, SEQUENCE = range(7)
(
    CALL,
    DETERMINATE,
    MULTIPLE,
    CUT,
    TRY,
    CUT_AFTER,
    CUT_AND_FAIL,
    EITHER,
    MARK,
    FORGET,
    SOLVE_ALL,
    COLLECT,
    GATHER,
    FAIL,
    CALL_CLOSURE,
    CALL_AGAIN,
) = range(16)
CALLS = frozenset((CALL, CALL_CLOSURE, CALL_AGAIN))

Pattern = tuple[Any, ...]
Code = tuple[Any, ...] | None
Origin = tuple[int, str]
Cut = tuple[int, int]
"""What `!` does at a place: an operation and its slot."""
Terms = tuple[Term, ...]


class CompiledClause(NamedTuple):
    """Patterns of the head, code of the body, slots, and the cells of one activation.

    The cells are its slots and what it builds.
    """

    head: tuple[Pattern, ...]
    body: Code
    slots: int
    cells: int


class Predicate:
    """The clauses of one predicate, indexed by every argument that tells some of them apart.

    An index has a position, the clauses for each key at this position, and those for all other
    keys. The answers of a `tabled` predicate are kept as long as the situation they are about is
    looked at.
    """

    __slots__ = ("clauses", "indexes", "tabled")

    def __init__(self, clauses: list[CompiledClause]) -> None:
        arity = len(clauses[0].head) if clauses else 0
        clauses = [
            clause
            for clause in clauses
            if not (clause.body and clause.body[0] == FAIL and not clause.body[2])
        ]
        self.clauses = clauses
        self.tabled = False
        indexes = (_index(clauses, position) for position in range(arity))
        self.indexes = [index for index in indexes if index[1]]

    def select(self, arguments: Sequence[Term]) -> list[CompiledClause]:
        """Return the clauses whose heads may fit the arguments."""
        candidates = self.clauses
        for position, index, default in self.indexes:
            argument = deref(arguments[position])
            if argument.__class__ is not Var:
                key = (
                    (argument.name, len(argument.args))
                    if argument.__class__ is Struct
                    else argument
                )
                fitting = index.get(key, default)
                candidates = fitting if len(fitting) < len(candidates) else candidates
        return candidates


def _index(
    clauses: list[CompiledClause], position: int
) -> tuple[int, dict[object, list[CompiledClause]], list[CompiledClause]]:
    index: dict[object, list[CompiledClause]] = {}
    default: list[CompiledClause] = []
    for clause in clauses:
        key = _key(clause.head[position])
        if key is not None:
            index.setdefault(key, default.copy()).append(clause)
            continue
        for bucket in index.values():
            bucket.append(clause)
        default.append(clause)
    return position, index, default


def _key(pattern: Pattern) -> object:
    """Return what a first argument must have in common with a goal's; None where it fits any."""
    kind = pattern[0]
    if kind == CONSTANT:
        return pattern[1]
    if kind == GROUND:
        return (pattern[1].name, len(pattern[1].args))
    if kind == COMPOUND:
        return (pattern[1], len(pattern[2]))
    if kind == SEQUENCE:
        return (CONS, 2)
    return None


def compile_clause(
    head: Term,
    body: Term,
    own: Mapping[str, str],
    origin: Origin = (0, ""),
) -> CompiledClause:
    """Code of a clause.

    `own` maps predicates that hide a built-in one to the name they are called by.
    """
    compiler = _Compiler(own, origin)
    compiler.count(head)
    compiler.count(body)
    patterns = tuple(map(compiler.head, head.args)) if isinstance(head, Struct) else ()
    code = compiler.goal(body, None, (CUT, 0))
    return CompiledClause(
        patterns,
        code,
        compiler.slots,
        compiler.cells + compiler.slots + 1,
    )


def compile_goal(goal: Term, own: Mapping[str, str]) -> tuple[Code, list[Term | None]]:
    """Code of a goal, and the slots of its activation with the goal's own variables in them."""
    compiler = _Compiler(own, (0, ""))
    compiler.count(goal)
    compiler.count(goal)
    code = compiler.goal(goal, None, (CUT, 0))
    slots: list[Any] = [None] * compiler.slots
    for variable, slot in compiler.variables.values():
        slots[slot] = variable
    slots[0] = 0
    return code, slots


class _Compiler:
    """Numbers the variables of one clause and chains its instructions."""

    def __init__(self, own: Mapping[str, str], origin: Origin) -> None:
        self.own = own
        self.origin = origin
        self.uses: dict[int, int] = {}
        self.variables: dict[int, tuple[Var, int]] = {}
        self.slots = 1
        self.cells = 0

    def count(self, term: Term) -> None:
        for part in walk_terms(term):
            if isinstance(part, Var):
                self.uses[id(part)] = self.uses.get(id(part), 0) + 1

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def head(self, term: Term) -> Pattern:
        return self.pattern(term, in_head=True)

    def pattern(self, term: Term, in_head: bool = False) -> Pattern:
        if isinstance(term, Var):
            return self.variable(term, in_head)
        if not isinstance(term, Struct):
            return (CONSTANT, term)
        if term.name == CONS and len(term.args) == 2:
            items, tail = items_of(term)
            patterns = tuple(self.pattern(item, in_head) for item in items)
            end = self.pattern(tail, in_head)
            ground = end[0] == CONSTANT and all(p[0] in (CONSTANT, GROUND) for p in patterns)
            self.cells += 0 if ground else 3 * len(items)
            return (
                (GROUND, copy(term, _ignore, shared=True)) if ground else (SEQUENCE, patterns, end)
            )
        patterns = tuple(self.pattern(argument, in_head) for argument in term.args)
        if all(p[0] in (CONSTANT, GROUND) for p in patterns):
            return (GROUND, copy(term, _ignore, shared=True))
        self.cells += len(patterns) + 1
        return (COMPOUND, term.name, patterns)

    def variable(self, term: Var, in_head: bool) -> Pattern:
        if self.uses[id(term)] == 1:
            return (VOID,)
        if id(term) in self.variables:
            return (LATER, self.variables[id(term)][1])
        self.variables[id(term)] = (term, self.slot())
        return (FIRST if in_head else LATER, self.variables[id(term)][1])

    def goal(self, term: Term, following: Code, cut: Cut) -> Code:
        """Code that runs a goal and goes on with `following`."""
        if isinstance(term, Struct) and term.name == "," and len(term.args) == 2:
            for conjunct in reversed(goals_of(term, ",")):
                following = self.goal(conjunct, following, cut)
            return following
        if not isinstance(term, Struct | Atom):
            return (
                FAIL,
                None,
                "a variable or number was called as a goal",
                None,
                self.origin,
            )
        arguments = term.args if isinstance(term, Struct) else ()
        key = f"{term.name}/{len(arguments)}" if isinstance(term, Struct) else f"{term}/0"
        control = _CONTROL.get(key)
        if control is not None:
            return control(self, arguments, following, cut)
        return self.call(key, tuple(self.pattern(argument) for argument in arguments), following)

    def call(self, key: str, patterns: tuple[Pattern, ...], following: Code) -> Code:
        if key in self.own:
            return (CALL, following, self.own[key], patterns, self.origin)
        if key in SINGLE:
            return (DETERMINATE, following, SINGLE[key], patterns, self.origin)
        if key in MANY:
            return (MULTIPLE, following, MANY[key], patterns, self.origin)
        if key.startswith("call/"):
            return (CALL_CLOSURE, following, None, patterns, self.origin)
        return (CALL, following, key, patterns, self.origin)

    def true(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        return following

    def fail(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        return (FAIL, None, None, None, self.origin)

    def cut(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        return (cut[0], following, cut[1], None, self.origin)

    def either(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        *branches, last = goals_of(Struct(";", arguments), ";")
        code = self.goal(last, following, cut)
        for branch in reversed(branches):
            code = self.branch(branch, code, following, cut)
        return code

    def branch(self, branch: Term, other: Code, following: Code, cut: Cut) -> Code:
        """One alternative, or what to do under a condition, before all others."""
        if isinstance(branch, Struct) and branch.name in ("->", "*->") and len(branch.args) == 2:
            return self.conditional(branch, other, following, cut)
        return (EITHER, self.goal(branch, following, cut), other, None, self.origin)

    def decide(self, name: str, arguments: Terms, following: Code, cut: Cut) -> Code:
        other = self.fail((), following, cut)
        return self.conditional(Struct(name, arguments), other, following, cut)

    then = partialmethod(decide, "->")
    soft = partialmethod(decide, "*->")

    def conditional(
        self,
        branch: Struct,
        other: Code,
        following: Code,
        cut: Cut,
    ) -> Code:
        slot = self.slot()
        positive = self.goal(branch.args[1], following, cut)
        chosen = CUT if branch.name == "->" else FORGET
        code = self.goal(
            branch.args[0],
            (
                chosen,
                positive,
                slot,
                None,
                self.origin,
            ),
            (CUT_AFTER, slot),
        )
        return (TRY, code, slot, other, self.origin)

    def negation(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        slot = self.slot()
        code = self.goal(
            arguments[0],
            (
                CUT_AND_FAIL,
                None,
                slot,
                None,
                self.origin,
            ),
            (CUT_AFTER, slot),
        )
        return (TRY, code, slot, following, self.origin)

    def opaque(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        slot = self.slot()
        return (
            MARK,
            self.goal(arguments[0], following, (CUT, slot)),
            slot,
            None,
            self.origin,
        )

    def once(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        return self.then((arguments[0], Atom("true")), following, cut)

    def ignore(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        return self.conditional(
            Struct("->", (arguments[0], Atom("true"))),
            following,
            following,
            cut,
        )

    def every(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        condition, action = arguments
        counterexample = Struct(",", (condition, Struct("\\+", (action,))))
        return self.negation((counterexample,), following, cut)

    def findall(self, arguments: Terms, following: Code, cut: Cut) -> Code:
        template, goal, result = arguments
        slot = self.slot()
        barrier = self.slot()
        gather = (GATHER, following, slot, self.pattern(result), self.origin)
        collect = (COLLECT, None, slot, self.pattern(template), self.origin)
        return (
            SOLVE_ALL,
            self.goal(goal, collect, (CUT, barrier)),
            slot,
            gather,
            self.origin,
        )


def _ignore(cells: int) -> None:
    """Count nothing: what a clause holds is as small as its text."""


def build(pattern: Pattern, slots: list[Any]) -> Any:
    """The term a pattern stands for in an activation."""
    kind = pattern[0]
    if kind == LATER:
        term = slots[pattern[1]]
        if term is None:
            term = slots[pattern[1]] = Var()
        return term
    if kind in (CONSTANT, GROUND):
        return pattern[1]
    if kind == COMPOUND:
        parts = []
        for part in pattern[2]:
            if part[0] == LATER and (term := slots[part[1]]) is not None:
                parts.append(term)
            else:
                parts.append(build(part, slots))
        return Struct(pattern[1], tuple(parts))
    if kind == SEQUENCE:
        # In the order in which they are written: a variable is made where it comes first.
        parts = [build(part, slots) for part in pattern[1]]
        tail = build(pattern[2], slots)
        for part in reversed(parts):
            tail = Struct(CONS, (part, tail))
        return tail
    term = Var()
    if kind == FIRST:
        slots[pattern[1]] = term
    return term


def match(pattern: Pattern, term: Any, slots: list[Any], trail: list[Var]) -> bool:
    """Make a head pattern and a term equal."""
    kind = pattern[0]
    if kind == FIRST:
        slots[pattern[1]] = term
        return True
    if kind == LATER:
        return unify(slots[pattern[1]], term, trail)
    if kind == VOID:
        return True
    while term.__class__ is Var:
        if term.ref is None:
            return bind(term, build(pattern, slots), trail)
        term = term.ref
    if kind == COMPOUND:
        if (
            term.__class__ is not Struct
            or term.name != pattern[1]
            or len(term.args) != len(pattern[2])
        ):
            return False
        for part, argument in zip(pattern[2], term.args, strict=False):
            if part[0] == FIRST:
                slots[part[1]] = argument
            elif part[0] != VOID and not match(part, argument, slots, trail):
                return False
        return True
    if kind == CONSTANT:
        return term.__class__ is pattern[1].__class__ and term == pattern[1]
    if kind == GROUND:
        return unify(pattern[1], term, trail)
    return _match_sequence(pattern, term, slots, trail)


def match_head(clause: CompiledClause, arguments: Sequence[Term], trail: list[Var]) -> bool:
    """Make the head of a clause and the arguments of a call equal.

    On failure the caller undoes the trail.
    """
    slots = [None] * clause.slots
    return all(
        match(pattern, argument, slots, trail)
        for pattern, argument in zip(clause.head, arguments, strict=True)
    )


def _match_sequence(
    pattern: Pattern,
    term: Any,
    slots: list[Any],
    trail: list[Var],
) -> bool:
    for position, part in enumerate(pattern[1]):
        term = deref(term)
        if term.__class__ is Var:
            return bind(term, build((SEQUENCE, pattern[1][position:], pattern[2]), slots), trail)
        if term.__class__ is not Struct or term.name != CONS or len(term.args) != 2:
            return False
        if not match(part, term.args[0], slots, trail):
            return False
        term = term.args[1]
    return match(pattern[2], term, slots, trail)


_CONTROL: dict[str, Callable[..., Code]] = {
    "true/0": _Compiler.true,
    "fail/0": _Compiler.fail,
    "false/0": _Compiler.fail,
    "!/0": _Compiler.cut,
    ";/2": _Compiler.either,
    "->/2": _Compiler.then,
    "*->/2": _Compiler.soft,
    "\\+/1": _Compiler.negation,
    "not/1": _Compiler.negation,
    "call/1": _Compiler.opaque,
    "once/1": _Compiler.once,
    "ignore/1": _Compiler.ignore,
    "forall/2": _Compiler.every,
    "findall/3": _Compiler.findall,
}
