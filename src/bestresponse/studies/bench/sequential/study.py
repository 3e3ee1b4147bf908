"""The benchmark on a game played in turn, as a study: a model's policy and how far it is from an equilibrium."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bestresponse.core.json import JsonMapping
from bestresponse.models.base import Model
from bestresponse.players.llm.prompting import prompt
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.bench.sequential.config import SequentialConfig
from bestresponse.studies.bench.sequential.findings import findings
from bestresponse.studies.bench.sequential.plan import STUDY, make_plan
from bestresponse.studies.bench.sequential.playing import make_player
from bestresponse.studies.bench.sequential.questions import Question
from bestresponse.studies.bench.sequential.results import METRICS, SequentialResults

__all__ = ["SequentialStudy"]

_CHARACTERS_PER_TOKEN = 4


class SequentialStudy(Study[SequentialConfig, SequentialResults]):
    """Exploitability, NashConv and regret by information set of the policies of models in a game played in turn."""

    name = STUDY
    config = SequentialConfig
    unit = "answers"
    metrics = METRICS

    def specs(self, config: SequentialConfig) -> Iterator[Spec]:
        """Yield every question."""
        return make_plan(config).specs()

    def count(self, config: SequentialConfig) -> int:
        """Count the questions."""
        return make_plan(config).total

    def make_player(self, config: SequentialConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that puts one question."""
        return make_player(make_plan(config), models)

    def measure(self, config: SequentialConfig, folder: RunFolder) -> SequentialResults:
        """Put the answers together to policies, and measure these."""
        return SequentialResults.measure(make_plan(config), folder.sorted_plays())

    def figures(self, results: SequentialResults) -> Figures:
        """List the metrics of every player and baseline."""
        return results.list_figures()

    def findings(self, results: SequentialResults, run: Run[Any]) -> Document:
        """Build the report."""
        return findings(results, run)

    def game(self, config: SequentialConfig, data: JsonMapping) -> Question:
        """Return the question of a spec."""
        return make_plan(config).make_question(data)

    def estimate(self, config: SequentialConfig) -> Estimate:
        """Count calls (every attempt) and tokens from the question at every information set."""
        plan = make_plan(config)
        questions = [plan.make_first_question(infoset) for infoset in plan.infosets]
        characters = sum(len(prompt(one.shown, one.ask, "line")) for one in questions)
        asked = sum(config.count_answers(way) for way in config.elicit) * config.policies * config.attempts
        calls = asked * len(plan.infosets)
        return Estimate(
            plan.total,
            f"{len(plan.infosets):,} of {len(plan.candidates):,} information sets of {plan.game.name}",
            dict.fromkeys(config.models, calls),
            dict.fromkeys(config.models, asked * characters // _CHARACTERS_PER_TOKEN),
            dict.fromkeys(config.models, calls * config.reply_tokens),
        )
