"""Arithmetic in the bodies of clauses, compiled once into functions of the slots of an activation.

`X is Y * 2 + 1` builds no term: the function reads the value of `Y` and computes. What a variable holds may be an
expression itself; `arithmetic.evaluate` computes that. Values, faults and the work that is counted are those of
`evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

from bestresponse.logic.embedded.arithmetic import BINARY, MAX_DEPTH, UNARY, bound, evaluate
from bestresponse.logic.embedded.unify import LONG, count_words, unify
from bestresponse.logic.language.terms import Number, Struct, Term, Var

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["ARITHMETIC", "COMPARISONS", "Computation", "compile_arithmetic"]

"""Numbers from here on take memory that is counted."""

COMPARISONS: Final[dict[str, Callable[[Number, Number], bool]]] = {
    "=:=/2": eq, "=\\=/2": ne, "</2": lt, ">/2": gt, "=</2": le, ">=/2": ge,
}  # fmt: skip
ARITHMETIC: Final = frozenset(("is/2", *COMPARISONS))

Computation = Callable[["Machine", list[Any]], bool]
"""A goal as a function of the machine and the slots of an activation."""

_Slots = list[Any]
_Spend = Callable[[int], None]
_Expression = Callable[[_Slots, _Spend], Number]
_FindSlot = Callable[[Var], int | None]


def compile_arithmetic(key: str, arguments: tuple[Term, ...], find_slot: _FindSlot) -> Computation:
    """Return a goal of `ARITHMETIC` as a function; `find_slot` says where a variable is kept, None where nowhere."""
    right = _compile(arguments[1], find_slot, 0)
    if key == "is/2":
        return _compile_is(arguments[0], right, find_slot)
    left, test = _compile(arguments[0], find_slot, 0), COMPARISONS[key]

    def compare(machine: Machine, slots: _Slots) -> bool:
        spend = machine.work.spend
        return test(left(slots, spend), right(slots, spend))

    return compare


def _compile_is(result: Term, expression: _Expression, find_slot: _FindSlot) -> Computation:
    slot = find_slot(result) if result.__class__ is Var else None

    def assign(machine: Machine, slots: _Slots) -> bool:
        value = expression(slots, machine.work.spend)
        if value.__class__ is not int or not -LONG < value < LONG:
            machine.charge(count_words(value))
        if slot is None:
            return result.__class__ is Var or (result.__class__ is value.__class__ and result == value)
        place = slots[slot]
        if place is None:
            place = slots[slot] = Var()
            place.ref = value
            machine.trail.append(place)
            return True
        return unify(place, value, machine.trail)

    return assign


def _compile(term: Term, find_slot: _FindSlot, depth: int) -> _Expression:
    if isinstance(term, Var):
        return _compile_variable(find_slot(term), depth)
    if isinstance(term, Number):
        return lambda slots, spend: term
    if isinstance(term, Struct) and depth < MAX_DEPTH:
        if len(term.args) == 2 and term.name in BINARY:
            return _compile_binary(term, find_slot, depth)
        if len(term.args) == 1 and term.name in UNARY:
            return _compile_unary(term, find_slot, depth)
    return lambda slots, spend: evaluate(term, spend, depth)


def _compile_variable(slot: int | None, depth: int) -> _Expression:
    def read(slots: _Slots, spend: _Spend) -> Number:
        term = None if slot is None else slots[slot]
        while term.__class__ is Var:
            term = term.ref
        if term.__class__ is int:
            return term
        return evaluate(Var() if term is None else term, spend, depth)

    return read


def _compile_binary(term: Struct, find_slot: _FindSlot, depth: int) -> _Expression:
    function = BINARY[term.name]
    left, right = (_compile(part, find_slot, depth + 1) for part in term.args)

    def compute(slots: _Slots, spend: _Spend) -> Number:
        spend(1)
        value = function(left(slots, spend), right(slots, spend))
        return value if value.__class__ is int and -LONG < value < LONG else bound(value, spend)

    return compute


def _compile_unary(term: Struct, find_slot: _FindSlot, depth: int) -> _Expression:
    function = UNARY[term.name]
    inner = _compile(term.args[0], find_slot, depth + 1)

    def compute(slots: _Slots, spend: _Spend) -> Number:
        spend(1)
        return bound(function(inner(slots, spend)), spend)

    return compute
