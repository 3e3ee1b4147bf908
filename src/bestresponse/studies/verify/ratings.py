"""Reasoning that people judged: sheets, agreement, and a checker's predictions.

People fill in the sheets. The module says how far they agree, and how well a checker predicts them.

The protocol is that of LELMA: three raters mark the first and the last reasoning of a sample as
correct or not, and name the kinds of error (`pa` payoff assignment, `rga` risk or gain of an
action, `pc` comparison of payoffs, `u` unclassified). Aggregation is conservative: a reasoning is
correct only where all raters say so. Models can be asked to fill in the same sheet (`judge`); they
count apart from people.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.files import read_text
from bestresponse.core.json import JsonObject
from bestresponse.report.frames import NumberColumn, column
from bestresponse.report.stats.agreement import (
    cohen_kappa,
    compute_if_defined,
    fleiss_kappa,
    read_sheet,
)
from bestresponse.report.stats.statistics import Interval, wilson

When = Literal["first", "last"]
BOTH: tuple[When, When] = ("first", "last")
RATERS = 3
ERROR_KINDS = {
    "pa": "a payoff is given to the wrong choices or player",
    "rga": "a choice is said to be safer, or to promise more, than it is",
    "pc": "two amounts are compared wrongly",
    "u": "another error about payoffs",
}
SHEET = (
    "sample",
    "game",
    "attempts",
    "first_choice",
    "last_choice",
    "first_correct",
    "last_correct",
    "error_kinds",
    "sentences",
    "remarks",
    "first_reasoning",
    "last_reasoning",
)


class RunRow(TypedDict):
    """One run of the loop: its attempts in full.

    Choice, state, payoff and gap of the first and the last one.
    """

    run: str
    model: str
    game: str
    repeat: int
    attempts: int
    transcript: list[JsonObject]
    first_choice: str | None
    first_state: str
    first_payoff: NumberColumn
    first_gap: NumberColumn
    first_gap_least: NumberColumn
    first_gap_most: NumberColumn
    last_choice: str | None
    last_state: str
    last_payoff: NumberColumn
    last_gap: NumberColumn
    last_gap_least: NumberColumn
    last_gap_most: NumberColumn


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Choice, state, payoff and gap of one attempt.

    The choice is None where it could not be read. Where equilibria differ about what the choice is
    worth there is no payoff and no gap, but a least and a most gap.
    """

    choice: str | None
    state: str
    payoff: float | None
    gap: float | None
    gap_least: float | None = None
    gap_most: float | None = None

    def is_open(self, what: Literal["payoff", "gap"]) -> bool:
        """Whether equilibria differ about the payoff or the gap of the choice."""
        return getattr(self, what) is None and self.gap_most is not None


def pick_attempt(row: RunRow, when: When) -> AttemptResult:
    """Return the result of the first or the last attempt of a run."""
    metrics = {field.name: row.get(f"{when}_{field.name}") for field in fields(AttemptResult)}
    return AttemptResult(**metrics)  # type: ignore[arg-type]


class CorrectnessRow(TypedDict):
    """The share of correct reasonings by checker and people, in first and last attempts."""

    model: str
    game: str
    first_by_checker: Annotated[Interval | None, column("first, by the checker", ".3f")]
    """share of the decided first attempts in which nothing is refuted"""
    last_by_checker: Annotated[Interval | None, column("last, by the checker", ".3f")]
    first_by_people: Annotated[Interval | None, column("first, by people", ".3f")]
    """share of the rated first attempts that all raters call correct"""
    last_by_people: Annotated[Interval | None, column("last, by people", ".3f")]


class JudgementRow(TypedDict):
    """What people say of first reasonings, beside the checker."""

    model: str
    game: str
    people: Annotated[str, column("people say")]
    unrefuted: Annotated[int, column("nothing refuted")]
    refuted: Annotated[int, column("something refuted")]


