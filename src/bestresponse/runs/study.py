"""What a study is: the one protocol by which runs are planned, played, measured, reported, replayed and priced.

A study of your own is registered by an entry point; built-in studies stand in the same registry:

    [project.entry-points."bestresponse.studies"]
    my-study = "my_package.my_module:MyStudy"

Subclass `Study` and give `name`, `config`, `specs`, `make_player`, `measure` and `findings`; everything else has a
default. A figure is one `Metric` in `metrics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.registry import Registry
from bestresponse.core.texts import Texts
from bestresponse.games.texts import TEXTS as GAME_TEXTS
from bestresponse.models.base import Model
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures, Metric, compute_figures
from bestresponse.runs.execution import Execution, Outcome, PlayOne, Start, execute
from bestresponse.runs.executors.base import Job
from bestresponse.runs.replay import Replay, recorded_models, replay_plays
from bestresponse.runs.shard import Shard
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.store.lines import read_lines

if TYPE_CHECKING:
    from bestresponse.runs.run import Run

__all__ = ["AnyStudy", "Config", "Estimate", "Results", "Row", "Study", "find_study", "studies"]

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


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes at most, before anything is paid: plays, and by model the calls and their tokens.

    `sure` is False where the number of calls was counted in plays of random players and could be larger; `found` plays
    are recorded already and enter no other figure.
    """

    plays: int | None
    what: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: Mapping[str, int] = field(default_factory=dict)
    reply_tokens: Mapping[str, int] = field(default_factory=dict)
    sure: bool = True
    found: int = 0

    @property
    def total_calls(self) -> int:
        """The calls of all models."""
        return sum(self.calls.values())

    @property
    def total_tokens(self) -> int:
        """The tokens of all models, read and written."""
        return sum(self.prompt_tokens.values()) + sum(self.reply_tokens.values())

    def without(self, found: int) -> Estimate:
        """Return what is still to be done where `found` of the plays are recorded already."""
        if not self.plays or not found:
            return self
        left = max(self.plays - found, 0)

        def scale(counts: Mapping[str, int]) -> dict[str, int]:
            return {name: -(-count * left // (self.plays or 1)) for name, count in counts.items()}

        return replace(
            self,
            found=found,
            calls=scale(self.calls),
            prompt_tokens=scale(self.prompt_tokens),
            reply_tokens=scale(self.reply_tokens),
        )

    def to_json(self) -> JsonObject:
        """Return the estimate as plain JSON data."""
        return {
            "plays": self.plays,
            "found": self.found,
            "calls": self.total_calls,
            "prompt_tokens": sum(self.prompt_tokens.values()),
            "reply_tokens": sum(self.reply_tokens.values()),
            "calls_by_model": dict(self.calls),
            "sure": self.sure,
        }


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

    def make_player(self, config: C, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec. What all plays share is set up here, once a run or worker."""
        ...

    def measure(self, config: C, folder: RunFolder) -> R:
        """Measure every finished play of a stored run. Needs no model."""
        ...

    def findings(self, results: R, run: Run) -> Document:
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

    def extra_files(self, results: R, run: Run) -> Iterable[tuple[Path, str]]:
        """Return further files of a published run besides those that every run leaves, as paths and texts."""
        return ()


studies = Registry(
    "bestresponse.studies",
    "study",
    {
        "bench": "bestresponse.studies.bench.study:BenchStudy",
        "population": "bestresponse.studies.population.study:PopulationStudy",
        "sequential": "bestresponse.studies.bench.sequential.study:SequentialStudy",
        "simulate": "bestresponse.studies.simulate.study:SimulateStudy",
        "steer": "bestresponse.studies.steer.study:SteerStudy",
        "stories": "bestresponse.studies.stories.study:StoriesStudy",
        "tournament": "bestresponse.studies.tournament.study:TournamentStudy",
        "verify": "bestresponse.studies.verify.study:VerifyStudy",
        "water": "bestresponse.studies.water.study:WaterStudy",
    },
)
"""Study classes by name."""


AnyStudy: TypeAlias = Study[Any, Any]
"""A study whatever its settings and results are."""


def find_study(name: str) -> AnyStudy:
    """Return the study of that name; StoreError where none is installed, with the reason where one cannot be loaded."""
    if name not in studies.names():
        raise StoreError(f"runs of {name!r} cannot be read here; known studies: {', '.join(studies.names())}")
    try:
        made = studies.make(name)
    except UsageError as error:
        raise StoreError(str(error)) from None
    if not isinstance(made, Study):
        raise StoreError(f"{studies.describe(name)} is no bestresponse.runs.Study: it lacks some of its methods")
    return made
