"""Ask one thing of a game by name: a dynamic of play or a solution concept.

A package adds its own by an entry point of the group `bestresponse.concepts` or `bestresponse.dynamics`, which names a
`Question`; built-in ones stand in the same registries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestresponse.analysis.answers.answer import Answer, Question
from bestresponse.analysis.answers.concepts import CONCEPTS, TREE_CONCEPTS
from bestresponse.analysis.answers.dynamics import DYNAMICS
from bestresponse.analysis.solve.facts import show_facts
from bestresponse.analysis.solve.solve import check_scale
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.core.registry import Registry, did_you_mean
from bestresponse.games.lookup import Found
from bestresponse.report.document import Document, Figure, Section
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Tree

_BUILT_IN: Mapping[str, tuple[Question[Any], ...]] = {"concept": (*CONCEPTS, *TREE_CONCEPTS), "dynamics": DYNAMICS}
_ADDED = {
    "concept": Registry("bestresponse.concepts", "concept"),
    "dynamics": Registry("bestresponse.dynamics", "dynamics"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A question that was asked of a game, and its answer."""

    found: Found
    question: Question[NormalForm] | Question[Tree]
    answer: Answer

    def __repr__(self) -> str:
        return f"Answered({self.found.name!r}, {self.question.name})"

    def _repr_html_(self) -> str:
        rows = [(name, str(value)) for name, value in self.answer.data.items()]
        return format_html(repr(self), ("what", "answer"), rows)

    def to_json(self) -> JsonObject:
        """Give the answer as plain data."""
        head = {"game": self.found.name, "origin": self.found.origin, "asked": self.question.name}
        return head | self.answer.data

    def to_document(self, *, drawn: bool = False) -> Document:
        """Give the answer as a page, with its picture where wanted and there is one."""
        title, chart = f"{self.found.name}: {self.question.name}", self.answer.chart
        figure = (Figure(chart.draw(), chart.caption, title),) if drawn and chart is not None else ()
        blocks = show_facts(self.answer.data, self.found.solvable().players)
        return Document(title, self.question.words, (Section("Answer", (*figure, *blocks)),))


def list_questions(kind: str) -> list[str]:
    """List the names of all concepts or of all dynamics, those of installed packages among them."""
    return [*(question.name for question in _BUILT_IN[kind]), *_ADDED[kind].names()]


def _find_question(kind: str, name: str) -> Question[Any]:
    for question in _BUILT_IN[kind]:
        if question.name == name:
            return question
    if name not in _ADDED[kind].names():
        known = list_questions(kind)
        raise SettingError(
            kind, f"there is no {name!r}; expected one of {', '.join(known)}.{did_you_mean(name, known)}"
        )
    added = _ADDED[kind].load(name)
    if not isinstance(added, Question):
        raise UsageError(f"{_ADDED[kind].describe(name)} is no bestresponse.analysis.answers.answer.Question")
    return added


def ask_game(
    found: Found,
    *,
    dynamics: str | None = None,
    concept: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Answered:
    """Answer one question about a game; trees are taken in their reduced normal form.

    >>> from bestresponse.games.lookup import find_game
    >>> ask_game(find_game("prisoners-dilemma"), concept="rationalizable").to_json()["kept"]
    {'row': ['defect'], 'col': ['defect']}
    """
    if (dynamics is None) == (concept is None):
        raise UsageError("expected either dynamics or concept, one of them")
    question = _find_question("concept", concept) if concept is not None else _find_question("dynamics", dynamics or "")
    form = found.solvable()
    check_scale(form)
    if question in TREE_CONCEPTS:
        if not isinstance(form, Tree):
            raise SettingError("concept", f"{question.name} is for games played in turns; {found.name} is a table")
        return Answered(found, question, question.answer(form, settings))
    table = to_normal_form(form) if isinstance(form, Tree) else form
    return Answered(found, question, question.answer(table, settings))
