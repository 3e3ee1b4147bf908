"""Texts kept as files beside the code, one per file, with `$name` places to fill.

Prompts and rules are texts, not code: they are read from the package that owns them, and their hashes go into every
run's manifest so that a number can be traced to the words that produced it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["Texts"]


@cache
def _read(package: str, name: str) -> str:
    return files(package).joinpath(f"{name}.txt").read_text("utf-8").rstrip("\n")


@cache
def _split(package: str, name: str) -> tuple[tuple[str, str], ...]:
    """Split a text into pieces: what stands there, and the place that follows it (empty: none)."""
    text, pieces, end = _read(package, name), [], 0
    for match in Template.pattern.finditer(text):
        place = match["named"] or match["braced"] or ""
        if match["invalid"] is not None:
            raise ValueError(
                f"{package}, {name}.txt: a dollar sign stands for itself as $$, or begins the name of a place"
            )
        pieces.append((text[end : match.start()] + ("" if place else "$"), place))
        end = match.end()
    return (*pieces, (text[end:], ""))


class Texts:
    """The `.txt` files of one package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def text(self, name: str) -> str:
        """The text of that name, as it stands in its file."""
        return _read(self.package, name)

    def fill(self, name: str, **places: object) -> str:
        """The text of that name with every place filled; KeyError where one is missing."""
        return "".join(text + str(places[place]) if place else text for text, place in _split(self.package, name))

    def hashes(self) -> dict[str, str]:
        """File name to the first 16 digits of its SHA-256, for every text of the package."""
        found = sorted(entry.name for entry in files(self.package).iterdir() if entry.name.endswith(".txt"))
        return {
            name: hashlib.sha256(files(self.package).joinpath(name).read_bytes()).hexdigest()[:16] for name in found
        }
