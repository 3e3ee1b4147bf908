"""Rewards of replies: what an answer to a task is worth, from 0 to 1.

    zero-sum games       1 - exploitability
    general-sum games    1 - the larger of two regrets: the player's own against the opponent of the
                         selected equilibrium, and the opponent's against the player's mix; so an
                         answer scores 1 exactly where both together are an equilibrium
    stated mixes         1 - regret against the mix that is stated
    programs of stories  1 where the game is exactly the one that was told, else 0
    claims               the harmonic mean of precision and recall

Exploitability and regret are shares of the payoff range of whoever has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.formal.evaluate.validation import compare_tables
from bestresponse.formal.formalize.forms import find_code
from bestresponse.games.logic.tables import as_game_table
from bestresponse.games.matrix.game import as_strategy
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.players.llm.reading import read_reply
from bestresponse.studies.bench.games import own_view
from bestresponse.studies.improve.claims import score_claims
from bestresponse.studies.improve.examples import find_ask, make_task_game
from bestresponse.studies.improve.rows import GameTask
from bestresponse.theory.games.normal_form import Array

Task = Mapping[str, object] | str
"""A task as plain data, or as the text that files hold."""
Completion = str | Sequence[Mapping[str, object]]
"""What a model wrote: a text, or messages of which the last counts."""


def score_reply(task: Task, reply: str) -> float:
    """Return the reward of a reply from 0 to 1; `InvalidMove` where there is no answer in it.

    >>> from bestresponse.studies.improve.examples import describe_matrix
    >>> pennies = np.array([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> task = describe_matrix(pennies, 0, "table", "neutral") | {"opponent": [0.5, 0.5]}
    >>> score_reply(task, "ANSWER: A: 0.75, B: 0.25")
    0.75
    """
    known = _read_task(task)
    if known["kind"] == "story":
        return _score_program(known, reply)
    if known["kind"] == "claims":
        return score_claims(known, reply)
    _, ask = find_ask(known)
    decision = read_reply(ask, reply)
    if decision.action is None:
        raise InvalidMove(decision.reading.how)
    mix = as_strategy(decision.action, ask.options)
    return 1.0 - _measure_regret(known, mix)


def reward_replies(
    completions: Sequence[Completion],
    task: Sequence[Task],
    **columns: object,
) -> list[float]:
    """Return the rewards of a batch, 0 where a reply cannot be read.

    This is a reward function as GRPO of TRL calls it: completions are texts or lists of messages,
    `task` is the column of the data, and all other columns are ignored.
    """
    if len(completions) != len(task):
        raise UsageError(f"got {len(completions)} replies to {len(task)} tasks")
    return [reward_reply(reply, one) for reply, one in zip(completions, task, strict=True)]


def reward_reply(completion: Completion, task: Task) -> float:
    """Return the reward of one reply, 0 where it cannot be read.

    The environment `bestresponse_solved_games` of `verifiers` rewards by it.
    """
    text = completion if isinstance(completion, str) else str(completion[-1]["content"] or "")
    try:
        return score_reply(task, text)
    except InvalidMove:
        return 0.0


def _read_task(task: Task) -> GameTask:
    try:
        known = json.loads(task) if isinstance(task, str) else dict(task)
        known["kind"]
    except (ValueError, TypeError, KeyError):
        raise UsageError(
            f"expected a task, as the column `task` of an export holds it, got {str(task)[:80]!r}"
        ) from None
    return cast(GameTask, known)


def _measure_regret(task: GameTask, mix: Array) -> float:
    """Return what a mix loses in a matrix game, as a share of the payoff range."""
    mine, theirs = own_view(np.asarray(task["payoffs"], dtype=np.float64), task["seat"])
    other = np.asarray(task["opponent"], dtype=np.float64)
    size = float(np.ptp(mine)) or 1.0
    brought = mine @ other
    regret = float(brought.max() - mix @ brought) / size
    # A best reply to a mix that is stated can be exploited, and is right all the same.
    if task["kind"] == "reply":
        return max(regret, 0.0)
    if (theirs == -mine).all():
        # the best reply to an optimal opponent brings the value of the game
        return max(float(brought.max() - (mix @ mine).min()) / size, 0.0)
    answered = mix @ theirs
    others = float(answered.max() - answered @ other) / (float(np.ptp(theirs)) or 1.0)
    return max(regret, others, 0.0)


def _score_program(task: GameTask, reply: str) -> float:
    code = find_code(reply)
    if code is None:
        raise InvalidMove("there is no program in the reply")
    table = validate(code.text, EmbeddedEngine()).table
    if table is None:
        return 0.0
    return float(compare_tables(table, as_game_table(make_task_game(task).form)).exact)
