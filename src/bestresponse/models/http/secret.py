"""API keys: kept out of reprs, logs and pickles, and removed from what a server sends back.

An endpoint keeps only the fields of a reply that are read. This is the second net, for a key in one
of those: `quote` cleans what messages show of a server's text, `redact_reply` the texts of a reply,
and `hide_in_logs` what httpx and httpcore log of a call. All look at decoded text, never at bytes:
what the bytes of an encoding do not show, its text does.
"""

import logging
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from urllib.parse import quote

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Reply, TokenChances

_HIDDEN = "***"
_SHORTEST_PIECE = 8
# Longer in replies: a piece of 8 of "sk-no-key-required", the dummy key of local servers, is a word
# that models use.
_SHORTEST_PIECE_OF_REPLIES = 12
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk-|AIza|gsk_|hf_|xai-)[\w*.\-]{4,}")
_QUOTED = 300
# Pieces are looked for one by one, and escapes make a text longer: no more of a foreign text is
# looked at.
_LOOKED_AT = 16 * _QUOTED
_WRITTEN_OUT = re.compile(r"\\+(?:x|u00)([0-9a-fA-F]{2})")
"""A character as the repr of bytes writes it, which libraries quote of headers that they refuse, or
as JSON does; the repr of an escape has two backslashes."""
_BETWEEN_HEXADECIMALS = ("", "%", ":", "-", " ", "\\x", "\\u00")
_BLANK_LETTERS = "\u115f\u1160\u2800"
"""Fillers of Hangul and the empty pattern of Braille: letters and signs that nobody sees."""
# A text with more parts of the key than that is hidden as a whole: marking them would take longer
# than a call.
_MOST_FOUND = 100_000


class _Folding(dict[int, str | None]):
    """What counts of a character when looking for a key.

    Neither its case nor its width counts, and nothing unseen does.

    No key has a letter beyond ASCII, so each of them becomes the same character: what is folded
    takes a byte a letter.
    """

    def __missing__(self, code: int) -> str | None:
        plain = unicodedata.normalize("NFKC", chr(code)).casefold()
        shown = [letter for letter in plain if letter not in _BLANK_LETTERS]
        seen = [letter for letter in shown if unicodedata.category(letter)[0] not in "CM"]
        ascii_only = [letter if letter.isascii() else "\0" for letter in seen]
        self[code] = "".join(ascii_only) or None
        return self[code]


_FOLDING = _Folding()


def _fold(text: str) -> str:
    return text.translate(_FOLDING)


class Secret:
    """Hold a secret that is redacted in repr() and logs.

    White space around it is removed, since a key read from a file often ends in a line break.
    Characters that no HTTP header can hold are refused; `variable` names where the user keeps the
    key, for that message.
    """

    __slots__ = ("_spellings", "_text")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text = text.strip()
        del text  # a traceback that shows local variables must not show the key
        folded = map(_fold, _spell(self._text))
        self._spellings = tuple(filter(None, dict.fromkeys(folded)))
        for position, character in enumerate(self._text, 1):
            if not " " <= character <= "~":
                where = f" in {variable}" if variable else ""
                raise UsageError(
                    f"the API key{where} contains U+{ord(character):04X} at position {position},"
                    " which no key contains: copy the key again"
                )

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._text

    def redact(self, text: str, shortest: int = _SHORTEST_PIECE) -> str:
        """Remove the key and its parts of `shortest` characters or more, however spelt."""
        covered = self._cover(_fold(text), shortest)
        return _cut_out(text, covered) if 1 in covered else text

    def quote(self, text: str) -> str:
        r"""Return the beginning of a foreign text as one printable line, without the key and what
        looks like a key.

        Controls, direction overrides and surrogates are written as their escapes: they can steer
        the reader's terminal.

        >>> Secret("").quote("red:\n\x1b[31m")
        'red: \\x1b[31m'
        """
        redacted = self.redact(_read_escapes(text[:_LOOKED_AT]))
        words = _LOOKS_LIKE_KEY.sub(_HIDDEN, redacted).split()
        line = "".join(map(_make_printable, " ".join(words)))
        if len(line) > _QUOTED:
            return f"{line[:_QUOTED]}..."
        return line or "nothing"

    def redact_reply(self, reply: Reply) -> Reply:
        """Remove the key from every text of a reply, and all tokens where they hold it.

        A key that is cut into texts that follow each other, as tokens do, is found too. Keys of
        fewer than 12 characters stay: local servers are given keys such as "EMPTY", which a model
        may say.
        """
        if len(self._text) < _SHORTEST_PIECE_OF_REPLIES:
            return reply
        calls = iter(self._redact_row([text for call in reply.tool_calls for text in call]))
        text, name = self._redact_row([reply.text, reply.provider_id or ""])
        return replace(
            reply,
            text=text,
            provider_id=None if reply.provider_id is None else name,
            tool_calls=tuple(zip(calls, calls, strict=True)),
            logprobs=() if self._is_in_tokens(reply.logprobs) else reply.logprobs,
        )

    def _is_in_tokens(self, positions: tuple[TokenChances, ...]) -> bool:
        """Say whether the key is in tokens: in all in a row, or in those of one rank."""
        by_rank: dict[int, list[str]] = {}
        for listed in positions:
            for rank, (token, _) in enumerate(listed):
                by_rank.setdefault(rank, []).append(token)
        rows = [[token for listed in positions for token, _ in listed], *by_rank.values()]
        return any(self._count_covered("".join(row)) for row in rows)

    def _redact_row(self, texts: list[str]) -> list[str]:
        """Remove the key from texts that are read one after the other.

        All of them are hidden where it is cut into pieces between them.
        """
        if self._count_covered("".join(texts)) > sum(map(self._count_covered, texts)):
            return [_HIDDEN for _ in texts]
        return [self.redact(text, _SHORTEST_PIECE_OF_REPLIES) for text in texts]

    def _count_covered(self, text: str) -> int:
        return self._cover(_fold(text), _SHORTEST_PIECE_OF_REPLIES).count(1)

    def _cover(self, folded: str, shortest: int) -> bytearray:
        """Mark the characters of a text that belong to a part of the key.

        Half of any `shortest` characters of a spelling that follow each other is one of its pieces,
        cut at the multiples of that length; from there, a part is followed in both directions.
        """
        covered = bytearray(len(folded))
        half = (shortest + 1) // 2
        found = 0
        for spelling in self._spellings:
            least = min(shortest, len(spelling))
            for start in range(0, max(1, len(spelling) - half + 1), half):
                piece = spelling[start : start + half]
                place = folded.find(piece)
                while place >= 0:
                    first, end = _follow(spelling, start, folded, place)
                    if end - first >= least:
                        covered[first:end] = b"\1" * (end - first)
                    place = folded.find(piece, place + 1)
                    found += 1
                    if found > _MOST_FOUND:
                        return bytearray(b"\1") * len(folded)
        return covered

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is never written down")


