"""Begin a run or go on with it: open its models, write down what it is, and play what is missing."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from bestresponse.core.errors import ModelUnavailable, StoreError, UsageError
from bestresponse.core.json import JsonMapping, digest
from bestresponse.models.base import Model
from bestresponse.runs.execution import Execution, Progress
from bestresponse.runs.executors.base import Executor, find_executor
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.models import Download, OpenedModels, open_models
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.spec import Shard
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.store.manifest import Manifest, environment
from bestresponse.runs.study import AnyStudy, Study


@dataclass(frozen=True, slots=True)
class Invocation:
    """When and how a run was begun: the command as typed, the time, and the revision of the code."""

    command: tuple[str, ...]
    created: str
    revision: str | None = None


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


C = TypeVar("C", bound=RunSettings)


def launch(study: Study[..., C], config: C) -> Run[C]:
    """Play what is missing of a run, publish it and return it; ModelUnavailable where nothing could be played."""
    run = play_missing(study, config)
    if run.results.rows:
        run.publish()
    elif run.outcome is not None and not run.outcome.complete:
        raise ModelUnavailable(run.outcome.stopped or "; ".join(run.outcome.failures) or "nothing could be played")
    return run


def choose_executor(config: RunSettings) -> Executor:
    """Find where plays are made: in processes where each is to have a copy of a model on this machine."""
    if config.executor == "threads" and config.processes > 1:
        return Processes(config.processes)
    return find_executor(config.executor, config.address) if isinstance(config.executor, str) else config.executor


def play_missing(
    study: Study[..., C],
    config: C,
    *,
    on_download: Download = lambda done, total: None,
    on_opened: Callable[[OpenedModels], None] = lambda opened: None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Run[C]:
    """Open the models of a run and play what is missing; `on_opened` is called before the first play."""
    config = config if study.prepare is None else study.prepare(config)
    folder = Path(config.output_dir)
    with open_models(config.models, folder, config.limits, on_download=on_download) as opened:
        on_opened(opened)
        how = Execution(
            max(opened.workers, config.processes),
            config.part,
            on_progress or config.on_progress or (lambda progress: None),
            choose_executor(config),
            opened.shared if opened.models else None,
        )
        return run_study(study, config, opened.models, folder, how)


def run_study(
    study: AnyStudy,
    config: RunSettings,
    models: Mapping[str, Model],
    output_dir: Path,
    how: Execution | None = None,
    invocation: Invocation | None = None,
) -> Run[Any]:
    """Play what is missing of the run of these settings, in a folder of its own below `output_dir`.

    The same settings find the same folder again. A complete run is marked by a file `finished`. Of a shard only that
    part of the plays is made; `merge_runs` puts the parts together. An executor with workers of its own needs `shared`
    of the models that `open_models` returns.
    """
    how = how or Execution()
    if how.shard is not None and study.count(config) == 0:
        raise UsageError(f"this {study.name} has no plays to share out: leave out --shard")
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    invocation = invocation or Invocation(read_command_line(), now, find_revision())
    manifest = make_manifest(study, config, models, invocation, how.shard)
    path = find_path(study, config, output_dir)
    with RunFolder.open(path, manifest) as folder:
        outcome = study.execute(config, folder, models, how)
        if outcome.complete:
            folder.write_text("finished", manifest.created + "\n")
    return Run(folder, study, outcome)


def find_path(study: AnyStudy, config: RunSettings, output_dir: Path) -> Path:
    """Return the folder of the run of these settings, whether it is there or not."""
    return output_dir / f"{study.name}-{identify_run(study, config)}"


def find_unfinished(output_dir: Path, settings: JsonMapping, without: str = "seed") -> RunFolder | None:
    """Return the newest unfinished run below `output_dir` whose settings differ at most in `without`."""
    wanted = json.loads(json.dumps({name: value for name, value in settings.items() if name != without}))
    found = sorted(output_dir.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime, reverse=True)
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
