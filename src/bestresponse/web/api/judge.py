"""What Judge does, as JSON: tasks with transcripts from a run, a file or the call itself, scores, and agreement."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from bestresponse.core.errors import UsageError
from bestresponse.report.tables import to_csv
from bestresponse.web.api.common import Closed, Name, TableOut, describe_errors, serialize_table
from bestresponse.web.pages.judge import judging
from bestresponse.web.services.judging import (
    Criterion,
    Item,
    Score,
    Task,
    check_levels,
    draw_transcripts,
    list_sheet_rows,
    read_items,
    read_scores,
    rubrics,
    tabulate_agreement,
)
from bestresponse.web.sessions.state import AdminApi, Credentials, Server, ServerState

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
    return _task(server, server.judging.begin(given.title, given.rubric, _items(server, given), given.judges))


def _items(server: ServerState, given: TaskIn) -> tuple[Item, ...]:
    if sum(map(bool, (given.items, given.csv, given.run))) != 1:
        raise UsageError("give the transcripts as items, as csv or as the name of a run: one of these")
    if given.run:
        return draw_transcripts(server.runs.folder(given.run), given.count, secrets.randbelow(2**31))
    if given.csv:
        return read_items(given.csv)
    return tuple(Item(item.id, item.text) for item in given.items)


def _task(server: ServerState, task: Task) -> TaskOut:
    tokens = {name: server.keys.token("judge", task.id, number) for number, name in enumerate(task.judges)}
    return TaskOut(task=task.id, title=task.title, rubric=task.rubric, items=len(task.items), tokens=tokens)


@router.get("/judging", dependencies=[AdminApi])
def list_tasks(server: Server) -> list[TaskOut]:
    """The newest first."""
    return [_task(server, task) for task in server.judging.tasks()]


@router.get("/judging/{task}", dependencies=[AdminApi])
def show_task(server: Server, task: Name) -> ScoresOut:
    """All scores of a task, how far each judge is, and how far the judges agree."""
    found = server.judging.task(task)
    scores = server.judging.scores(task)
    done = {judge: len(server.judging.done(task, judge)) for judge in found.judges}
    return ScoresOut(scores=scores, done=done, agreement=serialize_table(tabulate_agreement(found, scores)))


@router.get("/judging/{task}/scores.csv", dependencies=[AdminApi], response_class=Response)
def download(server: Server, task: Name) -> Response:
    """One row a judge and transcript, empty where nothing was said yet."""
    found = server.judging.task(task)
    headers = {"content-disposition": 'attachment; filename="scores.csv"'}
    text = to_csv(list_sheet_rows(found, server.judging.scores(task)))
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/judging/{task}/scores", status_code=201, dependencies=[AdminApi])
def upload(server: Server, task: Name, given: SheetIn) -> ScoresOut:
    """Take the scores of a filled sheet; all of them or none."""
    found = server.judging.task(task)
    server.judging.give(found, *read_scores(found, given.csv))
    return show_task(server, task)


def judging_api(
    request: Request,
    server: Server,
    task: Name,
    judge: Annotated[int, Path(ge=0, le=999)],
    credentials: Credentials,
) -> tuple[Task, int]:
    """Find the task and the judge whose token was sent."""
    return judging(request, server, task, judge, credentials.credentials if credentials else "")


JudgingApi = Annotated[tuple[Task, int], Depends(judging_api)]


@router.get("/judging/{task}/{judge}")
def sheet(server: Server, own: JudgingApi) -> SheetOut:
    """The sheet of one judge. Needs the token of that judge."""
    task, judge = own
    done = sorted(server.judging.done(task.id, task.judges[judge]))
    return SheetOut(criteria=list(task.criteria), items=task.order(judge), done=done)


@router.post("/judging/{task}/{judge}")
def give(server: Server, own: JudgingApi, given: ScoreIn) -> SheetOut:
    """Score one transcript; the last score counts. Needs the token of that judge."""
    task, judge = own
    levels, wrong = check_levels(task, {key: str(level) for key, level in given.levels.items()})
    if wrong or given.item not in {item.id for item in task.items}:
        raise UsageError("; ".join(f"{key}: {why}" for key, why in wrong.items()) or "there is no such transcript")
    server.judging.give(task, Score(task.judges[judge], given.item, levels, given.remark))
    return sheet(server, own)
