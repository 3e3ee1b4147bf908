"""A model in a rater's place: it marks both reasonings of a sample as people do.

It reads the protocol and both reasonings first.

Its marks go into a sheet of its own in the run's folder, and `report` sets them beside people's.
Neither GPT-4 Omni nor GPT-4 Turbo was reliable at this in the LELMA paper, so a model is never
counted among the raters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bestresponse.core.ask import Choice, Form, Words
from bestresponse.core.errors import BadReply, UsageError
from bestresponse.core.game import View
from bestresponse.core.texts import quote_lines
from bestresponse.core.told import prose
from bestresponse.models.base import Model
from bestresponse.players.llm.player import LlmPlayer, Sampling
from bestresponse.report.files import write_text
from bestresponse.report.tables import to_csv
from bestresponse.runs.inputs import ModelLike, ModelsSetting
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import Run, load_run
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.ratings import (
    ERROR_KINDS,
    SHEET,
    Rating,
    RunRow,
    list_sheet_rows,
    name_model_sheet,
)
from bestresponse.studies.verify.study import write_protocol
from bestresponse.studies.verify.texts import TEXTS

_MARKS = ("correct", "incorrect")
_ERRORS = Words(100, least=0)
_MARKING = Form((("first", Choice(_MARKS)), ("last", Choice(_MARKS)), ("errors", _ERRORS)))
_ATTEMPTS = 3
_LONGEST_REPLY = 2048
_LONGEST_SHOWN = 20_000
"""Characters of a reasoning that a judge is shown."""


def judge_reasoning(
    run: str | Path | Run[Any],
    model: ModelLike | Sequence[ModelLike],
    limits: ModelLimits | None = None,
) -> tuple[Path, ...]:
    """Let every model mark every sample of a run of `verify`, and write a sheet for each.

    The sheets lie beside those of people.

    A sample whose marks cannot be read is left out of the sheet; BadReply where none can be read.
    """
    loaded = run if isinstance(run, Run) else load_run(run)
    config = loaded.config
    if not isinstance(config, VerifyConfig):
        raise UsageError(f"{loaded.path} holds a run of {loaded.study.name}, not of verify")
    rows: Sequence[RunRow] = loaded.frame("runs").rows
    if not rows:
        raise UsageError(f"{loaded.path} holds no finished run whose reasoning could be judged")
    protocol = write_protocol(config)
    names = ModelsSetting.convert(model, stored=False)
    with open_models(names, loaded.path.parent, limits) as opened:
        return tuple(
            _write_sheet(loaded.path, rows, protocol, opened.models[name], limits) for name in names
        )


def _write_sheet(
    folder: Path, rows: Sequence[RunRow], protocol: str, model: Model, limits: ModelLimits | None
) -> Path:
    workers = (limits and limits.workers) or model.abilities.concurrency
    with ThreadPoolExecutor(workers, thread_name_prefix="judge") as pool:
        marked = list(pool.map(lambda row: mark_sample(row, protocol, model), rows))
    ratings = {
        row["run"]: rating for row, rating in zip(rows, marked, strict=True) if rating is not None
    }
    if not ratings:
        raise BadReply(f"{model.id} gave no marks that could be read")
    path = folder / name_model_sheet(model.id)
    sheet = list_sheet_rows(rows, lambda row: _write_marks(ratings.get(row["run"])))
    write_text(path, to_csv(sheet, SHEET))
    return path


def mark_sample(row: RunRow, protocol: str, model: Model) -> Rating | None:
    """Let a model mark the first and the last reasoning of a sample.

    Returns None where its answer cannot be used.
    """
    style = "reasoned" if model.abilities.schema else "line"
    judge = LlmPlayer(
        model,
        Sampling(max_tokens=_LONGEST_REPLY),
        style,  # type: ignore[arg-type]
        _ATTEMPTS,
        TEXTS.text("judge"),
    )
    first, last = (
        quote_lines(row["transcript"][place]["reasoning"][:_LONGEST_SHOWN]) for place in (0, -1)
    )
    question = TEXTS.fill("judged", protocol=protocol, game=row["game"], first=first, last=last)
    marks = judge.decide(View("judge", prose(question)), _MARKING).action
    if not isinstance(marks, Mapping):
        return None
    words = re.findall(r"[a-z]+", str(marks["errors"]).casefold())
    kinds = tuple(kind for kind in ERROR_KINDS if kind in words)
    return Rating(marks["first"] == "correct", marks["last"] == "correct", kinds)


def _write_marks(rating: Rating | None) -> dict[str, str]:
    if rating is None:
        return {}
    return {
        "first_correct": str(int(rating.first)),
        "last_correct": str(int(rating.last)),
        "error_kinds": "#".join(rating.kinds),
    }