class AgreementRow(TypedDict):
    """A metric of people's agreement with each other, the checker, and rating models.

    Rating models are models in a rater's place.
    """

    model: str
    game: str
    metric: str
    value: Annotated[float | Interval | None, column(format=".3f")]


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater said about the first and the last reasoning, and the kinds of error."""

    first: bool
    last: bool
    kinds: tuple[str, ...] = ()


Sheet = Mapping[str, Rating]
"""The ratings of one rater, by sample."""


class MarksRow(TypedDict):
    """How many samples a person or a model marked, and how many marks could not be used."""

    rater: str
    samples: int
    used: int
    blank: Annotated[int, column("blank or refused")]
    contradictory: int
    """one text is called both correct and incorrect, or correct with kinds of error"""
    unsteady: Annotated[int, column("marked differently")]
    """texts that several samples share, called correct in one and incorrect in another; used"""


@dataclass(frozen=True, slots=True)
class RatedSheets:
    """The sheets of a run that were filled in: people's, and models' by name.

    Contradictory marks are left out; `marks` counts them.
    """

    people: tuple[Sheet, ...] = ()
    models: Mapping[str, Sheet] | None = None
    marks: tuple[MarksRow, ...] = ()


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
        return cls(
            counts[True, True], counts[True, False], counts[False, True], counts[False, False]
        )

    @property
    def total(self) -> int:
        """How many were judged."""
        return self.passed + self.false_alarm + self.missed + self.caught

    @property
    def accuracy(self) -> float | None:
        """The share on which people and checker agree; None where nothing was judged."""
        return (self.passed + self.caught) / self.total if self.total else None

    @property
    def accuracy_interval(self) -> Interval | None:
        """The same with its interval."""
        return wilson(self.passed + self.caught, self.total) if self.total else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of people and checker; None where it is not defined."""
        counts = (
            (1, 1, self.passed),
            (1, 0, self.false_alarm),
            (0, 1, self.missed),
            (0, 0, self.caught),
        )
        pairs = [(actual, predicted) for actual, predicted, count in counts for _ in range(count)]
        return compute_if_defined(
            lambda both: cohen_kappa(*np.reshape(both, (-1, 2)).T.tolist()), pairs
        )


def aggregate(ratings: Sequence[Rating]) -> tuple[bool, bool]:
    """Whether the first and the last reasoning are correct.

    They are only if all raters agree that they are.
    """
    return all(rating.first for rating in ratings), all(rating.last for rating in ratings)


def agreement(rated: Sequence[Sequence[Rating]]) -> float | None:
    """Fleiss' kappa of the raters on the first reasoning; None where it is not defined."""
    counts = []
    for row in rated:
        correct = sum(rating.first for rating in row)
        counts.append([correct, len(row) - correct])
    return compute_if_defined(fleiss_kappa, counts)


def read_ratings(text: str, path: str = "this file") -> dict[str, Rating]:
    """Read the ratings of a filled sheet, by sample.

    Rows not filled in are left out, faults are UsageErrors.
    """
    ratings: dict[str, Rating] = {}
    for line, row in read_sheet(text, ("sample", "first_correct", "last_correct"), path):
        where = f"{path}, line {line}"
        first = row["first_correct"].strip()
        last = row["last_correct"].strip()
        if not first and not last:
            continue
        kinds = tuple(kind for kind in row.get("error_kinds", "").strip().split("#") if kind)
        if {first, last} - {"0", "1"}:
            raise UsageError(
                f"{where}: first_correct and last_correct are 0 or 1, got {first!r} and {last!r}"
            )
        if unknown := [kind for kind in kinds if kind not in ERROR_KINDS]:
            known = ", ".join(ERROR_KINDS)
            raise UsageError(f"{where}: there is no kind of error {unknown[0]!r}; known: {known}")
        rating = Rating(first == "1", last == "1", kinds)
        if ratings.setdefault(row["sample"], rating) != rating:
            raise UsageError(f"{where}: sample {row['sample']} has other marks further above")
    return ratings


