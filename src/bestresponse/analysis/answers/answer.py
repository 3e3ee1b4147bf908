"""What one answer is: data, of which a page is made, and curves for a picture; and how its settings are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.report.figures.charts import lines
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, as_profile

G = TypeVar("G")
Value = str | int | float | bool
Values = Mapping[str, Value]

_MOST_SERIES = 12


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that may be set, by name: its default, whose type it has, and what it does."""

    name: str
    default: Value
    words: str
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Value:
        """Turn text into a value of the default's type; UsageError where that fails or it is none of the choices."""
        if self.choices and text not in self.choices:
            raise SettingError(self.name, f"expected one of {', '.join(self.choices)}, got {text!r}")
        try:
            if isinstance(self.default, bool):
                return {"yes": True, "no": False, "true": True, "false": False}[text.lower()]
            return type(self.default)(text)
        except (ValueError, KeyError):
            kinds = {bool: "yes or no", int: "a whole number", float: "a number"}
            expected = kinds.get(type(self.default), "text")
            raise SettingError(self.name, f"expected {expected} ({self.words}), got {text!r}") from None


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves over a common axis."""

    series: Mapping[str, tuple[Array, Array]]
    x_label: str
    y_label: str
    caption: str

    def draw(self, kind: Literal["svg", "png"] = "svg") -> bytes:
        """Draw the first curves."""
        first = dict(list(self.series.items())[:_MOST_SERIES])
        return lines(first, x_label=self.x_label, y_label=self.y_label, kind=kind)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer as data, of which the page is made; a chart where there is something to draw."""

    data: JsonObject
    chart: Chart | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Question(Generic[G]):
    """Something that can be asked of a game by name, with its settings."""

    name: str
    words: str
    ask: Callable[[G, Values], Answer]
    settings: tuple[Setting, ...] = field(default=())

    def answer(self, game: G, settings: Mapping[str, object] | None = None) -> Answer:
        """Compute the answer with these settings in place of the defaults; texts are read as numbers where need be."""
        known = {setting.name: setting for setting in self.settings}
        values: dict[str, Value] = {setting.name: setting.default for setting in self.settings}
        for name, value in (settings or {}).items():
            if name not in known:
                expected = ", ".join(f"{s.name}={s.default}" for s in self.settings) or "none"
                raise UsageError(f"{self.name} has no setting {name!r}; it has these: {expected}")
            values[name] = known[name].read(str(value))
        return self.ask(game, values)


def read_profile(game: NormalForm, text: str) -> Profile | None:
    """Read `0.2,0.8/0.5,0.5`: players between slashes, probabilities between commas; None for no text.

    >>> read_profile(NormalForm.zero_sum([[1, 2], [3, 4]]), "1,0/0.5,0.5")[1].tolist()
    [0.5, 0.5]
    """
    if not text:
        return None
    try:
        mixes = [[float(p) for p in part.split(",")] for part in text.split("/")]
    except ValueError:
        raise SettingError("start", f"expected probabilities such as 0.2,0.8/0.5,0.5, got {text!r}") from None
    return as_profile(game, mixes)
