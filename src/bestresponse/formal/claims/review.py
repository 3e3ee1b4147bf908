"""Review a reasoning: translate it, decide every claim, correct what is refuted, and say how much of it was read.

unrefuted   at least one claim was proved, and none is refuted: nothing is said of sentences that were not read
refuted     some claim is refuted
undecided   there are claims, but none could be decided
unchecked   no claim was found: nothing is known about the reasoning, and it is counted apart from the unrefuted

`Review.summary` also says how many sentences were not read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from bestresponse.core.errors import UsageError
from bestresponse.core.notebook import format_html
from bestresponse.core.player import Call
from bestresponse.formal.claims.checker import Checked, Checker
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.feedback import Correction, Tone, correct
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.translation import Passage, Reading, Translator
from bestresponse.logic.engine import LogicEngine, Verdict

__all__ = ["Refutation", "Review", "Reviewer", "State", "Unit", "check_reasoning"]

Unit = Literal["text", "paragraph"]
_MOST_PARAGRAPHS = 40


def check_reasoning(text: str) -> None:
    """Refuse a text without words: nothing in it could be checked."""
    if not text.strip():
        raise UsageError("the reasoning is empty: give the text whose claims are to be checked")


class State(StrEnum):
    """What a review says about the claims of a reasoning."""

    UNREFUTED = "unrefuted"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Refutation:
    """A refuted claim with its correction, and the passages of the text that make it (none where not known)."""

    claim: Claim
    correction: str
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """Every claim of a reasoning with its verdict, the corrections, and the calls that translation took.

    `passages` are the sentences and tables of the text as they were read; None where the translator cannot tell. The
    claims in them are in the game's own names, as in `checked`.
    """

    checked: tuple[Checked, ...]
    corrections: tuple[Correction, ...] = ()
    calls: tuple[Call, ...] = ()
    passages: tuple[Passage, ...] | None = None

    def __repr__(self) -> str:
        return f"Review({self.summary})"

    def _repr_html_(self) -> str:
        right: dict[object, str] = {one.claim: one.text for one in self.corrections}
        rows = ((one.verdict.value, one.text, right.get(one.claim, one.proof.why)) for one in self.checked)
        return format_html(self.summary, ("verdict", "claim", "why"), rows)

    @property
    def refuted(self) -> tuple[Checked, ...]:
        """The claims that are false."""
        return tuple(one for one in self.checked if one.verdict is Verdict.REFUTED)

    @property
    def refutations(self) -> tuple[Refutation, ...]:
        """Every false claim with its correction and its places in the text."""
        return tuple(
            Refutation(one.claim, one.text, tuple(p for p in self.passages or () if one.claim in p.claims))
            for one in self.corrections
        )

    @property
    def unread(self) -> tuple[str, ...] | None:
        """The sentences that speak of amounts or solutions and gave no claim; None where that is not known."""
        if self.passages is None:
            return None
        return tuple(one.text for one in self.passages if one.reading is Reading.UNREAD)

    @property
    def state(self) -> State:
        """What the claims that were read amount to."""
        if self.refuted:
            return State.REFUTED
        if any(one.verdict is Verdict.PROVED for one in self.checked):
            return State.UNREFUTED
        return State.UNDECIDED if self.checked else State.UNCHECKED

    @property
    def summary(self) -> str:
        """The verdict in one line, with how much of the text it covers."""
        found = {
            State.REFUTED: f"{len(self.refuted):,} refuted",
            State.UNREFUTED: "nothing refuted",
            State.UNDECIDED: "nothing could be decided",
            State.UNCHECKED: "nothing could be checked",
        }[self.state]
        return f"{found}; {_count(len(self.checked), 'claim')} read, {self._coverage()}"

    def _coverage(self) -> str:
        if self.passages is None:
            return "number of unread sentences not known"
        spoken = [one for one in self.passages if one.reading is not Reading.SILENT]
        unread = sum(one.reading is Reading.UNREAD for one in spoken)
        aside = sum(one.reading is Reading.NOT_ASSERTED for one in spoken)
        rest = f", {aside:,} not asserted" if aside else ""
        return f"{unread:,} of {_count(len(spoken), 'sentence')} unread{rest}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


class Reviewer:
    """Reviews reasoning about any game. `engine` makes the logic engine; without one, theory decides alone."""

    def __init__(
        self,
        translator: Translator,
        engine: Callable[[], LogicEngine] | None = None,
        *,
        tone: Tone = "positive",
        unit: Unit = "text",
    ) -> None:
        self.translator = translator
        self.tone: Tone = tone
        self.unit: Unit = unit
        self._engine = engine
        self._own = threading.local()

    def review(self, text: str, subject: Subject) -> Review:
        """Translate, decide and correct. Never raises because of the text."""
        checker = self._checker(subject)
        claims: list[Claim | Malformed] = []
        calls: list[Call] = []
        passages: list[Passage] | None = []
        for start, part in _parts(text) if self.unit == "paragraph" else [(0, text)]:
            translation = self.translator.translate(part, subject)
            claims += translation.claims
            calls += translation.calls
            if passages is not None and translation.passages is not None:
                passages += [_place(one, start, subject) for one in translation.passages]
            else:
                passages = None
        checked = checker.check_all(claims)
        found = None if passages is None else tuple(passages)
        return Review(checked, correct(checked, checker, self.tone), tuple(calls), found)

    def _checker(self, subject: Subject) -> Checker:
        """One checker per thread and game in a row: programs are loaded once, engines are never shared."""
        known: tuple[Subject, Checker] | None = getattr(self._own, "known", None)
        if known is not None and known[0].same_as(subject):
            return known[1]
        engine = self._engine() if self._engine is not None else None
        checker = Checker(subject, engine)
        self._own.known = (subject, checker)
        return checker


def _place(passage: Passage, start: int, subject: Subject) -> Passage:
    """Move a passage of a paragraph to its place in the text, its claims in the game's own names."""
    claims = tuple(_ground(claim, subject) for claim in passage.claims)
    return replace(passage, start=passage.start + start, end=passage.end + start, claims=claims)


def _ground(claim: Claim | Malformed, subject: Subject) -> Claim | Malformed:
    try:
        return claim if isinstance(claim, Malformed) else ground(claim, subject).claim
    except Ungrounded:
        return claim


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs with their places; the last of many holds all that is left."""
    found = [(match.start(), match.group()) for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text)]
    yield from found[: _MOST_PARAGRAPHS - 1]
    if len(found) >= _MOST_PARAGRAPHS:
        start = found[_MOST_PARAGRAPHS - 1][0]
        yield start, text[start:]
