"""What all engines of a process share: limits, and how much confinement is demanded.

The command line sets them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from bestresponse.core.errors import UsageError

SECONDS = 35.0
"""Processor time after which a check is stopped where nobody says otherwise: about ten times what
an idle machine takes for a game that is counted as small enough."""
_RULES_IN_ALL = 14
"""So many rules that do not end may be tried before a question is given up: a program may have many
that take nearly as long."""
_PATIENCE = 20
"""So many times as long as its processor time a check may take by the clock: a machine may have
twenty programs to run at once, and gives each a twentieth."""
ENDS = 100_000
LIFE = 60
"""Seconds of processor time after which a process is not asked again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the check of one program, or one question, may use up.

    Positions, ends, steps and cells are counted, so that the verdict on a program is the same on
    every machine, however busy it is. Processor time only stops what passes no count, and the clock
    what is stuck.
    """

    seconds: float = field(default_factory=lambda: SECONDS)
    """Of processor time, of all processes that work on it."""
    positions: int = 20_000
    """Positions that one walk through a game may come to; all engines count the same."""
    steps: int = 500_000
    """Resolution steps of a question; of a game, from one position to the next. About a second of
    work."""
    cells: int = 15_000_000
    """Cells of memory."""
    answers: int = 100_000
    output: int = 40_000_000
    """Characters of answers."""
    memory: int = 512 << 20
    """Bytes that a process may take which runs a program."""
    ends: int = ENDS

    @classmethod
    def within(cls, seconds: float, ends: int = ENDS) -> Limits:
        """Return limits for games that take so many seconds and have so many ends.

        Everything else grows with them.
        """
        usual = cls()
        longer = max(1.0, seconds / SECONDS)
        more = max(1.0, ends / usual.ends)
        return cls(
            seconds=seconds,
            positions=round(usual.positions * longer),
            steps=round(usual.steps * longer),
            cells=round(usual.cells * more),
            answers=round(usual.answers * longer),
            output=round(usual.output * more),
            memory=round(usual.memory * more),
            ends=ends,
        )

    @property
    def steps_in_all(self) -> int:
        """Resolution steps of a whole walk through a game."""
        return _RULES_IN_ALL * self.steps

    @property
    def clock(self) -> float:
        """Seconds by the clock after which a check counts as stuck, whatever it has used."""
        return _PATIENCE * self.seconds

    @property
    def processor(self) -> int:
        """Seconds of processor time that a process gets, in whole minutes.

        Many requests can share it: it is a minute after which the process is not asked again
        (`LIFE`), and what the last request may take.
        """
        return LIFE * (1 + math.ceil(self.seconds / LIFE))


class SandboxMissing(UsageError):
    """All layers of confinement are demanded, and some are missing."""


class SandboxWarning(UserWarning):
    """Programs run here with fewer layers of confinement than there could be."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of confinement: in force, or why not."""

    name: str
    active: bool
    why_not: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {'active' if self.active else f'missing ({self.why_not})'}"


@dataclass
class LogicSettings:
    """What all engines of this process share.

    These are the limits if none are given, and whether every layer is demanded.
    """

    limits: Limits = field(default_factory=Limits)
    require_sandbox: bool = False
    judged: set[str] = field(default_factory=set)
    """The engines of which it is known whether they are confined completely."""

    def judge(self, engine: str, layers: Sequence[Layer]) -> None:
        """Warn once of layers that an engine is missing, or refuse to go on without them."""
        missing = [str(layer) for layer in layers if not layer.active]
        if missing and self.require_sandbox:
            raise SandboxMissing(f"the sandbox is required, but incomplete: {'; '.join(missing)}")
        if missing and engine not in self.judged:
            message = (
                "programs are checked with less confinement than there could be:"
                f" {'; '.join(missing)}"
            )
            warnings.warn(message, SandboxWarning, stacklevel=3)
        self.judged.add(engine)


settings = LogicSettings()
"""The settings of this process; the command line sets them."""
