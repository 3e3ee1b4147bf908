"""Formalizing stories as a study: how well models turn the project's own stories into games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bestresponse.formal.formalize.outline.questions import QUESTION_COUNT
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.stories.config import StoriesConfig
from bestresponse.studies.stories.findings import findings
from bestresponse.studies.stories.measure import METRICS, StoriesResults, measure
from bestresponse.studies.stories.playing import STUDY, make_player, specs

__all__ = ["StoriesStudy"]

_CHARACTERS_PER_TOKEN = 4
_PROMPT_TOKENS = 2500
"""About what the instructions and one example take."""


class StoriesStudy(Study[StoriesConfig, StoriesResults]):
    """How often the program that a model writes for a story is the story's true game, level by level."""

    name = STUDY
    config = StoriesConfig
    unit = "stories"
    metrics = METRICS
    texts = (TEXTS,)

    def specs(self, config: StoriesConfig) -> Iterator[Spec]:
        """Yield every play as plain data."""
        return specs(config)

    def count(self, config: StoriesConfig) -> int:
        """Count the plays; None where that is not known."""
        return len(config.chosen()) * len(config.models) * config.samples

    def make_player(self, config: StoriesConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        return make_player(config, models, open_engine("embedded"))

    def measure(self, config: StoriesConfig, folder: RunFolder) -> StoriesResults:
        """Work out rows and summary from the finished plays."""
        order = {model: place for place, model in enumerate(config.models)}
        rows = tuple(
            sorted(
                measure(folder.sorted_plays(), open_engine("embedded")),
                key=lambda row: (order.get(row["model"], len(order)), row["story"], row["sample"]),
            )
        )
        return StoriesResults(rows, max(self.count(config) - len(rows), 0))

    def figures(self, results: StoriesResults) -> Figures:
        """List the metrics of every model."""
        return results.list_figures()

    def findings(self, results: StoriesResults, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def estimate(self, config: StoriesConfig) -> Estimate:
        """Count calls and tokens before anything is asked."""
        stories = config.chosen()
        each = config.samples * config.attempts * (QUESTION_COUNT if config.form == "outline" else 1)
        calls = len(stories) * each
        prompts = each * sum(_PROMPT_TOKENS + len(story.text) // _CHARACTERS_PER_TOKEN for story in stories)
        return Estimate(
            self.count(config),
            f"{len(stories)} stories",
            dict.fromkeys(config.models, calls),
            dict.fromkeys(config.models, prompts),
            dict.fromkeys(config.models, calls * config.max_tokens),
        )
