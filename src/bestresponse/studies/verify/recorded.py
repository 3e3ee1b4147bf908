"""Recorded runs of LELMA as data: reasoning, queries, verdicts, choices, ratings.

A folder holds `samples.jsonl`, one sample a line, and perhaps `matrices.json` (payoffs by game, keyed by the two
choices) and `query_verdicts.json` (what the original solver answered). Ratings by people may be absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.claims.subject import Subject
from bestresponse.theory.games.normal_form import NormalForm

_PAPER: Final = {
    "pd": {"RR": [1, 1], "RB": [5, 0], "BR": [0, 5], "BB": [3, 3]},
    "sh": {"RR": [1, 1], "RB": [3, 0], "BR": [0, 3], "BB": [5, 5]},
    "hd": {"RR": [0, 0], "RB": [5, 1], "BR": [1, 5], "BB": [3, 3]},
}
"""Table 1 of the paper, for folders that bring no payoffs."""


@dataclass(frozen=True, slots=True)
class Attempt:
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
    attempts: tuple[Attempt, ...]
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
        Attempt(
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
