"""However many programs are sent to be checked, the other pages answer."""

import os
import threading
import time
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

from games_for_logic import DILEMMA
from waiting import join_threads, run_at_once, start_thread

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings
from bestresponse.report.document import Note
from bestresponse.web.services import formalizing
from bestresponse.web.services.formalizing import check_program
from bestresponse.web.sessions import setup


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


def test_a_game_is_not_solved_for_longer_than_its_check_may_take(monkeypatch):
    processes = get_context("forkserver")
    solver, (ours, theirs) = processes.Process(target=time.sleep, args=(600,)), processes.Pipe()
    solver.start()
    monkeypatch.setattr(formalizing, "_idle", [(solver, ours)])
    report = validate(DILEMMA, EmbeddedEngine())
    (section,) = formalizing._solve_in_time(report, time.monotonic())
    note = "They were not worked out within 120 seconds; `bestresponse solve` may take longer."
    assert section.blocks == (Note(note),)
    assert not solver.is_alive()
    theirs.close()
