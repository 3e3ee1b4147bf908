"""Parameters that one model takes and another refuses: left out once the server has complained of them.

No table of model names can keep up with providers. What a server calls unsupported is left out (or renamed by the
adapter), the call is made again at once, and the model remembers it for all further calls.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from bestresponse.models.http import Endpoint, Rejected

__all__ = ["Negotiated", "complaints_about"]

_NOT_TAKEN = re.compile(
    r"unsupported|not support|n't support|not enabled|deprecated|unknown|unrecognized|not permitted|unexpected|both",
    re.I,
)


def complaints_about(error: Rejected, parameters: tuple[str, ...]) -> frozenset[str]:
    """The parameters that the server says it does not take; none if it complains of something else."""
    if not _NOT_TAKEN.search(str(error)):
        return frozenset()
    named = error.complaint.get("param") if isinstance(error.complaint, dict) else None
    words = {named.split(".")[0]} if isinstance(named, str) else set(re.findall(r"\w+", str(error)))
    return frozenset(name for name in parameters if name in words)


class Negotiated:
    """An endpoint that learns which of the optional parameters its model refuses."""

    def __init__(self, endpoint: Endpoint, complaints: Callable[[Rejected], frozenset[str]]) -> None:
        self._endpoint = endpoint
        self._complaints = complaints
        self._refused: frozenset[str] = frozenset()

    def post(self, build: Callable[[frozenset[str]], dict[str, Any]]) -> tuple[Any, float, Mapping[str, Any]]:
        """Post `build(refused)` until nothing new is refused: the answer, its latency, and the body it answers."""
        while True:
            refused = self._refused
            body = build(refused)
            try:
                answer, latency = self._endpoint.post(body)
            except Rejected as error:
                fresh = self._complaints(error) - refused
                if not fresh:
                    raise
                self._refused |= fresh
                continue
            return answer, latency, body
