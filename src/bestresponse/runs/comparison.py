"""Compare recorded runs: their metrics side by side, and differences between their players.

Runs are called A, B, C, ... in the order in which they are given; a difference is always that of
the later run less the earlier one. Where two runs hold the same games, players are compared game by
game (`paired_difference`), which takes out how hard the games are. Where they do not, the interval
of the difference is put together from the intervals of both (MOVER: G. Y. Zou & A. Donner,
"Construction of confidence limits about effect measures", Statistics in Medicine 27, 2008):

    low = b - a - sqrt((b - low_b)^2 + (high_a - a)^2)

Which players are compared: one that both runs have is compared with itself; those that only one
run has are compared with those that only the other has. Baselines are not compared: on the same
games they play the same.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, TypedDict, cast

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.json import digest
from bestresponse.report import page
from bestresponse.report.blocks import intervals, table
from bestresponse.report.document import Block, Column, Document, Note, Section, Table
from bestresponse.report.files import explain_os_error, write_text
from bestresponse.report.frames import (
    Frame,
    Heads,
    Metric,
    MetricTable,
    Value,
    column,
    compute_metrics,
    is_baseline,
)
from bestresponse.report.stats.differences import PairedComparison, holm, paired_difference
from bestresponse.report.stats.statistics import LEVEL, Interval
from bestresponse.runs.run import Run, load_run
from bestresponse.runs.study import GameValue

AnyRun = Run[Any]
_SEED = 20
_FEWEST_GAMES = 2
_NO_CONDITIONS = frozenset({"output_dir", "limits", "processes", "shard"})
"""Settings that say where and how a run is made, and not what is measured."""
_LONGEST_SETTING = 60


class ComparedRunRow(TypedDict):
    """One of the compared runs; the settings that differ are further columns."""

    run: str
    folder: str
    study: str
    players: str
    answers: int
    finished: bool


class ConditionRow(TypedDict):
    """The metrics of one player in one run, a column each."""

    run: str
    player: str


class RunDifferenceRow(TypedDict):
    """Two players of two runs, compared by one metric."""

    metric: str
    by: Annotated[str, column(help="the metric that is compared")]
    player: Annotated[str, column(help="the player of the later run")]
    against: Annotated[str, column("compared with", help="the player of the earlier run")]
    difference: Annotated[Interval, column("difference, 95 %", ".3f")]
    """the later run minus the earlier one; by games, all that the test of p does not reject"""
    p: Annotated[float | None, column("p, exchangeable on every game", ".3g")]
    """sign-flip test over the common games; none if the runs share no games"""
    p_adjusted: Annotated[float | None, column("adjusted p", ".3g")]
    """for the number of comparisons in this table (Holm)"""
    effect: Annotated[float | None, column(format=".2f")]
    """mean difference over its standard deviation between games"""
    games: Annotated[int | None, column("common games", help="games that both answered")]
    tested: bool


@dataclass(frozen=True)
class ComparedRun:
    """A run with the letter it is called by, and what is known of its models."""

    letter: str
    run: AnyRun

    @cached_property
    def metrics(self) -> MetricTable:
        """The metrics of the models; those of baselines are not computed."""
        study = self.run.study
        results = self.run.results
        metrics = study.all_metrics if results.metrics is None else tuple(results.metrics)
        groups = {heads: group for heads, group in results.groups.items() if not is_baseline(heads)}
        return compute_metrics(metrics, results.labels, groups)

    @cached_property
    def values(self) -> Mapping[tuple[Heads, str], list[GameValue]]:
        """What models got game by game, by player and metric."""
        values: dict[tuple[Heads, str], list[GameValue]] = defaultdict(list)
        for value in self.run.study.compared.values(self.run.config, self.run.results):
            values[value.player, value.metric].append(value)
        return values

    @property
    def players(self) -> list[Heads]:
        """The models, as their groups are called."""
        return [heads for heads, _ in self.metrics.groups]

    def get(self, player: Heads, metric: str) -> Value:
        """Return a metric of a player; None where there is none."""
        return next(
            (values.get(metric) for heads, values in self.metrics.groups if heads == player), None
        )

    def name(self, player: Heads) -> str:
        """Name a player of this run.

        A random player who was asked for a mix in the second run is `B: random, mixed`.
        """
        return f"{self.letter}: {', '.join(map(str, player))}"


@dataclass(frozen=True)
class RunComparison:
    """Several runs side by side.

    Holds `metrics` of their models, `differences` between them, and `notes` on what limits the
    comparison.
    """

    runs: tuple[ComparedRun, ...]

    def __repr__(self) -> str:
        names = ", ".join(compared.run.path.name for compared in self.runs)
        return f"RunComparison({names})"

    def _repr_html_(self) -> str:
        return page.embed_page(self.report(), "Differences")

    @cached_property
    def shared_metrics(self) -> tuple[Metric[Any], ...]:
        """The metrics that every run has, in the order of the first."""
        names = [{metric.name for metric in one.metrics.columns} for one in self.runs]
        shared = set.intersection(*names)
        return tuple(metric for metric in self.runs[0].metrics.columns if metric.name in shared)

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings in which the runs differ."""
        configs = [compared.run.manifest.config for compared in self.runs]
        names = dict.fromkeys(name for config in configs for name in config)
        return tuple(
            name
            for name in names
            if name not in _NO_CONDITIONS
            and len({digest(config.get(name)) for config in configs}) > 1
        )

    @cached_property
    def conditions(self) -> Frame[ComparedRunRow]:
        """The runs, with the settings in which they differ."""
        rows = []
        for compared in self.runs:
            run = compared.run
            row = ComparedRunRow(
                run=compared.letter,
                folder=run.path.name,
                study=run.study.name,
                players="; ".join(", ".join(map(str, player)) for player in compared.players),
                answers=run.answered,
                finished=run.complete,
            )
            config = run.manifest.config
            told = {_name_setting(name): _tell_setting(config.get(name)) for name in self.settings}
            rows.append(cast(ComparedRunRow, {**row, **told}))
        more = {
            _name_setting(name): Column(name.replace("_", " "), help="a setting that differs")
            for name in self.settings
        }
        return Frame(ComparedRunRow, rows, more)

    @cached_property
    def metrics(self) -> Frame[ConditionRow]:
        """The metrics of every model in every run."""
        rows = []
        for compared in self.runs:
            for heads, values in compared.metrics.groups:
                row = ConditionRow(run=compared.letter, player=", ".join(map(str, heads)))
                known = {metric.name: values.get(metric.name) for metric in self.shared_metrics}
                rows.append(cast(ConditionRow, {**row, **known}))
        return Frame(
            ConditionRow, rows, {metric.name: metric.column for metric in self.shared_metrics}
        )

    @cached_property
    def differences(self) -> Frame[RunDifferenceRow]:
        """The differences of every two models that are compared.

        The study's own first metrics are tested, as one family.
        """
        rows = list(self._list_differences())
        tested = [row for row in rows if row["tested"] and row["p"] is not None]
        if tested:
            adjusted = holm([row["p"] or 0.0 for row in tested])
            for row, p in zip(tested, adjusted.tolist(), strict=True):
                row["p_adjusted"] = p
        return Frame(RunDifferenceRow, rows)

    def _list_differences(self) -> Iterator[RunDifferenceRow]:
        for metric in self.shared_metrics:
            for first, second in combinations(self.runs, 2):
                for before, after in _match_players(first.players, second.players):
                    compared = _compare_players(
                        first.get(before, metric.name),
                        second.get(after, metric.name),
                        first.values.get((before, metric.name), []),
                        second.values.get((after, metric.name), []),
                    )
                    if compared is None:
                        continue
                    yield RunDifferenceRow(
                        metric=metric.name,
                        by=metric.title,
                        player=second.name(after),
                        against=first.name(before),
                        difference=compared.difference,
                        p=compared.p_value,
                        p_adjusted=None,
                        effect=compared.effect,
                        games=compared.games,
                        tested=metric.name in first.run.study.compared.tested,
                    )

    @cached_property
    def together(self) -> tuple[str, Table, str] | None:
        """What the study tells of all runs: a title, a table, and the same as CSV; else None."""
        runs = [compared.run for compared in self.runs]
        is_one = len({run.study.name for run in runs}) == 1
        told = runs[0].study.compared.together(runs) if is_one else None
        return (told[0], told[1].to_table(), told[1].to_csv()) if told is not None else None

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know before the differences are believed."""
        notes: list[str] = []
        first = self.runs[0]
        for compared in self.runs:
            if not compared.run.complete:
                notes.append(
                    f"Run {compared.letter} is not finished; its metrics are those of"
                    f" {compared.run.answered:,} answers."
                )
            if compared.run.manifest.shard is not None:
                notes.append(
                    f"Run {compared.letter} is part {compared.run.manifest.shard} of a run."
                )
        for second in self.runs[1:]:
            pair = f"{first.letter} and {second.letter}"
            notes += [f"Runs {pair} {what}" for what in _list_changes(first.run, second.run)]
            notes += _tell_games(first, second)
        return tuple(notes)

    def find_differences(self, metric: str) -> list[RunDifferenceRow]:
        """Return the differences of later runs to the first by a metric."""
        start = f"{self.runs[0].letter}: "
        return [
            row
            for row in self.differences
            if row["metric"] == metric and row["against"].startswith(start)
        ]

    def report(self) -> Document:
        """Return the comparison as a report."""
        opening: tuple[Block, ...] = tuple(Note(note, "warning") for note in self.notes)
        sections = [Section("The runs", (self.conditions.to_table(),))]
        known = []
        for metric in self.shared_metrics:
            if any(isinstance(row.get(metric.name), Interval) for row in self.metrics):
                known.append(metric.name)
        caption = "With 95 % intervals."
        if known:
            shown = self.metrics.to_table(("run", "player", *known), caption)
            sections.append(Section("Metrics", (shown,)))
        if self.together is not None:
            name, shown, _ = self.together
            sections.append(Section(name, (shown,)))
        for title, tested in (("Differences", True), ("Other differences", False)):
            blocks = self._show_differences(tested)
            if blocks:
                sections.append(Section(title, blocks))
        names = ", ".join(compared.run.path.name for compared in self.runs)
        subtitle = f"{len(self.runs)} runs: {names}. Differences are later less earlier."
        return Document(
            "Runs compared",
            subtitle,
            tuple(sections),
            opening,
            self.runs[0].run.manifest.footer,
        )

    def _show_differences(self, tested: bool) -> tuple[Block, ...]:
        rows: Frame[Any] = self.differences.select(tested=tested)
        if not len(rows):
            return ()
        columns = [
            "by",
            "player",
            "against",
            "difference",
            "p",
            "p_adjusted",
            "effect",
            "games",
        ]
        shown = table("differences", columns)
        paired = any(row["p"] is not None for row in rows)
        blocks = list(shown.build(rows, _describe_family(tested, paired)))
        picture = intervals("differences", ("player", "against"), "difference")
        for by in rows.list_values("by") if tested else ():
            caption = f"{by}: difference with its 95 % interval."
            blocks += picture.build(rows.select(by=by), caption)
        return tuple(blocks)

    def to_json(self) -> dict[str, object]:
        """Return the comparison as plain JSON data."""
        return {
            "runs": self.conditions.to_json(),
            "metrics": self.metrics.to_json(),
            "differences": self.differences.to_json(),
            "notes": list(self.notes),
        }

    def publish(self, folder: str | Path) -> list[Path]:
        """Write comparison.html, comparison.json and the tables as CSV into a folder."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explain_os_error(error, f"making {target}") from None
        texts = {
            "comparison.html": page.render(self.report()),
            "comparison.json": json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n",
            "comparison_runs.csv": self.conditions.to_csv(),
            "comparison_metrics.csv": self.metrics.to_csv(),
            "comparison_differences.csv": self.differences.to_csv(),
        }
        if self.together is not None:
            texts["comparison_together.csv"] = self.together[2]
        return [write_text(target / name, text) for name, text in texts.items()]


