"""A play step by step: who was asked, what they saw, what they said, how it was read, and what it cost them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bestresponse.analysis.regrets import measure_against_equilibrium, measure_against_others
from bestresponse.core.episode import AnyEpisode, Episode, Record, Submission
from bestresponse.core.game import Action, AnyGame, Role
from bestresponse.core.json import JsonMapping

__all__ = ["Stage", "Step", "list_stages", "list_steps"]

Call = JsonMapping


@dataclass(frozen=True, slots=True)
class Step:
    """One answer.

    `stage` counts the states that were passed: answers given at the same time have the same. `regret` is what the best
    answer to what the others did in this round would have earned more, `regret_equilibrium` what this answer loses
    against others who play the equilibrium; None where that is not known.
    """

    number: int
    stage: int
    role: Role
    action: str
    status: str
    how: str
    stand_in: str
    words: str
    situation: str
    prompts: tuple[str, ...]
    regret: float | None = None
    regret_equilibrium: float | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Answers that were given in the same state; what everybody had earned before them where that is new."""

    number: int
    steps: tuple[Step, ...]
    earned: Mapping[Role, float]


def list_steps(record: Record, game: AnyGame | None, calls: Iterable[Call] = ()) -> list[Step]:
    """List every answer in its order, with the view it was given from where the game is known."""
    asked = _group_calls(record, calls)
    episode: AnyEpisode | None = Episode(game) if game is not None else None
    steps: list[Step] = []
    stage = 0
    for number, submission in enumerate(record.submissions, 1):
        situation, decision = "", submission.decision
        if episode is not None:
            view = episode.view(submission.role)
            situation = view.situation or view.briefing
        reading, prompts = decision.reading, _list_prompts(asked.get(number, []))
        steps.append(
            Step(
                number,
                stage,
                submission.role,
                _format_action(decision.action),
                reading.status.value,
                reading.how,
                decision.stand_in,
                decision.reasoning,
                situation,
                prompts,
            )
        )
        stage += episode is None or _submit(episode, submission)
    return steps


def list_stages(record: Record, game: AnyGame | None, calls: Iterable[Call] = ()) -> list[Stage]:
    """List the answers in groups of those that were given at the same time, with what each cost; solves the game."""
    others, equilibrium = measure_against_others(record, game), measure_against_equilibrium(record, game)
    groups: dict[int, list[Step]] = {}
    for step in list_steps(record, game, calls):
        known = replace(step, regret=others.get(step.number), regret_equilibrium=equilibrium.get(step.number))
        groups.setdefault(step.stage, []).append(known)
    earned = _list_earned(record, game) if game is not None else []
    return [
        Stage(number, tuple(steps), earned[stage] if _is_new(earned, stage) else {})
        for number, (stage, steps) in enumerate(groups.items(), 1)
    ]


def _is_new(earned: list[Mapping[Role, float]], stage: int) -> bool:
    return stage < len(earned) and earned[stage] != (earned[stage - 1] if stage else {})


def _list_earned(record: Record, game: AnyGame) -> list[Mapping[Role, float]]:
    """List what everybody had earned in each state that was passed."""
    episode: AnyEpisode = Episode(game)
    earned = [game.payoffs(episode.state)]
    for submission in record.submissions:
        if _submit(episode, submission):
            earned.append(game.payoffs(episode.state))
    return earned


def _submit(episode: AnyEpisode, submission: Submission) -> bool:
    """Take the answer, and tell whether the state has changed by it."""
    before = episode.state
    episode.submit(submission.role, submission.decision)
    return episode.state is not before


def _group_calls(record: Record, calls: Iterable[Call]) -> dict[int, list[Call]]:
    """Group the calls that led to each answer, by its number: those up to the one that the answer was read from.

    Calls after the last reply that can be told stand with the last answer of their seat.
    """
    waiting: dict[Role, list[Call]] = {}
    for call in calls:
        waiting.setdefault(call["role"], []).append(call)
    grouped: dict[int, list[Call]] = {}
    last: dict[Role, int] = {}
    for number, submission in enumerate(record.submissions, 1):
        seat_calls = waiting.get(submission.role, [])
        words = submission.decision.reasoning.strip()
        read = next((k for k, call in enumerate(seat_calls) if _is_source(call["reply"]["text"], words)), None)
        if read is not None:
            grouped[number], waiting[submission.role] = seat_calls[: read + 1], seat_calls[read + 1 :]
        if seat_calls:
            last[submission.role] = number
    for role, left in waiting.items():
        if left and role in last:
            grouped[last[role]] = [*grouped.get(last[role], []), *left]
    return grouped


def _is_source(reply: str, words: str) -> bool:
    return bool(words) and bool(reply.strip()) and (reply.strip() in words or words in reply)


def _list_prompts(calls: list[Call]) -> tuple[str, ...]:
    """List the messages of the calls and their replies."""
    prompts: list[str] = []
    for call in calls:
        prompts += [f"{role}:\n{content}" for role, content in call["request"]["messages"]]
        prompts.append(f"{call['model']}:\n{call['reply']['text']}")
    return tuple(prompts)


def _format_action(action: Action) -> str:
    match action:
        case None:
            return "no answer"
        case tuple() | list():
            return "(" + ", ".join(_format_action(part) for part in action) + ")"
        case Mapping():
            return ", ".join(f"{name}: {_format_action(part)}" for name, part in action.items())
        case float():
            return f"{action:.6g}"
        case _:
            return str(action)
