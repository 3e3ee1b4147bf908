"""One JSON request to a provider over HTTP, and every way it can go wrong as one of our errors.

Failures that may pass (timeouts, broken connections, HTTP 408, 409, 425, 429 and 5xx, JSON that breaks off) are
`Transient` and carry the server's `Retry-After`; the others are final. The key travels in a header that is set at the
last moment; it is in no repr, and it is cut out of everything a server says before that reaches a message.
"""

import json
import re
import ssl
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import quote

import httpx

from bestresponse.core.errors import BadReply, MissingKey, ModelError, ModelUnavailable, Transient, UnknownModel

__all__ = ["Endpoint", "HttpClients", "KeyHeader", "Rejected", "Secret", "retry_after"]

_PASSING = frozenset({408, 409, 425, 429})
_LARGEST = 32 * 2**20
_SHOWN = 300
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "user-agent": "bestresponse",
}
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk-|AIza)[\w*.\-]{4,}")


class Secret:
    """A text that shows itself to nobody who does not ask for it by name."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def cut_from(self, text: str) -> str:
        """The text without the secret, or anything that looks like a key."""
        for spelling in {self._text, quote(self._text, safe=""), self._text.replace("/", "\\/")} - {""}:
            text = text.replace(spelling, "***")
        return _LOOKS_LIKE_KEY.sub("***", text)

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is never written down")


class KeyHeader(httpx.Auth):
    """Puts the key into the request while it is being sent, and nowhere else."""

    def __init__(self, header: str, key: Secret, prefix: str = "") -> None:
        self._header = header
        self._prefix = prefix
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._key.reveal():
            request.headers[self._header] = self._prefix + self._key.reveal()
        yield request


class Rejected(ModelError):
    """The server understood the request and refused it (HTTP 400 or 422); `complaint` is what it sent back."""

    def __init__(self, why: str, complaint: Any) -> None:
        super().__init__(why)
        self.complaint = complaint


class HttpClients:
    """HTTP clients for any number of calls at once; share one of these between all models.

    Every call borrows a client of its own, with the connection it has kept open. One client for all calls would look
    through its connections, idle ones too, at every call: with 64 in flight that costs more than the calls.
    """

    def __init__(self) -> None:
        self._idle: deque[httpx.Client] = deque()
        self._trust: ssl.SSLContext | None = None

    @contextmanager
    def borrow(self) -> Iterator[httpx.Client]:
        """A client nobody else uses meanwhile: the one used last, or a new one."""
        try:
            client = self._idle.pop()
        except IndexError:
            client = self._new()
        try:
            yield client
        finally:
            self._idle.append(client)

    def close(self) -> None:
        """Close all connections that are idle."""
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _new(self) -> httpx.Client:
        if self._trust is None:
            self._trust = httpx.create_ssl_context()
        return httpx.Client(verify=self._trust, follow_redirects=False)


class Endpoint:
    """A place to post JSON to. `variable` names where the user keeps the key; `timeout` bounds a whole call."""

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
        self._patience = {"timeout": httpx.Timeout(timeout, connect=min(timeout, 30.0)).as_dict()}
        self._clock = clock

    def post(self, body: dict[str, Any]) -> tuple[Any, float]:
        """The JSON that comes back, and the seconds it took."""
        began = time.perf_counter()
        content = json.dumps(body).encode()
        try:
            status, headers, answer = self._exchange(content, began + self._timeout)
        except httpx.TimeoutException:
            raise Transient(f"{self._who} did not answer within {self._timeout:g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise ModelError(f"the address of {self._who} cannot be used: {self._key.cut_from(str(error))}") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            reason = self._key.cut_from(str(error)) or type(error).__name__
            raise Transient(f"{self._who} could not be reached, or broke off: {reason}") from None
        if status == 200:
            return self._parse(answer), time.perf_counter() - began
        raise self._refusal(status, headers, answer)

    def _exchange(self, content: bytes, deadline: float) -> tuple[int, httpx.Headers, bytes]:
        """Send and receive within the deadline, however slowly the bytes drip."""
        chunks, size = [], 0
        if self._parsed is None:
            self._parsed = httpx.URL(self._url)
        request = httpx.Request("POST", self._parsed, headers=self._headers, content=content, extensions=self._patience)
        with (
            self._clients.borrow() as client,
            closing(client.send(request, auth=self._auth, stream=True)) as response,
        ):
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if time.perf_counter() > deadline:
                    raise httpx.ReadTimeout("the bytes drip")
                if size > _LARGEST:
                    chunks.clear()
                    raise BadReply(f"{self._who} sent more than {_LARGEST // 2**20} MB for one reply")
            return response.status_code, response.headers, self._clean(response.status_code, b"".join(chunks))

    def _clean(self, status: int, answer: bytes) -> bytes:
        """An answer that is JSON as it is; any other without the key, before it gets anywhere."""
        if status == 200 and answer.lstrip()[:1] == b"{" and answer.rstrip()[-1:] == b"}":
            return answer
        return self._key.cut_from(answer.decode("utf-8", "replace")).encode()

    def _parse(self, answer: bytes) -> Any:
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            shown = self._shown(answer)
            if answer.lstrip()[:1] == b"{" and isinstance(error, json.JSONDecodeError):
                raise Transient(f"{self._who} sent JSON that breaks off or is broken: {shown}") from None
            raise BadReply(f"{self._who} did not answer in JSON: {shown}") from None

    def _refusal(self, status: int, headers: httpx.Headers, answer: bytes) -> ModelError:
        complaint, text = self._complaint(answer)
        why = f"{self._who} answered HTTP {status}: {text}"
        if "insufficient_quota" in self._shown(answer):
            return ModelUnavailable(why)
        if status in _PASSING or status >= 500:
            return Transient(why, retry_after(headers.get("retry-after"), self._clock()))
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

    def _complaint(self, answer: bytes) -> tuple[Any, str]:
        """What the server says is wrong: as data, and as one line without the key."""
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            return None, self._shown(answer)
        error = data.get("error", data) if isinstance(data, dict) else data
        text = error.get("message", error) if isinstance(error, dict) else error
        return error, self._shown(str(text).encode("utf-8", "replace"))

    def _shown(self, answer: bytes) -> str:
        text = " ".join(self._key.cut_from(answer[: 16 * _SHOWN].decode("utf-8", "replace")).split())
        return (text[:_SHOWN] + "..." if len(text) > _SHOWN else text) or "nothing"


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait from a `Retry-After` header (RFC 9110, 10.2.3): a number, or a date.

    >>> retry_after("2.5", now=0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0)
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
