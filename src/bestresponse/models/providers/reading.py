"""Fields of a provider's JSON, read with suspicion: what does not fit is a `BadReply` that says where."""

import math
from collections.abc import Mapping
from typing import TypeVar

from bestresponse.core.errors import BadReply
from bestresponse.core.json import JsonMapping
from bestresponse.models.base import TokenChances

__all__ = ["read_alternatives", "read_count", "read_field", "read_id"]

_T = TypeVar("_T")
_MOST_TOKENS = 10**9
_ROUNDING = 0.01


def read_field(data: object, name: str, kind: type[_T], who: str) -> _T:
    """Return `data[name]`, which must be of this kind."""
    value = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(value, kind):
        raise BadReply(f"{who} answered without a proper `{name}`; is this server of the kind its address promises?")
    return value


def read_id(data: JsonMapping, name: str) -> str | None:
    """Return the provider's own name of a reply, or None where it is no text."""
    value = data.get(name)
    return value if isinstance(value, str) else None


def read_count(data: object, name: str, who: str) -> int | None:
    """Return a number of tokens, or None where there is none; `BadReply` for a number no reply can have."""
    value = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    if value > _MOST_TOKENS:
        raise BadReply(f"{who} says that `{name}` of one reply is more than {_MOST_TOKENS:,}")
    return value


def read_alternatives(pairs: list[tuple[str, object]], who: str) -> TokenChances:
    """Return tokens with their log-probabilities, likeliest first.

    What is no number, or not finite, is left out. A logarithm above 0 is no probability: a rounding error becomes 0,
    anything larger is a `BadReply`.
    """
    known: list[tuple[str, float]] = []
    for token, value in pairs:
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value or value == -math.inf:
            continue
        if value > _ROUNDING:
            raise BadReply(f"{who} gave {token[:20]!r} a log-probability above 0, which is no probability")
        if value < -1e300:
            raise BadReply(f"{who} gave {token[:20]!r} a log-probability below the range of numbers")
        known.append((token, min(float(value), 0.0)))
    return tuple(sorted(known, key=lambda pair: -pair[1]))
