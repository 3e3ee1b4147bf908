"""Sheets go out and come back, ratings are aggregated conservatively, and runs are measured first
against last."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import running

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.document import Table
from bestresponse.runs.run import Run, load_run
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import sum_up_attempts
from bestresponse.studies.verify.ratings import (
    Rating,
    aggregate,
    agreement,
    merge_labels,
    read_ratings,
)
from bestresponse.studies.verify.scenes import disguised
from bestresponse.studies.verify.study import verify_model
from bestresponse.telling.render import write_rules
from bestresponse.theory.games.normal_form import NormalForm

ACTIONS = (("cooperate", "defect"), ("cooperate", "defect"))
PAYOFFS = [[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]
WRONG = "If I pick B and they pick R, I get 1.\nANSWER: B"
RIGHT = "If I pick B and they pick R, I get 0. If both pick R we each get 1.\nANSWER: R"


def config(**changed: object) -> VerifyConfig:
    given = {"repeats": 3, "attempts": 3, "translator": "rules"} | changed
    return VerifyConfig("scripted", "prisoners-dilemma", **given)  # type: ignore[arg-type]


def script(request: Request) -> str:
    """Corrected, it is right; the third run never claims anything."""
    if request.replicate == 2:
        return "I follow my heart.\nANSWER: B"
    return RIGHT if "take the following into account" in request.messages[-1].content else WRONG


@pytest.fixture
def ran(tmp_path: Path) -> Run:
    model = ScriptedModel(script)
    settings = config()
    models = {"scripted": model}
    outcome = running.run(verify_model, settings, tmp_path, models).outcome
    assert (outcome.played, outcome.failed) == (settings.repeats, 0)
    again = running.run(verify_model, settings, tmp_path, models)
    assert again.outcome.played == 0
    return again


def test_the_game_is_told_without_its_name_in_reverse_order() -> None:
    game = config().scene.game
    told = write_rules(game.view((), game.roles[0]))
    assert "cooperate" not in told
    assert "dilemma" not in told.lower()
    assert game.form.actions[0] == ("R", "B")
    assert "If you choose R and Player 2 chooses B, you get 5, Player 2 gets 0." in told


def test_players_with_different_actions_get_different_letters() -> None:
    form = disguised(
        NormalForm.zero_sum([[1, 2], [3, 4]], actions=(("up", "down"), ("left", "right"))),
        inverted=False,
    )
    assert form.actions == (("B", "R"), ("G", "W"))


def test_first_and_last_attempts_are_compared(ran: Run) -> None:
    assert [row["runs"] for row in ran.frame("attempts")] == [1, 2, 0]
    first, last = (figures for _, figures in ran.metrics.groups)
    states = ("unrefuted", "refuted", "undecided", "unchecked")
    assert [first[state] for state in states] == [0, 2, 0, 1]
    assert [last[state] for state in states] == [2, 0, 0, 1]
    assert first["chose_B"].estimate == 1.0
    assert last["chose_B"].estimate == pytest.approx(1 / 3)
    (claims,) = ran.frame("claims").select(form="payoff")
    assert (claims["made"], claims["refuted"], claims["unknown"]) == (8, 2, 0)


def test_payoff_and_gap_change_run_by_run(ran: Run) -> None:
    # Against defection cooperating earns 0 and defecting 1: two of three runs go from the first to
    # the second.
    payoff, gap = ran.frame("changes")
    assert payoff["difference"].estimate == pytest.approx(2 / 3)
    assert gap["difference"].estimate == pytest.approx(-2 / 3)


def test_right_for_a_wrong_reason_is_a_best_response_that_was_refuted() -> None:
    rows = [
        {
            "first_choice": "B",
            "last_choice": "B",
            "first_state": state,
            "first_gap": gap,
            "first_payoff": 1 - gap,
        }
        for state, gap in (
            ("refuted", 0.0),
            ("unrefuted", 0.0),
            ("unrefuted", 0.0),
            ("refuted", 1.0),
        )
    ]
    values = sum_up_attempts(rows, "first", {"chose_B": "B"})  # type: ignore[arg-type]
    assert values["chose_B"].estimate == 1.0
    assert values["wrong_reason"].estimate == pytest.approx(1 / 3)
    assert (values["payoff"].estimate, values["gap"].estimate) == (0.75, 0.25)
    assert (values["refuted"], values["unrefuted"]) == (2, 2)


def test_a_sheet_shows_no_verdict_and_reads_back_when_filled(ran: Run) -> None:
    ran.publish()
    sheet = (ran.path / "sheet-rater-1.csv").read_text()
    assert "refuted" not in sheet
    assert read_ratings(sheet) == {}
    filled = sheet.replace(",B,R,,,,,,", ",B,R,0,1,pa#pc,,,", 1)
    (rating,) = read_ratings(filled).values()
    assert rating == Rating(False, True, ("pa", "pc"))


def test_verdicts_can_be_judged_sentence_by_sentence(ran: Run) -> None:
    ran.publish()
    sheet = io.StringIO((ran.path / "verdicts.csv").read_text())
    items = list(csv.DictReader(sheet))
    wrong = [item for item in items if item["verdict"] == "refuted"]
    assert [(item["sentence"], item["reading"], item["words"]) for item in wrong] == [
        (
            "If I pick B and they pick R, I get 1",
            "read",
            "If you choose B and the other player chooses R, you get 1.",
        )
    ] * 2
    # Two runs, each refuted in its first attempt; what was approved in a later one is there too.
    assert {item["attempt"] for item in wrong} == {"1"}
    assert len(items) == 8


def test_the_page_shows_how_every_sentence_was_read(ran: Run) -> None:
    titles = {section.title: section for section in ran.report().sections}
    section = titles["How each sentence was read and judged"]
    tables = [block for block in section.blocks if isinstance(block, Table)]
    (row,) = tables[0].rows
    assert row[:4] == (
        "If I pick B and they pick R, I get 1",
        "read",
        "If you choose B and the other player chooses R, you get 1.",
        "refuted",
    )
    assert str(row[4]).endswith(
        "In fact, if you choose B and the other player chooses R, you get 0."
    )


def test_the_model_is_asked_for_its_reasons_before_its_answer(tmp_path: Path) -> None:
    asked = {}
    for think in (True, False):
        model = ScriptedModel(script)
        running.run(verify_model, config(think=think, repeats=1), tmp_path, {"scripted": model})
        asked[think] = (
            "Before you answer, write down your reasons" in model.asked[0].messages[-1].content
        )
    assert asked == {True: True, False: False}


def test_filled_sheets_enter_the_report(ran: Run) -> None:
    assert "People's judgement" not in [section.title for section in ran.report().sections]
    for number, rating in enumerate(("0,1,pa", "1,1,"), 1):
        filled = [f"{row['run']},{rating}" for row in ran.rows()]
        head = "sample,first_correct,last_correct,error_kinds"
        (ran.path / f"sheet-rater-{number}.csv").write_text("\n".join([head, *filled]))
    again = load_run(ran.path)
    (section,) = [
        section for section in again.report().sections if section.title == "People's judgement"
    ]
    # The run without claims is unchecked and stays out of the comparison.
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert [row[2:] for row in table.rows] == [("correct", 0, 0), ("incorrect", 0, 2)]
    (accuracy,) = again.frame("agreement").select(metric="accuracy")
    assert (accuracy["value"].estimate, round(accuracy["value"].low, 3)) == (1.0, 0.342)


def test_a_sheet_that_cannot_be_read_says_where_and_why() -> None:
    head = "sample,first_correct,last_correct,error_kinds\n"
    with pytest.raises(UsageError, match="line 2: first_correct and last_correct are 0 or 1"):
        read_ratings(head + "a,yes,1,\n")
    with pytest.raises(UsageError, match="no kind of error 'typo'"):
        read_ratings(head + "a,0,1,typo\n")
    with pytest.raises(
        UsageError,
        match="is not a sheet; expected a CSV file with the columns sample, first_correct",
    ):
        read_ratings("a,b\n")


def test_aggregation_is_conservative() -> None:
    assert aggregate([Rating(True, True), Rating(True, True), Rating(False, True)]) == (False, True)
    assert merge_labels([{"a": Rating(True, True)}, {"a": Rating(False, True)}]) == {
        "a": (False, True)
    }


def test_agreement_of_raters_who_always_agree_is_one() -> None:
    rated = [[Rating(True, True)] * 3, [Rating(False, True)] * 3]
    assert agreement(rated) == pytest.approx(1.0)
    assert agreement([[Rating(True, True)] * 3] * 2) is None


def test_settings_survive_their_json_and_bad_ones_are_refused() -> None:
    assert VerifyConfig.from_json(json.loads(json.dumps(config().to_json()))) == config()
    with pytest.raises(UsageError, match="attempts: expected a whole number from 1 to 20, got 21"):
        config(attempts=21)
    with pytest.raises(
        UsageError, match="feedback: expected one of positive, negative, got 'rude'"
    ):
        config(feedback="rude")


def test_a_model_translates_its_own_reasoning_and_what_it_changes_is_no_claim(
    tmp_path: Path,
) -> None:
    """The model reads its true sentence as a false claim, which its words do not say, so there is
    no verdict and no second attempt."""
    true = "If I pick B and they pick R, I get 0."

    outcome = [{"who": "you", "action": "B"}, {"who": "them", "action": "R"}]
    misread = {
        "form": "payoff",
        "negated": False,
        "quote": true.removesuffix("."),
        "who": "you",
        "value": 5,
        "outcome": outcome,
    }

    def reply(request: Request) -> str:
        translating = "formal claims" in request.messages[0].content
        return json.dumps({"claims": [misread]}) if translating else f"{true}\nANSWER: B"

    settings = config(repeats=1, translator="auto")
    ran = running.run(verify_model, settings, tmp_path, {"scripted": ScriptedModel(reply)})
    assert len(list(ran.folder.calls())) == 2
    (attempt,) = ran.rows()[0]["transcript"]
    (misread,) = attempt["claims"]
    assert misread["verdict"] == "unknown"
    assert misread["why"] == "the number 5 is not in its words"
    assert attempt["troubles"] == {"claim not in its quote": 1}


def test_what_the_model_cannot_translate_is_undecided_and_counted(tmp_path: Path) -> None:
    """A model that answers a translation in prose leaves the text without a verdict: one attempt,
    with a call to reason and a call to translate."""

    def reply(request: Request) -> str:
        translating = "formal claims" in request.messages[0].content
        return "I see no claims worth writing down." if translating else WRONG

    settings = config(repeats=1, translator="auto")
    ran = running.run(verify_model, settings, tmp_path, {"scripted": ScriptedModel(reply)})
    assert len(list(ran.folder.calls())) == 2
    (attempt,) = ran.rows()[0]["transcript"]
    assert attempt["state"] == "undecided"
    assert attempt["troubles"] == {"unreadable reply": 1}
    assert "translated by itself" in ran.report().subtitle


def test_a_run_recorded_with_rules_is_read_as_it_was_made() -> None:
    old = config().to_json()
    assert old["translator"] == "rules"
    assert VerifyConfig.from_json(old).translator == "rules"
    assert config(translator="auto").to_json()["translator"] == "auto"


def test_the_report_says_who_translated() -> None:
    assert config(translator="rules").translated_by == "rules"
    assert config(translator="auto").translated_by == "itself"
    two = VerifyConfig(("m", "n"), "prisoners-dilemma")
    assert two.translated_by == "each model itself"
