"""Which form a model is asked for, attempt by attempt: by what the story needs, and by the model.

A table cannot hold chance, secrets or long plays, and neither a table nor a tree holds a wide range of amounts; a
program holds every game. A model on this machine, which is a small one, begins with the simplest JSON form that can
hold the game; every other model begins with the program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bestresponse.formal.formalize.cues import count_cues
from bestresponse.models.base import Model

Wish = Literal["auto", "program", "table", "tree"]
FormName = Literal["program", "table", "tree"]

_ENOUGH_CUES = 2
_TRIES = 2
_MOST_AMOUNTS = 8
_RANGE = re.compile(r"\b(?:from|between)?\s*(\d{1,9})\s*(?:to|and|up to|-|–|bis|und|à|et|a|y|hasta)\s*(\d{1,9})\b")
_BETWEEN = re.compile(
    r"\b(?:from|between|any|whole|offers?|bids?|amount|number|zwischen|von|bietet|betrag|entre|de|desde|ofrece|offre)\b",
    re.IGNORECASE,
)
_AROUND = 40


@dataclass(frozen=True, slots=True)
class Structure:
    """What the words of a story say about its game; `amounts` is the widest range of numbers to choose from."""

    hidden: bool = False
    turns: bool = False
    amounts: int = 0

    def holds(self, form: FormName) -> bool:
        """Whether a game of this structure can be written in a form."""
        if form == "program":
            return True
        return self.amounts <= _MOST_AMOUNTS and not (form == "table" and self.hidden)


def read_structure(story: str) -> Structure:
    """Read how the game of a story is built.

    >>> read_structure("A card is drawn at random; only Ann knows it. Bob bids any amount from 0 to 50.")
    Structure(hidden=True, turns=False, amounts=51)
    """
    cues = count_cues(story)
    widths = [
        int(found[2]) - int(found[1]) + 1
        for found in _RANGE.finditer(story)
        if _BETWEEN.search(story[max(0, found.start() - _AROUND) : found.end()])
    ]
    hidden = cues["#chance"] + cues["#secret"] >= _ENOUGH_CUES
    return Structure(hidden, cues["#turns"] >= _ENOUGH_CUES, max([0, *widths]))


def plan(wish: Wish, model: Model, attempts: int, story: str = "") -> tuple[FormName, ...]:
    """Choose the form of every attempt; after two failures in one form it is the other's turn, and so on.

    Only forms that can hold the game are asked for, unless one is wished for.
    """
    if wish != "auto":
        return (wish,) * attempts
    structure = read_structure(story)
    simple: FormName = "tree" if structure.hidden or structure.turns else "table"
    turns: tuple[FormName, ...] = ("program", simple)
    if model.identity.get("provider") == "local":
        turns = (simple, "program")
    fitting = tuple(form for form in turns if structure.holds(form))
    return tuple(fitting[number // _TRIES % len(fitting)] for number in range(attempts))
