"""The published tournament and strategies, found again from their records."""

import json

import pytest
from recorded import DATA, needs_recorded

from bestresponse.core.errors import UsageError
from bestresponse.games.logic.tables import format_game
from bestresponse.games.lookup import find_game
from bestresponse.studies.reproduce.autoformalization import reproduce_autoformalization
from bestresponse.studies.reproduce.recorded_strategies import check_strategies, judge_strategies
from bestresponse.studies.reproduce.recorded_tournament import check_tournament

RECORDS = DATA / "autoformalization"
recorded = needs_recorded("autoformalization")


@recorded
def test_every_cell_of_the_published_round_robin_is_found_again():
    checks, _ = check_tournament(RECORDS)
    # The sentence about figure 3 does not hold in the study's own log.
    differing = {check.what: check.remark for check in checks if not check.agrees}
    assert list(differing) == ["figure 3: games won by best-response"]
    assert (
        differing["figure 3: games won by best-response"]
        == "by the study's own log hawk-dove is won by default-move (27) before best-response"
        " (22), "
        "matching-pennies is a tie (best-response and tit-for-tat 48 each)"
    )
    values = {check.what: check.found for check in checks}
    published = {
        "best-response": 84.08,
        "tit-for-tat": 79.84,
        "default-move": 73.96,
        "random": 61.08,
    }
    published |= {"anti-tit-for-tat": 55.22, "anti-default-move": 50.90}
    corrected = {
        "best-response": 75.74,
        "tit-for-tat": 72.10,
        "default-move": 67.06,
        "random": 56.02,
    }
    corrected |= {"anti-tit-for-tat": 51.00, "anti-default-move": 47.30}
    assert {name: values[f"table 7, {name} %"] for name in published} == pytest.approx(
        published, abs=0.0051
    )
    assert {name: values[f"table 7 corrected, {name} %"] for name in corrected} == pytest.approx(
        corrected, abs=0.0051
    )


@recorded
def test_the_rules_give_every_logged_move_and_payoff():
    """Five games, 21 matches of ten rounds, two players each."""
    checks = [check for check in check_tournament(RECORDS)[0] if "given by the rules" in check.what]
    assert [check.found for check in checks] == [420] * 10


@recorded
def test_played_right_the_best_response_still_wins_but_by_less():
    rows = {row[0]: row[4] for row in check_tournament(RECORDS)[1].rows}
    assert max(rows, key=rows.get) == "best-response"
    assert rows["best-response"] == pytest.approx(70.87, abs=0.005)


@recorded
def test_formalized_strategies_are_judged_as_published():
    checks = {check.what: check for check in check_strategies(RECORDS)[0]}
    found = {
        name.split(", ")[1]: check.found
        for name, check in checks.items()
        if name.startswith("table 8")
    }
    assert found == {
        "default-move": 5,
        "anti-default-move": 5,
        "anti-tit-for-tat": 5,
        "random": 3,
        "best-response": 2,
    }
    assert all(check.agrees for check in checks.values())


@recorded
def test_the_causes_of_failures_are_told():
    wrong = {
        one.agent: one
        for one in judge_strategies(RECORDS)
        if not one.published or not one.corrected
    }
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
    with pytest.raises(UsageError, match="recorded programs"):
        reproduce_autoformalization(tmp_path)


def test_any_folder_of_recorded_programs_is_judged(tmp_path):
    stag_hunt = find_game("stag-hunt").solvable()
    cells = [["a", "a", 4, 4], ["a", "b", 0, 3], ["b", "a", 3, 0], ["b", "b", 3, 3]]
    rows = [
        {"program": format_game(stag_hunt, ".pl"), "game": "stag-hunt", "matrix": as_cells(cells)},
        {
            "program": format_game(stag_hunt, ".pl"),
            "matrix": as_cells([*cells[:3], ["b", "b", 9, 9]]),
        },
        {"program": "initial(s0)."},
    ]
    (tmp_path / "programs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (table,) = reproduce_autoformalization(tmp_path).tables
    found = {row[0]: row[1:] for row in table.rows}
    # programs; then a table can be taken out; then it is the true game
    assert {name: (row[0], row[5], row[6]) for name, row in found.items()} == {
        "stag-hunt": (1, 1, 1),
        "unnamed": (2, 1, 0),
        "all": (3, 2, 1),
    }


def as_cells(cells):
    return [dict(zip(("row", "col", "u_row", "u_col"), cell, strict=True)) for cell in cells]
