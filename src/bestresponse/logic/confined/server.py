"""The fork server: a warm process that forks one confined child for each request, and nothing else.

It imports and warms up everything once. For each socket that it is handed over its control socket it forks a child; the
child gives up its rights (the layers of `swi.sandbox`, without any file at all), waits for a request, limits its memory
and sets itself alarms that end it, works on the request with the embedded engine, replies and ends. The server
itself never looks at a request.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
from collections.abc import Callable
from typing import Any, Final

from bestresponse.core.errors import BestResponseError, LimitReached
from bestresponse.core.json import JsonObject
from bestresponse.logic.confined.messages import PATIENCE, Header, read_exactly, read_header, write_reply
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, RuntimeFault
from bestresponse.logic.language.reader import read_term
from bestresponse.logic.language.terms import Term, variables_of, write
from bestresponse.logic.programs.report import Expectation, encode_report
from bestresponse.logic.programs.validate import validate, validate_strategy
from bestresponse.logic.swi.sandbox import Policy, make_plan
from bestresponse.logic.swi.sandbox_child import apply_layers

__all__ = ["main", "perform", "serve", "work"]

_SAMPLE: Final = """
initial(s0). initially(player(p1), s0). initially(player(p2), s0). initially(control(P), s0) :- player(P).
player(p1). player(p2).
legal(move(P, M), S) :- holds(control(P), S), member(M, [a, b]).
effect(did(P, M), move(P, M), _S). abnormal(control(P), move(P, _M), _S).
final(S) :- \\+ holds(control(_), S).
finally(goal(P, U), S) :- holds(did(P, M), S), findall(O, holds(did(O, M), S), L), length(L, N), U is N * 3 - 1/2.
"""
_COLLECT_EVERY: Final = 200_000
"""Objects between two looks for garbage: a child makes few cycles, and lives for seconds."""
_SLACK: Final = 2
"""Seconds of processor time beyond the alarm, which is what normally ends a child."""


def main(descriptor: int) -> None:
    """Warm up and serve on a control socket until the other side closes it."""
    validate(_SAMPLE, EmbeddedEngine())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(name, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)
    serve(socket.socket(fileno=descriptor))


def serve(control: socket.socket) -> None:
    """Fork a child for each socket that arrives."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        for descriptor in descriptors:
            _fork(control, descriptor)


def _fork(control: socket.socket, descriptor: int) -> None:
    try:
        child = os.fork()
    except OSError:
        child = -1  # closing the socket tells the other side
    if child == 0:
        status = 1
        try:
            control.close()
            work(descriptor)
            status = 0
        finally:
            os._exit(status)
    os.close(descriptor)


def work(descriptor: int) -> None:
    """Serve one request as a confined child."""
    plan = make_plan(("",), Policy((), ()))
    report = apply_layers(plan | {"layers": ["privileges", "files"]})
    header = read_header(descriptor)
    signal.setitimer(signal.ITIMER_PROF, header.seconds)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * header.seconds)
    report |= apply_layers(_limit(plan, header) | {"layers": ["limits", "calls"]})
    try:
        reply = perform(json.loads(read_exactly(descriptor, header.length)))
    except MemoryError:
        reply = _describe(LimitReached(f"It needed more than {header.memory >> 20} MB of memory."))
    except BestResponseError as error:
        reply = _describe(error)
    except Exception as error:  # noqa: BLE001 - a fault of this package; the program still gets a verdict
        reply = {"error": "LogicError", "message": f"The check itself failed ({type(error).__name__}: {error})."}
    reply["missing"] = {name: why for name, why in report.items() if why is not None}
    write_reply(descriptor, json.dumps(reply, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _limit(plan: dict[str, object], header: Header) -> dict[str, object]:
    limits: Any = plan["limits"]
    return plan | {"limits": limits | {"RLIMIT_AS": header.memory, "RLIMIT_CPU": int(header.seconds) + _SLACK}}


def _describe(error: BestResponseError) -> JsonObject:
    found: JsonObject = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, RuntimeFault):
        found |= {"message": error.message, "line": error.line, "source_line": error.source_line}
    return found


def perform(request: JsonObject) -> JsonObject:
    """Do what a request asks for with the embedded engine, and return its result."""
    engine = EmbeddedEngine(Limits(**request["limits"]), request["seed"])
    return {"result": _JOBS[request["job"]](engine, **request["given"])}


def _validate(engine: EmbeddedEngine, source: str, expected: list[int | None] | None) -> JsonObject:
    return encode_report(validate(source, engine, Expectation(*expected) if expected else None))


def _validate_strategy(engine: EmbeddedEngine, source: str, game: str) -> JsonObject:
    return encode_report(validate_strategy(source, game, engine))


def _ask(
    engine: EmbeddedEngine, source: str, goals: list[tuple[str, list[str]]], limit: int | None
) -> list[list[dict[str, str]]]:
    program = engine.load(source)
    found = engine.ask_many(program, [_decode_goal(text, names) for text, names in goals], limit)
    return [[{name: write(term) for name, term in answer.items()} for answer in answers] for answers in found]


def _decode_goal(text: str, names: list[str]) -> str | Term:
    """Read a goal that was a term, and give its variables their names again."""
    if not names:
        return text
    goal = read_term(text).term
    for variable, name in zip(variables_of(goal), names, strict=True):
        variable.name = name
    return goal


_JOBS: Final[dict[str, Callable[..., Any]]] = {
    "validate": _validate,
    "validate_strategy": _validate_strategy,
    "ask": _ask,
}
