"""Judge: blinded transcripts under a rubric, by several judges with links of their own, keyboard enough."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.report.tables import to_csv
from bestresponse.web.pages.render import render_page
from bestresponse.web.services.judging import (
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
from bestresponse.web.sessions.state import (
    AdminForm,
    AdminPage,
    PostedForm,
    Server,
    ServerState,
    TooFast,
    check_csrf,
    refuse,
)
from bestresponse.web.sessions.store import NotFound

__all__ = ["router"]

router = APIRouter(prefix="/judge", include_in_schema=False)
_MOST = 200


@router.get("", dependencies=[AdminPage])
def show(server: Server) -> HTMLResponse:
    """Show the tasks and the form for a new one."""
    return _shown(server, {}, "")


def _shown(server: ServerState, typed: dict[str, str], error: str) -> HTMLResponse:
    return render_page(
        "judge.html",
        422 if error else 200,
        tasks=server.judging.tasks(),
        runs=[(run.name, run.title) for run in server.runs.all()],
        rubrics=list(rubrics()),
        typed=typed,
        error=error,
        csrf=server.csrf("admin"),
    )


@router.post("", dependencies=[AdminPage])
def begin(server: Server, form: AdminForm) -> Response:
    """Begin a task."""
    judges = [name.strip() for name in form.get("judges", "").replace(",", "\n").split("\n") if name.strip()]
    try:
        if not judges:
            raise UsageError("name at least one judge")
        items = _items(server, form)
        task = server.judging.begin(form.get("title", "").strip() or "Judging", form.get("rubric", ""), items, judges)
    except BestResponseError as error:
        return _shown(server, form, str(error))
    return RedirectResponse(f"/judge/task/{task.id}", 303)


def _items(server: ServerState, form: dict[str, str]) -> tuple[Item, ...]:
    if form.get("table", "").strip():
        return read_items(form["table"])
    text = form.get("count", "").strip()
    count = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 20
    folder = server.runs.folder(form.get("run", ""))
    player, silent = form.get("player", "").strip(), form.get("silent") == "yes"
    return draw_transcripts(folder, min(count, _MOST), secrets.randbelow(2**31), player, silent)


@router.get("/task/{task}", dependencies=[AdminPage])
def show_task(request: Request, server: Server, task: str) -> HTMLResponse:
    """Show how far the judges are and how far they agree."""
    return _task_page(request, server, server.judging.task(task), "")


def _task_page(request: Request, server: ServerState, task: Task, error: str) -> HTMLResponse:
    base = str(request.base_url).rstrip("/")
    judges = [
        {"name": name, "link": base + _path(server, task, number), "done": len(server.judging.done(task.id, name))}
        for number, name in enumerate(task.judges)
    ]
    table = tabulate_agreement(task, server.judging.scores(task.id))
    return render_page(
        "judge_task.html",
        422 if error else 200,
        task=task,
        judges=judges,
        table=table,
        error=error,
        csrf=server.csrf("admin"),
    )


@router.get("/task/{task}/scores.csv", dependencies=[AdminPage])
def download(server: Server, task: str) -> Response:
    """Send the scores as a file."""
    found = server.judging.task(task)
    text = to_csv(list_sheet_rows(found, server.judging.scores(task)))
    headers = {"content-disposition": 'attachment; filename="scores.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/task/{task}/scores", dependencies=[AdminPage])
def upload(request: Request, server: Server, task: str, form: AdminForm) -> Response:
    """Take the scores of a filled sheet."""
    found = server.judging.task(task)
    try:
        server.judging.give(found, *read_scores(found, form.get("sheet", "")))
    except BestResponseError as error:
        return _task_page(request, server, found, str(error))
    return RedirectResponse(f"/judge/task/{task}", 303)


def _path(server: ServerState, task: Task, judge: int) -> str:
    return f"/judge/by/{task.id}/{judge}/{server.keys.token('judge', task.id, judge)}"


def judging(request: Request, server: Server, task: str, judge: int, token: str) -> tuple[Task, int]:
    """The task and the judge whose link this is."""
    if not server.keys.opens(token, "judge", task, judge):
        refused = refuse(request, server)
        raise refused if isinstance(refused, TooFast) else NotFound("this link leads to no sheet")
    return server.judging.task(task), judge


Judging = Annotated[tuple[Task, int], Depends(judging)]


@router.get("/by/{task}/{judge}/{token}")
def show_item(server: Server, sheet: Judging, item: str = "") -> HTMLResponse:
    """Show a judge the next transcript, or the one that was asked for."""
    return _item_page(server, *sheet, item, {}, {})


def _item_page(
    server: ServerState, task: Task, judge: int, wanted: str, typed: dict[str, str], wrong: dict[str, str]
) -> HTMLResponse:
    order = task.order(judge)
    done = server.judging.done(task.id, task.judges[judge])
    left = [item for item in order if item.id not in done]
    shown = next((item for item in order if item.id == wanted), left[0] if left else None)
    places: JsonObject = {"task": task, "item": shown, "done": len(done), "path": _path(server, task, judge)}
    if shown is not None and not typed and shown.id in done:
        typed = _recall(server, task, judge, shown.id)
    places |= {"judged": [item.id for item in order if item.id in done]}
    places |= {"typed": typed, "wrong": wrong, "csrf": server.csrf("judge", task.id, judge)}
    return render_page("judge_item.html", 422 if wrong else 200, **places)


def _recall(server: ServerState, task: Task, judge: int, item: str) -> dict[str, str]:
    """Return the score that the judge gave, as the form has it."""
    own = [one for one in server.judging.scores(task.id) if (one.judge, one.item) == (task.judges[judge], item)]
    return {**{key: str(level) for key, level in own[-1].levels.items()}, "remark": own[-1].remark} if own else {}


@router.post("/by/{task}/{judge}/{token}")
def score(server: Server, sheet: Judging, form: PostedForm) -> Response:
    """Keep the score of one transcript."""
    task, judge = sheet
    check_csrf(server, form, "judge", task.id, judge)
    item = form.get("item", "")
    if item not in {one.id for one in task.items}:
        raise NotFound("there is no such transcript")
    levels, wrong = check_levels(task, form)
    if wrong:
        return _item_page(server, task, judge, item, form, wrong)
    server.judging.give(task, Score(task.judges[judge], item, levels, form.get("remark", "").strip()[:2000]))
    return RedirectResponse(_path(server, task, judge), 303)