def name_model_sheet(model: str) -> str:
    """Return the file name of the sheet that a model fills in."""
    return f"sheet-model-{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-') or 'model'}.csv"


def read_rated_sheets(folder: Path, rows: Sequence[RunRow]) -> RatedSheets:
    """Read the sheets of a run's folder that were filled in."""
    samples = {row["run"]: row for row in rows}
    marks = []

    def read(pattern: str) -> Iterator[tuple[str, Sheet]]:
        for path in sorted(folder.glob(pattern)):
            ratings = read_ratings(read_text(path), str(path))
            own = {run: rating for run, rating in ratings.items() if run in samples}
            used = {}
            for run, rating in own.items():
                if not _contradicts_itself(rating, samples[run]):
                    used[run] = rating
            if ratings:
                name = path.stem.removeprefix("sheet-")
                counts = MarksRow(
                    rater=name,
                    samples=len(rows),
                    used=len(used),
                    blank=len(rows) - len(own),
                    contradictory=len(own) - len(used),
                    unsteady=_count_unsteady(used, samples),
                )
                marks.append(counts)
                yield name.partition("-")[2], used

    people = tuple(sheet for _, sheet in read("sheet-rater-*.csv"))
    return RatedSheets(people, dict(read("sheet-model-*.csv")), tuple(marks))


def _contradicts_itself(rating: Rating, row: RunRow) -> bool:
    """Return whether marks of a sample cannot all be meant."""
    first, last = (row["transcript"][place]["reasoning"] for place in (0, -1))
    if first == last and rating.first != rating.last:
        return True
    return rating.first and rating.last and bool(rating.kinds)


def _count_unsteady(sheet: Sheet, samples: Mapping[str, RunRow]) -> int:
    """Count the texts that are marked correct in one sample and incorrect in another."""
    marks: dict[tuple[str, str], set[bool]] = {}
    for run, rating in sheet.items():
        row = samples[run]
        for place, mark in ((0, rating.first), (-1, rating.last)):
            text = row["transcript"][place]["reasoning"]
            marks.setdefault((row["game"], text), set()).add(mark)
    return sum(len(given) > 1 for given in marks.values())


def merge_labels(sheets: Iterable[Sheet]) -> dict[str, tuple[bool, bool]]:
    """Merge the marks of several raters.

    The first and the last reasoning are correct only if all say so.
    """
    marks: dict[str, list[Rating]] = {}
    for sheet in sheets:
        for run, rating in sheet.items():
            marks.setdefault(run, []).append(rating)
    return {run: aggregate(ratings) for run, ratings in marks.items()}


def split_runs(rows: Sequence[RunRow]) -> Iterator[tuple[str, str, list[RunRow]]]:
    """Yield the runs of every model in every game.

    If there are several games, also yields the runs in all of them together.
    """
    games = list(dict.fromkeys(row["game"] for row in rows))
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        for game in games:
            yield model, game, [row for row in own if row["game"] == game]
        if len(games) > 1:
            yield model, ALL_GAMES, own


ALL_GAMES = "all games"


def measure_correctness(rows: Sequence[RunRow], sheets: RatedSheets) -> Iterator[CorrectnessRow]:
    """Yield the share of correct first and last reasonings, by the checker and by people."""
    labels = merge_labels(sheets.people)
    for model, game, part in split_runs(rows):
        rated = [labels[row["run"]] for row in part if row["run"] in labels]
        yield CorrectnessRow(
            model=model,
            game=game,
            first_by_checker=_share_unrefuted(part, "first"),
            first_by_people=_share([first for first, _ in rated]),
            last_by_checker=_share_unrefuted(part, "last"),
            last_by_people=_share([last for _, last in rated]),
        )


