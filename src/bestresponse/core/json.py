"""Plain JSON: the one canonical text of a value, and the hash of it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["canonical", "digest"]


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical(value: Any) -> str:
    """Keys sorted, no spaces, no NaN: equal values give equal texts.

    >>> canonical({"b": 1, "a": (1.5, None)})
    '{"a":[1.5,null],"b":1}'
    """
    return _encode(value)


def digest(value: Any, length: int = 16) -> str:
    """The first `length` hexadecimal digits of the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:length]
