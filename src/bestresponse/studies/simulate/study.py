"""Any game as a study: seats filled by models, strategies and solvers, played many times, beside theory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.seats import make_player
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.findings import findings
from bestresponse.studies.simulate.measure import measure
from bestresponse.studies.simulate.plan import most_calls, specs
from bestresponse.studies.simulate.results import METRICS, SimulateResults

__all__ = ["SimulateStudy"]

_CHARACTERS_PER_TOKEN = 4


class SimulateStudy(Study[SimulateConfig, SimulateResults]):
    """Payoffs, moves, regret and welfare of any game played many times."""

    name = "simulate"
    config = SimulateConfig
    metrics = METRICS

    def specs(self, config: SimulateConfig) -> Iterator[Spec]:
        """Yield every play as plain data."""
        return specs(config)

    def count(self, config: SimulateConfig) -> int:
        """Count the plays; None where that is not known."""
        return config.repeats

    def make_player(self, config: SimulateConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        return make_player(config.make_game(), models)

    def measure(self, config: SimulateConfig, folder: RunFolder) -> SimulateResults:
        """Work out rows and summary from the finished plays."""
        return SimulateResults(measure(config, folder.sorted_records()))

    def figures(self, results: SimulateResults) -> Figures:
        """List the metrics of every seat."""
        return results.figures

    def findings(self, results: SimulateResults, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def game(self, config: SimulateConfig, data: JsonMapping) -> AnyGame:
        """Return the game of a spec, for replay and for watching."""
        return config.make_game()

    def estimate(self, config: SimulateConfig) -> Estimate:
        """Count the calls of models at most, shared out by seats; a prompt is about as long as the first briefing."""
        most, game = most_calls(config), config.make_game()
        seats = [who for role, who in config.seats if role in config.model_seats]
        calls = {name: most.calls * seats.count(name) // max(len(seats), 1) for name in config.models}
        briefing = len(game.view(game.start(), game.roles[0]).briefing) // _CHARACTERS_PER_TOKEN
        return Estimate(
            config.repeats,
            f"{config.game.name} with {', '.join(f'{role} = {who}' for role, who in config.seats)}, seed {config.seed}",
            calls,
            {name: count * briefing for name, count in calls.items()},
            {name: count * config.max_tokens for name, count in calls.items()},
            most.sure,
        )
