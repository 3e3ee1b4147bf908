"""A recorded run played again from its own replies: an audit of rules, prompts and reading that needs no model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core.codec import record_to_json
from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonObject, canonical
from bestresponse.models.base import Abilities, Model
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder


@dataclass(frozen=True, slots=True)
class Replay:
    """How many plays (or whatever `unit` says) came out the same, and what differs in the others."""

    same: int
    different: tuple[str, ...]
    unit: str = "plays"


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
    """Return the models of a run, each answering only what it was recorded to have answered."""
    calls: dict[str, list[JsonObject]] = defaultdict(list)
    for call in folder.calls():
        calls[call["model"]].append(call)
    return {
        name: RecordedModel(bare_name(name), entry["identity"], Abilities(**entry["abilities"]), calls[bare_name(name)])
        for name, entry in folder.manifest.models.items()
    }
