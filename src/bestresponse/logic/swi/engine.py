"""The engine that asks SWI-Prolog: one warm, confined worker process, many games in it as modules.

What the gate has passed is all the worker ever sees. It is restarted after any limit, and replaced now and then, so no
program meets what another left behind; programs are loaded again when they are next asked about. An engine may be
shared by threads: they take turns.
"""

from __future__ import annotations

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bestresponse.core.errors import LimitReached, LogicError, UsageError
from bestresponse.logic.embedded.arithmetic import TOO_DEEP, TOO_LONG
from bestresponse.logic.engine import Answer, Limits, LogicEngine, Program, RuntimeFault
from bestresponse.logic.gate.check import GatedGoal, GatedProgram, check, check_goal
from bestresponse.logic.language.library import LIBRARY_TEXT
from bestresponse.logic.language.terms import Atom, Struct, Term, brief, items_of, write
from bestresponse.logic.programs.solver_language import EXTRACTION, SOLVER
from bestresponse.logic.swi.sandbox import LAYERS, Layer
from bestresponse.logic.swi.terms import decode
from bestresponse.logic.swi.worker import Worker, WorkerLost, find_swipl, start_worker

_LIFE: Final = 60
"""Seconds of work after which a worker is replaced."""
_BYTES_PER_CELL: Final = 16
_CHUNK: Final = 2_000
_MODULES: Final = 64
_LOADS: Final = 1_000
_REMEMBERED: Final = 8_192
_LOAD_BYTES: Final = 1 << 16
_SHORT: Final = 100
_START_SECONDS: Final = 120.0

TOO_SLOW: Final = (
    "It did not get on for {0.wall:g} seconds by the clock, or was not done within {0.clock:g}; it has not passed "
    "the limits on work, so the machine may be busy with something else."
)
_LIMITS: Final = {
    "ends": "The game has more than {0.ends:,} ends.",
    "positions": "The game has more than {0.positions:,} positions.",
    "steps": "A rule did not come to an end within {0.steps:,} steps.",
    "memory": "The program needs more memory than it may have.",
    "output": "The answers are longer than {0.output:,} characters.",
    "total": "The game was not done within {0.total:g} seconds of work.",
    "time": TOO_SLOW,
    "number": TOO_LONG,
    "depth": TOO_DEEP,
    "ended": "The program used up the memory or the processor time it may have.",
}


@dataclass(frozen=True, slots=True)
class _Question:
    """A goal that has passed the gate, as text; `about` is the program, or its variant, that it is asked of."""

    names: tuple[str, ...]
    text: str
    about: _Loaded


class _Loaded:
    """A program as this engine keeps it: its text, the goals already checked against it, and its variants."""

    __slots__ = ("gated", "questions", "text", "variants")

    def __init__(self, gated: GatedProgram) -> None:
        self.gated = gated
        self.text = gated.canonical
        self.questions: dict[str, _Question] = {}
        self.variants: dict[str, _Loaded] = {}

    def question(self, goal: str | Term) -> _Question:
        """The goal, checked; texts asked before are not checked again."""
        text = goal if isinstance(goal, str) and not isinstance(goal, Atom) else None
        found = self.questions.get(text) if text is not None else None
        if found is None:
            checked = check_goal(goal, self.gated)
            found = _Question(checked.names, f"{checked.canonical}.\n", self._variant(checked))
            if text is not None:
                if len(self.questions) >= _REMEMBERED:
                    self.questions.clear()
                self.questions[text] = found
        return found

    def _variant(self, goal: GatedGoal) -> _Loaded:
        if not goal.given:
            return self
        key = " ".join(f"{write(fluent)}@{write(situation)}" for fluent, situation in goal.given)
        if key not in self.variants:
            if len(self.variants) >= _MODULES:
                self.variants.clear()
            self.variants[key] = _Loaded(self.gated.given(goal.given))
        return self.variants[key]


