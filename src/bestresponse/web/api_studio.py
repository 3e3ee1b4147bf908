"""The API of Formalize and Judge: check and save programs, ask a model for help, set judging tasks, give scores."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field

from bestresponse.core.errors import UsageError
from bestresponse.formal.autoformalizer import check_story
from bestresponse.report.tables import rows_of
from bestresponse.web.api import Closed, Name, problems
from bestresponse.web.desk import AdminApi, Credentials, Here
from bestresponse.web.formalizing import check_program
from bestresponse.web.judging import Item, Score, Task, agreement, check_levels
from bestresponse.web.library import save_game, saved_games
from bestresponse.web.pages_judge import judging

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=problems())
Program = Annotated[str, Field(max_length=100_000)]
Plain = dict[str, Any]


class ProgramIn(Closed):
    program: Program


class SaveIn(Closed):
    """A name of small letters, digits and hyphens, the story, and a program that is a game."""

    name: str = Field(max_length=60)
    story: str = Field("", max_length=50_000)
    program: Program


class HelpIn(Closed):
    """Without a program one is written; with one it is changed as `remark` says, or repaired."""

    model: str = Field(max_length=200)
    story: str = Field(max_length=50_000)
    program: Program = ""
    remark: str = Field("", max_length=2000)


class ItemIn(Closed):
    id: str = Field(min_length=1, max_length=80)
    text: str = Field(max_length=50_000)


class TaskIn(Closed):
    title: str = Field(max_length=200)
    rubric: str = Field(max_length=40)
    items: list[ItemIn] = Field(max_length=1000)
    judges: list[Annotated[str, Field(min_length=1, max_length=80)]] = Field(max_length=100)


class ScoreIn(Closed):
    """A level from 1 for each criterion of the rubric."""

    item: str = Field(max_length=80)
    levels: dict[str, int] = Field(max_length=40)
    remark: str = Field("", max_length=2000)


@router.post("/programs/check", dependencies=[AdminApi])
def check(given: ProgramIn) -> Plain:
    """Whether a program is a game, what is wrong with it by line, and the game in words."""
    checked = check_program(given.program)
    return {"ok": checked.ok, "diagnostics": [asdict(one) for one in checked.diagnostics], "words": checked.words}


@router.get("/programs", dependencies=[AdminApi])
def saved(desk: Here) -> list[str]:
    """The names of the saved games."""
    return list(saved_games(desk.output))


@router.post("/programs", status_code=201, dependencies=[AdminApi])
def save(desk: Here, given: SaveIn) -> list[str]:
    """Keep a program that is a game."""
    save_game(desk.output, given.name, given.story, given.program)
    return saved(desk)


@router.post("/programs/help", status_code=202, dependencies=[AdminApi])
def ask_model(desk: Here, given: HelpIn) -> Plain:
    """Let a model write or repair a program."""
    return asdict(desk.helper.ask(given.model, check_story(given.story), given.program, given.remark))


@router.get("/programs/help/{job}", dependencies=[AdminApi])
def look(desk: Here, job: Name) -> Plain:
    """How far the model is."""
    return asdict(desk.helper.job(job))


@router.post("/judging", status_code=201, dependencies=[AdminApi])
def begin(desk: Here, given: TaskIn) -> Plain:
    """Set a task; the answer holds the token of every judge."""
    items = [Item(item.id, item.text) for item in given.items]
    task = desk.panel.begin(given.title, given.rubric, items, given.judges)
    tokens = {name: desk.keys.token("judge", task.id, number) for number, name in enumerate(task.judges)}
    return {"task": task.id, "tokens": tokens}


@router.get("/judging", dependencies=[AdminApi])
def list_tasks(desk: Here) -> list[Plain]:
    """The newest first."""
    return [{"task": t.id, "title": t.title, "rubric": t.rubric, "judges": list(t.judges)} for t in desk.panel.tasks()]


@router.get("/judging/{task}", dependencies=[AdminApi])
def show(desk: Here, task: Name) -> Plain:
    """All scores of a task and how far the judges agree."""
    found = desk.panel.task(task)
    scores = desk.panel.scores(task)
    return {"scores": [asdict(score) for score in scores], "agreement": rows_of(agreement(found, scores))}


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
def sheet(desk: Here, own: JudgingApi) -> Plain:
    """The transcripts in the order of that judge, the rubric, and what is judged already."""
    task, judge = own
    criteria = [asdict(criterion) for criterion in task.criteria]
    items = [asdict(item) for item in task.order(judge)]
    return {"criteria": criteria, "items": items, "done": sorted(desk.panel.done(task.id, task.judges[judge]))}


@router.post("/judging/{task}/{judge}")
def give(desk: Here, own: JudgingApi, given: ScoreIn) -> Plain:
    """Score one transcript; the last score counts."""
    task, judge = own
    levels, wrong = check_levels(task, {key: str(level) for key, level in given.levels.items()})
    if wrong or given.item not in {item.id for item in task.items}:
        raise UsageError("; ".join(f"{key}: {why}" for key, why in wrong.items()) or "there is no such transcript")
    desk.panel.give(task, Score(task.judges[judge], given.item, levels, given.remark))
    return sheet(desk, own)
