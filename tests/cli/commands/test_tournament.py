import json
from importlib.util import find_spec

import pytest
from recorded import DATA, needs_recorded

RULES = "select(_P, _O, _S, defect).\n"
PROGRAM = """
initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
initially(control(ann), s0).
initially(control(bob), s0).
initially(default_move(_, quiet), s0).
possible(move(P, quiet), S) :- holds(player(P), S).
possible(move(P, talk), S) :- holds(player(P), S).
opposite_move(quiet, talk).
opposite_move(talk, quiet).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
final(do(move(_, _), do(move(_, _), S))) :- initial(S).
payoff(quiet, quiet, 3, 3).
payoff(quiet, talk, 0, 5).
payoff(talk, quiet, 5, 0).
payoff(talk, talk, 1, 1).
finally(goal(ann, U), S) :- final(S), holds(did(ann, A), S), holds(did(bob, B), S), payoff(A, B, U, _).
finally(goal(bob, U), S) :- final(S), holds(did(ann, A), S), holds(did(bob, B), S), payoff(A, B, _, U).
"""


@pytest.fixture
def tournament(bestresponse):
    return lambda folder, *words: bestresponse("tournament", *words, "--output-dir", folder)


def totals(done):
    return {row["name"]: row["total"] for row in json.loads(done.stdout)["standings"]}


def test_all_strategies_meet_and_a_table_and_a_report_come_out(tournament, tmp_path):
    done = tournament(tmp_path, "prisoners-dilemma", "--entries", "all", "--rounds", 10)
    assert done.returncode == 0, done.stderr
    assert "tit-for-tat" in done.stdout
    (run,) = tmp_path.glob("tournament-*")
    assert {path.name for path in run.iterdir()} >= {
        "manifest.json",
        "report.html",
        "report.json",
        "summary.json",
        "standings.csv",
    }
    assert "Who earned what against whom" in (run / "report.html").read_text()
    assert "cooperator,here it does the same as default-move" in (run / "left_out.csv").read_text()


def test_a_logic_program_gives_the_same_standings_as_the_table_it_means(tournament, tmp_path):
    path = tmp_path / "game.pl"
    path.write_text(PROGRAM)
    words = ("--entries", "all", "--with", "repeated(noise=0.05)", "--json")
    program, table = (
        tournament(tmp_path, path, *words),
        tournament(tmp_path, "prisoners-dilemma", *words),
    )
    assert program.returncode == 0, program.stderr
    ours, theirs = totals(program), totals(table)
    assert set(ours) == set(theirs)
    assert all(ours[name] == pytest.approx(theirs[name]) for name in ours)


def test_rules_and_saved_agents_take_part(tournament, tmp_path):
    (tmp_path / "mean.pl").write_text(RULES)
    agent = {"name": "Eve", "game": PROGRAM, "rules": RULES}
    (tmp_path / "eve.json").write_text(json.dumps(agent))
    files = ("--entries", tmp_path / "mean.pl", "--entries", tmp_path / "eve.json")
    done = tournament(
        tmp_path, "prisoners-dilemma", *files, "--entries", "tit-for-tat", "--rounds", 4, "--json"
    )
    assert done.returncode == 0, done.stderr
    assert totals(done)["mean"] == totals(done)["Eve"] == 2 * (4 + 4 + 5 + 3)


def test_a_strategy_in_words_is_formalized_by_the_model(tournament, serve, tmp_path):
    server = serve(answer=lambda body: f"```prolog\n{RULES}```")
    (tmp_path / "grumpy.txt").write_text("Always defect.")
    words = (
        "--entries",
        tmp_path / "grumpy.txt",
        "--entries",
        "default-move",
        "--model",
        server.model,
    )
    done = tournament(tmp_path, "prisoners-dilemma", *words, "--rounds", 4, "--json")
    assert done.returncode == 0, done.stderr
    assert totals(done)["grumpy"] == 2 * (4 + 20)
    assert len(server.delivered) == 1
    (run,) = tmp_path.glob("tournament-*")
    assert "Always defect." in (run / "manifest.json").read_text()


