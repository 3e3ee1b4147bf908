"""Studies that are still written as classes.

A study of your own is registered by an entry point; built-in studies stand in the same registry:

    [project.entry-points."bestresponse.studies"]
    my-study = "my_package.my_module:MyStudy"

Subclass `Study` and give `name`, `config`, `specs`, `make_player`, `measure` and `findings`; everything else has a
default. A figure is one `Metric` in `metrics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.texts import Texts
from bestresponse.games.texts import TEXTS as GAME_TEXTS
from bestresponse.models.base import Model
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures, Metric, compute_figures
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import Execution, Outcome, PlayOne, Start, execute
from bestresponse.runs.executors.base import Job
from bestresponse.runs.replay import Replay, recorded_models, replay_plays
from bestresponse.runs.shard import Shard
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.store.lines import read_lines

if TYPE_CHECKING:
    from bestresponse.runs.run import Run

__all__ = ["Config", "Results", "Row", "Study"]

Row = Mapping[str, object]
"""One row of a study's table; each study types its own as a TypedDict."""


class Config(Protocol):
    """All settings of a run that can change a number. Two runs with equal settings are the same run."""

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that are asked, each once."""
        ...

    def to_json(self) -> JsonObject:
        """Return the settings as plain JSON data."""
        ...

    @classmethod
    def from_json(cls, data: JsonMapping) -> Self:
        """Read the settings back from `to_json`."""
        ...


class Results(Protocol):
    """What a study measured: typed rows, and a summary as plain JSON data. `answered` counts plays with a result."""

    @property
    def rows(self) -> Sequence[Row]:
        """One row for each thing that was measured."""
        ...

    @property
    def summary(self) -> JsonObject:
        """The figures of the run as plain data."""
        ...

    @property
    def answered(self) -> int:
        """How many plays had an answer."""
        ...


C = TypeVar("C", bound=Config)
R = TypeVar("R", bound=Results)


@runtime_checkable
class Study(Protocol[C, R]):
    """An experiment: which plays to make, how to make one, what to measure, what was found."""

    name: ClassVar[str]
    config: type[C]
    unit: str = "plays"
    """What one spec is called in progress bars and sentences."""
    texts: tuple[Texts, ...] = (GAME_TEXTS, PLAYER_TEXTS)
    """The prompts and rules whose hashes go into the manifest."""
    metrics: tuple[Metric[Any], ...] = ()
    """The figures of a run: its main table, `figures` of its summary, figures.csv, and the page of all figures."""

    def specs(self, config: C) -> Iterator[Spec]:
        """Yield every play of a run as plain data."""
        ...

    def list_specs(self, config: C) -> Iterator[Spec]:
        """Yield every play with its id."""
        return self.specs(config)

    def make_player(self, config: C, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec. What all plays share is set up here, once a run or worker."""
        ...

    def measure(self, config: C, folder: RunFolder) -> R:
        """Measure every finished play of a stored run. Needs no model."""
        ...

    def findings(self, results: R, run: Run[Any]) -> Document:
        """Build the report of what was measured."""
        ...

    def figures(self, results: R) -> Figures:
        """Compute the metrics for every group of results; here for all rows together."""
        return compute_figures(self.metrics, ("study",), {(self.name,): results.rows})

    def estimate(self, config: C) -> Estimate:
        """Say what a run takes at most, before anything is paid."""
        return Estimate(self.count(config))

    def estimate_missing(self, config: C, models: Mapping[str, Model], path: Path) -> Estimate:
        """Say what is still to be done of the run whose folder is (or will be) `path`."""
        rows = read_lines(path / "records.jsonl") if (path / "records.jsonl").exists() else ()
        return self.estimate(config).without(len({row["spec"] for row in rows}))

    def count(self, config: C) -> int | None:
        """Count the plays of a run; None where that is not settled beforehand."""
        return sum(1 for _ in self.specs(config))

    def game(self, config: C, data: JsonMapping) -> AnyGame | None:
        """Return the game that a play was of, by the data of its spec; None where it was of none."""
        return None

    def execute(self, config: C, folder: RunFolder, models: Mapping[str, Model], how: Execution) -> Outcome:
        """Play what is missing."""
        return execute(
            how.choose(self.specs(config)),
            self.start(config, models, how),
            folder,
            total=self.count_part(config, how.shard),
            on_progress=how.on_progress,
        )

    def start(self, config: C, models: Mapping[str, Model], how: Execution) -> Start:
        """Return what makes the plays, for `execute`."""
        return partial(how.executor.play, Job(self, config, models, how.workers, how.shared))

    def count_part(self, config: C, shard: Shard | None) -> int | None:
        """Count the plays of a part of a run; None where that is not settled beforehand."""
        if shard is None:
            return self.count(config)
        return sum(shard.holds(spec.id) for spec in self.specs(config))

    def replay(self, config: C, folder: RunFolder) -> Replay:
        """Play every finished spec again from its recorded replies, and compare the records."""
        return replay_plays(folder, self.make_player(config, recorded_models(folder)))

    def find_calls(self, folder: RunFolder) -> Path:
        """Return the file in which the calls of the run are kept, one a line."""
        return folder.path / "calls.jsonl"

    def extra_files(self, results: R, run: Run[Any]) -> Iterable[tuple[Path, str]]:
        """Return further files of a published run besides those that every run leaves, as paths and texts."""
        return ()
