"""What Judge does, as JSON: tasks with transcripts from a run, a file or the call itself, scores, and agreement."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from bestresponse.core.errors import UsageError
from bestresponse.report.tables import to_csv
from bestresponse.web.api.common import Closed, Name, TableOut, problems, table_out
from bestresponse.web.judging.scores import (
    Criterion,
    Item,
    Score,
    Task,
    agreement,
    check_levels,
    items_from_csv,
    read_scores,
    rubrics,
    sheet_rows,
)
from bestresponse.web.judging.store import transcripts
from bestresponse.web.pages.judge import judging
from bestresponse.web.sessions.state import AdminApi, Credentials, Desk, Here

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=problems(), tags=["judge"])


class ItemIn(Closed):
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
def begin(desk: Here, given: TaskIn) -> TaskOut:
    """Set a task; the answer holds the token of every judge."""
    return _task(desk, desk.panel.begin(given.title, given.rubric, _items(desk, given), given.judges))


def _items(desk: Desk, given: TaskIn) -> tuple[Item, ...]:
    if sum(map(bool, (given.items, given.csv, given.run))) != 1:
        raise UsageError("give the transcripts as items, as csv or as the name of a run: one of these")
    if given.run:
        return transcripts(desk.runs.folder(given.run), given.count, secrets.randbelow(2**31))
    if given.csv:
        return items_from_csv(given.csv)
    return tuple(Item(item.id, item.text) for item in given.items)


def _task(desk: Desk, task: Task) -> TaskOut:
    tokens = {name: desk.keys.token("judge", task.id, number) for number, name in enumerate(task.judges)}
    return TaskOut(task=task.id, title=task.title, rubric=task.rubric, items=len(task.items), tokens=tokens)


@router.get("/judging", dependencies=[AdminApi])
def list_tasks(desk: Here) -> list[TaskOut]:
    """The newest first."""
    return [_task(desk, task) for task in desk.panel.tasks()]


@router.get("/judging/{task}", dependencies=[AdminApi])
def show_task(desk: Here, task: Name) -> ScoresOut:
    """All scores of a task, how far each judge is, and how far the judges agree."""
    found = desk.panel.task(task)
    scores = desk.panel.scores(task)
    done = {judge: len(desk.panel.done(task, judge)) for judge in found.judges}
    return ScoresOut(scores=scores, done=done, agreement=table_out(agreement(found, scores)))


@router.get("/judging/{task}/scores.csv", dependencies=[AdminApi], response_class=Response)
def download(desk: Here, task: Name) -> Response:
    """One row a judge and transcript, empty where nothing was said yet."""
    found = desk.panel.task(task)
    headers = {"content-disposition": 'attachment; filename="scores.csv"'}
    text = to_csv(sheet_rows(found, desk.panel.scores(task)))
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/judging/{task}/scores", status_code=201, dependencies=[AdminApi])
def upload(desk: Here, task: Name, given: SheetIn) -> ScoresOut:
    """Take the scores of a filled sheet; all of them or none."""
    found = desk.panel.task(task)
    desk.panel.give(found, *read_scores(found, given.csv))
    return show_task(desk, task)


def judging_api(
    request: Request,
    desk: Here,
    task: Name,
    judge: Annotated[int, Path(ge=0, le=999)],
    credentials: Credentials,
) -> tuple[Task, int]:
    return judging(request, desk, task, judge, credentials.credentials if credentials else "")


JudgingApi = Annotated[tuple[Task, int], Depends(judging_api)]


@router.get("/judging/{task}/{judge}")
def sheet(desk: Here, own: JudgingApi) -> SheetOut:
    """The sheet of one judge. Needs the token of that judge."""
    task, judge = own
    done = sorted(desk.panel.done(task.id, task.judges[judge]))
    return SheetOut(criteria=list(task.criteria), items=task.order(judge), done=done)


@router.post("/judging/{task}/{judge}")
def give(desk: Here, own: JudgingApi, given: ScoreIn) -> SheetOut:
    """Score one transcript; the last score counts. Needs the token of that judge."""
    task, judge = own
    levels, wrong = check_levels(task, {key: str(level) for key, level in given.levels.items()})
    if wrong or given.item not in {item.id for item in task.items}:
        raise UsageError("; ".join(f"{key}: {why}" for key, why in wrong.items()) or "there is no such transcript")
    desk.panel.give(task, Score(task.judges[judge], given.item, levels, given.remark))
    return sheet(desk, own)
