"""One JSON request to a provider over HTTP, and every way it can go wrong as one of our errors.

Failures that may pass (timeouts, broken connections, HTTP 408, 409, 425, 429 and 5xx, an empty
answer, one that is no text, no JSON or breaks off) are `Transient` and carry the server's
`Retry-After`; the others are final. The key travels in a header that is set at the last moment; it
is in no repr, and it is removed from everything a server says, replies and errors alike.

A kilobyte that is compressed can hold megabytes, and one that is compressed twice gigabytes.
Replies are short, so they are asked for as they are, and one that is compressed all the same is
refused.
"""

import json
import math
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property

import httpx

from bestresponse.core.errors import (
    BadReply,
    MissingKey,
    ModelError,
    ModelUnavailable,
    Transient,
    UnknownModel,
    Unreached,
)
from bestresponse.models.base import Json, Reply
from bestresponse.models.http.clients import HttpClients
from bestresponse.models.http.secret import Secret, hide_in_logs

_PASSING = frozenset({408, 409, 425, 429})
_LARGEST = 16 * 2**20
# About 3,000 tokens with 20 alternatives each. A value takes up to 150 bytes and a microsecond to
# read: a reply takes at most 8 times the 16 MB that it may have, whatever they hold.
_MOST_VALUES = 500_000
_LONGEST_ERROR = 2**16  # of a refusal more is not looked at: a proxy's page may be long
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": "bestresponse",
}


class Rejected(ModelError):
    """The server understood the request and refused it (HTTP 400 or 422).

    `parameter` is the setting that it names as the one at fault.
    """

    def __init__(self, why: str, parameter: str | None = None) -> None:
        super().__init__(why)
        self.parameter = parameter


