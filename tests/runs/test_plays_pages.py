"""The plays of a run as rows and pages: losses by hand, flags, costs, and files that load alone."""

import json
from dataclasses import replace

import pytest
import sample_runs
from running import run

import bestresponse as br
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.reporting import plays as module
from bestresponse.runs.reporting.plays import PlayPages, write_plays
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench

WRONG, UNREAD, REPAIRED = 1, 2, 4


def list_rows(ran):
    pages = PlayPages(ran)
    return [pages.summarise(shown) for shown in pages.list_shown()]


def list_described(ran):
    pages = PlayPages(ran)
    return [pages.describe(shown) for shown in pages.list_shown()]


def read_file(path):
    text = path.read_text("ascii")
    return json.loads(f"[{text[text.index('(') + 1 : text.rindex(')')]}]")


def test_the_row_of_a_match_has_its_payoffs_and_what_the_worst_answer_lost(tmp_path):
    """Against a defector, cooperating in a prisoners' dilemma earns 0 instead of 1; two rounds of
    (cooperate, cooperate) earn 3 each."""
    rows = list_rows(sample_runs.tournament_run(tmp_path))
    assert [row[:6] for row in rows] == [
        ["repeated prisoners-dilemma, repeat 1", players, 4, "row 6, col 6", 1.0, WRONG]
        for players in ("tit-for-tat, scripted", "scripted, tit-for-tat", "scripted")
    ]


def test_a_match_is_a_transcript_with_what_was_earned_before_each_round(tmp_path):
    play = list_described(sample_runs.tournament_run(tmp_path))[1]
    assert play["earned"] == ["row 0, col 0", "row 3, col 3"]
    assert [(turn["stage"], turn["role"], turn["move"]) for turn in play["turns"]] == [
        (0, "row", "cooperate"),
        (0, "col", "cooperate"),
        (1, "row", "cooperate"),
        (1, "col", "cooperate"),
    ]
    # A defector would have got 5 instead of 3 from somebody who cooperates.
    assert play["turns"][0]["beside"][:2] == [
        ("Lost against the others", "0"),
        ("Lost in equilibrium", "1"),
    ]
    assert ("Equilibrium", "row: defect; col: defect") in play["facts"]
    (call,) = play["turns"][0]["calls"]
    assert call["reply"] == "cooperate"
    assert call["messages"][-1][0] == "user"


def run_pure(output, answers, **settings):
    """The row player's payoffs of the first game of seed 5 are [[72, 85], [-16, -66]]: A dominates,
    and the column player answers with the first column, which costs it least."""
    config = BenchConfig(
        "m", num_games=1, num_rows=2, num_cols=2, seed=5, elicit="pure", **settings
    )
    return run(bench, config, output, {"m": ScriptedModel(lambda request: answers)})


def test_a_bench_play_is_judged_by_its_gap_and_shows_the_optimal_strategy(tmp_path):
    # B gets -16 instead of 72: 88 of a range of 151.
    ran = run_pure(tmp_path, "B")
    (row,) = list_rows(ran)
    assert row[4] == pytest.approx(88 / 151)
    assert row[5] == WRONG
    facts = dict(list_described(ran)[0]["facts"])
    assert facts["Gap / range"] == "0.583"
    assert facts["Optimal strategy"] == "A\N{NO-BREAK SPACE}1"
    assert facts["The opponent plays"] == "P\N{NO-BREAK SPACE}1"


def test_an_optimal_answer_is_not_wrong_and_an_unread_one_has_no_loss(tmp_path):
    (right,) = list_rows(run_pure(tmp_path / "right", "A"))
    assert (right[4], right[5]) == (0.0, 0)
    (silent,) = list_rows(run_pure(tmp_path / "silent", "hm"))
    assert (silent[4], silent[5]) == (None, UNREAD)
    assert silent[3].startswith("void: the row player, unparseable: ")


def test_flags_tell_of_repairs_of_unread_answers_and_of_refuted_claims():
    def record(status, void=None, remarks=()):
        decision = Decision("A", "", Reading(status), remarks=remarks)
        return Record("chicken", 1, {}, (Submission("row", decision),), {}, void)

    claims = [{"verdict": "proved"}, {"verdict": "refuted"}]
    flags = [
        module._find_flags(record(Status.VALID), None),
        module._find_flags(record(Status.VALID), 1e-15),
        module._find_flags(record(Status.REPAIRED), 0.5),
        module._find_flags(record(Status.UNPARSEABLE, Void("row", "silent")), None),
        module._find_flags(record(Status.VALID, remarks=({"claims": claims},)), 0.0),
        # an earlier attempt was put right
        module._find_flags(record(Status.VALID, remarks=({"claims": claims}, {"claims": []})), 0.0),
    ]
    assert flags == [0, 0, WRONG | REPAIRED, UNREAD, WRONG, 0]


def test_plays_are_packed_into_files_and_the_index_says_where_each_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PART_PLAYS", 2)
    ran = sample_runs.bench_run(tmp_path, num_games=3)
    (page,) = write_plays(ran)
    assert page == ran.path / "plays.html"
    (index,) = read_file(ran.path / "plays" / "index.js")
    assert (len(index["rows"]), index["starts"], index["total"]) == (3, [0, 2], 3)
    files = [read_file(ran.path / "plays" / name) for name in ("0001.js", "0002.js")]
    assert [(number, len(plays)) for number, plays in files] == [(0, 2), (1, 1)]
    specs = [play["spec"] for _, plays in files for play in plays]
    assert specs == [play.spec for play in ran.folder.plays()]


def test_no_more_than_the_most_plays_are_listed_and_the_index_counts_all(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_PLAYS", 2)
    ran = sample_runs.bench_run(tmp_path, num_games=3)
    write_plays(ran)
    (index,) = read_file(ran.path / "plays" / "index.js")
    assert (len(index["rows"]), index["total"]) == (2, 3)


def test_a_link_in_the_place_of_the_folder_is_replaced_and_not_followed(tmp_path):
    ran = sample_runs.bench_run(tmp_path / "run")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (ran.path / "plays").symlink_to(elsewhere)
    write_plays(ran)
    assert list(elsewhere.iterdir()) == []
    assert (ran.path / "plays" / "0001.js").exists()


@pytest.mark.parametrize("study", sorted(sample_runs.MAKERS))
def test_every_report_of_a_run_with_plays_links_to_them(study, tmp_path):
    make, expected = sample_runs.MAKERS[study]
    ran = make(tmp_path)
    ran.publish()
    linked = '<a href="plays.html">' in (ran.path / "report.html").read_text("utf-8")
    assert linked == (expected["plays"] > 0) == (ran.path / "plays.html").exists()
    if linked:
        (index,) = read_file(ran.path / "plays" / "index.js")
        assert len(index["rows"]) == expected["plays"]


def test_fewer_answers_are_listed_where_the_study_limits_those_of_strategies(tmp_path, monkeypatch):
    # Four matches of tit-for-tat and defector have 3 rounds of 2 moves each.
    settings = {"rounds": 3, "repetitions": 1, "output_dir": tmp_path}
    ran = br.tournament("prisoners-dilemma", ["tit-for-tat", "defector"], **settings)
    limited = replace(ran.study, own=replace(ran.study.own, most_unasked=18))
    monkeypatch.setattr(ran, "study", limited)
    write_plays(ran)
    (index,) = read_file(ran.path / "plays" / "index.js")
    assert (len(index["rows"]), index["total"]) == (3, 4)
