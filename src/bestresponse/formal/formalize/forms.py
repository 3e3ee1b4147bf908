"""The two forms in which a model can write a game, and how it is asked for each.

As a *program* it can write any game; as a *table*, JSON held to a schema where the model can be, only games where
everybody moves once, but far smaller models get that right. Which forms are asked for, and in which order, is a plan
with one entry per attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.examples import Example
from bestresponse.formal.formalize.extract_code import find_code, no_game
from bestresponse.formal.formalize.retrieval import count_cues
from bestresponse.formal.formalize.structured import NO_PLAYERS, TABLE_SCHEMA, Sheet, read_sheet, read_table
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.logic.program_writer import write_program
from bestresponse.logic.language.diagnostics import numbered
from bestresponse.logic.programs.table import GameTable
from bestresponse.models.base import Finish, Model, Reply

__all__ = ["Form", "FormName", "ProgramForm", "SheetForm", "TableForm", "Wish", "plan"]

Wish = Literal["auto", "program", "table"]
FormName = Literal["program", "table"]

_ENOUGH_CUES = 2
_TRIES = 2
_LONGEST_QUOTE = 4_000


def plan(wish: Wish, model: Model, attempts: int, story: str = "") -> tuple[FormName, ...]:
    """Choose the form of every attempt.

    `auto` lets a model on this machine, which is a small one, begin with the table and every other with the program; a
    model that fails twice in one form is asked for the other, and so on by turns. A story that speaks of chance or
    secrets is asked for as a program only: a table cannot hold them.
    """
    if wish != "auto":
        return (wish,) * attempts
    cues = count_cues(story)
    if cues["#chance"] + cues["#secret"] >= _ENOUGH_CUES:
        only: tuple[FormName] = ("program",)
        return only * attempts
    turns: tuple[FormName, FormName] = ("program", "table")
    if model.identity.get("provider") == "local":
        turns = ("table", "program")
    return tuple(turns[number // _TRIES % 2] for number in range(attempts))


class Form(Protocol):
    """How a game is asked for and read. `examples` names what the model is shown."""

    @property
    def name(self) -> FormName: ...

    @property
    def examples(self) -> tuple[str, ...]: ...

    def system(self) -> str: ...

    def schema(self, model: Model) -> str | None: ...

    def task(self, story: str) -> str: ...

    def read(self, reply: Reply) -> tuple[str, str]:
        """The program and, where something kept the answer from being one, what that was."""
        ...

    def refusal(self, reply: Reply) -> str | None:
        """The reason a model gives for there being no game, in an answer without one."""
        ...

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        """Asks again; `wrong` tells what is wrong with `source`, or with the answer where that is empty."""
        ...

    def revise(self, story: str, source: str, game: str, remark: str) -> str: ...

    def after(self, reply: Reply) -> Form:
        """The form in which to ask again after an answer that is no game."""
        ...


class ProgramForm:
    """A program in the solver language, after some examples."""

    name: FormName = "program"

    def __init__(self, shown: Sequence[Example]) -> None:
        self._shown = tuple(shown)
        self.examples = tuple(example.name for example in shown)

    def system(self) -> str:
        return TEXTS.text("system")

    def schema(self, model: Model) -> str | None:
        return None

    def task(self, story: str) -> str:
        examples = [TEXTS.fill("example", story=one.story, program=one.program) for one in self._shown]
        return TEXTS.fill("task", examples="\n\n".join(examples), story=story).lstrip("\n")

    def read(self, reply: Reply) -> tuple[str, str]:
        code = find_code(reply.text)
        if code is None:
            return "", _no_program(reply)
        cut = reply.finish is Finish.LENGTH or code.how == "unclosed"
        return code.text, "the answer was cut off" if cut else ""

    def refusal(self, reply: Reply) -> str | None:
        return no_game(reply.text)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        if not source:
            return TEXTS.fill("no_program", task=self.task(story))
        return TEXTS.fill("repair", story=story, wrong=wrong, program=numbered(source))

    def revise(self, story: str, source: str, game: str, remark: str) -> str:
        return TEXTS.fill("revise", story=story, program=numbered(source), game=game, remark=remark)

    def after(self, reply: Reply) -> Form:
        return self


class TableForm:
    """Players, moves and ends as JSON; the program is written by rule."""

    name: FormName = "table"
    examples = ("prisoners_dilemma",)

    def system(self) -> str:
        return TEXTS.text("system_table")

    def schema(self, model: Model) -> str | None:
        return TABLE_SCHEMA if model.abilities.schema else None

    def task(self, story: str) -> str:
        return TEXTS.fill("task_table", story=story)

    def read(self, reply: Reply) -> tuple[str, str]:
        return _written(reply, read_table)

    def refusal(self, reply: Reply) -> str | None:
        return "it lists no players" if self.read(reply)[1] == NO_PLAYERS else no_game(reply.text)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        return TEXTS.fill("repair_table", task=self.task(story), answer=reply.text[:_LONGEST_QUOTE], wrong=wrong)

    def revise(self, story: str, source: str, game: str, remark: str) -> str:
        return TEXTS.fill("revise_table", task=self.task(story), game=game, remark=remark)

    def after(self, reply: Reply) -> Form:
        sheet = read_sheet(reply.text)
        return self if sheet is None else SheetForm(sheet)


class SheetForm(TableForm):
    """The ends that an earlier answer left open, as a sheet to fill in."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet

    def schema(self, model: Model) -> str | None:
        return self._sheet.schema() if model.abilities.schema else None

    def task(self, story: str) -> str:
        missing = "\n".join(map(self._sheet.named, self._sheet.missing()))
        return TEXTS.fill("task_sheet", story=story, known=self._sheet.describe_known(), missing=missing)

    def read(self, reply: Reply) -> tuple[str, str]:
        return _written(reply, self._sheet.read)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        return self.task(story)

    def after(self, reply: Reply) -> Form:
        return self


def _written(reply: Reply, read: Callable[[str], GameTable]) -> tuple[str, str]:
    """The program of the table in a reply, and what is wrong where there is none."""
    try:
        return write_program(read(reply.text)), ""
    except InvalidGame as error:
        return "", "the answer was cut off" if reply.finish is Finish.LENGTH else str(error)


def _no_program(reply: Reply) -> str:
    if reply.finish is Finish.REFUSAL:
        return "it declined to answer"
    if not reply.text.strip():
        return "its answer is empty"
    start = " ".join(reply.text.split())[:80]
    return f"it answered in prose, beginning {start!r}"