@dataclass(frozen=True)
class Endpoint:
    """An address to post JSON to; `server` is what errors call whoever answers there.

    The key is sent in `key_header` after `prefix`, and `variable` names where the user keeps it.
    `timeout` bounds a whole call in seconds, and `largest` the bytes of a reply.
    """

    clients: HttpClients
    url: str
    server: str
    key: Secret
    key_header: str
    prefix: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    variable: str = ""
    timeout: float = 300.0
    largest: int = _LARGEST
    clock: Callable[[], float] = time.time

    def post(self, body: dict[str, Json] | None, read: Callable[[Json], Reply]) -> Reply:
        """Send the body and return what `read` takes out of the JSON that comes back.

        Without a body the address is only read.

        Nothing else of an answer leaves this method: neither its headers nor other fields. What is
        raised begins a new traceback, since the frames below hold what the server sent, and some
        tools show the local variables of every frame.
        """
        try:
            with hide_in_logs(self.key):
                end = time.perf_counter() + self.timeout
                content = None if body is None else json.dumps(body).encode()
                return self._exchange(content, end, read)
        except httpx.TimeoutException as error:
            failure: ModelError = Transient(
                f"{self.server} did not answer within {self.timeout:g} s",
                billed=not isinstance(error, httpx.ConnectTimeout),
            )
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            failure = ModelError(
                f"the address of {self.server} cannot be used: {self.key.quote(str(error))}"
            )
        except (httpx.TransportError, httpx.DecodingError) as error:
            reason = self.key.quote(str(error) or type(error).__name__)
            why = (
                f"{self.server} could not be reached, or broke off: {reason}"
                " (does it run, and is the address right?)"
            )
            failure = Transient(why, billed=True)
            if isinstance(error, httpx.ConnectError):
                failure = Unreached(why)
        except ModelError as error:
            failure = error
            failure.__context__ = None
        raise failure.with_traceback(None)

    @cached_property
    def _address(self) -> httpx.URL:
        return httpx.URL(self.url)

    @cached_property
    def _patience(self) -> dict[str, dict[str, float | None]]:
        return {"timeout": httpx.Timeout(self.timeout, connect=min(self.timeout, 30.0)).as_dict()}

    def _add_key(self, request: httpx.Request) -> httpx.Request:
        if self.key.reveal():
            request.headers[self.key_header] = self.prefix + self.key.reveal()
        return request

    def _exchange(self, content: bytes | None, end: float, read: Callable[[Json], Reply]) -> Reply:
        """Send and receive within the deadline.

        It is kept however slowly the bytes drip and whatever comes before them.
        """
        headers = _HEADERS | self.headers
        request = httpx.Request(
            "GET" if content is None else "POST",
            self._address,
            headers=headers,
            content=content,
            extensions=self._patience,
        )
        with (
            self.clients.borrow(end) as client,
            closing(client.send(request, auth=self._add_key, stream=True)) as response,
        ):
            encoding = response.headers.get("content-encoding", "")
            answer = read_body(response.iter_raw(), self.largest, self.server)
            sent = parse_date(response.headers.get("date"))
            now = self.clock() if sent is None else sent
            wait = parse_retry_after(response.headers.get("retry-after"), now)
        if response.status_code != 200:
            raise self._refuse(response.status_code, wait, answer[:_LONGEST_ERROR])
        if encoding.strip().lower() not in ("", "identity"):
            raise BadReply(
                f"{self.server} compressed its reply as {self.key.quote(encoding)}, and was asked"
                " not to"
            )
        reply = self.key.redact_reply(read(self._parse(answer)))
        if time.perf_counter() > end:
            raise httpx.ReadTimeout("it took too long to parse")
        return reply

    def _parse(self, answer: bytes) -> Json:
        if len(answer) > self.largest // 2 and not answer.isascii():
            # one character from beyond the first planes makes Python take four bytes for each of
            # them, twice over
            raise BadReply(
                f"{self.server} sent more than {self.largest / 2**21:.4g} MB beyond ASCII for one"
                " reply"
            )
        num_values = answer.count(b",") + answer.count(b"[") + answer.count(b"{")
        if num_values > _MOST_VALUES:
            raise BadReply(
                f"{self.server} sent JSON of more than {_MOST_VALUES:,} values for one reply"
            )
        try:
            # Decoded here, once: left to itself the parser also reads UTF-16 and UTF-32.
            text = answer.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self._refuse_encoding(answer, f"byte {error.start + 1:,} is not") from None
        if "\0" in text:
            raise self._refuse_encoding(answer, "a NUL says that it is not")
        try:
            data: Json = json.loads(text)
        except (ValueError, RecursionError) as error:
            shown = self.key.quote(answer[:_LONGEST_ERROR].decode("utf-8", "replace"))
            why = f"{self.server} did not answer in JSON, or in JSON that breaks off: {shown}"
            if isinstance(error, json.JSONDecodeError):
                raise Transient(why, billed=True) from None
            raise BadReply(why) from None
        return data

    def _refuse_encoding(self, answer: bytes, why: str) -> Transient:
        shown = self.key.quote(answer[:_LONGEST_ERROR].decode("utf-8", "replace"))
        return Transient(
            f"{self.server} did not answer in JSON, which must be UTF-8 ({why}): {shown}",
            billed=True,
        )

    def _refuse(self, status: int, wait: float | None, answer: bytes) -> ModelError:
        parameter = None
        try:
            data = self._parse(answer)
        except ModelError:
            text = answer.decode("utf-8", "replace")
        else:
            complaint = data.get("error", data) if isinstance(data, dict) else data
            if isinstance(complaint, dict):
                named = complaint.get("param")
                parameter = self.key.quote(named) if isinstance(named, str) else None
                complaint = complaint.get("message", complaint)
            text = str(complaint)
        why = f"{self.server} answered HTTP {status}: {self.key.quote(text)}"
        if b"insufficient_quota" in answer:
            return ModelUnavailable(why)
        if status in _PASSING or status >= 500:
            return Transient(why, wait)
        if status in (400, 422):
            return Rejected(why, parameter)
        if status == 401:
            advice = (
                f"check the key in {self.variable}" if self.variable else "this server wants a key"
            )
            return MissingKey(f"{why} ({advice})")
        if status == 404:
            return UnknownModel(f"{why} (is the name of the model right, and the address?)")
        if 300 <= status < 400:
            return ModelError(
                f"{self.server} sends callers elsewhere (HTTP {status}); give its final address"
            )
        return ModelError(why)


def read_body(pieces: Iterable[bytes], limit: int, server: str) -> bytes:
    """Join the pieces of a body; `BadReply` beyond `limit` bytes."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            raise BadReply(f"{server} sent more than {limit / 2**20:.4g} MB for one reply")
    return bytes(body)


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds to wait from a `Retry-After` header (RFC 9110, 10.2.3).

    The header holds a number or a date.

    >>> parse_retry_after("2.5", now=0.0)
    2.5
    >>> parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0)
    10.0
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        date = parse_date(value)
        if date is None:
            return None
        seconds = date - now
    if math.isnan(seconds):
        return None
    return max(0.0, seconds)


def parse_date(value: str | None) -> float | None:
    """Return the date of a header in seconds since 1970; None where it holds none.

    A server's own `Date` says when it sent a `Retry-After`: so the clock of this machine, which may
    have been set meanwhile, changes no wait.
    """
    try:
        return None if value is None else parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
