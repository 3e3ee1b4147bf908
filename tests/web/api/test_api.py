"""The API does what the pages do: taking a seat, the end of a game, watching runs."""

import pytest
from recorded_plays import read_plays
from sample_runs import MAKERS, bench_run, water_run
from web_server import MODEL

import bestresponse as br
from bestresponse.runs.study import studies


def laid(server, game="prisoners-dilemma", seats=("person", "person"), rounds=1, **more):
    wanted = {"game": {"name": game, "rounds": rounds}, "seats": list(seats), "quiz": False, **more}
    answer = server.api().post("/api/lobbies", json=wanted)
    assert answer.status_code == 201, answer.text
    return answer.json()


def played(server, answers=("defect", "cooperate")):
    """A finished table: the client and the path of each seat."""
    session = laid(server)["sessions"][0]
    people = [
        (server.api(link["token"]), f"/api/seats/{session['session']}/{seat}")
        for seat, link in enumerate(session["seats"])
    ]
    for api, place in people:
        api.post(f"{place}/ready", json={})
    for (api, place), answer in zip(people, answers, strict=True):
        assert api.post(f"{place}/answers", json={"turn": 0, "answer": answer}).status_code == 200
    return session["session"], people


def test_whoever_has_the_shared_token_takes_the_next_free_seat(server):
    lobby = laid(server, groups=2)
    guest = server.api(lobby["join_token"])
    taken = [guest.post(f"/api/lobbies/{lobby['lobby']}/join") for _ in range(5)]
    places = [(one.json()["session"][-1], one.json()["seat"]) for one in taken[:4]]
    assert places == [("1", 0), ("1", 1), ("2", 0), ("2", 1)]
    assert taken[4].status_code == 422
    assert "every seat is taken" in taken[4].json()["error"]
    seat = taken[0].json()
    assert (
        server.api(seat["token"]).get(f"/api/seats/{seat['session']}/0").json()["phase"]
        == "welcome"
    )
    assert server.api("x").post(f"/api/lobbies/{lobby['lobby']}/join").status_code == 404


def test_an_answer_counts_once_and_only_for_the_question_that_was_put(server):
    session = laid(server, seats=("person", "strategy:greedy"), rounds=3)["sessions"][0]
    api, place = server.api(session["seats"][0]["token"]), f"/api/seats/{session['session']}/0"
    api.post(f"{place}/ready", json={})
    early = api.post(f"{place}/answers", json={"turn": 1, "answer": "defect"})
    assert (early.status_code, early.json()["error"]) == (
        422,
        "This question has not been put yet; load the page again.",
    )
    assert api.get(place).json()["turn"] == 0
    assert api.post(f"{place}/answers", json={"turn": 0, "answer": "cooperate"}).status_code == 200
    again = api.post(f"{place}/answers", json={"turn": 0, "answer": "defect"})
    assert again.json()["error"] == "You had answered this already; the first answer counts."
    assert api.get(place).json()["turn"] == 1


def test_the_end_of_a_game_tells_the_equilibrium(server):
    _, people = played(server)
    api, place = people[0]
    ending = api.get(f"{place}/equilibrium")
    assert "defect" in ending.text
    assert people[1][0].get(f"{place}/equilibrium").status_code == 404, "not the own seat"


def test_before_its_end_a_game_tells_no_equilibrium(server):
    session = laid(server)["sessions"][0]
    api, place = server.api(session["seats"][0]["token"]), f"/api/seats/{session['session']}/0"
    assert api.get(f"{place}/equilibrium").json() == {"error": "the game is not over yet"}


def test_a_person_waits_for_news_of_the_own_seat(server):
    _, people = played(server)
    api, place = people[0]
    known = api.get(place).json()["version"]
    assert api.get(place, params={"after": known, "wait": 0.3}).json()["version"] == known
    assert api.get(place, params={"after": "something older", "wait": 20}).json()["phase"] == "over"


def test_a_quiz_counts_its_tries(server):
    session = laid(server, quiz=True)["sessions"][0]
    api, place = server.api(session["seats"][0]["token"]), f"/api/seats/{session['session']}/0"
    asked = api.get(place).json()["quiz"]
    assert api.post(f"{place}/ready", json={"quiz": ["-1"] * len(asked)}).status_code == 422
    found = server.state.sessions.get_session(session["session"])
    from bestresponse.web.services.seat import make_questions

    right = [f"{question.answer:g}" for question in make_questions(found.game, 0, found.seed)]
    assert api.post(f"{place}/ready", json={"quiz": right}).json()["phase"] == "gathering"
    (ready,) = server.state.sessions.journal.read_events("ready")
    assert ready["quiz_tries"] == 2


def test_whoever_laid_a_table_sees_how_far_each_seat_is(server):
    session = laid(server)["sessions"][0]
    server.api(session["seats"][0]["token"]).post(
        f"/api/seats/{session['session']}/0/ready", json={}
    )
    seats = server.api().get(f"/api/sessions/{session['session']}").json()["seats"]
    assert [(seat["state"], seat["answers"], seat["payoff"]) for seat in seats] == [
        ("ready", 0, None),
        ("not here yet", 0, None),
    ]
    played(server)
    newest = server.api().get("/api/lobbies").json()[0]
    assert (newest["groups"], newest["people"], newest["finished"]) == (1, 2, 1)
    assert (
        server.api().get(f"/api/lobbies/{newest['lobby']}").json()["sessions"][0]["status"]
        == "finished"
    )


