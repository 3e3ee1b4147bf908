"""Answers of stand-ins: announced to everybody, marked in the data, and never in place of what was typed."""

from types import SimpleNamespace

import pytest
from web_server import hidden, sit_down, take

from bestresponse.web.experiments.model import wrap_setup
from bestresponse.web.sessions import session as module
from bestresponse.web.sessions.session import Session, SessionTable, TableStanding
from bestresponse.web.sessions.setup import GameChoice, Setup, make_game

DILEMMA = GameChoice("prisoners-dilemma", rounds=2)


def session_of(server, link):
    return server.state.sessions.get_session(link.split("/")[2])


def test_a_page_with_a_form_does_not_change_when_somebody_else_becomes_ready(server):
    setup = Setup(GameChoice("public-goods"), ("person",) * 3, quiz=False)
    lobby = server.state.sessions.create_sessions(setup)
    session = server.state.sessions.get_session(lobby.tables[0].id)
    before = session.version(0)
    for seat in (1, 2):
        server.state.sessions.make_ready(session, seat)
    assert session.version(0) == before == "welcome"
    assert session.version(1) == "gathering.1"


@pytest.mark.parametrize(("seconds", "passed", "timed_out"), [(60, 59.5, True), (60, 30, False), (0, 59.5, False)])
def test_what_the_page_sends_when_the_time_is_up_counts_and_is_marked(server, clock, seconds, passed, timed_out):
    """Whether it was up is seen by the server's clock: anybody can write it into the form."""
    (ann, link), _ = sit_down(server, Setup(DILEMMA, ("person", "person"), quiz=False, seconds=seconds))
    data = {"csrf": hidden(ann.get(link), "csrf"), "turn": "0", "answer": "cooperate", "timed_out": "yes"}
    clock.advance(passed)
    ann.post(f"{link}/answer", data=data)
    given = session_of(server, link).answer("row", 0)
    assert (given.decision.action, given.decision.stand_in) == ("cooperate", "")
    rows = server.api().get("/api/export/decisions.json").json()
    assert [(row["role"], row["answered_by"], row["timed_out"]) for row in rows] == [("row", "person", timed_out)]


def test_a_person_who_is_there_gets_two_seconds_for_the_form_to_arrive(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    setup = Setup(DILEMMA, ("person", "person"), seconds=10)
    table = SessionTable("l-1", "l", 1, wrap_setup(setup)[1], "then")
    session = Session.restore(table, make_game(DILEMMA), (), TableStanding(ready={0, 1}))
    session.touch(0)
    found = []
    for now in (109.0, 111.0, 113.0):
        clock[0] = now
        found.append([(session.seconds_left(seat), session.is_overdue(seat)) for seat in (0, 1)])
    assert found == [
        [(1.0, False), (1.0, False)],
        [(0.0, False), (0.0, True)],
        [(0.0, True), (0.0, True)],
    ]


def test_a_stand_in_is_announced_to_the_person_to_the_partner_and_to_the_admin(server):
    setup = Setup(DILEMMA, ("person", "person"), seconds=0, stand_in="level-1", quiz=False)
    (ann, link), (bob, bob_link) = sit_down(server, setup)
    session = session_of(server, link)
    take(ann, link, answer="cooperate")
    server.state.sessions.advance_person(session, 1)
    server.wait_for(lambda: session.turn("col") == 1)
    said = "The experimenter moved the session on: a stand-in answered the last question for you (defect)."
    assert said in bob.get(bob_link).text
    assert "A stand-in answered for col: 1 of 1 answers so far." in ann.get(link).text
    monitor = server.admin.get(f"/lobby/{session.table.lobby}").text
    assert '<td class="right" data-label="Stand-ins">1</td>' in monitor
    rows = server.api().get("/api/export/decisions.json").json()
    missed = next(row for row in rows if row["role"] == "col")
    assert (missed["answered_by"], missed["stand_in"], missed["timed_out"]) == ("stand-in", "level-1", False)


def test_the_time_limit_is_announced_as_such(server, clock):
    setup = Setup(GameChoice("prisoners-dilemma"), ("person", "person"), seconds=600, stand_in="level-1", quiz=False)
    (ann, link), (bob, bob_link) = sit_down(server, setup)
    take(ann, link, answer="cooperate")
    clock.advance(603)
    server.wait_for(lambda: session_of(server, link).over)
    assert "Your time was up: a stand-in answered the last question for you (defect)." in bob.get(bob_link).text


def test_the_experimenter_advances_replaces_and_closes(server):
    setup = Setup(GameChoice("prisoners-dilemma", rounds=3), ("person", "person"), seconds=0, quiz=False)
    (ann, link), (bob, bob_link) = sit_down(server, setup)
    session = session_of(server, link)
    lobby = session.table.lobby
    api = server.api()

    def act(action, **what):
        return api.post(f"/api/lobbies/{lobby}/actions", json={"action": action, **what}).json()

    assert act("advance", session=session.id, seat=1) == {"count": 1}
    server.wait_for(lambda: session.turn("col") == 1)
    take(ann, link, answer="cooperate")
    assert act("replace", session=session.id, seat=1) == {"count": 1}
    server.wait_for(lambda: session.turn("col") == 2)
    assert "You were replaced" in bob.get(bob_link).text
    refused = api.post(
        f"/api/seats/{session.id}/1/answers",
        json={"turn": 2, "answer": "defect"},
        headers={"authorization": f"Bearer {server.state.seat_token(session.id, 1)}"},
    )
    assert refused.status_code == 422
    assert act("close") == {"count": 1}
    assert "This session was closed" in ann.get(link).text
    server.restart()
    session = session_of(server, link)
    assert session.ended
    assert session.state(0) == "closed"
    assert session.standing.replaced == {1}


def test_the_table_begins_without_the_missing_when_the_waiting_room_is_over(server, clock):
    setup = Setup(DILEMMA, ("person", "person"), quiz=False, waiting=600)
    lobby = server.state.sessions.create_sessions(setup)
    session = server.state.sessions.get_session(lobby.tables[0].id)
    server.state.sessions.make_ready(session, 0)
    clock.advance(601)
    server.wait_for(lambda: session.begun)
    assert session.state(1) == "absent"


def test_every_group_of_a_large_lobby_is_on_some_page(server):
    lobby = server.state.sessions.create_sessions(Setup(DILEMMA, ("person", "person"), quiz=False), 120)
    admin = server.admin
    pages = [admin.get(f"/lobby/{lobby.id}", params={"page": number}).text for number in (1, 2, 3)]
    assert all(any(f"Group {k} <" in page for page in pages) for k in range(1, 121))
    assert "Page 3 of 3, 120 groups" in pages[2]
