"""Reasoning that people judged: filled sheets, agreement, and how well a checker predicts it.

The protocol of LELMA: three raters mark the first and the last reasoning of a sample as correct or not, and name the
kinds of error (`pa` payoff assignment, `rga` risk or gain of an action, `pc` comparison of payoffs, `u` unclassified).
Aggregation is conservative: a reasoning is correct only where all raters say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.agreement import cohen_kappa, compute_if_defined, fleiss_kappa, read_sheet


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said about the first and the last reasoning, and which kinds of error there were."""

    first: bool
    last: bool
    kinds: tuple[str, ...] = ()


ERROR_KINDS = {
    "pa": "a payoff is given to the wrong choices or player",
    "rga": "a choice is said to be safer, or to promise more, than it is",
    "pc": "two amounts are compared wrongly",
    "u": "another error about payoffs",
}
SHEET = ("sample", "game", "attempts", "first_choice", "last_choice", "first_correct", "last_correct", "error_kinds",
         "sentences", "remarks", "first_reasoning", "last_reasoning")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Confusion:
    """Actual correctness (by people) against predicted correctness (nothing refuted)."""

    passed: int
    false_alarm: int
    missed: int
    caught: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Confusion:
        """From pairs (actually correct, predicted correct)."""
        counts = Counter(pairs)
        return cls(counts[True, True], counts[True, False], counts[False, True], counts[False, False])

    @property
    def total(self) -> int:
        """How many were judged."""
        return self.passed + self.false_alarm + self.missed + self.caught

    @property
    def accuracy(self) -> float | None:
        """The share on which people and checker agree; None where nothing was judged."""
        return (self.passed + self.caught) / self.total if self.total else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of people and checker; None where it is not defined."""
        counts = ((1, 1, self.passed), (1, 0, self.false_alarm), (0, 1, self.missed), (0, 0, self.caught))
        pairs = [(actual, predicted) for actual, predicted, count in counts for _ in range(count)]
        return compute_if_defined(lambda both: cohen_kappa(*np.transpose(both).tolist()), pairs)


def aggregate(ratings: Sequence[Rating]) -> tuple[bool, bool]:
    """Whether the first and the last reasoning are correct: only where all raters agree that they are."""
    return all(rating.first for rating in ratings), all(rating.last for rating in ratings)


def agreement(rated: Sequence[Sequence[Rating]]) -> float | None:
    """Fleiss' kappa of the raters on the first reasoning; None where it is not defined."""
    counts = [[sum(rating.first for rating in row), sum(not rating.first for rating in row)] for row in rated]
    return compute_if_defined(fleiss_kappa, counts)


def read_ratings(text: str) -> dict[str, Rating]:
    """Read the ratings of a filled sheet, by sample; rows not filled in are left out, other faults are UsageErrors."""
    found: dict[str, Rating] = {}
    for line, row in read_sheet(text, ("sample", "first_correct", "last_correct")):
        first, last = row["first_correct"].strip(), row["last_correct"].strip()
        if not first and not last:
            continue
        kinds = tuple(kind for kind in row.get("error_kinds", "").strip().split("#") if kind)
        if {first, last} - {"0", "1"}:
            raise UsageError(f"line {line}: first_correct and last_correct are 0 or 1, got {first!r} and {last!r}")
        if unknown := [kind for kind in kinds if kind not in ERROR_KINDS]:
            raise UsageError(f"line {line}: there is no kind of error {unknown[0]!r}; known: {', '.join(ERROR_KINDS)}")
        found[row["sample"]] = Rating(first == "1", last == "1", kinds)
    return found


def merge_labels(sheets: Iterable[Mapping[str, Rating]]) -> dict[str, bool]:
    """Merge the labels of first reasonings from several raters' sheets: correct only where all say so."""
    labels: dict[str, bool] = {}
    for run, rating in (pair for sheet in sheets for pair in sheet.items()):
        labels[run] = labels.get(run, True) and rating.first
    return labels
