"""Why a call was not found in the cache: the nearest call that is there, and the fields that tell the two apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bestresponse.core.json import JsonMapping, JsonObject

__all__ = ["Difference", "Miss", "nearest"]

_OTHER_QUESTION = 10
_SHOWN = 24


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of the call, what was asked for, and what is kept (None for both: absent)."""

    field: str
    asked: Any
    kept: Any

    def __str__(self) -> str:
        if isinstance(self.asked, str) and isinstance(self.kept, str):
            return f"{self.field} is {_excerpt(self.asked, self.kept)}, kept is {_excerpt(self.kept, self.asked)}"
        return f"{self.field} is {self.asked!r}, kept is {self.kept!r}"


@dataclass(frozen=True, slots=True)
class Miss:
    """How a call differs from its nearest neighbour in the cache; `looked` is how many calls were compared."""

    looked: int
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        if not self.looked:
            return "the cache is empty"
        return "the nearest call kept differs: " + "; ".join(map(str, self.differences))


def nearest(identity: JsonMapping, request: JsonMapping, kept: Iterable[tuple[JsonMapping, JsonMapping]]) -> Miss:
    """Compare with all kept calls; another question counts far more than another setting."""
    asked = _flat(identity, request)
    best: tuple[Difference, ...] = ()
    looked, least = 0, float("inf")
    for other in kept:
        looked += 1
        found = _differences(asked, _flat(*other))
        far = sum(_OTHER_QUESTION if one.field.startswith("message") else 1 for one in found)
        if far < least:
            best, least = found, far
    return Miss(looked, best)


def _flat(identity: JsonMapping, request: JsonMapping) -> JsonObject:
    fields = {f"identity.{name}": value for name, value in identity.items()}
    fields |= {name: value for name, value in request.items() if name != "messages"}
    for number, (role, content) in enumerate(request["messages"], 1):
        fields |= {f"message {number} role": role, f"message {number}": content}
    return fields


def _differences(asked: JsonMapping, kept: JsonMapping) -> tuple[Difference, ...]:
    names = sorted(asked.keys() | kept.keys())
    pairs = ((name, asked.get(name), kept.get(name)) for name in names)
    return tuple(Difference(name, mine, other) for name, mine, other in pairs if mine != other)


def _excerpt(text: str, other: str) -> str:
    """The surroundings of the first character that differs."""
    place = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    start = max(0, place - _SHOWN // 2)
    cut = text[start : start + _SHOWN]
    return f"{'...' if start else ''}{cut!r}{'...' if start + _SHOWN < len(text) else ''}"
