"""What goes wrong stays where it is: a table that cannot be rebuilt, a write that fails, a game
that is gone."""

import json
from dataclasses import asdict

import pytest
from web_server import flatten, sit_down, take

from bestresponse.core.errors import StoreError
from bestresponse.runs.store.folder import encode_rows
from bestresponse.web.sessions import journal
from bestresponse.web.sessions.errors import BrokenSession
from bestresponse.web.sessions.setup import GameChoice, Setup

DILEMMA = GameChoice("prisoners-dilemma", rounds=3)


def break_answers(server):
    """Let the journal hold an answer that the rules refuse."""
    path = server.folder / "sessions" / "submissions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["action"] = "no such action"
    path.write_bytes(encode_rows(lines))


def test_a_table_that_cannot_be_rebuilt_is_refused_shown_and_kept(server):
    (ann, link), (bob, bob_link) = sit_down(
        server, Setup(DILEMMA, ("person", "person"), quiz=False)
    )
    take(ann, link, answer="cooperate")
    take(bob, bob_link, answer="defect")
    server.stop()
    break_answers(server)
    server.start()
    kept = (server.folder / "sessions" / "submissions.jsonl").read_text()
    name = link.split("/")[2]
    for _ in range(2):
        page = server.client().get(link)
        assert page.status_code == 503
        assert "This table cannot go on" in page.text
        with pytest.raises(BrokenSession):
            server.state.sessions.get_session(name)
    monitor = server.admin.get(f"/lobby/{name.split('-')[0]}").text
    assert "broken" in monitor
    assert "Every answer is kept" in monitor
    rows = server.api().get("/api/export/decisions.json").json()
    assert [(row["session"], row["role"], row["action"]) for row in rows] == [
        (name, "row", "no such action"),
        (name, "col", "defect"),
    ]
    assert (server.folder / "sessions" / "submissions.jsonl").read_text() == kept


def test_a_lobby_whose_game_is_gone_breaks_nothing_else(server):
    server.state.sessions.journal.append_event(
        "lobby",
        lobby="abc",
        setup=asdict(Setup(GameChoice("no-such-game"), ("person", "person"))),
        sessions=["abc-1"],
    )
    server.restart()
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="cooperate")
    admin = server.admin
    for path in ("/", "/lobby/abc", "/export", "/export/decisions.csv", "/export/parts.csv"):
        assert admin.get(path).status_code == 200, path
    assert [lobby["game"] for lobby in server.api().get("/api/lobbies").json()] == [
        "prisoners-dilemma",
        "no-such-game",
    ]
    assert server.api().get("/api/lobbies/abc").json()["sessions"][0]["status"] == "broken"
    assert "no-such-game" in admin.get("/export/parts.csv").text


def test_a_seat_whose_answer_could_not_be_written_is_asked_again(server, monkeypatch):
    kept = server.state.sessions.journal.folder
    write, failed = kept.submit, []

    def fail_once(play, submission, timing):
        if submission.role == "col" and not failed:
            failed.append(submission)
            raise StoreError("the disk is full while writing /secret/place")
        write(play, submission, timing)

    monkeypatch.setattr(kept, "submit", fail_once)
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="cooperate")
    server.wait_for(lambda: failed)
    server.wait_for(lambda: "The game is over" in ann.get(link).text)
    assert server.state.sessions.get_session(link.split("/")[2]).trouble == ""


def test_no_page_tells_where_the_server_keeps_its_files(server, monkeypatch):
    def fail(play, submission, timing):
        raise StoreError("the disk is full while writing /secret/place")

    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    monkeypatch.setattr(server.state.sessions.journal.folder, "submit", fail)
    refused = take(ann, link, answer="cooperate")
    assert refused.status_code == 503
    assert "/secret" not in refused.text
    assert "it was not counted" in refused.text
    assert 'value="cooperate" checked' in refused.text
    lobby = server.state.sessions.list_lobbies()[0]
    assert (
        "An answer of row could not be written to the disk"
        in server.admin.get(f"/lobby/{lobby.id}").text
    )
    monkeypatch.undo()
    take(ann, link, answer="cooperate")
    assert "could not be written" not in server.admin.get(f"/lobby/{lobby.id}").text


def test_a_clock_that_jumps_changes_times_and_nothing_else(server, monkeypatch):
    setup = Setup(
        GameChoice("prisoners-dilemma", rounds=3),
        ("person", "strategy:greedy"),
        quiz=False,
        seconds=60,
    )
    ((ann, link),) = sit_down(server, setup)
    session = server.state.sessions.get_session(link.split("/")[2])
    for number, year in enumerate(("2030", "1970", "2000"), 1):
        jumped = f"{year}-01-01T00:00:00.000+00:00"
        monkeypatch.setattr(journal, "now", lambda at=jumped: at)
        take(ann, link, answer="cooperate")
        server.wait_for(lambda count=number: session.turn("col") >= min(count + 1, 3))
    server.restart()
    rows = [
        row for row in server.api().get("/api/export/decisions.json").json() if row["role"] == "row"
    ]
    assert [(row["round"], row["answered"][:4], row["answered_by"]) for row in rows] == [
        (1, "2030", "person"),
        (2, "1970", "person"),
        (3, "2000", "person"),
    ]


def test_head_is_answered_like_get(server):
    lobby = server.state.sessions.create_sessions(
        Setup(GameChoice("chicken"), ("person", "person"), quiz=False)
    )
    assert server.client().head(server.state.join_path(lobby.id)).status_code == 200
    assert server.client().head("/nothing").status_code == 404


def test_an_odd_run_folder_is_listed_as_such_and_breaks_no_other_page(server):
    for name, manifest in {"odd": {"models": ["x"]}, "older": {"format": 1}, "list": []}.items():
        (server.folder / name).mkdir()
        (server.folder / name / "manifest.json").write_text(json.dumps(manifest))
    admin = server.admin
    page = admin.get("/watch").text
    assert page.count('<span class="badge bad">unreadable</span>') == 3
    assert "odd cannot be read: " in page
    assert str(server.folder) not in page
    assert [
        run["name"] for run in server.api().get("/api/runs").json() if run["status"] != "unreadable"
    ] == []
    assert admin.get("/watch/run/sessions", params={"start": "9" * 20}).status_code == 422


def test_payoffs_are_shown_without_rounding_noise(server):
    setup = Setup(
        GameChoice("rock-paper-scissors", mixed=True), ("person", "strategy:uniform"), quiz=False
    )
    ((ann, link),) = sit_down(server, setup)
    take(ann, link, **{"answer.0": "50", "answer.1": "30", "answer.2": "20"})
    server.wait_for(lambda: "The game is over" in ann.get(link).text)
    assert "<dt>Your result <small>row</small></dt><dd>0</dd>" in flatten(ann.get(link))
    rows = server.api().get("/api/export/decisions.json").json()
    assert [row["payoff"] for row in rows] == [0.0, 0.0]
