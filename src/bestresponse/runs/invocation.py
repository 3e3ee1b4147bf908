"""Runs of any study: described before the first play, found again by their settings in an output folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import digest
from bestresponse.core.texts import Texts
from bestresponse.games.texts import TEXTS as GAME_TEXTS
from bestresponse.models.base import Model
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.manifest import Manifest, environment

__all__ = ["Occasion", "find_run", "new_manifest", "settings_of", "unfinished_like"]


@dataclass(frozen=True, slots=True)
class Occasion:
    """When and how a run was begun: the command as typed, the time, and the revision of the code."""

    command: tuple[str, ...]
    created: str
    revision: str | None = None


def new_manifest(
    study: str,
    config: Mapping[str, Any],
    models: Mapping[str, Model],
    occasion: Occasion,
    texts: Iterable[Texts] = (GAME_TEXTS, PLAYER_TEXTS),
) -> Manifest:
    """What is written down before the first play. The run's id is the hash of the study and its settings."""
    prompts = {f"{each.package.removeprefix('bestresponse.')}/{name}": digits for each in texts
               for name, digits in each.hashes().items()}  # fmt: skip
    who = {
        name: {"identity": dict(model.identity), "abilities": asdict(model.abilities)} for name, model in models.items()
    }
    return Manifest(
        digest({"study": study, "config": config}, 12),
        study,
        config,
        occasion.command,
        occasion.created,
        environment(occasion.revision),
        prompts,
        who,
    )


def settings_of(folder: RunFolder, study: str) -> Mapping[str, Any]:
    """The settings of a stored run as they were written down; StoreError where the run is of another study."""
    if folder.manifest.study != study:
        raise StoreError(f"{folder.path} holds a run of {folder.manifest.study}, not of {study}")
    return folder.manifest.config


def find_run(given: Path) -> RunFolder:
    """The run in that folder, or the newest one among the runs below it."""
    if (given / "manifest.json").exists():
        return RunFolder.read(given)
    below = sorted(given.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime)
    if not below:
        raise UsageError(f"{given} holds no run; a run is a folder with a manifest.json, as `bench` makes it")
    return RunFolder.read(below[-1].parent)


def unfinished_like(output: Path, config: Mapping[str, Any], without: str = "seed") -> RunFolder | None:
    """The newest unfinished run below `output` whose settings differ from `config` at most in `without`."""
    wanted = json.loads(json.dumps({name: value for name, value in config.items() if name != without}))
    found = sorted(output.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found:
        if (path.parent / "finished").exists():
            continue
        try:
            folder = RunFolder.read(path.parent)
        except StoreError:
            continue
        if {name: value for name, value in folder.manifest.config.items() if name != without} == wanted:
            return folder
    return None
