"""The experimenter restarts a table: the game begins again, and the old answers stay in the data as
such."""

import pytest
from web_server import hidden, sit_down, take

from bestresponse.core.errors import NotAsked
from bestresponse.core.player import Decision
from bestresponse.web.sessions.setup import GameChoice, Setup

PAIR = Setup(GameChoice("prisoners-dilemma", rounds=2), ("person", "person"), quiz=False, seconds=0)


def session_of(server, link):
    return server.state.sessions.get_session(link.split("/")[2])


def press(server, session, do):
    admin = server.admin
    page = admin.get(f"/lobby/{session.table.lobby}")
    return admin.post(
        f"/lobby/{session.table.lobby}/act", data={"csrf": hidden(page, "csrf"), "do": do}
    )


def test_the_game_begins_again_and_everybody_is_told(server):
    (ann, link), (bob, bob_link) = sit_down(server, PAIR)
    take(ann, link, answer="cooperate")
    take(bob, bob_link, answer="defect")
    old = session_of(server, link)
    before = old.version(0)
    monitor = press(server, old, f"restart {old.id}")
    assert '<span class="badge">restarted</span>' in monitor.text
    new = session_of(server, link)
    assert (new.attempt, new.turn("row"), new.begun) == (2, 0, True)
    assert (before, old.version(0), new.version(0)) == ("turn.1", "turn.1.again2", "turn.0.again2")
    said = (
        "The experimenter has restarted this game. It begins again, and earlier answers do not"
        " count."
    )
    assert said in ann.get(link).text
    assert said not in take(ann, link, answer="defect").text


def test_old_answers_are_exported_as_those_of_an_earlier_attempt(server):
    (ann, link), (bob, bob_link) = sit_down(server, PAIR)
    take(ann, link, answer="cooperate")
    take(bob, bob_link, answer="defect")
    take(ann, link, answer="cooperate")
    server.state.sessions.restart_table(link.split("/")[2])
    server.restart()
    ann, bob = server.client(), server.client()
    for move in ("defect", "defect"):
        take(ann, link, answer=move)
        take(bob, bob_link, answer=move)
    rows = server.api().get("/api/export/decisions.json").json()
    told = [
        (r["attempt"], r["discarded"], r["role"], r["round"], r["action"], r["payoff"])
        for r in rows
    ]
    assert told == [
        (1, True, "row", 1, "cooperate", 0.0),
        (1, True, "col", 1, "defect", 5.0),
        (1, True, "row", 2, "cooperate", None),
        *((2, False, role, number, "defect", 1.0) for number in (1, 2) for role in ("row", "col")),
    ]
    people = server.api().get("/api/export/parts.json").json()
    assert [(row["answers"], row["restarts"], row["payoff"]) for row in people] == [
        (2, 1, 2.0),
        (2, 1, 2.0),
    ]


def test_an_answer_from_a_page_before_the_restart_does_not_count(server):
    (ann, link), _ = sit_down(server, PAIR)
    stale = {name: hidden(ann.get(link), name) for name in ("csrf", "turn", "attempt")}
    old = session_of(server, link)
    new = server.state.sessions.restart_table(old.id)
    assert (
        "earlier answers do not count"
        in ann.post(f"{link}/answer", data=stale | {"answer": "defect"}).text
    )
    with pytest.raises(NotAsked, match="has restarted this game"):
        server.state.sessions.submit(old, "row", 0, Decision("defect"))
    assert new.turn("row") == 0
    token = server.state.seat_token(new.id, 0)
    body = {"turn": 0, "answer": "defect"}
    assert server.api(token).post(f"/api/seats/{new.id}/0/answers", json=body).status_code == 422
    assert server.api(token).get(f"/api/seats/{new.id}/0").json()["attempt"] == 2
    assert (
        server.api(token)
        .post(f"/api/seats/{new.id}/0/answers", json=body | {"attempt": 2})
        .status_code
        == 200
    )


def test_a_closed_table_is_opened_again_and_a_finished_one_is_not(server):
    (ann, link), (bob, bob_link) = sit_down(server, PAIR)
    take(ann, link, answer="cooperate")
    server.state.sessions.close_table(session_of(server, link))
    server.state.sessions.restart_table(link.split("/")[2])
    for move in ("cooperate", "cooperate"):
        take(ann, link, answer=move)
        take(bob, bob_link, answer=move)
    session = session_of(server, link)
    assert session.over
    refused = press(server, session, f"restart {session.id}")
    assert refused.status_code == 422
    assert "This game is over and its result is recorded" in refused.text
    assert [play.spec for play in server.state.runs.folder("sessions").plays()] == [
        f"{session.id}.2"
    ]


def test_models_and_nature_are_asked_anew(server):
    setup = Setup(
        GameChoice("prisoners-dilemma", rounds=2),
        ("person", "model:scripted"),
        quiz=False,
        seconds=0,
    )
    ((ann, link),) = sit_down(server, setup)
    take(ann, link, answer="defect")
    server.wait_for(lambda: session_of(server, link).turn("col") == 2)
    first = session_of(server, link)
    new = server.state.sessions.restart_table(first.id)
    assert new.seed != first.seed
    server.wait_for(lambda: new.turn("col") == 1)
    take(ann, link, answer="defect")
    take(ann, link, answer="defect")
    server.wait_for(lambda: new.over)
    assert new.payoffs() == {"row": 10.0, "col": 0.0}


def test_all_tables_in_play_are_restarted_at_once(server):
    (ann, link), (_, _) = sit_down(server, PAIR)
    take(ann, link, answer="cooperate")
    session = session_of(server, link)
    api = server.api()
    assert api.post(
        f"/api/lobbies/{session.table.lobby}/actions", json={"action": "restart"}
    ).json() == {"count": 1}
    assert session_of(server, link).attempt == 2
