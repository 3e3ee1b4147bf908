"""What a translator makes of a text: its passages, each with the claims it makes or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from bestresponse.core.player import Call
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.subject import Subject

LONGEST_TEXT = 50_000
"""Characters of a reasoning that are read; what comes after is reported as unread."""


class Reading(StrEnum):
    """What became of a passage.

    read          claims were found in it
    unread        it speaks of amounts or solutions, but no claim was found
    not asserted  a question, a doubt, a supposition or somebody else's opinion
    silent        it speaks of no amount and no solution
    """

    READ = "read"
    UNREAD = "unread"
    NOT_ASSERTED = "not asserted"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table of a text: where it stands (`text[start:end]`), what it claims, how it was read.

    `why` says why a sentence is unread, where the translator knows.
    """

    start: int
    end: int
    text: str
    claims: tuple[Claim | Malformed, ...] = ()
    reading: Reading = Reading.READ
    why: str = ""


@dataclass(frozen=True, slots=True)
class Translation:
    """The claims of a text, in order, each once; its passages where the translator knows them; the calls it took.

    `cut_replies` counts replies of a model that broke off.
    """

    claims: tuple[Claim | Malformed, ...]
    calls: tuple[Call, ...] = ()
    passages: tuple[Passage, ...] | None = None
    cut_replies: int = 0


def refuse_rest(text: str) -> Malformed:
    """Say that a text is longer than what is looked at."""
    why = f"the text has {len(text):,} characters; the first {LONGEST_TEXT:,} were looked at"
    return Malformed(text[LONGEST_TEXT : LONGEST_TEXT + 40], why, "too long")


class Translator(Protocol):
    """Finds the claims of a text. A fresh conversation for every text: nothing is remembered."""

    @property
    def name(self) -> str:
        """The name of the translator."""
        ...

    def translate(self, text: str, subject: Subject) -> Translation:
        """Find the claims that a text makes about the game."""
        ...
