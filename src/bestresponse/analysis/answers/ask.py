"""Ask one thing of a game by name: a dynamic of play or a solution concept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bestresponse.analysis.answers.answer import Answer, Data, Question, build_document, find_question
from bestresponse.analysis.answers.concepts import CONCEPTS
from bestresponse.analysis.answers.dynamics import DYNAMICS
from bestresponse.analysis.answers.tree_concepts import TREE_CONCEPTS
from bestresponse.analysis.solve.solve import check_scale
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import Found
from bestresponse.report.document import Document
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Tree

__all__ = ["Answered", "ask_game"]


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A question that was asked of a game, and its answer."""

    found: Found
    question: Question[NormalForm] | Question[Tree]
    answer: Answer

    def to_json(self) -> Data:
        """Give the answer as plain data."""
        head: Data = {"game": self.found.name, "origin": self.found.origin, "asked": self.question.name}
        return head | self.answer.data

    def to_document(self, *, drawn: bool = False) -> Document:
        """Give the answer as a page, with its picture where wanted and there is one."""
        return build_document(self.found.name, self.question.name, self.question.words, self.answer, drawn=drawn)


def ask_game(
    found: Found, *, dynamics: str | None = None, concept: str | None = None, given: Sequence[str] = ()
) -> Answered:
    """Answer one question about a game; trees are taken in their reduced normal form.

    >>> from bestresponse.games.lookup import find_game
    >>> ask_game(find_game("prisoners-dilemma"), concept="rationalizable").to_json()["kept"]
    {'row': ['defect'], 'col': ['defect']}
    """
    if (dynamics is None) == (concept is None):
        raise UsageError("expected either --dynamics or --concept, one of them")
    form = found.solvable()
    check_scale(form)
    if concept in [question.name for question in TREE_CONCEPTS]:
        of_tree = find_question(concept or "", TREE_CONCEPTS, "--concept")
        if not isinstance(form, Tree):
            raise UsageError(f"--concept {concept} is for games played in turns; {found.name} is a table")
        return Answered(found, of_tree, of_tree.answer(form, given))
    if concept is not None:
        question = find_question(concept, CONCEPTS, "--concept", also=TREE_CONCEPTS)
    else:
        question = find_question(dynamics or "", DYNAMICS, "--dynamics")
    table = to_normal_form(form) if isinstance(form, Tree) else form
    return Answered(found, question, question.answer(table, given))
