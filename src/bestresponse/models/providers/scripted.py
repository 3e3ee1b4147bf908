"""A model whose answers are written by hand: for tests and examples.

A script is either a function of the request or a list of texts given out in order; a list that runs
out is an error, so a test sees every call it did not expect.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from bestresponse.core.errors import ModelUnavailable
from bestresponse.models.base import Abilities, Json, Reply, Request, Usage


class ScriptedModel:
    """Answer from a script and remember what was asked.

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
        self.abilities = abilities or Abilities(
            schema=True,
            choices=True,
            seed=True,
            concurrency=64,
        )
        self._script = script
        self._asked: list[Request] = []
        self._lock = threading.Lock()

    @property
    def asked(self) -> tuple[Request, ...]:
        """Return every request so far, in the order of arrival."""
        with self._lock:
            return tuple(self._asked)

    def complete(self, request: Request) -> Reply:
        """Return the script's answer; a plain text becomes a reply that counts words as tokens."""
        with self._lock:
            turn = len(self._asked)
            self._asked.append(request)
        if callable(self._script):
            answer = self._script(request)
        elif turn >= len(self._script):
            raise ModelUnavailable(
                f"the script of {self.id} has {len(self._script)} answers and was asked once more"
            )
        else:
            answer = self._script[turn]
        if isinstance(answer, Reply):
            return answer
        words = sum(len(message.content.split()) for message in request.messages)
        usage = Usage(words, len(answer.split()))
        return Reply(answer, usage=usage, provider_id=f"{self.id}-{turn}")
