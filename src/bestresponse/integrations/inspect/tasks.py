"""Tasks for Inspect, scored by the measures of this library; `playing` has those with several questions.

nash_gap   what a stated mixed strategy loses against the value of a random zero-sum game, as a share of its range
verify     whether every claim of a reasoning about a game is true; a text without claims is not scored
"""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from bestresponse.api.reasoning import verify as verify_text
from bestresponse.core.errors import InvalidMove
from bestresponse.games.lookup import find_game
from bestresponse.integrations.inspect.playing import formalize, game
from bestresponse.integrations.mixed_strategies import draw_matrices, measure_gap, write_question

__all__ = ["claims_are_true", "formalize", "game", "nash_gap", "nash_gap_scorer", "verify"]

_REASON = "Explain step by step what you would choose and why, with the payoffs that matter. You are {me}."
_UNREAD = float("nan")


@task  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap(num_games: int = 20, actions: int = 3, seed: int = 0) -> Task:
    """Ask for mixed strategies of random zero-sum games and measure how far each is from optimal."""
    samples = [
        Sample(id=number, input=write_question(matrix), metadata={"matrix": matrix})
        for number, matrix in enumerate(draw_matrices(num_games, actions, seed))
    ]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=nash_gap_scorer())


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap_scorer() -> Scorer:
    """Score the share of the payoff range that the strategy loses at worst against the value: 0 is optimal."""

    async def score(state: TaskState, target: Target) -> Score:
        try:
            found = measure_gap(state.metadata["matrix"], state.output.completion)
        except InvalidMove as error:
            return Score(value=_UNREAD, explanation=f"not scored: {error}")
        return Score(value=found.share, answer=found.answer, metadata={"gap": found.gap, "value": found.value})

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
