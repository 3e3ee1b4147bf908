"""One table of an experiment file, read value by value; what is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NoReturn, TypeVar

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.core.registry import did_you_mean
from bestresponse.web.experiments.lines import Path, find_line
from bestresponse.web.sessions.setup import Parameter

__all__ = ["Section"]

Word = TypeVar("Word", bound=str)


class Section:
    """The values of one table; `path` says where it stands in `text`."""

    def __init__(self, text: str, values: JsonMapping, path: Path = ()) -> None:
        self._text, self._values, self._path = text, values, path

    def refuse(self, why: str, key: str | int | None = None) -> NoReturn:
        """Raise a UsageError that names the line of the key, or of the table."""
        path = self._path if key is None else (*self._path, key)
        raise UsageError(f"line {find_line(self._text, path)}: {why}")

    def allow(self, *keys: str) -> None:
        """Refuse keys that mean nothing."""
        for key in self._values:
            if key not in keys:
                self.refuse(f"there is no setting named {key!r} here.{did_you_mean(key, list(keys))}", key)

    def has(self, key: str) -> bool:
        """Tell whether the key is given."""
        return key in self._values

    def text(self, key: str, default: str | None = None, most: int = 50_000) -> str:
        """Read a text; without a default it has to be there."""
        value = self._values.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            self.refuse(f"{key} is {_show(value)}; expected a text", key)
        if len(value) > most:
            self.refuse(f"{key} has {len(value):,} characters; expected at most {most:,}", key)
        return value.strip()

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """Read a whole number between two bounds."""
        value = self._values.get(key, default)
        if type(value) is not int or not low <= value <= high:
            self.refuse(f"{key} is {_show(value)}; expected a whole number from {low} to {high}", key)
        return value

    def number(self, key: str) -> float | None:
        """Read a number, None where there is none."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e12 or value != value:
            self.refuse(f"{key} is {_show(value)}; expected a number", key)
        return float(value)

    def money(self, key: str) -> Decimal:
        """Read an amount of money, 0 where there is none."""
        value = self.number(key) or 0.0
        if value < 0:
            self.refuse(f"{key} is {value:g}; expected 0 or more", key)
        return Decimal(repr(value))

    def flag(self, key: str, default: bool) -> bool:
        """Read true or false."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            self.refuse(f"{key} is {_show(value)}; expected true or false", key)
        return value

    def one(self, key: str, options: Sequence[Word], default: Word) -> Word:
        """Read one of a few words."""
        value = self._values.get(key, default)
        found = next((option for option in options if option == value), None)
        if found is None:
            self.refuse(f"{key} is {_show(value)}; expected one of {', '.join(options)}", key)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts, empty where there is none."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(part, str) and part.strip() for part in value):
            self.refuse(f"{key} is {_show(value)}; expected a list of texts", key)
        return tuple(part.strip() for part in value)

    def parameters(self, key: str) -> tuple[tuple[str, Parameter], ...]:
        """Read names with simple values."""
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            self.refuse(f"{key} is {_show(value)}; expected names with values", key)
        read = {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}
        for name, one in read.items():
            simple = all(isinstance(part, str) for part in one) if isinstance(one, tuple) else _is_plain(one)
            if not simple:
                self.refuse(f"{key}: {name} is {_show(one)}; expected a number, a text or true or false", key)
        return tuple(read.items())

    def section(self, key: str) -> Section:
        """Read the table of that name, empty where there is none."""
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            self.refuse(f"{key} is {_show(value)}; expected a table [{key}]", key)
        return Section(self._text, value, (*self._path, key))

    def sections(self, key: str) -> list[Section]:
        """Read the tables of that name, which may stand several times."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            self.refuse(f"{key} is {_show(value)}; expected tables [[{key}]]", key)
        return [Section(self._text, part, (*self._path, key, number)) for number, part in enumerate(value)]

    def keys(self) -> list[str]:
        """List the keys that are given."""
        return list(self._values)

    def change(self, other: Section) -> Section:
        """Return this table with what `other` says instead; parameters are merged name by name."""
        merged = {**self._values, **other._values}
        if "parameters" in self._values and "parameters" in other._values:
            merged["parameters"] = {**self._values["parameters"], **other._values["parameters"]}
        return Section(self._text, merged, other._path)


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float | str)


def _show(value: object) -> str:
    return "missing" if value is None else repr(value)[:60]
