"""The published tournament and strategies, found again from their records."""

import pytest
from recorded import DATA, needs_recorded

from bestresponse.core.errors import UsageError
from bestresponse.studies.reproduce.autoformalization_strategies import judge_all, strategy_checks
from bestresponse.studies.reproduce.autoformalization_tournament import tournament_checks, tournament_table

RECORDS = DATA / "autoformalization"
recorded = needs_recorded("autoformalization")


@recorded
def test_every_cell_of_the_published_round_robin_is_found_again():
    checks = tournament_checks(RECORDS)
    assert [check.what for check in checks if not check.agrees] == []
    values = {check.what: check.found for check in checks}
    published = {"best-response": 84.08, "tit-for-tat": 79.84, "default-move": 73.96, "random": 61.08}
    published |= {"anti-tit-for-tat": 55.22, "anti-default-move": 50.90}
    corrected = {"best-response": 75.74, "tit-for-tat": 72.10, "default-move": 67.06, "random": 56.02}
    corrected |= {"anti-tit-for-tat": 51.00, "anti-default-move": 47.30}
    assert {name: values[f"table 7, {name} %"] for name in published} == published
    assert {name: values[f"table 7 corrected, {name} %"] for name in corrected} == corrected


@recorded
def test_the_rules_give_every_logged_move_and_payoff():
    """Five games, 21 matches of ten rounds, two players each."""
    checks = [check for check in tournament_checks(RECORDS) if "given by the rules" in check.what]
    assert [check.found for check in checks] == [420] * 10


@recorded
def test_played_right_the_best_response_still_wins_but_by_less():
    rows = {row[0]: row[4] for row in tournament_table(RECORDS).rows}
    assert max(rows, key=rows.get) == "best-response"
    assert rows["best-response"] == pytest.approx(70.87, abs=0.005)


@recorded
def test_formalized_strategies_are_judged_as_published():
    checks = {check.what: check for check in strategy_checks(RECORDS)}
    found = {name.split(", ")[1]: check.found for name, check in checks.items() if name.startswith("table 8")}
    assert found == {
        "default-move": 5, "anti-default-move": 5, "anti-tit-for-tat": 5, "random": 3, "best-response": 2,
    }  # fmt: skip
    assert all(check.agrees for check in checks.values())


@recorded
def test_the_causes_of_failures_are_told():
    wrong = {one.agent: one for one in judge_all(RECORDS) if not one.published or not one.corrected}
    assert {name: (one.published, one.corrected) for name, one in wrong.items()} == {
        "Bexude": (False, True),
        "Ceyega": (False, True),
        "Siciwu": (False, False),
        "Caniwa": (False, False),
        "Nisoki": (False, False),
        "Vocebu": (True, False),
    }
    assert "singleton" in wrong["Bexude"].why
    assert "singleton" in wrong["Ceyega"].why
    assert "ends inside a clause" in wrong["Siciwu"].why
    assert "with probability 1/4" in wrong["Vocebu"].why


def test_a_folder_without_records_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(UsageError, match="recorded runs"):
        tournament_checks(tmp_path)
