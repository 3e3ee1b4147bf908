"""A library of checked examples: stories with the programs that tell them, to show to a model.

The examples that come along cover two and three moves, moves in turn, offers, three players, votes, auctions, chance,
hidden cards and private values. A folder of
one's own with `NAME.txt` and `NAME.pl` files is read in the same way; games formalized together with a person can so
become examples for the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from bestresponse.core.errors import UsageError

FIRST = "prisoners_dilemma"
"""The one example of the published one-shot prompt."""


@dataclass(frozen=True, slots=True)
class Example:
    """A story and its program."""

    name: str
    story: str
    program: str


@cache
def library() -> tuple[Example, ...]:
    """The examples that come along, by name."""
    return _read(files(f"{__package__}.library"))


def read_examples(folder: Path) -> tuple[Example, ...]:
    """The examples in a folder; UsageError where there is none."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; expected one with NAME.txt and NAME.pl files")
    found = _read(folder)
    if not found:
        raise UsageError(f"{folder} holds no examples; expected pairs of files NAME.txt (the story) and NAME.pl")
    return found


def write_example(folder: Path, example: Example) -> None:
    """Keep an example in a folder that `read_examples` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{example.name}.txt").write_text(example.story + "\n", "utf-8")
    (folder / f"{example.name}.pl").write_text(example.program + "\n", "utf-8")


def _read(folder: Traversable | Path) -> tuple[Example, ...]:
    texts = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith((".txt", ".pl"))}
    names = sorted(name[:-3] for name in texts if name.endswith(".pl") and f"{name[:-3]}.txt" in texts)
    return tuple(
        Example(name, texts[f"{name}.txt"].read_text("utf-8").strip(), texts[f"{name}.pl"].read_text("utf-8").strip())
        for name in names
    )