def test_the_models_that_can_be_seated_are_told(server):
    assert server.api().get("/api/models").json() == [MODEL]


def behave_run(folder):
    imported = read_plays(folder, "1,1,ann,bob,C,D,0,5,plain\n1,2,ann,bob,D,D,1,1,plain\n")
    return br.behave([imported.path], bootstraps=50, output_dir=folder)


WATCHED = MAKERS | {"behave": (behave_run, {"plays": 1, "total": None, "calls": 0, "money": 0.0})}


def test_there_is_a_sample_of_every_study():
    # An import has no figures of its own, and training takes a network and a package that nothing
    # else needs.
    assert {name.split()[0] for name in WATCHED} == set(studies.names()) - {
        "import",
        "improve",
        "train",
    }


@pytest.mark.parametrize("study", list(WATCHED))
def test_a_run_of_every_study_is_watched_with_progress_cost_and_report(server, study):
    make, expected = WATCHED[study]
    name = make(server.folder).path.name
    run = server.api().get(f"/api/runs/{name}").json()
    assert {key: run[key] for key in expected} == expected
    assert (run["study"], run["finished"], run["has_report"]) == (study.split()[0], True, True)
    report = server.api().get(f"/api/runs/{name}/report").json()
    assert report["sections"]
    assert server.admin.get(f"/watch/run/{name}").status_code == 200


@pytest.mark.parametrize("study", ["bench", "simulate", "water", "verify", "stories"])
def test_a_play_of_every_study_is_told_step_by_step(server, study):
    name = MAKERS[study][0](server.folder).path.name
    play = server.api().get(f"/api/runs/{name}/plays", params={"count": 1}).json()[0]
    told = server.api().get(f"/api/runs/{name}/plays/{play['spec']}").json()
    assert told["stages"][0]["steps"][0]["role"]
    assert server.admin.get(f"/watch/run/{name}/play/{play['spec']}").status_code == 200


def test_the_steps_of_a_session_tell_both_regrets(server):
    session, _ = played(server)
    (stage,) = server.api().get(f"/api/runs/sessions/plays/{session}").json()["stages"]
    told = [(s["role"], s["action"], s["regret"], s["regret_equilibrium"]) for s in stage["steps"]]
    assert told == [("row", "defect", 0.0, 0.0), ("col", "cooperate", 1.0, 1.0)]


def test_runs_without_a_common_metric_are_not_compared(server):
    bench, water = bench_run(server.folder).path.name, water_run(server.folder).path.name
    answer = server.api().get("/api/compare", params={"first": bench, "second": water})
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        "runs of bench, water have no metric in common",
    )


def test_two_runs_are_compared_as_the_report_of_both_compares_them(server):
    """The same answer to the same three games of four: no difference."""
    names = [bench_run(server.folder, games).path.name for games in (3, 4)]
    query = {"first": names[0], "second": names[1]}
    compared = server.api().get("/api/compare", params=query).json()
    rows = {row["metric"]: row for row in compared["differences"]}
    assert rows["gap_normalised"]["difference"]["estimate"] == 0.0
    assert rows["gap_normalised"]["games"] == 3
    assert compared["notes"] == [
        "Runs A and B share 3 of 3 and 4 games; differences are over these."
    ]
    page = server.admin.get("/watch/compare", params={"run": names}).text
    assert "Runs A and B share 3 of 3 and 4 games" in page


def test_progress_is_waited_for(server):
    name = bench_run(server.folder).path.name
    known = server.api().get(f"/api/runs/{name}").json()["version"]
    assert known == "3.3.1"
    again = server.api().get(f"/api/runs/{name}", params={"after": known, "wait": 0.2})
    assert again.json()["version"] == known


def test_what_is_not_there_is_told_apart_from_what_failed(server):
    admin = server.api()
    for path in (
        "/api/runs/nothing",
        "/api/runs/sessions/report",
        "/api/runs/sessions/plays/nothing",
    ):
        assert admin.get(path).status_code == 404, path
    (server.folder / "broken").mkdir()
    (server.folder / "broken" / "manifest.json").write_text("{")
    assert admin.get("/api/runs/broken").status_code == 503
    listed = {run["name"]: run["status"] == "unreadable" for run in admin.get("/api/runs").json()}
    assert listed == {"broken": True}


def test_a_game_of_ones_own_is_looked_up_by_its_name_and_never_by_a_path(server):
    (server.folder / "games").mkdir()
    (server.folder / "secret.pl").write_text("p(1).")
    (server.folder / "games" / "..secret.pl").write_text("p(1).")
    for name in ("../secret", "..secret", "nothing"):
        answer = server.admin.get("/play/new", params={"game": f"saved:{name}"})
        assert answer.status_code == 422
        assert "is no saved game named" in answer.text
    assert "saved:" not in server.admin.get("/").text


def test_no_seat_may_watch(server):
    session, people = played(server)
    name = bench_run(server.folder).path.name
    paths = [
        "/api/runs",
        f"/api/runs/{name}",
        f"/api/runs/{name}/report",
        f"/api/runs/{name}/plays",
        f"/api/runs/sessions/plays/{session}",
        f"/api/compare?first={name}&second={name}",
        "/api/models",
        f"/api/sessions/{session}",
        "/api/export/decisions.csv",
    ]
    for api in (people[0][0], server.api("nobody"), server.admin):
        assert {api.get(path).status_code for path in paths} == {403}
