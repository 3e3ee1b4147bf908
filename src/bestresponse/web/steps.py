"""A play step by step: who was asked, what they saw, what they said, how it was read, and what it cost them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.core.episode import Episode, Record
from bestresponse.core.game import Action, Game, Role
from bestresponse.games.matrix import MatrixGame, as_strategy
from bestresponse.games.repeated import RepeatedGame
from bestresponse.theory.normal_form import NormalForm

__all__ = ["Step", "steps_of"]


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. `regret` is what the best answer to what the others did in this round would have earned more."""

    number: int
    role: Role
    action: str
    status: str
    how: str
    stand_in: str
    words: str
    situation: str
    prompts: tuple[str, ...]
    regret: float | None


def steps_of(record: Record, game: Game[Any] | None, calls: Iterable[Mapping[str, Any]]) -> list[Step]:
    """Every answer in its order, with the view it was given from where the game is known."""
    views = _situations(record, game) if game is not None else [""] * len(record.submissions)
    asked: dict[Role, list[Mapping[str, Any]]] = {}
    for call in calls:
        asked.setdefault(call["role"], []).append(call)
    lost = _regrets(record, game)
    return [
        Step(
            number,
            submission.role,
            _told(submission.decision.action),
            submission.decision.reading.status.value,
            submission.decision.reading.how,
            submission.decision.stand_in,
            submission.decision.reasoning,
            situation,
            _prompts(asked.pop(submission.role, [])),
            lost.get(number),
        )
        for number, (submission, situation) in enumerate(zip(record.submissions, views, strict=True), 1)
    ]


def _situations(record: Record, game: Game[Any]) -> list[str]:
    episode: Episode[Any] = Episode(game)
    found = []
    for submission in record.submissions:
        view = episode.view(submission.role)
        found.append(view.situation or view.briefing)
        episode.submit(submission.role, submission.decision)
    return found


def _prompts(calls: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """The messages of the calls and their replies; all calls of a seat stand with its first answer."""
    found: list[str] = []
    for call in calls:
        found += [f"{role}:\n{content}" for role, content in call["request"]["messages"]]
        found.append(f"{call['model']}:\n{call['reply']['text']}")
    return tuple(found)


def _told(action: Action) -> str:
    if isinstance(action, tuple | list):
        return "(" + ", ".join(f"{p:.4g}" for p in action) + ")"
    return f"{action:g}" if isinstance(action, float) else str(action)


def _regrets(record: Record, game: Game[Any] | None) -> dict[int, float]:
    """By number of the answer, in games with a payoff table."""
    if not isinstance(game, MatrixGame | RepeatedGame):
        return {}
    found: dict[int, float] = {}
    waiting: dict[Role, tuple[int, Action]] = {}
    for number, submission in enumerate(record.submissions, 1):
        if submission.role not in game.roles or submission.decision.action is None:
            continue
        waiting[submission.role] = (number, submission.decision.action)
        if len(waiting) == len(game.roles):
            found |= _round(game.form, waiting)
            waiting = {}
    return found


def _round(form: NormalForm, given: Mapping[Role, tuple[int, Action]]) -> dict[int, float]:
    mixes = [as_strategy(given[role][1], actions) for role, actions in zip(form.players, form.actions, strict=True)]
    lost = {}
    for seat, role in enumerate(form.players):
        values = form.payoffs[seat]
        for other in reversed(range(len(mixes))):
            if other != seat:
                values = np.tensordot(values, mixes[other], axes=(other, 0))
        lost[given[role][0]] = max(0.0, float(values.max() - values @ mixes[seat]))
    return lost