def _share_unrefuted(rows: Iterable[RunRow], when: When) -> Interval | None:
    """Return the share of the decided attempts in which nothing is refuted."""
    decided = []
    for row in rows:
        state = pick_attempt(row, when).state
        if state in ("unrefuted", "refuted"):
            decided.append(state == "unrefuted")
    return _share(decided)


def _share(marks: Sequence[bool]) -> Interval | None:
    return wilson(sum(marks), len(marks)) if marks else None


def compare_with_people(
    rows: Sequence[RunRow], sheets: RatedSheets
) -> tuple[list[JudgementRow], list[AgreementRow]]:
    """Set people's judgement of first reasonings beside the checker's.

    Undecided and unchecked runs are left out.
    """
    if not sheets.people and not sheets.models:
        return [], []
    labels = {run: first for run, (first, _) in merge_labels(sheets.people).items()}
    judgements: list[JudgementRow] = []
    agreements: list[AgreementRow] = []
    for model, game, part in split_runs(rows):
        decided = [
            row
            for row in part
            if row["run"] in labels and row["first_state"] in ("unrefuted", "refuted")
        ]
        table = Confusion.of(
            (labels[row["run"]], row["first_state"] == "unrefuted") for row in decided
        )
        if sheets.people:
            for people, unrefuted, refuted in (
                ("correct", table.passed, table.false_alarm),
                ("incorrect", table.missed, table.caught),
            ):
                row = JudgementRow(
                    model=model, game=game, people=people, unrefuted=unrefuted, refuted=refuted
                )
                judgements.append(row)
        runs = {row["run"] for row in part}
        for name, value in _list_figures(runs, table, labels, sheets):
            agreements.append(AgreementRow(model=model, game=game, metric=name, value=value))
    return judgements, agreements


def _list_figures(
    runs: set[str], table: Confusion, labels: Mapping[str, bool], sheets: RatedSheets
) -> Iterator[tuple[str, float | Interval | None]]:
    """Yield the metrics of agreement on some runs.

    `table` compares people and checker on those it decided.
    """
    own = [{run: rating for run, rating in sheet.items() if run in runs} for sheet in sheets.people]
    if own:
        yield "accuracy", table.accuracy_interval
        yield "kappa of people and checker", table.kappa
        yield "Fleiss' kappa of the raters", _compute_agreement(own)
        yield "raters", len(own)
    for name, sheet in (sheets.models or {}).items():
        marked = {run: rating.first for run, rating in sheet.items() if run in runs}
        both = Confusion.of((labels[run], first) for run, first in marked.items() if run in labels)
        yield f"share that {name} calls correct", _share(list(marked.values()))
        yield f"accuracy of {name} in a rater's place", both.accuracy_interval
        yield f"kappa of people and {name}", both.kappa
    if not own:
        return
    kinds: Counter[str] = Counter()
    for sheet in own:
        for rating in sheet.values():
            kinds.update(rating.kinds)
    for kind, words in ERROR_KINDS.items():
        yield f"errors: {words}", kinds[kind]


def _compute_agreement(sheets: Sequence[Mapping[str, Rating]]) -> float | None:
    """Return Fleiss' kappa of the runs that all raters rated; None for a single rater."""
    if len(sheets) < 2:
        return None
    first, *others = sheets
    common = [run for run in first if all(run in sheet for sheet in others)]
    return agreement([[sheet[run] for sheet in sheets] for run in common])


def list_sheet_rows(
    rows: Iterable[RunRow], marks: Callable[[RunRow], Mapping[str, str]] = lambda row: {}
) -> list[dict[str, str | int | None]]:
    """List the rows of a sheet, with the marks of a rater where there are any."""
    return [
        {
            "sample": row["run"],
            "game": row["game"],
            "attempts": row["attempts"],
            "first_choice": row["first_choice"],
            "last_choice": row["last_choice"],
            "first_reasoning": row["transcript"][0]["reasoning"],
            "last_reasoning": row["transcript"][-1]["reasoning"],
            **marks(row),
        }
        for row in rows
    ]