def test_words_without_a_model_and_rules_that_stay_wrong_end_in_a_sentence(
    tournament, serve, tmp_path
):
    path = tmp_path / "grumpy.txt"
    path.write_text("Always defect.")
    alone = tournament(tmp_path, "prisoners-dilemma", "--entries", path)
    assert alone.returncode == 2
    assert "--model" in alone.stderr
    server = serve(answer=lambda body: "Certainly! I would defect.")
    prose = tournament(tmp_path, "prisoners-dilemma", "--entries", path, "--model", server.model)
    assert prose.returncode == 1
    assert "after 5 attempts" in prose.stderr
    assert "Traceback" not in prose.stderr


def test_a_model_plays_can_be_stopped_goes_on_and_is_reported_and_replayed(
    bestresponse, tournament, serve, tmp_path
):
    server = serve(answer=lambda body: '{"answer": "defect"}')
    words = (
        "prisoners-dilemma",
        "--entries",
        "tit-for-tat,defector",
        "--entries",
        server.model,
        "--rounds",
        3,
    )
    stopped = tournament(tmp_path, *words, "--budget", "4 calls", "--cache", "off", "--workers", 1)
    assert stopped.returncode == 1
    assert "not everything was played" in stopped.stderr
    done = tournament(tmp_path, *words, "--json", "--cache", "off")
    assert done.returncode == 0, done.stderr
    assert totals(done)[server.model] == totals(done)["defector"] == 2 * (7 + 3 + 3)
    assert len(server.delivered) == 3 * 4 + 3 * 2
    (run,) = tmp_path.glob("tournament-*")
    again = bestresponse("replay", run)
    assert "plays: 5 were the same, 0 were not" in again.stdout
    report = bestresponse("report", run)
    assert report.returncode == 0, report.stderr
    assert "defector" in report.stdout


def test_winners_by_target(tournament, tmp_path):
    words = (
        "--entries",
        "published",
        "--rounds",
        4,
        "--against",
        "anti-tit-for-tat",
    )
    done = tournament(
        tmp_path, "prisoners-dilemma", *words, "--settings", "target=default-move=6", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["winners"] == [
        {"game": "prisoners-dilemma", "name": "default-move"}
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("prisoners-dilemna",), "prisoners-dilemma"),
        (("kuhn-poker",), "two players"),
        (("prisoners-dilemma", "--entries", "tit-for-tot"), "tit-for-tat"),
        (("matching-pennies", "--entries", "grim"), "cooperate"),
        (("prisoners-dilemma", "--with", "repeated(noise=2)"), "noise"),
        (("prisoners-dilemma", "--settings", "target=random"), "NAME=VALUE"),
        (("prisoners-dilemma", "--entries", "missing.pl"), "missing.pl"),
        (("prisoners-dilemma", "--settings", "default_move=sulk"), "sulk"),
    ],
)
def test_bad_requests_end_in_a_sentence(tournament, tmp_path, words, told):
    done = tournament(tmp_path, *words)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(find_spec("axelrod") is not None, reason="axelrod is installed here")
def test_without_axelrods_library_its_strategies_are_refused_with_what_to_do(tournament, tmp_path):
    done = tournament(tmp_path, "prisoners-dilemma", "--entries", "axelrod:TitForTat,tit-for-tat")
    assert done.returncode == 2
    assert "pip install axelrod" in done.stderr


RECORDS = DATA / "autoformalization"


@pytest.mark.soak
@needs_recorded("autoformalization")
def test_reproduce_prints_every_cell_of_the_tournament(bestresponse):
    done = bestresponse("reproduce", "autoformalization", "--data", RECORDS, "--json")
    assert done.returncode == 0, done.stderr
    checks = {check["what"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["table 7, best-response %"]["agrees"] is True
    assert checks["table 8, random, correct of 5"]["found"] == 3
