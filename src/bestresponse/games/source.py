"""A game as a run keeps it: a name, or the text of the file it came from, so that a stored run needs no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bestresponse.core.game import Game
from bestresponse.core.json import digest
from bestresponse.games.formats import FORMATS
from bestresponse.games.lookup import Found, find_game

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """`ending` and `text` are those of a file; both are empty for a game that is known by its name."""

    name: str
    ending: str = ""
    text: str = ""

    @classmethod
    def of(cls, given: str) -> Source:
        """What the user named; UsageError or InvalidGame where that is no game.

        >>> Source.of("Stag Hunt")
        Source(name='stag-hunt', ending='', text='')
        """
        found = find_game(given)
        if found.origin != "file":
            return cls(found.name)
        path = Path(given)
        ending = path.suffix.lower()
        return cls(found.name, ending, FORMATS[ending].read_text(path))

    @property
    def found(self) -> Found:
        """The game and where it is from."""
        return _found(self)

    def game(self) -> Game[Any]:
        """The game to be played; the same object each time."""
        return _playable(self)

    @property
    def digest(self) -> str:
        """One short text per content."""
        return digest(asdict(self), 12)

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> Source:
        return cls(**data)


@lru_cache(maxsize=16)
def _found(source: Source) -> Found:
    if not source.ending:
        return find_game(source.name)
    return Found(source.name, "file", FORMATS[source.ending].parse(source.text, source.name))


@lru_cache(maxsize=16)
def _playable(source: Source) -> Game[Any]:
    return _found(source).playable()
