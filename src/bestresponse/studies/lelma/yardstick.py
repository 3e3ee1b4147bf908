"""How far the offline translator agrees with the recorded one, and how well it finds errors alone.

Agreement is counted question by question: two claims answer the same question when they differ only in the amount (or
the choice, the outcome) they name. A claim of the rules that no recorded query touches is neither right nor wrong by
this yardstick; it is counted apart, and so is how many of these are true of the game.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bestresponse.formal.claims.claim import FORMS, Claim
from bestresponse.formal.claims.grammar import parse
from bestresponse.formal.claims.grounding import Ungrounded, ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import Translator
from bestresponse.logic.engine import Verdict
from bestresponse.studies.lelma.checking import Recheck
from bestresponse.studies.lelma.evaluation import Confusion, aggregate
from bestresponse.studies.lelma.recorded import Sample

__all__ = ["Yardstick", "measure_translator", "question"]

_ORDER = frozenset({"higher", "lower", "equal"})


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Counts over all recorded attempts that have queries."""

    recorded: int
    same: int
    other: int
    silent: int
    silent_true: int
    found: int
    detection: Confusion
    unchecked: int

    @property
    def agreement(self) -> float | None:
        """Of the claims about something that the recorded translator spoke of too, the share that says the same."""
        return self.same / (self.same + self.other) if self.same + self.other else None

    @property
    def strict(self) -> float | None:
        """Of all claims, the share that was recorded word for word."""
        total = self.same + self.other + self.silent
        return self.same / total if total else None

    @property
    def recall(self) -> float | None:
        """Of all recorded claims, the share that was found."""
        return self.found / self.recorded if self.recorded else None

    def to_json(self) -> dict[str, Any]:
        return {
            "claims": self.same + self.other + self.silent,
            "same_as_recorded": self.same,
            "other_than_recorded": self.other,
            "nothing_recorded": self.silent,
            "nothing_recorded_but_true": self.silent_true,
            "agreement": self.agreement,
            "strict_precision": self.strict,
            "recorded_claims": self.recorded,
            "recall": self.recall,
            "detection_accuracy": self.detection.accuracy,
            "unchecked_first_attempts": self.unchecked,
        }


def question(claim: Claim) -> tuple[Any, ...]:
    """What a claim answers: everything but the amount, the choice or the outcome it names."""
    if claim.form in _ORDER:
        return ("order", *sorted(claim.args))
    names = FORMS[claim.form].names
    answer = next((name for name in ("value", "action", "actions", "outcome") if name in names), "")
    return (claim.form, *(given for name, given in zip(names, claim.args, strict=True) if name != answer))


def measure_translator(samples: Iterable[Sample], translator: Translator, recheck: Recheck) -> Yardstick:
    """Translate every recorded reasoning and compare with what was recorded."""
    counts = {"recorded": 0, "same": 0, "other": 0, "silent": 0, "silent_true": 0, "found": 0, "unchecked": 0}
    judged: list[tuple[bool, bool]] = []
    for sample in samples:
        subject = recheck.subject(sample.game)
        for number, attempt in enumerate(sample.attempts):
            claims = _grounded(translator.translate(attempt.response, subject).claims, subject)
            if attempt.queries:
                _compare(counts, claims, _recorded(attempt.queries, subject), sample.game, recheck)
            if number == 0 and not claims:
                counts["unchecked"] += 1
            elif number == 0 and sample.ratings:
                refuted = any(recheck.checker(sample.game).check(c).verdict is Verdict.REFUTED for c in claims)
                judged.append((aggregate(sample.ratings)[0], not refuted))
    return Yardstick(detection=Confusion.of(judged), **counts)


def _compare(counts: dict[str, int], claims: set[Claim], recorded: set[Claim], game: str, recheck: Recheck) -> None:
    counts["recorded"] += len(recorded)
    counts["found"] += len(recorded & claims)
    asked = {question(claim) for claim in recorded}
    for claim in claims:
        if claim in recorded:
            counts["same"] += 1
        elif question(claim) in asked:
            counts["other"] += 1
        else:
            counts["silent"] += 1
            counts["silent_true"] += recheck.checker(game).check(claim).verdict is Verdict.PROVED


def _recorded(queries: Iterable[str], subject: Subject) -> set[Claim]:
    return _grounded([claim for query in queries for claim in parse(query)], subject)


def _grounded(claims: Iterable[object], subject: Subject) -> set[Claim]:
    found = set()
    for claim in claims:
        if isinstance(claim, Claim):
            try:
                found.add(ground(claim, subject).claim)
            except Ungrounded:
                continue
    return found
