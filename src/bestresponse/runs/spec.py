"""One play to be made as plain data, whose id is the hash of it, so that a plan run again plays only what is missing.

A plan is shared out by the hash of every spec, so that parts of a run made anywhere merge into the whole.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, digest

_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Spec:
    """`data` holds everything that can change the play; equal data, equal id."""

    id: str
    data: JsonMapping

    @classmethod
    def of(cls, data: JsonMapping) -> Spec:
        """Return the spec of these data, with the hash of them as its id."""
        return cls(digest(data), data)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count` parts, counted from 1.

    >>> str(Shard.parse("3/16"))
    '3/16'
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count <= _MOST:
            raise UsageError(f"shard {self.number}/{self.count}: expected a part from 1/n to n/n, such as 3/16")

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "3/16"; UsageError where it is something else."""
        found = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text)
        if found is None:
            raise UsageError(f"--shard {text!r}: expected a part such as 3/16, the third of sixteen")
        return cls(int(found[1]), int(found[2]))

    def holds(self, spec: str) -> bool:
        """Say whether the play with that spec id belongs to this part; every play belongs to exactly one."""
        start = hashlib.sha256(spec.encode("utf-8", "surrogatepass")).digest()[:8]
        return int.from_bytes(start, "big") % self.count == self.number - 1
