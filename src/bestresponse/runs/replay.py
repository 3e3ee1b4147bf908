"""A recorded run played again from its own replies: an audit of rules, prompts and reading that needs no model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bestresponse.core.codec import record_to_json
from bestresponse.core.errors import BestResponseError, NotCached
from bestresponse.core.json import canonical, digest
from bestresponse.models.base import Abilities, Json, Model, Reply, Request
from bestresponse.models.codec import reply_from_json, request_to_json
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.spec import Spec

__all__ = ["Replay", "recorded_models", "replay_plays"]


@dataclass(frozen=True, slots=True)
class Replay:
    """How many plays (or whatever `unit` says) came out the same, and what differs in the others."""

    same: int
    different: tuple[str, ...]
    unit: str = "plays"


@dataclass
class _Recorded:
    """A model that knows only what it was recorded to have said."""

    id: str
    identity: Mapping[str, Json]
    abilities: Abilities
    replies: dict[str, Reply] = field(default_factory=dict)

    def complete(self, request: Request) -> Reply:
        key = digest(request_to_json(request), 64)
        if key not in self.replies:
            raise NotCached("the question differs from every one that was recorded")
        return self.replies[key]


def replay_plays(folder: RunFolder, play_one: PlayOne) -> Replay:
    """Play every finished spec of the run anew by `play_one`, and compare the records."""
    same = 0
    different = []
    for play in folder.plays():
        try:
            record = play_one(Spec(play.spec, play.data), [], lambda submission: None)
        except BestResponseError as error:
            different.append(f"{play.spec}: {error}")
            continue
        if canonical(record_to_json(record)) == canonical(record_to_json(play.record)):
            same += 1
        else:
            different.append(f"{play.spec}: the record differs")
    return Replay(same, tuple(different))


def recorded_models(folder: RunFolder) -> Mapping[str, Model]:
    """The models of a run, each answering only what it was recorded to have answered."""
    replies: dict[str, dict[str, Reply]] = defaultdict(dict)
    for call in folder.calls():
        replies[call["model"]][digest(call["request"], 64)] = reply_from_json(call["reply"])
    return {
        name: _Recorded(bare_name(name), entry["identity"], _abilities(entry["abilities"]), replies[bare_name(name)])
        for name, entry in folder.manifest.models.items()
    }


def _abilities(data: Mapping[str, Any]) -> Abilities:
    return Abilities(**data)
