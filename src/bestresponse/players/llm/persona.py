"""Who an agent is: profession, personality, background. The published five, or a user's own from a TOML file.

[Alex]
profession = "..."
personality = "..."
background = "..."
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_toml, read_toml
from bestresponse.core.registry import did_you_mean
from bestresponse.players.llm.texts import TEXTS

_LONGEST = 5000


@dataclass(frozen=True, slots=True)
class Persona:
    """Three sentences or more about one resident."""

    name: str
    profession: str
    personality: str
    background: str

    @property
    def text(self) -> str:
        """What a model is told about itself."""
        return TEXTS.fill(
            "agent_persona",
            who=self.name,
            profession=self.profession,
            personality=self.personality,
            background=self.background,
        )

    def to_json(self) -> dict[str, str]:
        """Return the texts as plain JSON data, of which `make_persona` makes the persona again."""
        return {key: getattr(self, key) for key in _KEYS}


_KEYS = tuple(field.name for field in fields(Persona) if field.name != "name")


@cache
def published_personas() -> Mapping[str, Persona]:
    """The five residents of the published study, in our own words."""
    source = files("bestresponse.players.llm.texts").joinpath("personas.toml")
    return _make_personas(parse_toml(source.read_text("utf-8")), "personas.toml")


def read_personas(path: Path) -> Mapping[str, Persona]:
    """The personas of a TOML file, by name; UsageError with the place where it is wrong."""
    return _make_personas(read_toml(path), str(path))


def _make_personas(tables: Mapping[str, object], where: str) -> Mapping[str, Persona]:
    """Make the personas of tables by name; `where` is for messages."""
    if not tables:
        raise UsageError(f"{where} holds no persona; expected a table such as [Alex] with {', '.join(_KEYS)}")
    return {str(name): make_persona(str(name), entry, where) for name, entry in tables.items()}


def make_persona(name: str, entry: object, where: str) -> Persona:
    """Make the persona of that name from its table; UsageError with the place (`where`) that is wrong."""
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where}: {name!r} stands outside of a table; expected [name] with {', '.join(_KEYS)}")
    for key in entry:
        if key not in _KEYS:
            hint = did_you_mean(key, list(_KEYS))
            raise UsageError(f"{where}: [{name}] has no key {key!r}; known: {', '.join(_KEYS)}.{hint}")
    for key in _KEYS:
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
            raise UsageError(f"{where}: [{name}] needs a text of at most {_LONGEST} characters for {key!r}")
    profession, personality, background = (" ".join(entry[key].split()) for key in _KEYS)
    return Persona(name, profession.rstrip("."), personality, background)
