"""Exact arithmetic: integers and fractions, nothing else.

`/` is exact division (`7 / 2` is the fraction 7/2), `//` cuts towards zero, `mod` has the sign of
the divisor, a power has a whole exponent. The functions are those of `predicates.FUNCTIONS`;
SWI-Prolog computes the same in `swi/server.pl`, with the same limits: `MAX_BITS` for the size of a
number, `MAX_DEPTH` for the nesting of expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.unify import LONG, Fault, count_number_words, unify
from bestresponse.logic.language.terms import Number, Struct, Term, Var, brief, deref

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

MAX_BITS = 10_000
MAX_DEPTH = 150
_WORD = 64

TOO_LONG = f"A number became too long (more than {MAX_BITS:,} bits)."
TOO_DEEP = f"An arithmetic expression is nested deeper than {MAX_DEPTH}."


def evaluate_arithmetic(term: Term, spend: Callable[[int], None], depth: int = 0) -> Number:
    """Compute an arithmetic expression.

    `spend` is told how much work each operation is and may stop it.
    """
    if term.__class__ is int:
        return term
    if term.__class__ is Var:
        term = deref(term)
    if term.__class__ is int or term.__class__ is Fraction:
        return term
    if not isinstance(term, Struct):
        if isinstance(term, Var):
            raise Fault("an arithmetic expression contains an unbound variable")
        raise Fault(f"{brief(term)} is not a number")
    if depth >= MAX_DEPTH:
        raise LimitReached(TOO_DEEP)
    arguments = term.args
    spend(1)
    if len(arguments) == 2:
        binary = BINARY.get(term.name)
        if binary is not None:
            left = evaluate_arithmetic(arguments[0], spend, depth + 1)
            right = evaluate_arithmetic(arguments[1], spend, depth + 1)
            return bound(binary(left, right), spend)
    elif len(arguments) == 1:
        unary = UNARY.get(term.name)
        if unary is not None:
            return bound(unary(evaluate_arithmetic(arguments[0], spend, depth + 1)), spend)
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


def _divide_towards_zero(a: Number, b: Number) -> Number:
    a = _require_integer(a)
    b = _require_integer(_require_divisor(b))
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _power(a: Number, b: Number) -> Number:
    exponent = _require_integer(b)
    if exponent < 0:
        a = 1 / Fraction(_require_divisor(a))
        exponent = -exponent
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


BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "rdiv": _divide,
    "//": _divide_towards_zero,
    "div": lambda a, b: _require_integer(a) // _require_integer(_require_divisor(b)),
    "mod": lambda a, b: _require_integer(a) % _require_integer(_require_divisor(b)),
    "rem": lambda a, b: _require_integer(a) - _require_integer(b) * _divide_towards_zero(a, b),
    "**": _power,
    "^": _power,
    "max": lambda a, b: b if b > a else a,
    "min": lambda a, b: b if b < a else a,
    "gcd": lambda a, b: math.gcd(_require_integer(a), _require_integer(b)),
}

UNARY: dict[str, Callable[[Number], Number]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "abs": lambda a: a if a >= 0 else -a,
    "sign": lambda a: (a > 0) - (a < 0),
    "floor": math.floor,
    "ceiling": math.ceil,
    "round": _round,
    "integer": _round,
    "truncate": math.trunc,
    "numerator": lambda a: a.numerator,
    "denominator": lambda a: a.denominator,
}

COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "=:=/2": eq,
    "=\\=/2": ne,
    "</2": lt,
    ">/2": gt,
    "=</2": le,
    ">=/2": ge,
}


def compute(machine: Machine, arguments: list[Term]) -> bool:
    """Run `is/2`: compute an expression and unify its value."""
    value = evaluate_arithmetic(arguments[1], machine.work.spend)
    if value.__class__ is not int or not -LONG < value < LONG:
        machine.charge(count_number_words(value))
    return unify(arguments[0], value, machine.trail)


def compare_numbers(
    test: Callable[[Number, Number], bool],
) -> Callable[[Machine, list[Term]], bool]:
    """Return a primitive that compares the values of two expressions."""

    def compare(machine: Machine, arguments: list[Term]) -> bool:
        spend = machine.work.spend
        return test(
            evaluate_arithmetic(arguments[0], spend), evaluate_arithmetic(arguments[1], spend)
        )

    return compare
