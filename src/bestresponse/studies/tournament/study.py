"""Round robins as a study: strategies and models against each other in a repeated game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bestresponse.core.json import JsonMapping
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.models.base import Model
from bestresponse.players.strategies.fixed import HistoryFunction
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.findings import findings
from bestresponse.studies.tournament.measure import measure_standings
from bestresponse.studies.tournament.plan import STUDY, Plan
from bestresponse.studies.tournament.playing import game_of, make_player
from bestresponse.studies.tournament.standings import METRICS, Standings

__all__ = ["TournamentStudy"]

_CHARACTERS_PER_TOKEN = 4
_TOKENS_A_ROUND = 12
"""About what one round adds to the history that a model is shown."""


class TournamentStudy(Study[TournamentConfig, Standings]):
    """Who earns how much against whom; matches between strategies are worked out, those with models are played."""

    name = STUDY
    config = TournamentConfig
    metrics = METRICS
    unit = "matches"

    def __init__(self, functions: Mapping[str, HistoryFunction] | None = None) -> None:
        """Take the Python functions that are entries of the tournament, by name."""
        self._functions = dict(functions or {})

    def specs(self, config: TournamentConfig) -> Iterator[Spec]:
        """Yield every play as plain data."""
        return Plan(config).specs()

    def count(self, config: TournamentConfig) -> int:
        """Count the plays; None where that is not known."""
        return Plan(config).total

    def make_player(self, config: TournamentConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        return make_player(config, models, self._functions)

    def measure(self, config: TournamentConfig, folder: RunFolder) -> Standings:
        """Work out rows and summary from the finished plays."""
        return measure_standings(Plan(config), folder.sorted_plays())

    def figures(self, results: Standings) -> Figures:
        """List the metrics of every participant."""
        return results.list_figures()

    def findings(self, results: Standings, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def game(self, config: TournamentConfig, data: JsonMapping) -> RepeatedGame:
        """Return the game of a spec, for replay and for watching."""
        return game_of(config)

    def estimate(self, config: TournamentConfig) -> Estimate:
        """Count every round of every match in both seats that hold a model, with every attempt."""
        plan = Plan(config)
        calls = dict.fromkeys(config.models, 0)
        for pair in plan.pairs:
            for seat in pair:
                if config.entries[seat].kind == "model":
                    calls[config.entries[seat].source] += config.rounds * config.attempts * (config.repetitions or 1)
        game = game_of(config)
        briefing = len(game.view(game.start(), game.roles[0]).briefing) // _CHARACTERS_PER_TOKEN
        tokens = briefing + config.rounds * _TOKENS_A_ROUND // 2
        return Estimate(
            plan.total,
            f"{plan.total:,} matches of {config.rounds} rounds" if config.models else "",
            calls,
            {name: count * tokens for name, count in calls.items()},
            {name: count * config.max_tokens for name, count in calls.items()},
        )
