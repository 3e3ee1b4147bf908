"""Texts kept as files beside the code, one per file, with `$name` places to fill.

Prompts and rules are texts, not code: they are read from the package that owns them, and their
hashes go into every run's manifest so that a number can be traced to the words that produced it.
"""

import hashlib
from functools import cache
from importlib.resources import files
from string import Template


@cache
def _read(package: str, name: str) -> str:
    file = files(package) / f"{name}.txt"
    return file.read_text("utf-8").rstrip("\n")


@cache
def _compile(package: str, name: str) -> str:
    """Turn a text with `$name` places into one for `str.format`, which fills it fastest."""
    text = _read(package, name)
    pieces = []
    end = 0
    for match in Template.pattern.finditer(text):
        placeholder = match["named"] or match["braced"] or ""
        if match["invalid"] is not None:
            raise ValueError(
                f"{package}, {name}.txt: a dollar sign stands for itself as $$, or begins the name"
                " of a place"
            )
        pieces.append(_escape(text[end : match.start()]))
        pieces.append(f"{{{placeholder}}}" if placeholder else "$")
        end = match.end()
    return "".join(pieces) + _escape(text[end:])


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


class Texts:
    """The `.txt` files of one package."""

    def __init__(self, package: str) -> None:
        self.package = package

    def text(self, name: str) -> str:
        """Return the text of that name, as it is in its file."""
        return _read(self.package, name)

    def fill(self, name: str, **placeholders: object) -> str:
        """Return the text of that name with every place filled; KeyError where one is missing."""
        return _compile(self.package, name).format(**placeholders)

    def hashes(self) -> dict[str, str]:
        """File name to the first 16 digits of its SHA-256, for every text of the package."""
        hashes = {}
        for file in files(self.package).iterdir():
            if file.name.endswith(".txt"):
                hashes[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        return dict(sorted(hashes.items()))


def quote_lines(text: str) -> str:
    """Mark every line of what somebody else wrote, as all prompts do.

    Nothing in it can then pass for another's words, for the end of the quotation or for an
    instruction.
    """
    return "\n".join(f"> {line}" for line in text.splitlines())
