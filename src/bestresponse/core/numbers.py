"""Numbers as people type them, with the decimal mark of their language."""

import math
import re

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_SWAPPED = str.maketrans(",.", ".,")


def list_readings(typed: str, decimal: str = ".") -> tuple[float, ...]:
    """List the numbers that somebody may have meant whose language has that decimal mark.

    There is none where no number was typed. There are two, the larger first, where the mark of the
    other language stands before three digits: it may divide thousands, or be a decimal mark all the
    same.

    >>> list_readings("12.5"), list_readings("12,50"), list_readings("twelve")
    ((12.5,), (12.5,), ())
    >>> list_readings("1,000"), list_readings("1,000", decimal=",")
    ((1000.0, 1.0), (1.0,))
    >>> list_readings("1.000", decimal=",")
    (1000.0, 1.0)
    """
    text = typed.strip()
    if decimal == ",":
        text = text.translate(_SWAPPED)
    elif decimal:
        text = text.replace(decimal, ".")
    # From here on the point is the decimal mark, and the comma is the mark of the other language.
    texts: list[str] = []
    if _PLAIN.fullmatch(text):
        texts.append(text)
    if _GROUPED.fullmatch(text):
        texts.append(text.replace(",", ""))
    if text.count(",") == 1 and "." not in text:
        other = text.replace(",", ".")
        if _PLAIN.fullmatch(other):
            texts.append(other)
    numbers = [float(one) for one in texts]
    return tuple(number for number in numbers if math.isfinite(number))
