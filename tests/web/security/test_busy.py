"""However many programs are sent to be checked, the other pages answer."""

import os
import threading
import time
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import pytest
from games_for_logic import DILEMMA
from waiting import join_threads, run_at_once, start_thread, wait_until

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings
from bestresponse.report.document import Note
from bestresponse.web.services import formalizing
from bestresponse.web.services.checks import CheckQueue
from bestresponse.web.services.formalizing import check_program
from bestresponse.web.sessions import setup
from bestresponse.web.sessions.setup import Busy


def test_pages_answer_while_a_hundred_programs_are_checked(server, monkeypatch):
    go_on, inside = threading.Event(), threading.Semaphore(0)

    def hang(source, engine):
        inside.release()
        go_on.wait(120)
        return validate(source, engine)

    monkeypatch.setattr(setup, "validate", hang)
    monkeypatch.setattr(formalizing, "_queue", CheckQueue(most=8, patience=120))
    found, lock = [], threading.Lock()

    def send(number):
        answer = server.api().post("/api/programs/check", json={"program": f"p({number})."})
        with lock:
            found.append(
                (answer.status_code, answer.json().get("error"), answer.headers.get("retry-after"))
            )

    first = [start_thread(partial(send, number)) for number in range(8)]
    wait_until(lambda: len(formalizing._queue._open) == 8)
    run_at_once(*(partial(send, number) for number in range(8, 100)))
    sentence = "8 programs are being checked already; try again in a few seconds"
    assert found == [(503, sentence, "5")] * 92
    assert server.admin.get("/").status_code == 200
    go_on.set()
    join_threads(*first)
    assert [status for status, _, _ in found[92:]] == [200] * 8
    assert server.api().post("/api/programs/check", json={"program": "p(1)."}).status_code == 200


def test_whoever_has_waited_long_enough_asks_again_and_gets_the_same_check():
    queue = CheckQueue(patience=0.01)
    go_on, begun = threading.Event(), []

    def check():
        begun.append(1)
        go_on.wait(120)
        return "checked"

    for _ in range(3):
        with pytest.raises(Busy, match=r"not checked after 0\.01 seconds; the check goes on"):
            queue.run("a program", check)
    go_on.set()
    wait_until(lambda: not queue._open)
    assert queue.run("a program", check) == "checked"
    assert len(begun) == 1


def test_what_a_check_raises_reaches_whoever_asked_and_is_not_kept():
    queue = CheckQueue(patience=120)

    def fail():
        raise ValueError("no game")

    for _ in range(2):
        with pytest.raises(ValueError, match="no game"):
            queue.run("a program", fail)
    assert queue.run("a program", lambda: 7) == 7


def test_a_program_from_a_browser_runs_within_the_limits(server, monkeypatch):
    monkeypatch.setattr(settings, "limits", replace(settings.limits, ends=3))
    found = server.api().post("/api/programs/check", json={"program": DILEMMA}).json()
    assert [one["message"] for one in found["diagnostics"]] == ["The game has more than 3 ends."]


def test_a_game_is_solved_and_drawn_in_another_process_that_is_asked_again():
    titles = ["Payoffs", "Equilibria", "Picture", "Kind of game"]
    solvers = []
    for _ in range(2):
        assert [section.title for section in check_program(DILEMMA).sections] == titles
        solvers.append(formalizing._idle[-1][0].pid)
    assert solvers[0] == solvers[1] != os.getpid()


def test_a_game_is_solved_for_so_much_processor_time_and_no_longer(monkeypatch):
    monkeypatch.setattr(formalizing, "_idle", [])
    report = validate(DILEMMA, EmbeddedEngine())
    (section,) = formalizing._solve_apart(report, 1e-6)
    note = (
        "They were not worked out within 1e-06 seconds of processor time; `bestresponse solve` may"
        " take longer."
    )
    assert section.blocks == (Note(note),)
    assert formalizing._idle == []


def test_a_process_that_is_stuck_is_ended_by_the_clock(monkeypatch):
    processes = get_context("forkserver")
    solver, (ours, theirs) = processes.Process(target=time.sleep, args=(600,)), processes.Pipe()
    solver.start()
    monkeypatch.setattr(formalizing, "_idle", [(solver, ours)])
    monkeypatch.setattr(formalizing, "_START_SECONDS", 0.0)
    monkeypatch.setattr(settings, "limits", replace(settings.limits, seconds=0.001))
    report = validate(DILEMMA, EmbeddedEngine())
    (section,) = formalizing._solve_apart(report, 3.5)
    assert section.title == "Equilibria"
    assert not solver.is_alive()
    theirs.close()
