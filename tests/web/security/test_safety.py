"""What a stranger, or somebody with the key of another door, gets from the server: nothing, and
safely told."""

import logging

import pytest
from fastapi.testclient import TestClient
from web_server import MODEL

from bestresponse.web.security import RateLimit

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
PATHS = (
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "..%5c..%5csecret",
    "%2e%2e%2fsessions",
    "sessions%2f..%2fsessions",
    "~root",
)


def laid(server, **wanted):
    answer = server.api().post("/api/lobbies", json={"quiz": False, **wanted})
    assert answer.status_code == 201, answer.text
    return answer.json()["sessions"][0]


def test_a_body_without_a_length_is_refused(server):
    headers = {"content-type": "application/json"}
    answer = server.api().post("/api/lobbies", content=iter([b"{}"]), headers=headers)
    assert answer.status_code == 413
    sentence = "This is longer than 1,000,000 bytes, or does not say how long it is; send less."
    assert answer.json() == {"error": sentence}
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_fault_of_ours_says_nothing_about_itself_and_keeps_the_policy(server, monkeypatch):
    def broken():
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr(server.state.runs, "all", broken)
    stranger = TestClient(server.app, base_url="http://localhost", raise_server_exceptions=False)
    answer = stranger.get(
        "/api/runs", headers={"authorization": f"Bearer {server.state.keys.admin}"}
    )
    assert answer.status_code == 500
    assert answer.json() == {"error": "Something went wrong here; the server's log says what."}
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_name_in_a_path_leads_to_the_disk(server):
    server.state.strangers = RateLimit(1e9, 1e9)
    admin, api = server.admin, server.api()
    described = api.get("/api/openapi.json").json()["paths"]
    gets = [path for path, calls in described.items() if "get" in calls and "{" in path]
    pages = [
        "/watch/run/{run}",
        "/watch/run/{run}/report",
        "/watch/run/sessions/play/{run}",
        "/export/{run}.csv",
        "/static/{run}",
        "/lobby/{run}",
    ]
    assert len(gets) >= 12
    for evil in PATHS:
        for client, paths in ((api, gets), (admin, pages)):
            for path in paths:
                place = "/".join(part if "{" not in part else evil for part in path.split("/"))
                answer = client.get(place, follow_redirects=False)
                assert answer.status_code in (403, 404, 422), (place, answer.status_code)
                assert "root:" not in answer.text


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "games/x.pl", "saved:../secret", "-"]
)
def test_no_name_of_a_game_leads_to_the_disk(server, name):
    assert server.api().post("/api/games", json={"name": name}).status_code == 422
    assert server.admin.get("/play/new", params={"game": name}).status_code == 422


def test_keys_are_in_no_file_but_the_secret_and_in_no_log(server, caplog):
    caplog.set_level(logging.DEBUG)
    session = laid(server, game={"name": "chicken"}, seats=["person", "strategy:random"])
    token = session["seats"][0]["token"]
    person, place = server.api(token), f"/api/seats/{session['session']}/0"
    person.post(f"{place}/ready", json={})
    person.post(f"{place}/answers", json={"turn": 0, "answer": "swerve", "why": "because"})
    person.post(f"{place}/answers", json={"turn": 9, "answer": "swerve"})
    server.admin.get("/export/decisions.csv")
    keys = (token, server.state.keys.admin)
    kept = [path for path in server.folder.rglob("*") if path.is_file() and path.name != "secret"]
    assert kept
    assert not [path for path in kept for key in keys if key in path.read_text("utf-8", "replace")]
    said = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith(("uvicorn", "bestresponse"))
    ]
    assert not [line for line in said for key in keys if key in line]
    assert (server.folder / "sessions" / "secret").stat().st_mode & 0o077 == 0


def test_a_models_tags_stay_words_on_every_page(server):
    server.answer = lambda request: f"{EVIL}\nANSWER: cooperate"
    session = laid(server, game={"name": "prisoners-dilemma"}, seats=["person", f"model:{MODEL}"])
    link, name = session["seats"][0], session["session"]
    person, place = server.api(link["token"]), f"/api/seats/{name}/0"
    person.post(f"{place}/ready", json={})
    person.post(f"{place}/answers", json={"turn": 0, "answer": "cooperate", "why": EVIL})
    server.wait_for(lambda: server.state.sessions.is_finished(name))
    admin = server.admin
    pages = [
        link["path"],
        f"/watch/run/sessions/play/{name}",
        "/watch/run/sessions",
        "/export",
        "/watch",
    ]
    for path in pages:
        text = admin.get(path).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
    assert "&lt;script&gt;alert(1)" in admin.get(pages[1]).text
    for form in ("decisions.json", "participants.json"):
        answer = server.api().get(f"/api/export/{form}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["content-disposition"].startswith("attachment")


def test_one_seat_asks_as_fast_as_a_page_and_no_faster(server):
    session = laid(server, game={"name": "chicken"}, seats=["person", "person"])
    server.state.seats = RateLimit(0.001, 5)
    person = server.api(session["seats"][0]["token"])
    answers = [person.get(f"/api/seats/{session['session']}/0") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].headers["retry-after"] == "30"
    other = server.api(session["seats"][1]["token"])
    assert other.get(f"/api/seats/{session['session']}/1").status_code == 200
