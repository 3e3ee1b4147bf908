"""Engines in confined children give the same results, and whatever happens to a child stays
there."""

import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import pytest
from games_for_logic import DILEMMA, KUHN, SEQUENTIAL
from waiting import run_at_once

from bestresponse.core.errors import LogicError, ProgramRefused
from bestresponse.core.json import JsonObject
from bestresponse.logic.confined.client import (
    ChildLost,
    Children,
    Kind,
    read_message,
    share_children,
    write_message,
)
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.confined.server import Performer, work
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, RuntimeFault, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Var
from bestresponse.logic.programs.validate import validate, validate_strategy

ENDLESS = "loop(N) :- M is N + 1, loop(M).\n"
GREEDY = "grow(L, [L, L]). fill(L) :- findall(X, between(1, 100000, X), A), fill([A|L])."
swi = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
linux = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp need Linux")


@pytest.mark.parametrize(
    "source", [DILEMMA, SEQUENTIAL, KUHN, "this is no program", "legal(X) :- shell(X)."]
)
def test_a_report_is_the_same_as_in_this_process(source: str) -> None:
    assert validate(source, ConfinedEngine()) == validate(source, EmbeddedEngine())


def test_a_strategy_is_validated_in_a_child() -> None:
    report = validate_strategy("select(P, O, S, M) :- fail.", DILEMMA, ConfinedEngine())
    assert [one.message for one in report.errors] == [
        "select/4 gives no move in the initial situation"
    ]


