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
from bestresponse.logic.embedded.unify import Fault
from bestresponse.logic.language.terms import CONS, NIL, Atom, Number, String, Struct, Term, Var, brief, deref

__all__ = ["evaluate", "larger", "nearest_float", "smaller"]

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
    if (term.name, arity) not in _OPEN and not all(map(_finite, values)):
        raise Fault(f"{term.name} takes finite numbers")
    try:
        result = source.randrange(_integer(values[0])) if term.name == "random" else function(*values)
    except ZeroDivisionError:
        raise Fault("division by zero") from None
    except OverflowError:
        raise Fault("the result is larger than any float") from None
    except ValueError:
        raise Fault(f"{term.name} is undefined for this argument") from None
    return result if isinstance(result, float) and (term.name, arity) in _KEEPING else _bounded(result)


def _finite(value: Number) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


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


def _rational(value: Number) -> Fraction:
    if isinstance(value, float):
        raise Fault(f"a rational number was expected, {value} came")
    return Fraction(value)


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a // b if a % b == 0 else float(a) / float(b)
    if isinstance(b, float) and math.isinf(b) and not isinstance(a, float):
        return 0
    return a / b


def _cut(a: Number, b: Number) -> int:
    a, b = _integer(a), _integer(b)
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: Number, b: Number) -> int:
    return _integer(a) - _integer(b) * _cut(a, b)


def _power(a: Number, b: Number) -> Number:
    if b == 0 or (a == 1 and isinstance(a, int)):
        return 1
    if a == 0 and b < 0:
        raise Fault("division by zero")
    if a == 0 and isinstance(a, int) and b > 0:
        return 0
    if not _finite(a) or not _finite(b):
        raise Fault("a power of or by an infinity is undefined")
    if isinstance(b, Fraction) and b.denominator != 1:
        return _root(a, b)
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


def _root(a: Number, b: Fraction) -> Number:
    """A power with a fraction as its exponent: exact where that is a whole number of a modest size."""
    if a < 0 and b.denominator % 2 == 0:
        raise Fault("the root of a negative number is undefined")
    value: float = math.pow(_absolute(a), b)
    sign = -1 if a < 0 and b.numerator % 2 else 1
    if isinstance(a, int) and 0 < b < 100 and b.denominator < 100 and value < 2**52:
        whole = round(value)
        if whole**b.denominator == abs(a) ** b.numerator:
            return sign * whole
    return sign * value


def _whole(change: Callable[[Number], int]) -> Callable[[Number], Number]:
    """A way to make a number whole; infinities stay what they are."""
    return lambda value: value if isinstance(value, float) and not math.isfinite(value) else change(value)


def _above_zero(value: Number, name: str) -> int:
    if _integer(value) < 1:
        raise Fault(f"{name} takes numbers above 0, {value} came")
    return _integer(value)


def _natural(value: Number, name: str) -> int:
    if _integer(value) < 0:
        raise Fault(f"{name} takes no negative numbers, {value} came")
    return _integer(value)


def _integer_part(value: Number) -> Number:
    return math.copysign(float(math.trunc(value)), value) if isinstance(value, float) else math.trunc(value)


def _fractional_part(value: Number) -> Number:
    return math.modf(value)[0] if isinstance(value, float) else value - math.trunc(value)


def _shift(a: Number, b: Number) -> int:
    number, places = _integer(a), _integer(b)
    if places > MAX_BITS:
        raise LimitReached(f"A number became too long (at most {MAX_BITS:,} bits).")
    return number << places if places >= 0 else number >> min(-places, MAX_BITS)


def larger(a: Number, b: Number) -> Number:
    """The larger number; of equal ones the float, unless it is a negative zero. Not-a-number is never it."""
    if a != a or b != b:
        return b if a != a else a
    _one_of_two(a, b)
    if a == b and _is_negative_zero(b):
        return a
    return b if b > a or (a == b and (isinstance(b, float) or _is_negative_zero(a))) else a


def smaller(a: Number, b: Number) -> Number:
    """The smaller number; of equal ones the float, a negative zero first. Not-a-number is never it."""
    if a != a or b != b:
        return b if a != a else a
    _one_of_two(a, b)
    if a == b and _is_negative_zero(a):
        return a
    return b if b < a or (a == b and isinstance(b, float)) else a


