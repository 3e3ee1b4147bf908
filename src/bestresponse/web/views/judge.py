"""Judge, as pages and as calls for programs.

Judges with their own keys judge blinded transcripts under a rubric.
"""

import secrets
from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.web import render
from bestresponse.web.access import (
    AdminApi,
    AdminPage,
    Bearer,
    JudgeDoor,
    Name,
    PostedForm,
    Server,
    ServerState,
)
from bestresponse.web.pages import JudgedItemPage, JudgeProgress, JudgingPage, TaskPage
from bestresponse.web.services import judging
from bestresponse.web.sessions.journal import SESSIONS
from bestresponse.web.sessions.setup import read_checked

pages = APIRouter(prefix="/judge", include_in_schema=False)
calls = APIRouter(
    prefix="/api", responses=render.describe_errors(), tags=["judge"], dependencies=[Bearer]
)
_MOST = 200


@pages.get("", dependencies=[AdminPage])
def show_judging(server: Server) -> HTMLResponse:
    """Show the tasks and the form for a new one."""
    return _show_tasks(server, {}, "")


def _show_tasks(server: ServerState, typed: dict[str, str], error: str) -> HTMLResponse:
    runs = [(run.name, run.title) for run in server.runs.all() if run.status != "unreadable"]
    if server.sessions.journal.folder.finished():
        runs.append((SESSIONS, "games played on this server"))
    page = JudgingPage(
        csrf=server.csrf(),
        error=error,
        tasks=server.judging.tasks(),
        runs=runs,
        rubrics=list(judging.rubrics()),
        typed=typed,
    )
    return render.render_form(page)


@pages.post("", dependencies=[AdminPage])
def begin_task(server: Server, form: PostedForm) -> Response:
    """Begin a task."""
    judges = [
        name.strip()
        for name in form.get("judges", "").replace(",", "\n").split("\n")
        if name.strip()
    ]
    count = form.get("count", "").strip()
    values: JsonObject = {name: form.get(name, "").strip() for name in ("rubric", "run", "player")}
    csv = form.get("table", "").strip()
    title = form.get("title", "").strip() or "Judging"
    # A table that was typed or chosen counts before the run that is always chosen in the form.
    values |= {"csv": csv, "run": ""} if csv else {}
    number = (
        min(int(count), _MOST) if count.isascii() and count.isdigit() and len(count) < 5 else 20
    )
    values |= {
        "title": title,
        "judges": judges,
        "count": number,
        "silent": form.get("silent") == "yes",
    }
    try:
        task = _begin_task(server, read_checked(TaskIn, values))
    except BestResponseError as error:
        return _show_tasks(server, form, str(error))
    return RedirectResponse(f"/judge/task/{task.id}", 303)


def _begin_task(server: ServerState, wanted: "TaskIn") -> judging.JudgingTask:
    if sum(map(bool, (wanted.items, wanted.csv, wanted.run))) != 1:
        raise UsageError(
            "give the transcripts as items, as csv or as the name of a run: one of these"
        )
    if wanted.run:
        folder = server.runs.folder(wanted.run)
        seed = secrets.randbelow(2**31)
        items = judging.draw_transcripts(folder, wanted.count, seed, wanted.player, wanted.silent)
    else:
        items = judging.read_items(wanted.csv) if wanted.csv else tuple(wanted.items)
    return server.judging.begin(wanted.title, wanted.rubric, items, wanted.judges)


@pages.get("/task/{task}", dependencies=[AdminPage])
def watch_task(request: Request, server: Server, task: str) -> HTMLResponse:
    """Show how far the judges are and how far they agree."""
    return _show_task(request, server, server.judging.task(task), "")


def _show_task(
    request: Request, server: ServerState, task: judging.JudgingTask, error: str
) -> HTMLResponse:
    base = str(request.base_url).rstrip("/")
    judges = []
    for number, name in enumerate(task.judges):
        link = base + server.judge_path(task.id, number)
        done = len(server.judging.done(task.id, name))
        judges.append(JudgeProgress(name, link, done))
    table = judging.tabulate_agreement(task, server.judging.scores(task.id))
    page = TaskPage(csrf=server.csrf(), error=error, task=task, judges=judges, table=table)
    return render.render_form(page)


@pages.get("/task/{task}/scores.csv", dependencies=[AdminPage])
@calls.get("/judging/{task}/scores.csv", dependencies=[AdminApi], response_class=Response)
def download_scores(server: Server, task: Name) -> Response:
    """Send a file with one row per judge and transcript, empty where nothing was said yet."""
    return render.send_file(
        "scores.csv", "text/csv", server.judging.make_sheet(server.judging.task(task))
    )


@pages.post("/task/{task}/scores", dependencies=[AdminPage])
def upload_scores(request: Request, server: Server, task: str, form: PostedForm) -> Response:
    """Take the scores of a filled sheet."""
    try:
        server.judging.give_sheet(server.judging.task(task), form.get("sheet", ""))
    except BestResponseError as error:
        return _show_task(request, server, server.judging.task(task), str(error))
    return RedirectResponse(f"/judge/task/{task}", 303)


