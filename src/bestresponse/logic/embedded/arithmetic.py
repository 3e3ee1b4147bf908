"""Exact arithmetic: integers and fractions, nothing else.

`/` is exact division (`7 / 2` is the fraction 7/2), `//` cuts towards zero, `mod` has the sign of the divisor, a power
has a whole exponent. The functions are those of `predicates.FUNCTIONS`; SWI-Prolog computes the same in
`swi/server.pl`, with the same limits: `MAX_BITS` for the size of a number, `MAX_DEPTH` for the nesting of expressions.

Arithmetic in the bodies of clauses is compiled once into functions of the slots of an activation: `X is Y * 2 + 1`
builds no term, but reads the value of `Y` and computes. What a variable holds may be an expression itself, which
`evaluate` computes. Values, faults and the work that is counted are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.unify import LONG, Fault, count_words, unify
from bestresponse.logic.language.terms import Number, Struct, Term, Var, brief, deref

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

MAX_BITS: Final = 10_000
MAX_DEPTH: Final = 150
_WORD: Final = 64

TOO_LONG: Final = f"A number became too long (more than {MAX_BITS:,} bits)."
TOO_DEEP: Final = f"An arithmetic expression is nested deeper than {MAX_DEPTH}."


def evaluate(term: Term, spend: Callable[[int], None], depth: int = 0) -> Number:
    """Compute an arithmetic expression; `spend` is told how much work each operation is and may stop it."""
    if term.__class__ is int:
        return term
    if term.__class__ is Var:
        term = deref(term)
    if term.__class__ is int or term.__class__ is Fraction:
        return term
    if not isinstance(term, Struct):
        if isinstance(term, Var):
            raise Fault("an unbound variable stands in an arithmetic expression")
        raise Fault(f"{brief(term)} is not a number")
    if depth >= MAX_DEPTH:
        raise LimitReached(TOO_DEEP)
    arguments = term.args
    spend(1)
    if len(arguments) == 2:
        binary = BINARY.get(term.name)
        if binary is not None:
            left = evaluate(arguments[0], spend, depth + 1)
            right = evaluate(arguments[1], spend, depth + 1)
            return bound(binary(left, right), spend)
    elif len(arguments) == 1:
        unary = UNARY.get(term.name)
        if unary is not None:
            return bound(unary(evaluate(arguments[0], spend, depth + 1)), spend)
    raise Fault(f"{term.name}/{len(arguments)} is not an arithmetic function")


def bound(value: Number, spend: Callable[[int], None]) -> Number:
    """Return the number in its simplest form if it is not too long; long ones cost more."""
    simplest = value
    if isinstance(value, int):
        bits = value.bit_length()
    else:
        bits = value.numerator.bit_length() + value.denominator.bit_length()
        simplest = value.numerator if value.denominator == 1 else value
    if bits > _WORD:
        if bits > MAX_BITS:
            raise LimitReached(TOO_LONG)
        spend(bits // _WORD)
    return simplest


def _require_integer(value: Number) -> int:
    if isinstance(value, int):
        return value
    raise Fault(f"a whole number was expected, {brief(value)} came")


def _require_divisor(value: Number) -> Number:
    if value == 0:
        raise Fault("division by zero")
    return value


def _divide(a: Number, b: Number) -> Number:
    _require_divisor(b)
    if isinstance(a, int) and isinstance(b, int):
        return Fraction(a, b) if a % b else a // b
    return Fraction(a) / b


def _divide_down(a: Number, b: Number) -> Number:
    return _require_integer(a) // _require_integer(_require_divisor(b))


def _divide_towards_zero(a: Number, b: Number) -> Number:
    a, b = _require_integer(a), _require_integer(_require_divisor(b))
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: Number, b: Number) -> Number:
    return _require_integer(a) - _require_integer(b) * _divide_towards_zero(a, b)


def _modulo(a: Number, b: Number) -> Number:
    return _require_integer(a) % _require_integer(_require_divisor(b))


def _power(a: Number, b: Number) -> Number:
    exponent = _require_integer(b)
    if exponent < 0:
        a, exponent = 1 / Fraction(_require_divisor(a)), -exponent
    bits = a.numerator.bit_length() + (a.denominator.bit_length() if a.denominator > 1 else 0)
    if a not in (0, 1, -1) and bits * exponent > 2 * MAX_BITS:
        raise LimitReached(TOO_LONG)
    if a in (0, 1, -1):
        return 1 if exponent == 0 else int(a) ** (2 + exponent % 2)
    result: Number = a**exponent
    return result


def _round(value: Number) -> Number:
    half = Fraction(1, 2)
    return math.floor(value + half) if value >= 0 else -math.floor(half - value)


def _sign(value: Number) -> Number:
    return (value > 0) - (value < 0)


BINARY: Final[dict[str, Callable[[Number, Number], Number]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "rdiv": _divide,
    "//": _divide_towards_zero,
    "div": _divide_down,
    "mod": _modulo,
    "rem": _remainder,
    "**": _power,
    "^": _power,
    "max": lambda a, b: b if b > a else a,
    "min": lambda a, b: b if b < a else a,
    "gcd": lambda a, b: math.gcd(_require_integer(a), _require_integer(b)),
}

UNARY: Final[dict[str, Callable[[Number], Number]]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "abs": lambda a: a if a >= 0 else -a,
    "sign": _sign,
    "floor": math.floor,
    "ceiling": math.ceil,
    "round": _round,
    "integer": _round,
    "truncate": math.trunc,
    "numerator": lambda a: a.numerator,
    "denominator": lambda a: a.denominator,
}

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
