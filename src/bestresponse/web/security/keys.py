"""Unguessable links: each is derived from one secret and opens exactly one door.

A token is an HMAC-SHA256 of what it opens (a seat of a session, the admin's desk, a judge's sheet), so nothing but the
secret has to be kept, links survive a restart, and no record or export can leak one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from bestresponse.core.json import canonical
from bestresponse.report.files import explain_os_error

__all__ = ["Keys", "kept_secret"]

_LENGTH = 32


class Keys:
    """Makes tokens and checks them in constant time."""

    def __init__(self, secret: str, admin: str | None = None) -> None:
        self._secret = secret.encode("utf-8")
        self.admin = admin or self.token("admin")

    def token(self, *door: str | int) -> str:
        """The token that opens `door`; the same door always gives the same token."""
        code = hmac.new(self._secret, canonical(list(door)).encode("utf-8"), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(code).decode("ascii")[:_LENGTH]

    def opens(self, token: str, *door: str | int) -> bool:
        """Whether `token` is the one for `door`."""
        return _same(token, self.token(*door))

    def opens_desk(self, token: str) -> bool:
        """Whether `token` is the admin's."""
        return _same(token, self.admin)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode("utf-8", "surrogatepass"))


def kept_secret(path: Path) -> str:
    """The secret in that file, readable by its owner only; a new one where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii") as file:
            found = file.read().strip()
            if not found:
                found = secrets.token_urlsafe(32)
                file.write(found + "\n")
            return found
    except OSError as error:
        raise explain_os_error(error, f"keeping a secret in {path}") from None
