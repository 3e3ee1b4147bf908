"""One JSON request to a provider over HTTP, and every way it can go wrong as one of our errors.

Failures that may pass (timeouts, broken connections, HTTP 408, 409, 425, 429 and 5xx, JSON that breaks off) are
`Transient` and carry the server's `Retry-After`; the others are final. The key travels in a header that is set at the
last moment; it is in no repr, and it is removed from everything a server says, replies and errors alike.
"""

import json
import re
import time
from collections.abc import Callable
from contextlib import closing
from email.utils import parsedate_to_datetime

import httpx

from bestresponse.core.errors import BadReply, MissingKey, ModelError, ModelUnavailable, Transient, UnknownModel
from bestresponse.models.base import Json
from bestresponse.models.http.clients import HttpClients
from bestresponse.models.http.decoding import read_body
from bestresponse.models.http.secret import KeyHeader, Secret, hide_in_logs

__all__ = ["Endpoint", "Rejected", "parse_retry_after"]

_PASSING = frozenset({408, 409, 425, 429})
_LARGEST = 16 * 2**20
# About 6,000 tokens with 20 alternatives each. A value takes up to 150 bytes and a microsecond to read: one reply takes
# at most about 150 MB and a second, whatever its 16 MB hold.
_MOST_VALUES = 1_000_000
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
        """Send the body; return the JSON that comes back and the seconds it took.

        What is raised was made here or in `_exchange`, and begins a new traceback: the frames below hold what the
        server sent, and some tools show the local variables of every frame.
        """
        began = time.perf_counter()
        try:
            with hide_in_logs(self._key):
                data = self._exchange(json.dumps(body).encode(), began + self._timeout)
            return data, time.perf_counter() - began
        except httpx.TimeoutException:
            failure: ModelError = Transient(f"{self._who} did not answer within {self._timeout:g} s")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            failure = ModelError(f"the address of {self._who} cannot be used: {self._key.quote(str(error))}")
        except (httpx.TransportError, httpx.DecodingError) as error:
            reason = self._key.quote(str(error) or type(error).__name__)
            failure = Transient(f"{self._who} could not be reached, or broke off: {reason}")
        except ModelError as error:
            failure = error
            failure.__context__ = None
        raise failure.with_traceback(None)

    def _exchange(self, content: bytes, end: float) -> Json:
        """Send and receive within the deadline, however slowly the bytes drip and whatever comes before them."""
        if self._parsed is None:
            self._parsed = httpx.URL(self._url)
        request = httpx.Request("POST", self._parsed, headers=self._headers, content=content, extensions=self._patience)
        with (
            self._clients.borrow(end) as client,
            closing(client.send(request, auth=self._auth, stream=True)) as response,
        ):
            encoding = response.headers.get("content-encoding", "")
            codings = [name for name in re.split(r"[\s,]+", encoding.lower()) if name not in ("", "identity")]
            if codings not in ([], ["gzip"], ["x-gzip"], ["deflate"]):
                raise BadReply(
                    f"{self._who} compressed its reply as {self._key.quote(encoding)}; it was asked for gzip or "
                    "deflate, and once at most"
                )
            answer = read_body(response.iter_raw(), self._largest, self._who, compressed=bool(codings))
            wait = parse_retry_after(response.headers.get("retry-after"), self._clock())
        if response.status_code != 200:
            raise self._refuse(response.status_code, wait, answer[:_LONGEST_ERROR])
        data = self._parse(answer)
        if time.perf_counter() > end:
            raise httpx.ReadTimeout("it took too long to parse")
        return data

    def _parse(self, answer: bytes) -> Json:
        if sum(answer.count(mark) for mark in (b",", b"[", b"{")) > _MOST_VALUES:
            raise BadReply(f"{self._who} sent JSON of more than {_MOST_VALUES:,} values for one reply")
        try:
            data: Json = json.loads(answer)
        except (ValueError, RecursionError) as error:
            shown = self._key.quote(answer[:_LONGEST_ERROR].decode("utf-8", "replace"))
            if answer.lstrip()[:1] == b"{" and isinstance(error, json.JSONDecodeError):
                raise Transient(f"{self._who} sent JSON that breaks off or is broken: {shown}") from None
            raise BadReply(f"{self._who} did not answer in JSON: {shown}") from None
        if _is_deeper(data, _MOST_DEPTH):
            raise BadReply(f"{self._who} sent JSON nested deeper than {_MOST_DEPTH} levels")
        return self._key.redact_reply(data, answer)

    def _refuse(self, status: int, wait: float | None, answer: bytes) -> ModelError:
        try:
            data = self._parse(answer)
        except ModelError:
            complaint, text = None, answer.decode("utf-8", "replace")
        else:
            complaint = data.get("error", data) if isinstance(data, dict) else data
            text = str(complaint.get("message", complaint) if isinstance(complaint, dict) else complaint)
        why = f"{self._who} answered HTTP {status}: {self._key.quote(text)}"
        if b"insufficient_quota" in answer:
            return ModelUnavailable(why)
        if status in _PASSING or status >= 500:
            return Transient(why, wait)
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
