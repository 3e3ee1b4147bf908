"""What beliefs were worth: how near they came, and what part of a loss is theirs.

A belief is scored by the quadratic rule of Brier (1950): the sum of squared differences to what was
played. It is proper: who says what it thinks expects the least. 0 is a sure and right belief, 2 a
sure and wrong one.

What an answer a loses against what the other plays, q, is split at r, a best reply to the belief p:

    loss(a, q)  =  loss(r, q)        mispredicted: what even a best reply to the belief loses
                +  loss(a, q) - loss(r, q)    miscalculated: what the answer loses beside that

Both add up to the loss by definition. The second is negative where a wrong reply was luckily right.
Of several best replies to the belief, r is the answer as far as it consists of them, and all of
them evenly where it has none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestresponse.analysis.truth import trace_stages
from bestresponse.core.episode import Record
from bestresponse.core.game import Game, S
from bestresponse.core.player import Decision
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.theory.games.normal_form import Array

_SAME = 1e-9
"""Of the range of payoffs: replies that earn less than the best by so much are best ones too."""


@dataclass(frozen=True, slots=True)
class JudgedBelief:
    """The Brier score of a belief, and both parts of what was lost."""

    score: float
    mispredicted: float
    miscalculated: float


def read_belief(decision: Decision) -> Array | None:
    """Return the belief among the remarks of a decision; None where none was read."""
    found = None
    for remark in decision.remarks:
        if remark.get("belief"):
            found = np.array(remark["belief"])
    return found


def judge_belief(payoffs: Array, answer: Array, belief: Array, played: Array) -> JudgedBelief:
    """Judge a belief by what was played; `payoffs` are the own ones, the own moves as rows.

    >>> pennies = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> judge_belief(pennies, np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    JudgedBelief(score=0.5, mispredicted=2.0, miscalculated=0.0)
    """
    expected = payoffs @ belief
    best = expected >= expected.max() - _SAME * float(np.ptp(payoffs))
    reply = np.where(best, answer, 0.0)
    if not reply.any():
        reply = best.astype(np.float64)
    lost = (payoffs @ played).max() - payoffs @ played
    blamed = float(lost @ reply / reply.sum())
    score = ((belief - played) ** 2).sum()
    return JudgedBelief(float(score), blamed, float(lost @ answer) - blamed)


def judge_beliefs(record: Record, game: Game[S]) -> dict[int, JudgedBelief]:
    """Judge the beliefs of a play of a table, round by round, by the answers' numbers."""
    form = find_stage_form(game)
    judged: dict[int, JudgedBelief] = {}
    if form is None:
        return judged
    for stage in trace_stages(record, game):
        for role, (number, _) in stage.answers.items():
            belief = read_belief(record.submissions[number - 1].decision)
            if belief is None or stage.moves is None:
                continue
            seat = form.players.index(role)
            own = form.payoffs[0] if seat == 0 else form.payoffs[1].T
            mixes = []
            for player, actions in zip(form.players, form.actions, strict=True):
                mixes.append(as_strategy(stage.moves[player], actions))
            judged[number] = judge_belief(own, mixes[seat], belief, mixes[1 - seat])
    return judged
