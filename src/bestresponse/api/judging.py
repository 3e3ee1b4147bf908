"""Judge how residents act in runs of the water game.

Provides sheets for people, models that judge, and summaries of the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bestresponse.report.frames import Frame
from bestresponse.runs.inputs import ModelLike
from bestresponse.runs.models import ModelLimits
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings
from bestresponse.studies.water.judging import (
    ReasonRow,
    ResidentScore,
    ScaleRow,
    Selection,
    judge_run,
    list_reasons,
    make_sheets,
    read_sheets,
    summarise,
    write_scores,
)


@dataclass(frozen=True, slots=True)
class WaterScores:
    """The scores that people or models gave residents."""

    scores: tuple[ResidentScore, ...]

    def to_csv(self) -> str:
        """Write the scores as a filled sheet."""
        return write_scores(self.scores)

    def summarize(self, by: str | None = None) -> Frame[ScaleRow]:
        """Sum up each scale: means, quartiles, and how far judges agree; `by` groups the rows."""
        return summarise(self.scores, by)

    def list_reasons(self) -> Frame[ReasonRow]:
        """List why judges gave their scores, where they said so."""
        return list_reasons(self.scores)


def make_judging_sheets(
    run: str | Path | Run[RunSettings],
    judges: Sequence[str] = ("judge 1",),
    *,
    sample: int = 30,
    each: int | None = None,
    seed: int = 0,
) -> dict[str, str]:
    """Return an empty sheet (CSV) for each judge, to be filled in with whole numbers from 1 to 5.

    A `sample` of at most so many games is drawn at random; every game goes to `each` of the judges,
    to all of them where it is None.
    """
    return make_sheets(run, judges, Selection(sample, seed), each)


def judge_water(
    run: str | Path | Run[RunSettings],
    model: ModelLike | Sequence[ModelLike],
    *,
    sample: int = 5,
    seed: int = 0,
    limits: ModelLimits | None = None,
) -> WaterScores:
    """Let models judge the residents of a run on the six scales."""
    scores = judge_run(run, model, Selection(sample, seed), limits)
    return WaterScores(scores)


def read_scores(sheets: Iterable[str | Path]) -> WaterScores:
    """Read the sheets that people or models filled in."""
    return WaterScores(read_sheets(sheets))
