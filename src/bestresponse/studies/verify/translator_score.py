"""How far the offline translator agrees with the recorded one, how much it leaves unread, and how well it finds errors.

Every claim of the rules is held against the recorded claims of the same text:

same         recorded, perhaps the other way round (5 is higher than 3, 3 is lower than 5)
contradicts  recorded with another amount, choice or outcome
open         the recorded claims say nothing about it: neither right nor wrong by this yardstick
no form      of a kind that the recorded translator was not offered, so that it could not say it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.claim import FORMS, Argument, Claim, Malformed
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grammar import parse
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.translation import Reading, Translator
from bestresponse.logic.engine import Verdict
from bestresponse.studies.verify.checking import Recheck
from bestresponse.studies.verify.evaluation import Confusion, aggregate
from bestresponse.studies.verify.recorded import Sample

__all__ = ["Stand", "compare_claim", "measure_translator", "turn_claim"]

OFFERED: Final = frozenset(
    {
        "payoff",
        "higher",
        "lower",
        *(f"{end}_possible_individual_payoff" for end in ("highest", "lowest")),
        *(f"{end}_individual_payoff_for_choice" for end in ("highest", "lowest")),
        "highest_guaranteed_payoff_choice",
        *(f"{end}_guaranteed_payoff" for end in ("higher", "lower")),
        *(f"{end}_mutual_payoff" for end in ("highest", "lowest")),
    }
)
"""The forms that LELMA offered its translator; payoffs of the reasoner and of the other count as two there."""
_TURNED: Final = {"lower": "higher", "lower_guaranteed_payoff": "higher_guaranteed_payoff"}
_TIGHT: Final = {
    "guaranteed_payoff_for_choice": "lowest_individual_payoff_for_choice",
    "limited_payoff_for_choice": "highest_individual_payoff_for_choice",
}


class Stand(StrEnum):
    """How a claim stands to the recorded ones."""

    SAME = "same"
    CONTRADICTS = "contradicts"
    OPEN = "open"
    NO_FORM = "no form"


def turn_claim(claim: Claim) -> Claim:
    """Return a claim as it was recorded then: comparisons one way round, "at least 3" as the least that is possible.

    >>> from fractions import Fraction
    >>> print(turn_claim(Claim("lower", (Fraction(3), Fraction(5)))))
    higher(5, 3).
    """
    if claim.form in _TIGHT:
        return Claim(_TIGHT[claim.form], claim.args, claim.negated)
    if claim.form not in _TURNED:
        return claim
    first, second, *rest = claim.args
    return Claim(_TURNED[claim.form], (second, first, *rest))


def compare_claim(claim: Claim, recorded: frozenset[Claim]) -> Stand:
    """Say how a claim, in the game's own names, stands to what was recorded."""
    turned = turn_claim(claim)
    if turned in recorded:
        return Stand.SAME
    if claim.negated or turned.form not in OFFERED:
        return Stand.NO_FORM
    return Stand.CONTRADICTS if _find_question(turned) in map(_find_question, recorded) else Stand.OPEN


def _find_question(claim: Claim) -> tuple[str, tuple[Argument, ...]]:
    """Return what a claim answers: everything but the amount, the choice or the outcome it names."""
    if claim.form in ("higher", "lower", "equal"):
        return "order", tuple(sorted(claim.args))  # type: ignore[type-var]
    names = FORMS[claim.form].names
    answer = next((name for name in ("value", "action", "actions", "outcome") if name in names), "")
    return claim.form, tuple(argument for name, argument in zip(names, claim.args, strict=True) if name != answer)


def measure_translator(samples: Iterable[Sample], translator: Translator, recheck: Recheck) -> JsonObject:
    """Translate every recorded reasoning and compare with what was recorded."""
    counts: Counter[str] = Counter()
    judged: list[tuple[bool, bool]] = []
    for sample in samples:
        checker = recheck.checkers[sample.game]
        for number, attempt in enumerate(sample.attempts):
            translation = translator.translate(attempt.response, checker.subject)
            claims = _ground_all(translation.claims, checker.subject)
            for passage in translation.passages or ():
                counts[passage.reading] += 1
            if attempt.queries:
                queries = [claim for query in attempt.queries for claim in parse(query)]
                recorded = frozenset(map(turn_claim, _ground_all(queries, checker.subject)))
                counts["recorded"] += len(recorded)
                counts["found"] += len(recorded & set(map(turn_claim, claims)))
                for claim in claims:
                    stand = compare_claim(claim, recorded)
                    counts[stand] += 1
                    counts["true"] += stand is Stand.OPEN and checker.check(claim).verdict is Verdict.PROVED
            if number == 0 and not claims:
                counts["unchecked"] += 1
            elif number == 0 and sample.ratings:
                refuted = any(checker.check(claim).verdict is Verdict.REFUTED for claim in claims)
                judged.append((aggregate(sample.ratings)[0], not refuted))
    same, against = counts[Stand.SAME], counts[Stand.CONTRADICTS]
    spoken = counts[Reading.READ] + counts[Reading.UNREAD]
    return {
        "sentences_with_amounts_or_solutions": spoken,
        "refused_to_read": counts[Reading.UNREAD],
        "share_refused": counts[Reading.UNREAD] / spoken if spoken else None,
        "claims": sum(counts[stand] for stand in Stand),
        "same_as_recorded": same,
        "contradicts_recorded": against,
        "nothing_recorded": counts[Stand.OPEN],
        "nothing_recorded_but_true": counts["true"],
        "forms_not_offered_then": counts[Stand.NO_FORM],
        "agreement": same / (same + against) if same + against else None,
        "recorded_claims": counts["recorded"],
        "found_of_recorded": counts["found"],
        "recall": counts["found"] / counts["recorded"] if counts["recorded"] else None,
        "detection_accuracy": Confusion.of(judged).accuracy,
        "unchecked_first_attempts": counts["unchecked"],
    }


def _ground_all(claims: Iterable[Claim | Malformed], subject: Subject) -> set[Claim]:
    grounded = set()
    for claim in claims:
        if isinstance(claim, Claim):
            try:
                grounded.add(ground(claim, subject).claim)
            except Ungrounded:
                continue
    return grounded
