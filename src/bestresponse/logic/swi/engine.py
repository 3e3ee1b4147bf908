"""The engine that asks SWI-Prolog.

It has one warm, confined worker process with one game at a time in it, as a module.

What the gate has passed is all the worker ever sees. It is restarted after any limit, so no program
meets what another left behind; a program is loaded again when it is next asked about.
"""

from collections.abc import Callable

from bestresponse.core.errors import LimitReached, LogicError, UsageError
from bestresponse.logic.embedded.arithmetic import TOO_DEEP, TOO_LONG
from bestresponse.logic.embedded.machine import (
    ENDLESS,
    TOO_MANY_ENDS,
    TOO_MANY_POSITIONS,
    TOO_MUCH_WORK,
)
from bestresponse.logic.engine import Answer, Limits, LogicEngine, Program, RuntimeFault
from bestresponse.logic.gate.check import GatedProgram, check_goal, check_source
from bestresponse.logic.language.library import LIBRARY_TEXT
from bestresponse.logic.language.terms import Atom, Struct, Term, brief, items_of
from bestresponse.logic.programs.solver_language import EXTRACTION, SOLVER
from bestresponse.logic.settings import LIFE, Layer
from bestresponse.logic.swi.terms import decode
from bestresponse.logic.swi.worker import Worker, WorkerLost, find_swipl, start_worker

_BYTES_PER_CELL = 16
_LOADS = 1_000
_INFERENCES_PER_STEP = 6
"""About so much more is done by SWI-Prolog in the time of a step of the embedded engine."""
_LOAD_BYTES = 1 << 16
_START_SECONDS = 120.0

TOO_SLOW = "The check was not done within {0.seconds:g} seconds of processor time."
TOO_BUSY = (
    "The machine did not give the check its {0.seconds:g} seconds of processor time within"
    " {0.clock:g} seconds by the clock."
)
_LIMITS = {
    "ends": TOO_MANY_ENDS,
    "positions": TOO_MANY_POSITIONS,
    "steps": ENDLESS,
    "work": TOO_MUCH_WORK,
    "memory": "The program needs more memory than it may have.",
    "output": "The answers are longer than {0.output:,} characters.",
    "time": TOO_SLOW,
    "clock": TOO_BUSY,
    "number": TOO_LONG,
    "depth": TOO_DEEP,
    "ended": "The program used up the memory or the processor time it may have.",
}


