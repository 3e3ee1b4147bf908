"""API keys: kept out of reprs, logs and pickles, and removed from everything a server sends back.

Whatever a server says becomes text by one of two methods of `Secret`: `quote` for messages,
`redact_reply` for the data of a reply. Both look at decoded text, never at bytes: what the bytes of
an encoding do not show, its text does. `hide_in_logs` does the same for what httpx and httpcore log
of a call.
"""

import logging
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Json

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
_WRITTEN_OUT = re.compile(r"\\(?:x|u00)([0-9a-fA-F]{2})")
"""A character as the repr of bytes writes it, which libraries quote of headers that they refuse, or
as JSON does."""
_BETWEEN_HEXADECIMALS = ("", "%", ":", "-", " ", "\\x", "\\u00")
_BLANK_LETTERS = "\u115f\u1160\u2800"
"""Fillers of Hangul and the empty pattern of Braille: letters and signs that nobody sees."""
# A text of up to so many characters may be a piece of a longer one, as a token is; longer ones are
# looked at alone.
_LONGEST_TOKEN = 64
# A reply that is meant well has a few dozen places, and no more than 20 alternatives for a token.
_MOST_PLACES = 1_000
_MOST_RANKS = 32
# A text with more parts of the key than that is hidden as a whole: marking them would take longer
# than a call.
_MOST_FOUND = 100_000
_NOWHERE = -1
_ANY_RANK = -1

_Holder = list[Json] | dict[str, Json]


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

    __slots__ = ("_halves", "_spellings", "_text")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text = text.strip()
        del text  # a traceback that shows local variables must not show the key
        folded = map(_fold, _spell(self._text))
        self._spellings = tuple(dict.fromkeys(folded))
        self._halves: dict[int, tuple[str, ...]] = {}
        for shortest in (_SHORTEST_PIECE, _SHORTEST_PIECE_OF_REPLIES):
            halves = [half for spelling in self._spellings for half in _halve(spelling, shortest)]
            self._halves[shortest] = tuple(halves)
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
        folded = _fold(text)
        if not self._may_stand_in(folded, shortest):
            return text
        return _cut_out(text, self._cover(folded, shortest))

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

    def redact_reply(self, data: Json) -> Json:
        """Remove the key from every text of a reply, in place, and return the reply.

        A key that is cut into texts that follow each other, as tokens do, is found too. Keys of
        fewer than 12 characters stay: local servers are given keys such as "EMPTY", which a model
        may say.
        """
        if len(self._text) < _SHORTEST_PIECE_OF_REPLIES:
            return data
        reply: list[Json] = [data]
        names, orders = _gather_texts(reply)
        hidden: dict[tuple[int, int | str], _Hidden] = {}
        for texts in orders:
            self._find_in(texts, hidden)
        for place in hidden.values():
            place.holder[place.key] = _cut_out(place.text, place.covered)  # type: ignore[index]
        if self._may_stand_in(_fold("".join(names)), _SHORTEST_PIECE_OF_REPLIES):
            return self._redact_names(reply[0])
        return reply[0]

    def _redact_names(self, data: Json) -> Json:
        """Remove the key from the names of all fields."""
        if isinstance(data, list):
            return [self._redact_names(item) for item in data]
        if isinstance(data, dict):
            return {
                self.redact(name, _SHORTEST_PIECE_OF_REPLIES): self._redact_names(item)
                for name, item in data.items()
            }
        return data

    def _find_in(self, texts: "_Texts", hidden: dict[tuple[int, int | str], "_Hidden"]) -> None:
        """Add what belongs to the key in texts that are read one after the other."""
        folded = _fold("".join(texts.read()))
        if not self._may_stand_in(folded, _SHORTEST_PIECE_OF_REPLIES):
            return
        covered = self._cover(folded, _SHORTEST_PIECE_OF_REPLIES)
        end = 0
        for holder, key, text in zip(texts.holders, texts.keys, texts.read(), strict=True):
            start = end
            end = end + len(_fold(text))
            part = covered[start:end]
            if 1 not in part:
                continue
            known = hidden.setdefault((id(holder), key), _Hidden(holder, key, text, part))
            if known.covered is not part:
                known.covered[:] = bytes(map(max, known.covered, part))

    def _may_stand_in(self, folded: str, shortest: int) -> bool:
        """Say whether a text may contain a part of the key.

        Quickly, since most texts hold none.
        """
        return any(half in folded for half in self._halves[shortest])

    def _cover(self, folded: str, shortest: int) -> bytearray:
        """Mark the characters of a text that belong to a part of the key.

        All of them where it is little else.
        """
        covered = bytearray(len(folded))
        found = 0
        for piece in self._cut_pieces(shortest):
            start = folded.find(piece)
            while start >= 0:
                covered[start : start + len(piece)] = b"\1" * len(piece)
                start = folded.find(piece, start + 1)
                found += 1
                if found > _MOST_FOUND:
                    return bytearray(b"\1") * len(folded)
        return covered

    def _cut_pieces(self, length: int) -> Iterator[str]:
        """Yield every part of that length of every spelling; of a shorter one all of it."""
        for spelling in filter(None, self._spellings):
            num_starts = max(1, len(spelling) - length + 1)
            for start in range(num_starts):
                yield spelling[start : start + length]

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


