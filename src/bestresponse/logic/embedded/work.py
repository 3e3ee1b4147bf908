"""What a question to the embedded engine takes, counted while it is worked on, and where that ends."""

from __future__ import annotations

import time

from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.unify import set_deadline
from bestresponse.logic.language.terms import Term
from bestresponse.logic.progress import tell_all_found, tell_progress
from bestresponse.logic.settings import Limits

__all__ = ["Found", "Work", "make_memory_error"]

_LOOK_EVERY = 1_000


class Work:
    """What a question and the questions within it have taken, all together."""

    __slots__ = ("deadline", "end", "ends", "held", "limits", "look_at", "positions", "spent")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.ends = 0
        self.held = 0
        self.positions = 0
        self.spent = 0
        self.look_at = _LOOK_EVERY
        self.deadline = 0.0
        self.end = 0.0

    def start(self) -> None:
        """Let the time that the question may take begin."""
        now = time.thread_time()
        self.deadline, self.end = now + self.limits.seconds, now + self.limits.total
        set_deadline(self.deadline)

    def spend(self, steps: int) -> None:
        """Count steps, and stop what has taken too many or too long."""
        self.spent += steps
        if self.spent > self.look_at:
            self.look_at = self.spent + _LOOK_EVERY
            if self.spent > self.limits.steps:
                raise LimitReached(f"A rule did not come to an end within {self.limits.steps:,} steps.")
            if time.thread_time() > self.deadline:
                raise LimitReached(f"It did not finish within {self.limits.seconds:g} seconds.")

    def count_position(self) -> None:
        """Count a position of a game; the steps to the next one are counted from here."""
        self.positions += 1
        self.spent, self.look_at = 0, _LOOK_EVERY
        if self.positions > self.limits.positions:
            raise LimitReached(f"The game has more than {self.limits.positions:,} positions.")
        now = time.thread_time()
        if now > self.end:
            raise LimitReached(f"The game was not done within {self.limits.total:g} seconds.")
        self.deadline = min(now + self.limits.seconds, self.end)
        set_deadline(self.deadline)
        tell_progress()

    def find_all(self) -> None:
        """Note that all ends were found: what remains may take all the time there is."""
        self.spent, self.look_at, self.deadline = 0, _LOOK_EVERY, self.end
        set_deadline(self.end)
        tell_all_found()

    def count_end(self) -> None:
        """Count an end of a game."""
        self.ends += 1
        self.expect_ends(0)

    def expect_ends(self, more: int) -> None:
        """Stop a game that will have too many ends, before they are all counted."""
        if self.exceeds_ends(more):
            raise LimitReached(f"The game has more than {self.limits.ends:,} ends.")

    def exceeds_ends(self, more: int) -> bool:
        """Whether so many ends beside those that were counted are too many."""
        return self.ends + more > self.limits.ends


class Found(list[Term]):
    """Copies of all solutions so far, and how many cells they take."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        super().__init__()
        self.cells = 0


def make_memory_error(limits: Limits) -> LimitReached:
    """Return the error of a question that takes too much memory."""
    return LimitReached(f"It needed more than {limits.cells:,} cells of memory.")