class SwiEngine(LogicEngine):
    """A `LogicEngine` on SWI-Prolog, for one thread.

    `layers` says how far the worker is confined.
    """

    name = "swi"

    def __init__(
        self,
        limits: Limits | None = None,
        seed: int = 0,
        worker: Worker | None = None,
    ) -> None:
        """Start a worker, or use the one given, which is not replaced."""
        self.limits = limits or Limits()
        self._start: Callable[[], Worker] = lambda: worker or start_prolog(self.limits, seed)
        self._worker = self._start()
        self._loads = 0
        self._loaded: GatedProgram | None = None
        self.layers: tuple[Layer, ...] = self._worker.layers

    @property
    def spent(self) -> bool:
        """Whether the worker is gone, or has worked for so long that it ought to be replaced."""
        return not self._worker.alive or self._worker.busy_seconds > LIFE or self._loads >= _LOADS

    def close(self) -> None:
        """End the worker; the engine starts another if it is asked again."""
        self._worker.close()

    def load(self, source: str | GatedProgram) -> Program:
        """Check a program, or `ProgramRefused`.

        The worker gets it together with the first question about it.
        """
        gated = (check_source(source) if isinstance(source, str) else source).require()
        return Program(gated, self.name)

    def solutions(
        self,
        program: Program,
        goal: str | Term,
        limit: int | None = None,
    ) -> tuple[Answer, ...]:
        """The first `limit` solutions of a goal, all of them by default."""
        if program.handle != self.name:
            raise UsageError("This program was loaded by another engine; load it with this one.")
        question = check_goal(goal, program.gated)
        gated = program.gated.initialise(question.fluents) if question.fluents else program.gated
        self._send(gated)
        limits = self.limits
        most = max(1, min(limit or limits.answers + 1, limits.answers + 1))
        text = f"{question.canonical}.\n"
        steps = limits.steps_in_all if "table_" in text else limits.steps
        inferences = f"{_INFERENCES_PER_STEP * steps},{_INFERENCES_PER_STEP * limits.steps}"
        counts = f"{inferences},{limits.output},{limits.ends},{limits.positions}"
        reply = self._request(
            f"ask(g{self._loads},1,{most},{counts})",
            text,
            4 * limits.output + _LOAD_BYTES,
        )
        if reply.name == "error":
            raise _fault(gated, reply)
        rows = items_of(reply.args[0])[0]
        if len(rows) > limits.answers:
            raise LimitReached(f"There are more than {limits.answers:,} answers.")
        return tuple([dict(zip(question.names, items_of(row)[0], strict=True)) for row in rows])

    def _send(self, gated: GatedProgram) -> None:
        """Ensure that a worker runs and has the program as a module.

        The module's name was never used before: SWI-Prolog remembers what a module has imported.
        """
        if not self._worker.alive:
            self._worker = self._start()
            self._loads = 0
            self._loaded = None
        if gated is not self._loaded:
            self._loads = self._loads + 1
            self._loaded = None
            what = f"load(g{self._loads},g{self._loads - 1})"
            reply = self._request(what, gated.canonical, _LOAD_BYTES)
            if reply.name == "error":
                raise LogicError(f"SWI-Prolog does not accept the program: {brief(reply.args[0])}")
            self._loaded = gated

    def _request(self, what: str, text: str, size: int) -> Struct:
        try:
            limits = self.limits
            (line,) = self._worker.request(
                what,
                text,
                limits.clock,
                size,
                processor=limits.seconds,
            )
        except WorkerLost as lost:
            if lost.kind == "foreign":
                raise
            raise self._passed(lost.kind) from lost
        if line.startswith("limit("):
            raise self._passed(line[6:-1])
        reply = decode(line)
        if not isinstance(reply, Struct):
            raise LogicError(
                f"SWI-Prolog answered with {line[:60]!r}, which is neither answers nor an error."
            )
        return reply

    def _passed(self, which: str) -> LimitReached:
        """A limit was passed: whatever state the worker is in, it is not used again."""
        self._worker.close()
        return LimitReached(_LIMITS[which].format(self.limits))


def start_prolog(limits: Limits, seed: int = 0) -> Worker:
    """Start a confined SWI-Prolog that knows the list library and the solver.

    `LogicError` where there is none.
    """
    installation = find_swipl()
    stack = limits.cells * _BYTES_PER_CELL
    try:
        worker = start_worker(installation, limits.memory, limits.processor, stack)
        worker.request("library", LIBRARY_TEXT, _START_SECONDS, _LOAD_BYTES)
        worker.request(f"solver({seed})", SOLVER, _START_SECONDS, _LOAD_BYTES)
        worker.request("extraction", EXTRACTION, _START_SECONDS, _LOAD_BYTES)
    except WorkerLost as lost:
        raise LogicError(
            f"SWI-Prolog does not run confined here ({lost}); use the embedded engine."
        ) from lost
    return worker


def _fault(gated: GatedProgram, reply: Struct) -> RuntimeFault:
    """Say what went wrong, in the words of the embedded engine, and in which clause."""
    formal, where = reply.args
    clauses = gated.clauses
    message = _explain(formal)
    if not isinstance(where, int) or not 0 < where <= len(clauses):
        return RuntimeFault(message)
    clause = clauses[where - 1]
    return RuntimeFault(message, clause.line, clause.source_line)


def _explain(formal: Term) -> str:
    match formal:
        case Atom("instantiation_error"):
            return "an arithmetic expression contains an unbound variable"
        case Struct(name="existence_error", args=(_, Struct(name="/", args=(name, arity)))):
            return f"unknown procedure {name}/{arity}"
        case Struct(name="evaluation_error"):
            return "division by zero"
        case Struct(name="raised", args=(text, culprit)):
            return f"{text}, {brief(culprit)} came"
        case Struct(name="no_argument", args=(item, position)):
            return f"{brief(item)} has no argument {position} to sort by"
        case Struct(name="no_bound", args=(what, value)):
            return f"{what} of between/3 must be a whole number, not {brief(value)}"
        case Struct(name="no_function", args=(name, arity)):
            return f"{name}/{arity} is not an arithmetic function"
        case Struct(name="no_number", args=(value,)):
            return f"{brief(value)} is not a number"
        case Struct(name="no_integer", args=(value,)):
            return f"a whole number was expected, {brief(value)} came"
        case _:
            return brief(formal)
