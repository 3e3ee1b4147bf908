"""Which goals may stand in the body of a clause: the part of the gate that walks through it."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field

from bestresponse.logic.gate.lambdas import Lambda, lifted
from bestresponse.logic.language.library import RENAMED
from bestresponse.logic.language.predicates import (
    CALLABLE,
    DROPPED,
    FORBIDDEN,
    FORBIDDEN_EXACT,
    FUNCTIONS,
    GAME,
    GOAL_ARGUMENTS,
    OUTPUT,
    QUESTIONS,
    RANDOM,
)
from bestresponse.logic.language.terms import CONS, Atom, Struct, Term, Var, brief

__all__ = ["MAX_DEPTH", "Refusal", "Surroundings", "checked_body", "depth", "indicator"]

MAX_DEPTH = 100
MAX_GOALS = 3_000

_COMMON = CALLABLE | GAME
_TRUE = Atom("true")
_SILENT = Atom("say nothing")
_ARITHMETIC = frozenset({"is/2", "=:=/2", "=\\=/2", "</2", ">/2", "=</2", ">=/2"})
_ARITHMETIC_HINT = "numbers are exact: use + - * / // mod div ** min max abs sign gcd floor ceiling round truncate"
_CONSTANTS = frozenset(
    {"pi", "e", "inf", "infinite", "nan", "epsilon", "random", "random_float", "cputime", "realtime"}
)
_SUMMARIES = {
    "count": "list length", "sum": "sum of", "max": "max of", "min": "min of", "set": "sorted set", "bag": "",
}  # fmt: skip
_UNSUPPORTED = {
    ":/2": "a call into another module",
    "^/2": "^",
    ">>/2": "this lambda expression",
    "initialise/2": "initialise/2 inside a program",
}


class Refusal(Exception):
    """A goal must not run; its text says why."""

    def __init__(self, message: str, hint: str = "", code: str = "goal") -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


def indicator(term: Term, extra: int = 0) -> str:
    """`name/arity` of a goal, its arity raised by the arguments a caller will add; empty if it is no goal."""
    if isinstance(term, Struct):
        return f"{term.name}/{len(term.args) + extra}"
    return f"{term}/{extra}" if isinstance(term, Atom) else ""


@dataclass(slots=True)
class Surroundings:
    """What the program of a body defines itself (`own`), whom to tell of calls of something undefined; and `clauses`,
    to which lambda expressions are added, unless there can be no more (`closed`)."""

    own: Set[str]
    undefined: Callable[[str], None]
    random: Callable[[str], None] = lambda key: None
    closed: bool = False
    clauses: list[tuple[Struct, Term]] = field(default_factory=list)
    lambdas: int = 0

    def lift(self, term: Term, extra: int) -> Lambda | None:
        """The clause that a lambda expression becomes, if the term is one that can become one."""
        found = None if self.closed else lifted(term, extra, self.lambdas, self.own)
        if found is not None:
            self.lambdas = int(found.head.name.split()[1]) + 1
        return found


def checked_body(body: Term, around: Surroundings) -> Term:
    """The body as it may run, or `Refusal`."""
    return _Body(around).goal(body)


class _Body:
    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.own = around.own
        self.count = 0

    def goal(self, term: Term) -> Term:
        """A goal, checked and rewritten."""
        if isinstance(term, Struct) and term.name in (",", ";") and len(term.args) == 2:
            return self.chain(term, term.name)
        self.count += 1
        if self.count > MAX_GOALS:
            raise Refusal(f"a clause of more than {MAX_GOALS:,} goals", "split it into several predicates")
        key = self.named(term)
        if key in self.own:
            return term
        if key in OUTPUT:
            return _said(term)
        if key in GOAL_ARGUMENTS and isinstance(term, Struct):
            return self.meta(term, key)
        self.permitted(key)
        if key in _COMMON:
            if key in RANDOM:
                self.around.random(key)
            return _computed(term) if isinstance(term, Struct) and key in _ARITHMETIC else _renamed(term, key)
        self.around.undefined(key)
        name, _, arity = key.rpartition("/")
        return Struct("undefined predicate", (Struct("/", (Atom(name), int(arity))),))

    def chain(self, term: Term, name: str) -> Term:
        """Goals joined by commas or semicolons, however many."""
        goals: list[Term] = []
        while isinstance(term, Struct) and term.name == name and len(term.args) == 2:
            goals.append(self.goal(term.args[0]))
            term = term.args[1]
        result = self.goal(term)
        for goal in reversed(goals):
            result = Struct(name, (goal, result))
        return result

    def named(self, term: Term) -> str:
        """The indicator of a goal that is written out."""
        if isinstance(term, Var):
            message = f"the variable {term.name} stands where a goal is expected"
            raise Refusal(message, "name the predicate to be called")
        key = indicator(term)
        if not key:
            raise Refusal(f"{brief(term, 40)} is not a goal")
        if key in _UNSUPPORTED:
            raise Refusal(f"{_UNSUPPORTED[key]} cannot be used", "call a predicate of this program by its name")
        return key

    def permitted(self, key: str) -> None:
        name = key.rpartition("/")[0]
        if key in QUESTIONS:
            raise Refusal(f"{key} belongs to the solver; a game cannot call it", code="reserved")
        if name in FORBIDDEN or key in FORBIDDEN_EXACT:
            raise Refusal(f"{key} is not allowed in game programs", code="forbidden")
        if name in DROPPED and key not in _COMMON:
            raise Refusal(f"{key} is not part of the language of games", DROPPED[name], "forbidden")

    def meta(self, term: Struct, key: str) -> Term:
        """A predicate that calls goals: each of them is checked in its place."""
        if key == "aggregate_all/3":
            return self.collected(*term.args)
        arguments = list(term.args)
        for position, extra in GOAL_ARGUMENTS[key].items():
            argument = arguments[position]
            if extra:
                arguments[position] = self.closure(argument, extra)
            else:
                arguments[position] = self.goal(argument)
        return Struct(term.name, tuple(arguments))

    def collected(self, spec: Term, goal: Term, result: Term) -> Term:
        """Write `aggregate_all(Spec, Goal, Result)` as `findall/3` and what is made of the list it gives."""
        match spec:
            case Atom("count"):
                template: Term = Atom("x")
                summary = "list length"
            case Struct(name=name, args=(template,)) if name in _SUMMARIES:
                summary = _SUMMARIES[name]
            case Struct(name="max" | "min" as name, args=(value, witness)):
                template = Struct("-", (value, witness))
                summary = "largest pair" if name == "max" else "smallest pair"
            case _:
                hint = "use count, sum(X), max(X), min(X), max(X, Witness), bag(X) or set(X)"
                raise Refusal(f"aggregate_all cannot make {brief(spec, 40)}", hint)
        found = Var() if summary else result
        collecting = Struct("findall", (template, self.goal(goal), found))
        return Struct(",", (collecting, Struct(summary, (found, result)))) if summary else collecting

    def closure(self, term: Term, extra: int) -> Term:
        """A goal to which arguments are added later: a named predicate that calls no goals itself, or a lambda
        expression, which becomes one."""
        if (found := self.around.lift(term, extra)) is not None:
            body = found.around(self.goal(found.body))
            self.around.clauses.append((found.head, body))
            return found.closure
        self.named(term)
        key = indicator(term, extra)
        self.permitted(key)
        if key in self.own:
            return term
        if key in OUTPUT:
            return _SILENT
        if key in GOAL_ARGUMENTS:
            raise Refusal(f"{key} cannot be handed to another predicate", "write a small predicate of your own for it")
        if key not in _COMMON:
            raise Refusal(f"{key} is handed to another predicate but not defined", "define it")
        if key in RANDOM:
            self.around.random(key)
        return _renamed(term, key)


def _renamed(term: Term, key: str) -> Term:
    """Call the library's own predicate where a built-in one stands."""
    name = RENAMED.get(key)
    if name is None:
        return term
    return Struct(name, term.args) if isinstance(term, Struct) else Atom(name)


