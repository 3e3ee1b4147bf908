"""What a study is: settings, plays, measures, metrics and a report, as data.

From one `Study` come the command with its options and help, the Python function with its types (the
study is called with its settings and returns a `Run`), the TOML of `bestresponse run`, the
manifest, the page, the terminal, a CSV and a Parquet file for each frame, the summary, the
leaderboard and the comparison of runs:

    consistency = Study(
        "consistency",
        ConsistencyConfig,                     # a class of settings, see `runs.settings`
        specs=list_plays,                      # what to play, as plain data
        play=prepare,                          # returns the function that plays one spec
        measure=measure,                       # records -> frames
        metrics=(Metric("kept", ...),),
        report=(metrics_table("How often"), table("plays", title="The plays")),
    )

    [project.entry-points."bestresponse.studies"]
    consistency = "my_package:consistency"

A package adds a metric to a study of another by the entry point `STUDY.NAME` of the group
`bestresponse.metrics`.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from inspect import getdoc, signature
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

from bestresponse.core.codec import record_to_json
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, StoreError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, JsonObject, canonical
from bestresponse.core.registry import Registry
from bestresponse.core.texts import Texts
from bestresponse.models.base import Abilities, Model, ModelsByName
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.players.llm.verified import bare_name
from bestresponse.report.blocks import ReportBlock, build_sections, fill_template, table
from bestresponse.report.document import Document
from bestresponse.report.frames import Frame, Heads, Metric, MetricTable, Row, compute_metrics
from bestresponse.runs.execution import Execution, Job, KeepAnswer, Outcome, PlayOne, Start, execute
from bestresponse.runs.reporting.sections import costs_section, method_section
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.store.folder import RunFolder, Shard, Spec, StoredPlay, read_lines
from bestresponse.telling.catalogues import CATALOGUES

if TYPE_CHECKING:
    from bestresponse.runs.run import Run


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes at most, before anything is paid.

    This is the number of plays, and by model the calls and their tokens.

    `sure` is False where the number of calls was counted in plays of random players and could be
    larger; `found` plays are recorded already and enter no other metric.
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

    @classmethod
    def of_calls(
        cls,
        plays: int | None,
        what: str,
        calls: Mapping[str, int],
        prompt: int,
        reply: int,
        *,
        sure: bool = True,
    ) -> Estimate:
        """Estimate calls each of which reads and writes so many tokens."""
        return cls(
            plays,
            what,
            calls,
            prompt_tokens={name: count * prompt for name, count in calls.items()},
            reply_tokens={name: count * reply for name, count in calls.items()},
            sure=sure,
        )

    @classmethod
    def add(cls, parts: Sequence[Estimate], what: str) -> Estimate:
        """Add up the estimates of the parts of a run."""

        def total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
            sums: Counter[str] = Counter()
            for count in counts:
                sums.update(count)
            return dict(sums)

        return cls(
            plays=sum(part.plays or 0 for part in parts),
            what=what,
            calls=total(part.calls for part in parts),
            prompt_tokens=total(part.prompt_tokens for part in parts),
            reply_tokens=total(part.reply_tokens for part in parts),
            sure=all(part.sure for part in parts),
        )

    def without(self, recorded: int) -> Estimate:
        """Return what is still to be done where so many of the plays are `recorded` already."""
        if not self.plays or not recorded:
            return self
        share = Fraction(max(self.plays - recorded, 0), self.plays)

        def scale(counts: Mapping[str, int]) -> dict[str, int]:
            return {name: ceil(count * share) for name, count in counts.items()}

        return replace(
            self,
            found=recorded,
            calls=scale(self.calls),
            prompt_tokens=scale(self.prompt_tokens),
            reply_tokens=scale(self.reply_tokens),
        )

    def to_json(self) -> dict[str, object]:
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


P = ParamSpec("P")
C = TypeVar("C", bound=RunSettings)
_MOST_SUMMARISED = 200
"""Frames with more rows than this are not repeated in summary.json; their own files hold them."""


@dataclass(frozen=True)
class Measured:
    """What a study measured: its frames, the main one first, and its groups.

    Its metrics are computed of these groups.

    `answered` counts the plays with a result. `labels` name what distinguishes the groups, such as
    model and way of asking; `metrics` replace those of the study where their titles depend on the
    run. `stopped` says why not everything could be measured, empty where it could.
    """

    frames: Mapping[str, Frame[Any]]
    answered: int
    labels: tuple[str, ...] = ()
    groups: Mapping[Heads, Any] = field(default_factory=dict)
    metrics: Sequence[Metric[Any]] | None = None
    stopped: str = ""

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the main frame."""
        return next(iter(self.frames.values())).rows

    @property
    def summary(self) -> dict[str, object]:
        """Every frame that is short enough to be read, as plain data."""
        summary: dict[str, object] = {"answered": self.answered}
        for name, frame in self.frames.items():
            if len(frame) <= _MOST_SUMMARISED:
                summary[name] = frame.to_json()
        return summary


