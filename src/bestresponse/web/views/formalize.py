"""Formalize, as pages and as calls for programs: a story, its program, the game that it tells, and a model's help.

Everything about a program is worked out from its text alone, each time it changes: diagnostics by line, the game, its
equilibria and its picture. Programs that are games can be saved with their story, by a plain name.
"""

import re
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Body
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field

from bestresponse.analysis.solve.document import as_document, drawable, picture_figures
from bestresponse.analysis.solve.solve import solve_found
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.formal.formalize.autoformalizer import Attempt, Formalization, Formalizer, Settings, check_story
from bestresponse.formal.formalize.forms import what_is_wrong
from bestresponse.formal.formalize.plan import FIRST, Example, library
from bestresponse.games.logic.game import describe_table, program_game, read_program_text
from bestresponse.games.lookup import Found
from bestresponse.logic.engine import open_engine
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings
from bestresponse.models.base import Message, Model, Reply, Request
from bestresponse.report.document import Document, Note, Section
from bestresponse.report.files import write_text
from bestresponse.web.access import AdminApi, AdminPage, Bearer, Name, PostedForm, Server, ServerState
from bestresponse.web.render import Closed, describe_errors, render_form, render_page, serialize_report
from bestresponse.web.sessions.setup import take_turn, validate_program

_ATTEMPTS = 3
_MOST_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """What is known of a program: what is wrong with it, and where it is a game, all about the game."""

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    words: str = ""
    sections: tuple[Section, ...] = ()


def check_program(source: str, name: str = "this game") -> CheckedProgram:
    """The program through all stages, then solved and drawn as far as that goes."""
    if not source.strip():
        return CheckedProgram(False, ())
    with take_turn():
        report = validate_program(source)
        if not report.ok or report.table is None:
            return CheckedProgram(False, report.diagnostics)
        found = Found(name, "file", program_game(report, name))
        return CheckedProgram(
            True, report.diagnostics, describe_table(report.table), _known(found, len(report.table.players))
        )


def _known(found: Found, players: int) -> tuple[Section, ...]:
    if players > _MOST_PLAYERS:
        note = f"They are not worked out here for more than {_MOST_PLAYERS} players; `bestresponse solve` does it."
        return (Section("Equilibria", (Note(note),)),)
    try:
        sections = as_document(found, solve_found(found)).sections
    except BestResponseError as error:
        return (Section("Equilibria", (Note(f"They could not be worked out: {error}."),)),)
    wanted = tuple(section for section in sections if section.title in ("Payoffs", "Equilibria", "Kind of game"))
    try:
        return (*wanted[:2], Section("Picture", picture_figures(drawable(found.solvable()))), *wanted[2:])
    except BestResponseError:
        return wanted


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """The best program of a model, with a line for each of its attempts and one for the end."""

    program: str
    lines: list[str]


def write_program(model: Model, story: str, program: str, remark: str) -> WrittenProgram:
    """Let a model write the game of a story, or change its program as `remark` says; that may take minutes."""
    with take_turn(), closing(open_engine("embedded", settings.strangers)) as engine:
        formalizer = Formalizer(model, engine, Settings(attempts=_ATTEMPTS))
        if program.strip():
            report = validate(program, engine)
            begun = Attempt(Request((Message("user", story),)), Reply(program), program, report)
            wrong = what_is_wrong(report, "") or "Does the program tell the whole story? If not, complete it."
            result = formalizer.revise(Formalization(story, model.id, (), (begun,)), remark.strip() or wrong)
        else:
            result = formalizer.formalize(story)
    lines = ["This is a game." if attempt.ok else f"Not yet a game: {attempt.trouble}" for attempt in result.attempts]
    return WrittenProgram(result.source or "", [*lines, result.trouble or "Done."])


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def list_saved_games(output: Path) -> tuple[str, ...]:
    """The names, in alphabetical order."""
    return tuple(sorted(path.stem for path in output.glob("games/*.pl") if _NAME.fullmatch(path.stem)))


