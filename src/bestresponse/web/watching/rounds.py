"""In which round and stage each answer of a play was given, and what its role earned by it.

A stage is a state of the game in which somebody is asked; answers given at the same time share it. The round is the one
that the seat was told ("Round 3 of 10", "Day 2"); where a game names none, every stage of a repeated game is a round,
and any other game is one round. What a role earns between two of its answers is credited to the first of them, so the
payoffs of a role add up to its payoff of the play.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bestresponse.core.episode import AnyEpisode, Episode, Submission
from bestresponse.core.game import NATURE, AnyGame, Role
from bestresponse.games.capabilities import HasStage
from bestresponse.web.sessions.session import round_amount

__all__ = ["AnswerPlace", "locate_answers"]

_ROUND = re.compile(r"\b(?:round|day)\s+(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """`stage` counts within the round from 1; payoffs are None until the stage is complete."""

    round: int
    stage: int
    payoff: float | None = None
    total: float | None = None


def locate_answers(game: AnyGame, submissions: Sequence[Submission]) -> list[AnswerPlace]:
    """Place every answer of a play, nature's too, in the order of the submissions."""
    episode: AnyEpisode = Episode(game)
    found: list[AnswerPlace] = []
    stages: dict[int, int] = {}
    latest: dict[Role, int] = {}
    number, here = 0, (1, 0)
    opened = False
    for index, submission in enumerate(submissions):
        if submission.role != NATURE and not opened:
            number, opened = number + 1, True
            current = _find_round(game, episode, submission.role, number)
            stages[current] = stages.get(current, 0) + 1
            here = (current, stages[current])
        found.append(AnswerPlace(*here))
        latest[submission.role] = index
        before = episode.state
        episode.submit(submission.role, submission.decision)
        if episode.state is not before:
            opened = False
            _pay(found, latest, game.payoffs(episode.state), submissions)
    return found


def _pay(
    found: list[AnswerPlace], latest: Mapping[Role, int], earned: Mapping[Role, float], given: Sequence[Submission]
) -> None:
    """Credit what each role has earned since its answer before the latest to its latest answer."""
    for role, total in earned.items():
        if role in latest:
            before = sum(p.payoff or 0.0 for p, s in zip(found, given, strict=False) if s.role == role)
            before -= found[latest[role]].payoff or 0.0
            found[latest[role]] = replace(
                found[latest[role]], payoff=round_amount(total - before), total=round_amount(total)
            )


def _find_round(game: AnyGame, episode: AnyEpisode, role: Role, number: int) -> int:
    if isinstance(game, HasStage):
        return number
    view = episode.view(role)
    now = view.facts.get("now")
    told = _ROUND.search(now if isinstance(now, str) else view.situation)
    return int(told[1]) if told else 1
