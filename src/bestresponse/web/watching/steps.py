"""A play step by step: who was asked, what they saw, what they said, how it was read, and what it cost them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bestresponse.analysis.regrets import measure_against_equilibrium, measure_against_others
from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.game import Action, AnyGame, Role
from bestresponse.core.json import JsonMapping

__all__ = ["Stage", "Step", "add_regrets", "group_stages", "list_steps"]

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


def list_steps(record: Record, game: AnyGame | None, calls: Iterable[Call]) -> list[Step]:
    """Every answer in its order, with the view it was given from where the game is known."""
    places = _places(record, game) if game is not None else [(n, "") for n in range(len(record.submissions))]
    asked = _calls_by_answer(record, calls)
    return [
        Step(
            number,
            stage,
            submission.role,
            _format_action(submission.decision.action),
            submission.decision.reading.status.value,
            submission.decision.reading.how,
            submission.decision.stand_in,
            submission.decision.reasoning,
            situation,
            _prompts(asked.get(number, [])),
        )
        for number, (submission, (stage, situation)) in enumerate(zip(record.submissions, places, strict=True), 1)
    ]


def add_regrets(steps: Iterable[Step], record: Record, game: AnyGame | None) -> list[Step]:
    """The steps with what each cost; this solves the game."""
    others, equilibrium = measure_against_others(record, game), measure_against_equilibrium(record, game)
    return [
        replace(step, regret=others.get(step.number), regret_equilibrium=equilibrium.get(step.number)) for step in steps
    ]


def group_stages(steps: Iterable[Step], record: Record, game: AnyGame | None) -> list[Stage]:
    """The steps in groups of those that were taken at the same time."""
    groups: dict[int, list[Step]] = {}
    for step in steps:
        groups.setdefault(step.stage, []).append(step)
    earned = _earned(record, game) if game is not None else {}
    return [
        Stage(number, tuple(group), {} if earned.get(stage) == earned.get(stage - 1, {}) else earned.get(stage, {}))
        for number, (stage, group) in enumerate(groups.items(), 1)
    ]


def _places(record: Record, game: AnyGame) -> list[tuple[int, str]]:
    """For each answer the number of its state, and what its seat saw."""
    episode: AnyEpisode = Episode(game)
    found, stage = [], 0
    for submission in record.submissions:
        view, before = episode.view(submission.role), episode.state
        found.append((stage, view.situation or view.briefing))
        episode.submit(submission.role, submission.decision)
        stage += episode.state is not before
    return found


def _earned(record: Record, game: AnyGame) -> dict[int, Mapping[Role, float]]:
    episode: AnyEpisode = Episode(game)
    found: dict[int, Mapping[Role, float]] = {0: game.payoffs(episode.state)}
    for submission in record.submissions:
        before = episode.state
        episode.submit(submission.role, submission.decision)
        if episode.state is not before:
            found[len(found)] = game.payoffs(episode.state)
    return found


def _calls_by_answer(record: Record, calls: Iterable[Call]) -> dict[int, list[Call]]:
    """The calls that led to each answer, by its number: those up to the one whose reply the answer was read from.

    Calls after the last reply that can be told stand with the last answer of their seat.
    """
    waiting: dict[Role, list[Call]] = {}
    for call in calls:
        waiting.setdefault(call["role"], []).append(call)
    found: dict[int, list[Call]] = {}
    last: dict[Role, int] = {}
    for number, submission in enumerate(record.submissions, 1):
        own = waiting.get(submission.role, [])
        words = submission.decision.reasoning.strip()
        read = next((k for k, call in enumerate(own) if words and _said_in(call["reply"]["text"], words)), None)
        if read is not None:
            found[number], waiting[submission.role] = own[: read + 1], own[read + 1 :]
        if own:
            last[submission.role] = number
    for role, left in waiting.items():
        if left and role in last:
            found[last[role]] = [*found.get(last[role], []), *left]
    return found


def _said_in(reply: str, words: str) -> bool:
    return bool(reply.strip()) and (reply.strip() in words or words in reply)


def _prompts(calls: list[Call]) -> tuple[str, ...]:
    """The messages of the calls and their replies."""
    found: list[str] = []
    for call in calls:
        found += [f"{role}:\n{content}" for role, content in call["request"]["messages"]]
        found.append(f"{call['model']}:\n{call['reply']['text']}")
    return tuple(found)


def _format_action(action: Action) -> str:
    match action:
        case None:
            return "no answer"
        case tuple() | list():
            return "(" + ", ".join(_format_action(p) for p in action) + ")"
        case Mapping():
            return ", ".join(f"{name}: {_format_action(value)}" for name, value in action.items())
        case float():
            return f"{action:.6g}"
        case _:
            return str(action)
