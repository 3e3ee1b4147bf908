"""Which goals may stand in the body of a clause: the part of the gate that walks through it."""

from __future__ import annotations

from collections.abc import Callable, Set

from bestresponse.logic.predicates import FORBIDDEN, FORBIDDEN_EXACT, GOAL_ARGUMENTS, OUTPUT
from bestresponse.logic.terms import Atom, Struct, Term, Var, write

__all__ = ["Refusal", "checked_body", "indicator"]

_TRUE = Atom("true")
_UNSUPPORTED = {
    ":/2": "a call into another module",
    "^/2": "^ outside bagof and setof",
    ">>/2": "a lambda expression",
    "*->/2": "*->",
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


def checked_body(body: Term, known: Set[str], own: Set[str], undefined: Callable[[str], None]) -> Term:
    """The body as it may run, or `Refusal`. `known` may be called, `own` is defined by the program itself."""
    return _Body(known, own, undefined).goal(body)


class _Body:
    def __init__(self, known: Set[str], own: Set[str], undefined: Callable[[str], None]) -> None:
        self.known = known
        self.own = own
        self.undefined = undefined

    def goal(self, term: Term) -> Term:
        """A goal, checked and rewritten."""
        if isinstance(term, Struct) and term.name == "," and len(term.args) == 2:
            return self.conjunction(term)
        key = self.named(term)
        if key in self.own:
            return term
        if key in OUTPUT:
            return _TRUE
        if key in GOAL_ARGUMENTS and isinstance(term, Struct):
            return self.meta(term, key)
        self.permitted(key)
        if key in self.known:
            return term
        self.undefined(key)
        name, arity = key.rsplit("/", 1)
        return Struct("undefined predicate", (Struct("/", (Atom(name), int(arity))),))

    def conjunction(self, term: Term) -> Term:
        goals: list[Term] = []
        while isinstance(term, Struct) and term.name == "," and len(term.args) == 2:
            goals.append(self.goal(term.args[0]))
            term = term.args[1]
        result = self.goal(term)
        for goal in reversed(goals):
            result = Struct(",", (goal, result))
        return result

    def named(self, term: Term) -> str:
        """The indicator of a goal that is written out."""
        if isinstance(term, Var):
            message = f"the variable {term.name} stands where a goal is expected"
            raise Refusal(message, "name the predicate to be called")
        key = indicator(term)
        if not key:
            raise Refusal(f"{write(term)[:40]} is not a goal")
        if key in _UNSUPPORTED:
            raise Refusal(f"{_UNSUPPORTED[key]} cannot be used", "call a predicate of this program by its name")
        return key

    def permitted(self, key: str) -> None:
        if key.rsplit("/", 1)[0] in FORBIDDEN or key in FORBIDDEN_EXACT:
            raise Refusal(f"{key} is not allowed in game programs", code="forbidden")

    def meta(self, term: Struct, key: str) -> Term:
        """A predicate that calls goals: each of them is checked in its place."""
        arguments = list(term.args)
        for position, extra in GOAL_ARGUMENTS[key].items():
            argument = arguments[position]
            if extra:
                self.closure(argument, extra)
            elif key in ("bagof/3", "setof/3"):
                arguments[position] = self.quantified(argument)
            else:
                arguments[position] = self.goal(argument)
        return Struct(term.name, tuple(arguments))

    def quantified(self, term: Term) -> Term:
        bound: list[Term] = []
        while isinstance(term, Struct) and term.name == "^" and len(term.args) == 2:
            bound.append(term.args[0])
            term = term.args[1]
        result = self.goal(term)
        for variable in reversed(bound):
            result = Struct("^", (variable, result))
        return result

    def closure(self, term: Term, extra: int) -> None:
        """A goal to which arguments are added later: a named predicate that calls no goals itself."""
        self.named(term)
        key = indicator(term, extra)
        self.permitted(key)
        if key in self.own:
            return
        if key in GOAL_ARGUMENTS or key in OUTPUT:
            raise Refusal(f"{key} cannot be handed to another predicate", "write a small predicate of your own for it")
        if key not in self.known:
            raise Refusal(f"{key} is handed to another predicate but not defined", "define it")
