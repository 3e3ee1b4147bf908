"""Unguessable links: each is derived from one secret and opens exactly one door.

A token is an HMAC-SHA256 of what it opens (a seat of a session, the admin's pages, a judge's sheet), so nothing but the
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

__all__ = ["Keys", "load_secret"]

_LENGTH = 32


class Keys:
    """Makes tokens and checks them in constant time."""

    def __init__(self, secret: str, admin: str | None = None) -> None:
        self._secret = secret.encode("utf-8")
        self.admin = admin or self.token("admin")

    def token(self, *door: str | int) -> str:
        """Make the token that opens `door`; the same door always gives the same token."""
        code = hmac.new(self._secret, canonical(list(door)).encode("utf-8"), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(code).decode("ascii")[:_LENGTH]

    def opens(self, token: str, *door: str | int) -> bool:
        """Tell whether `token` opens `door`."""
        return _same(token, self.token(*door))

    def is_admin(self, token: str) -> bool:
        """Tell whether `token` is the admin's."""
        return _same(token, self.admin)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode("utf-8", "surrogatepass"))


def load_secret(path: Path) -> str:
    """Load the secret from that file, readable by its owner only; create it where there is none."""
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
