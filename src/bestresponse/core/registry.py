"""Things found by name: built-in ones and those of installed packages come through the same door, an entry point.

A package that declares

    [project.entry-points."bestresponse.games"]
    my-game = "my_package.my_module:MyGame"

makes `my-game` known everywhere a game is named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any

from bestresponse.core.errors import UsageError

__all__ = ["Registry", "did_you_mean", "games"]


def did_you_mean(name: str, known: list[str]) -> str:
    """' Did you mean x?' or nothing.

    >>> did_you_mean("kuhn", ["kuhn-poker", "chicken"])
    ' Did you mean kuhn-poker?'
    """
    near = get_close_matches(name.casefold(), known, n=1, cutoff=0.5)
    starts = [candidate for candidate in known if candidate.startswith(name.casefold())]
    best = starts[:1] or near
    return f" Did you mean {best[0]}?" if best else ""


@dataclass
class Registry:
    """Names of one kind of thing, by entry point or registered by hand."""

    group: str
    kind: str
    _own: dict[str, Any] = field(default_factory=dict)

    def register(self, name: str, thing: Any) -> None:
        """Make `thing` known for the rest of this process."""
        if name in self._own:
            raise UsageError(f"there is a {self.kind} named {name!r} already")
        self._own[name] = thing

    def names(self) -> list[str]:
        return sorted({*self._own, *(entry.name for entry in entry_points(group=self.group))})

    def load(self, name: str) -> Any:
        """The thing of that name; UsageError with the nearest name where there is none."""
        if name in self._own:
            return self._own[name]
        for entry in entry_points(group=self.group, name=name):
            return entry.load()
        raise UsageError(f"there is no {self.kind} named {name!r}.{did_you_mean(name, self.names())}")


games = Registry("bestresponse.games", "game")
"""Game classes or functions that return a game when called without arguments."""
