"""Ratings of players by tasks that they share: who does better where, and on which tasks.

Bradley-Terry: player i does better than k in a task with probability p_i / (p_i + p_k) (Bradley &
Terry 1952, Biometrika 39:324-345); a tie is half a win for each. All tasks weigh alike. Everybody
is taken to have tied once more, against all others together, so that who always wins has a finite
rating. The likeliest p are found by Hunter's iteration (2004, Annals of Statistics 32:384-406) and
told as Elo ratings: 400 points are odds of ten to one, and the mean is 1000.

Nash averaging (Balduzzi, Tuyls, Perolat & Graepel, "Re-evaluating evaluation", NeurIPS 2018): the
weights of tasks are those of an opponent who wants every player to fall behind the best one of
each task; of several such weightings, the most even one, that is the one with the least sum of
squares. Tasks that are alike share one weight, so that a task or a player that is entered twice
changes no rating.
"""

import numpy as np

from bestresponse.report.stats.statistics import Floats
from bestresponse.theory.zero_sum.solve import solve_zero_sum

_TIES = 1e-9
"""Scores that differ by less, beside the largest, are tied."""
_STEPS = 1_000
_CLOSE = 1e-7
_SLACK = 1e-7
"""Of the range of regrets: by so much weights may miss the value of the game."""


def count_wins(scores: Floats) -> Floats:
    """Count who does better than whom in every task: (tasks, players, players), a tie is a half.

    `scores` are players x tasks, larger is better; NaN where somebody was not asked.

    >>> count_wins(np.array([[1.0], [0.0], [1.0]]))[0].tolist()
    [[0.0, 1.0, 0.5], [0.0, 0.0, 0.0], [0.5, 1.0, 0.0]]
    """
    apart = scores.T[:, :, None] - scores.T[:, None, :]
    largest = np.nanmax(np.abs(scores))
    tied = np.abs(apart) <= _TIES * max(1.0, largest)
    wins = np.where(tied, 0.5, np.where(apart > 0, 1.0, 0.0))
    for own in wins:
        np.fill_diagonal(own, 0.0)
    return wins


def rate_wins(wins: Floats) -> Floats:
    """Return Elo ratings by Bradley-Terry, the last axis of `wins` less.

    >>> rate_wins(np.array([[0.0, 9.5], [0.5, 0.0]])).round().tolist()
    [1200.0, 800.0]
    """
    players = wins.shape[-1]
    if players < 2:
        return np.full(wins.shape[:-1], 1000.0)
    tie = 0.5 / (players - 1)
    known = wins + tie * (1 - np.eye(players))
    met = known + np.swapaxes(known, -1, -2)
    won = known.sum(axis=-1)
    strength = np.ones(won.shape)
    for _ in range(_STEPS):
        pairs = strength[..., :, None] + strength[..., None, :]
        raised = won / (met / pairs).sum(axis=-1)
        logs = np.log(raised)
        raised = np.exp(logs - logs.mean(axis=-1, keepdims=True))
        settled = np.allclose(raised, strength, rtol=_CLOSE, atol=0)
        strength = raised
        if settled:
            break
    odds = np.log10(strength)
    return np.asarray(1000 + 400 * odds)


def weigh_tasks(scores: Floats) -> Floats:
    """Return the weights of tasks by Nash averaging; those that are alike share one weight.

    >>> weigh_tasks(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])).round(6).tolist()
    [0.5, 0.25, 0.25]
    """
    from scipy.optimize import nnls

    behind = scores.max(axis=0) - scores
    scale = behind.max() or 1.0
    shares = np.round(behind / scale, 9)
    players = np.unique(shares, axis=0)
    distinct, place, times = np.unique(players, axis=1, return_inverse=True, return_counts=True)
    count = distinct.shape[1]
    # The opponent chooses tasks so that even the best player is as far behind as can be.
    value = float(solve_zero_sum(distinct.T).values[0])
    # The shortest weights with these limits, as the rest of a least-squares problem (Lawson &
    # Hanson 1974, Solving Least Squares Problems, chapter 23).
    ones = np.ones((1, count))
    sides = np.vstack([np.eye(count), distinct, ones, -ones])
    values = np.full(len(distinct), value - _SLACK)
    least = np.concatenate([np.zeros(count), values, [1.0, -1.0]])
    problem = np.vstack([sides.T, least])
    target = np.append(np.zeros(count), 1.0)
    multipliers, _ = nnls(problem, target)
    rest = problem @ multipliers - target
    weights = np.maximum(-rest[:-1] / rest[-1], 0.0)
    each = weights / weights.sum() / times
    return np.asarray(each[place.ravel()])


def average_by_nash(scores: Floats) -> Floats:
    """Return how far players are behind the best, by Nash averaging: 0 for nobody behind.

    >>> average_by_nash(np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).round(6).tolist()
    [-1.0, -1.0, -2.0]
    """
    behind = scores.max(axis=0) - scores
    return np.asarray(-behind @ weigh_tasks(scores))