class SwiEngine(LogicEngine):
    """A `LogicEngine` on SWI-Prolog. `layers` says how far the worker is confined and what is missing."""

    name = "swi"

    def __init__(
        self,
        limits: Limits | None = None,
        seed: int = 0,
        command: str = "swipl",
        layers: tuple[str, ...] = LAYERS,
        worker: Worker | None = None,
    ) -> None:
        """Start a worker, or use the one given, which is not replaced."""
        self.limits = limits or Limits()
        self._lent = worker is not None
        self._start: Callable[[], Worker] = lambda: worker or start_prolog(self.limits, seed, command, layers)
        self._lock = threading.RLock()
        self._modules: OrderedDict[_Loaded, str] = OrderedDict()
        self._loads = 0
        self._restart()
        self.layers: tuple[Layer, ...] = self._worker.layers

    @property
    def spent(self) -> bool:
        """Whether the worker is gone or has worked for so long that it is replaced before it is asked again."""
        return not self._worker.alive or self._worker.busy_seconds > _LIFE or self._loads >= _LOADS

    def __enter__(self) -> SwiEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker; the engine starts another if it is asked again."""
        with self._lock:
            self._worker.close()

    def load(self, source: str | GatedProgram) -> Program:
        """Check a program, or `ProgramRefused`; the worker gets it together with the first question about it."""
        gated = (check(source) if isinstance(source, str) else source).require()
        return Program(gated, _Loaded(gated))

    def ask_many(
        self, program: Program, goals: Sequence[str | Term], limit: int | None = None
    ) -> tuple[tuple[Answer, ...], ...]:
        """`solutions` of several goals at once, each within its own limits; thousands travel in one round trip."""
        loaded = program.handle
        if not isinstance(loaded, _Loaded):
            raise UsageError("This program was loaded by another engine; load it with this one.")
        questions = [loaded.question(goal) for goal in goals]
        found: list[tuple[Answer, ...]] = []
        with self._lock:
            for batch in _batches(questions):
                found += self._ask_batch(batch, limit)
        return tuple(found)

    def _ask_batch(self, batch: list[_Question], limit: int | None) -> list[tuple[Answer, ...]]:
        try:
            lines = self._ask(batch, limit)
        except LimitReached:
            if len(batch) == 1:
                raise
            return [answers for question in batch for answers in self._ask_batch([question], limit)]
        return [self._answers(question, line) for question, line in zip(batch, lines, strict=True)]

    def _ask(self, batch: list[_Question], limit: int | None) -> list[str]:
        """One round trip; `LimitReached` if any of the questions, or all together, pass a limit."""
        limits = self.limits
        most = max(1, min(limit or limits.answers + 1, limits.answers + 1))
        about = batch[0].about
        self._refresh()
        new = about not in self._modules
        module = self._name_module() if new else self._modules[about]
        steps = limits.total_steps if "table_" in batch[0].text else limits.steps
        counts = f"{steps},{limits.steps},{limits.output},{limits.ends},{limits.positions}"
        what = f"ask({module},{len(batch)},{most},{counts})"
        text = "".join([question.text for question in batch])
        if new:
            old = self._modules.popitem(last=False)[1] if len(self._modules) >= _MODULES else "none"
            what, text = f"load({module},{old},{len(about.text)},{what})", about.text + text
        lines = self._request(what, text, 4 * limits.output + _LOAD_BYTES)
        if lines[-1].startswith("limit("):
            raise self._passed(lines[-1][6:-1])
        if lines[-1].startswith("refused("):
            raise LogicError(f"SWI-Prolog does not accept the program: {lines[-1][8:-1]}")
        self._modules[about] = module
        self._modules.move_to_end(about)
        return lines

    def _answers(self, question: _Question, line: str) -> tuple[Answer, ...]:
        reply = _decoded(line)
        if reply.name == "error":
            raise _fault(question, reply)
        rows = items_of(reply.args[0])[0]
        if len(rows) > self.limits.answers:
            raise LimitReached(f"There are more than {self.limits.answers:,} answers.")
        return tuple([dict(zip(question.names, items_of(row)[0], strict=True)) for row in rows])

    def _name_module(self) -> str:
        """Return a name that was never used: SWI-Prolog remembers what a module has imported."""
        self._loads += 1
        return f"g{self._loads}"

    def _refresh(self) -> None:
        """See to it that a worker runs that is ours (a forked process has its parent's) and has not run for long."""
        if self._lent:
            return  # whoever gave the worker looks at `spent` between jobs
        inherited = self._owner != os.getpid()
        if self.spent and not inherited:
            self._worker.close()
        if self.spent or inherited:
            self._restart()

    def _restart(self) -> None:
        self._modules.clear()
        self._loads = 0
        self._worker = self._start()
        self._owner = os.getpid()

    def _request(self, what: str, text: str, size: int) -> list[str]:
        try:
            return self._worker.request(what, text, self.limits.wall, size, self.limits.clock)
        except WorkerLost as lost:
            if lost.kind == "foreign":
                raise
            raise self._passed(lost.kind) from lost

    def _passed(self, which: str) -> LimitReached:
        """A limit was passed: whatever state the worker is in, it is not used again."""
        self._worker.close()
        return LimitReached(_LIMITS[which].format(self.limits))


def start_prolog(limits: Limits, seed: int = 0, command: str = "swipl", layers: tuple[str, ...] = LAYERS) -> Worker:
    """Start a confined SWI-Prolog that knows the list library and the solver; `LogicError` where there is none."""
    installation = find_swipl(command)
    stack = limits.cells * _BYTES_PER_CELL
    try:
        worker = start_worker(installation, limits.memory, _LIFE + math.ceil(limits.clock), stack, layers)
        worker.request("library", LIBRARY_TEXT, _START_SECONDS, _LOAD_BYTES)
        worker.request(f"solver({seed})", SOLVER, _START_SECONDS, _LOAD_BYTES)
        worker.request("extraction", EXTRACTION, _START_SECONDS, _LOAD_BYTES)
    except WorkerLost as lost:
        raise LogicError(f"SWI-Prolog does not run confined here ({lost}); use the embedded engine.") from lost
    return worker


def _batches(questions: list[_Question]) -> list[list[_Question]]:
    """Neighbouring questions about the same program, so many at a time."""
    batches: list[list[_Question]] = []
    for question in questions:
        if not batches or batches[-1][0].about is not question.about or len(batches[-1]) >= _CHUNK:
            batches.append([])
        batches[-1].append(question)
    return batches


def _decoded(line: str) -> Struct:
    term = _short(line) if len(line) < _SHORT and "_" not in line else decode(line)
    if not isinstance(term, Struct):
        raise LogicError(f"SWI-Prolog answered with {line[:60]!r}, which is neither answers nor an error.")
    return term


@lru_cache(_REMEMBERED)
def _short(line: str) -> Term:
    return decode(line)


def _fault(question: _Question, reply: Struct) -> RuntimeFault:
    """Say what went wrong, in the words of the embedded engine, and in which clause."""
    formal, where = reply.args
    clauses = question.about.gated.clauses
    message = _explain(formal)
    if not isinstance(where, int) or not 0 < where <= len(clauses):
        return RuntimeFault(message)
    clause = clauses[where - 1]
    return RuntimeFault(message, clause.line, clause.source_line)


def _explain(formal: Term) -> str:
    match formal:
        case Atom("instantiation_error"):
            return "an unbound variable stands in an arithmetic expression"
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
