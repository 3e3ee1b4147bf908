"""What all engines of a process share: limits, and how much confinement is demanded. The command line sets them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from bestresponse.core.errors import UsageError

STEPS_PER_SECOND = 500_000
"""How many steps count as a second of work: about as many as the embedded engine does on a quiet core."""
WALL = 16.0
"""Seconds by the clock on the wall without a sign of getting on, unless more or less is asked for: the last resort.

Many times what a question may work, so that no verdict depends on what else the machine does: what is counted are
steps and cells."""
_LEAST_WALL = 0.5
SLOWDOWN = 8.0
"""How many seconds by the clock a second of work may take on a machine that does other things too."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question may use up. A game is a question too, but may go on for longer as long as it gets on: what is
    not counted for all of it is counted from one position of the game to the next.

    Steps and cells are counted, so that no verdict depends on what else runs; the clock on the wall is the last resort.
    """

    steps: int = 500_000
    """Resolution steps of a question; of a game, from one position to the next."""
    cells: int = 30_000_000
    """Cells of memory."""
    answers: int = 100_000
    output: int = 40_000_000
    """Characters of answers."""
    memory: int = 1 << 30
    """Bytes that a process may take which runs a program."""
    wall: float = field(default_factory=lambda: WALL)
    """Seconds by the clock on the wall without a sign of getting on, reading and checking included."""
    total: float = 60.0
    """Seconds of work on a whole game, counted in steps (`STEPS_PER_SECOND`)."""
    ends: int = 200_000
    positions: int = 2_000_000

    @classmethod
    def within(cls, total: float, ends: int = 200_000) -> Limits:
        """Return limits for games that take so many seconds and have so many ends; everything else grows with them."""
        usual = cls()
        longer, more = max(1.0, total / usual.total), max(1.0, ends / usual.ends)
        steps = round(min(usual.steps * longer, total * STEPS_PER_SECOND))
        return cls(
            steps=steps,
            cells=round(usual.cells * more),
            answers=round(usual.answers * longer),
            output=round(usual.output * more),
            memory=round(usual.memory * more),
            wall=max(WALL * steps / usual.steps, _LEAST_WALL),
            total=total,
            ends=ends,
            positions=10 * ends,
        )

    @classmethod
    def for_strangers(cls) -> Limits:
        """Return limits for programs of people whom nobody knows: half a second of work, 4 by the clock, 512 MB.

        So little work that the clock decides only where the machine is slower than a quiet one by a factor of eight.
        """
        return cls(
            steps=100_000,
            cells=15_000_000,
            output=8_000_000,  # looking through more, shared parts again and again, takes a second by itself
            memory=512 << 20,
            wall=WALL / 4,
            total=0.5,
            ends=20_000,
            positions=200_000,
        )

    @property
    def total_steps(self) -> int:
        """Resolution steps of a whole game."""
        return round(self.total * STEPS_PER_SECOND)

    @property
    def clock(self) -> float:
        """Seconds by the clock on the wall for a game that gets on."""
        return max(self.wall, SLOWDOWN * self.total)

    @property
    def reply_bytes(self) -> int:
        """How long the reply of a confined child may be."""
        return 4 * self.output + (1 << 20)


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
class Settings:
    """What all engines of this process share: the limits where none are given, and whether every layer is demanded."""

    limits: Limits = field(default_factory=Limits)
    strangers: Limits = field(default_factory=Limits.for_strangers)
    """What a program may use up that came over a network: from a browser, or from a client of the MCP server."""
    require_sandbox: bool = False
    judged: set[str] = field(default_factory=set)
    """The engines of which it is known whether they are confined completely."""

    def judge(self, engine: str, layers: Sequence[Layer]) -> None:
        """Warn once of layers that an engine is missing, or refuse to go on without them."""
        missing = [str(layer) for layer in layers if not layer.active]
        if missing and self.require_sandbox:
            raise SandboxMissing(f"the sandbox is demanded, but not complete: {'; '.join(missing)}")
        if missing and engine not in self.judged:
            message = f"programs are checked with less confinement than there could be: {'; '.join(missing)}"
            warnings.warn(message, SandboxWarning, stacklevel=3)
        self.judged.add(engine)


settings = Settings()
"""The settings of this process; the command line sets them."""
