"""Judge: blinded transcripts under a rubric, by several judges with links of their own, keyboard enough."""

from __future__ import annotations

import secrets

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.web.access import AdminPage, JudgeDoor, PostedForm, Server, ServerState
from bestresponse.web.render import render_page, send_file
from bestresponse.web.services.judging import (
    Item,
    Task,
    draw_transcripts,
    read_items,
    read_scores,
    rubrics,
    tabulate_agreement,
)  # fmt: skip

__all__ = ["router"]

router = APIRouter(prefix="/judge", include_in_schema=False)
_MOST = 200


@router.get("", dependencies=[AdminPage])
def show(server: Server) -> HTMLResponse:
    """Show the tasks and the form for a new one."""
    return _show_tasks(server, {}, "")


def _show_tasks(server: ServerState, typed: dict[str, str], error: str) -> HTMLResponse:
    return render_page(
        "judge.html",
        422 if error else 200,
        tasks=server.judging.tasks(),
        runs=[(run.name, run.title) for run in server.runs.all()],
        rubrics=list(rubrics()),
        typed=typed,
        error=error,
        csrf=server.csrf(),
    )


@router.post("", dependencies=[AdminPage])
def begin(server: Server, form: PostedForm) -> Response:
    """Begin a task."""
    judges = [name.strip() for name in form.get("judges", "").replace(",", "\n").split("\n") if name.strip()]
    try:
        if not judges:
            raise UsageError("name at least one judge")
        title = form.get("title", "").strip() or "Judging"
        task = server.judging.begin(title, form.get("rubric", ""), _read_items(server, form), judges)
    except BestResponseError as error:
        return _show_tasks(server, form, str(error))
    return RedirectResponse(f"/judge/task/{task.id}", 303)


def _read_items(server: ServerState, form: dict[str, str]) -> tuple[Item, ...]:
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
    return _show_task(request, server, server.judging.task(task), "")


def _show_task(request: Request, server: ServerState, task: Task, error: str) -> HTMLResponse:
    base = str(request.base_url).rstrip("/")
    judges = [
        {"name": name, "link": base + server.judge_path(task.id, k), "done": len(server.judging.done(task.id, name))}
        for k, name in enumerate(task.judges)
    ]
    table = tabulate_agreement(task, server.judging.scores(task.id))
    places = {"task": task, "judges": judges, "table": table, "error": error, "csrf": server.csrf()}
    return render_page("judge_task.html", 422 if error else 200, **places)


@router.get("/task/{task}/scores.csv", dependencies=[AdminPage])
def download(server: Server, task: str) -> Response:
    """Send the scores as a file."""
    return send_file(server.judging.make_sheet(server.judging.task(task)))


@router.post("/task/{task}/scores", dependencies=[AdminPage])
def upload(request: Request, server: Server, task: str, form: PostedForm) -> Response:
    """Take the scores of a filled sheet."""
    found = server.judging.task(task)
    try:
        server.judging.give(found, *read_scores(found, form.get("sheet", "")))
    except BestResponseError as error:
        return _show_task(request, server, found, str(error))
    return RedirectResponse(f"/judge/task/{task}", 303)


@router.get("/by/{task}/{judge}/{token}")
def show_item(server: Server, sheet: JudgeDoor, item: str = "") -> HTMLResponse:
    """Show a judge the next transcript, or the one that was asked for."""
    return _show_item(server, *sheet, item, {}, {})


def _show_item(
    server: ServerState, task: Task, judge: int, wanted: str, typed: dict[str, str], wrong: dict[str, str]
) -> HTMLResponse:
    order = task.order(judge)
    done = server.judging.done(task.id, task.judges[judge])
    left = [item for item in order if item.id not in done]
    shown = next((item for item in order if item.id == wanted), left[0] if left else None)
    if shown is not None and not typed and shown.id in done:
        score = done[shown.id]
        typed = {**{key: str(level) for key, level in score.levels.items()}, "remark": score.remark}
    return render_page(
        "judge_item.html",
        422 if wrong else 200,
        task=task,
        item=shown,
        done=len(done),
        path=server.judge_path(task.id, judge),
        judged=[item.id for item in order if item.id in done],
        typed=typed,
        wrong=wrong,
        csrf=server.csrf(server.keys.token("judge", task.id, judge)),
    )


@router.post("/by/{task}/{judge}/{token}")
def score(server: Server, sheet: JudgeDoor, form: PostedForm) -> Response:
    """Keep the score of one transcript."""
    task, judge = sheet
    item = form.get("item", "")
    wrong = server.judging.judge(task, judge, item, form, form.get("remark", ""))
    if wrong:
        return _show_item(server, task, judge, item, form, wrong)
    return RedirectResponse(server.judge_path(task.id, judge), 303)