def _spell(key: str) -> Iterator[str]:
    """Yield a key as texts spell it.

    It is given as it is, in an address, as JSON often writes it, in hexadecimal and in base 64.

    In base 64 three bytes are four characters, so that what comes before the key in the encoded
    text shifts it; the characters that depend on what is before and after it are left out.
    """
    if not key.isascii():
        return  # it is refused
    yield key
    yield quote(key, safe="")
    yield key.replace("/", "\\/")
    coded = key.encode("ascii")
    if len(coded) < _SHORTEST_PIECE:
        return  # a few characters in another alphabet could be anything
    for mark in _BETWEEN_HEXADECIMALS:
        yield mark.join(f"{byte:02x}" for byte in coded)
    for before in range(3):
        padded = bytes(before) + coded
        text = b64encode(padded).decode("ascii").rstrip("=")
        # A letter stands for six bits: those with bits of unknown neighbours are left out.
        first = -(-before * 8 // 6)
        end = len(padded) * 8 // 6
        sure = text[first:end]
        yield sure
        yield sure.replace("+", "-").replace("/", "_")


def _follow(spelling: str, start: int, text: str, place: int) -> tuple[int, int]:
    """Return where a spelling that agrees with a text at these places begins and ends to agree."""
    back = 0
    while back < min(start, place) and spelling[start - back - 1] == text[place - back - 1]:
        back += 1
    ahead = 0
    most = min(len(spelling) - start, len(text) - place)
    while ahead < most and spelling[start + ahead] == text[place + ahead]:
        ahead += 1
    return place - back, place + ahead


def _make_printable(letter: str) -> str:
    """Return a letter, or its escape where it could steer a terminal."""
    if letter.isprintable():
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def _read_escapes(text: str) -> str:
    r"""Read `\x41` as the letter that it is, so that a key is seen however a library wrote it."""
    return _WRITTEN_OUT.sub(lambda escape: chr(int(escape[1], 16)), text)


def _cut_out(text: str, covered: bytes | bytearray) -> str:
    """Put the mark for what is hidden in the place of what is covered.

    `covered` is of the folded text.
    """
    kept: list[str] = []
    end = 0
    if text.isascii() and len(covered) == len(text):
        for run in re.finditer(b"\1+", covered):
            kept += [text[end : run.start()], _HIDDEN]
            end = run.end()
        return "".join([*kept, text[end:]])
    for letter in text:
        start = end
        end = end + len(_FOLDING[ord(letter)] or "")
        # what is unseen goes with the letters beside it
        around = covered[start - 1 : end + 1] if start == end else covered[start:end]
        if 1 not in around:
            kept.append(letter)
        elif not kept or kept[-1] != _HIDDEN:
            kept.append(_HIDDEN)
    return "".join(kept)


_key_in_use: ContextVar[Secret | None] = ContextVar("key_in_use", default=None)


@contextmanager
def hide_in_logs(key: Secret) -> Iterator[None]:
    """Remove the key from what httpx and httpcore log meanwhile.

    They quote reason phrases and headers of servers.
    """
    token = _key_in_use.set(key)
    try:
        yield
    finally:
        _key_in_use.reset(token)


def _redact_record(record: logging.LogRecord) -> bool:
    if (key := _key_in_use.get()) is not None:
        record.msg = key.redact(record.getMessage())
        record.args = ()
    return True


# A filter of a logger does not see what its children log, so that each one that speaks of calls
# gets it.
for _name in ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy"):
    logging.getLogger(_name).addFilter(_redact_record)