def load_game(output: Path, name: str) -> Example:
    """Load the program of that name, looked up among those that are there, with the story beside it if there is one."""
    if name not in list_saved_games(output):
        raise UsageError(f"there is no saved game named {name!r}")
    story = output / "games" / f"{name}.txt"
    told = story.read_text("utf-8", "replace") if story.exists() else ""
    return Example(name, told, read_program_text(story.with_suffix(".pl")))


def save_game(output: Path, name: str, story: str, program: str) -> None:
    """Keep a program that is a game; UsageError or InvalidGame where it is none or the name is taken."""
    if not _NAME.fullmatch(name):
        raise UsageError("a name has small letters, digits and hyphens, such as my-first-game, at most 60 of them")
    if name in list_saved_games(output):
        raise UsageError(f"there is a game named {name!r} already; choose another name")
    with take_turn():
        program_game(validate_program(program), name)
    folder = output / "games"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{name}.txt", story)
    write_text(folder / f"{name}.pl", program)


pages = APIRouter(prefix="/formalize", include_in_schema=False, dependencies=[AdminPage])
calls = APIRouter(prefix="/api", responses=describe_errors(), tags=["formalize"], dependencies=[Bearer, AdminApi])
_MOST = 100_000


@pages.get("")
def show_editor(server: Server, example: str = "", saved: str = "") -> HTMLResponse:
    """Show an example, a saved game, or the first example."""
    known = {story.name: story for story in library()}
    chosen = load_game(server.output, saved) if saved else known.get(example) or known[FIRST]
    return _show(server, chosen.story, chosen.program)


def _show(server: ServerState, story: str, program: str, name: str = "", error: str = "") -> HTMLResponse:
    lists = {"examples": [example.name for example in library()], "models": server.models}
    lists["saved"] = list_saved_games(server.output)
    typed = {"story": story, "program": program, "name": name, "checked": check_program(program)}
    return render_form(server, "formalize.html", error, **lists, **typed)


@pages.post("/check")
def check_typed(form: PostedForm) -> HTMLResponse:
    """Show the right-hand side for the program as it stands; nothing is kept."""
    return render_page("formalize_game.html", checked=check_program(form.get("program", "")[:_MOST]))


@pages.post("/save")
def save_typed(server: Server, form: PostedForm) -> Response:
    """Check or save the program."""
    story, program, name = form.get("story", ""), form.get("program", "")[:_MOST], form.get("name", "").strip()
    if form.get("do") == "check":
        return _show(server, story, program, name)
    try:
        save_game(server.output, name, story, program)
    except BestResponseError as error:
        return _show(server, story, program, name, str(error))
    return RedirectResponse(f"/play/new?game=saved:{name}", 303)


@pages.post("/help")
def write_typed(server: Server, form: PostedForm) -> WrittenProgram:
    """Let a model write or repair the program."""
    program, remark = form.get("program", "")[:_MOST], form.get("remark", "")[:2000]
    model = server.model(form.get("model", ""))
    return write_program(model, check_story(form.get("story", "")), program, remark)


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
    """Whether a program is a game, what is wrong with it by line, and the game: words, table, equilibria, picture."""
    checked = check_program(program)
    sections = serialize_report(Document("", sections=checked.sections))["sections"]
    return {"ok": checked.ok, "diagnostics": checked.diagnostics, "words": checked.words, "sections": sections}


@calls.get("/programs")
def list_programs(server: Server) -> tuple[str, ...]:
    """The names of the saved games."""
    return list_saved_games(server.output)


@calls.post("/programs", status_code=201)
def save(server: Server, given: SaveIn) -> tuple[str, ...]:
    """Keep a program that is a game."""
    save_game(server.output, given.name, given.story, given.program)
    return list_programs(server)


@calls.post("/programs/help")
def write_posted(server: Server, given: HelpIn) -> WrittenProgram:
    """Let a model write or repair a program; the answer comes when it is done, which may take minutes."""
    story = check_story(given.story)
    return write_program(server.model(given.model), story, given.program, given.remark)


@calls.get("/programs/{name}")
def show_saved(server: Server, name: Name) -> Example:
    """A saved game: its story and its program."""
    return load_game(server.output, name)
