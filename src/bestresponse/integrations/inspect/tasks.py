"""Tasks for Inspect, scored by the measures of this library; `playing` has those with several questions.

nash_gap   the games, prompt, reading and figures of `bestresponse bench`
verify     whether every claim of a reasoning about a game is true; a text without claims is not scored
"""

from __future__ import annotations

from dataclasses import asdict

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from bestresponse.api.reasoning import verify as verify_text
from bestresponse.core.errors import InvalidMove
from bestresponse.games.lookup import find_game
from bestresponse.integrations.bench_questions import FIGURES, BenchQuestions
from bestresponse.integrations.inspect.playing import formalize, game
from bestresponse.models.base import Finish, Reply
from bestresponse.models.providers.inspect import FINISH

__all__ = ["claims_are_true", "formalize", "game", "nash_gap", "nash_gap_scorer", "verify"]

_REASON = "Explain step by step what you would choose and why, with the payoffs that matter. You are {me}."
_UNREAD = float("nan")
_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser}


@task  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap(num_games: int = 20, actions: int = 3, seed: int = 0) -> Task:
    """Ask what `bestresponse bench` asks: the mixed strategies of random zero-sum games."""
    questions = BenchQuestions(num_games, actions, seed)
    requests = [questions.write_request(number) for number in range(num_games)]
    samples = [
        Sample(
            id=number,
            input=[_MESSAGES[message.role](content=message.content) for message in request.messages],
            metadata={"questions": asdict(questions), "number": number},
        )
        for number, request in enumerate(requests)
    ]
    config = GenerateConfig(max_tokens=requests[0].max_tokens, temperature=requests[0].temperature)
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=nash_gap_scorer(), config=config)


@scorer(metrics={name: [mean(), stderr()] for name in FIGURES})  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap_scorer() -> Scorer:
    """Score the figures of the benchmark under its names; NaN where there is nothing to be read."""

    async def score(state: TaskState, target: Target) -> Score:
        questions = BenchQuestions(**state.metadata["questions"])
        reply = Reply(state.output.completion, FINISH.get(state.output.stop_reason, Finish.STOP))
        try:
            measured = questions.measure_reply(state.metadata["number"], reply)
        except InvalidMove as error:
            return Score(value=dict.fromkeys(FIGURES, _UNREAD), explanation=f"not scored: {error}")
        return Score(value=measured.figures, answer=str(measured.strategy))

    return score


@task  # type: ignore[untyped-decorator, unused-ignore]
def verify(game: str = "prisoners-dilemma", samples: int = 1) -> Task:
    """Ask for a reasoning about a game and check every claim in it."""
    rules = find_game(game).playable()
    me = rules.roles[0]
    prompt = f"{rules.view(rules.start(), me).briefing}\n\n{_REASON.format(me=me)}"
    data = [Sample(id=number, input=prompt, metadata={"game": game}) for number in range(samples)]
    return Task(dataset=MemoryDataset(data), solver=generate(), scorer=claims_are_true())


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator, unused-ignore]
def claims_are_true() -> Scorer:
    """Score 1 where claims were decided and none is refuted, 0 where one is; nothing where none could be decided."""

    async def score(state: TaskState, target: Target) -> Score:
        review = verify_text(state.output.completion, state.metadata["game"])
        value = {"unrefuted": 1.0, "refuted": 0.0}.get(review.state.value, _UNREAD)
        told = [review.summary, *(one.correction for one in review.refutations)]
        return Score(value=value, explanation="\n".join(told))

    return score
