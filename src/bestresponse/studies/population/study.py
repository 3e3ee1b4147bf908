"""Populations that learn as a study: pairs of strategies are played, then agents imitate or reply, beside theory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Estimate, Study
from bestresponse.studies.population.config import PopulationConfig
from bestresponse.studies.population.findings import findings
from bestresponse.studies.population.measure import METRICS, PopulationResults, measure
from bestresponse.studies.simulate.plan import specs
from bestresponse.studies.simulate.playing import make_player
from bestresponse.studies.simulate.study import SimulateStudy

__all__ = ["PopulationStudy"]


class PopulationStudy(Study[PopulationConfig, PopulationResults]):
    """Which strategies and models spread when agents imitate or reply.

    The plays of a run are the matches of every pair of strategies. What agents then do costs no call: it is drawn from
    these matches by the seed when the run is measured.
    """

    name = "population"
    config = PopulationConfig
    unit = "matches"
    metrics = METRICS

    def specs(self, config: PopulationConfig) -> Iterator[Spec]:
        """Yield every match as plain data."""
        for first, second in _list_pairs(config):
            for spec in specs(config.pair(first, second)):
                yield Spec.of({**spec.data, "study": self.name})

    def count(self, config: PopulationConfig) -> int:
        """Count the matches."""
        return config.repeats * sum(1 for _ in _list_pairs(config))

    def make_player(self, config: PopulationConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one match."""
        return make_player(config.make_game(), models)

    def measure(self, config: PopulationConfig, folder: RunFolder) -> PopulationResults:
        """Read the matches and let the agents meet."""
        return measure(config, folder.sorted_records())

    def figures(self, results: PopulationResults) -> Figures:
        """List the metrics of every strategy."""
        return results.figures

    def findings(self, results: PopulationResults, run: Run) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def game(self, config: PopulationConfig, data: JsonMapping) -> AnyGame:
        """Return the game of a match, for replay and for watching."""
        return config.make_game()

    def estimate(self, config: PopulationConfig) -> Estimate:
        """Count the calls of all matches at most."""
        each = [SimulateStudy().estimate(config.pair(first, second)) for first, second in _list_pairs(config)]

        def add(name: str, counts: list[Mapping[str, int]]) -> int:
            return sum(count.get(name, 0) for count in counts)

        return Estimate(
            self.count(config),
            f"{self.count(config):,} matches of {config.game.name}, {len(each)} pairs of strategies",
            {name: add(name, [one.calls for one in each]) for name in config.models},
            {name: add(name, [one.prompt_tokens for one in each]) for name in config.models},
            {name: add(name, [one.reply_tokens for one in each]) for name in config.models},
            all(one.sure for one in each),
        )


def _list_pairs(config: PopulationConfig) -> Iterator[tuple[str, str]]:
    """Yield who meets whom, the first role first."""
    first, second = config.populations
    return product(first, second)
