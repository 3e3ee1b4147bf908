"""Plain JSON: the one canonical text of a value, and the hash of it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object, to be written or as it was read: whoever reads it checks what the keys hold."""
JsonMapping: TypeAlias = Mapping[str, Any]
"""The same where it is only looked at."""


def refuse_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its pairs for `json.loads`.

    On its own, `json.loads` keeps the last value of a key that occurs twice.

    Raises:
        ValueError: a key stands twice, so that it is not plain which value is meant.
    """
    if len(data := dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return data


_encode = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
).encode


def canonical(value: object) -> str:
    """Write a value with sorted keys, without spaces and NaN: equal values give equal texts.

    >>> canonical({"b": 1, "a": (1.5, None)})
    '{"a":[1.5,null],"b":1}'
    """
    return _encode(value)


def digest(value: object, length: int = 16) -> str:
    """Return the first `length` hexadecimal digits of the SHA-256 of the canonical text."""
    text = canonical(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:length]
