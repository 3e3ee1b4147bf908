"""The quiz that a person takes before a game, and what is wrong with the answers."""

from __future__ import annotations

from bestresponse.core.capabilities import Question
from bestresponse.core.game import AnyGame
from bestresponse.core.seeds import generator
from bestresponse.games.quiz import make_quiz
from bestresponse.web.sessions.session import Session
from bestresponse.web.texts import load_texts

__all__ = ["find_mistakes", "list_questions", "make_questions"]


def make_questions(game: AnyGame, seat: int, seed: int) -> tuple[Question, ...]:
    """Make the quiz for that seat from the rules; empty where these give nothing to ask."""
    return make_quiz(game, game.roles[seat], generator(seed, "quiz", seat))


def list_questions(session: Session, seat: int) -> tuple[Question, ...]:
    """List the quiz of a session for that seat: the questions of the experiment, and those made from the rules."""
    own = session.table.part.questions if session.table.part else ()
    return (*own, *make_questions(session.game, seat, session.seed)) if session.setup.quiz else own


def find_mistakes(quiz: tuple[Question, ...], typed: list[str], language: str = "en") -> dict[int, str]:
    """Say what is wrong with each answer, by the number of its question."""
    texts = load_texts(language)
    return {
        k: texts("quiz_wrong") if typed[k].strip() else texts("type_number")
        for k, question in enumerate(quiz)
        if not question.accepts(typed[k])
    }
