"""Commitment (Stackelberg): one player commits to a strategy, and the others reply to it.

Definition (von Stackelberg 1934; mixed strategies: von Stengel and Zamir 2010): the leader
announces a mixed strategy and keeps to it; the follower sees it and plays a best reply, among
equally good ones the one that is best for the leader (a strong Stackelberg equilibrium). The leader
chooses what earns it most.

Two players: for every action of the follower, a linear program finds the leader's best mixture
among those to which this action is a best reply; the best of all is the answer (Conitzer and
Sandholm 2006). Small games are solved in whole numbers.

More players: the leader commits to a correlated strategy. It draws a cell, tells every follower its
action, and keeps to its own; obeying must be best for every follower. That is one linear program,
whose value is at least that of every mixed commitment with one equilibrium of the followers, and
for two players the same as above (Conitzer and Korzhyk 2011).

Certificate: what a follower could gain by another reply.

V. Conitzer and T. Sandholm, "Computing the optimal strategy to commit to", EC 2006.
V. Conitzer and D. Korzhyk, "Commitment to correlated strategies", AAAI 2011.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from bestresponse.core.errors import NotCertified, UsageError
from bestresponse.theory.arrays import find_range
from bestresponse.theory.correlation.equilibria import (
    VIOLATION_LIMIT,
    correlated_regret,
    expect_payoffs,
    find_exempted,
)
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.integer import maximize, whole_matrix
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_meant,
    as_normal_form,
)
from bestresponse.theory.linear_program import find_mixture

_EXACT_CELLS = 400  # above, whole numbers would take too long


@dataclass(frozen=True, slots=True, eq=False)
class Commitment:
    """What a leader commits to, as a distribution over cells, and what everybody earns.

    Of two players the leader's `strategy` and the follower's reply make the distribution, and
    `exact` is the strategy as fractions where payoffs are few. `gain` is the most that a follower
    could gain by another reply.
    """

    game: NormalForm
    leader: int
    distribution: Array
    payoffs: Array
    gain: float
    method: str
    exact: tuple[Fraction, ...] | None = None
    exact_payoffs: tuple[Fraction, ...] | None = None

    @property
    def strategies(self) -> tuple[Array, ...]:
        """How likely each player takes each action; of two players the product is the answer."""
        mixes = []
        for player, m in enumerate(self.game.shape):
            by_action = np.moveaxis(self.distribution, player, 0)
            mixes.append(by_action.reshape(m, -1).sum(axis=1))
        return tuple(mixes)

    @property
    def strategy(self) -> Array:
        """The leader's mixed strategy."""
        return self.strategies[self.leader]

    @property
    def value(self) -> float:
        """What the leader earns."""
        return float(self.payoffs[self.leader])


def stackelberg(
    game: GameLike,
    leader: int | str = 0,
    *,
    pure: bool = False,
    seconds: float = 60.0,
) -> Commitment:
    """Find the best commitment of a leader, given by name or number.

    With `pure`, of two players, the leader can commit to single actions only. NotCertified where
    the search takes longer than `seconds`.

    >>> committed = stackelberg(([[2, 4], [1, 3]], [[1, 0], [0, 1]]))
    >>> committed.strategy.tolist(), committed.payoffs.tolist()
    ([0.5, 0.5], [3.5, 0.5])
    """
    deadline = Deadline.after(seconds)
    game = as_normal_form(game)
    number = find_leader(game.players, leader)
    if game.num_players == 1:
        raise UsageError("a commitment needs somebody who replies; this game has one player")
    if game.num_players > 2:
        if pure:
            raise UsageError(
                "pure: the followers of a single action play a game of their own, which may have"
                " several equilibria; leave it out for more than two players"
            )
        return _correlate(game, number, deadline)
    if pure:
        return _commit_purely(game, number)
    if game.payoffs[0].size <= _EXACT_CELLS:
        return _commit_exactly(game, number, deadline)
    return _commit_by_programs(game, number, deadline)


def find_leader(players: Sequence[str], leader: int | str) -> int:
    """Find a player by name or number; UsageError where there is none."""
    if leader in players:
        return list(players).index(str(leader))
    if isinstance(leader, int) and 0 <= leader < len(players):
        return leader
    raise UsageError(
        f"leader: expected one of {', '.join(players)}, or a number from 0 to {len(players) - 1},"
        f" got {leader!r}"
    )


@dataclass(frozen=True, slots=True)
class _Reply:
    """A follower's action, the leader's mixture that makes it best, and what both earn then."""

    action: int
    mixture: tuple[Fraction, ...]
    earned: tuple[Fraction, Fraction]


def _commit_exactly(game: NormalForm, leader: int, deadline: Deadline) -> Commitment:
    """Solve one program per reply in whole numbers."""
    whole = [np.array(whole_matrix(game, player), dtype=object) for player in range(2)]
    turned = [table.T if leader else table for table in whole]
    own = turned[leader].tolist()
    others = turned[1 - leader].tolist()
    best = max(_list_replies(own, others, deadline), key=lambda reply: reply.earned)
    return _describe(
        game,
        leader,
        best,
        "one linear program per reply, in whole numbers",
    )