def test_answers_come_back_as_terms() -> None:
    engine = ConfinedEngine()
    program = engine.load(
        "p(1, a). p(1/3, 'B c'). p(f(X, X, _), [x, \"t\"]). half(X) :- X is 1 / 2."
    )
    whole, third, shared = engine.solutions(program, Struct("p", (Var("A"), Var("B"))))
    assert whole == {"A": 1, "B": Atom("a")}
    assert third["B"] == "B c"
    assert isinstance(shared["A"], Struct)
    assert shared["A"].args[0] is shared["A"].args[1] is not shared["A"].args[2]
    assert engine.solutions(program, "half(X)") == ({"X": Fraction(1, 2)},)
    assert [
        engine.prove(program, goal).verdict for goal in ("p(1, a)", "p(1, b)", "shell(ls)")
    ] == [
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


PATIENT = Limits(steps=10**12, cells=10**12, seconds=60.0)


@pytest.fixture
def children() -> Iterator[Children]:
    own = Children()
    yield own
    own.close()


def ask(source: str, goal: str, **limits: float) -> bytes:
    given = {"source": source, "goal": goal, "names": [], "limit": 1}
    return json.dumps(
        {"job": "ask", "seed": 0, "limits": asdict(PATIENT) | limits, "given": given}
    ).encode()


def gone(pid: int) -> bool:
    """Wait until a process is no more: what holds its end of a pipe is closed."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        select.select([descriptor], [], [])
        os.close(descriptor)
    return True


def test_a_child_serves_several_programs_and_none_sees_the_other(children: Children) -> None:
    first, _ = children.request("embedded", ask("a(1).", "a(X)"), PATIENT)
    pids = children.pids
    second, _ = children.request("embedded", ask("b :- a(_).\nb(2).", "b"), PATIENT)
    third, _ = children.request("embedded", ask("b(2).", "b(X)"), PATIENT)
    assert list(first.read_items()) == [{"X": "1"}]
    assert second.head["message"] == "unknown procedure a/1"
    assert list(third.read_items()) == [{"X": "2"}]
    assert children.pids == pids


def test_a_child_that_is_late_is_killed_and_the_next_one_works(children: Children) -> None:
    children.request("embedded", ask("a.", "a"), PATIENT)
    child = children.pids[1]
    os.kill(child, signal.SIGSTOP)  # it never answers, however long one waits
    with pytest.raises(ChildLost) as lost:
        children.request("embedded", ask("a.", "a"), replace(PATIENT, seconds=0.01))
    assert lost.value.kind == "clock"
    assert gone(child)
    assert list(children.request("embedded", ask("a.", "a"), PATIENT)[0].read_items()) == [{}]


@pytest.mark.parametrize("kind", ["embedded", pytest.param("swi", marks=swi)])
def test_an_endless_program_is_ended_by_the_processor_time_it_uses(kind: Kind) -> None:
    hasty = replace(PATIENT, seconds=0.5)
    report = validate(DILEMMA + ENDLESS + "final(S) :- loop(0).", ConfinedEngine(hasty, kind=kind))
    assert report.errors[-1].code == "limit"
    assert report.errors[-1].message == (
        "The check was not done within 0.5 seconds of processor time."
    )


@linux
@pytest.mark.parametrize("kind", ["embedded", pytest.param("swi", marks=swi)])
def test_time_that_other_programs_take_from_a_check_is_not_counted(
    children: Children, kind: Kind
) -> None:
    """A busy machine lets a process wait: so does whoever stops it and lets it go on."""
    limits = replace(PATIENT, seconds=0.3)
    children.request(kind, ask("a.", "a"), limits)
    _, child = children.pids
    os.kill(child, signal.SIGSTOP)
    go_on = threading.Timer(1.0, os.kill, (child, signal.SIGCONT))
    go_on.start()
    reply, _ = children.request(kind, ask("a(1).", "a(X)"), limits)
    go_on.join()
    assert list(reply.read_items()) == [{"X": "1"}]


def test_a_machine_that_gives_a_check_no_time_is_blamed_and_not_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose(*_: object) -> None:
        raise ChildLost("clock")

    monkeypatch.setattr(Children, "request", lose)
    (error,) = validate(DILEMMA, ConfinedEngine(Limits(seconds=35))).errors
    assert error.message == (
        "The machine did not give the check its 35 seconds of processor time within 700 seconds by"
        " the clock."
    )
    assert error.hint == (
        "this says nothing about the program: check it again when less else is running"
    )


@linux
def test_a_program_that_wants_too_much_memory_costs_its_child(children: Children) -> None:
    small = replace(PATIENT, memory=96 << 20)
    children.request("embedded", ask("a.", "a"), small)
    child = children.pids[1]
    reply, _ = children.request("embedded", ask(GREEDY, "fill([])"), small)
    assert reply.head["message"] == "It needed more memory than it may have."
    assert gone(child)
    assert list(children.request("embedded", ask("a.", "a"), small)[0].read_items()) == [{}]


def test_a_reply_that_is_too_long_is_not_read(children: Children) -> None:
    # 1,200 times 1,000 letters are more than the mebibyte that any reply may have beside its
    # answers.
    source = f"n(X) :- findall({'a' * 1000}, between(1, 1200, _), X)."
    with pytest.raises(ChildLost) as lost:
        children.request("embedded", ask(source, "n(X)"), replace(PATIENT, output=0))
    assert lost.value.kind == "output"


def test_what_a_program_uses_up_is_a_diagnosis() -> None:
    source = DILEMMA + ENDLESS + "final(S) :- loop(0)."
    report = validate(source, ConfinedEngine(replace(PATIENT, steps=10_000)))
    assert not report.ok
    assert report.errors[-1].code == "limit"


def test_children_that_were_lost_are_replaced(children: Children) -> None:
    for _ in range(2):
        assert "result" in children.request("embedded", ask("a.", "a"), PATIENT)[0].head
        for pid in children.pids:
            os.kill(pid, signal.SIGKILL)
            assert gone(pid)


def test_threads_share_the_children() -> None:
    expected = validate(DILEMMA, EmbeddedEngine())
    found = []
    run_at_once(*[lambda: found.append(validate(DILEMMA, ConfinedEngine()))] * 6)
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


def test_a_forked_process_has_children_of_its_own() -> None:
    assert validate(DILEMMA, ConfinedEngine()).ok
    ours = share_children()

    def work() -> str:
        theirs = share_children()
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
def test_a_child_can_reach_nothing_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setattr(
        Performer, "_perform", lambda self, request, limits: (attempt(*actions), ())
    )
    missing, reply = serve_one(ask("a.", "a"))
    if not missing:
        assert reply["result"] == ""
    assert secret.read_text() == "secret" or "files" in missing


def serve_one(body: bytes) -> tuple[JsonObject, JsonObject]:
    """Return the layers that a child of this process is missing, and its reply."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            ours.close()
            work([theirs.fileno()], 512 << 20, 60)
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        missing = json.loads(read_message(ours.fileno()))["missing"]
        write_message(ours.fileno(), body)
        reply = json.loads(read_message(ours.fileno()).split(b"\n")[0])
    os.waitpid(child, 0)
    return missing, reply


def test_a_fault_of_the_check_itself_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(Performer, "_perform", fail)
    _, reply = serve_one(ask("a.", "a"))
    assert reply["message"] == "The check itself failed (RecursionError: too deep)."
    assert not reply["again"]


@pytest.mark.parametrize("body", [b"", b"[]", b'{"job": "x"}', b"\xff", ask("a.", "a", fuel=1)])
def test_a_request_that_is_none_is_a_sentence(body: bytes) -> None:
    assert serve_one(body)[1]["message"].startswith("The check itself failed (")


@swi
@pytest.mark.parametrize(
    "source", [DILEMMA, SEQUENTIAL, KUHN, "this is no program", "legal(X) :- shell(X)."]
)
def test_swi_prolog_asked_by_a_child_gives_the_same_report(source: str) -> None:
    assert validate(source, ConfinedEngine(kind="swi")) == validate(source, EmbeddedEngine())


@swi
def test_a_limit_in_swi_prolog_costs_the_child_and_its_prolog(children: Children) -> None:
    limits = replace(PATIENT, steps=50_000)
    children.request("swi", ask("a.", "a"), limits)
    child = children.pids[1]
    reply, layers = children.request("swi", ask(ENDLESS, "loop(0)", steps=50_000), limits)
    assert reply.head["message"] == "A rule did not come to an end within 50,000 steps."
    assert {layer.name for layer in layers} >= {"files", "calls", "descriptors"}
    assert gone(child)
    assert list(children.request("swi", ask("a.", "a"), limits)[0].read_items()) == [{}]


def test_a_program_of_another_engine_is_refused() -> None:
    program = EmbeddedEngine().load("a.")
    with pytest.raises(LogicError, match="another engine"):
        ConfinedEngine().solutions(program, "a")
