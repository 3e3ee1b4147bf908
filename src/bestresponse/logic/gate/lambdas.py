"""Lambda expressions as predicates: `maplist([X, Y]>>(Y is 2 * X), L, M)` calls an auxiliary predicate with that body.

The meaning is that of SWI-Prolog's library yall: each call takes a copy of the expression, so variables that are still
free at the call do not become bound by it, unless they are named before the parameters, `\\X^` aside:
`{Free}/[Parameters]>>Body` and `Free/[Parameters]>>Body`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from bestresponse.logic.language.terms import NIL, Atom, Struct, Term, Var, items_of, variables_of

__all__ = ["Lambda", "lifted"]


@dataclass(frozen=True, slots=True)
class Lambda:
    """The clause a lambda expression becomes, `head :- around(body)`, and the closure that stands in its place."""

    head: Struct
    closure: Term
    body: Term
    copied: tuple[Term, Term] | None
    parameters: tuple[tuple[Term, Term], ...]

    def around(self, body: Term) -> Term:
        """The body behind what has to happen before it."""
        for parameter, argument in reversed(self.parameters):
            body = Struct(",", (Struct("=", (parameter, argument)), body))
        return body if self.copied is None else Struct(",", (Struct("fresh copy", self.copied), body))


def lifted(term: Term, extra: int, number: int, taken: Set[str]) -> Lambda | None:
    """A lambda expression with exactly `extra` parameters as a clause; `None` for anything else."""
    if not (isinstance(term, Struct) and term.name == ">>" and len(term.args) == 2):
        return None
    free, parameters = _shared(term.args[0])
    items, end = items_of(parameters)
    if len(items) != extra or end != NIL:
        return None
    shared = variables_of(free)
    own = [variable for variable in variables_of(term) if not any(variable is other for other in shared)]
    fresh = {id(variable): Var(variable.name) for variable in own}
    arguments = tuple(Var() for _ in items)
    name = _name(number, len(shared) + len(own) + extra, taken)
    given: tuple[Term, ...] = (*shared, *own)
    return Lambda(
        Struct(name, (*given, *arguments)),
        Struct(name, given) if given else Atom(name),
        _renamed(term.args[1], fresh),
        (Struct("of", tuple(own)), Struct("of", tuple(fresh.values()))) if own else None,
        tuple(zip((_renamed(item, fresh) for item in items), arguments, strict=True)),
    )


def _shared(term: Term) -> tuple[Term, Term]:
    """What stands before the parameters, and the parameters."""
    if isinstance(term, Struct) and term.name == "/" and len(term.args) == 2:
        return term.args[0], term.args[1]
    return NIL, term


def _name(number: int, arity: int, taken: Set[str]) -> str:
    while f"lambda {number}/{arity}" in taken:
        number += 1
    return f"lambda {number}"


def _renamed(term: Term, fresh: Mapping[int, Var]) -> Term:
    """The term with other variables. Lists and conjunctions may be long, so it goes through them in a loop."""
    spine: list[Struct] = []
    while isinstance(term, Struct):
        spine.append(term)
        term = term.args[-1]
    result: Term = fresh.get(id(term), term) if isinstance(term, Var) else term
    for struct in reversed(spine):
        result = Struct(struct.name, (*(_renamed(argument, fresh) for argument in struct.args[:-1]), result))
    return result
