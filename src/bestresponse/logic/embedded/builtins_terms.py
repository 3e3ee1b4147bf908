"""Built-in predicates about terms and numbers, for the embedded engine. Each takes the machine and its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from bestresponse.logic.embedded.arithmetic import evaluate, nearest_float
from bestresponse.logic.embedded.unify import Fault, compare, copy, is_ground, undo, unify
from bestresponse.logic.language.terms import (
    NIL,
    Atom,
    String,
    Struct,
    Term,
    Var,
    brief,
    deref,
    is_cell,
    items_of,
    list_of,
    variables_of,
)

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["DETERMINATE", "MULTIPLE", "integer_of", "proper_list"]

Arguments = list[Term]


def proper_list(term: Term, machine: Machine) -> list[Term]:
    """The items of a list that ends."""
    items, tail = items_of(term)
    if isinstance(tail, Var):
        raise Fault("arguments are not sufficiently instantiated: a list was expected")
    if not (isinstance(tail, Atom) and tail == "[]"):
        raise Fault(f"a list was expected, {brief(term)} came")
    machine.charge(len(items))
    return items


def integer_of(term: Term, what: str) -> int:
    """A bound integer."""
    term = deref(term)
    if isinstance(term, int):
        return term
    if isinstance(term, Var):
        raise Fault(f"arguments are not sufficiently instantiated: {what} must be known")
    raise Fault(f"{what} must be an integer, not {brief(term)}")


def _is(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[0], evaluate(arguments[1], machine.source), machine.trail)


def _comparison(test: Callable[[object, object], bool]) -> Callable[[Machine, Arguments], bool]:
    def compare_values(machine: Machine, arguments: Arguments) -> bool:
        source = machine.source
        left, right = evaluate(arguments[0], source), evaluate(arguments[1], source)
        if math.inf in (abs(left), abs(right)):  # beside an infinity SWI-Prolog compares floats
            left, right = nearest_float(left), nearest_float(right)
        return test(left, right)

    return compare_values


def _order(test: Callable[[int], bool]) -> Callable[[Machine, Arguments], bool]:
    return lambda machine, arguments: test(compare(arguments[0], arguments[1]))


def _kind(*kinds: type) -> Callable[[Machine, Arguments], bool]:
    return lambda machine, arguments: isinstance(deref(arguments[0]), kinds)


def _not_unifiable(machine: Machine, arguments: Arguments) -> bool:
    mark = len(machine.trail)
    equal = unify(arguments[0], arguments[1], machine.trail)
    undo(machine.trail, mark)
    return not equal


def _subsumes(machine: Machine, arguments: Arguments) -> bool:
    copy(arguments[1], machine.charge)
    mark = len(machine.trail)
    before = variables_of(arguments[1])
    result = unify(arguments[0], arguments[1], machine.trail) and all(v.ref is None for v in before)
    undo(machine.trail, mark)
    return result


def _compare(machine: Machine, arguments: Arguments) -> bool:
    order = deref(arguments[0])
    if not isinstance(order, Var) and not (isinstance(order, Atom) and order in ("<", "=", ">")):
        raise Fault(f"compare/3 gives <, = or >, not {brief(order)}")
    sign = Atom("<=>"[compare(arguments[1], arguments[2]) + 1])
    return unify(arguments[0], sign, machine.trail)


def _functor(machine: Machine, arguments: Arguments) -> bool:
    term = deref(arguments[0])
    if isinstance(term, Struct):
        name, arity = Atom(term.name), len(term.args)
    elif not isinstance(term, Var):
        name, arity = term, 0  # type: ignore[assignment]
    else:
        return _make_functor(machine, arguments)
    return unify(arguments[1], name, machine.trail) and unify(arguments[2], arity, machine.trail)


def _make_functor(machine: Machine, arguments: Arguments) -> bool:
    name, arity = deref(arguments[1]), integer_of(arguments[2], "the arity of functor/3")
    if isinstance(name, Var) or arity < 0:
        raise Fault("functor/3 needs a term, or a name and an arity")
    if arity == 0:
        return unify(arguments[0], name, machine.trail)
    if not isinstance(name, Atom):
        raise Fault(f"{brief(name)} cannot be the name of a structure")
    machine.charge(arity + 1)
    return unify(arguments[0], Struct(str(name), tuple(Var() for _ in range(arity))), machine.trail)


def _univ(machine: Machine, arguments: Arguments) -> bool:
    term = deref(arguments[0])
    parts = deref(arguments[1])
    if not isinstance(term, Var) and not isinstance(parts, Var) and parts != NIL and not is_cell(parts):
        raise Fault(f"a list was expected, {brief(parts)} came")
    if isinstance(term, Struct):
        machine.charge(len(term.args) * 2)
        return unify(arguments[1], list_of((Atom(term.name), *term.args)), machine.trail)
    if not isinstance(term, Var):
        return unify(arguments[1], list_of((term,)), machine.trail)
    items = proper_list(arguments[1], machine)
    if not items:
        raise Fault("=.. needs a list with a name")
    name = deref(items[0])
    if len(items) == 1:
        return unify(term, name, machine.trail)
    if not isinstance(name, Atom):
        raise Fault("=.. needs a list that starts with a name")
    return unify(term, Struct(str(name), tuple(items[1:])), machine.trail)


def _copy(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[1], copy(arguments[0], machine.charge), machine.trail)


def _term_variables(machine: Machine, arguments: Arguments) -> bool:
    copy(arguments[0], machine.charge)
    return unify(arguments[1], list_of(variables_of(arguments[0])), machine.trail)


def _atom(machine: Machine, arguments: Arguments) -> bool:
    term = deref(arguments[0])
    return isinstance(term, Atom) and term != NIL


def _callable(machine: Machine, arguments: Arguments) -> bool:
    return isinstance(deref(arguments[0]), Struct) or _atom(machine, arguments)


def _is_list(machine: Machine, arguments: Arguments) -> bool:
    tail = items_of(arguments[0])[1]
    return isinstance(tail, Atom) and tail == "[]"


def _succ(machine: Machine, arguments: Arguments) -> bool:
    if not isinstance(deref(arguments[1]), Var):
        after = integer_of(arguments[1], "one argument of succ/2")
        if after < 0:
            raise Fault("succ/2 takes no negative numbers")
        if isinstance(deref(arguments[0]), Var):
            return after > 0 and unify(arguments[0], after - 1, machine.trail)
    before = integer_of(arguments[0], "one argument of succ/2")
    if before < 0:
        raise Fault("succ/2 takes no negative numbers")
    return unify(arguments[1], before + 1, machine.trail)


def _plus(machine: Machine, arguments: Arguments) -> bool:
    known = [None if isinstance(deref(a), Var) else integer_of(a, "an argument of plus/3") for a in arguments]
    match known:
        case int(first), int(second), _:
            return unify(arguments[2], first + second, machine.trail)
        case int(first), None, int(total):
            return unify(arguments[1], total - first, machine.trail)
        case None, int(second), int(total):
            return unify(arguments[0], total - second, machine.trail)
    raise Fault("arguments are not sufficiently instantiated: plus/3 needs two numbers")


def _must_be_list(machine: Machine, arguments: Arguments) -> bool:
    proper_list(arguments[0], machine)
    return True


def _list_end(machine: Machine, arguments: Arguments) -> bool:
    items, tail = items_of(arguments[0])
    machine.charge(len(items))
    return unify(arguments[1], len(items), machine.trail) and unify(arguments[2], tail, machine.trail)


def _must_be_index(machine: Machine, arguments: Arguments) -> bool:
    least = deref(arguments[1])
    if isinstance(least, int) and integer_of(arguments[0], "the index") < least:
        raise Fault(f"an index of at least {least} was expected, {brief(arguments[0])} came")
    return True


def _not_yet_known(machine: Machine, arguments: Arguments) -> bool:
    raise Fault("arguments are not sufficiently instantiated: whether dif/2 holds is not known yet; call it later")


def _variant(machine: Machine, arguments: Arguments) -> bool:
    """Whether two terms are the same but for the names of their variables."""
    pairs, there, back = [(arguments[0], arguments[1])], dict[int, int](), dict[int, int]()
    while pairs:
        a, b = (deref(term) for term in pairs.pop())
        machine.charge(1)
        if isinstance(a, Var) and isinstance(b, Var):
            if there.setdefault(id(a), id(b)) != id(b) or back.setdefault(id(b), id(a)) != id(a):
                return False
        elif isinstance(a, Struct) and isinstance(b, Struct):
            if a.name != b.name or len(a.args) != len(b.args):
                return False
            pairs.extend(zip(a.args, b.args, strict=True))
        elif compare(a, b):
            return False
    return True


def _no_rule(machine: Machine, arguments: Arguments) -> bool:
    raise Fault(f"a list was expected, {brief(arguments[0])} came")


def _undefined(machine: Machine, arguments: Arguments) -> bool:
    what = arguments[0]
    raise Fault(f"unknown procedure {what.args[0]}/{what.args[1]}" if isinstance(what, Struct) else "unknown procedure")


def _random(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[0], machine.source.random(), machine.trail)


def _random_between(machine: Machine, arguments: Arguments) -> bool:
    low, high = integer_of(arguments[0], "the lower bound"), integer_of(arguments[1], "the upper bound")
    return high >= low and unify(arguments[2], machine.source.randint(low, high), machine.trail)


def _random_range(machine: Machine, arguments: Arguments) -> bool:
    low, high = evaluate(arguments[0], machine.source), evaluate(arguments[1], machine.source)
    if isinstance(low, int) and isinstance(high, int):
        return high > low and unify(arguments[2], machine.source.randrange(low, high), machine.trail)
    return unify(arguments[2], float(low) + float(high - low) * machine.source.random(), machine.trail)


def _random_member(machine: Machine, arguments: Arguments) -> bool:
    items = proper_list(arguments[1], machine)
    return bool(items) and unify(arguments[0], machine.source.choice(items), machine.trail)


def _between(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
    low, top, value = integer_of(arguments[0], "the lower bound"), deref(arguments[1]), deref(arguments[2])
    unbounded = isinstance(top, Atom) and top in ("inf", "infinite")
    high = None if unbounded else integer_of(top, "the upper bound")
    if not isinstance(value, Var):
        number = integer_of(value, "the value")
        return low <= number and (high is None or number <= high)
    return _count(machine, value, low, high)


def _count(machine: Machine, value: Var, low: int, high: int | None) -> Iterator[bool]:
    while high is None or low <= high:
        value.ref = low
        machine.trail.append(value)
        yield True
        low += 1


def _arg(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
    position, term = deref(arguments[0]), deref(arguments[1])
    if not isinstance(term, Struct):
        raise Fault(f"arg/3 needs a structure, {brief(term)} came")
    if isinstance(position, Var):
        return _each_argument(machine, position, term, arguments[2])
    number = integer_of(position, "the position")
    if number < 0:
        raise Fault("the position of an argument cannot be negative")
    return 1 <= number <= len(term.args) and unify(term.args[number - 1], arguments[2], machine.trail)


def _each_argument(machine: Machine, position: Var, term: Struct, wanted: Term) -> Iterator[bool]:
    mark = len(machine.trail)
    for number, argument in enumerate(term.args, 1):
        if unify(argument, wanted, machine.trail):
            if not unify(position, number, machine.trail):
                return
            yield True
        undo(machine.trail, mark)


DETERMINATE: dict[str, Callable[[Machine, Arguments], bool]] = {
    "=/2": lambda machine, arguments: unify(arguments[0], arguments[1], machine.trail),
    "\\=/2": _not_unifiable,
    "subsumes_term/2": _subsumes,
    "==/2": _order(lambda sign: sign == 0),
    "\\==/2": _order(lambda sign: sign != 0),
    "@</2": _order(lambda sign: sign < 0),
    "@>/2": _order(lambda sign: sign > 0),
    "@=</2": _order(lambda sign: sign <= 0),
    "@>=/2": _order(lambda sign: sign >= 0),
    "compare/3": _compare,
    "is/2": _is,
    "=:=/2": _comparison(lambda a, b: a == b),
    "=\\=/2": _comparison(lambda a, b: a != b),
    "</2": _comparison(lambda a, b: a < b),  # type: ignore[operator]
    ">/2": _comparison(lambda a, b: a > b),  # type: ignore[operator]
    "=</2": _comparison(lambda a, b: a <= b),  # type: ignore[operator]
    ">=/2": _comparison(lambda a, b: a >= b),  # type: ignore[operator]
    "var/1": _kind(Var),
    "nonvar/1": _kind(Atom, String, Struct, int, float, Fraction),
    "atom/1": _atom,
    "string/1": _kind(String),
    "number/1": _kind(int, float, Fraction),
    "integer/1": _kind(int),
    "float/1": _kind(float),
    "rational/1": _kind(int, Fraction),
    "atomic/1": _kind(Atom, String, int, float, Fraction),
    "compound/1": _kind(Struct),
    "callable/1": _callable,
    "is_list/1": _is_list,
    "ground/1": lambda machine, arguments: is_ground(arguments[0]),
    "functor/3": _functor,
    "=../2": _univ,
    "copy_term/2": _copy,
    "term_variables/2": _term_variables,
    "succ/2": _succ,
    "plus/3": _plus,
    "must be list/1": _must_be_list,
    "list end/3": _list_end,
    "must be index/2": _must_be_index,
    "not yet known/2": _not_yet_known,
    "no rule/1": _no_rule,
    "=@=/2": _variant,
    "\\=@=/2": lambda machine, arguments: not _variant(machine, arguments),
    "undefined predicate/1": _undefined,
    "random/1": _random,
    "random/3": _random_range,
    "random_between/3": _random_between,
    "random_member/2": _random_member,
}
"""Predicates with at most one answer."""

MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {"between/3": _between, "arg/3": _arg}
"""Predicates with many answers: an iterator that binds before each `yield`, or a truth value."""
