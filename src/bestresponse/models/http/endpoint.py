"""One JSON request to a provider over HTTP, and every way it can go wrong as one of our errors.

Failures that may pass (timeouts, broken connections, HTTP 408, 409, 425, 429 and 5xx, JSON that breaks off) are
`Transient` and carry the server's `Retry-After`; the others are final. The key travels in a header that is set at the
last moment; it is in no repr, and it is removed from everything a server says, replies and errors alike.
"""

import json
import time
from collections.abc import Callable
from contextlib import closing
from email.utils import parsedate_to_datetime

import httpx

from bestresponse.core.errors import BadReply, MissingKey, ModelError, ModelUnavailable, Transient, UnknownModel
from bestresponse.models.base import Json
from bestresponse.models.http.clients import HttpClients
from bestresponse.models.http.decoding import read_body
from bestresponse.models.http.secret import KeyHeader, Secret
from bestresponse.models.http.text import make_printable

__all__ = ["Endpoint", "Rejected", "parse_retry_after"]

_PASSING = frozenset({408, 409, 425, 429})
_LARGEST = 32 * 2**20
_SHOWN = 300
_LONGEST_ERROR = 2**16
_MOST_DEPTH = 100
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "user-agent": "bestresponse",
}


class Rejected(ModelError):
    """The server understood the request and refused it (HTTP 400 or 422); `complaint` is what it sent back."""

    def __init__(self, why: str, complaint: Json) -> None:
        super().__init__(why)
        self.complaint = complaint


class Endpoint:
    """An address to post JSON to.

    `variable` names where the user keeps the key, `timeout` bounds a whole call in seconds, and `largest` the bytes of
    a reply, as sent and as decompressed.
    """

    def __init__(
        self,
        clients: HttpClients,
        url: str,
        *,
        who: str,
        key: Secret,
        auth: KeyHeader,
        headers: tuple[tuple[str, str], ...] = (),
        variable: str = "",
        timeout: float = 300.0,
        largest: int = _LARGEST,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clients = clients
        self._url = url
        self._who = who
        self._key = key
        self._auth = auth
        self._headers = httpx.Headers({**_HEADERS, **dict(headers)})
        self._parsed: httpx.URL | None = None
        self._variable = variable
        self._timeout = timeout
        self._largest = largest
        self._patience = {"timeout": httpx.Timeout(timeout, connect=min(timeout, 30.0)).as_dict()}
        self._clock = clock

    def post(self, body: dict[str, Json]) -> tuple[Json, float]:
        """Send the body; return the JSON that comes back and the seconds it took."""
        began = time.perf_counter()
        content = json.dumps(body).encode()
        try:
            status, headers, answer = self._exchange(content, began + self._timeout)
        except httpx.TimeoutException:
            raise Transient(f"{self._who} did not answer within {self._timeout:g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise ModelError(f"the address of {self._who} cannot be used: {self._show(str(error))}") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            reason = self._show(str(error) or type(error).__name__)
            raise Transient(f"{self._who} could not be reached, or broke off: {reason}") from None
        if status == 200:
            return self._parse(answer), time.perf_counter() - began
        raise self._refuse(status, headers, answer)

    def _exchange(self, content: bytes, end: float) -> tuple[int, httpx.Headers, bytes]:
        """Send and receive within the deadline, however slowly the bytes drip and whatever comes before them."""
        if self._parsed is None:
            self._parsed = httpx.URL(self._url)
        request = httpx.Request("POST", self._parsed, headers=self._headers, content=content, extensions=self._patience)
        with (
            self._clients.borrow(end) as client,
            closing(client.send(request, auth=self._auth, stream=True)) as response,
        ):
            encoding = response.headers.get("content-encoding", "")
            answer = read_body(response.iter_raw(), encoding, self._largest, self._who)
            return response.status_code, response.headers, self._clean(response.status_code, answer)

    def _clean(self, status: int, answer: bytes) -> bytes:
        """Remove the key from an answer that is not JSON as it should be, before it gets anywhere.

        Looking for pieces of the key takes time for each of them, so that only the beginning is kept.
        """
        if status == 200 and answer.lstrip()[:1] == b"{" and answer.rstrip()[-1:] == b"}":
            return answer
        return self._key.redact_error(answer[:_LONGEST_ERROR].decode("utf-8", "replace")).encode()

    def _parse(self, answer: bytes) -> Json:
        try:
            data: Json = json.loads(answer)
        except (ValueError, RecursionError) as error:
            looks_like_json = answer.lstrip()[:1] == b"{" and isinstance(error, json.JSONDecodeError)
            shown = self._show(answer.decode("utf-8", "replace"))
            answer = b""
            if looks_like_json:
                raise Transient(f"{self._who} sent JSON that breaks off or is broken: {shown}") from None
            raise BadReply(f"{self._who} did not answer in JSON: {shown}") from None
        if _is_deeper(data, _MOST_DEPTH):
            raise BadReply(f"{self._who} sent JSON nested deeper than {_MOST_DEPTH} levels")
        return self._key.redact_reply(data, answer)

    def _refuse(self, status: int, headers: httpx.Headers, answer: bytes) -> ModelError:
        complaint, text = self._read_complaint(answer)
        why = f"{self._who} answered HTTP {status}: {text}"
        if b"insufficient_quota" in answer[: 16 * _SHOWN]:
            return ModelUnavailable(why)
        if status in _PASSING or status >= 500:
            return Transient(why, parse_retry_after(headers.get("retry-after"), self._clock()))
        if status in (400, 422):
            return Rejected(why, complaint)
        if status == 401:
            advice = f"check the key in {self._variable}" if self._variable else "this server wants a key"
            return MissingKey(f"{why} ({advice})")
        if status == 404:
            return UnknownModel(f"{why} (is the name of the model right, and the address?)")
        if 300 <= status < 400:
            return ModelError(f"{self._who} sends callers elsewhere (HTTP {status}); give its final address")
        return ModelError(why)

    def _read_complaint(self, answer: bytes) -> tuple[Json, str]:
        """Return what the server says is wrong: as data, and as one line; both without the key."""
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            return None, self._show(answer.decode("utf-8", "replace"))
        data = None if _is_deeper(data, _MOST_DEPTH) else self._key.redact_reply(data, answer)
        error = data.get("error", data) if isinstance(data, dict) else data
        text = error.get("message", error) if isinstance(error, dict) else error
        return error, self._show(str(text))

    def _show(self, text: str) -> str:
        """Return the beginning of a foreign text as one printable line without the key."""
        line = make_printable(" ".join(self._key.redact_error(text[: 16 * _SHOWN]).split()))
        return (line[:_SHOWN] + "..." if len(line) > _SHOWN else line) or "nothing"


def _is_deeper(data: Json, most: int) -> bool:
    """Tell whether lists and objects are nested deeper than `most`; no provider needs more than about ten levels."""
    level: list[Json] = [data]
    for _ in range(most):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [child for children in inner for child in children if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds to wait from a `Retry-After` header (RFC 9110, 10.2.3): a number, or a date.

    >>> parse_retry_after("2.5", now=0.0), parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0)
    (2.5, 10.0)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None
