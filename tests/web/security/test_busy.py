"""However many programs are sent to be checked, the other pages answer."""

import threading
from dataclasses import replace
from functools import partial

from games_for_logic import DILEMMA
from waiting import join_threads, run_at_once, start_thread

from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings
from bestresponse.report.document import Note
from bestresponse.web.sessions import setup
from bestresponse.web.views.formalize import check_program


def test_pages_answer_while_a_hundred_programs_are_checked(server, monkeypatch):
    go_on, inside = threading.Event(), threading.Semaphore(0)

    def hang(source, engine):
        inside.release()
        go_on.wait(120)
        return validate(source, engine)

    monkeypatch.setattr(setup, "validate", hang)
    found, lock = [], threading.Lock()

    def send(number):
        answer = server.api().post("/api/programs/check", json={"program": f"p({number})."})
        with lock:
            found.append((answer.status_code, answer.json().get("error")))

    first = [start_thread(partial(send, number)) for number in range(8)]
    for _ in range(8):
        assert inside.acquire(timeout=120)
    run_at_once(*(partial(send, number) for number in range(8, 100)))
    refused = (429, "8 programs are being checked or written already; try again in a few seconds")
    assert found == [refused] * 92
    assert server.admin.get("/").status_code == 200
    go_on.set()
    join_threads(*first)
    assert [status for status, _ in found[92:]] == [200] * 8
    assert server.api().post("/api/programs/check", json={"program": "p(1)."}).status_code == 200


def test_a_program_from_a_browser_runs_within_the_limits_for_strangers(server, monkeypatch):
    monkeypatch.setattr(settings, "strangers", replace(settings.strangers, ends=3))
    found = server.api().post("/api/programs/check", json={"program": DILEMMA}).json()
    assert [one["message"] for one in found["diagnostics"]] == ["The game has more than 3 ends."]


def test_a_game_of_many_players_is_not_solved_in_the_server():
    names = ["ann", "bob", "cid", "dan", "eve"]
    program = "initial(s0).\n" + "".join(f"initially(player({name}), s0).\n" for name in names)
    program += """
    initially(control(ann), s0).
    legal(move(ann, M), S) :- holds(control(ann), S), member(M, [go, stay]).
    effect(did(M), move(ann, M), _S).
    abnormal(control(ann), move(_, _), _S).
    final(S) :- holds(did(_), S).
    finally(goal(P, 1), S) :- final(S), holds(player(P), S).
    """
    (section,) = check_program(program).sections
    assert section.blocks == (
        Note("They are not worked out here for more than 4 players; `bestresponse solve` does it."),
    )
