"""A reasoning reviewed: translated, every claim decided, what is refuted put right.

correct     at least one claim was decided, and none is refuted
wrong       some claim is refuted
undecided   there are claims, but none could be decided
unchecked   no claim was found: nothing is known about the reasoning, and it is counted apart from correct ones

Correct means: what was read. A review also tells which sentences with amounts were not read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from bestresponse.core.player import Call
from bestresponse.formal.claims.checker import Checked, Checker
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.feedback import Manner, Sentence, corrections
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.translation import Translator
from bestresponse.logic.engine import LogicEngine, Verdict

__all__ = ["Review", "Reviewer", "State", "Unit"]

Unit = Literal["text", "paragraph"]
_MOST_PARAGRAPHS = 40


class State(StrEnum):
    """What a review says about a whole reasoning."""

    CORRECT = "correct"
    WRONG = "wrong"
    UNDECIDED = "undecided"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Review:
    """Every claim of a reasoning with its verdict, the corrections, and the calls that translation took.

    `unread`: sentences that speak of amounts or solutions and gave no claim; None where the translator cannot tell.
    """

    checked: tuple[Checked, ...]
    sentences: tuple[Sentence, ...] = ()
    calls: tuple[Call, ...] = ()
    unread: tuple[str, ...] | None = None

    @property
    def refuted(self) -> tuple[Checked, ...]:
        return tuple(one for one in self.checked if one.verdict is Verdict.REFUTED)

    @property
    def state(self) -> State:
        if self.refuted:
            return State.WRONG
        if any(one.verdict is Verdict.PROVED for one in self.checked):
            return State.CORRECT
        return State.UNDECIDED if self.checked else State.UNCHECKED


class Reviewer:
    """Reviews reasoning about any game. `engine` makes the logic engine; without one, theory decides alone."""

    def __init__(
        self,
        translator: Translator,
        engine: Callable[[], LogicEngine] | None = None,
        *,
        manner: Manner = "positive",
        unit: Unit = "text",
    ) -> None:
        self.translator = translator
        self.manner: Manner = manner
        self.unit: Unit = unit
        self._engine = engine
        self._own = threading.local()

    def review(self, text: str, subject: Subject) -> Review:
        """Translate, decide and correct. Never raises because of the text."""
        checker = self._checker(subject)
        claims: list[Claim | Malformed] = []
        calls: list[Call] = []
        unread: list[str] | None = []
        for part in _parts(text) if self.unit == "paragraph" else [text]:
            translation = self.translator.translate(part, subject)
            claims += translation.claims
            calls += translation.calls
            unread = None if unread is None or translation.unread is None else [*unread, *translation.unread]
        checked = checker.check_all(claims)
        told = None if unread is None else tuple(unread)
        return Review(checked, corrections(checked, checker, self.manner), tuple(calls), told)

    def _checker(self, subject: Subject) -> Checker:
        """One checker per thread and game in a row: programs are loaded once, engines are never shared."""
        known: tuple[Subject, Checker] | None = getattr(self._own, "known", None)
        if known is not None and known[0].same_as(subject):
            return known[1]
        engine = self._engine() if self._engine is not None else None
        checker = Checker(subject, engine)
        self._own.known = (subject, checker)
        return checker


def _parts(text: str) -> list[str]:
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    return (
        [*parts[: _MOST_PARAGRAPHS - 1], "\n\n".join(parts[_MOST_PARAGRAPHS - 1 :])]
        if len(parts) > _MOST_PARAGRAPHS
        else parts
    )
