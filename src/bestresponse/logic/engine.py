"""What a logic engine can do, and the limits it does it in: one protocol, two engines.

*Embedded* is written in Python and always there; *swi* drives one confined SWI-Prolog process. Both
load only what the gate has passed (`gate.GatedProgram.canonical`), under the same trusted text
(`solver_language.TRUSTED`), and agree.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from bestresponse.core.errors import LogicError, UsageError
from bestresponse.logic.gate.check import GatedProgram
from bestresponse.logic.language.terms import Term
from bestresponse.logic.settings import Limits as Limits, settings

EngineKind = Literal["auto", "embedded", "swi"]

Answer = Mapping[str, Term]
"""The variables of a goal, by name, and what they are in one solution. Names that start with _ are
left out."""


class Verdict(StrEnum):
    """What is known about a claim under the closed-world reading of a program."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Proof:
    """A verdict, and for `UNKNOWN` the reason: refused, an error, or a limit."""

    verdict: Verdict
    why: str = ""


class RuntimeFault(LogicError):
    """A program raised an error while it ran.

    `line` (0 if unknown) and `source_line` tell in which clause.
    """

    def __init__(self, message: str, line: int = 0, source_line: str = "") -> None:
        location = f" in the clause at line {line}: {source_line}" if line else ""
        super().__init__(f"{message}{location}")
        self.message = message
        self.line = line
        self.source_line = source_line


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an engine has loaded; `handle` is the engine's own."""

    gated: GatedProgram
    handle: object = field(repr=False, compare=False)


class LogicEngine(ABC):
    """Loads programs and answers questions about them.

    Goals pass the gate too, whoever wrote them.
    """

    name: str
    limits: Limits

    @abstractmethod
    def load(self, source: str | GatedProgram) -> Program:
        """Check and load a program, or `ProgramRefused`."""
        ...

    @abstractmethod
    def solutions(
        self,
        program: Program,
        goal: str | Term,
        limit: int | None = None,
    ) -> tuple[Answer, ...]:
        """The first `limit` solutions.

        `LimitReached` or `RuntimeFault` where they cannot be had.
        """
        ...

    def prove(self, program: Program, goal: str | Term) -> Proof:
        """Whether a claim holds; never raises because of the claim."""
        try:
            return Proof(Verdict.PROVED if self.solutions(program, goal, 1) else Verdict.REFUTED)
        except LogicError as error:
            return Proof(Verdict.UNKNOWN, str(error))

    def close(self) -> None:
        """Give back processes and memory, if the engine has any of its own."""
        return


def open_engine(
    kind: EngineKind = "auto",
    limits: Limits | None = None,
    seed: int = 0,
    *,
    confined: bool = True,
) -> LogicEngine:
    """The named engine, or SWI-Prolog, or else the embedded one.

    SWI-Prolog is taken if it is installed and can be confined.

    Programs are read, gated and run in confined processes. Without `confined` that happens in this
    process, but for what SWI-Prolog itself does, which is meant for programs that this package
    wrote itself.
    """
    from bestresponse.logic.confined.engine import ConfinedEngine
    from bestresponse.logic.embedded.engine import EmbeddedEngine
    from bestresponse.logic.swi.engine import SwiEngine

    limits = limits or settings.limits
    match kind:
        case "auto":
            if shutil.which("swipl") is not None:
                with suppress(LogicError):
                    return open_engine("swi", limits, seed, confined=confined)
            return open_engine("embedded", limits, seed, confined=confined)
        case "embedded" | "swi" if confined:
            engine = ConfinedEngine(limits, seed, kind)
            if kind not in settings.judged:
                settings.judge(kind, engine.layers)
            return engine
        case "embedded":
            return EmbeddedEngine(limits, seed)
        case "swi":
            prolog = SwiEngine(limits, seed)
            settings.judge(kind, prolog.layers)
            return prolog
        case _:
            raise UsageError(f"There is no logic engine {kind!r}; choose auto, embedded or swi.")
