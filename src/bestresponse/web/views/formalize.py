"""Formalize, as pages and as calls for programs.

This covers a story, its program, the game that it tells, and a model's help.
"""

from typing import Annotated

from fastapi import APIRouter, Body
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field

from bestresponse.core.errors import BestResponseError
from bestresponse.formal.formalize.autoformalizer import check_story
from bestresponse.formal.formalize.plan import FIRST, Example, library
from bestresponse.report.document import Document
from bestresponse.web.access import (
    AdminApi,
    AdminPage,
    Bearer,
    Name,
    PostedForm,
    Server,
    ServerState,
)
from bestresponse.web.pages import CheckedGame, FormalizePage
from bestresponse.web.render import (
    Closed,
    describe_errors,
    render_form,
    render_page,
    serialize_report,
)
from bestresponse.web.services import formalizing
from bestresponse.web.sessions.setup import Busy

pages = APIRouter(prefix="/formalize", include_in_schema=False, dependencies=[AdminPage])
calls = APIRouter(
    prefix="/api", responses=describe_errors(), tags=["formalize"], dependencies=[Bearer, AdminApi]
)
_MOST = 100_000


@pages.get("")
def show_editor(server: Server, example: str = "", saved: str = "") -> HTMLResponse:
    """Show an example, a saved game, or the first example."""
    known = {story.name: story for story in library()}
    chosen = (
        formalizing.load_game(server.output, saved) if saved else known.get(example) or known[FIRST]
    )
    return _show(server, chosen.story, chosen.program)


def _show(
    server: ServerState, story: str, program: str, name: str = "", error: str = ""
) -> HTMLResponse:
    try:
        checked = formalizing.check_program(program)
    except Busy as busy:
        # The page opens all the same, and the program is checked when somebody types.
        checked = formalizing.CheckedProgram(False, ())
        error = error or f"The program is not checked yet: {busy}."
    page = FormalizePage(
        csrf=server.csrf(),
        error=error,
        story=story,
        program=program,
        name=name,
        checked=checked,
        examples=[example.name for example in library()],
        models=server.models,
        saved=formalizing.list_saved_games(server.output),
    )
    return render_form(page)


@pages.post("/check")
def check_typed(form: PostedForm) -> HTMLResponse:
    """Show the right-hand side for the program as it stands; nothing is kept."""
    program = form.get("program", "")[:_MOST]
    return render_page(CheckedGame(formalizing.check_program(program)))


@pages.post("/save")
def save_typed(server: Server, form: PostedForm) -> Response:
    """Check or save the program."""
    story = form.get("story", "")
    program = form.get("program", "")[:_MOST]
    name = form.get("name", "").strip()
    if form.get("do") == "check":
        return _show(server, story, program, name)
    try:
        formalizing.save_game(server.output, name, story, program)
    except BestResponseError as error:
        return _show(server, story, program, name, str(error))
    return RedirectResponse(f"/play/new?game=saved:{name}", 303)


@pages.post("/help")
def write_typed(server: Server, form: PostedForm) -> formalizing.WrittenProgram:
    """Let a model write or repair the program."""
    program = form.get("program", "")[:_MOST]
    remark = form.get("remark", "")[:2000]
    model = server.model(form.get("model", ""))
    return formalizing.write_program(model, check_story(form.get("story", "")), program, remark)


Program = Annotated[str, Field(max_length=_MOST)]


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


calls.get("/examples")(library)


@calls.post("/programs/check")
def check_posted(program: Annotated[str, Body(embed=True, max_length=_MOST)]) -> dict[str, object]:
    """Whether a program is a game, what is wrong with it by line, and the game.

    The game has words, a table, equilibria and a picture.
    """
    checked = formalizing.check_program(program)
    sections = serialize_report(Document("", sections=checked.sections))["sections"]
    return {
        "ok": checked.ok,
        "diagnostics": checked.diagnostics,
        "words": checked.words,
        "sections": sections,
    }


@calls.get("/programs")
def list_programs(server: Server) -> tuple[str, ...]:
    """The names of the saved games."""
    return formalizing.list_saved_games(server.output)


@calls.post("/programs", status_code=201)
def save(server: Server, body: SaveIn) -> tuple[str, ...]:
    """Keep a program that is a game."""
    formalizing.save_game(server.output, body.name, body.story, body.program)
    return list_programs(server)


@calls.post("/programs/help")
def write_posted(server: Server, body: HelpIn) -> formalizing.WrittenProgram:
    """Let a model write or repair a program.

    The answer comes when it is done, which may take minutes.
    """
    story = check_story(body.story)
    return formalizing.write_program(server.model(body.model), story, body.program, body.remark)


@calls.get("/programs/{name}")
def show_saved(server: Server, name: Name) -> Example:
    """A saved game: its story and its program."""
    return formalizing.load_game(server.output, name)
