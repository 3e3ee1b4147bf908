"""Formalize: a story on the left, its program in the middle, the game on the right, refreshed as one types."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from bestresponse.core.errors import BestResponseError
from bestresponse.formal.formalize.autoformalizer import check_story
from bestresponse.web.formalizing.editor import check_program, examples
from bestresponse.web.formalizing.library import save_game, saved_games, saved_program, saved_story
from bestresponse.web.pages.render import page
from bestresponse.web.sessions.state import AdminPage, Desk, Here, Posted, check_csrf

__all__ = ["router"]

router = APIRouter(prefix="/formalize", include_in_schema=False, dependencies=[AdminPage])
_MOST = 100_000


@router.get("")
def show(desk: Here, example: str = "", saved: str = "") -> HTMLResponse:
    if saved:
        return _shown(desk, saved_story(desk.output, saved), saved_program(desk.output, saved))
    known = {one.name: one for one in examples()}
    chosen = known.get(example) or known["prisoners_dilemma"]
    return _shown(desk, chosen.story, chosen.program)


def _shown(desk: Desk, story: str, program: str, name: str = "", error: str = "") -> HTMLResponse:
    return page(
        "formalize.html",
        422 if error else 200,
        story=story,
        program=program,
        name=name,
        error=error,
        checked=check_program(program),
        examples=[one.name for one in examples()],
        saved=saved_games(desk.output),
        models=desk.models,
        csrf=desk.csrf("admin"),
    )


@router.post("/check")
def check(desk: Here, form: Posted) -> HTMLResponse:
    """The right-hand side for the program as it stands; nothing is kept."""
    check_csrf(desk, form, "admin")
    return page("formalize_game.html", checked=check_program(form.get("program", "")[:_MOST]))


@router.post("/save")
def save(desk: Here, form: Posted) -> Response:
    check_csrf(desk, form, "admin")
    story, program, name = (form.get(field, "") for field in ("story", "program", "name"))
    if form.get("do") == "check":
        return _shown(desk, story, program[:_MOST], name)
    try:
        save_game(desk.output, name.strip(), story, program[:_MOST])
    except BestResponseError as error:
        return _shown(desk, story, program, name, str(error))
    return RedirectResponse(f"/play/new?game=saved:{name.strip()}", 303)


@router.post("/help")
def ask_model(desk: Here, form: Posted) -> JSONResponse:
    """Let a model write or repair the program; the answer names the job to look at."""
    check_csrf(desk, form, "admin")
    story = check_story(form.get("story", ""))
    program, remark = form.get("program", "")[:_MOST], form.get("remark", "")[:2000]
    job = desk.helper.ask(form.get("model", ""), story, program, remark)
    return JSONResponse({"job": job.id})


@router.get("/help/{job}")
def look(desk: Here, job: str) -> JSONResponse:
    found = desk.helper.job(job)
    return JSONResponse({"lines": list(found.lines), "program": found.program, "done": found.done})