@pages.get("/by/{task}/{judge}/{token}")
def show_item(server: Server, sheet: JudgeDoor, item: str = "") -> HTMLResponse:
    """Show a judge the next transcript, or the one that was asked for."""
    return _show_item(server, sheet, item, {}, {})


def _show_item(
    server: ServerState, door: JudgeDoor, wanted: str, typed: dict[str, str], wrong: dict[str, str]
) -> HTMLResponse:
    task, judge = door
    order = task.order(judge)
    done = server.judging.done(task.id, task.judges[judge])
    left = [item for item in order if item.id not in done]
    shown = next((item for item in order if item.id == wanted), left[0] if left else None)
    if shown is not None and not typed and shown.id in done:
        score = done[shown.id]
        typed = {**{key: str(level) for key, level in score.levels.items()}, "remark": score.remark}
    page = JudgedItemPage(
        task=task,
        item=shown,
        judged=[item.id for item in order if item.id in done],
        typed=typed,
        wrong=wrong,
        path=server.judge_path(task.id, judge),
        csrf=server.csrf(server.keys.token("judge", task.id, judge)),
    )
    return render.render_page(page, 422 if wrong else 200)


@pages.post("/by/{task}/{judge}/{token}")
def score(server: Server, sheet: JudgeDoor, form: PostedForm) -> Response:
    """Keep the score of one transcript."""
    item = form.get("item", "")
    wrong = server.judging.judge(*sheet, item, form, form.get("remark", ""))
    if wrong:
        return _show_item(server, sheet, item, form, wrong)
    return RedirectResponse(server.judge_path(sheet[0].id, sheet[1]), 303)


class TaskIn(render.Closed):
    """Transcripts to judge, which come from one place.

    This is `items`, the text of a `csv` file, or `count` drawn from a `run`.

    Drawn are seats whose player has `player` in its name, those without a word of reasoning only if
    `silent`.
    """

    title: str = Field(max_length=200)
    rubric: str = Field(max_length=40)
    judges: list[Annotated[str, Field(min_length=1, max_length=80)]] = Field(max_length=100)
    items: list[judging.JudgedItem] = Field(default_factory=list, max_length=1000)
    csv: str = Field("", max_length=900_000)
    run: str = Field("", max_length=80)
    count: int = Field(20, ge=1, le=_MOST)
    player: str = Field("", max_length=200)
    silent: bool = False


class ScoreIn(render.Closed):
    """A level from 1 for each criterion of the rubric."""

    item: str = Field(max_length=80)
    levels: dict[str, int] = Field(max_length=40)
    remark: str = Field("", max_length=2000)


Answer = dict[str, object]
calls.get("/rubrics", dependencies=[AdminApi])(judging.rubrics)


@calls.post("/judging", status_code=201, dependencies=[AdminApi])
def begin(server: Server, body: TaskIn) -> Answer:
    """Set a task; the answer holds the token of every judge."""
    return _describe_task(server, _begin_task(server, body))


def _describe_task(server: ServerState, task: judging.JudgingTask) -> Answer:
    tokens = {
        name: server.keys.token("judge", task.id, number) for number, name in enumerate(task.judges)
    }
    return {
        "task": task.id,
        "title": task.title,
        "rubric": task.rubric,
        "items": len(task.items),
        "tokens": tokens,
    }


@calls.get("/judging", dependencies=[AdminApi])
def list_judging(server: Server) -> list[Answer]:
    """The newest first."""
    return [_describe_task(server, task) for task in server.judging.tasks()]


@calls.get("/judging/{task}", dependencies=[AdminApi])
def show_task(server: Server, task: Name) -> Answer:
    """All scores of a task, how far each judge is, and how far the judges agree."""
    described = server.judging.task(task)
    scores = server.judging.scores(task)
    done = {judge: len(server.judging.done(task, judge)) for judge in described.judges}
    agreement = render.serialize_table(judging.tabulate_agreement(described, scores))
    return {"scores": scores, "done": done, "agreement": agreement}


@calls.post("/judging/{task}/scores", status_code=201, dependencies=[AdminApi])
def upload(
    server: Server, task: Name, csv: Annotated[str, Body(embed=True, max_length=900_000)]
) -> Answer:
    """Take the scores of a filled sheet as CSV; all of them or none."""
    server.judging.give_sheet(server.judging.task(task), csv)
    return show_task(server, task)


@calls.get("/judging/{task}/{judge}")
def sheet(server: Server, door: JudgeDoor) -> Answer:
    """The rubric, the transcripts in the order of one judge, and what is judged.

    Needs the token of that judge.
    """
    task, judge = door
    done = sorted(server.judging.done(task.id, task.judges[judge]))
    return {"criteria": task.criteria, "items": task.order(judge), "done": done}


@calls.post("/judging/{task}/{judge}")
def give(server: Server, door: JudgeDoor, body: ScoreIn) -> Answer:
    """Score one transcript; the last score counts. Needs the token of that judge."""
    levels = {key: str(level) for key, level in body.levels.items()}
    wrong = server.judging.judge(*door, body.item, levels, body.remark)
    if wrong:
        raise UsageError("; ".join(f"{key}: {why}" for key, why in wrong.items()))
    return sheet(server, door)
