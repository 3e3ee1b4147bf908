"""Recorded queries get the recorded verdicts, and records that differ from those of the paper are
read as far as they go. `tests/papers/test_lelma.py` has the published tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.logic import EmbeddedEngine
from bestresponse.studies.reproduce.reproduction import Reproduction
from bestresponse.studies.verify.ratings import Confusion
from bestresponse.studies.verify.reproduction import (
    Recheck,
    games_of,
    recorded_verdicts,
    reproduce_lelma,
)


def cell(found: Reproduction, what: str) -> object:
    (check,) = [check for check in found.checks if check.what == what]
    return check.found


def test_every_recorded_query_has_the_recorded_verdict(recorded_lelma: Path) -> None:
    recheck = Recheck(games_of(recorded_lelma), EmbeddedEngine())
    verdicts = recorded_verdicts(recorded_lelma)
    ours = {
        game: {
            query: {"proved": "true", "refuted": "false"}.get(recheck.verdict(game, query))
            for query in queries
        }
        for game, queries in verdicts.items()
    }
    assert ours == verdicts


def _one(folder: Path, **changed: object) -> Path:
    attempt = {
        "n": 0,
        "response": "{B}",
        "queries": ["higher(5, X).", "higher(1, 3)."],
        "failed": ["higher(1, 3)."],
    }
    row = {
        "id": "a",
        "model": "other",
        "game": "pd",
        "attempts": [attempt],
        "orig_choice": "B",
        "final_choice": "B",
    }
    (folder / "samples.jsonl").write_text(json.dumps(row | changed) + "\n")
    return folder


def test_runs_without_ratings_matrices_and_verdicts_can_be_reproduced(tmp_path: Path) -> None:
    found = reproduce_lelma(_one(tmp_path))
    assert cell(found, "correctness, confusion and agreement") is None
    assert found.detail["samples"] == 1


def test_ill_formed_queries_keep_what_was_recorded_and_stand_apart(tmp_path: Path) -> None:
    queries = [
        "higher(5, X).",
        "highest_guaranteed_payoff_choice(B).",
        "highest_guaranteed_payoff_choice('b').",
        "higher(1, 3).",
    ]
    failed = ["highest_guaranteed_payoff_choice('b').", "higher(1, 3)."]
    attempt = {"n": 0, "response": "", "queries": queries, "failed": failed}
    answers = dict(zip(queries, ("error", "true", "false", "false"), strict=True))
    (tmp_path / "query_verdicts.json").write_text(json.dumps({"pd": answers}))
    found = reproduce_lelma(_one(tmp_path, attempts=[attempt | {"queries": queries[1:]}]))
    assert [one["query"] for one in found.detail["verdicts"]["ill_formed"]] == queries[1:3]
    assert cell(found, "verdicts on recorded queries") == 2
    assert cell(found, "failed queries of all attempts") == 1


def test_a_folder_without_samples_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"samples\.jsonl"):
        reproduce_lelma(tmp_path)
    (tmp_path / "samples.jsonl").write_text('{"id": "1"}\n')
    with pytest.raises(UsageError, match="line 1: Field required game"):
        reproduce_lelma(tmp_path)
    with pytest.raises(UsageError, match="the payoffs of chess"):
        reproduce_lelma(_one(tmp_path, game="chess"))


def test_accuracy_and_kappa_of_a_confusion() -> None:
    confusion = Confusion.of(
        [(True, True)] * 15 + [(True, False)] * 5 + [(False, True)] * 9 + [(False, False)] * 61
    )
    counts = (confusion.passed, confusion.false_alarm, confusion.missed, confusion.caught)
    assert counts == (15, 5, 9, 61)
    assert confusion.accuracy == pytest.approx(76 / 90)
    assert confusion.kappa == pytest.approx(
        (76 / 90 - (20 * 24 + 70 * 66) / 8100) / (1 - (20 * 24 + 70 * 66) / 8100)
    )


def test_cells_of_the_paper_apply_only_to_all_of_its_runs(
    recorded_lelma: Path, tmp_path: Path
) -> None:
    rows = [
        line
        for line in (recorded_lelma / "samples.jsonl").read_text().splitlines()
        if '"game": "pd"' in line
    ]
    (tmp_path / "samples.jsonl").write_text("\n".join(rows))
    found = reproduce_lelma(tmp_path)
    assert cell(found, "runs of gpt-4o-2024-05-13") == 30
    (choice,) = [
        check for check in found.checks if check.what == "Prisoner's Dilemma: choice B last, %"
    ]
    assert (choice.published, choice.found) == (23.33, 23.33)
    (first,) = [check for check in found.checks if check.what == "samples with 1 attempts"]
    assert first.published is None
    assert found.differing == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("matrices.json", "{oops", "matrices.json: Invalid JSON"),
        ("matrices.json", "[1]", "matrices.json: Input should be an object"),
        (
            "matrices.json",
            '{"pd": {"RRR": [1, 1]}}',
            "expected all outcomes of pd, by two letters such as RB",
        ),
        ("matrices.json", '{"pd": {"RR": [1, 1], "BB": [1, 1]}}', "expected all outcomes of pd"),
        ("matrices.json", '{"pd": {"RR": [1]}}', r"Field required pd\.RR\.1"),
        ("query_verdicts.json", '{"pd": []}', "Input should be an object pd"),
        ("samples.jsonl", "\x00", "line 1: Invalid JSON"),
    ],
)
def test_files_of_another_form_say_what_is_wrong(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    _one(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        reproduce_lelma(tmp_path)


def test_runs_without_attempts_choices_failures_or_numbers_are_counted_as_far_as_they_go(
    tmp_path: Path,
) -> None:
    changed = {
        "attempts": [],
        "orig_choice": None,
        "final_choice": None,
        "sheet": {"seconds": "soon"},
    }
    found = reproduce_lelma(_one(tmp_path, **changed))
    assert cell(found, "samples with 0 attempts") == 1
    assert cell(found, "failed queries of all attempts") is None
    assert cell(found, "Prisoner's Dilemma: choice B first, %") is None
    assert found.detail["rules_translator"]["claims"] == 0
