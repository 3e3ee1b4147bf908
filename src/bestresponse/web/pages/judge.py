"""Judge: blinded transcripts under a rubric, by several judges with links of their own, keyboard enough."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.errors import BestResponseError
from bestresponse.report.tables import to_csv
from bestresponse.web.judging.scores import (
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
from bestresponse.web.pages.render import page
from bestresponse.web.sessions.state import AdminPage, Desk, Here, Posted, TooFast, check_csrf, refuse
from bestresponse.web.sessions.store import NoSuchTable

__all__ = ["router"]

router = APIRouter(prefix="/judge", include_in_schema=False)
_MOST = 200


@router.get("", dependencies=[AdminPage])
def show(desk: Here) -> HTMLResponse:
    return _shown(desk, {}, "")


def _shown(desk: Desk, typed: dict[str, str], error: str) -> HTMLResponse:
    return page(
        "judge.html",
        422 if error else 200,
        tasks=desk.panel.tasks(),
        runs=desk.runs.names(),
        rubrics=list(rubrics()),
        typed=typed,
        error=error,
        csrf=desk.csrf("admin"),
    )


@router.post("", dependencies=[AdminPage])
def begin(desk: Here, form: Posted) -> Response:
    check_csrf(desk, form, "admin")
    judges = [name.strip() for name in form.get("judges", "").replace(",", "\n").split("\n") if name.strip()]
    try:
        items = _items(desk, form)
        task = desk.panel.begin(form.get("title", "").strip() or "Judging", form.get("rubric", ""), items, judges)
    except BestResponseError as error:
        return _shown(desk, form, str(error))
    return RedirectResponse(f"/judge/task/{task.id}", 303)


def _items(desk: Desk, form: dict[str, str]) -> tuple[Item, ...]:
    if form.get("table", "").strip():
        return items_from_csv(form["table"])
    text = form.get("count", "").strip()
    count = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 20
    return transcripts(desk.runs.folder(form.get("run", "")), min(count, _MOST), secrets.randbelow(2**31))


@router.get("/task/{task}", dependencies=[AdminPage])
def show_task(request: Request, desk: Here, task: str) -> HTMLResponse:
    return _task_page(request, desk, desk.panel.task(task), "")


def _task_page(request: Request, desk: Desk, task: Task, error: str) -> HTMLResponse:
    base = str(request.base_url).rstrip("/")
    judges = [
        {"name": name, "link": base + _path(desk, task, number), "done": len(desk.panel.done(task.id, name))}
        for number, name in enumerate(task.judges)
    ]
    table = agreement(task, desk.panel.scores(task.id))
    return page(
        "judge_task.html",
        422 if error else 200,
        task=task,
        judges=judges,
        table=table,
        error=error,
        csrf=desk.csrf("admin"),
    )


@router.get("/task/{task}/scores.csv", dependencies=[AdminPage])
def download(desk: Here, task: str) -> Response:
    found = desk.panel.task(task)
    text = to_csv(sheet_rows(found, desk.panel.scores(task)))
    headers = {"content-disposition": 'attachment; filename="scores.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/task/{task}/scores", dependencies=[AdminPage])
def upload(request: Request, desk: Here, task: str, form: Posted) -> Response:
    check_csrf(desk, form, "admin")
    found = desk.panel.task(task)
    try:
        desk.panel.give(found, *read_scores(found, form.get("sheet", "")))
    except BestResponseError as error:
        return _task_page(request, desk, found, str(error))
    return RedirectResponse(f"/judge/task/{task}", 303)


def _path(desk: Desk, task: Task, judge: int) -> str:
    return f"/judge/by/{task.id}/{judge}/{desk.keys.token('judge', task.id, judge)}"


def judging(request: Request, desk: Here, task: str, judge: int, token: str) -> tuple[Task, int]:
    """The task and the judge whose link this is."""
    if not desk.keys.opens(token, "judge", task, judge):
        refused = refuse(request, desk)
        raise refused if isinstance(refused, TooFast) else NoSuchTable("this link leads to no sheet")
    return desk.panel.task(task), judge


Judging = Annotated[tuple[Task, int], Depends(judging)]


@router.get("/by/{task}/{judge}/{token}")
def show_item(desk: Here, sheet: Judging, item: str = "") -> HTMLResponse:
    return _item_page(desk, *sheet, item, {}, {})


def _item_page(
    desk: Desk, task: Task, judge: int, wanted: str, typed: dict[str, str], wrong: dict[str, str]
) -> HTMLResponse:
    order = task.order(judge)
    done = desk.panel.done(task.id, task.judges[judge])
    left = [item for item in order if item.id not in done]
    shown = next((item for item in order if item.id == wanted), left[0] if left else None)
    places: dict[str, Any] = {"task": task, "item": shown, "done": len(done), "path": _path(desk, task, judge)}
    places |= {"typed": typed, "wrong": wrong, "csrf": desk.csrf("judge", task.id, judge)}
    return page("judge_item.html", 422 if wrong else 200, **places)


@router.post("/by/{task}/{judge}/{token}")
def score(desk: Here, sheet: Judging, form: Posted) -> Response:
    task, judge = sheet
    check_csrf(desk, form, "judge", task.id, judge)
    item = form.get("item", "")
    if item not in {one.id for one in task.items}:
        raise NoSuchTable("there is no such transcript")
    levels, wrong = check_levels(task, form)
    if wrong:
        return _item_page(desk, task, judge, item, form, wrong)
    desk.panel.give(task, Score(task.judges[judge], item, levels, form.get("remark", "").strip()[:2000]))
    return RedirectResponse(_path(desk, task, judge), 303)
