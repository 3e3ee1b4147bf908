"""What a translator makes of a text: claims, and what it could not read as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bestresponse.core.player import Call
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.subject import Subject

__all__ = ["LONGEST_TEXT", "Translation", "Translator"]

LONGEST_TEXT = 50_000
"""Characters of a reasoning that are looked at; what comes after is reported as not looked at."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The claims of a text, in order, each once, and the calls it took to find them.

    `unread`: sentences that speak of amounts or solutions and from which no claim was read; None where the translator
    cannot tell.
    """

    claims: tuple[Claim | Malformed, ...]
    calls: tuple[Call, ...] = ()
    unread: tuple[str, ...] | None = None


class Translator(Protocol):
    """Finds the claims of a text. A fresh conversation for every text: nothing is remembered."""

    @property
    def name(self) -> str: ...

    def translate(self, text: str, subject: Subject) -> Translation: ...
