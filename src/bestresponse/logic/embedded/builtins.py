"""The primitives of the embedded engine: what its machine does itself.

Each takes the machine and its arguments.

Everything else is written in the logic language (`language.library`), which checks arguments before
it comes here. The last ones do what `solver_language` does again and again while it walks through a
game: the same answers, sooner.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from bestresponse.logic.embedded.arithmetic import (
    COMPARISONS,
    bound,
    compare_numbers,
    compute,
    evaluate_arithmetic,
)
from bestresponse.logic.embedded.unify import (
    LONG,
    Fault,
    compare_terms,
    copy,
    count_number_words,
    is_ground,
    order_key,
    spell,
    undo,
    unify,
)
from bestresponse.logic.language.terms import (
    NIL,
    Atom,
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

Arguments = list[Term]
Determinate = Callable[["Machine", Arguments], bool]

_DRAWN = 20
"""How many combinations are followed before a game is refused for their number."""


def _require_integer(term: Term, what: str) -> int:
    term = deref(term)
    if isinstance(term, int):
        return term
    raise Fault(f"{what} of between/3 must be a whole number, not {brief(term)}")


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


def _sum_onto(machine: Machine, arguments: Arguments) -> bool:
    """Add the values of a list to a number, as `sum onto` of the library says."""
    total = evaluate_arithmetic(arguments[1], machine.spend)
    for item in _items(machine, arguments[0]):
        total = bound(total + evaluate_arithmetic(item, machine.spend, 1), machine.spend)
    if total.__class__ is not int or not -LONG < total < LONG:
        machine.charge(count_number_words(total))
    return unify(arguments[2], total, machine.trail)


def _raw_sort(machine: Machine, arguments: Arguments) -> bool:
    position = deref(arguments[0])
    order = deref(arguments[1])
    assert isinstance(position, int)

    def find_key(item: Term) -> Term:
        item = deref(item)
        if not position:
            return item
        if not isinstance(item, Struct) or len(item.args) < position:
            raise Fault(f"{brief(item)} has no argument {position} to sort by")
        return item.args[position - 1]

    items = sorted(
        _items(machine, arguments[2]),
        key=lambda item: order_key(find_key(item)),
        reverse=order in ("@>", "@>="),
    )
    if order in ("@<", "@>"):
        items = [
            item
            for i, item in enumerate(items)
            if not i or compare_terms(find_key(items[i - 1]), find_key(item))
        ]
    machine.charge(3 * len(items))
    return unify(arguments[3], list_of(items), machine.trail)


def _filled_copy(machine: Machine, arguments: Arguments) -> bool:
    """Copy a term with the second argument in place of every variable.

    Nothing is shared, so that the size of the copy is charged.
    """
    made = copy(arguments[0], machine.charge)
    filler = deref(arguments[1])
    for variable in variables_of(made):
        variable.ref = filler
    return unify(arguments[2], made, machine.trail)


def _first_argument(machine: Machine, arguments: Arguments) -> bool:
    term = deref(arguments[0])
    return isinstance(term, Struct) and unify(term.args[0], arguments[1], machine.trail)


def _raise(machine: Machine, arguments: Arguments) -> bool:
    raise Fault(f"{deref(arguments[0])}, {brief(arguments[1])} came")


def _undefined(machine: Machine, arguments: Arguments) -> bool:
    what = arguments[0]
    raise Fault(
        f"unknown procedure {what.args[0]}/{what.args[1]}"
        if isinstance(what, Struct)
        else "unknown procedure"
    )


def _random_between(machine: Machine, arguments: Arguments) -> bool:
    low = _require_integer(arguments[0], "the lower bound")
    high = _require_integer(arguments[1], "the upper bound")
    return high >= low and unify(arguments[2], machine.draw(low, high), machine.trail)


def _between(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
    low = _require_integer(arguments[0], "the lower bound")
    top = deref(arguments[1])
    value = deref(arguments[2])
    unbounded = isinstance(top, Atom) and top in ("inf", "infinite")
    high = None if unbounded else _require_integer(top, "the upper bound")
    if not isinstance(value, Var):
        number = _require_integer(value, "the value")
        return low <= number and (high is None or number <= high)
    return _count_up(machine, value, low, high)


def _count_up(
    machine: Machine,
    value: Var,
    low: int,
    high: int | None,
) -> Iterator[bool]:
    while high is None or low <= high:
        value.ref = low
        machine.trail.append(value)
        yield True
        low += 1


def gather(machine: Machine, answers: list[Term], target: Term) -> bool:
    """Unify with the copies of all answers of a goal."""
    machine.charge(2 * len(answers))
    target = deref(target)
    listed = list_of(answers)
    if target.__class__ is not Var:
        return unify(target, listed, machine.trail)
    target.ref = listed  # no occurs check: copies hold no variable that was there before
    machine.trail.append(target)
    return True


def _enter(machine: Machine, arguments: Arguments) -> bool:
    """Unify with the situation as the object by which answers about it are kept."""
    situation = arguments[0]
    if machine.situations is not None:
        situation = machine.situations.enter(situation, machine.work)
    return unify(arguments[1], situation, machine.trail)


def _expect_combinations(machine: Machine, arguments: Arguments) -> bool:
    """Stop a game that will foreseeably have too many ends.

    The ends can be foreseen as all combinations of a list of `Mover-Move`.

    A move may end the play before the others have moved; then there are fewer ends. So some
    combinations are drawn and followed: if fewer than half of all came to their last move, one of
    the drawn ones would most likely not, and nothing is foreseen. What is not foreseen is refused
    when it has been counted.
    """
    options: dict[object, dict[object, Term]] = {}
    variables: list[Var] = []
    with suppress(RecursionError):
        for pair in map(deref, _items(machine, arguments[0])):
            assert isinstance(pair, Struct)
            mover, move = pair.args
            options.setdefault(spell(mover, variables), {})[spell(move, variables)] = move
    sure = prod(map(len, options.values())) // 2
    if variables or not machine.work.exceeds_ends(sure):
        return True
    *earlier, _ = (list(moves.values()) for moves in options.values())
    source = random.Random(0)
    with suppress(Fault):
        if not any(_ends_early(machine, earlier, arguments[1], source) for _ in range(_DRAWN)):
            machine.work.expect_ends(sure)
    return True


def _ends_early(
    machine: Machine,
    options: list[list[Term]],
    situation: Term,
    source: random.Random,
) -> bool:
    """Make one move of each player and say whether the play ends on the way."""
    for moves in options:
        situation = Struct("do", (source.choice(moves), situation))
        inner = machine.nest()
        inner.below = machine.below + machine.used
        ended = any(True for _ in inner.run_predicate("final/1", [situation]))
        undo(inner.trail, 0)
        if ended:
            return True
    return False


SINGLE: dict[str, Determinate] = {
    "=/2": lambda machine, arguments: unify(arguments[0], arguments[1], machine.trail),
    "\\=/2": _not_unifiable,
    "==/2": lambda machine, arguments: compare_terms(arguments[0], arguments[1]) == 0,
    "\\==/2": lambda machine, arguments: compare_terms(arguments[0], arguments[1]) != 0,
    "is/2": compute,
    **{key: compare_numbers(test) for key, test in COMPARISONS.items()},
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
    "raw length/2": lambda machine, arguments: unify(
        arguments[1],
        len(_items(machine, arguments[0])),
        machine.trail,
    ),
    "sum onto/3": _sum_onto,
    "raw sort/4": _raw_sort,
    "raw compare/3": lambda machine, arguments: unify(
        arguments[0],
        Atom("<=>"[compare_terms(arguments[1], arguments[2]) + 1]),
        machine.trail,
    ),
    "fresh copy/2": lambda machine, arguments: unify(
        arguments[1],
        copy(arguments[0], machine.charge, shared=True),
        machine.trail,
    ),
    "filled copy/3": _filled_copy,
    "first argument/2": _first_argument,
    "raise/2": _raise,
    "undefined predicate/1": _undefined,
    "known situation/2": _enter,
    "next position/0": lambda machine, arguments: machine.work.count_position(),
    "count end/0": lambda machine, arguments: machine.work.count_end(),
    "expect combinations/2": _expect_combinations,
}
"""Predicates with at most one answer."""

MANY: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {"between/3": _between}
"""Predicates with many answers: an iterator that binds before each `yield`, or a truth value."""