def _halve(spelling: str, shortest: int) -> list[str]:
    """Cut a spelling so that one of these stands whole in any `shortest` characters of it in a row.

    They are half as long, and begin at the multiples of their length.
    """
    if len(spelling) < shortest:
        return [spelling] if spelling else []
    half = (shortest + 1) // 2
    starts = range(0, len(spelling) - half + 1, half)
    return [spelling[start : start + half] for start in starts]


def _make_printable(letter: str) -> str:
    """Return a letter, or its escape where it could steer a terminal."""
    if letter.isprintable():
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def _read_escapes(text: str) -> str:
    r"""Read `\x41` as the letter that it is, so that a key is seen however a library wrote it."""
    return _WRITTEN_OUT.sub(lambda escape: chr(int(escape[1], 16)), text)


def _cut_out(text: str, covered: bytearray) -> str:
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


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A text of a reply that holds a part of the key.

    Holds where it is, and what is covered of it as it is folded.
    """

    holder: _Holder
    key: int | str
    text: str
    covered: bytearray


class _Texts:
    """Texts of a reply that are read one after the other.

    Holds the lists and objects, and the index or name in each.

    Two lists, since a reply may have half a million texts and a pair for each would take more
    memory than they do.
    """

    __slots__ = ("holders", "keys")

    def __init__(self) -> None:
        self.holders: list[_Holder] = []
        self.keys: list[int | str] = []

    def add(self, holder: _Holder, key: int | str) -> None:
        """Add the text found there."""
        self.holders.append(holder)
        self.keys.append(key)

    def read(self) -> Iterator[str]:
        """Yield the texts."""
        for holder, key in zip(self.holders, self.keys, strict=True):
            yield holder[key]  # type: ignore[index, misc]


def _gather_texts(reply: list[Json]) -> tuple[list[str], list[_Texts]]:
    """Gather the names of fields of a reply, and its texts in the orders in which they may be read.

    All of them, as they come; then those of one field of all objects of a list, such as the tokens
    of an answer; then those that have the same number in the innermost list, such as the likeliest
    alternative of every token.
    """
    names: list[str] = []
    everything = _Texts()
    columns: dict[tuple[int, int], _Texts] = {}
    places: dict[tuple[int, str], int] = {}
    # what is open: a list or object, what is left of it, the number of its place, and the last
    # index that led to it
    waiting: list[tuple[_Holder, Iterator[tuple[int | str, Json]], int, int]] = [
        (reply, enumerate(reply), 0, 0)
    ]
    while waiting:
        holder, left, place, rank = waiting[-1]
        key, value = next(left, (None, None))
        if key is None:
            waiting.pop()
            continue
        if isinstance(key, int):
            here = place
            rank = key
        elif (place, key) in places or len(places) < _MOST_PLACES:
            here = places.setdefault((place, key), len(places) + 1)
        else:
            here = _NOWHERE
        if isinstance(value, dict):
            names += value
            waiting.append((value, iter(value.items()), here, rank))
        elif isinstance(value, list):
            waiting.append((value, enumerate(value), here, rank))
        elif isinstance(value, str):
            everything.add(holder, key)
            if len(value) <= _LONGEST_TOKEN and here != _NOWHERE:
                columns.setdefault((here, _ANY_RANK), _Texts()).add(holder, key)
                if rank < _MOST_RANKS:
                    columns.setdefault((here, rank), _Texts()).add(holder, key)
    return names, [everything, *(texts for texts in columns.values() if len(texts.keys) > 1)]


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
