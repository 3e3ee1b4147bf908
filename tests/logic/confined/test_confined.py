"""The embedded engine in confined children gives the same results, and whatever happens to a child stays there."""

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from games_for_logic import DILEMMA, KUHN, SEQUENTIAL

from bestresponse.core.errors import LogicError, ProgramRefused
from bestresponse.logic.confined import server
from bestresponse.logic.confined.client import ChildLost, ForkServer, share_server
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.confined.messages import read_reply, write_request
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, RuntimeFault, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Var
from bestresponse.logic.programs.report import Expectation
from bestresponse.logic.programs.validate import validate, validate_strategy

ENDLESS = "loop(N) :- M is N + 1, loop(M).\n"
GREEDY = "grow(L, [L, L]). fill(L) :- findall(X, between(1, 100000, X), A), fill([A|L])."
linux = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp need Linux")


@pytest.mark.parametrize("source", [DILEMMA, SEQUENTIAL, KUHN, "this is no program", "legal(X) :- shell(X)."])
def test_a_report_is_the_same_as_in_this_process(source: str) -> None:
    assert validate(source, ConfinedEngine()) == validate(source, EmbeddedEngine())


def test_what_is_expected_of_a_game_reaches_the_child() -> None:
    report = validate(DILEMMA, ConfinedEngine(), Expectation(players=3))
    assert [one.message for one in report.errors] == ["the game has 2 players (p1, p2), not 3"]


def test_a_strategy_is_validated_in_a_child() -> None:
    report = validate_strategy("select(P, O, S, M) :- fail.", DILEMMA, ConfinedEngine())
    assert [one.message for one in report.errors] == ["select/4 gives no move in the initial situation"]


def test_answers_come_back_as_terms() -> None:
    engine = ConfinedEngine()
    program = engine.load("p(1, a). p(1/3, 'B c'). p(f(X, X, _), [x, \"t\"]). half(X) :- X is 1 / 2.")
    whole, third, shared = engine.solutions(program, Struct("p", (Var("A"), Var("B"))))
    assert whole == {"A": 1, "B": Atom("a")}
    assert third["B"] == "B c"
    assert isinstance(shared["A"], Struct)
    assert shared["A"].args[0] is shared["A"].args[1] is not shared["A"].args[2]
    assert engine.solutions(program, "half(X)") == ({"X": Fraction(1, 2)},)
    assert [engine.prove(program, goal).verdict for goal in ("p(1, a)", "p(1, b)", "shell(ls)")] == [
        Verdict.PROVED,
        Verdict.REFUTED,
        Verdict.UNKNOWN,
    ]


def test_errors_come_back_with_their_place() -> None:
    engine = ConfinedEngine()
    program = engine.load("ok(1).\nbad(X) :- X is a + 1.")
    with pytest.raises(RuntimeFault) as caught:
        engine.solutions(program, "bad(X)")
    assert caught.value.line == 2
    with pytest.raises(ProgramRefused):
        engine.solutions(program, "halt")


def request(job: str, **given: object) -> bytes:
    limits = {"steps": 10**12, "cells": 10**12, "seconds": 600.0}
    return json.dumps({"job": job, "seed": 0, "limits": limits, "given": given}).encode()


def ask(source: str, goal: str) -> bytes:
    return request("ask", source=source, goals=[[goal, []]], limit=1)


def test_a_child_that_does_not_come_back_is_ended_by_its_alarm_and_the_next_one_works() -> None:
    served = ForkServer()
    try:
        with pytest.raises(ChildLost):
            served.request(ask(ENDLESS, "loop(0)"), 0.3, 512 << 20, 1 << 20)
        assert b'"result":[[{}]]' in served.request(ask("a.", "a"), 30.0, 512 << 20, 1 << 20)
    finally:
        served.close()


@linux
def test_a_child_that_wants_too_much_memory_says_so_or_ends() -> None:
    with suppress(ChildLost):
        reply = share_server().request(ask(GREEDY, "fill([])"), 60.0, 96 << 20, 1 << 20)
        assert b"It needed more than 96 MB of memory." in reply
    assert b"result" in share_server().request(ask("a.", "a"), 30.0, 512 << 20, 1 << 20)


