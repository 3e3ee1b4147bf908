"""A game as a run keeps it: its name, or the text of the file it came from, so that a stored run needs no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, digest
from bestresponse.games.lookup import FORMATS, Found, find_game, list_endings
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.files.nfg import format_nfg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

_DOMAIN = ".toml"
"""How the file of a dialogue ends."""


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game by its name; `ending` and `text` are those of the file it came from, empty where it came from none."""

    name: str
    ending: str = ""
    text: str = ""

    @classmethod
    def find(cls, given: str) -> NamedGame:
        """Find what the user named; UsageError or InvalidGame where that is no game.

        >>> NamedGame.find("Stag Hunt")
        NamedGame(name='stag-hunt', ending='', text='')
        """
        from bestresponse.games.dialogue.domain import domain_names, read_domain_text  # most games are no dialogues

        if given in domain_names() or Path(given).suffix == _DOMAIN:
            return cls(Path(given).stem, _DOMAIN, read_domain_text(given))
        found = find_game(given)
        if found.origin != "file":
            return cls(found.name)
        path = Path(given)
        ending = path.suffix.lower()
        return cls(found.name, ending, FORMATS[ending].read_text(path))

    @classmethod
    def from_form(cls, name: str, form: NormalForm | Tree) -> NamedGame:
        """Keep a table or a tree as the text of its file."""
        if isinstance(form, Tree):
            return cls(name, ".efg", format_efg(form))
        return cls(name, ".nfg", format_nfg(form))

    @property
    def found(self) -> Found:
        """The game as it was found, and where it is from."""
        return _find(self)

    @lru_cache(maxsize=16)  # noqa: B019 - a few small values, equal ones share a game
    def game(self) -> AnyGame:
        """Return the game to be played, the same object each time."""
        return self.found.playable()

    @property
    def digest(self) -> str:
        """A short text that differs where the game does."""
        return digest(asdict(self), 12)

    def to_json(self) -> dict[str, str]:
        """Return plain data for a manifest."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> NamedGame:
        """Read what `to_json` gave; UsageError where the format of the file is not known here."""
        if data.get("ending") and data["ending"] not in (*FORMATS, _DOMAIN):
            raise UsageError(f"this run keeps a game file ending in {data['ending']}; known are {list_endings()}")
        return cls(**data)


@lru_cache(maxsize=16)
def _find(named: NamedGame) -> Found:
    if not named.ending:
        return find_game(named.name, allow_files=False)
    if named.ending == _DOMAIN:
        from bestresponse.games.dialogue.domain import parse_domain
        from bestresponse.games.dialogue.game import draw_plain_dialogue

        return Found(named.name, "file", draw_plain_dialogue(parse_domain(named.text, named.name)))
    return Found(named.name, "file", FORMATS[named.ending].parse(named.text, named.name))


@dataclass(frozen=True, slots=True)
class KeptTable:
    """The name of a game, its players and actions, and the payoffs as nested tuples (player, first action, ...)."""

    name: str
    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: tuple[Any, ...]

    @classmethod
    def from_form(cls, name: str, form: NormalForm, **more: Any) -> Self:
        """Keep `form` under that name.

        >>> from bestresponse.games.lookup import find_game
        >>> KeptTable.from_form("chicken", find_game("chicken").game).payoffs[0]
        ((0.0, -1.0), (1.0, -10.0))
        """
        return cls(name, form.players, form.actions, freeze(form.payoffs.tolist()), **more)

    @property
    def form(self) -> NormalForm:
        """The table for solvers and players."""
        return NormalForm(np.asarray(self.payoffs, dtype=np.float64), self.players, self.actions, self.name)

    @classmethod
    def from_json(cls, data: JsonMapping) -> Self:
        """Read what `dataclasses.asdict` and JSON have made of a table."""
        return cls(**{field.name: freeze(data[field.name]) for field in fields(cls) if field.name in data})


def freeze(value: object) -> Any:
    """Turn nested lists into nested tuples.

    >>> freeze([[1, 2], [3]])
    ((1, 2), (3,))
    """
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value