def _one_of_two(a: Number, b: Number) -> None:
    """Refuse what SWI-Prolog cannot order: two equal infinities, and an infinity beside a number past all floats."""
    if math.inf in (abs(a), abs(b)) and nearest_float(a) == nearest_float(b):
        raise Fault("of two infinities none is larger")


def nearest_float(value: Number) -> float:
    """Convert to a float; what is past all floats becomes an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_negative(value: Number) -> bool:
    return math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0


def _is_negative_zero(value: Number) -> bool:
    return isinstance(value, float) and value == 0 and math.copysign(1.0, value) < 0


def _absolute(value: Number) -> Number:
    return math.fabs(value) if isinstance(value, float) else -value if value < 0 else value


def _round(value: Number) -> int:
    half = Fraction(_absolute(value)) + Fraction(1, 2)
    return math.floor(half) if value >= 0 else -math.floor(half)


def _exactly(value: Number) -> Number:
    return Fraction(value) if isinstance(value, float) else value


def _nearly(value: Number) -> Number:
    """The first fraction on the way of its continued fraction that is this float."""
    if not isinstance(value, float):
        return value
    rest, (p0, q0), (p1, q1) = Fraction(value), (0, 1), (1, 0)
    while True:
        whole = math.floor(rest)
        (p0, q0), (p1, q1) = (p1, q1), (p0 + whole * p1, q0 + whole * q1)
        if p1 / q1 == value:
            return Fraction(p1, q1)
        rest = 1 / (rest - whole)


def _sign(value: Number) -> Number:
    if isinstance(value, float):
        return math.copysign(1.0, value) if value and not math.isnan(value) else abs(value)
    return (value > 0) - (value < 0)


_CONSTANTS: dict[str, Number] = {
    "pi": math.pi, "e": math.e, "epsilon": 2.0**-52, "inf": math.inf, "nan": math.nan,
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
    "rdiv": lambda a, b: _rational(a) / _rational(b),
    "**": _power,
    "^": _power,
    "max": larger,
    "min": smaller,
    "lcm": lambda a, b: math.lcm(_integer(a), _integer(b)),
    "gcd": lambda a, b: math.gcd(_integer(a), _integer(b)),
    ">>": lambda a, b: _shift(a, -_integer(b)),
    "<<": _shift,
    "/\\": lambda a, b: _integer(a) & _integer(b),
    "\\/": lambda a, b: _integer(a) | _integer(b),
    "xor": lambda a, b: _integer(a) ^ _integer(b),
    "atan2": lambda a, b: math.atan2(a, b),
    "atan": lambda a, b: math.atan2(a, b),
    "copysign": lambda a, b: -_absolute(a) if _is_negative(b) else _absolute(a),
}

_UNARY: dict[str, Callable[[Number], Number]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "abs": _absolute,
    "sign": _sign,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": lambda a: math.log(float(a)),
    "log10": lambda a: math.log10(float(a)),
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "eval": lambda a: a,
    "popcount": lambda a: _natural(a, "popcount").bit_count(),
    "lsb": lambda a: (_above_zero(a, "lsb") & -_integer(a)).bit_length() - 1,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "floor": _whole(math.floor),
    "ceiling": _whole(math.ceil),
    "ceil": _whole(math.ceil),
    "round": _whole(_round),
    "integer": _whole(_round),
    "truncate": _whole(math.trunc),
    "float": float,
    "rational": _exactly,
    "rationalize": _nearly,
    "numerator": lambda a: _rational(a).numerator,
    "denominator": lambda a: _rational(a).denominator,
    "float_integer_part": _integer_part,
    "float_fractional_part": _fractional_part,
    "msb": lambda a: _above_zero(a, "msb").bit_length() - 1,
    "\\": lambda a: ~_integer(a),
}

_FUNCTIONS: dict[tuple[str, int], Callable[..., Number]] = {
    ("random", 1): lambda a: a,
    **{(name, 1): function for name, function in _UNARY.items()},
    **{(name, 2): function for name, function in _BINARY.items()},
}

_KEEPING = frozenset(
    {
        (name, 1)
        for name in ("-", "+", "abs", "sign", "floor", "ceiling", "ceil", "round", "integer", "truncate", "eval")
    }
    | {(name, 2) for name in ("max", "min", "copysign")}
)
"""Functions that may give an infinity they were given; all others must give a finite number."""

_OPEN = _KEEPING | {("/", 2), ("**", 2), ("^", 2), ("float_fractional_part", 1), ("float_integer_part", 1)}
"""Functions that take infinities; what those that are not in `_KEEPING` make of them is up to them."""
