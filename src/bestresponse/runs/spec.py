"""One play to be made, as plain data: its id is the hash of it, so a plan run again plays only what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from bestresponse.core.json import JsonMapping, digest


@dataclass(frozen=True, slots=True)
class Spec:
    """`data` holds everything that can change the play; equal data, equal id."""

    id: str
    data: JsonMapping

    @classmethod
    def of(cls, data: JsonMapping) -> Spec:
        """Return the spec of these data, with the hash of them as its id."""
        return cls(digest(data), data)
