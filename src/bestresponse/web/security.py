"""Unguessable links, and limits on what a client may send and ask for.

A token is an HMAC-SHA256 of what it opens (a seat of a session, the admin's pages), so nothing but
the secret has to be kept, links survive a restart, and no record or export can leak one. The
admin's browser keeps no token: its cookie holds a word that was drawn for it and opens nothing any
more once the admin has left.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bestresponse.core.files import read_text_file
from bestresponse.core.json import canonical
from bestresponse.report.files import explain_os_error, write_text

_LENGTH = 32
_MOST_SESSIONS = 100


class Keys:
    """Makes tokens and checks them in constant time.

    The hashes of the admin's sessions are kept in the file `begun`, if one is given.
    """

    def __init__(
        self,
        secret: str,
        admin: str | None = None,
        begun: Path | None = None,
    ) -> None:
        self.secret = secret
        self.admin = admin or self.token("admin")
        self._begun = begun

    @lru_cache(maxsize=20_000)  # noqa: B019 - a server has one of these, and every page has the same doors again
    def token(self, *door: str | int) -> str:
        """Make the token that opens `door`; the same door always gives the same token."""
        code = hmac.new(
            self.secret.encode("utf-8"), canonical(list(door)).encode("utf-8"), hashlib.sha256
        ).digest()
        return base64.urlsafe_b64encode(code).decode("ascii")[:_LENGTH]

    def opens(self, token: str, *door: str | int) -> bool:
        """Tell whether `token` opens `door`."""
        return _same(token, self.token(*door))

    def is_admin(self, token: str) -> bool:
        """Tell whether `token` is the admin's."""
        return _same(token, self.admin)

    def begin_session(self) -> str:
        """Begin a session of the admin, and return what its cookie holds."""
        session = secrets.token_urlsafe(_LENGTH)
        self._keep([*self._sessions, _hash(session)][-_MOST_SESSIONS:])
        return session

    def is_session(self, session: str) -> bool:
        """Tell whether the admin began that session and has not left it."""
        return _hash(session) in self._sessions

    def end_session(self, session: str) -> None:
        """Let the cookie of that session open nothing any more."""
        self._keep([begun for begun in self._sessions if begun != _hash(session)])

    @cached_property
    def _sessions(self) -> list[str]:
        with suppress(OSError):
            if self._begun is not None:
                return read_text_file(self._begun, _LARGEST_SECRET * _MOST_SESSIONS).split()
        return []

    def _keep(self, sessions: list[str]) -> None:
        self._sessions = sessions
        if self._begun is not None:
            write_text(self._begun, "\n".join(sessions))


def _hash(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def _same(received: str, wanted: str) -> bool:
    return hmac.compare_digest(
        received.encode("utf-8", "surrogatepass"), wanted.encode("utf-8", "surrogatepass")
    )


def load_secret(path: Path) -> str:
    """Load the secret from that file, readable by its owner only; create it where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii"
        ) as file:
            secret = file.read().strip()
            if not secret:
                secret = secrets.token_urlsafe(32)
                file.write(secret + "\n")
            return secret
    except OSError as error:
        raise explain_os_error(error, f"keeping a secret in {path}") from None


_LARGEST_SECRET = 1000
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
    " 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
"""Of pages that hold their own styles and scripts, as reports do."""
SAFE_HEADERS = {
    b"cache-control": b"no-store",
    b"content-security-policy": _PAGE_POLICY.encode("ascii"),
    b"x-content-type-options": b"nosniff",
    # With "no-referrer" browsers would send the origin "null" with forms of our own pages.
    b"referrer-policy": b"same-origin",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
}


class RateLimit:
    """A bucket of `burst` for each key, filled again at `rate` a second."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> bool:
        """Whether there was something left for `key`; takes it."""
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) > 10_000:  # drop whoever has a full bucket again
                full = self._burst / self._rate
                self._buckets = {
                    key: entry for key, entry in self._buckets.items() if now - entry[1] < full
                }
            left, since = self._buckets.get(key, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._rate)
            self._buckets[key] = (max(left - 1, 0.0) if left >= 1 else left, now)
            return left >= 1


def _refuse(scope: Scope, sentence: str, status: int) -> Response:
    """Answer with a sentence, without the application."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(sentence, status)


_CHANGING = ("POST", "PUT", "PATCH", "DELETE")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)


def read_host(header: str) -> str:
    """Return the name in the header Host, without its port; empty where it is none.

    >>> read_host("LocalHost:8642"), read_host("[::1]:8642"), read_host("a b")
    ('localhost', '::1', '')
    """
    found = _HOST.fullmatch(header)
    return found["name"].strip("[]").lower() if found else ""


def explain_stranger(method: str, headers: Headers, hosts: frozenset[str]) -> str:
    """Say why a request does not come from a page of this server; empty where it may.

    A site that lets its name lead to this machine is known by the header Host, a form or script of
    another site by Origin. Programs send no origin.
    """
    host = headers.get("host", "")
    name = read_host(host)
    if not name:
        return "the header Host is missing or is not the name of a server"
    if hosts and name not in hosts:
        return (
            f"this server does not answer as {name}; whoever runs it can allow that by"
            f" --allowed-host {name}"
        )
    origin = headers.get("origin")
    if method in _CHANGING and origin is not None and urlsplit(origin).netloc != host:
        return "this was sent by a page of another site; open the page of this server and send it"
    return ""


class OriginGuard:
    """Wrap an application: refuse requests that pages of other sites make a browser send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = ""
        if scope["type"] == "http":
            # Pages are looked up once before a server is there.
            server = getattr(scope["app"].state, "server", None)
            hosts: frozenset[str] = server.hosts if server is not None else frozenset()
            why = explain_stranger(scope["method"], Headers(scope=scope), hosts)
        answer = _refuse(scope, why, 403) if why else self._app
        await answer(scope, receive, send)


class Guard:
    """Wrap an application: refuse long bodies, add the security headers, and answer HEAD like GET.

    The server sends no body in answer to HEAD, whatever the application gives it, and reads no more
    of a body than was announced; so a body whose length is not announced is refused as well.
    """

    def __init__(self, app: ASGIApp, most_bytes: int = 1_000_000) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [
                    (name, value) for name, value in SAFE_HEADERS.items() if name not in present
                ]
            await send(message)

        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"0")
        if (
            b"transfer-encoding" in headers
            or not announced.isdigit()
            or int(announced) > self._most
        ):
            sentence = (
                f"This is longer than {self._most:,} bytes, or does not say how long it is; send"
                " less."
            )
            await _refuse(scope, sentence, 413)(scope, receive, send_safely)
        else:
            await self._app(
                {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope,
                receive,
                send_safely,
            )
