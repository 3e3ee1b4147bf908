"""A model that only has a record: it answers what was recorded and nothing else.

No key, no weights, no network.
"""

from collections.abc import Iterable, Mapping

from bestresponse.core.errors import NotCached
from bestresponse.core.json import JsonMapping, digest
from bestresponse.models.base import Abilities, Json, Reply, Request
from bestresponse.models.codec import reply_from_json, request_to_json

_ALL = Abilities(schema=True, choices=True, logprobs=1000, seed=True, concurrency=64)


class RecordedModel:
    """Answer from recorded replies; a request that was never recorded is `NotCached`.

    `calls` are those that a run records: mappings with `request` and `reply` as plain JSON data.

    >>> from bestresponse.models.base import ask
    >>> silent = RecordedModel("openai/gpt-4o")
    >>> silent.complete(ask("Which row?"))
    Traceback (most recent call last):
    bestresponse.core.errors.NotCached: this call of openai/gpt-4o was never recorded
    """

    def __init__(
        self,
        id: str,
        identity: Mapping[str, Json] | None = None,
        abilities: Abilities = _ALL,
        calls: Iterable[JsonMapping] = (),
    ) -> None:
        self.id = id
        self.identity: Mapping[str, Json] = (
            {"provider": "recorded", "model": id} if identity is None else identity
        )
        self.abilities = abilities
        self._replies = {
            digest(call["request"], 64): reply_from_json(call["reply"]) for call in calls
        }

    def complete(self, request: Request) -> Reply:
        """Return the recorded reply."""
        reply = self._replies.get(digest(request_to_json(request), 64))
        if reply is None:
            raise NotCached(f"this call of {self.id} was never recorded")
        return reply
