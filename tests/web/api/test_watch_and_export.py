"""Runs are watched while they grow, sessions leave as tables, and the API does what the pages
do."""

import csv
import io
import json
import os
import re

import pytest
import sample_runs
from web_server import MODEL, flatten, sit_down, take

from bestresponse.runs.store.folder import RunFolder
from bestresponse.telling.render import write_history
from bestresponse.web.sessions.setup import GameChoice, Setup

EVIL = "</pre><script>alert(1)</script>"


def bench_run(output, *more, **named):
    return sample_runs.bench_run(output, *more, **named).path.name


def test_a_run_is_shown_with_its_progress_and_its_players_on_the_board(server):
    name = bench_run(server.folder)
    page = server.admin.get("/watch").text
    assert f'href="/watch/run/{name}"' in page
    assert "3 of 3" in page
    (run,) = [run for run in server.api().get("/api/runs").json() if run["study"] == "bench"]
    assert (run["plays"], run["total"], run["calls"], run["finished"], run["money"]) == (
        3,
        3,
        3,
        True,
        0.0,
    )


def test_the_folder_of_the_servers_own_sessions_is_no_run(server):
    assert server.api().get("/api/runs").json() == []
    assert "/watch/run/sessions" not in server.admin.get("/watch").text
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("chicken"), ("person", "strategy:random"), quiz=False)
    )
    take(ann, link, answer="swerve")
    server.wait_for(lambda: server.state.sessions.is_finished(link.split("/")[2]))
    bench_run(server.folder)
    (run,) = server.api().get("/api/runs").json()
    assert run["study"] == "bench"


def test_a_run_is_compared_with_another(server):
    first, second = bench_run(server.folder), bench_run(server.folder, 4)
    page = server.admin.get("/watch/compare", params={"run": [first, second]}).text
    assert "difference" in page
    assert "scripted" in page


def test_the_report_of_a_run_opens_under_its_own_policy(server):
    name = bench_run(server.folder)
    report = server.admin.get(f"/watch/run/{name}/report")
    assert report.status_code == 200
    assert "script-src 'sha256-" in report.text


def test_a_play_is_shown_step_by_step_and_a_models_words_stay_words(server):
    name = bench_run(server.folder, answer=f'{EVIL} {{"A": 0.5, "B": 0.5}}')
    spec = next(iter(RunFolder.read(server.folder / name).plays())).spec
    page = server.admin.get(f"/watch/run/{name}/play/{spec}").text
    assert "regret" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


@pytest.mark.drawn
def test_a_play_is_drawn_as_a_tree_and_as_bars(server):
    poker = Setup(GameChoice("kuhn-poker"), ("strategy:random", "strategy:random"), seed=1)
    rounds = Setup(
        GameChoice("prisoners-dilemma", rounds=2), ("strategy:cooperator", "strategy:defector")
    )
    names = [server.state.sessions.create_sessions(setup).tables[0].id for setup in (poker, rounds)]
    server.wait_for(lambda: all(map(server.state.sessions.is_finished, names)))
    tree, table = (flatten(server.admin.get(f"/watch/session/{name}")) for name in names)
    assert (
        tree.count('<g id="node') == 54
    )  # 24 positions of players and 30 ends, each behind a branch
    assert (
        "style=" not in tree
    )  # the policy of the page allows no styles but those of the style sheet
    assert "<style" not in tree
    assert 'class="bar seat0" data-go="0"' in table
    assert "Regret of 2 steps; the largest is 1" in table


def test_a_session_is_watched_like_any_run(server):
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="cooperate")
    name = link.split("/")[2]
    server.wait_for(lambda: server.state.sessions.is_finished(name))
    page = flatten(server.admin.get(f"/watch/run/sessions/play/{name}"))
    words = re.sub(r"<[^>]+>", "", page)
    assert "regret 1 against the others, 1 against the equilibrium" in words
    assert "regret 0 against the others, 0 against the equilibrium" in words
    assert server.admin.get("/watch/run/sessions/play/nothing").status_code == 404
    assert server.admin.get("/watch/run/..%2f..%2fetc").status_code == 404


def test_decisions_leave_with_one_row_a_player_and_round(server):
    game = GameChoice("prisoners-dilemma", rounds=2)
    ((ann, link),) = sit_down(server, Setup(game, ("person", "strategy:bully"), quiz=False))
    take(ann, link, answer="cooperate")
    server.wait_for(lambda: "Your turn" in ann.get(link).text)
    take(ann, link, answer="defect")
    server.wait_for(lambda: server.state.sessions.is_finished(link.split("/")[2]))
    text = server.admin.get("/export/decisions.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    own = [(row["round"], row["action"]) for row in rows if row["seat"] == "person"]
    assert own == [("1", "cooperate"), ("2", "defect")]
    assert [row["action"] for row in rows if row["seat"] == "strategy:bully"] == [
        "defect",
        "cooperate",
    ] or len(rows) == 4
    assert server.api().get("/api/export/decisions.json").json()[0]["game"] == "prisoners-dilemma"


def test_participants_leave_with_their_code_and_payoff(server):
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="defect")
    server.wait_for(lambda: server.state.sessions.is_finished(link.split("/")[2]))
    rows = list(csv.DictReader(io.StringIO(server.admin.get("/export/parts.csv").text)))
    (person,) = [row for row in rows if row["seat"] == "person"]
    assert (person["payoff"], person["answers"]) == ("1.0", "1")
    assert person["participant"].startswith("P-")
    token = link.rsplit("/", 1)[1]
    assert token not in json.dumps(rows)


