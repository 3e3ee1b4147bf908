"""How often plays were lost with their workers, and when one is given up."""

from __future__ import annotations

from collections import defaultdict

from bestresponse.core.errors import ModelUnavailable
from bestresponse.runs.executors.base import Ended
from bestresponse.runs.spec import Spec

__all__ = ["Losses"]

_MOST = 3
_SHARE = 10


class Losses:
    """Tells a play that ends every worker from plays that were there when a worker was killed.

    A worker that is lost before it ended any play counts in full against the plays it held; one that had ended others
    counts a tenth.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = defaultdict(int)

    def count(self, spec: Spec, ended: int) -> Ended | None:
        """Count one loss, with a worker that had ended so many plays; returns the end of a play to be given up."""
        self._counts[spec.id] += 1 if ended else _SHARE
        if self._counts[spec.id] < _MOST * _SHARE:
            return None
        return Ended(spec, error=ModelUnavailable(f"workers were lost again and again while they played {spec.id}"))