@dataclass(frozen=True, slots=True)
class GameValue:
    """What a player got in one game by one metric, to be compared with another run.

    `player` is the name of its group, `game` tells the game from all others in any run, and `part`
    is what was asked about it, such as the seat. `most` is the farthest that two such values can
    lie apart in this game; None where no bound is known.
    """

    player: Heads
    metric: str
    game: str
    part: str
    value: float
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of a play: what its worst answer lost, and further facts.

    The loss is None if it is not known. Facts, such as the solution of its game, are names and
    words.
    """

    loss: float | None = None
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Replay:
    """How many plays (or whatever `unit` says) were the same, and how the others differ."""

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


def recorded_models(folder: RunFolder) -> ModelsByName:
    """Return the models of a run, each answering only what it was recorded to have answered."""
    calls: dict[str, list[JsonObject]] = defaultdict(list)
    for call in folder.calls():
        calls[call["model"]].append(call)
    models: dict[str, Model] = {}
    for name, entry in folder.manifest.models.items():
        bare = bare_name(name)
        abilities = Abilities(**entry["abilities"])
        models[name] = RecordedModel(bare, entry["identity"], abilities, calls[bare])
    return models


_ANSWERS = table("answers", title="How the answers were read")
"""Ends the report of every study that has a frame of answers, see `runs.reporting.answers`."""


def refuse_to_play(
    spec: Spec,
    done: list[Submission],
    keep: KeepAnswer,
) -> Record:
    """Raise UsageError: what the study does is no play of a game."""
    raise UsageError("a run of this study has no plays of its own; it is made and read as a whole")


@dataclass(frozen=True)
class ComparedBy(Generic[C]):
    """By what two runs of a study are compared.

    `values` yields what players got game by game, and `tested` names the metrics whose differences
    are tested. `together` makes a table of several runs, with its title, where it applies.
    """

    values: Callable[[C, Measured], Iterable[GameValue]] = lambda config, measured: ()
    tested: Sequence[str] = ()
    together: Callable[[Sequence[Run[C]]], tuple[str, Frame[Any]] | None] = lambda runs: None


@dataclass(frozen=True)
class OwnWays(Generic[C]):
    """What only few studies do in a way of their own.

    `closing`, a template, is a sentence below the tables on the terminal. `judge` says what plays
    lost and what the solutions were, for the page of single plays; without it their games are
    solved. `most_unasked` limits the answers that this page lists where no model was asked.
    `more_files` are written beside the report. Where a study has no plays of its own,
    `estimate_rest` says what is left to do of a run, `locate_calls` finds the calls it made, and
    `repeat_run` makes it again from recorded replies.
    """

    closing: str = ""
    judge: Callable[[C, Sequence[StoredPlay]], Sequence[Judgement]] | None = None
    most_unasked: int | None = None
    more_files: Callable[[Measured, Run[C]], Iterable[tuple[Path, str]]] = lambda measured, run: ()
    estimate_rest: Callable[[C, ModelsByName, Path], Estimate] | None = None
    locate_calls: Callable[[RunFolder], Path] = lambda folder: folder.path / "calls.jsonl"
    repeat_run: Callable[[C, RunFolder], Replay] | None = None


@dataclass(frozen=True)
class Study(Generic[P, C]):
    """An experiment as data. Call it with its settings to run it.

    `specs` yields every play as plain data, `play` sets up what all plays share and returns the
    function that makes one, `measure` reads the finished plays of a folder. `title` and `subtitle`
    are templates over `config`. `command` are the words of its command where it has one of its own
    besides `run`. `tables` of its report are shown on the terminal; a function says how many where
    that depends on the settings. `prepare` settles what the settings leave open before a run
    begins, such as a seed or a strategy that is still in words. `count_plays` counts the specs
    where that is quicker than listing them, `estimate_calls` says what a run takes, and `make_run`
    replaces how plays are made where a study has no specs. `compared` says by what two runs are
    compared, and `own` holds what few studies do in a way of their own.
    """

    name: str
    settings: Callable[P, C]
    measure: Callable[[C, RunFolder], Measured]
    report: Sequence[ReportBlock]
    specs: Callable[[C], Iterable[JsonMapping]] = lambda config: ()
    play: Callable[[C, ModelsByName], PlayOne] = lambda config, models: refuse_to_play
    metrics: Sequence[Metric[Any]] = ()
    title: str = ""
    subtitle: str = ""
    command: str = ""
    unit: str = "plays"
    tables: int | Callable[[C], int] = 1
    texts: tuple[Texts, ...] = (CATALOGUES, PLAYER_TEXTS)
    game: Callable[[C, JsonMapping], AnyGame | None] = lambda config, data: None
    prepare: Callable[[C], C] | None = None
    count_plays: Callable[[C], int | None] | None = None
    estimate_calls: Callable[[C], Estimate] | None = None
    make_run: Callable[[C, RunFolder, ModelsByName, Execution], Outcome] | None = None
    compared: ComparedBy[C] = field(default_factory=lambda: ComparedBy())
    own: OwnWays[C] = field(default_factory=lambda: OwnWays())

    def __post_init__(self) -> None:
        """Let `help` and notebooks show what the study does, and its settings."""
        called = signature(self.settings).replace(return_annotation="Run")
        explained = f"`bestresponse run {self.name} --help` explains the settings"
        doc = f"{getdoc(self.settings)}\n\n{explained}: {', '.join(called.parameters)}."
        object.__setattr__(self, "__signature__", called)
        object.__setattr__(self, "__doc__", doc)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Run[C]:
        """Run the study and return its run; the arguments are the fields of its settings."""
        from bestresponse.runs.run import launch

        config = self.settings(*args, **kwargs)
        return launch(self, config)

    def __repr__(self) -> str:
        return f"Study({self.name!r})"

    @property
    def config(self) -> type[C]:
        """The class of its settings."""
        return self.settings  # type: ignore[return-value]

    @cached_property
    def all_metrics(self) -> tuple[Metric[object], ...]:
        """Its own metrics and those that packages add.

        One that cannot be used is named in a warning and left out.
        """
        known = {metric.name: metric for metric in self.metrics}
        for entry in metrics.names():
            if entry.partition(".")[0] != self.name:
                continue
            try:
                metric = metrics.load(entry)
                if not isinstance(metric, Metric):
                    raise UsageError(f"{metrics.describe(entry)} is left out: it is no Metric")
                if metric.name in known:
                    raise UsageError(
                        f"{metrics.describe(entry)} is left out: there is one of that name"
                    )
            except UsageError as error:
                warnings.warn(str(error), stacklevel=2)
            else:
                known[metric.name] = metric
        return tuple(known.values())

    def count_tables(self, config: C) -> int:
        """Count the tables of the report that are shown on the terminal."""
        return self.tables(config) if callable(self.tables) else self.tables

    def list_specs(self, config: C) -> Iterator[Spec]:
        """Yield every play with its id."""
        return map(Spec.of, self.specs(config))

    def tabulate(self, measured: Measured) -> MetricTable:
        """Compute the metrics for every group."""
        chosen = self.all_metrics if measured.metrics is None else measured.metrics
        return compute_metrics(tuple(chosen), measured.labels, measured.groups)

    def findings(self, measured: Measured, run: Run[C]) -> Document:
        """Build the report.

        It has the blocks of the study, then what calls cost and how the run was made.
        """
        opening, sections = build_sections((*self.report, _ANSWERS), run)
        costs = costs_section(run.costs)
        if costs:
            sections = (*sections, costs)

        subtitle = fill_template(self.subtitle, run)
        if run.manifest.shard is not None:
            subtitle += f" (part {run.manifest.shard} of the run only)"
        return Document(
            title=fill_template(self.title, run),
            subtitle=subtitle,
            sections=(*sections, method_section(run.manifest)),
            opening=opening,
            footer=run.manifest.footer,
        )

    def estimate(self, config: C) -> Estimate:
        """Say what a run takes at most, before anything is paid."""
        if self.estimate_calls is None:
            return Estimate(self.count(config))
        return self.estimate_calls(config)

    def estimate_missing(
        self,
        config: C,
        models: ModelsByName,
        path: Path,
    ) -> Estimate:
        """Say what is still to be done of the run whose folder is (or will be) `path`."""
        if self.own.estimate_rest is not None:
            return self.own.estimate_rest(config, models, path)
        records = path / "records.jsonl"
        rows = read_lines(records) if records.exists() else ()
        recorded = {row["spec"] for row in rows}
        return self.estimate(config).without(len(recorded))

    def count(self, config: C) -> int | None:
        """Count the plays of a run; None where that is not settled beforehand."""
        if self.count_plays is None:
            return sum(1 for _ in self.specs(config))
        return self.count_plays(config)

    def count_part(self, config: C, shard: Shard | None) -> int | None:
        """Count the plays of a part of a run; None where that is not settled beforehand."""
        if shard is None:
            return self.count(config)
        return sum(shard.holds(spec.id) for spec in self.list_specs(config))

    def execute(
        self,
        config: C,
        folder: RunFolder,
        models: ModelsByName,
        how: Execution,
    ) -> Outcome:
        """Play what is missing."""
        if self.make_run is not None:
            return self.make_run(config, folder, models, how)
        return execute(
            how.choose(self.list_specs(config)),
            self.start(config, models, how),
            folder,
            total=self.count_part(config, how.shard),
            on_progress=how.on_progress,
        )

    def start(self, config: C, models: ModelsByName, how: Execution) -> Start:
        """Return what makes the plays, for `execute`."""
        return partial(how.executor.play, Job(self, config, models, how.workers, how.shared))

    def replay(self, config: C, folder: RunFolder) -> Replay:
        """Play every finished spec again from its recorded replies, and compare the records."""
        if self.own.repeat_run is not None:
            return self.own.repeat_run(config, folder)
        return replay_plays(folder, self.play(config, recorded_models(folder)))


studies = Registry(
    "bestresponse.studies",
    "study",
    {
        "behave": "bestresponse.studies.behave.study:behave",
        "bench": "bestresponse.studies.bench.study:bench",
        "improve": "bestresponse.studies.improve.rounds:improve",
        "import": "bestresponse.studies.behave.importing:import_plays",
        "simulate": "bestresponse.studies.simulate.study:simulate",
        "steer": "bestresponse.studies.steer.study:steer",
        "stories": "bestresponse.studies.stories.study:stories_study",
        "strategies": "bestresponse.studies.stories.strategies:strategies_study",
        "train": "bestresponse.studies.improve.study:train",
        "tournament": "bestresponse.studies.tournament.study:tournament",
        "verify": "bestresponse.studies.verify.study:verify_model",
        "water": "bestresponse.studies.water.study:water",
    },
)
"""Studies by name."""

metrics = Registry("bestresponse.metrics", "metric")
"""Metrics that packages add to studies, by `STUDY.NAME`."""

AnyStudy: TypeAlias = "Study[..., Any]"
"""A study whatever its settings are."""


def find_study(name: str) -> AnyStudy:
    """Return the study of that name.

    Raises StoreError where none is installed, with the reason where one cannot be loaded.
    """
    if name not in studies.names():
        raise StoreError(
            f"runs of {name!r} cannot be read here; known studies: {', '.join(studies.names())}"
        )
    try:
        study: AnyStudy = studies.load(name)
    except UsageError as error:
        raise StoreError(str(error)) from None
    if not isinstance(study, Study):
        raise StoreError(f"{studies.describe(name)} is no bestresponse.runs.Study")
    return study
