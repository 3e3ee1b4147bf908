"""How long a search may take. Solvers that can take long are given a `Deadline` and ask it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import monotonic

from bestresponse.core.errors import NotCertified, UsageError


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment at which a search that may take `seconds` has to be over."""

    seconds: float
    stop: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Start the clock.

        >>> Deadline.after(60.0).is_over
        False
        """
        if not seconds >= 0:
            raise UsageError(f"seconds: expected a number of at least 0, got {seconds:g}")
        return cls(seconds, monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds that are left, 0 once it is over."""
        return max(self.stop - monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether the time is used up."""
        return monotonic() >= self.stop

    def extend(self, seconds: float) -> Deadline:
        """Move the moment by some seconds that do not count."""
        return replace(self, stop=self.stop + seconds)

    def check(self, what: str) -> None:
        """Raise NotCertified once the time is used up; `what` was searched for."""
        if self.is_over:
            raise NotCertified(
                f"{what} could not be found within {self.seconds:g} s; allow more seconds"
            )


NEVER = Deadline(inf, inf)
