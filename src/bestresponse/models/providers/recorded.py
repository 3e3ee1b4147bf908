"""A model that only has a record: it answers what was recorded and nothing else. No key, no weights, no network."""

from collections.abc import Callable, Iterable, Mapping

from bestresponse.core.errors import NotCached
from bestresponse.core.json import JsonMapping, digest
from bestresponse.models.base import Abilities, Json, Reply, Request
from bestresponse.models.codec import reply_from_json, request_to_json

_ALL = Abilities(schema=True, choices=True, logprobs=1000, seed=True, concurrency=64)


class RecordedModel:
    """Answer from recorded replies; a request that was never recorded is `NotCached`.

    `find` returns the recorded reply of a request, or None; `why` says why there may be none.

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
        *,
        find: Callable[[Request], Reply | None] = lambda request: None,
        why: str = "",
    ) -> None:
        self.id = id
        self.identity: Mapping[str, Json] = {"provider": "recorded", "model": id} if identity is None else identity
        self.abilities = abilities
        self._find = find
        self._why = why

    @classmethod
    def from_calls(
        cls,
        id: str,
        calls: Iterable[JsonMapping],
        identity: Mapping[str, Json] | None = None,
        abilities: Abilities = _ALL,
    ) -> "RecordedModel":
        """Answer from calls as a run records them: mappings with `request` and `reply` as plain JSON data."""
        replies = {digest(call["request"], 64): reply_from_json(call["reply"]) for call in calls}
        return cls(id, identity, abilities, find=lambda request: replies.get(digest(request_to_json(request), 64)))

    def complete(self, request: Request) -> Reply:
        """Return the recorded reply."""
        reply = self._find(request)
        if reply is None:
            raise NotCached(f"this call of {self.id} was never recorded{f': {self._why}' if self._why else ''}")
        return reply
