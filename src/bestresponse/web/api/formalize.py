"""What Formalize does, as JSON: examples, checking and saving programs, and a model's help."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from bestresponse.formal.formalize.autoformalizer import check_story
from bestresponse.formal.formalize.examples import library
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.web.access import AdminApi, Name, Server
from bestresponse.web.api.common import Closed, SectionOut, describe_errors, serialize_sections
from bestresponse.web.services.formalizing import (
    Job,
    check_program,
    list_saved_games,
    load_program,
    load_story,
    save_game,
)  # fmt: skip

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=describe_errors(), tags=["formalize"], dependencies=[AdminApi])
Program = Annotated[str, Field(max_length=100_000)]


class ProgramIn(Closed):
    """The text of a logic program."""

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


class CheckedOut(BaseModel):
    """Whether a program is a game; if it is, the game in words, its table, its equilibria and its picture."""

    ok: bool
    diagnostics: list[Diagnostic]
    words: str
    sections: list[SectionOut]


class ProgramOut(BaseModel):
    """A story with its program."""

    name: str
    story: str
    program: str


@router.get("/examples")
def list_examples() -> list[ProgramOut]:
    """Stories with their programs to begin from."""
    return [ProgramOut(name=story.name, story=story.story, program=story.program) for story in library()]


@router.post("/programs/check")
def check(given: ProgramIn) -> CheckedOut:
    """Whether a program is a game, what is wrong with it by line, and all about the game."""
    found = check_program(given.program)
    sections = serialize_sections(found.sections)
    return CheckedOut(ok=found.ok, diagnostics=list(found.diagnostics), words=found.words, sections=sections)


@router.get("/programs")
def list_programs(server: Server) -> list[str]:
    """The names of the saved games."""
    return list(list_saved_games(server.output))


@router.post("/programs", status_code=201)
def save(server: Server, given: SaveIn) -> list[str]:
    """Keep a program that is a game."""
    save_game(server.output, given.name, given.story, given.program)
    return list_programs(server)


@router.post("/programs/help", status_code=202)
def ask_model(server: Server, given: HelpIn) -> Job:
    """Let a model write or repair a program."""
    return server.helper.ask(given.model, check_story(given.story), given.program, given.remark)


@router.get("/programs/help/{job}")
def look(server: Server, job: Name) -> Job:
    """How far the model is."""
    return server.helper.job(job)


@router.post("/programs/help/{job}/cancel")
def cancel(server: Server, job: Name) -> Job:
    """Give a job up; a call that is on its way is not waited for."""
    return server.helper.cancel(job)


@router.get("/programs/{name}")
def show(server: Server, name: Name) -> ProgramOut:
    """A saved game: its story and its program."""
    program = load_program(server.output, name)
    return ProgramOut(name=name, story=load_story(server.output, name), program=program)