def _computed(term: Struct) -> Term:
    """Return a comparison or assignment of numbers that uses the functions of the language only."""
    stack = list(term.args[1:] if term.name == "is" else term.args)
    while stack:
        part = stack.pop()
        if isinstance(part, Struct):
            key = f"{part.name}/{len(part.args)}"
            if key not in FUNCTIONS:
                raise Refusal(f"{key} is not part of the arithmetic of games", _ARITHMETIC_HINT, "forbidden")
            stack.extend(part.args)
        elif isinstance(part, Atom) and part in _CONSTANTS:
            raise Refusal(f"{part} is not part of the arithmetic of games", _ARITHMETIC_HINT, "forbidden")
    return term


def _said(term: Term) -> Term:
    """What a call that shows something becomes: nothing. `format(atom(Text), ...)` shows nothing but makes a text."""
    if isinstance(term, Struct) and term.name == "format" and len(term.args) == 3 and isinstance(term.args[0], Struct):
        raise Refusal("format/3 cannot make a text here", DROPPED["atom_concat"])
    return _TRUE


def depth(term: Term) -> int:
    """How deeply a term is nested; the right side of a conjunction or disjunction and the rest of a list nest no
    deeper."""
    deepest, stack = 1, [(term, 1)]
    while stack:
        term, level = stack.pop()
        deepest = max(deepest, level)
        if term.__class__ is Struct:
            flat = len(term.args) == 2 and term.name in (",", ";", CONS)
            stack += [(argument, level + 1) for argument in (term.args[:1] if flat else term.args)]
            if flat:
                stack.append((term.args[1], level))
    return deepest
