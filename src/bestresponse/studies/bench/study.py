"""The benchmark as a study: how far from optimal models play matrix games."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from bestresponse.core.episode import Record
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.models.base import Model
from bestresponse.players.llm.prompting import prompt
from bestresponse.players.llm.verified import MOST_ATTEMPTS, is_verified
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.report.stats.statistics import precision_reached
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import Execution, Outcome, PlayOne, execute
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.findings.document import findings
from bestresponse.studies.bench.measure import measure
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import BASE, Plan
from bestresponse.studies.bench.playing import game_of, make_player
from bestresponse.studies.bench.results import Results, list_figures

__all__ = ["BenchStudy"]

_CHARACTERS_PER_TOKEN = 4


class BenchStudy(Study[BenchConfig, Results]):
    """Nash gap and exploitability of models on generated matrix games, or on one game in many orders of its actions."""

    name = "bench"
    config = BenchConfig
    metrics = METRICS

    def specs(self, config: BenchConfig) -> Iterator[Spec]:
        """Yield every play as plain data."""
        return Plan(config).specs()

    def count(self, config: BenchConfig) -> int | None:
        """Count the plays; None where that is not known."""
        return None if config.precision else Plan(config).total

    def make_player(self, config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        return make_player(Plan(config), models)

    def measure(self, config: BenchConfig, folder: RunFolder) -> Results:
        """Work out rows and summary from the finished plays."""
        return Results.measure(Plan(config), folder.sorted_plays())

    def figures(self, results: Results) -> Figures:
        """List the metrics of every player and baseline."""
        return list_figures((*results.summaries, *results.baseline_summaries))

    def findings(self, results: Results, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def game(self, config: BenchConfig, data: JsonMapping) -> MatrixGame:
        """Return the game of a spec, for replay and for watching."""
        return game_of(data)

    def estimate(self, config: BenchConfig) -> Estimate:
        """Count calls (every attempt) and tokens from the first game."""
        plan = Plan(config)
        calls: dict[str, int] = dict.fromkeys(config.models, 0)
        characters: dict[str, int] = dict.fromkeys(config.models, 0)
        for spec, games in plan.count_by_first():
            game = game_of(spec.data)
            role = game.roles[spec.data["seat"]]
            asked = spec.data["samples"] * games
            asked *= MOST_ATTEMPTS if is_verified(spec.data["model"]) else 1
            calls[spec.data["model"]] += asked * spec.data["attempts"]
            characters[spec.data["model"]] += asked * len(prompt(game.view((), role), game.asks(())[role], "line"))
        return Estimate(
            plan.total,
            f"{config.num_games:,} game{'s' if config.num_games > 1 else ''}, seed {config.seed}",
            calls,
            {name: count // _CHARACTERS_PER_TOKEN for name, count in characters.items()},
            {name: count * config.reply_tokens for name, count in calls.items()},
        )

    def execute(self, config: BenchConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution) -> Outcome:
        """Play what is missing, until the figures are as precise as the settings want."""
        if config.precision and how.shard is not None:
            raise UsageError("a part of a run cannot tell how precise the whole is: leave out --precision or --shard")
        plan = Plan(config)
        stop = _Precision(plan, folder, config.precision) if config.precision else None
        if stop is not None and stop.reached:
            return Outcome(found=len(folder.finished()))
        return execute(
            how.choose(plan.specs()),
            self.start(config, models, how),
            folder,
            total=plan.total if how.shard is None else self.count_part(config, how.shard),
            on_progress=how.on_progress,
            enough=stop.note if stop is not None else None,
        )

    def extra_files(self, results: Results, run: Run[Any]) -> Iterable[tuple[Path, str]]:
        """Return the two files of the benchmark's original description, named by the time the run was begun."""
        stamp = datetime.fromisoformat(run.manifest.created).strftime("%Y%m%d_%H%M%S")
        output = run.path.parent
        yield output / f"benchmark_results_{stamp}.json", json.dumps(list(results.rows), indent=1, ensure_ascii=False)
        yield output / f"benchmark_summary_{stamp}.json", json.dumps(results.summary, indent=2, ensure_ascii=False)


class _Precision:
    """Watch the normalised gap of every player and stop when all are known precisely enough."""

    def __init__(self, plan: Plan, folder: RunFolder, half_width: float) -> None:
        self._plan, self._half_width = plan, half_width
        self._expected = len(plan.config.models) * len(plan.config.elicit)
        self._seen: dict[tuple[str, str], list[tuple[int, float]]] = {}
        self._count = 0
        for play in folder.plays():
            self._add(play)
        self.reached = self._is_precise()

    def note(self, spec: Spec, record: Record) -> bool:
        """Take a new record into account, and say whether everything is precise enough."""
        self._add(StoredPlay(spec.id, spec.data, record))
        if self._count % 10 == 0:
            self.reached = self._is_precise()
        return self.reached

    def _add(self, play: StoredPlay) -> None:
        if play.data["variant"] != "original" or play.data["condition"] != BASE:
            return
        (row,) = measure(self._plan, [play])
        self._count += 1
        if row["gap_normalised"] is not None:
            self._seen.setdefault((row["model"], row["elicit"]), []).append((row["game"], row["gap_normalised"]))

    def _is_precise(self) -> bool:
        return len(self._seen) == self._expected and all(
            precision_reached([v for _, v in seen], self._half_width, [g for g, _ in seen]).reached
            for seen in self._seen.values()
        )