def test_an_export_nobody_knows_is_refused(server):
    assert server.admin.get("/export/secrets.csv").status_code == 422


def test_a_game_is_laid_and_played_by_the_api_alone(server):
    wanted = {
        "game": {"name": "prisoners-dilemma"},
        "seats": ["person", f"model:{MODEL}"],
        "quiz": False,
    }
    laid = server.api().post("/api/lobbies", json=wanted)
    assert laid.status_code == 201
    session = laid.json()["sessions"][0]
    place = f"/api/seats/{session['session']}/0"
    person = server.api(session["seats"][0]["token"])
    assert person.get(place).json()["phase"] == "welcome"
    assert person.post(f"{place}/ready", json={}).json()["ask"]["options"] == [
        "cooperate",
        "defect",
    ]
    illegal = person.post(f"{place}/answers", json={"turn": 0, "answer": "shrug"})
    assert (illegal.status_code, illegal.json()) == (
        422,
        {"error": "'shrug' is not one of cooperate, defect"},
    )
    assert person.post(f"{place}/answers", json={"turn": 0, "answer": "defect"}).status_code == 200
    assert person.post(f"{place}/answers", json={"turn": 0, "answer": "defect"}).status_code == 409
    server.wait_for(lambda: person.get(place).json()["phase"] == "over")
    assert person.get(place).json()["payoffs"] == {"row": 5.0, "col": 0.0}
    told = server.api().get(f"/api/sessions/{session['session']}").json()
    assert {s["role"]: s["action"] for s in told["submissions"]} == {
        "row": "defect",
        "col": "cooperate",
    }


def test_the_api_opens_to_no_cookie_and_to_no_foreign_token(server):
    wanted = {"game": {"name": "chicken"}, "seats": ["person", "person"], "quiz": False}
    assert server.admin.post("/api/lobbies", json=wanted).status_code == 403
    seats = server.api().post("/api/lobbies", json=wanted).json()["sessions"][0]
    tokens = [seat["token"] for seat in seats["seats"]]
    place = f"/api/seats/{seats['session']}"
    assert server.api(tokens[0]).get(f"{place}/1").status_code == 404
    assert server.api(tokens[0]).get("/api/lobbies").status_code == 403
    assert server.api().get(f"{place}/0").status_code == 404


def test_a_seats_answer_never_holds_what_others_know(server):
    wanted = {"game": {"name": "kuhn-poker"}, "seats": ["person", "person"], "quiz": False}
    links = server.api().post("/api/lobbies", json=wanted).json()["sessions"][0]
    for seat in (0, 1):
        api = server.api(links["seats"][seat]["token"])
        api.post(f"/api/seats/{links['session']}/{seat}/ready", json={})
    session = server.state.sessions.get_session(links["session"])
    server.wait_for(lambda: "player 1" in session.pending())
    second = server.api(links["seats"][1]["token"]).get(f"/api/seats/{links['session']}/1").json()
    assert second["situation"] != write_history(session.episode.view("player 1"))
    assert second["ask"] is None
    assert "facts" not in second


def test_decisions_leave_as_parquet_too(server):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="defect")
    server.wait_for(lambda: server.state.sessions.is_finished(link.split("/")[2]))
    table = parquet.read_table(io.BytesIO(server.admin.get("/export/decisions.parquet").content))
    assert sorted(table.column("action").to_pylist()) == ["defect", "defect"]


@pytest.mark.parametrize("manifest", ["[" * 100_000, '{"run": 1}', "null", None])
def test_a_hostile_folder_breaks_only_itself_in_the_list_of_runs(server, manifest):
    name = bench_run(server.folder)
    hostile = server.folder / "hostile"
    hostile.mkdir()
    if manifest is None:
        os.mkfifo(hostile / "manifest.json")
    else:
        (hostile / "manifest.json").write_text(manifest)
    (hostile / "records.jsonl").write_text('{"spec": 1}\n')
    listed = server.api().get("/api/runs")
    assert listed.status_code == 200
    assert [run["name"] for run in listed.json() if run["study"] == "bench"] == [name]
    assert server.admin.get("/watch").status_code == 200
