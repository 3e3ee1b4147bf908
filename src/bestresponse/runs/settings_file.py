"""Settings from a file, which somebody else may have written.

What a file names must not reach further than its folder: commands are refused, files and folders
are looked for beside it, and addresses are used only once the user has allowed them. What the user
types, or writes in Python, is not restricted.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from bestresponse.core.errors import SettingError
from bestresponse.core.files import read_toml
from bestresponse.core.json import JsonObject
from bestresponse.runs.inputs import Converted

_COMMAND = re.compile(r"\bmcp:", re.IGNORECASE)
_ADDRESS = re.compile(r"\w://")
_OUTSIDE = re.compile(r"(?:^|[:=(,])\s*(?:[/~\\]|\w:[/\\])|(?:^|[/\\:=(,])\.\.(?:[/\\),]|$)")
_PIECE = re.compile(r"[^:=(),]+")
"""What may be the name of a file in a setting such as `folder=2` or `game(file=name)`."""


@dataclass(frozen=True, slots=True)
class ForeignAddress:
    """An address that a file of settings names: requests would go there, and the key of servers."""

    file: Path
    setting: str
    address: str


def read_settings_file(
    path: Path,
    kind: type,
    typed: Collection[str],
    allow: Callable[[ForeignAddress], None],
) -> JsonObject:
    """Read the settings of `kind` in a TOML file, without those that were `typed`.

    `allow` is told of every address, and raises an error if it must not be used.
    """
    given = {name: value for name, value in read_toml(path).items() if name not in typed}
    return confine_settings(path, given, kind, allow)


def confine_settings(
    path: Path,
    given: Mapping[str, object],
    kind: type,
    allow: Callable[[ForeignAddress], None],
) -> dict[str, object]:
    """Return the settings of a file, if they reach no further than its folder."""
    values: dict[str, object] = {}
    for name, value in given.items():
        takes_files = name in _list_file_settings(kind)
        values[name] = _Setting(path, name, takes_files, allow).confine(value)
    return values


@cache
def _list_file_settings(kind: type) -> frozenset[str]:
    """List the settings in which also a bare word is the name of a file."""
    found = set()
    for name, hint in get_type_hints(kind).items():
        converted = hint if isinstance(hint, type) and issubclass(hint, Converted) else Converted
        if converted.files or "Path" in str(hint):
            found.add(name)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting of a file; `confine` checks every text in its value."""

    file: Path
    name: str
    takes_files: bool
    allow: Callable[[ForeignAddress], None]

    def confine(self, value: Any) -> Any:
        """Return the value with its files named from where the program runs."""
        match value:
            case str():
                return self._confine_text(value)
            case list():
                return [self.confine(item) for item in value]
            case Mapping():
                return {self.confine(key): self.confine(item) for key, item in value.items()}
        return value

    def _confine_text(self, text: str) -> str:
        if _COMMAND.search(text):
            raise self._refuse(text, "is a command", "starts no programs")
        if _ADDRESS.search(text):
            self.allow(ForeignAddress(self.file, self.name, text))
            return text
        if _OUTSIDE.search(text):
            raise self._refuse(text, "leads out of its folder", "names files in its own folder")
        return _PIECE.sub(lambda piece: self._confine_piece(piece[0]), text)

    def _confine_piece(self, piece: str) -> str:
        """Return the path of a file or folder beside the settings, or the piece as it is."""
        if not self.takes_files and not re.search(r"[/\\.]", piece):
            return piece  # a name, whatever lies beside the settings
        folder = self.file.parent
        inside = folder / piece
        if self.name.startswith(("output", "cache_dir")) or os.path.lexists(inside):
            if not inside.resolve().is_relative_to(folder.resolve()):
                raise self._refuse(
                    piece, "leads out of its folder", "names files in its own folder"
                )
            return str(inside)
        if os.path.lexists(piece):
            raise self._refuse(piece, "is not in its folder", "names files in its own folder")
        return piece

    def _refuse(self, text: str, what: str, rule: str) -> SettingError:
        return SettingError(
            self.name,
            f"{text[:80]!r} in {self.file} {what}; a settings file {rule}. Name it on the command"
            " line if you trust it.",
        )
