"""Reasoning that people judged: recorded runs of LELMA, filled sheets, agreement, and how well a checker predicts it.

A folder of recorded runs holds `samples.jsonl`, one sample a line, and perhaps `matrices.json` (payoffs by game, keyed
by the two choices) and `query_verdicts.json` (what the original solver answered). Ratings by people may be absent.

The published protocol: three raters mark the first and the last reasoning of a sample as correct or not, and name the
kinds of error (`pa` payoff assignment, `rga` risk or gain of an action, `pc` comparison of payoffs, `u` unclassified).
Aggregation is conservative: a reasoning is correct only where all raters say so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bestresponse.analysis import raters
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.claims.subject import Subject
from bestresponse.report.stats.agreement import cohen_kappa, fleiss_kappa
from bestresponse.theory.games.normal_form import NormalForm

_PAPER: Final = {
    "pd": {"RR": [1, 1], "RB": [5, 0], "BR": [0, 5], "BB": [3, 3]},
    "sh": {"RR": [1, 1], "RB": [3, 0], "BR": [0, 3], "BB": [5, 5]},
    "hd": {"RR": [0, 0], "RB": [5, 1], "BR": [1, 5], "BB": [3, 3]},
}
"""Table 1 of the paper, for folders that bring no payoffs."""


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """One reasoning, the queries made of it, those that failed (None: never put to the solver), and the feedback."""

    response: str
    queries: tuple[str, ...]
    failed: tuple[str, ...] | None
    feedback: str


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said about the first and the last reasoning, and which kinds of error there were."""

    first: bool
    last: bool
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of the feedback loop."""

    id: str
    model: str
    game: str
    attempts: tuple[RecordedAttempt, ...]
    first_choice: str
    last_choice: str
    ratings: tuple[Rating, ...]
    cost: JsonMapping


def read_samples(folder: Path) -> tuple[Sample, ...]:
    """The samples of a folder; UsageError where there are none."""
    path = folder / "samples.jsonl"
    if not path.is_file():
        raise UsageError(f"{folder}: expected recorded runs in a file samples.jsonl")
    samples = tuple(_samples(path))
    if not samples:
        raise UsageError(f"{path} holds no samples")
    return samples


def _samples(path: Path) -> Iterator[Sample]:
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield _sample(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}, line {number}: this is no recorded sample ({error!r})") from None


def _sample(row: JsonMapping) -> Sample:
    attempts = tuple(
        RecordedAttempt(
            str(one.get("response") or ""),
            _texts(one.get("queries")) or (),
            _texts(one.get("failed")),
            str(one.get("feedback_prompt") or ""),
        )
        for one in row["attempts"]
    )
    ratings = tuple(
        Rating(_said_yes(one["orig_cor"]), _said_yes(one["fin_cor"]), tuple(one.get("err_types") or ()))
        for one in row.get("raters") or ()
        if one.get("orig_cor") is not None and one.get("fin_cor") is not None
    )
    first, last = (str(row.get(name) or "").strip("{} ") for name in ("orig_choice", "final_choice"))
    sheet = row.get("sheet") or {}
    cost = {name: value for name, value in sheet.items() if isinstance(value, int | float)}
    return Sample(str(row["id"]), str(row.get("model", "")), str(row["game"]), attempts, first, last, ratings, cost)


def _texts(given: Any) -> tuple[str, ...] | None:
    """A list of texts, or one text; None where none were kept."""
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(str(one) for one in given if one is not None)


def _said_yes(given: object) -> bool:
    """A label as a truth value, written as such, as a number or as a word."""
    return given.strip().lower() in ("1", "true", "yes", "y", "correct") if isinstance(given, str) else bool(given)


def games_of(folder: Path) -> dict[str, Subject]:
    """The games that were played, from the reasoner's seat."""
    path = folder / "matrices.json"
    payoffs: Mapping[str, JsonMapping] = _by_game(path) if path.is_file() else _PAPER
    return {name: _subject(name, cells) for name, cells in payoffs.items()}


def _by_game(path: Path) -> dict[str, JsonObject]:
    """A file of objects by the name of the game."""
    try:
        found = json.loads(path.read_text("utf-8", "replace"))
    except ValueError as error:
        raise UsageError(f"{path}: this is no JSON ({error})") from None
    if not isinstance(found, dict) or not all(isinstance(cells, dict) for cells in found.values()):
        raise UsageError(f"{path}: expected an object with one object for each game")
    return found


def _subject(name: str, cells: JsonMapping) -> Subject:
    if wrong := [key for key in cells if len(key) != 2]:
        raise UsageError(f"matrices.json, {name}: expected outcomes of two letters, such as RB, got {wrong[0]!r}")
    own, other = (tuple(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    try:
        row, col = ([[float(cells[a + b][player]) for b in other] for a in own] for player in (0, 1))
        return Subject(NormalForm.bimatrix(row, col, actions=(own, other), name=name))
    except (KeyError, IndexError, TypeError, ValueError, InvalidGame) as error:
        raise UsageError(f"matrices.json: the payoffs of {name} are incomplete ({error!r})") from None


def recorded_verdicts(folder: Path) -> dict[str, dict[str, str]]:
    """What the original solver answered: game, query, and true, false or error; empty where it was not kept."""
    path = folder / "query_verdicts.json"
    return _by_game(path) if path.is_file() else {}


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
        actual = [True] * (self.passed + self.false_alarm) + [False] * (self.missed + self.caught)
        predicted = [True] * self.passed + [False] * self.false_alarm + [True] * self.missed + [False] * self.caught
        try:
            return cohen_kappa(actual, predicted)
        except UsageError:
            return None


def aggregate(ratings: Sequence[Rating]) -> tuple[bool, bool]:
    """Whether the first and the last reasoning are correct: only where all raters agree that they are."""
    if not ratings:
        raise UsageError("a sample without ratings cannot be aggregated")
    return all(rating.first for rating in ratings), all(rating.last for rating in ratings)


def agreement(rated: Sequence[Sequence[Rating]], which: str = "first") -> float | None:
    """Fleiss' kappa of the raters on the first (or last) reasoning; None where it is not defined."""
    counts = [
        [sum(getattr(rating, which) for rating in row), sum(not getattr(rating, which) for rating in row)]
        for row in rated
    ]
    return raters.compute_if_defined(fleiss_kappa, counts)


def read_ratings(text: str) -> dict[str, Rating]:
    """Read the ratings of a filled sheet, by sample; rows not filled in are left out, other faults are UsageErrors."""
    found: dict[str, Rating] = {}
    for line, row in raters.read_sheet(text, ("sample", "first_correct", "last_correct")):
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
    for sheet in sheets:
        for run, rating in sheet.items():
            labels[run] = labels.get(run, True) and rating.first
    if not labels:
        raise UsageError("the sheets hold no ratings")
    return labels
