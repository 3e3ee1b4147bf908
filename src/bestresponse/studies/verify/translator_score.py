"""How far the offline translator agrees with the recorded one, and how well it finds errors alone.

Every claim of the rules is held against the recorded claims of the same text (`agreement`). A claim that the recorded
ones leave open is neither right nor wrong by this yardstick; it is counted apart, and so is how many of these are true
of the game. `agreement` is the share that agrees of all claims that are not open; `strict` counts open ones as wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.checker import Checker
from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grammar import parse
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.translation import Translator
from bestresponse.logic.engine import Verdict
from bestresponse.studies.verify.agreement import Recorded, Stand, one_way
from bestresponse.studies.verify.checking import Recheck
from bestresponse.studies.verify.evaluation import Confusion, aggregate
from bestresponse.studies.verify.recorded import Sample

__all__ = ["Yardstick", "measure_translator"]


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Counts over all recorded attempts that have queries."""

    recorded: int
    same: int
    follows: int
    contradicts: int
    open: int
    open_true: int
    no_form: int
    found: int
    detection: Confusion
    unchecked: int

    @property
    def agreement(self) -> float | None:
        """Of the claims that the recorded ones decide, the share that agrees with them."""
        agree = self.same + self.follows
        return agree / (agree + self.contradicts) if agree + self.contradicts else None

    @property
    def strict(self) -> float | None:
        """Of all claims of the forms offered then, the share that was recorded or follows."""
        total = self.same + self.follows + self.contradicts + self.open
        return (self.same + self.follows) / total if total else None

    @property
    def literal(self) -> float | None:
        """Of all claims whatsoever, the share that was recorded."""
        total = self.same + self.follows + self.contradicts + self.open + self.no_form
        return self.same / total if total else None

    @property
    def recall(self) -> float | None:
        """Of all recorded claims, the share that was found."""
        return self.found / self.recorded if self.recorded else None

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return {
            "claims": self.same + self.follows + self.contradicts + self.open + self.no_form,
            "same_as_recorded": self.same,
            "follows_from_recorded": self.follows,
            "contradicts_recorded": self.contradicts,
            "nothing_recorded": self.open,
            "nothing_recorded_but_true": self.open_true,
            "forms_not_offered_then": self.no_form,
            "agreement": self.agreement,
            "strict_precision": self.strict,
            "literal_precision": self.literal,
            "recorded_claims": self.recorded,
            "found_of_recorded": self.found,
            "recall": self.recall,
            "detection_accuracy": self.detection.accuracy,
            "unchecked_first_attempts": self.unchecked,
        }


def measure_translator(samples: Iterable[Sample], translator: Translator, recheck: Recheck) -> Yardstick:
    """Translate every recorded reasoning and compare with what was recorded."""
    counts: Counter[str] = Counter()
    judged: list[tuple[bool, bool]] = []
    for sample in samples:
        subject = recheck.subject(sample.game)
        for number, attempt in enumerate(sample.attempts):
            claims = _grounded(translator.translate(attempt.response, subject).claims, subject)
            if attempt.queries:
                recorded = Recorded(_recorded(attempt.queries, subject), subject)
                _compare(counts, claims, recorded, recheck.checker(sample.game))
            if number == 0 and not claims:
                counts["unchecked"] += 1
            elif number == 0 and sample.ratings:
                refuted = any(recheck.checker(sample.game).check(c).verdict is Verdict.REFUTED for c in claims)
                judged.append((aggregate(sample.ratings)[0], not refuted))
    names = ("recorded", "same", "follows", "contradicts", "open", "open_true", "no_form", "found", "unchecked")
    return Yardstick(detection=Confusion.of(judged), **{name: counts[name] for name in names})


def _compare(counts: Counter[str], claims: set[Claim], recorded: Recorded, checker: Checker) -> None:
    counts["recorded"] += len(recorded.claims)
    counts["found"] += len(recorded.claims & set(map(one_way, claims)))
    for claim in claims:
        stand = recorded.stand(claim)
        counts[stand.replace(" ", "_")] += 1
        counts["open_true"] += stand is Stand.OPEN and checker.check(claim).verdict is Verdict.PROVED


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
