"""What was found in a model's answer: a program, or why there is none, and what the model would like to ask."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """Something the story leaves open or contradicts, and what the model assumed instead."""

    text: str
    assumed: str = ""

    def __str__(self) -> str:
        return f"{self.text} (assumed: {self.assumed})" if self.assumed else self.text


@dataclass(frozen=True, slots=True)
class Answer:
    """A program, empty where there is none, and what kept the answer from being one.

    `no_game` is the reason why the story is no game, `misfit` the reason why the form cannot hold the game, where the
    model says so.
    """

    source: str = ""
    problem: str = ""
    questions: tuple[Question, ...] = ()
    no_game: str | None = None
    misfit: str | None = None
