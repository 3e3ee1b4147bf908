"""The forms in which a model can write a game, and how it is asked for each.

As a *program* it can write any game. Two JSON forms, held to a schema where the model can be, are within reach of
smaller models: a *table* where everybody moves once, and a *tree* with chance and hidden moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.examples import Example, library
from bestresponse.formal.formalize.extract_code import find_asides, find_code
from bestresponse.formal.formalize.json_answer import (
    NO_PLAYERS,
    TABLE_SCHEMA,
    TREE_SCHEMA,
    Answer,
    Question,
    read_asides,
    read_object,
    read_table,
    read_tree,
)
from bestresponse.formal.formalize.plan import FormName
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.logic.tables import write_program
from bestresponse.logic.language.diagnostics import numbered
from bestresponse.logic.programs.table import GameTable
from bestresponse.models.base import Finish, Model, Reply

_LONGEST_QUOTE = 4_000
_CUT = "the answer was cut off"
_CHARACTERS_PER_TOKEN = 4
_USUAL_REPLY = 350
"""Tokens of a program: 175 to 450 in fifty stories."""


class ProgramForm:
    """A program in the solver language, after some examples."""

    name: FormName = "program"

    def __init__(self, shown: Sequence[Example]) -> None:
        self._shown = tuple(shown)
        self.examples = tuple(example.name for example in shown)

    def system(self) -> str:
        """Return the rules of the solver language."""
        return TEXTS.text("system")

    def schema(self, model: Model) -> str | None:
        """Return None: a program is no JSON."""
        return None

    def task(self, story: str) -> str:
        """Show the examples, then the story."""
        examples = [TEXTS.fill("example", story=one.story, program=one.program) for one in self._shown]
        return TEXTS.fill("task", examples="\n\n".join(examples), story=story).lstrip("\n")

    def read(self, reply: Reply) -> Answer:
        """Find the program in a reply, between fences or bare."""
        code = find_code(reply.text)
        found = find_asides(reply.text)
        if code is None:
            return replace(found, problem=_no_program(reply))
        cut = reply.finish is Finish.LENGTH or code.how == "unclosed"
        questions = found.questions
        if code.programs > 1:
            questions += (Question(f"Which of the {code.programs} programs in the answer is meant?", "the last one"),)
        return Answer(code.text, _CUT if cut else "", questions)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        """Show the faults and the numbered program, or ask anew where there was none."""
        if not source:
            return TEXTS.fill("no_program", task=self.task(story))
        return TEXTS.fill("repair", story=story, wrong=wrong, program=numbered(source))

    def revise(self, story: str, source: str, game: str, remark: str) -> str:
        """Show the program, its game and the reader's remark."""
        return TEXTS.fill("revise", story=story, program=numbered(source), game=game, remark=remark)


class TableForm:
    """Players, moves and ends as JSON; the program is written by rule."""

    name: FormName = "table"
    examples: tuple[str, ...] = ("prisoners_dilemma",)

    def system(self) -> str:
        """Return the description of the JSON, and how to ask or to refuse."""
        return f"{TEXTS.text(f'system_{self.name}')}\n{TEXTS.text('asides')}"

    def schema(self, model: Model) -> str | None:
        """Return the schema of a table."""
        return TABLE_SCHEMA if model.abilities.schema else None

    def task(self, story: str) -> str:
        """Show one example, then the story."""
        return TEXTS.fill(f"task_{self.name}", story=story)

    def read(self, reply: Reply) -> Answer:
        """Read the table in a reply."""
        return _read_json(reply, read_table)

    def repair(self, story: str, reply: Reply, source: str, wrong: str) -> str:
        """Show the last answer and what is wrong with it."""
        return TEXTS.fill("repair_json", task=self.task(story), answer=reply.text[:_LONGEST_QUOTE], wrong=wrong)

    def revise(self, story: str, source: str, game: str, remark: str) -> str:
        """Show the game and the reader's remark."""
        return TEXTS.fill("revise_json", task=self.task(story), game=game, remark=remark)


class TreeForm(TableForm):
    """Chance, choices with what is known, and ends as nested JSON; the program is written by rule."""

    name: FormName = "tree"
    examples = ("hidden_coin",)

    def schema(self, model: Model) -> str | None:
        """Return the schema of a tree."""
        return TREE_SCHEMA if model.abilities.schema else None

    def read(self, reply: Reply) -> Answer:
        """Read the tree in a reply."""
        return _read_json(reply, read_tree)


Form = ProgramForm | TableForm
"""How a game is asked for and read."""


def estimate_tokens(story: str) -> tuple[int, int]:
    """Return about how many tokens the prompt and the program of a story take, at four characters each."""
    examples = library()
    shown = sum(len(one.story) + len(one.program) for one in examples) // len(examples)
    return (len(TEXTS.text("system")) + shown + len(story)) // _CHARACTERS_PER_TOKEN, _USUAL_REPLY


def _read_json(reply: Reply, read: Callable[[str], GameTable]) -> Answer:
    """Read the game in a reply and write its program; what the model asks or refuses is kept."""
    try:
        found = read_asides(read_object(reply.text))
    except InvalidGame:
        found = find_asides(reply.text)
    if found.no_game is not None or found.misfit is not None:
        return found
    try:
        return replace(found, source=write_program(read(reply.text)))
    except InvalidGame as error:
        wrong = _CUT if reply.finish is Finish.LENGTH else str(error)
        return replace(found, problem=wrong, no_game="it lists no players" if wrong == NO_PLAYERS else None)


def _no_program(reply: Reply) -> str:
    if reply.finish is Finish.REFUSAL:
        return "it declined to answer"
    if reply.finish is Finish.LENGTH and not reply.text.strip():
        return "it had no room left for an answer"
    if not reply.text.strip():
        return "its answer is empty"
    start = " ".join(reply.text.split())[:80]
    return f"it answered in prose, beginning {start!r}"
