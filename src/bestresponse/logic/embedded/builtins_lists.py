"""Built-in predicates about lists, and the ways to sum up all answers of a goal, for the embedded engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, Any

from bestresponse.logic.embedded.arithmetic import evaluate, larger, smaller
from bestresponse.logic.embedded.builtins_terms import integer_of, proper_list
from bestresponse.logic.embedded.unify import Fault, compare, order_key, settle_ages, undo, unify
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, brief, deref, is_cell, items_of, list_of

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["DETERMINATE", "GATHER", "MULTIPLE"]

Arguments = list[Term]
_LONGEST = 1 << 62


def _give(machine: Machine, place: Term, items: list[Term]) -> bool:
    machine.charge(3 * len(items))
    return unify(place, list_of(items), machine.trail)


def _sorted(machine: Machine, items: list[Term]) -> list[Term]:
    machine.charge(len(items))
    settle_ages(items)
    return sorted(items, key=order_key)


def _distinct(items: list[Term]) -> list[Term]:
    return [item for index, item in enumerate(items) if not index or compare(items[index - 1], item)]


def _length(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
    items, tail = items_of(arguments[0])
    machine.charge(len(items))
    wanted = deref(arguments[1])
    if not isinstance(wanted, Var) and integer_of(wanted, "the length of a list") < 0:
        raise Fault("the length of a list cannot be negative")
    if isinstance(tail, Atom) and tail == "[]":
        return unify(wanted, len(items), machine.trail)
    if not isinstance(tail, Var):
        raise Fault(f"a list was expected, {brief(arguments[0])} came")
    if isinstance(wanted, Var):
        return _longer(machine, tail, len(items), wanted)
    missing = integer_of(wanted, "the length of a list") - len(items)
    return missing >= 0 and _fill(machine, tail, missing)


def _fill(machine: Machine, tail: Var, count: int) -> bool:
    machine.charge(4 * count)
    return unify(tail, list_of([Var() for _ in range(count)]), machine.trail)


def _longer(machine: Machine, tail: Var, known: int, wanted: Term) -> Iterator[bool]:
    mark, extra = len(machine.trail), 0
    while True:
        if _fill(machine, tail, extra) and unify(wanted, known + extra, machine.trail):
            yield True
        undo(machine.trail, mark)
        extra += 1


def _sort(machine: Machine, arguments: Arguments) -> bool:
    return _give(machine, arguments[1], _distinct(_sorted(machine, proper_list(arguments[0], machine))))


def _msort(machine: Machine, arguments: Arguments) -> bool:
    return _give(machine, arguments[1], _sorted(machine, proper_list(arguments[0], machine)))


def _keyed(item: Term, path: tuple[int, ...]) -> Term:
    """The argument of an argument ... of an item that it is sorted by."""
    for position in path:
        item = deref(item)
        if not isinstance(item, Struct) or len(item.args) < position:
            raise Fault(f"{brief(item)} has no argument {position} to sort by")
        item = item.args[position - 1]
    return item


def _keysort(machine: Machine, arguments: Arguments) -> bool:
    items = proper_list(arguments[0], machine)
    for item in map(deref, items):
        if not (isinstance(item, Struct) and item.name == "-" and len(item.args) == 2):
            raise Fault(f"a pair was expected, {brief(item)} came")
    settle_ages(items)
    return _give(machine, arguments[1], sorted(items, key=lambda item: order_key(_keyed(item, (1,)))))


def _sort_by(machine: Machine, arguments: Arguments) -> bool:
    path, order = _path(arguments[0]), deref(arguments[1])
    if path is None:
        return False
    if not isinstance(order, Atom) or order not in ("@<", "@=<", "@>", "@>="):
        raise Fault("sort/4 takes a position and one of @<, @=<, @>, @>=")
    items = proper_list(arguments[2], machine)
    settle_ages(items)
    ranked = sorted(items, key=lambda item: order_key(_keyed(item, path)), reverse=order in ("@>", "@>="))
    if order in ("@<", "@>"):
        keys = [_keyed(item, path) for item in ranked]
        ranked = [item for i, item in enumerate(ranked) if not i or compare(keys[i - 1], keys[i])]
    return _give(machine, arguments[3], ranked)


def _path(key: Term) -> tuple[int, ...] | None:
    """Where the key of sort/4 is found: a position, 0 for the whole item, or a list of positions."""
    if not is_cell(deref(key)):
        position = integer_of(key, "the sort key")
        if position < 0:
            raise Fault("the sort key cannot be negative")
        return (position,) if position else ()
    items = [deref(item) for item in items_of(key)[0]]
    if any(isinstance(item, Atom) or (isinstance(item, int) and item < 1) for item in items):
        raise Fault("the sort key is a list of positions")
    positions = tuple(item for item in items if isinstance(item, int))
    return positions if len(positions) == len(items) else None


def _sum(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[1], _total(machine, proper_list(arguments[0], machine)), machine.trail)


def _total(machine: Machine, items: list[Term]) -> Term:
    total: Any = 0
    for item in items:
        total = evaluate(Struct("+", (total, item)), machine.source)
    result: Term = total
    return result


def _extreme(sign: int) -> Callable[[Machine, Arguments], bool]:
    def extreme(machine: Machine, arguments: Arguments) -> bool:
        values = [evaluate(item, machine.source) for item in proper_list(arguments[0], machine)]
        return bool(values) and unify(arguments[1], reduce(larger if sign > 0 else smaller, values), machine.trail)

    return extreme


def _extreme_member(sign: int) -> Callable[[Machine, Arguments], bool]:
    def extreme(machine: Machine, arguments: Arguments) -> bool:
        items = proper_list(arguments[1], machine)
        if not items:
            return False
        settle_ages(items)
        best = items[0]
        for item in items[1:]:
            if compare(item, best) * sign > 0:
                best = item
        return unify(arguments[0], best, machine.trail)

    return extreme


def _numlist(machine: Machine, arguments: Arguments) -> bool:
    low, high = integer_of(arguments[0], "the lower bound"), integer_of(arguments[1], "the upper bound")
    machine.charge(max(0, high - low + 1) * 3)
    return high >= low and unify(arguments[2], list_of(list(range(low, high + 1))), machine.trail)


def _to_set(machine: Machine, arguments: Arguments) -> bool:
    items = proper_list(arguments[0], machine)
    ranked = sorted(range(len(items)), key=lambda index: (order_key(items[index]), index))
    first = {i for n, i in enumerate(ranked) if not n or compare(items[ranked[n - 1]], items[i])}
    return _give(machine, arguments[1], [item for index, item in enumerate(items) if index in first])


def _memberchk(machine: Machine, arguments: Arguments) -> bool:
    items, tail = items_of(arguments[1])
    machine.charge(len(items))
    mark = len(machine.trail)
    for item in items:
        if unify(arguments[0], item, machine.trail):
            return True
        undo(machine.trail, mark)
    if isinstance(tail, Var):
        return unify(tail, Struct("[|]", (arguments[0], Var())), machine.trail)
    if not (isinstance(tail, Atom) and tail == "[]"):
        raise Fault(f"a list was expected, {brief(arguments[1])} came")
    return False


def _nth(base: int) -> Callable[[Machine, Arguments], Iterator[bool] | bool]:
    def nth(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
        items, tail = items_of(arguments[1])
        machine.charge(len(items))
        if isinstance(deref(arguments[0]), Var):
            return _each(machine, arguments, base)
        index = integer_of(arguments[0], "the index") - base
        if index >= _LONGEST:
            raise Fault(f"no list has a place {brief(arguments[0])}")
        if isinstance(tail, Var) and index >= len(items):
            missing = index - len(items)
            machine.charge(4 * missing)
            return unify(tail, list_of([*(Var() for _ in range(missing)), arguments[2]], Var()), machine.trail)
        return 0 <= index < len(items) and unify(items[index], arguments[2], machine.trail)

    return nth


def _each(machine: Machine, arguments: Arguments, base: int) -> Iterator[bool]:
    """Every place of a list, and of all longer ones where its end is open."""
    items, tail = items_of(arguments[1])
    mark = len(machine.trail)
    for index, item in enumerate(items, base):
        if unify(arguments[2], item, machine.trail) and unify(arguments[0], index, machine.trail):
            yield True
        undo(machine.trail, mark)
    for missing in count() if isinstance(tail, Var) else ():
        machine.charge(4 * (missing + 1))
        longer = list_of([*(Var() for _ in range(missing)), arguments[2]], Var())
        if unify(tail, longer, machine.trail) and unify(arguments[0], base + len(items) + missing, machine.trail):
            yield True
        undo(machine.trail, mark)


def _findall(machine: Machine, found: list[Term], arguments: Arguments) -> bool:
    tail = arguments[1] if len(arguments) == 2 else Atom("[]")
    machine.charge(2 * len(found))
    return unify(arguments[0], list_of(found, tail), machine.trail)


def _aggregate(machine: Machine, found: list[Term], arguments: Arguments) -> bool:
    spec = deref(arguments[0])
    if isinstance(spec, Struct) and spec.name in ("max", "min") and len(spec.args) == 1 and not found:
        return unify(arguments[1], spec.args[0], machine.trail) and not isinstance(deref(arguments[1]), Var)
    result = _summary(machine, found, spec)
    return result is not None and unify(arguments[1], result, machine.trail)


def _summary(machine: Machine, found: list[Term], spec: Term) -> Term | None:
    """All answers as one term; `None` where there is no largest or smallest."""
    match spec.name if isinstance(spec, Struct) else str(spec):
        case "count":
            return len(found)
        case "sum":
            return _total(machine, found)
        case "bag" | "set" as kind:
            machine.charge(3 * len(found))
            return list_of(found if kind == "bag" else _distinct(_sorted(machine, found)))
        case "max" | "min" if isinstance(spec, Struct):
            return _best(machine, found, spec) if found else None
    if not isinstance(spec, Struct):
        raise Fault(f"aggregate_all/3 does not know {brief(spec)}")
    columns = [_column(found, position) for position in range(len(spec.args))]
    parts = [_summary(machine, column, deref(part)) for column, part in zip(columns, spec.args, strict=True)]
    return None if None in parts else Struct(spec.name, tuple(part for part in parts if part is not None))


def _column(found: list[Term], position: int) -> list[Term]:
    return [item.args[position] for item in map(deref, found) if isinstance(item, Struct)]


def _best(machine: Machine, found: list[Term], spec: Struct) -> Term:
    """The largest or smallest value; with a witness, the first pair that has it."""
    if len(spec.args) == 1:
        return reduce(larger if spec.name == "max" else smaller, [evaluate(item, machine.source) for item in found])
    pairs = [pair.args for pair in map(deref, found) if isinstance(pair, Struct)]
    if not isinstance(deref(pairs[0][0]), int | float | Fraction):
        raise Fault(f"a number was expected, {brief(pairs[0][0])} came")
    return Struct(spec.name, reduce(_better(machine, spec.name), pairs))


def _better(machine: Machine, name: str) -> Callable[[tuple[Term, ...], tuple[Term, ...]], tuple[Term, ...]]:
    def better(best: tuple[Term, ...], other: tuple[Term, ...]) -> tuple[Term, ...]:
        old, new = evaluate(best[0], machine.source), evaluate(other[0], machine.source)
        return other if (new > old if name == "max" else new < old) else best

    return better


def _bagof(distinct: bool) -> Callable[[Machine, list[Term], Arguments], Iterator[bool] | bool]:
    return lambda machine, found, arguments: bool(found) and _groups(machine, found, arguments, distinct)


def _groups(machine: Machine, found: list[Term], arguments: Arguments, distinct: bool) -> Iterator[bool]:
    """One answer per witness, in standard order; each solution is a pair of its witness and its value."""
    pairs = [pair for pair in map(deref, found) if isinstance(pair, Struct)]
    ranked = sorted(pairs, key=lambda pair: order_key(pair.args[0]))
    place, witness = arguments
    mark, start = len(machine.trail), 0
    while start < len(ranked):
        stop = start + 1
        while stop < len(ranked) and unify(ranked[start].args[0], ranked[stop].args[0], machine.trail):
            stop += 1
        values = [pair.args[1] for pair in ranked[start:stop]]
        values = _distinct(_sorted(machine, values)) if distinct else values
        if unify(witness, ranked[start].args[0], machine.trail) and _give(machine, place, values):
            yield True
        undo(machine.trail, mark)
        start = stop


DETERMINATE: dict[str, Callable[[Machine, Arguments], bool]] = {
    "sort/2": _sort,
    "list_to_ord_set/2": _sort,
    "msort/2": _msort,
    "sort/4": _sort_by,
    "keysort/2": _keysort,
    "sum_list/2": _sum,
    "sumlist/2": _sum,
    "max_list/2": _extreme(1),
    "min_list/2": _extreme(-1),
    "max_member/2": _extreme_member(1),
    "min_member/2": _extreme_member(-1),
    "numlist/3": _numlist,
    "list_to_set/2": _to_set,
    "memberchk/2": _memberchk,
}
"""Predicates with at most one answer."""

MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {
    "length/2": _length,
    "nth0/3": _nth(0),
    "nth1/3": _nth(1),
}
"""Predicates with many answers: an iterator that binds before each `yield`, or a truth value."""

GATHER: dict[str, Callable[[Machine, list[Term], Arguments], Iterator[bool] | bool]] = {
    "findall": _findall,
    "aggregate_all": _aggregate,
    "bagof": _bagof(distinct=False),
    "setof": _bagof(distinct=True),
}
"""What to do with the copies of all answers of a goal."""