def test_a_reply_that_is_too_long_is_not_read() -> None:
    with pytest.raises(ChildLost) as lost:
        share_server().request(ask("n(X) :- between(1, 9, X).", "n(X)"), 30.0, 512 << 20, 10)
    assert lost.value.kind == "output"


def test_what_ends_a_child_is_a_diagnosis() -> None:
    source = DILEMMA + ENDLESS + "final(S) :- loop(0)."
    report = validate(source, ConfinedEngine(Limits(steps=10**12, seconds=0.1)))
    assert not report.ok
    assert report.errors[-1].code == "limit"


def test_a_lost_server_is_replaced() -> None:
    served = ForkServer()
    try:
        for _ in range(2):
            assert b"result" in served.request(ask("a.", "a"), 30.0, 512 << 20, 1 << 20)
            assert served.pid is not None
            os.kill(served.pid, signal.SIGKILL)
            served.wait()
    finally:
        served.close()


def test_threads_share_one_server() -> None:
    expected = validate(DILEMMA, EmbeddedEngine())
    found = []
    work = [threading.Thread(target=lambda: found.append(validate(DILEMMA, ConfinedEngine()))) for _ in range(6)]
    for one in work:
        one.start()
    for one in work:
        one.join()
    assert found == [expected] * 6


def run_in_fork(work: Callable[[], str]) -> str:
    """Return what `work` says in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_a_forked_process_has_a_server_of_its_own() -> None:
    assert validate(DILEMMA, ConfinedEngine()).ok
    ours = share_server()

    def work() -> str:
        theirs = share_server()
        ok = validate(DILEMMA, ConfinedEngine()).ok
        theirs.close()
        return f"{ok} {theirs is ours}"

    assert run_in_fork(work) == "True False"
    assert validate(DILEMMA, ConfinedEngine()).ok


def attempt(*actions: Callable[[], object]) -> str:
    done = []
    for number, action in enumerate(actions):
        try:
            action()
            done.append(str(number))
        except (OSError, MemoryError):
            pass
    return " ".join(done)


@linux
def test_a_child_can_reach_nothing_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0o666)
    tmp_path.chmod(0o777)
    actions = (
        lambda: secret.read_text(),
        lambda: secret.write_text("changed"),
        lambda: (tmp_path / "new").touch(),
        lambda: os.listdir("/"),
        lambda: socket.socket(),
        lambda: os.fork(),
        lambda: os.kill(os.getppid(), 0),
        lambda: os.execv("/bin/sh", ["sh"]),
        lambda: bytearray(1 << 30),
    )
    monkeypatch.setattr(server, "perform", lambda request: {"result": attempt(*actions)})
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        try:
            server.work(theirs.fileno())
        finally:
            os._exit(0)
    theirs.close()
    write_request(ours.fileno(), 30.0, 512 << 20, b"{}", float("inf"))
    reply = json.loads(read_reply(ours.fileno(), 1 << 20, float("inf")))
    os.waitpid(child, 0)
    if not reply["missing"]:
        assert reply["result"] == ""
    assert secret.read_text() == "secret" or "files" in reply["missing"]


def test_a_fault_of_the_check_itself_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: object) -> dict[str, object]:
        raise RecursionError("too deep")

    monkeypatch.setattr(server, "perform", broken)
    ours, theirs = socket.socketpair()

    def work() -> str:
        ours.close()
        server.work(theirs.fileno())
        return ""

    write_request(ours.fileno(), 30.0, 512 << 20, b"{}", float("inf"))
    run_in_fork(work)
    theirs.close()
    reply = json.loads(read_reply(ours.fileno(), 1 << 20, float("inf")))
    assert reply["message"] == "The check itself failed (RecursionError: too deep)."


def test_a_program_of_another_engine_is_refused() -> None:
    program = EmbeddedEngine().load("a.")
    with pytest.raises(LogicError, match="another engine"):
        ConfinedEngine().solutions(program, "a")
