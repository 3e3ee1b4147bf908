"""What Judge does, as JSON: tasks with transcripts from a run, a file or the call itself, scores, and agreement."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, Field

from bestresponse.core.errors import UsageError
from bestresponse.web.access import AdminApi, JudgeDoor, Name, Server, ServerState
from bestresponse.web.api.common import Closed, TableOut, describe_errors, serialize_table
from bestresponse.web.render import send_file
from bestresponse.web.services.judging import (
    Criterion,
    Item,
    Score,
    Task,
    draw_transcripts,
    read_items,
    read_scores,
    rubrics,
    tabulate_agreement,
)  # fmt: skip

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=describe_errors(), tags=["judge"])


class ItemIn(Closed):
    """A transcript with its name."""

    id: str = Field(min_length=1, max_length=80)
    text: str = Field(max_length=50_000)


class TaskIn(Closed):
    """Transcripts come from one place: `items`, the text of a `csv` file, or `count` drawn from a `run`."""

    title: str = Field(max_length=200)
    rubric: str = Field(max_length=40)
    judges: list[Annotated[str, Field(min_length=1, max_length=80)]] = Field(max_length=100)
    items: list[ItemIn] = Field(default_factory=list, max_length=1000)
    csv: str = Field("", max_length=900_000)
    run: str = Field("", max_length=80)
    count: int = Field(20, ge=1, le=200)


class ScoreIn(Closed):
    """A level from 1 for each criterion of the rubric."""

    item: str = Field(max_length=80)
    levels: dict[str, int] = Field(max_length=40)
    remark: str = Field("", max_length=2000)


class SheetIn(Closed):
    """A filled sheet as CSV."""

    csv: str = Field(max_length=900_000)


class TaskOut(BaseModel):
    """A task with the token of every judge."""

    task: str
    title: str
    rubric: str
    items: int
    tokens: dict[str, str]


class ScoresOut(BaseModel):
    """All scores, how many each judge gave, and how far the judges agree."""

    scores: list[Score]
    done: dict[str, int]
    agreement: TableOut


class SheetOut(BaseModel):
    """The transcripts in the order of that judge, the rubric, and what is judged already."""

    criteria: list[Criterion]
    items: list[Item]
    done: list[str]


@router.get("/rubrics", dependencies=[AdminApi])
def list_rubrics() -> dict[str, list[Criterion]]:
    """What can be judged by: the criteria of every rubric with their levels."""
    return {name: list(criteria) for name, criteria in rubrics().items()}


@router.post("/judging", status_code=201, dependencies=[AdminApi])
def begin(server: Server, given: TaskIn) -> TaskOut:
    """Set a task; the answer holds the token of every judge."""
    if sum(map(bool, (given.items, given.csv, given.run))) != 1:
        raise UsageError("give the transcripts as items, as csv or as the name of a run: one of these")
    if given.run:
        items = draw_transcripts(server.runs.folder(given.run), given.count, secrets.randbelow(2**31))
    else:
        items = read_items(given.csv) if given.csv else tuple(Item(item.id, item.text) for item in given.items)
    return _describe_task(server, server.judging.begin(given.title, given.rubric, items, given.judges))


def _describe_task(server: ServerState, task: Task) -> TaskOut:
    tokens = {name: server.keys.token("judge", task.id, number) for number, name in enumerate(task.judges)}
    return TaskOut(task=task.id, title=task.title, rubric=task.rubric, items=len(task.items), tokens=tokens)


@router.get("/judging", dependencies=[AdminApi])
def list_tasks(server: Server) -> list[TaskOut]:
    """The newest first."""
    return [_describe_task(server, task) for task in server.judging.tasks()]


@router.get("/judging/{task}", dependencies=[AdminApi])
def show_task(server: Server, task: Name) -> ScoresOut:
    """All scores of a task, how far each judge is, and how far the judges agree."""
    found, scores = server.judging.task(task), server.judging.scores(task)
    done = {judge: len(server.judging.done(task, judge)) for judge in found.judges}
    return ScoresOut(scores=scores, done=done, agreement=serialize_table(tabulate_agreement(found, scores)))


@router.get("/judging/{task}/scores.csv", dependencies=[AdminApi], response_class=Response)
def download(server: Server, task: Name) -> Response:
    """One row a judge and transcript, empty where nothing was said yet."""
    return send_file(server.judging.make_sheet(server.judging.task(task)))


@router.post("/judging/{task}/scores", status_code=201, dependencies=[AdminApi])
def upload(server: Server, task: Name, given: SheetIn) -> ScoresOut:
    """Take the scores of a filled sheet; all of them or none."""
    found = server.judging.task(task)
    server.judging.give(found, *read_scores(found, given.csv))
    return show_task(server, task)


@router.get("/judging/{task}/{judge}")
def sheet(server: Server, own: JudgeDoor) -> SheetOut:
    """The sheet of one judge. Needs the token of that judge."""
    task, judge = own
    done = sorted(server.judging.done(task.id, task.judges[judge]))
    return SheetOut(criteria=list(task.criteria), items=task.order(judge), done=done)


@router.post("/judging/{task}/{judge}")
def give(server: Server, own: JudgeDoor, given: ScoreIn) -> SheetOut:
    """Score one transcript; the last score counts. Needs the token of that judge."""
    task, judge = own
    levels = {key: str(level) for key, level in given.levels.items()}
    wrong = server.judging.judge(task, judge, given.item, levels, given.remark)
    if wrong:
        raise UsageError("; ".join(f"{key}: {why}" for key, why in wrong.items()))
    return sheet(server, own)
