"""Parameters that one model takes and another refuses: left out once the server has complained of them.

No table of model names can keep up with providers. What a server calls unsupported is left out (or renamed by the
adapter), the call is made again at once, and the model remembers it for all further calls.
"""

import re
from collections.abc import Callable

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import Json
from bestresponse.models.http import Endpoint, Rejected

__all__ = ["Negotiated", "find_complaints", "is_unsupported"]

_NOT_TAKEN = re.compile(
    r"unsupported|not support|n't support|not enabled|not available|unavailable|deprecated|unknown|unrecognized|"
    r"not permitted|unexpected|both",
    re.I,
)

Complaints = Callable[[Rejected, frozenset[str]], frozenset[str]]
"""Names what an error says is refused, given what was refused before."""


def is_unsupported(text: str) -> bool:
    """Tell whether a complaint is about something the server does not take at all."""
    return _NOT_TAKEN.search(text) is not None


def find_complaints(error: Rejected, parameters: tuple[str, ...]) -> frozenset[str]:
    """Return the parameters that the server says it does not take; none if it complains of something else."""
    if not is_unsupported(str(error)):
        return frozenset()
    named = error.complaint.get("param") if isinstance(error.complaint, dict) else None
    words = {named.split(".")[0]} if isinstance(named, str) else set(re.findall(r"\w+", str(error)))
    return frozenset(name for name in parameters if name in words)


class Negotiated:
    """An endpoint that learns which of the optional parameters its model refuses."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._refused: frozenset[str] = frozenset()

    def post(
        self, build: Callable[[frozenset[str]], JsonObject], complaints: Complaints
    ) -> tuple[Json, float, JsonMapping, frozenset[str]]:
        """Post `build(refused)` until nothing new is refused.

        Return the answer, its latency, the body it answers, and everything that was refused when it was sent.
        """
        while True:
            refused = self._refused
            body = build(refused)
            try:
                answer, latency = self._endpoint.post(body)
            except Rejected as error:
                fresh = complaints(error, refused) - refused
                if not fresh:
                    raise
                self._refused |= fresh
                continue
            return answer, latency, body, refused