def _list_replies(
    own: list[list[int]],
    others: list[list[int]],
    deadline: Deadline,
) -> Iterator[_Reply]:
    """Give for every action of the follower that can be a best reply the leader's best mixture."""
    actions = range(len(own[0]))
    for action in actions:
        rows = []
        for other in actions:
            if other != action:
                rows.append([row[other] - row[action] for row in others])
        point = maximize(rows, [row[action] for row in own], deadline)
        if not any(point):
            continue
        total = sum(point)
        mixture = tuple([Fraction(p, total) for p in point])
        earned = (_earn(own, mixture, action), _earn(others, mixture, action))
        yield _Reply(action, mixture, earned)


def _earn(table: list[list[int]], mixture: tuple[Fraction, ...], action: int) -> Fraction:
    column = [row[action] for row in table]
    return sum(map(mul, mixture, column), Fraction(0))


def _commit_purely(game: NormalForm, leader: int) -> Commitment:
    """Compare single actions of the leader, each with the follower's best replies."""
    exact = as_meant(game.given)
    own, others = (exact[k].T if leader else exact[k] for k in (leader, 1 - leader))
    replies = []
    for action in range(len(own)):
        most = max(others[action])
        mixture = [Fraction(0)] * len(own)
        mixture[action] = Fraction(1)
        for reply, earned in enumerate(others[action]):
            if earned == most:
                both = (own[action][reply], most)
                replies.append(_Reply(reply, tuple(mixture), both))
    best = max(replies, key=lambda reply: reply.earned)
    return _describe(game, leader, best, "comparison of single actions")


def _describe(game: NormalForm, leader: int, reply: _Reply, method: str) -> Commitment:
    """Work out in fractions what a mixture and its reply earn and the follower could gain."""
    tables = as_meant(game.given)
    mixture = np.array(reply.mixture, dtype=object)
    earned = []
    for table in tables:
        rows = table.T if leader else table
        earned.append(mixture @ rows)
    payoffs = tuple([Fraction(row[reply.action]) for row in earned])
    follower = 1 - leader
    gain = max(earned[follower]) - payoffs[follower]
    distribution = np.zeros(game.shape)
    turned = distribution.T if leader else distribution
    turned[:, reply.action] = list(map(float, reply.mixture))
    return Commitment(
        game=game,
        leader=leader,
        distribution=distribution,
        payoffs=np.array(payoffs, dtype=np.float64),
        exact=reply.mixture,
        exact_payoffs=payoffs if game.is_exact else None,
        gain=float(gain),
        method=method,
    )


def _commit_by_programs(game: NormalForm, leader: int, deadline: Deadline) -> Commitment:
    """Solve one program per reply by HiGHS; replies that cannot be worth more are left out."""
    tables = [table.T if leader else table for table in game.payoffs]
    own = tables[leader] / find_range(tables[leader])
    unit = find_range(tables[1 - leader])
    others = tables[1 - leader] / unit
    best = (-np.inf, -1, np.zeros(len(own)))
    for action in np.argsort(-own.max(axis=0), kind="stable").tolist():
        if own[:, action].max() <= best[0]:
            break
        if deadline.is_over:
            raise NotCertified(
                f"the best commitment was not found within {deadline.seconds:g} s:"
                f" {len(own[0])} replies are too many; allow more seconds"
            )
        gains = np.delete(others - others[:, [action]], action, axis=1).T
        mixture = find_mixture(-own[:, action], gains, np.zeros(len(gains)), deadline)
        value = -np.inf if mixture is None else float(mixture @ own[:, action])
        if mixture is not None and value > best[0]:
            best = (value, action, mixture)
    _, action, mixture = best
    earned = mixture @ others
    behind = earned.max() - earned[action]
    if behind > VIOLATION_LIMIT:
        raise NotCertified(
            f"the reply found is {behind:.1e} of the follower's payoff range behind its best one,"
            f" more than {VIOLATION_LIMIT:g}"
        )
    distribution = np.zeros(game.shape)
    turned = distribution.T if leader else distribution
    turned[:, action] = mixture
    return Commitment(
        game=game,
        leader=leader,
        distribution=distribution,
        payoffs=expect_payoffs(game, distribution),
        gain=float(behind * unit),
        method="one linear program per reply (HiGHS)",
    )


def _correlate(game: NormalForm, leader: int, deadline: Deadline) -> Commitment:
    distribution = find_exempted(game, leader, deadline)
    gains = np.delete(correlated_regret(game, distribution), leader)
    return Commitment(
        game=game,
        leader=leader,
        distribution=distribution,
        payoffs=expect_payoffs(game, distribution),
        gain=float(gains.max()),
        method="linear program over cells, the leader tells every follower its action",
    )