def compare_runs(*runs: str | Path | AnyRun) -> RunComparison:
    """Compare two or more runs, given by their folders or loaded; the first one is the baseline.

    Runs of different studies are compared by the metrics that both have. `UsageError` says where
    there is nothing to compare.
    """
    if len(runs) < 2:
        raise UsageError(f"a comparison needs two runs or more, got {len(runs)}")
    if len(runs) > len(ascii_uppercase):
        raise UsageError(f"at most {len(ascii_uppercase)} runs can be compared, got {len(runs)}")
    loaded = [run if isinstance(run, Run) else load_run(run) for run in runs]
    seen: dict[Path, str] = {}
    for letter, run in zip(ascii_uppercase, loaded, strict=False):
        path = run.path.resolve()
        if path in seen:
            raise UsageError(f"{run.path} is given twice; name different runs")
        seen[path] = letter
        if not run.results.rows:
            raise UsageError(
                f"{run.path} holds no finished play yet, so there is nothing to compare"
            )
    comparison = RunComparison(tuple(map(ComparedRun, ascii_uppercase, loaded)))
    if not comparison.shared_metrics:
        studies = ", ".join(dict.fromkeys(run.study.name for run in loaded))
        raise UsageError(f"runs of {studies} have no metric in common")
    return comparison


