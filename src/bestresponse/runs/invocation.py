"""How a run was begun: the command, the time, the revision of the code; and the manifest made from it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from bestresponse.core.json import digest
from bestresponse.models.base import Model
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.shard import Shard
from bestresponse.runs.store.manifest import Manifest, environment
from bestresponse.runs.study import AnyStudy


@dataclass(frozen=True, slots=True)
class Invocation:
    """When and how a run was begun: the command as typed, the time, and the revision of the code."""

    command: tuple[str, ...]
    created: str
    revision: str | None = None


def current_invocation() -> Invocation:
    """Describe this process, now."""
    return Invocation(read_command_line(), datetime.now().astimezone().isoformat(timespec="seconds"), find_revision())


def read_command_line() -> tuple[str, ...]:
    """Return the command as it can be typed again, the program by its short name."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    return (program, *(shlex.quote(word) for word in sys.argv[1:]))


def find_revision() -> str | None:
    """Return the git revision where the code runs from a checkout; None where it is installed."""
    folder = Path(__file__).resolve().parents[3]
    if not (folder / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def identify_run(study: AnyStudy, config: RunSettings) -> str:
    """Return the id of a run: the hash of its study and settings."""
    return digest({"study": study.name, "config": config.to_json()}, 12)


def make_manifest(
    study: AnyStudy,
    config: RunSettings,
    models: Mapping[str, Model],
    invocation: Invocation,
    shard: Shard | None = None,
) -> Manifest:
    """Write down what a run is before its first play."""
    settings = config.to_json()
    prompts = {
        f"{texts.package.removeprefix('bestresponse.')}/{name}": digits
        for texts in study.texts
        for name, digits in texts.hashes().items()
    }
    who = {
        name: {"identity": dict(model.identity), "abilities": asdict(model.abilities)} for name, model in models.items()
    }
    return Manifest(
        identify_run(study, config),
        study.name,
        settings,
        invocation.command,
        invocation.created,
        environment(invocation.revision),
        prompts,
        who,
        shard=None if shard is None else str(shard),
    )
