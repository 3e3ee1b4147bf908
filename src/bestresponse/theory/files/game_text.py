"""The words of Gambit's file formats: quoted texts, numbers, braces.

And errors that name line and column.

Shared by `efg` and `nfg`. Numbers may be whole, decimal, with exponent, or rational (2/3). Inside
quotes a backslash goes before a quote or another backslash. Commas count as blanks.
"""

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import parse_rational

_TOKEN = re.compile(
    r"""[\s,]*(?: (?P<text>"(?:[^"\\]++|\\.)*")
               | (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)
                            (?:[eE][+-]?[0-9]+)?(?:/[0-9]+)?)(?![\w.])
               | (?P<brace>[{}])
               | (?P<word>[^\W\d]\w*) )""",
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"[\s,]*")
_LONGEST_NUMBER = 400  # characters: more than any float needs, and few enough to be read at once
_SHOWN = 30


class GameText:
    """A file's text, read from front to back one token at a time.

    `kind` says what comes next: text, number, brace, word, other (no token of the formats) or end;
    `start` where.
    """

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.kind = ""
        self.start = 0
        self._ahead = ""
        self._scan(0)

    def at(self, brace: str) -> bool:
        """Say whether this brace comes next."""
        return self._ahead == brace and self.kind == "brace"

    def brace(self, brace: str, what: str) -> None:
        """Read a brace."""
        if not self.at(brace):
            raise self.wrong(f"{brace!r} {what}")
        self._take()

    def word(self, what: str, *allowed: str) -> str:
        """Read a bare word."""
        if self.kind != "word" or self._ahead not in allowed:
            raise self.wrong(what)
        return self._take()

    def quote(self, what: str) -> str:
        """Read a quoted text."""
        if self.kind != "text":
            raise self.wrong(f"{what} in double quotes")
        quote = self._take()[1:-1]
        return re.sub(r'\\(["\\])', r"\1", quote) if "\\" in quote else quote

    def rational(self, what: str) -> Fraction:
        """Read a finite number as it is written."""
        if self.kind != "number":
            raise self.wrong(f"{what} (a number)")
        try:
            value = parse_rational(self._ahead if len(self._ahead) <= _LONGEST_NUMBER else "")
            float(value)  # which fails where no float can hold it
        except (ValueError, ZeroDivisionError, OverflowError):
            raise self.wrong(
                f"{what} (a finite number of at most {_LONGEST_NUMBER} characters)"
            ) from None
        self._take()
        return value

    def payoffs(self, players: int, start: int) -> tuple[Fraction, ...]:
        """Read all players' payoffs between braces, the first of which was read at `start`."""
        numbers = []
        while not self.at("}"):
            numbers.append(self.rational("a payoff or '}'"))
        if len(numbers) != players:
            raise self.error(f"expected {players} payoffs, got {len(numbers)}", start)
        self._take()
        return tuple(numbers)

    def header(self, name: str, version: int) -> tuple[str, tuple[str, ...]]:
        """Read the format's name and version; give the title and the players' names."""
        self.word(f"{name!r} at the start", name)
        self.whole("the format's version", version, version)
        self.word("'R' or 'D' after the version", "R", "D")
        title = self.quote("the title")
        start = self.start
        players = number_repeats(self.quotes("player's name"), "player ")
        if not players:
            raise self.wrong("at least one player", start)
        return title, tuple(players)

    def whole(self, what: str, low: int, high: int | None = None) -> int:
        """Read a whole number between two bounds."""
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        plain = self.kind == "number" and re.fullmatch(r"[+-]?[0-9]{1,18}", self._ahead)
        if not plain or not low <= int(self._ahead) <= (math.inf if high is None else high):
            raise self.wrong(f"{what} (a whole number {bounds})")
        return int(self._take())

    def quotes(self, what: str) -> list[str]:
        """Texts between braces."""
        self.brace("{", f"before the {what}s")
        texts = []
        while not self.at("}"):
            texts.append(self.quote(f"{what} or '}}'"))
        self._take()
        return texts

    def end(self, what: str) -> None:
        """Refuse anything that follows."""
        if self.kind != "end":
            raise self.wrong(what)

    def wrong(self, expected: str, start: int | None = None) -> InvalidGame:
        """Make the error that something else was expected at the next token, or at `start`."""
        text = self._ahead if len(self._ahead) <= _SHOWN else f"{self._ahead[:_SHOWN]}..."
        got = f", got {'the end of the file' if self.kind == 'end' else text}"
        return self.error(f"expected {expected}{got if start is None else ''}", start)

    def error(self, why: str, start: int | None = None) -> InvalidGame:
        """Make an error that names the line."""
        offset = self.start if start is None else start
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        return InvalidGame(f"{self.source}, line {line}, column {column}: {why}")

    def _take(self) -> str:
        token = self._ahead
        self._scan(self.start + len(token))
        return token

    def _scan(self, offset: int) -> None:
        match = _TOKEN.match(self.text, offset)
        if match and match.lastgroup:
            self.kind = match.lastgroup
            self._ahead = match[match.lastgroup]
            self.start = match.end() - len(self._ahead)
            return
        blank = _BLANK.match(self.text, offset)
        self.start = blank.end() if blank else offset
        self._ahead = self.text[self.start : self.start + _SHOWN].split("\n")[0]
        self.kind = "other" if self._ahead else "end"


def write_number(number: float | Fraction) -> str:
    """Write a rational as it is, and a float as a short rational or with all digits.

    A float becomes a short rational if that is exact.

    >>> write_number(1 / 3), write_number(0.1234567890123), write_number(2.0)
    ('1/3', '0.1234567890123', '2')
    """
    if isinstance(number, int | Fraction):
        return str(number)
    if abs(number) < 1e15:
        near = Fraction(number).limit_denominator(10_000)
        if float(near) == number:
            return str(near)
    return repr(float(number))


def quote_text(text: str) -> str:
    """`text` in double quotes, as the formats write it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def number_repeats(labels: Iterable[str], unnamed: str = "") -> list[str]:
    """Return the labels, numbered where they are empty (behind `unnamed`) or repeat.

    >>> number_repeats(["a", "", "a"], unnamed="player ")
    ['a', 'player 2', 'a (2)']
    """
    names = list(labels)
    if all(names) and len(set(names)) == len(names):
        return names
    numbered: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for number, label in enumerate(names, start=1):
        wanted = new = label or f"{unnamed}{number}"
        while new in taken:
            counts[wanted] = counts.get(wanted, 1) + 1
            new = f"{wanted} ({counts[wanted]})"
        taken.add(new)
        numbered.append(new)
    return numbered