@dataclass(frozen=True, slots=True)
class _Compared:
    """A difference as a row tells it."""

    difference: Interval
    p_value: float | None = None
    effect: float | None = None
    games: int | None = None


def _match_players(
    first: Sequence[Heads], second: Sequence[Heads]
) -> Iterator[tuple[Heads, Heads]]:
    """Yield which players of two runs are compared.

    Those in both runs are compared with themselves, the others of one run with the others of the
    other.
    """
    for player in first:
        if player in second:
            yield player, player
    alone = [player for player in first if player not in second]
    new = [player for player in second if player not in first]
    yield from product(alone, new)


def _compare_players(
    before: Value,
    after: Value,
    first: Sequence[GameValue],
    second: Sequence[GameValue],
) -> _Compared | None:
    """Compare two players: game by game where they share games, else by their metrics.

    Returns None where one has none.
    """
    paired = pair_games(first, second)
    if paired is not None:
        return _Compared(
            paired.difference,
            paired.p_value,
            paired.effect,
            games=paired.difference.n,
        )
    if isinstance(before, Interval) and isinstance(after, Interval):
        return _Compared(subtract_intervals(after, before))
    return None


def pair_games(first: Sequence[GameValue], second: Sequence[GameValue]) -> PairedComparison | None:
    """Compare two players on the games that both answered; None where these are fewer than two."""
    a = _average_by_game(first)
    b = _average_by_game(second)
    common = [case for case in a if case in b]
    games = [game for game, _ in common]
    if len(set(games)) < _FEWEST_GAMES:
        return None
    apart = {(value.game, value.part): value.most for value in first}
    most = [bound for case in common if (bound := apart[case]) is not None]
    bounds = (np.negative(most), np.array(most)) if len(most) == len(common) else None
    return paired_difference(
        [b[case] for case in common],
        [a[case] for case in common],
        games,
        rng=_SEED,
        bounds=bounds,
    )


