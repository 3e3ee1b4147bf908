"""A run: begun, gone on with, or stored.

Its settings, rows, summary, report and costs, whatever study it is of.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from bestresponse.core.errors import (
    BestResponseError,
    ModelUnavailable,
    SettingError,
    StoreError,
    UsageError,
)
from bestresponse.core.game import AnyGame
from bestresponse.models.base import ModelsByName
from bestresponse.report import page, tables
from bestresponse.report.document import Document
from bestresponse.report.exporting import write_figures
from bestresponse.report.figures import charts
from bestresponse.report.files import write_bytes, write_text
from bestresponse.report.frames import Frame, MetricTable, Row
from bestresponse.runs.execution import Execution, Outcome, Progress, Threads
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.models import Download, OpenedModels, open_models
from bestresponse.runs.reporting.plays import write_plays
from bestresponse.runs.reporting.results import ResultRow, list_results
from bestresponse.runs.reporting.sections import CallTotals, count_calls, price_by_model, sum_money
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.store.folder import (
    Manifest,
    RunFolder,
    Shard,
    environment,
    identify_settings,
    read_lines,
)
from bestresponse.runs.study import AnyStudy, Measured, Replay, Study, find_study

if TYPE_CHECKING:
    import pandas


C = TypeVar("C", bound=RunSettings)
C_co = TypeVar("C_co", bound=RunSettings, covariant=True)
_MOST_ROWS = 500_000
"""A longer frame is not written again as CSV and Parquet: the records hold it, and writing it takes
minutes."""
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Run(Generic[C_co]):
    """A run of a study.

    `outcome` says how it ended where it was run just now; None for a run that was loaded.
    """

    def __init__(
        self,
        folder: RunFolder,
        study: AnyStudy,
        outcome: Outcome | None = None,
    ) -> None:
        self.folder = folder
        self.study = study
        self.outcome = outcome
        self._document: Document | None = None

    def __repr__(self) -> str:
        return f"Run({self.study.name!r}, {str(self.path)!r})"

    def _repr_html_(self) -> str:
        return page.embed_page(self.report())

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path

    @property
    def manifest(self) -> Manifest:
        """What the run was."""
        return self.folder.manifest

    @cached_property
    def config(self) -> C_co:
        """The settings, as the study's own configuration."""
        try:
            return cast(C_co, self.study.config.from_json(self.manifest.config))
        except (UsageError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(
                f"{self.path} holds settings that {self.study.name} cannot read: {error}"
            ) from None

    @cached_property
    def results(self) -> Measured:
        """What the study measures in the finished plays."""
        with self._blame_files():
            measured: Measured = self.study.measure(self.config, self.folder)
        return measured

    @cached_property
    def metrics(self) -> MetricTable:
        """The metrics of the study, computed for its players, seats or settings."""
        with self._blame_files():
            return self.study.tabulate(self.results)

    @cached_property
    def total(self) -> int | None:
        """How many plays the run will have; None where that is not settled beforehand."""
        part = self.manifest.shard
        with self._blame_files():
            return self.study.count_part(self.config, None if part is None else Shard.parse(part))

    @property
    def answered(self) -> int:
        """How many plays have a result."""
        return self.results.answered

    @property
    def stopped(self) -> str:
        """Why the run ended early; empty where it did not, or where nobody knows."""
        ended = self.outcome or Outcome()
        return ended.stopped or self.results.stopped

    @property
    def complete(self) -> bool:
        """Whether every play is there, with every answer that it needs."""
        if self.outcome is not None:
            return self.outcome.complete and not self.stopped and self.folder.finished_whole
        if not self.folder.finished_whole:
            return False
        # Only a study without a list of plays has to measure what is missing.
        return not self.missing if self._has_plan else not self.stopped

    @property
    def _has_plan(self) -> bool:
        return next(iter(self.study.list_specs(self.config)), None) is not None

    @property
    def missing(self) -> int:
        """How many of the planned plays have no record; 0 where none are planned."""
        if self.total is None or not self._has_plan:
            return 0
        return max(self.total - len(self.folder.finished()), 0)

    @property
    def frames(self) -> Mapping[str, Frame[Any]]:
        """The named tables that the study measured, the main one first."""
        return self.results.frames

    def frame(self, name: str) -> Frame[Any]:
        """Return the frame of that name; an empty one where nothing of the kind was measured."""
        return self.frames[name] if name in self.frames else Frame(dict, [])

    def rows(self) -> Sequence[Row]:
        """Return one row for each measured play or answer."""
        return self.results.rows

    def summary(self) -> dict[str, object]:
        """Return the metrics of the run as plain JSON data."""
        about = {
            "run": self.manifest.run,
            "study": self.study.name,
            "folder": self.path.name,
            "shard": self.manifest.shard,
        }
        metrics = {"metrics": self.metrics.to_json()} if self.metrics.columns else {}
        ended = {"complete": self.complete, "costs": [total.to_json() for total in self.costs]}
        return about | self.results.summary | metrics | ended

    def to_pandas(self) -> pandas.DataFrame:
        """Return the main frame as a pandas data frame."""
        return next(iter(self.frames.values())).to_pandas()

    def report(self) -> Document:
        """Return the report of the measured results.

        Raises StoreError where there is nothing to report.
        """
        if not self.results.rows:
            raise StoreError(f"{self.path.name} holds no finished play yet")
        with self._blame_files():
            document = self._document or self.study.findings(self.results, self)
        self._document = document
        return document

    def publish(self) -> list[Path]:
        """Write the files that every run leaves into its folder, and return them, the report first.

        report.html  report.json   the report as a page and as data
        summary.json               the metrics and the short frames
        metrics.csv                the metrics alone, one row for each player, seat or setting
        results.csv                the same, one row for each number: metric, direction, interval
        FRAME.csv  FRAME.parquet   every frame of the study (Parquet where pyarrow is installed)
        plays.html  plays/         every play with what was asked and said, to read one by one
        """
        with self._blame_files():
            plays = write_plays(self)
            texts = {
                "report.html": page.render(self.report(), plays[0].name if plays else ""),
                "report.json": self.report_as_json(),
                "summary.json": self.summary_as_json() + "\n",
            }
            if self.metrics.columns:
                texts["metrics.csv"] = tables.to_csv(self.metrics.to_rows())
                texts["results.csv"] = Frame(ResultRow, list_results(self)).to_csv()
            written = [self.folder.write_text(name, text) for name, text in texts.items()]
            for name, frame in self.frames.items():
                if 0 < len(frame) <= _MOST_ROWS:
                    written.append(self.folder.write_text(f"{name}.csv", frame.to_csv()))
                    if find_spec("pyarrow"):
                        written.append(
                            write_bytes(self.path / f"{name}.parquet", frame.to_parquet())
                        )
            more = self.study.own.more_files(self.results, self)
            return [*written, *plays, *(write_text(path, text) for path, text in more)]

    def write_figures(self, folder: str | Path) -> list[Path]:
        """Write every figure of the report as SVG and PDF and every table as LaTeX and Markdown."""
        self.report()
        with self._blame_files(), charts.keep_pdfs() as pdfs:
            document = self.study.findings(self.results, self)
        return write_figures(document, pdfs, Path(folder))

    def replay(self) -> Replay:
        """Play the run again from its recorded replies, without any model, and compare."""
        with self._blame_files():
            return self.study.replay(self.config, self.folder)

    def game(self, data: Mapping[str, object]) -> AnyGame | None:
        """Return the game that a play was of, by the data of its spec."""
        return self.study.game(self.config, data)

    @cached_property
    def costs(self) -> tuple[CallTotals, ...]:
        """Calls, tokens, seconds and dollars of every model."""
        with self._blame_files():
            return count_calls(
                read_lines(self.study.own.locate_calls(self.folder)), price_by_model(self.manifest)
            )

    @property
    def money(self) -> float | None:
        """What all calls cost in US dollars; None where a price is not known."""
        return sum_money(self.costs)

    @contextmanager
    def _blame_files(self) -> Iterator[None]:
        """Raise StoreError if a loaded run holds records that its study cannot use.

        Damaged files may hold such records.
        """
        try:
            yield
        except _DAMAGE as error:
            if self.outcome is not None or isinstance(error, BestResponseError):
                raise
            what = f"{type(error).__name__}: {error}"
            raise StoreError(
                f"{self.path} holds records that {self.study.name} cannot use ({what[:200]})"
            ) from error

    def report_as_json(self) -> str:
        """Return the report as JSON text."""
        return self.report().to_json()

    def summary_as_json(self) -> str:
        """Return the summary as JSON text."""
        return json.dumps(self.summary(), indent=2, ensure_ascii=False)


def load_run(path: str | Path) -> Run[RunSettings]:
    """Load the run in that folder, or the newest one among the runs below it."""
    folder = find_folder(Path(path))
    return Run(folder, find_study(folder.manifest.study))


def explain_no_run(path: Path, command: str = "bench") -> str:
    """Say why no run can be loaded from `path`, and which command writes one."""
    expected = f"a run is a folder with a manifest.json, as `{command}` writes it"
    if not path.exists():
        return f"there is no folder {path}; {expected}"
    return f"{path} {'contains no run' if path.is_dir() else 'is a file'}; {expected}"


def find_folder(path: Path) -> RunFolder:
    """Return that folder of a run, or the newest one below it."""
    if (path / "manifest.json").exists():
        return RunFolder.read(path)
    below = list_manifests(path)
    if not below:
        raise UsageError(explain_no_run(path))
    return RunFolder.read(below[0].parent)


def list_manifests(folder: Path) -> list[Path]:
    """List the manifests of the runs below a folder, the newest first."""
    return sorted(
        folder.glob("*/manifest.json"),
        key=lambda path: (read_time(path), path),
        reverse=True,
    )


def read_time(path: Path) -> float:
    """Return when a file was last changed, 0 where it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@dataclass(frozen=True, slots=True)
class Invocation:
    """When and how a run was begun: the command as typed, the time, the code's revision."""

    command: tuple[str, ...]
    created: str
    revision: str | None = None


def read_command_line() -> tuple[str, ...]:
    """Return the command as it can be typed again, the program by its short name.

    The user's own folder is `~`: runs are shared, and its name is that of a person.
    """
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    home = f"{Path.home()}/"
    words = []
    for word in sys.argv[1:]:
        short = word.removeprefix(home)
        words.append(shlex.quote(word) if short == word else f"~/{shlex.quote(short)}")
    return (program, *words)


@cache  # the code that runs does not change any more
def find_revision() -> str | None:
    """Return the git revision where the code runs from a checkout; None where it is installed."""
    folder = Path(__file__).resolve().parents[3]
    if not (folder / ".git").exists():
        return None
    try:
        command = [
            "git",
            "-C",
            str(folder),
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
        ]
        done = subprocess.run(
            command,
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
    return identify_settings(study.name, config.to_json())


def make_manifest(
    study: AnyStudy,
    config: RunSettings,
    models: ModelsByName,
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
    identities = {
        name: {"identity": dict(model.identity), "abilities": asdict(model.abilities)}
        for name, model in models.items()
    }
    return Manifest(
        identify_run(study, config),
        study.name,
        config=settings,
        command=invocation.command,
        created=invocation.created,
        environment=environment(invocation.revision),
        prompts=prompts,
        models=identities,
        shard=None if shard is None else str(shard),
    )


def launch(study: Study[..., C], config: C) -> Run[C]:
    """Play what is missing of a run, publish it and return it.

    ModelUnavailable where nothing could be played.
    """
    run = play_missing(study, config)
    ended = run.outcome or Outcome()
    reason = run.stopped or "; ".join(ended.failures) or "nothing could be played"
    if run.results.rows:
        run.publish()
    elif not run.complete:
        raise ModelUnavailable(reason)
    if not run.complete:
        numbers = (
            f"these numbers are of {run.answered} answers, and the same call plays what is missing"
        )
        warnings.warn(f"not everything was played ({reason}): {numbers}", stacklevel=3)
    elif not run.answered:
        warnings.warn(f"no play of {run.path} has a result to compute metrics from", stacklevel=3)
    return run


def play_missing(
    study: Study[..., C],
    config: C,
    *,
    on_download: Download = lambda done, total: None,
    on_opened: Callable[[OpenedModels], None] = lambda opened: None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Run[C]:
    """Open the models of a run and play what is missing.

    `on_opened` is called before the first play.
    """
    config = config if study.prepare is None else study.prepare(config)
    folder = Path(config.output_dir)
    with open_models(
        config.models,
        folder,
        config.limits,
        on_download=on_download,
    ) as opened:
        on_opened(opened)
        how = Execution(
            max(opened.workers, config.processes),
            config.part,
            on_progress or config.on_progress or (lambda progress: None),
            Processes(config.processes) if config.processes > 1 else Threads(),
            opened.shared if opened.models else None,
        )
        return run_study(study, config, opened.models, folder, how)


def run_study(
    study: Study[..., C],
    config: C,
    models: ModelsByName,
    output_dir: Path,
    how: Execution | None = None,
    invocation: Invocation | None = None,
) -> Run[C]:
    """Play what is missing of the run of these settings, in a folder of its own below `output_dir`.

    The same settings find the same folder again. A complete run is marked by a file `finished`. Of
    a shard only that part of the plays is made; `merge_runs` puts the parts together. An executor
    with workers of its own needs `shared` of the models that `open_models` returns.
    """
    how = how or Execution()
    if how.shard is not None and next(study.list_specs(config), None) is None:
        raise SettingError("shard", f"this {study.name} has no plays to share out; leave it out")
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    invocation = invocation or Invocation(read_command_line(), now, find_revision())
    manifest = make_manifest(study, config, models, invocation, how.shard)
    path = find_path(study, config, output_dir)
    with RunFolder.open(path, manifest) as folder:
        outcome = study.execute(config, folder, models, how)
        if outcome.complete:
            folder.mark_finished(outcome.played)
    return Run(folder, study, outcome)


def find_path(study: AnyStudy, config: RunSettings, output_dir: Path) -> Path:
    """Return the folder of the run of these settings, whether it is there or not."""
    return output_dir / f"{study.name}-{identify_run(study, config)}"


def find_unfinished(output_dir: Path, settings: Mapping[str, object]) -> RunFolder | None:
    """Return the newest unfinished run below `output_dir` with these settings.

    Its settings differ at most in the seed.
    """
    wanted = json.loads(
        json.dumps({name: value for name, value in settings.items() if name != "seed"})
    )
    for path in list_manifests(output_dir):
        if (path.parent / "finished").exists():
            continue
        try:
            folder = RunFolder.read(path.parent)
        except StoreError:
            continue
        if {
            name: value for name, value in folder.manifest.config.items() if name != "seed"
        } == wanted:
            return folder
    return None
