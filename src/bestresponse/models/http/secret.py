"""API keys: kept out of reprs, logs and pickles, and removed from everything a server sends back.

Whatever a server says becomes text by one of two methods of `Secret`: `quote` for messages, `redact_reply` for the data
of a reply. `hide_in_logs` does the same for what httpx and httpcore log of a call.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import quote

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Json

_HIDDEN = "***"
_SHORTEST_PIECE = 8
# Longer in replies: a piece of 8 of "sk-no-key-required", the dummy key of local servers, is a word that models use.
_SHORTEST_PIECE_OF_REPLIES = 12
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk-|AIza|gsk_|hf_|xai-)[\w*.\-]{4,}")
_QUOTED = 300
# Pieces are looked for one by one, and escapes make a text longer: no more of a foreign text is looked at.
_LOOKED_AT = 16 * _QUOTED
_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-f])")
"""A printable ASCII character as JSON may write it: in replies the key is looked for whether it is spelt so or not."""
_FOLD = str.maketrans(ascii_uppercase, ascii_lowercase)


class Secret:
    """Hold a secret that is redacted in repr() and logs.

    White space around it is removed, since a key read from a file often ends in a line break. Characters that no HTTP
    header can hold are refused; `variable` names where the user keeps the key, for that message.
    """

    __slots__ = ("_spellings", "_text")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text = text.strip()
        del text  # a traceback that shows local variables must not show the key
        # As texts spell a key: as it is, in an address, and as JSON often writes it; case does not count.
        spellings = (self._text, quote(self._text, safe=""), self._text.replace("/", "\\/"))
        self._spellings = tuple(dict.fromkeys(spelling.translate(_FOLD) for spelling in spellings))
        for position, character in enumerate(self._text, 1):
            if not " " <= character <= "~":
                where = f" in {variable}" if variable else ""
                raise UsageError(
                    f"the API key{where} contains U+{ord(character):04X} at position {position}, which no key "
                    "contains: copy the key again"
                )

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._text

    def redact(self, text: str, shortest: int = _SHORTEST_PIECE) -> str:
        """Remove the key, and every part of it of `shortest` characters or more, however it is spelt."""
        folded = text.translate(_FOLD)
        covered = bytearray(len(text))
        for piece in self._cut_pieces(shortest):
            start = folded.find(piece)
            while start >= 0:
                covered[start : start + len(piece)] = b"\1" * len(piece)
                start = folded.find(piece, start + 1)
        kept, end = [], 0
        for run in re.finditer(b"\1+", covered):
            kept += [text[end : run.start()], _HIDDEN]
            end = run.end()
        return "".join([*kept, text[end:]])

    def quote(self, text: str) -> str:
        r"""Return the beginning of a foreign text as one printable line, without the key and what looks like a key.

        Controls, direction overrides and surrogates are written as their escapes: they can steer the reader's terminal.

        >>> Secret("").quote("red:\n\x1b[31m")
        'red: \\x1b[31m'
        """
        line = " ".join(_LOOKS_LIKE_KEY.sub(_HIDDEN, self.redact(text[:_LOOKED_AT])).split())
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
        return (line[:_QUOTED] + "..." if len(line) > _QUOTED else line) or "nothing"

    def redact_reply(self, data: Json, wire: bytes) -> Json:
        """Remove the key from every text of a reply that was parsed from `wire`.

        Keys of fewer than 12 characters stay: local servers are given keys such as "EMPTY", which a model may say.
        """
        if len(self._text) < _SHORTEST_PIECE_OF_REPLIES:
            return data
        folded = _ESCAPED.sub(lambda escape: bytes([int(escape[1], 16)]), wire.lower()).replace(b"\\/", b"/").lower()
        quoted = "\\" in self._text or '"' in self._text
        if quoted or any(piece.encode() in folded for piece in self._cut_pieces(_SHORTEST_PIECE_OF_REPLIES)):
            return self._redact_data(data)
        return data

    def _redact_data(self, data: Json) -> Json:
        if isinstance(data, str):
            # a shorter text holds no piece, and a reply may have half a million of them
            return self.redact(data, _SHORTEST_PIECE_OF_REPLIES) if len(data) >= _SHORTEST_PIECE_OF_REPLIES else data
        if isinstance(data, list):
            return [self._redact_data(item) for item in data]
        if isinstance(data, dict):
            return {str(self._redact_data(name)): self._redact_data(item) for name, item in data.items()}
        return data

    def _cut_pieces(self, length: int) -> Iterator[str]:
        """Yield every part of that length of every spelling; of a shorter one all of it."""
        for spelling in filter(None, self._spellings):
            for start in range(max(1, len(spelling) - length + 1)):
                yield spelling[start : start + length]

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is never written down")


_key_in_use: ContextVar[Secret | None] = ContextVar("key_in_use", default=None)


@contextmanager
def hide_in_logs(key: Secret) -> Iterator[None]:
    """Remove the key from what httpx and httpcore log meanwhile: they quote reason phrases and headers of servers."""
    token = _key_in_use.set(key)
    try:
        yield
    finally:
        _key_in_use.reset(token)


def _redact_record(record: logging.LogRecord) -> bool:
    if (key := _key_in_use.get()) is not None:
        record.msg, record.args = key.redact(record.getMessage()), ()
    return True


# A filter of a logger does not see what its children log, so that each one that speaks of calls gets it.
for _name in ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy"):
    logging.getLogger(_name).addFilter(_redact_record)
