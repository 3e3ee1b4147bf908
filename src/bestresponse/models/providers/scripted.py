"""Models without a network: answers written by hand, or answers once given. For tests, examples and replays.

A script is either a function of the request or a list of texts given out in order; a list that runs out is an error,
so a test sees every call it did not expect.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from bestresponse.core.errors import ModelUnavailable, NotCached
from bestresponse.models.base import Abilities, Json, Reply, Request, Usage
from bestresponse.models.codec import request_to_json
from bestresponse.models.wrappers.cache_miss import nearest
from bestresponse.models.wrappers.cached import Cache, call_key

__all__ = ["ReplayedModel", "ScriptedModel"]


class ScriptedModel:
    """Answers from a script and remembers what it was asked.

    >>> from bestresponse.models.base import ask
    >>> ScriptedModel(["A", "B"]).complete(ask("Which row?")).text
    'A'
    """

    def __init__(
        self,
        script: Callable[[Request], str | Reply] | Sequence[str | Reply],
        *,
        name: str = "scripted",
        abilities: Abilities | None = None,
    ) -> None:
        self.id = name
        self.identity: Mapping[str, Json] = {"provider": "scripted", "model": name}
        self.abilities = abilities or Abilities(schema=True, choices=True, seed=True, concurrency=64)
        self._script = script
        self._asked: list[Request] = []
        self._lock = threading.Lock()

    @property
    def asked(self) -> tuple[Request, ...]:
        """Every request so far, in the order of arrival."""
        with self._lock:
            return tuple(self._asked)

    def complete(self, request: Request) -> Reply:
        """The script's answer; a plain text becomes a reply that counts words as tokens."""
        with self._lock:
            turn = len(self._asked)
            self._asked.append(request)
        answer = self._script(request) if callable(self._script) else self._line(self._script, turn)
        if isinstance(answer, Reply):
            return answer
        words = sum(len(message.content.split()) for message in request.messages)
        return Reply(answer, usage=Usage(words, len(answer.split())), provider_id=f"{self.id}-{turn}")

    def _line(self, lines: Sequence[str | Reply], turn: int) -> str | Reply:
        if turn >= len(lines):
            raise ModelUnavailable(f"the script of {self.id} has {len(lines)} answers and was asked once more")
        return lines[turn]


class ReplayedModel:
    """Somebody's recorded answers without that somebody: no key, no weights, no network.

    `name` is the id the answers were recorded under. Where several stood behind one id (another file, engine or
    setting), `identity` says which one is meant; without it the latest.
    """

    def __init__(self, cache: Cache, name: str, identity: Mapping[str, Json] | None = None) -> None:
        known = [identity] if identity is not None else cache.identities(name)
        if not known:
            raise NotCached(f"no answer of {name} was ever recorded")
        self.id = name
        self.identity: Mapping[str, Json] = known[-1]
        self.abilities = Abilities(schema=True, choices=True, logprobs=1000, seed=True, concurrency=64)
        self._cache = cache

    def complete(self, request: Request) -> Reply:
        """The recorded reply; `NotCached` says what tells the request from the nearest one recorded."""
        reply = self._cache.get(call_key(self.identity, request))
        if reply is None:
            miss = nearest(self.identity, request_to_json(request), self._cache.recent())
            raise NotCached(f"this call of {self.id} was never recorded: {miss}")
        return reply