def _average_by_game(values: Iterable[GameValue]) -> dict[tuple[str, str], float]:
    """Average what was got in each part of each game over all answers to it."""
    answers: dict[tuple[str, str], list[float]] = defaultdict(list)
    for value in values:
        answers[value.game, value.part].append(value.value)
    return {case: math.fsum(seen) / len(seen) for case, seen in answers.items()}


def subtract_intervals(after: Interval, before: Interval) -> Interval:
    """Return the difference of two independent numbers, by the intervals of both (MOVER).

    >>> a = Interval(0.5, 0.2, 0.9, LEVEL, "bca", 10)
    >>> f"{subtract_intervals(Interval(1.0, 0.7, 1.3, LEVEL, 'bca', 10), a):.1f}"
    '0.5 [0.0, 0.9]'
    """
    difference = after.estimate - before.estimate
    down = math.hypot(after.estimate - after.low, before.high - before.estimate)
    up = math.hypot(after.high - after.estimate, before.estimate - before.low)
    n = min(after.n, before.n)
    return Interval(
        difference,
        difference - down,
        high=difference + up,
        level=LEVEL,
        method="two intervals",
        n=n,
    )


def _name_setting(name: str) -> str:
    return f"setting_{name}"


def _tell_setting(value: object) -> str:
    """Write a setting in a line, cut where it is long."""
    if isinstance(value, Mapping) and "name" in value:
        value = value["name"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_SETTING else f"{text[: _LONGEST_SETTING - 1]}…"


def _list_changes(first: AnyRun, second: AnyRun) -> Iterator[str]:
    """Say what changed between two runs besides their settings."""
    before = first.manifest
    after = second.manifest
    if before.study != after.study:
        yield (
            f"are of different studies, {before.study} and {after.study}; only metrics of the same"
            " name are compared, and they may be measured differently."
        )
    old = before.environment.get("packages", {}).get("bestresponse")
    new = after.environment.get("packages", {}).get("bestresponse")
    if old != new:
        yield f"were made by different versions of bestresponse, {old} and {new}."
    names = before.prompts.keys() & after.prompts.keys()
    changed = sorted(name for name in names if before.prompts[name] != after.prompts[name])
    if changed:
        yield f"were asked with different prompts: {', '.join(changed)}."


def _tell_games(first: ComparedRun, second: ComparedRun) -> list[str]:
    """Say how many games two runs share, where not all are shared."""
    own = {value.game for values in first.values.values() for value in values}
    other = {value.game for values in second.values.values() for value in values}
    common = own & other
    if not own or not other or common == own == other:
        return []
    pair = f"{first.letter} and {second.letter}"
    if len(common) < _FEWEST_GAMES:
        return [
            f"Runs {pair} share no games: differences are those of their means, not paired, and"
            " include how hard the games of each are."
        ]
    return [
        f"Runs {pair} share {len(common):,} of {len(own):,} and {len(other):,} games; differences"
        " are over these."
    ]


def _describe_family(tested: bool, paired: bool) -> str:
    if not paired:
        return "Later less earlier."
    if tested:
        return "Later less earlier; adjusted p over all comparisons of this table."
    return "Later less earlier; these are not adjusted for the number of comparisons."
