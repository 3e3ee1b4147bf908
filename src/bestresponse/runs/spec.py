"""One play to be made, as plain data: its id is the hash of it, so a plan run again plays only what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestresponse.core.json import digest

__all__ = ["Spec"]


@dataclass(frozen=True, slots=True)
class Spec:
    """`data` holds everything that can change the play; equal data, equal id."""

    id: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Spec:
        return cls(digest(data), data)
