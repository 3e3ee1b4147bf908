"""Sheets go out and come back, ratings are aggregated conservatively, and runs are measured first against last."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import running

from bestresponse.core.errors import UsageError
from bestresponse.games.named_game import NamedGame
from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.document import Table
from bestresponse.runs.run import Run, load_run
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.disguise import disguised
from bestresponse.studies.verify.evaluation import SheetRow, aggregate, agreement, read_sheet, write_sheet
from bestresponse.studies.verify.measure import Measured, labels_of
from bestresponse.studies.verify.recorded import Rating
from bestresponse.studies.verify.setup import scene_of
from bestresponse.studies.verify.study import VerifyStudy
from bestresponse.theory.games.normal_form import NormalForm

ACTIONS = (("cooperate", "defect"), ("cooperate", "defect"))
PAYOFFS = [[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]
WRONG = "If I pick B and they pick R, I get 1.\nANSWER: B"
RIGHT = "If I pick B and they pick R, I get 0. If both pick R we each get 1.\nANSWER: R"


def config(**changed: object) -> VerifyConfig:
    given = {"repeats": 3, "attempts": 3} | changed
    return VerifyConfig(NamedGame("prisoners-dilemma"), "scripted", **given)  # type: ignore[arg-type]


def script(request: Request) -> str:
    """Corrected, it is right; the third run never claims anything."""
    if request.replicate == 2:
        return "I follow my heart.\nANSWER: B"
    return RIGHT if "take the following into account" in request.messages[-1].content else WRONG


@pytest.fixture
def ran(tmp_path: Path) -> Run:
    model = ScriptedModel(script)
    settings = config()
    study, models = VerifyStudy(), {"scripted": model}
    outcome = running.run(study, settings, tmp_path, models).outcome
    assert (outcome.played, outcome.failed) == (settings.repeats, 0)
    again = running.run(study, settings, tmp_path, models)
    assert again.outcome.played == 0
    return again


@pytest.fixture
def measured(ran: Run) -> Measured:
    return ran.results


def test_the_game_is_told_without_its_name_in_reverse_order() -> None:
    game = scene_of(config()).game
    told = game.view((), game.roles[0]).briefing
    assert "cooperate" not in told
    assert "dilemma" not in told.lower()
    assert game.form.actions[0] == ("R", "B")
    assert "If you choose R and Player 2 chooses B, you get 5, Player 2 gets 0." in told


def test_players_with_different_actions_get_different_letters() -> None:
    form = disguised(NormalForm.zero_sum([[1, 2], [3, 4]], actions=(("up", "down"), ("left", "right"))), inverted=False)
    assert form.actions == (("B", "R"), ("G", "W"))


def test_first_and_last_attempts_are_compared(measured: Measured) -> None:
    summary = measured.summary
    assert summary["attempts"] == {"1": 1, "2": 2, "3": 0}
    assert summary["first"] == {"unrefuted": 0, "refuted": 2, "undecided": 0, "unchecked": 1}
    assert summary["last"] == {"unrefuted": 2, "refuted": 0, "undecided": 0, "unchecked": 1}
    assert summary["choices"]["B"]["first"]["estimate"] == 1.0
    assert summary["choices"]["B"]["last"]["estimate"] == pytest.approx(1 / 3)
    assert summary["claims"]["payoff"] == {"made": 8, "refuted": 2, "unknown": 0}


def test_feedback_changes_payoff_and_gap_run_by_run(measured: Measured) -> None:
    payoff, gap = measured.change("payoff"), measured.change("gap")
    assert payoff is not None
    assert gap is not None
    assert payoff.difference.estimate == pytest.approx(2 / 3)
    assert gap.difference.estimate == pytest.approx(-2 / 3)


def test_unchecked_runs_stay_out_of_the_comparison_with_people(measured: Measured) -> None:
    labels = {row["run"]: False for row in measured.rows}
    assert measured.against(labels).caught == 2
    assert measured.against(labels).total == 2


def test_a_sheet_shows_no_verdict_and_reads_back_when_filled(measured: Measured) -> None:
    sheet = write_sheet(measured.sheet())
    assert "refuted" not in sheet
    assert read_sheet(sheet) == {}
    row = SheetRow("a", "pd", 2, "B", "R", "=cmd()", "fine", Rating(False, True, ("pa", "pc")))
    filled = write_sheet([row])
    assert "'=cmd()" in filled
    assert read_sheet(filled) == {"a": Rating(False, True, ("pa", "pc"))}


def test_filled_sheets_enter_the_report(ran: Run) -> None:
    assert "People's judgement" not in [section.title for section in ran.report().sections]
    raters = (Rating(False, True, ("pa",)), Rating(True, True))
    for number, rating in enumerate(raters, 1):
        filled = [replace(row, rating=rating) for row in ran.results.sheet()]
        (ran.path / f"sheet-rater-{number}.csv").write_text(write_sheet(filled))
    again = load_run(ran.path)
    (section,) = [section for section in again.report().sections if section.title == "People's judgement"]
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    assert table.rows == (("correct", 0, 0), ("incorrect", 0, 2))


def test_a_sheet_that_cannot_be_read_says_where_and_why() -> None:
    head = "sample,first_correct,last_correct,error_kinds\n"
    with pytest.raises(UsageError, match="line 2: first_correct and last_correct are 0 or 1"):
        read_sheet(head + "a,yes,1,\n")
    with pytest.raises(UsageError, match="no kind of error 'typo'"):
        read_sheet(head + "a,0,1,typo\n")
    with pytest.raises(UsageError, match="is no sheet; expected a CSV file with the columns sample, first_correct"):
        read_sheet("a,b\n")


def test_aggregation_is_conservative() -> None:
    assert aggregate([Rating(True, True), Rating(True, True), Rating(False, True)]) == (False, True)
    assert labels_of([{"a": Rating(True, True)}, {"a": Rating(False, True)}]) == {"a": False}


def test_agreement_of_raters_who_always_agree_is_one() -> None:
    rated = [[Rating(True, True)] * 3, [Rating(False, True)] * 3]
    assert agreement(rated) == pytest.approx(1.0)
    assert agreement(rated, "last") is None


def test_settings_survive_their_json_and_bad_ones_are_refused() -> None:
    assert VerifyConfig.from_json(json.loads(json.dumps(config().to_json()))) == config()
    with pytest.raises(UsageError, match="--attempts 21"):
        config(attempts=21)
    with pytest.raises(UsageError, match="--feedback 'rude'"):
        config(manner="rude")
