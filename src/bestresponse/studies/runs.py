"""Runs of any study in an output folder: found by their settings, so that the same command goes on with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.store.run_folder import RunFolder

__all__ = ["find_run", "unfinished_like"]


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
