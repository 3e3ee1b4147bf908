"""The fork server: a warm process that forks confined children, and nothing else.

It imports and warms up everything once. For each socket that it is handed over its control socket
it forks a child; the child gives up its rights (the layers of `swi.sandbox`, without any file at
all), says so, and serves one request after the other with the embedded engine, or with the
SWI-Prolog whose pipes came along with the socket. It ends when nobody asks any more or when it
should not be asked again. The server itself never looks at a request.
"""

import gc
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonObject
from bestresponse.logic.confined.client import RIGHTS, read_message, write_message
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine, RuntimeFault
from bestresponse.logic.language.reader import read_term
from bestresponse.logic.language.terms import Term, variables_of, write
from bestresponse.logic.programs.report import Report, encode_value
from bestresponse.logic.programs.strategies import find_seats
from bestresponse.logic.programs.validate import validate, validate_strategy
from bestresponse.logic.settings import LIFE
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.logic.swi.sandbox import SandboxPolicy, make_plan
from bestresponse.logic.swi.sandbox_child import apply_layers
from bestresponse.logic.swi.worker import Worker

SAMPLE = """
initial(s0).
initially(player(p1), s0). initially(player(p2), s0).
initially(control(P), s0) :- player(P).
player(p1). player(p2).
legal(move(P, M), S) :- holds(control(P), S), member(M, [a, b]).
effect(did(P, M), move(P, M), _S). abnormal(control(P), move(P, _M), _S).
final(S) :- \\+ holds(control(_), S).
finally(goal(P, U), S) :-
    holds(did(P, M), S), findall(O, holds(did(O, M), S), L), length(L, N), U is N * 3 - 1/2.
"""
"""A small game, to load everything before the first one comes."""
_COLLECT_EVERY = 200_000
"""Objects between two looks for garbage: a child makes few cycles, and lives for seconds."""
# Python seldom gives memory back: the next check would begin that much nearer to the limit.
_LARGE = 128 << 20
_LINE = 100
"""Rows or answers in a line of a reply, which are in memory twice while they are read."""


def warm_up_and_serve(descriptor: int) -> None:
    """Warm up and serve on a control socket until the other side closes it."""
    validate(SAMPLE, EmbeddedEngine())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _make_plan()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)
    serve(socket.socket(fileno=descriptor))


def serve(control: socket.socket) -> None:
    """Fork a child for each socket that arrives."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, RIGHTS.size, 3)
        if not data:
            return
        _fork(control, descriptors, *RIGHTS.unpack(data))


def _fork(
    control: socket.socket,
    descriptors: list[int],
    memory: int,
    processor: int,
) -> None:
    try:
        child = os.fork()
    except OSError:
        child = -1  # closing the socket tells the other side
    if child == 0:
        status = 1
        try:
            control.close()
            work(descriptors, memory, processor)
            status = 0
        finally:
            os._exit(status)
    for descriptor in descriptors:
        os.close(descriptor)


def work(descriptors: list[int], memory: int, processor: int) -> None:
    """Serve requests as a confined child, on the first descriptor.

    The other two, if any, lead to SWI-Prolog.
    """
    connection, *pipes = descriptors
    plan = _make_plan()
    limits: Any = plan["limits"]
    report = apply_layers(
        plan | {"limits": limits | {"RLIMIT_AS": memory, "RLIMIT_CPU": processor}}
    )
    missing = {name: why for name, why in report.items() if why is not None}
    write_message(connection, json.dumps({"pid": os.getpid(), "missing": missing}).encode())
    performer = Performer(Worker(pipes[0], pipes[1]) if pipes else None)
    again = True
    while again:
        try:
            body = read_message(connection)
        except EOFError:
            return
        reply = performer.reply(body)
        again = reply["again"] = reply["again"] and performer.fit
        items = reply.pop("items", ())
        parts = (reply, *(items[start : start + _LINE] for start in range(0, len(items), _LINE)))
        lines = (json.dumps(part, separators=(",", ":"), default=encode_value) for part in parts)
        write_message(connection, "\n".join(lines).encode("utf-8", "surrogatepass"))


@cache
def _make_plan() -> dict[str, object]:
    return make_plan(("",), SandboxPolicy((), ()))


class Performer:
    """Do what requests ask for with the embedded engine, or with a SWI-Prolog."""

    def __init__(self, prolog: Worker | None) -> None:
        self._swi = None if prolog is None else SwiEngine(worker=prolog)

    @property
    def fit(self) -> bool:
        """Whether it can be asked again.

        It must be small, must not have worked for long, and must have its SWI-Prolog.
        """
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1 << 10
        )
        return size < _LARGE and time.process_time() < LIFE and not (self._swi and self._swi.spent)

    def reply(self, body: bytes) -> JsonObject:
        """Return the result of a request, or the error that it ended with."""
        try:
            request = json.loads(body)
            result, items = self._perform(request, Limits(**request["limits"]))
            return {"again": True, "result": result, "items": items}
        except MemoryError:
            return {
                "again": False,
                "error": "LimitReached",
                "message": "It needed more memory than it may have.",
            }
        except BestResponseError as error:
            reply = {"again": True, "error": type(error).__name__, "message": str(error)}
            if isinstance(error, RuntimeFault):
                reply |= {
                    "message": error.message,
                    "line": error.line,
                    "source_line": error.source_line,
                }
            return reply
        except Exception as error:  # noqa: BLE001
            # A fault of this package: the program still gets a verdict.
            message = f"The check itself failed ({type(error).__name__}: {error})."
            return {"again": False, "error": "LogicError", "message": message}

    def _perform(self, request: JsonObject, limits: Limits) -> tuple[object, Sequence[object]]:
        """Do a job: its result, and the rows or answers that may be many."""
        engine: LogicEngine = self._swi or EmbeddedEngine(limits, request["seed"])
        engine.limits = limits
        arguments = request["given"]
        match request["job"]:
            case "validate":
                report = validate(arguments["source"], engine)
                if report.positions is not None:
                    bare = replace(report.positions, positions=())
                    return replace(report, positions=bare), report.positions.positions
                if report.table is None:
                    return report, ()
                return replace(report, table=replace(report.table, rows=())), report.table.rows
            case "validate_strategy":
                return validate_strategy(arguments["source"], arguments["game"], engine), ()
            case "find_seats":
                game, rules, default_move = (
                    arguments[name] for name in ("game", "rules", "default_move")
                )
                return find_seats(
                    game,
                    rules,
                    default_move,
                    limits,
                    arguments["usual_moves"],
                ), ()
            case "gate":
                gated = engine.load(arguments["source"]).gated
                return Report("", gated.defined, gated.diagnostics), ()
            case _:
                goal: str | Term = arguments["goal"]
                if arguments["names"]:  # it was a term, whose variables get their names again
                    goal = read_term(arguments["goal"]).term
                    for variable, name in zip(variables_of(goal), arguments["names"], strict=True):
                        variable.name = name
                answers = engine.solutions(
                    engine.load(arguments["source"]),
                    goal,
                    arguments["limit"],
                )
                return None, [
                    {name: write(term) for name, term in answer.items()} for answer in answers
                ]
