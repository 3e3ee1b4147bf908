"""Read the TOML of a domain of dialogue key by key, and refuse what is wrong in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping
from bestresponse.core.registry import did_you_mean

_KINDS: dict[object, str] = {
    str: "a text",
    int: "a whole number",
    dict: "a table",
    list: "a list",
}


@dataclass(frozen=True, slots=True)
class DomainReader:
    """The parsed TOML of a domain, and where it came from."""

    data: JsonMapping
    where: str
    read: set[str] = field(default_factory=set)
    """The paths that were asked for."""

    def wrong(self, why: str) -> InvalidGame:
        """Return the error that says what is wrong with the file."""
        return InvalidGame(f"{self.where}: {why}")

    def get(
        self,
        path: str,
        kind: type | tuple[type, ...],
        default: object = None,
    ) -> Any:
        """Return the value at a path of keys, checked to be of that kind."""
        self.read.add(path)
        value: Any = self.data
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            value = default
        if value is None:
            raise self.wrong(f"{path} is missing")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.wrong(f"{path} is {value!r}, expected {_KINDS.get(kind, 'a number')}")
        return value

    def refuse_unknown(self) -> None:
        """Raise InvalidGame at the first key that nobody has asked for, once all is read."""
        waiting = list(self.data.items())
        for path, value in waiting:  # it grows by what is inside tables of which parts were read
            is_read_in_part = any(other.startswith(f"{path}.") for other in self.read)
            if isinstance(value, Mapping) and is_read_in_part:
                waiting += [(f"{path}.{name}", inner) for name, inner in value.items()]
            elif path not in self.read:
                depth = path.count(".")
                siblings = [other for other in sorted(self.read) if other.count(".") == depth]
                raise self.wrong(f"there is no key {path}.{did_you_mean(path, siblings)}")

    def words(self, path: str, count: int = 1) -> tuple[str, ...]:
        """Return a list of at least `count` different texts."""
        texts = self.get(path, list)
        are_texts = all(isinstance(word, str) and word for word in texts)
        if not texts or not are_texts:
            raise self.wrong(f"{path}: expected a list of texts")
        if not are_distinct(texts):
            raise self.wrong(f"{path}: two entries are the same; expected different ones")
        if len(texts) < count:
            raise self.wrong(f"{path}: expected at least {count} different texts")
        return tuple(texts)

    def range(self, path: str) -> tuple[int, int]:
        """Return two whole numbers, the smaller first."""
        bounds = self.get(path, list)
        match bounds:
            case [int(low), int(high)] if 0 <= low <= high:
                return low, high
        raise self.wrong(f"{path} is {bounds!r}, expected two whole numbers, the smaller first")


def are_distinct(names: Iterable[str]) -> bool:
    """Tell whether no two names are the same, capitals aside."""
    folded = [name.casefold() for name in names]
    return len(set(folded)) == len(folded)
