"""`bestresponse reproduce alympics`."""

import json

import pytest
from recorded import DATA, needs_recorded
from typer.testing import CliRunner

from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.studies.reproduce.alympics import reproduce_alympics
from bestresponse.studies.reproduce.reproduction import Check, Reproduction

FOLDER = DATA / "water"


@needs_recorded("water")
def test_the_recorded_games_give_the_published_figures_or_the_difference_is_named():
    done = CliRunner().invoke(app, ["reproduce", "alympics", "--data", str(FOLDER), "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    (survival,) = found["tables"]
    assert survival["rows"][0]["setting"] == "low (10-20), without personas"
    checks = {check["what"]: check for check in found["checks"]}
    assert checks["survival of Alex, low (10-20), without personas"]["published"] == 0.1
    assert checks["survival of Alex, low (10-20), without personas"]["agrees"]
    assert checks["rounds with the recorded winners, balances and health"]["agrees"]
    assert checks["share of recorded bids that are read from the replies"]["agrees"]
    assert set(found["differ"]) == {
        what for what, check in checks.items() if check["agrees"] is False
    }


def test_a_small_sample_agrees_only_where_the_missing_games_could_make_up_the_difference(tmp_path):
    def day(number, alive):
        return json.dumps(
            {
                "persona": False,
                "low": 10,
                "high": 20,
                "number": number,
                "day": 1,
                "supply": 10,
                "bids": dict.fromkeys(("Alex", "Bob", "Cindy", "David", "Eric"), 0),
                "winners": ["Alex"],
            }
        )

    (tmp_path / "rounds.jsonl").write_text("".join(day(number, 5) + "\n" for number in range(3)))
    checks = {check.what: check for check in reproduce_alympics(tmp_path).checks}
    alex = checks["survival of Alex, low (10-20), without personas"]
    assert (alex.found, alex.agrees) == (1.0, False)


def test_supplies_that_were_not_published_are_refused(tmp_path):
    row = {
        "persona": False,
        "low": 1,
        "high": 2,
        "number": 1,
        "day": 1,
        "supply": 1,
        "bids": {},
        "winners": [],
    }
    (tmp_path / "rounds.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UsageError, match="the published supplies are 10-20, 15-25, 20-30"):
        reproduce_alympics(tmp_path)


def test_unknown_papers_and_folders_are_explained(tmp_path):
    for words, why in (
        (["reproduce", "alympic", "--data", str(tmp_path)], "Did you mean alympics"),
        (["reproduce", "alympics", "--data", str(tmp_path / "none")], "there is no such folder"),
        (["reproduce", "alympics", "--data", str(tmp_path)], r"holds no rounds\.jsonl"),
    ):
        done = CliRunner().invoke(app, words)
        with pytest.raises(UsageError, match=why):
            raise done.exception


def test_what_cannot_be_compared_is_no_difference():
    found = Reproduction("p", "c", (Check("a", 1, None, None), Check("b", 1, 2, False)))
    assert found.to_json()["differ"] == ["b"]
    assert found.table().rows[0][3] is None


def test_every_figure_states_its_tolerance_and_a_page_holds_them(tmp_path):
    bids = dict.fromkeys(("Alex", "Bob", "Cindy", "David", "Eric"), 0)
    day = {
        "persona": False,
        "low": 10,
        "high": 20,
        "number": 0,
        "day": 1,
        "supply": 10,
        "bids": bids,
        "winners": [],
    }
    (tmp_path / "rounds.jsonl").write_text(json.dumps(day | {"winners": ["Alex"]}) + "\n")
    replies = [
        ("I will submit a bid of $110.", 110),
        ("I will bid $200 for today's water resource auction.", 150),
    ]
    rows = ({"who": "Alex", "reply": reply, "bid": bid} for reply, bid in replies)
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = tmp_path / "page.html"
    words = ["reproduce", "alympics", "--data", str(tmp_path), "--page", str(page), "--json"]
    checks = {
        check["what"]: check
        for check in json.loads(CliRunner().invoke(app, words).stdout)["checks"]
    }
    read = checks["share of recorded bids that are read from the replies"]
    # Of two bids one is read as it was taken then; one of two wrong is more than 0.5 %.
    assert (read["published"], read["found"], read["agrees"]) == (1.0, 0.5, False)
    assert read["remark"] == "1 of 2; 1 read wrongly, 0 not read"
    assert read["tolerance"] == "at least 98 % are read, less than 0.5 % of all wrongly"
    assert all(check["tolerance"] for check in checks.values())
    assert "each within its stated tolerance" in page.read_text()
