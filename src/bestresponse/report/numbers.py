"""Numbers as text. Rounding noise prints as 0, and no zero has a sign.

Sums of floating-point numbers that should be 0 become 9.99e-16 or -1e-17, and a reader takes
that for a finding. A number is noise below an absolute floor, or when it is tiny beside the other
numbers of its column.
"""

import math
from collections.abc import Iterable

NOISE = 1e-9
"""Smaller numbers are rounding noise, unless a metric says otherwise."""
_RELATIVE_NOISE = 1e-12  # of the largest number beside it: what sums of doubles lose


def format_number(value: float, spec: str = "", noise: float = NOISE) -> str:
    """Format a number by a format specification.

    Without one, four digits, and whole numbers in groups of three.

    >>> [format_number(x) for x in (9.99e-16, 1234567, 0.123456)], format_number(-0.0004, ".3f")
    (['0', '1,234,567', '0.1235'], '0.000')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if isinstance(value, int):
        return f"{value:{spec}}" if spec else f"{value:,}"
    clean = 0.0 if abs(value) < noise else value
    text = f"{clean:{spec or '.4g'}}"
    return text.removeprefix("-") if not any(digit in text for digit in "123456789") else text


def measure_noise(values: Iterable[float], floor: float = NOISE) -> float:
    """Return the size below which a number of a column is noise.

    This is `floor`, or more beside large numbers.

    >>> measure_noise([1.0, 2.0]), measure_noise([1e6, 1.0])
    (1e-09, 1e-06)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return max(floor, _RELATIVE_NOISE * largest)
