"""API keys: kept out of reprs, logs and pickles, and removed from everything a server sends back."""

import re
from collections.abc import Callable, Generator
from urllib.parse import quote

import httpx

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Json

__all__ = ["KeyHeader", "Secret"]

_HIDDEN = "***"
_FRAGMENT = 8
_SHORTEST_IN_REPLIES = 12
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk-|AIza)[\w*.\-]{4,}")


class Secret:
    """Hold a secret that is redacted in repr() and logs.

    White space around it is removed, since a key read from a file often ends in a line break. Characters that no HTTP
    header can hold are refused; `variable` names where the user keeps the key, for that message.
    """

    __slots__ = ("_spellings", "_text")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text = text.strip()
        del text  # a traceback that shows local variables must not show the key
        self._spellings = _spell(self._text)
        for place, character in enumerate(self._text, 1):
            if not " " <= character <= "~":
                where = f" in {variable}" if variable else ""
                raise UsageError(
                    f"the API key{where} contains U+{ord(character):04X} at position {place}, which no key contains: "
                    "copy the key again"
                )

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._text

    def redact_error(self, text: str) -> str:
        """Remove the key from an error text, also a piece of eight characters of it, and what looks like a key."""
        return _LOOKS_LIKE_KEY.sub(_HIDDEN, self._redact_pieces(self._redact_whole(text)))

    def redact_reply(self, data: Json, wire: bytes) -> Json:
        """Remove the key from every text of a reply that was parsed from `wire`.

        Keys of fewer than 12 characters stay: local servers are given keys such as "EMPTY", which a model may say.
        """
        if len(self._text) < _SHORTEST_IN_REPLIES:
            return data
        escaped = b"\\u" in wire or b"\\/" in wire or "\\" in self._text or '"' in self._text
        if not escaped and not any(spelling.encode() in wire for spelling in self._spellings):
            return data
        return _rebuild(data, self._redact_whole)

    def _redact_whole(self, text: str) -> str:
        for spelling in self._spellings:
            text = text.replace(spelling, _HIDDEN)
        return text

    def _redact_pieces(self, text: str) -> str:
        """Replace every run of characters made of pieces of the key: a text that breaks off shows most of it."""
        pieces = {self._text[start : start + _FRAGMENT] for start in range(len(self._text) - _FRAGMENT + 1)}
        covered: set[int] = set()
        for piece in pieces:
            start = text.find(piece)
            while start >= 0:
                covered.update(range(start, start + _FRAGMENT))
                start = text.find(piece, start + 1)
        if not covered:
            return text
        return re.sub("\0+", _HIDDEN, "".join("\0" if n in covered else c for n, c in enumerate(text)))

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is never written down")


class KeyHeader(httpx.Auth):
    """Put the key into a header while the request is being sent, and nowhere else."""

    def __init__(self, header: str, key: Secret, prefix: str = "") -> None:
        self._header = header
        self._prefix = prefix
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header, unless there is no key."""
        if self._key.reveal():
            request.headers[self._header] = self._prefix + self._key.reveal()
        yield request


def _spell(key: str) -> tuple[str, ...]:
    """List the ways in which texts spell a key: as it is, in an address, and as JSON often writes it."""
    return tuple(dict.fromkeys(one for one in (key, quote(key, safe=""), key.replace("/", "\\/")) if one))


def _rebuild(data: Json, replace: Callable[[str], str]) -> Json:
    if isinstance(data, str):
        return replace(data)
    if isinstance(data, list):
        return [_rebuild(one, replace) for one in data]
    if isinstance(data, dict):
        return {replace(name): _rebuild(one, replace) for name, one in data.items()}
    return data
