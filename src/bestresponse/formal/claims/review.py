"""Review a reasoning: translate it, decide every claim and correct what is refuted.

Also says how much of it was read.

- unrefuted: at least one claim was proved, and none is refuted. Nothing is said of what was not
  read.
- refuted: some claim is refuted.
- undecided: there are claims, but none could be decided.
- unchecked: no claim was found. Nothing is known about the reasoning, and it is counted apart from
  the unrefuted.

`Review.summary` also says how many sentences were not read, or only in part.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.core.player import Call
from bestresponse.core.registry import find_by_name
from bestresponse.formal.claims.checker import BOTH_SOLVERS, Checked, Checker, list_solvers
from bestresponse.formal.claims.claim import Claim, FormSet, Malformed, counts_in
from bestresponse.formal.claims.feedback import Correction, Tone, correct, say
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import Passage, Reading, Translator
from bestresponse.logic.engine import LogicEngine, Verdict

_LONGEST_QUOTE = 300


def check_reasoning(text: str) -> None:
    """Refuse a text without words: nothing in it could be checked."""
    if not isinstance(text, str):
        raise UsageError(f"expected the text of a reasoning, got {text!r:.60}")
    if not text.strip():
        raise UsageError("the reasoning is empty: give the text whose claims are to be checked")


class State(StrEnum):
    """What a review says about the claims of a reasoning."""

    UNREFUTED = "unrefuted"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class ShareRead:
    """Of all sentences that say something of the game, those that were read whole."""

    whole: int
    all: int


@dataclass(frozen=True, slots=True)
class Refutation:
    """A refuted claim with its correction and the passages of the text that make it.

    There are no passages if they are not known.
    """

    claim: Claim
    correction: str
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """Every claim of a reasoning with its verdict, the corrections and the calls.

    The calls are those that translation took.

    `passages` are the sentences and tables of the text as they were read; None where the translator
    cannot tell. The claims in them are in the game's own names, as in `checked`.
    """

    checked: tuple[Checked, ...]
    corrections: tuple[Correction, ...] = ()
    calls: tuple[Call, ...] = ()
    passages: tuple[Passage, ...] | None = None
    cut_replies: int = 0

    def __repr__(self) -> str:
        return f"Review({self.summary})"

    @property
    def _right(self) -> dict[object, str]:
        """What is true instead, by the refuted claim."""
        return {correction.claim: correction.text for correction in self.corrections}

    def _repr_html_(self) -> str:
        right = self._right
        rows = []
        for checked in self.checked:
            words = say(checked.claim) if isinstance(checked.claim, Claim) else checked.text
            why = right.get(checked.claim, checked.proof.why)
            rows.append((checked.verdict.value, words, why, checked.text))
        return format_html(self.summary, ("verdict", "claim", "why", "formula"), rows)

    @property
    def refuted(self) -> tuple[Checked, ...]:
        """The claims that are false."""
        return tuple(checked for checked in self.checked if checked.verdict is Verdict.REFUTED)

    @property
    def refutations(self) -> tuple[Refutation, ...]:
        """Every false claim with its correction and its places in the text."""
        refutations = []
        for correction in self.corrections:
            claim = correction.claim
            places = tuple(place for place in self.passages or () if claim in place.claims)
            refutations.append(Refutation(claim, correction.text, places))
        return tuple(refutations)

    @property
    def unread(self) -> tuple[str, ...] | None:
        """The sentences that speak of amounts or solutions and gave no claim.

        Returns None where that is not known.
        """
        if self.passages is None:
            return None
        return tuple(passage.text for passage in self.passages if passage.reading is Reading.UNREAD)

    @property
    def partly_read(self) -> tuple[Passage, ...] | None:
        """The sentences of which a part that says something of the game gave no claim.

        Returns None where that is not known.
        """
        if self.passages is None:
            return None
        return tuple(passage for passage in self.passages if passage.reading is Reading.PARTLY_READ)

    @property
    def state(self) -> State:
        """What the claims that were read amount to."""
        if self.refuted:
            return State.REFUTED
        if any(checked.verdict is Verdict.PROVED for checked in self.checked):
            return State.UNREFUTED
        return State.UNDECIDED if self.checked else State.UNCHECKED

    @property
    def summary(self) -> str:
        """The verdict in one line, with how much of the text it covers."""
        verdict = {
            State.REFUTED: f"{len(self.refuted):,} refuted",
            State.UNREFUTED: "nothing refuted",
            State.UNDECIDED: "nothing could be decided",
            State.UNCHECKED: "nothing could be checked",
        }[self.state]
        parts = [f"{verdict}; {_count(len(self.checked), 'claim')} read, {self._coverage()}"]
        for kind, count in self.troubles.items():
            parts.append(f"{kind}: {count:,}")
        return "; ".join(parts)

    @property
    def troubles(self) -> Counter[str]:
        """How often translation was in doubt.

        Counts how often a translator's reply broke off or named no form, or a reference was
        unclear.
        """
        kinds = Counter({"replies cut off": self.cut_replies})
        for checked in self.checked:
            if isinstance(checked.claim, Malformed):
                kinds[checked.claim.kind] += checked.claim.kind != "cut off"
            elif checked.form == "unclear":
                kinds["unclear reference"] += 1
        return +kinds

    def to_json(self) -> JsonObject:
        """Return every claim and what was not read as plain data.

        Each claim comes with its words, verdict, correction and places.
        """
        right = self._right
        claims: list[JsonObject] = []
        for checked in self.checked:
            claim = checked.claim
            passages = [passage for passage in self.passages or () if claim in passage.claims]
            claims.append(
                {
                    "claim": checked.text,
                    "form": checked.form,
                    "words": say(claim) if isinstance(claim, Claim) else None,
                    "verdict": checked.verdict.value,
                    "why": checked.proof.why,
                    "correction": right.get(claim),
                    "places": [_tell_span(passage) for passage in passages],
                }
            )
        report: JsonObject = {
            "summary": self.summary,
            "state": self.state.value,
            "claims": claims,
            "partly_read": None,
        }
        if self.partly_read is not None:
            report["partly_read"] = [
                _tell_span(one) | {"left_out": list(one.left_out)} for one in self.partly_read
            ]
        for reading in (Reading.UNREAD, Reading.NOT_ASSERTED, Reading.SET_ASIDE):
            name = reading.value.replace(" ", "_")
            apart = [passage for passage in self.passages or () if passage.reading is reading]
            spans = [_tell_span(passage) | {"why": passage.why} for passage in apart]
            report[name] = None if self.passages is None else spans
        return report | {"troubles": dict(self.troubles)}

    @property
    def share_read(self) -> ShareRead:
        """How many sentences that say something of the game were read whole."""
        counted = (Reading.READ, Reading.PARTLY_READ, Reading.UNREAD)
        readings = [p.reading for p in self.passages or () if p.reading in counted]
        return ShareRead(readings.count(Reading.READ), len(readings))

    def _coverage(self) -> str:
        if self.passages is None:
            return "number of unread sentences not known"
        spoken = [passage for passage in self.passages if passage.reading is not Reading.SILENT]
        unread = sum(passage.reading is Reading.UNREAD for passage in spoken)
        partly = len(self.partly_read or ())
        rest = f", {partly:,} partly read" if partly else ""
        for reading in (Reading.NOT_ASSERTED, Reading.SET_ASIDE):
            number = sum(passage.reading is reading for passage in spoken)
            rest += f", {number:,} {reading.value}" if number else ""
        return f"{unread:,} of {_count(len(spoken), 'sentence')} unread{rest}"


def _tell_span(passage: Passage) -> dict[str, object]:
    return {"start": passage.start, "end": passage.end, "text": passage.text[:_LONGEST_QUOTE]}


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


class Reviewer:
    """Reviews reasoning about any game.

    `engine` makes the logic engine; without one, theory decides alone.

    `forms` says which claims count; the others are set aside. `solver` decides them: both logic and
    theory, theory alone, or a package.
    """

    def __init__(
        self,
        translator: Translator,
        engine: Callable[[], LogicEngine] | None = None,
        *,
        tone: Tone = "positive",
        forms: FormSet = "all",
        solver: str = BOTH_SOLVERS,
    ) -> None:
        self.solver = find_by_name(dict.fromkeys(list_solvers(), solver), solver, "solver")
        self.translator = translator
        self.forms: FormSet = forms
        self.tone: Tone = tone
        self._engine = engine
        self._own = threading.local()

    def review(self, text: str, subject: Subject) -> Review:
        """Translate, decide and correct. Never raises because of the text."""
        checker = self._checker(subject)
        translation = self.translator.translate(text, subject)
        claims = filter(self._counts, translation.claims)
        checked = tuple(checker.check_all(claims))
        passages = None
        if translation.passages is not None:
            passages = tuple(self._set_aside(one, subject) for one in translation.passages)
        return Review(
            checked,
            corrections=correct(checked, checker, self.tone),
            calls=translation.calls,
            passages=passages,
            cut_replies=translation.cut_replies,
        )

    def _counts(self, claim: Claim | Malformed) -> bool:
        return isinstance(claim, Malformed) or counts_in(claim.form, self.forms)

    def _set_aside(self, passage: Passage, subject: Subject) -> Passage:
        """Return a passage with the claims that count, in the game's own names.

        One that loses all of them is set aside.
        """
        kept = tuple(_ground(claim, subject) for claim in filter(self._counts, passage.claims))
        if kept or not passage.claims:
            return replace(passage, claims=kept)
        why = f"its claims are of forms that do not count among {self.forms}"
        return replace(
            passage,
            claims=(),
            reading=Reading.SET_ASIDE,
            why=why,
            left_out=(),
        )

    def _checker(self, subject: Subject) -> Checker:
        """Return one checker per thread and game in a row.

        Programs are loaded once, and engines are never shared.
        """
        known: tuple[Subject, Checker] | None = getattr(self._own, "known", None)
        if known is not None and known[0].same_as(subject):
            return known[1]
        engine = self._engine() if self._engine is not None else None
        checker = Checker(subject, engine, self.solver)
        self._own.known = (subject, checker)
        return checker


def _ground(claim: Claim | Malformed, subject: Subject) -> Claim | Malformed:
    try:
        return claim if isinstance(claim, Malformed) else ground(claim, subject).claim
    except Ungrounded:
        return claim
