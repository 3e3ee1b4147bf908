"""Tokens of Prolog text with their places, and the refusal of characters that hide something.

The token classes are those of ISO/IEC 13211-1, section 6.4, with the number forms of SWI-Prolog.
Text is bounded before a single token is made: length, control and invisible characters (which let a
program look like another one).
"""

import re
import unicodedata
from bisect import bisect_right
from fractions import Fraction
from functools import cache
from itertools import accumulate
from operator import itemgetter

MAX_CHARACTERS = 200_000
MAX_DIGITS = 100
MAX_EXPONENT = 300

HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f"
    "\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"
)
"""Control and invisible characters, which let a program look like another one."""

_BLOCKS = (
    (0x300, 0x1B00),
    (0x1DC0, 0x1E00),
    (0x20D0, 0x2100),
    (0x3099, 0x309B),
    (0xA800, 0xAC00),
    (0xFE20, 0xFE30),
)
"""Where vowel signs, tone marks and accents stand: part of a name in Hindi, Thai, Arabic and other
scripts."""

_CHARACTERS = r"(?<![.,-])\n|\\(?:x[0-9a-fA-F]+\\?|[0-7]+\\|\n|[^x0-7])"
_NAME = rf"'(?:[^'\\\n]|''|{_CHARACTERS})*'"
_STRING = rf'"(?:[^"\\\n]|""|{_CHARACTERS})*"'
# Not possessive as a whole: Python before 3.11.5 does not take back what a part of such a group
# matched in vain, and so read a comment that is never closed as layout (CPython issue 106052).
_LAYOUT = re.compile(r"(?:\s++|%[^\n]*+|/\*.*?\*/)*", re.DOTALL)
_QUOTED = re.compile(f"{_NAME}|{_STRING}")

END = ". "
"""The token at the end of a clause; no other has a blank at its end."""

_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]+\\?|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]+\\|\n|.)|''|\"\"", re.DOTALL
)
LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "s": " ",
}
"""What some letters stand for behind a backslash, in every Prolog."""
_ESCAPED = {
    **LETTERS,
    "z": "",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "\n": "",
}


@cache
def _token_pattern() -> re.Pattern[str]:
    """Compile the pattern of a token with the layout after it, and without.

    The tokens: punctuation, a variable, a name, a number, the end of a clause, a quoted name, a
    string, a comment that is not closed, a symbol, anything else. An opening bracket that
    follows a name at once belongs to it, a minus before a number to the number. The full stop of a
    clause that ends in a symbol, `X = + .`, is not part of it. A quoted text may run over lines,
    but not past the end of a line that looks like the end of a goal or clause: there the quote was
    forgotten.
    """
    # Compiled when the first program is read: it takes a twentieth of the time of a short command
    # that reads none.
    codes = (chr(code) for first, end in _BLOCKS for code in range(first, end))
    marks = "".join(code for code in codes if unicodedata.category(code) in ("Mn", "Mc"))
    return re.compile(
        rf"""
(([,)]
|[A-Z_]\w*(?:[{marks}]+\w*)*\(?
|[^\W\d_]\w*(?:[{marks}]+\w*)*\(?
|[(\[\]{{}}|]
|-?(?:0'(?:\\x[0-9a-fA-F]+\\?|\\u[0-9a-fA-F]{{4}}|\\[^xuU\n]|''?(?!')|[^\\'\n])
    |0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|[1-9]\d?'[0-9a-zA-Z]+(?!')
    |\d+(?:_\d+)*(?:r\d+|\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)?)
|\.(?=\s|%)
|{_NAME}\(?
|{_STRING}
|/\*.*
|(?:!|;|[+\-*/\\^<>=~:.?@\#&$]*[+\-*/\\^<>=~:?@\#&$](?=\.\s)|[+\-*/\\^<>=~:.?@\#&$]+)\(?
|['"`][^\n]*
|.
){_LAYOUT.pattern})
""",
        re.VERBOSE | re.DOTALL,
    )


class Positions:
    """Lines and columns (from 1) of offsets into a text."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def at(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, cut where it is too long to quote."""
        start = self._starts[number - 1]
        end = self._text.find("\n", start, start + 200)
        return self._text[start : end if end >= 0 else start + 200]


def tokenize(text: str) -> tuple[list[str], list[int]]:
    """Return all tokens and where they start.

    What is none is among them, so that reading can go on after it.
    """
    text += "\n"
    first = _LAYOUT.match(text).end()  # type: ignore[union-attr]
    pairs = _token_pattern().findall(text, first)
    starts = accumulate(map(len, map(itemgetter(0), pairs)), initial=first)
    return [END if token == "." and token != whole else token for whole, token in pairs], list(
        starts
    )


def is_quoted(token: str) -> bool:
    """Whether a token that starts with a quote also ends with it."""
    return _QUOTED.fullmatch(token) is not None


def unquote(text: str) -> str:
    """What a quoted token stands for; `ValueError` where an escape means no character."""
    quote = text[0]
    body = text[1:-1]
    if "\\" not in body:
        return body.replace(quote * 2, quote)
    return _ESCAPE.sub(lambda match: _escaped(match, quote), body)


def number_of(text: str) -> int | Fraction:
    """The number a token stands for, a decimal one as the fraction it is.

    `ValueError` where it stands for none.
    """
    if text.startswith("0'"):
        body = "'" if text in ("0''", "0'''") else unquote(f"'{text[2:]}'")
        if len(body) != 1:
            raise ValueError(f"{text} is no character")
        return ord(body)
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of {len(text):,} digits; at most {MAX_DIGITS} are read")
    if text[:2] in ("0x", "0o", "0b"):
        return int(text, 0)
    if "'" in text:  # in another base, such as 16'FF
        base, digits = text.split("'")
        try:
            return int(digits, int(base))
        except ValueError:
            raise ValueError(f"{text} is no number") from None
    text = text.replace("_", "")
    if "r" in text:
        numerator, denominator = map(int, text.split("r"))
        if not denominator:
            raise ValueError("a rational number with denominator 0")
        return (
            Fraction(numerator, denominator)
            if numerator % denominator
            else numerator // denominator
        )
    if "." not in text and "e" not in text and "E" not in text:
        return int(text)
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > MAX_EXPONENT:
        raise ValueError(
            f"{text} is too large or too small a number; exponents go up to {MAX_EXPONENT}"
        )
    value = Fraction(text)
    return value if value.denominator > 1 else value.numerator


def _escaped(match: re.Match[str], quote: str) -> str:
    code = match.group(1)
    if code is None:
        return quote if match.group() == quote * 2 else match.group()
    if code[0] in "xuU" and len(code) > 1:
        return _character(int(code[1:].rstrip("\\")[:9], 16))
    if code[0] in "01234567":
        return _character(int(code[:-1][:9], 8))
    if code not in _ESCAPED:
        raise ValueError(f"\\{code} is no escape sequence")
    return _ESCAPED[code]


def _character(number: int) -> str:
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise ValueError(f"there is no character with the number {number:#x}")
    return chr(number)
