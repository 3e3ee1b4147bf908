"""One question of a run: the model at one information set."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bestresponse.core.episode import Record, Submission, play
from bestresponse.models.base import Model
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.spec import Spec
from bestresponse.studies.bench.playing import seat_player
from bestresponse.studies.bench.sequential.plan import Plan

__all__ = ["make_player"]


def make_player(plan: Plan, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that puts one question of `plan`."""

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        question = plan.make_question(spec.data)
        seats = {question.shown.role: seat_player(spec.data, models[spec.data["model"]])}
        return play(question, seats, submissions=done, on_submission=keep)

    return play_one
