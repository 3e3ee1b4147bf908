"""Tasks for Inspect, scored by the measures of this library; `playing` has those with several questions.

nash_gap   what a stated mixed strategy loses against the value of a random zero-sum game, as a share of its range
verify     whether every claim of a reasoning about a game is true; a text without claims is not scored
"""

from __future__ import annotations

import re

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from bestresponse.api.reasoning import verify as verify_text
from bestresponse.core.ask import Mixture
from bestresponse.core.errors import InvalidMove
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.integrations.inspect.playing import formalize, game
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

__all__ = ["claims_are_true", "formalize", "game", "nash_gap", "nash_gap_scorer", "verify"]

_ANSWER = (
    "Give your mixed strategy. End with one line: a JSON object with a probability for each of your actions, "
    "such as {example}."
)
_REASON = "Explain step by step what you would choose and why, with the payoffs that matter. You are {me}."
_UNREAD = float("nan")


@task  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap(num_games: int = 20, actions: int = 3, seed: int = 0) -> Task:
    """Ask for mixed strategies of random zero-sum games and measure how far each is from optimal."""
    rng = np.random.default_rng(seed)
    samples = [_make_sample(number, rng.integers(-9, 10, (actions, actions))) for number in range(num_games)]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=nash_gap_scorer())


def _make_sample(number: int, matrix: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Sample:
    game = MatrixGame(NormalForm.zero_sum(matrix.astype(float)), ("mixture", "mixture"))
    names = game.form.actions[0]
    example = "{" + ", ".join(f'"{name}": {1 / len(names):.2f}' for name in names) + "}"
    prompt = f"{game.view((), 'row').briefing}\n\n{_ANSWER.replace('{example}', example)}"
    return Sample(id=number, input=prompt, metadata={"matrix": matrix.tolist()})


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator, unused-ignore]
def nash_gap_scorer() -> Scorer:
    """Score the share of the payoff range that the strategy loses at worst against the value: 0 is optimal."""

    async def score(state: TaskState, target: Target) -> Score:
        matrix = np.array(state.metadata["matrix"], dtype=np.float64)
        names = NormalForm.zero_sum(matrix).actions[0]
        found = re.findall(r"\{[^{}]*\}", state.output.completion)
        try:
            mix = np.array(Mixture(names).read(found[-1] if found else state.output.completion))
        except InvalidMove as error:
            return Score(value=_UNREAD, explanation=f"not scored: {error}")
        best = solve_zero_sum_game(matrix).value
        gap = max(0.0, float(best - (mix @ matrix).min()))
        width = float(np.ptp(matrix)) or 1.0
        return Score(value=gap / width, answer=found[-1] if found else "", metadata={"gap": gap, "value": float(best)})

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
