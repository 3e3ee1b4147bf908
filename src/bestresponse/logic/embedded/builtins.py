"""The primitives of the embedded engine: what its machine does itself. Each takes the machine and its arguments.

Everything else is written in the logic language (`language.library`), which checks arguments before it comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from bestresponse.logic.embedded.arithmetic import bound, evaluate
from bestresponse.logic.embedded.expressions import COMPARISONS
from bestresponse.logic.embedded.unify import LONG, Fault, compare, copy, count_words, is_ground, order_key, undo, unify
from bestresponse.logic.embedded.walking import WALKING, WALKING_MULTIPLE
from bestresponse.logic.language.terms import (
    NIL,
    Atom,
    Number,
    String,
    Struct,
    Term,
    Var,
    brief,
    deref,
    items_of,
    list_of,
    variables_of,
)

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["DETERMINATE", "GATHER", "MULTIPLE"]

Arguments = list[Term]
Determinate = Callable[["Machine", Arguments], bool]


def _require_integer(term: Term, what: str) -> int:
    term = deref(term)
    if isinstance(term, int):
        return term
    raise Fault(f"{what} of between/3 must be a whole number, not {brief(term)}")


def _is(machine: Machine, arguments: Arguments) -> bool:
    return _unify_number(machine, arguments[0], evaluate(arguments[1], machine.spend))


def _unify_number(machine: Machine, place: Term, value: Number) -> bool:
    if value.__class__ is not int or not -LONG < value < LONG:
        machine.charge(count_words(value))
    return unify(place, value, machine.trail)


def _comparison(test: Callable[[Number, Number], bool]) -> Determinate:
    def compare_values(machine: Machine, arguments: Arguments) -> bool:
        spend = machine.spend
        return test(evaluate(arguments[0], spend), evaluate(arguments[1], spend))

    return compare_values


def _kind(*kinds: type) -> Determinate:
    return lambda machine, arguments: isinstance(deref(arguments[0]), kinds)


def _not_unifiable(machine: Machine, arguments: Arguments) -> bool:
    mark = len(machine.trail)
    equal = unify(arguments[0], arguments[1], machine.trail)
    undo(machine.trail, mark)
    return not equal


def _atom(machine: Machine, arguments: Arguments) -> bool:
    term = deref(arguments[0])
    return isinstance(term, Atom) and term != NIL


def _is_list(machine: Machine, arguments: Arguments) -> bool:
    items, tail = items_of(arguments[0])
    machine.spend(len(items))
    return isinstance(tail, Atom) and tail == NIL


def _items(machine: Machine, term: Term) -> list[Term]:
    """Take the items of a proper list, which costs a step each."""
    items = items_of(term)[0]
    machine.spend(len(items))
    return items


def _raw_length(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[1], len(_items(machine, arguments[0])), machine.trail)


def _sum_onto(machine: Machine, arguments: Arguments) -> bool:
    """Add the values of a list to a number, as `sum onto` of the library says."""
    total = evaluate(arguments[1], machine.spend)
    for item in _items(machine, arguments[0]):
        total = bound(total + evaluate(item, machine.spend, 1), machine.spend)
    return _unify_number(machine, arguments[2], total)


def _give(machine: Machine, place: Term, items: list[Term]) -> bool:
    machine.charge(3 * len(items))
    return unify(place, list_of(items), machine.trail)


def _distinct(items: list[Term], key: Callable[[Term], Term]) -> list[Term]:
    return [item for i, item in enumerate(items) if not i or compare(key(items[i - 1]), key(item))]


def _whole(item: Term) -> Term:
    return item


def _argument(position: int) -> Callable[[Term], Term]:
    def argument(item: Term) -> Term:
        item = deref(item)
        if not isinstance(item, Struct) or len(item.args) < position:
            raise Fault(f"{brief(item)} has no argument {position} to sort by")
        return item.args[position - 1]

    return argument if position else _whole


def _raw_sort(machine: Machine, arguments: Arguments) -> bool:
    items = sorted(_items(machine, arguments[0]), key=order_key)
    return _give(machine, arguments[1], _distinct(items, _whole))


def _raw_msort(machine: Machine, arguments: Arguments) -> bool:
    return _give(machine, arguments[1], sorted(_items(machine, arguments[0]), key=order_key))


def _raw_keysort(machine: Machine, arguments: Arguments) -> bool:
    key = _argument(1)
    items = sorted(_items(machine, arguments[0]), key=lambda item: order_key(key(item)))
    return _give(machine, arguments[1], items)


def _raw_sort_by(machine: Machine, arguments: Arguments) -> bool:
    position, order = deref(arguments[0]), deref(arguments[1])
    assert isinstance(position, int)
    key = _argument(position)
    items = _items(machine, arguments[2])
    ranked = sorted(items, key=lambda item: order_key(key(item)), reverse=order in ("@>", "@>="))
    return _give(machine, arguments[3], _distinct(ranked, key) if order in ("@<", "@>") else ranked)


def _raw_compare(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[0], Atom("<=>"[compare(arguments[1], arguments[2]) + 1]), machine.trail)


def _copy(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[1], copy(arguments[0], machine.charge, shared=True), machine.trail)


def _filled_copy(machine: Machine, arguments: Arguments) -> bool:
    """Copy a term without sharing, so that its size is charged, with the second argument in place of every variable."""
    made, filler = copy(arguments[0], machine.charge), deref(arguments[1])
    for variable in variables_of(made):
        variable.ref = filler
    return unify(arguments[2], made, machine.trail)


def _first_argument(machine: Machine, arguments: Arguments) -> bool:
    term = deref(arguments[0])
    return isinstance(term, Struct) and unify(term.args[0], arguments[1], machine.trail)


def _form(machine: Machine, arguments: Arguments) -> bool:
    """Unify with a structure of the same name whose arguments are all unknown."""
    term = deref(arguments[0])
    return isinstance(term, Struct) and unify(
        arguments[1], Struct(term.name, tuple(Var() for _ in term.args)), machine.trail
    )


def _raise(machine: Machine, arguments: Arguments) -> bool:
    raise Fault(f"{deref(arguments[0])}, {brief(arguments[1])} came")


def _undefined(machine: Machine, arguments: Arguments) -> bool:
    what = arguments[0]
    raise Fault(f"unknown procedure {what.args[0]}/{what.args[1]}" if isinstance(what, Struct) else "unknown procedure")


def _random_between(machine: Machine, arguments: Arguments) -> bool:
    low, high = _require_integer(arguments[0], "the lower bound"), _require_integer(arguments[1], "the upper bound")
    return high >= low and unify(arguments[2], machine.source.randint(low, high), machine.trail)


def _between(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
    low, top, value = _require_integer(arguments[0], "the lower bound"), deref(arguments[1]), deref(arguments[2])
    unbounded = isinstance(top, Atom) and top in ("inf", "infinite")
    high = None if unbounded else _require_integer(top, "the upper bound")
    if not isinstance(value, Var):
        number = _require_integer(value, "the value")
        return low <= number and (high is None or number <= high)
    return _count(machine, value, low, high)


def _count(machine: Machine, value: Var, low: int, high: int | None) -> Iterator[bool]:
    while high is None or low <= high:
        value.ref = low
        machine.trail.append(value)
        yield True
        low += 1


def _findall(machine: Machine, found: list[Term], arguments: Arguments) -> bool:
    machine.charge(2 * len(found))
    place, listed = deref(arguments[0]), list_of(found)
    if place.__class__ is not Var:
        return unify(place, listed, machine.trail)
    place.ref = listed  # no occurs check: copies hold no variable that was there before
    machine.trail.append(place)
    return True


DETERMINATE: dict[str, Determinate] = {
    "=/2": lambda machine, arguments: unify(arguments[0], arguments[1], machine.trail),
    "\\=/2": _not_unifiable,
    "==/2": lambda machine, arguments: compare(arguments[0], arguments[1]) == 0,
    "\\==/2": lambda machine, arguments: compare(arguments[0], arguments[1]) != 0,
    "is/2": _is,
    **{key: _comparison(test) for key, test in COMPARISONS.items()},
    "var/1": _kind(Var),
    "nonvar/1": _kind(Atom, String, Struct, int, Fraction),
    "atom/1": _atom,
    "number/1": _kind(int, Fraction),
    "integer/1": _kind(int),
    "atomic/1": _kind(Atom, String, int, Fraction),
    "compound/1": _kind(Struct),
    "is_list/1": _is_list,
    "ground/1": lambda machine, arguments: is_ground(arguments[0]),
    "random_between/3": _random_between,
    "raw length/2": _raw_length,
    "sum onto/3": _sum_onto,
    "raw sort/2": _raw_sort,
    "raw msort/2": _raw_msort,
    "raw keysort/2": _raw_keysort,
    "raw sort/4": _raw_sort_by,
    "raw compare/3": _raw_compare,
    "fresh copy/2": _copy,
    "filled copy/3": _filled_copy,
    "first argument/2": _first_argument,
    "form of/2": _form,
    "raise/2": _raise,
    "undefined predicate/1": _undefined,
    **WALKING,
}
"""Predicates with at most one answer."""

MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {"between/3": _between, **WALKING_MULTIPLE}
"""Predicates with many answers: an iterator that binds before each `yield`, or a truth value."""

GATHER: dict[str, Callable[[Machine, list[Term], Arguments], Iterator[bool] | bool]] = {"findall": _findall}
"""What to do with the copies of all answers of a goal."""
