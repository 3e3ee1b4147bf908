"""A game as a run keeps it: its name, or the text of the file it came from, so that a stored run needs no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import digest
from bestresponse.games.dialogue.domain import domain_names, parse_domain, read_domain_text
from bestresponse.games.dialogue.game import draw_plain_dialogue
from bestresponse.games.formats import FORMATS, list_endings
from bestresponse.games.lookup import Found, find_game
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.files.nfg import format_nfg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["NamedGame"]

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

    def game(self) -> AnyGame:
        """Return the game to be played, the same object each time."""
        return _make_playable(self)

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
        return Found(named.name, "file", draw_plain_dialogue(parse_domain(named.text, named.name)))
    return Found(named.name, "file", FORMATS[named.ending].parse(named.text, named.name))


@lru_cache(maxsize=16)
def _make_playable(named: NamedGame) -> AnyGame:
    return _find(named).playable()
