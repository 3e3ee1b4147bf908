"""Formalize: a story on the left, its program in the middle, the game on the right, refreshed as one types."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from bestresponse.core.errors import BestResponseError
from bestresponse.formal.formalize.autoformalizer import check_story
from bestresponse.formal.formalize.examples import library
from bestresponse.web.access import AdminPage, PostedForm, Server, ServerState
from bestresponse.web.render import render_page
from bestresponse.web.services.formalizing import check_program, list_saved_games, load_program, load_story, save_game

__all__ = ["router"]

router = APIRouter(prefix="/formalize", include_in_schema=False, dependencies=[AdminPage])
_MOST = 100_000


@router.get("")
def show(server: Server, example: str = "", saved: str = "") -> HTMLResponse:
    """Show an example, a saved game, or the first example."""
    if saved:
        return _show(server, load_story(server.output, saved), load_program(server.output, saved))
    known = {story.name: story for story in library()}
    chosen = known.get(example) or known["prisoners_dilemma"]
    return _show(server, chosen.story, chosen.program)


def _show(server: ServerState, story: str, program: str, name: str = "", error: str = "") -> HTMLResponse:
    return render_page(
        "formalize.html",
        422 if error else 200,
        story=story,
        program=program,
        name=name,
        error=error,
        checked=check_program(program),
        examples=[story.name for story in library()],
        saved=list_saved_games(server.output),
        models=server.models,
        csrf=server.csrf(),
    )


@router.post("/check")
def check(form: PostedForm) -> HTMLResponse:
    """Show the right-hand side for the program as it stands; nothing is kept."""
    return render_page("formalize_game.html", checked=check_program(form.get("program", "")[:_MOST]))


@router.post("/save")
def save(server: Server, form: PostedForm) -> Response:
    """Check or save the program."""
    story, program, name = form.get("story", ""), form.get("program", "")[:_MOST], form.get("name", "").strip()
    if form.get("do") == "check":
        return _show(server, story, program, name)
    try:
        save_game(server.output, name, story, program)
    except BestResponseError as error:
        return _show(server, story, program, name, str(error))
    return RedirectResponse(f"/play/new?game=saved:{name}", 303)


@router.post("/help")
def ask_model(server: Server, form: PostedForm) -> JSONResponse:
    """Let a model write or repair the program; the answer names the job to look at."""
    story = check_story(form.get("story", ""))
    program, remark = form.get("program", "")[:_MOST], form.get("remark", "")[:2000]
    return JSONResponse({"job": server.helper.ask(form.get("model", ""), story, program, remark).id})


@router.get("/help/{job}")
def look(server: Server, job: str) -> JSONResponse:
    """Say how far a job is."""
    found = server.helper.job(job)
    return JSONResponse({"lines": found.lines, "program": found.program, "done": found.done})


@router.post("/help/{job}/cancel")
def cancel(server: Server, job: str, form: PostedForm) -> JSONResponse:
    """Give a job up."""
    found = server.helper.cancel(job)
    return JSONResponse({"lines": found.lines, "done": found.done})
