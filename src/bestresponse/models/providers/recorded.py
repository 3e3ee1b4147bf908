"""A model that only has a record: it answers what was recorded and nothing else. No key, no weights, no network."""

from collections.abc import Callable, Iterable, Mapping

from bestresponse.core.errors import NotCached
from bestresponse.core.json import JsonMapping, digest
from bestresponse.models.base import Abilities, Json, Reply, Request
from bestresponse.models.codec import reply_from_json, request_to_json
from bestresponse.models.wrappers.cached import Cache, call_key, explain_miss

__all__ = ["RecordedModel"]

_ALL = Abilities(schema=True, choices=True, logprobs=1000, seed=True, concurrency=64)


class RecordedModel:
    """Answer from recorded replies; a request that was never recorded is `NotCached`.

    `find` returns the recorded reply of a request, or None. `explain` says why there is none; it is called only then.

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
        explain: Callable[[Request], str] = lambda request: "",
    ) -> None:
        self.id = id
        self.identity: Mapping[str, Json] = {"provider": "recorded", "model": id} if identity is None else identity
        self.abilities = abilities
        self._find = find
        self._explain = explain

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

    @classmethod
    def from_cache(cls, cache: Cache, id: str, identity: Mapping[str, Json] | None = None) -> "RecordedModel":
        """Answer from a cache of replies.

        Where several stood behind one id (another file, engine or setting), `identity` says which one is meant;
        without it the latest.
        """
        known = [identity] if identity is not None else cache.identities(id)
        if not known:
            raise NotCached(f"no answer of {id} was ever recorded")
        who = known[-1]
        return cls(
            id,
            who,
            find=lambda request: cache.get(call_key(who, request)),
            explain=lambda request: explain_miss(who, request, cache.recent()),
        )

    def complete(self, request: Request) -> Reply:
        """Return the recorded reply."""
        reply = self._find(request)
        if reply is None:
            why = self._explain(request)
            raise NotCached(f"this call of {self.id} was never recorded{f': {why}' if why else ''}")
        return reply
