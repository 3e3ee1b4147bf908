"""Arithmetic of the embedded engine, as SWI-Prolog does it by default.

Integers are unbounded up to `MAX_BITS`; `/` of integers is an integer when it comes out even and a float otherwise;
`//` cuts towards zero, `mod` has the sign of the divisor, `rdiv` gives an exact rational.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

from bestresponse.core.errors import LimitReached
from bestresponse.logic.terms import CONS, NIL, Atom, Number, String, Struct, Term, Var, brief, deref
from bestresponse.logic.unify import Fault

__all__ = ["evaluate"]

MAX_BITS = 14_000
MAX_DEPTH = 150


def evaluate(term: Term, source: random.Random, depth: int = 0) -> Number:
    """The value of an arithmetic expression."""
    if term.__class__ is int:
        return term
    term = deref(term)
    if isinstance(term, int | float | Fraction):
        return term
    if depth > MAX_DEPTH:
        raise LimitReached(f"An arithmetic expression is nested deeper than {MAX_DEPTH}.")
    if isinstance(term, Struct):
        return _apply(term, source, depth)
    if isinstance(term, Var):
        raise Fault("arguments are not sufficiently instantiated: an unbound variable in arithmetic")
    if isinstance(term, String) and len(term) == 1:
        return ord(term)
    constant = _CONSTANTS.get(term) if isinstance(term, Atom) else None
    if constant is not None:
        return constant
    if isinstance(term, Atom) and term in ("random", "random_float"):
        return source.random()
    raise Fault(f"{brief(term)} is not a number or an arithmetic function")


def _apply(term: Struct, source: random.Random, depth: int) -> Number:
    arity = len(term.args)
    if term.name == CONS and arity == 2 and deref(term.args[1]) == NIL:
        return evaluate(term.args[0], source, depth + 1)
    function = _FUNCTIONS.get((term.name, arity))
    if function is None:
        raise Fault(f"{term.name}/{arity} is not an arithmetic function")
    values = [evaluate(argument, source, depth + 1) for argument in term.args]
    try:
        result = source.randrange(_integer(values[0])) if term.name == "random" else function(*values)
    except ZeroDivisionError:
        raise Fault("division by zero") from None
    except OverflowError:
        raise Fault("the result is larger than any float") from None
    except ValueError:
        raise Fault(f"{term.name} is undefined for this argument") from None
    finite = all(not isinstance(value, float) or math.isfinite(value) for value in values)
    return _bounded(result) if finite else result


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if math.isinf(value) or math.isnan(value):
            raise Fault("the result is not a finite number")
        return value
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return _bounded(value.numerator)
        too_long = value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS // 10
    else:
        too_long = value.bit_length() > MAX_BITS
    if too_long:
        raise LimitReached(f"A number became too long (at most {MAX_BITS:,} bits).")
    return value


def _integer(value: Number) -> int:
    if isinstance(value, int):
        return value
    raise Fault(f"an integer was expected, {value} came")


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a // b if a % b == 0 else a / b
    return a / b


def _cut(a: Number, b: Number) -> int:
    a, b = _integer(a), _integer(b)
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: Number, b: Number) -> int:
    return _integer(a) - _integer(b) * _cut(a, b)


def _power(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return math.pow(a, b)
    exponent = _integer(b)
    bits = a.bit_length() if isinstance(a, int) else a.numerator.bit_length() + a.denominator.bit_length()
    if bits * abs(exponent) > MAX_BITS * 2 and a not in (0, 1, -1):
        raise LimitReached(f"A number became too long (at most {MAX_BITS:,} bits).")
    if exponent < 0 and isinstance(a, int):
        return float(a) ** exponent if a not in (1, -1) else int(a**-exponent)
    result: Number = a**exponent
    return result


def _shift(a: Number, b: Number) -> int:
    number, places = _integer(a), _integer(b)
    if places > MAX_BITS:
        raise LimitReached(f"A number became too long (at most {MAX_BITS:,} bits).")
    return number << places if places >= 0 else number >> min(-places, MAX_BITS)


def _larger(a: Number, b: Number) -> Number:
    return b if b > a or (a == b and isinstance(b, float)) else a


def _smaller(a: Number, b: Number) -> Number:
    return b if b < a or (a == b and isinstance(b, float)) else a


def _round(value: Number) -> int:
    return math.floor(value + Fraction(1, 2)) if value >= 0 else -math.floor(-value + Fraction(1, 2))


def _exactly(value: Number) -> Number:
    return Fraction(value) if isinstance(value, float) else value


def _nearly(value: Number) -> Number:
    return Fraction(repr(value)) if isinstance(value, float) else value


def _sign(value: Number) -> Number:
    if isinstance(value, float):
        return math.copysign(1.0, value) if value else 0.0
    return (value > 0) - (value < 0)


_CONSTANTS: dict[str, Number] = {
    "pi": math.pi, "e": math.e, "epsilon": 2.0**-52, "inf": math.inf, "infinite": math.inf, "nan": math.nan,
    "max_tagged_integer": 2**60 - 1, "min_tagged_integer": -(2**60),
}  # fmt: skip

_BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "//": _cut,
    "mod": lambda a, b: _integer(a) % _integer(b),
    "rem": _remainder,
    "div": lambda a, b: _integer(a) // _integer(b),
    "rdiv": lambda a, b: Fraction(_exactly(a)) / Fraction(_exactly(b)),
    "**": _power,
    "^": _power,
    "max": _larger,
    "min": _smaller,
    "gcd": lambda a, b: math.gcd(_integer(a), _integer(b)),
    ">>": lambda a, b: _shift(a, -_integer(b)),
    "<<": _shift,
    "/\\": lambda a, b: _integer(a) & _integer(b),
    "\\/": lambda a, b: _integer(a) | _integer(b),
    "xor": lambda a, b: _integer(a) ^ _integer(b),
    "atan2": lambda a, b: math.atan2(a, b),
    "atan": lambda a, b: math.atan2(a, b),
    "copysign": lambda a, b: -_UNARY["abs"](a) if math.copysign(1.0, b) < 0 else _UNARY["abs"](a),
    "log": lambda a, b: math.log(b) / math.log(a),
}

_UNARY: dict[str, Callable[[Number], Number]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "abs": lambda a: -a if a < 0 else a,
    "sign": _sign,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "floor": math.floor,
    "ceiling": math.ceil,
    "round": _round,
    "integer": _round,
    "truncate": math.trunc,
    "float": float,
    "rational": _exactly,
    "rationalize": _nearly,
    "numerator": lambda a: Fraction(a).numerator,
    "denominator": lambda a: Fraction(a).denominator,
    "float_integer_part": lambda a: float(math.trunc(a)),
    "float_fractional_part": lambda a: a - math.trunc(a),
    "succ": lambda a: _integer(a) + 1,
    "msb": lambda a: _integer(a).bit_length() - 1,
    "\\": lambda a: ~_integer(a),
}

_FUNCTIONS: dict[tuple[str, int], Callable[..., Number]] = {
    ("random", 1): lambda a: a,
    **{(name, 1): function for name, function in _UNARY.items()},
    **{(name, 2): function for name, function in _BINARY.items()},
}
