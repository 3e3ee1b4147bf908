"""What beliefs were worth: how near they came, and what part of a loss is theirs.

A belief is scored by the quadratic rule of Brier (1950): the sum of squared differences to what was
played. It is proper: who says what it thinks expects the least. 0 is a sure and right belief, 2 a
sure and wrong one.

What an answer a loses against what the other plays, q, is split at two best replies to the belief:
r by the payoffs of the game, and s by those that the player read in the rules.

    loss(a, q)  =  loss(r, q)                mispredicted: what a best reply to the belief loses
                +  loss(s, q) - loss(r, q)   misread: what replying by what was read loses beside
                +  loss(a, q) - loss(s, q)   miscalculated: what the answer loses beside both

The parts add up to the loss by definition. The second and third are negative where a wrong reading
or reply was luckily right. Of several best replies, s is the answer as far as it consists of them,
and all of them evenly where it has none; r is s by the same rule, so that a reading whose replies
are right costs nothing. Who was not asked what it read, or not readably, is taken to have read the
game's payoffs: nothing is known of misread, and r is s.
"""

from __future__ import annotations

from typing import TypedDict

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


class JudgedBelief(TypedDict):
    """The Brier score of a belief, and the parts of what was lost; all None where none was read."""

    belief_score: float | None
    mispredicted: float | None
    misread: float | None
    miscalculated: float | None


NO_BELIEF = JudgedBelief(belief_score=None, mispredicted=None, misread=None, miscalculated=None)


def find_remark(decision: Decision, name: str) -> Array | None:
    """Return the numbers that remarks of a decision keep by a name; None where there are none."""
    found = None
    for remark in decision.remarks:
        if remark.get(name):
            found = np.array(remark[name])
    return found


def judge_belief(
    payoffs: Array,
    answer: Array,
    belief: Array,
    played: Array,
    read: Array | None = None,
) -> JudgedBelief:
    """Judge a belief by what was played; `payoffs` are the own ones, the own moves as rows.

    `read` are the payoffs that the player says the game has.

    >>> pennies = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> judged = judge_belief(pennies, np.eye(2)[0], np.array([0.5, 0.5]), np.eye(2)[1], -pennies)
    >>> judged["mispredicted"], judged["misread"], judged["miscalculated"]
    (2.0, 0.0, 0.0)
    """
    lost = (payoffs @ played).max() - payoffs @ played
    own = _reply(payoffs if read is None else read, belief, answer)
    blamed = float(lost @ _reply(payoffs, belief, own))
    return JudgedBelief(
        belief_score=float(((belief - played) ** 2).sum()),
        mispredicted=blamed,
        misread=None if read is None else float(lost @ own) - blamed,
        miscalculated=float(lost @ answer) - float(lost @ own),
    )


def _reply(payoffs: Array, belief: Array, answer: Array) -> Array:
    """Return the best reply to a belief that is nearest to an answer."""
    expected = payoffs @ belief
    best = expected >= expected.max() - _SAME * float(np.ptp(payoffs))
    reply = np.where(best, answer, 0.0)
    if not reply.any():
        reply = best.astype(np.float64)
    return reply / reply.sum()


def judge_beliefs(record: Record, game: Game[S]) -> dict[int, JudgedBelief]:
    """Judge the beliefs of a play of a table, round by round, by the answers' numbers.

    The payoffs that a player read in the first round are those of all rounds.
    """
    form = find_stage_form(game)
    judged: dict[int, JudgedBelief] = {}
    if form is None:
        return judged
    read: dict[str, Array] = {}
    for stage in trace_stages(record, game):
        for role, (number, _) in stage.answers.items():
            decision = record.submissions[number - 1].decision
            stated = find_remark(decision, "payoffs")
            if stated is not None:
                read[role] = stated
            belief = find_remark(decision, "belief")
            if belief is None or stage.moves is None:
                continue
            seat = form.players.index(role)
            own = form.payoffs[0] if seat == 0 else form.payoffs[1].T
            mixes = []
            for player, actions in zip(form.players, form.actions, strict=True):
                mixes.append(as_strategy(stage.moves[player], actions))
            played = mixes[1 - seat]
            judged[number] = judge_belief(own, mixes[seat], belief, played, read.get(role))
    return judged
