"""The Water Allocation Challenge as a study: many games, their indicators, their report."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bestresponse.core.json import JsonMapping
from bestresponse.games.water.bidders import play_many
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.base import Model
from bestresponse.report import tables
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import Execution, Outcome, PlayOne, Progress
from bestresponse.runs.run import Run
from bestresponse.runs.seats import _count_thoughts as count_thoughts
from bestresponse.runs.shard import Shard
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder, StoredPlay, encode_plays
from bestresponse.studies.water.config import Setting, WaterConfig
from bestresponse.studies.water.findings import findings
from bestresponse.studies.water.measure import measure
from bestresponse.studies.water.plan import game_seed, spec_of, specs
from bestresponse.studies.water.playing import make_player, records_of
from bestresponse.studies.water.results import METRICS, WaterResults

__all__ = ["WaterStudy"]

_AT_ONCE = 250
_MOST_DAY_ROWS = 200_000
_CHARACTERS_PER_TOKEN = 4


class WaterStudy(Study[WaterConfig, WaterResults]):
    """Survival, scarcity and prices in many games of the Water Allocation Challenge."""

    name = "water"
    config = WaterConfig
    unit = "games"
    metrics = METRICS

    def specs(self, config: WaterConfig) -> Iterator[Spec]:
        """Yield every play as plain data."""
        return specs(config)

    def count(self, config: WaterConfig) -> int:
        """Count the plays; None where that is not known."""
        return config.games

    def make_player(self, config: WaterConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        return make_player(models)

    def measure(self, config: WaterConfig, folder: RunFolder) -> WaterResults:
        """Work out rows and summary from the finished plays."""
        return WaterResults(measure(config, folder.sorted_records()))

    def figures(self, results: WaterResults) -> Figures:
        """List the metrics of every setting."""
        return results.figures

    def findings(self, results: WaterResults, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def game(self, config: WaterConfig, data: JsonMapping) -> Water:
        """Return the game of a spec, for replay and for watching."""
        return Water(WaterRules.from_json(data["rules"]))

    def estimate(self, config: WaterConfig) -> Estimate:
        """Count the bids of models, with every attempt and thought; prompts grow by the days that are remembered."""
        days = config.rules.days
        each = config.attempts + count_thoughts(config.reasoning, len(config.players) - 1)
        each += config.memory.startswith("summary")
        calls = {name: config.games * days * config.players.count(name) * each for name in config.models}
        game = Water(config.rules)
        view = game.view(game.start(), game.roles[0])
        tokens = (len(view.briefing) + days * 200) // _CHARACTERS_PER_TOKEN
        return Estimate(
            config.games,
            f"{config.games:,} games of {days} days, seed {config.seed}",
            calls,
            {name: count * tokens for name, count in calls.items()},
            {name: count * config.max_tokens for name, count in calls.items()},
        )

    def execute(self, config: WaterConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution) -> Outcome:
        """Play what is missing; where no seat holds a model, many games at a time."""
        if config.models:
            return super().execute(config, folder, models, how)
        return _run_bidders(config, folder, how, self.count_part(config, how.shard))

    def extra_files(self, results: WaterResults, run: Run[Any]) -> Iterable[tuple[Path, str]]:
        """Return one row for each day and resident, where these are not too many."""
        if sum(one.trace.present.sum() for one in results.measured.settings) <= _MOST_DAY_ROWS:
            yield run.path / "days.csv", tables.columns_to_csv(results.measured.list_days())


def _run_bidders(config: WaterConfig, folder: RunFolder, how: Execution, total: int | None) -> Outcome:
    finished = folder.finished()
    outcome = Outcome(found=len(finished))
    todo: deque[_Block] = deque()

    def take_blocks() -> Iterator[_Block]:
        for block in _list_blocks(config, finished, how.shard):
            todo.append(block)
            yield block

    for lines in how.executor.map(_play_block, take_blocks(), how.workers if how.workers > 1 else None):
        folder.finish_encoded(lines)
        outcome.played += len(todo.popleft().repeats)
        how.on_progress(Progress(total, outcome.found, outcome.played, 0))
    return outcome


@dataclass(frozen=True, slots=True)
class _Block:
    """Games of one setting that are played together."""

    config: WaterConfig
    setting: Setting
    repeats: tuple[int, ...]


def _play_block(block: _Block) -> bytes:
    """Plan and play the games and encode their records, so that whoever writes them has little else to do."""
    config = block.config
    specs = [spec_of(config, block.setting, repeat) for repeat in block.repeats]
    seeds = [game_seed(config, repeat) for repeat in block.repeats]
    records = records_of(play_many(block.setting.rules, config.players, seeds), config.players)
    return encode_plays(StoredPlay(spec.id, spec.data, record) for spec, record in zip(specs, records, strict=True))


def _list_blocks(config: WaterConfig, finished: set[str], shard: Shard | None) -> Iterator[_Block]:
    for setting in config.settings:
        missing = _list_missing(config, setting, finished, shard)
        while block := tuple(islice(missing, _AT_ONCE)):
            yield _Block(config, setting, block)


def _list_missing(config: WaterConfig, setting: Setting, finished: set[str], shard: Shard | None) -> Iterator[int]:
    """Yield the repeats that are to be played; all of them need no ids to be told apart."""
    for repeat in range(config.repeats):
        if finished or shard is not None:
            spec = spec_of(config, setting, repeat).id
            if spec in finished or (shard is not None and not shard.holds(spec)):
                continue
        yield repeat
