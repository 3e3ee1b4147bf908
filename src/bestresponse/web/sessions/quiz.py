"""The quiz that a person takes before a game, and what is wrong with the answers."""

from __future__ import annotations

from typing import Any

from bestresponse.core.capabilities import Question
from bestresponse.core.game import Game
from bestresponse.core.seeds import generator
from bestresponse.games.quiz import make_quiz

__all__ = ["find_mistakes", "make_questions"]


def make_questions(game: Game[Any], seat: int, seed: int) -> tuple[Question, ...]:
    """Make the quiz for that seat; empty where the rules give nothing to ask."""
    return make_quiz(game, game.roles[seat], generator(seed, "quiz", seat))


def find_mistakes(quiz: tuple[Question, ...], typed: list[str]) -> dict[int, str]:
    """Say what is wrong with each answer, by the number of its question."""
    return {
        k: "This is not right; look at the rules again." if typed[k].strip() else "Type a number."
        for k, question in enumerate(quiz)
        if not question.accepts(typed[k])
    }
