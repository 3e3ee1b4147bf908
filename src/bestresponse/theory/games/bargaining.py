"""Nash's bargaining solution: the payoffs that maximise the product of gains.

The payoffs are feasible, and the gains are over disagreement.

Definition (Nash 1950): over the convex hull of the feasible payoff vectors, maximise prod_i (u_i -
d_i) subject to u >= d, where d is what players get if they do not agree. It is the only rule that
is efficient, symmetric, independent of the scale of utilities and of irrelevant alternatives.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.dominance import maximin
from bestresponse.theory.games.normal_form import Array, NormalForm, as_payoffs
from bestresponse.theory.linear_program import find_fairest_mixture

_STEPS = 20_000


@dataclass(frozen=True, eq=False, slots=True)
class Bargain:
    """The agreement, the point of disagreement, and a certificate.

    It has payoffs, and the weights on the feasible points (or cells) that give them. `gap` is the
    most by which the sum of log gains could still rise.
    """

    payoffs: Array
    weights: Array
    disagreement: Array
    gap: float


def nash_bargaining(
    feasible: NormalForm | ArrayLike, disagreement: ArrayLike | None = None
) -> Bargain:
    """Nash's bargaining solution over mixtures of the cells of a game or of rows.

    A row has one payoff per player.

    Disagreement defaults, for a game, to the players' security levels. Raises InvalidGame when no
    feasible agreement is better for everybody than disagreement.

    >>> battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> nash_bargaining(battle, [0, 0]).payoffs.round(6).tolist()
    [1.5, 1.5]
    """
    if isinstance(feasible, NormalForm):
        points = feasible.payoffs.reshape(feasible.num_players, -1).T
        shape = feasible.shape
    else:
        points = as_payoffs(feasible, "feasible points")
        shape = points.shape[:1]
    if points.ndim != 2:
        raise InvalidGame(
            f"feasible points: expected rows of one payoff per player, got shape {points.shape}"
        )
    if disagreement is not None:
        threat = as_payoffs(disagreement, "disagreement")
    elif isinstance(feasible, NormalForm):
        threat = np.array([maximin(feasible, i).value for i in range(feasible.num_players)])
    else:
        raise InvalidGame(
            "disagreement: expected one payoff per player, because the feasible points come without"
            " a game"
        )
    if threat.shape != (points.shape[1],):
        raise InvalidGame(
            f"disagreement: expected {points.shape[1]} payoffs, got shape {threat.shape}"
        )
    weights, gap = _maximise(points - threat)
    return Bargain(weights @ points, weights.reshape(shape), threat, gap)


def _maximise(gains: Array) -> tuple[Array, float]:
    """Weights of the largest sum of log gains, by Frank-Wolfe steps.

    The steps go away from and towards points, with exact line search.

    The gap max_k sum_i gains[k, i] / u_i - n bounds the distance to the optimum, by concavity.
    """
    scale = gains.max(axis=0)
    if not (scale > 0).all():
        raise InvalidGame(
            "bargaining: somebody cannot do better than disagreement, so there is nothing to"
            " agree on"
        )
    unit = gains / scale
    weights = find_fairest_mixture(unit.T)
    if (weights @ unit).min() <= 1e-12:
        raise InvalidGame(
            "bargaining: no feasible agreement is better for everybody than disagreement"
        )
    count = unit.shape[1]
    for _ in range(_STEPS):
        now = weights @ unit
        score = unit @ (1.0 / now)
        towards = int(score.argmax())
        gap = float(score[towards]) - count
        if gap < 1e-12:
            break
        used = np.flatnonzero(weights > 0)
        away = int(used[score[used].argmin()])
        step = unit[towards] - unit[away]
        moved = _best_length(now, step, float(weights[away]))
        weights[towards] += moved
        weights[away] = max(weights[away] - moved, 0.0)
    return weights / weights.sum(), max(gap, 0.0)


def _best_length(now: Array, step: Array, most: float) -> float:
    """The length up to `most` that maximises sum log(now + length * step).

    It is found by bisection on the derivative.
    """

    def slope(length: float) -> float:
        with np.errstate(divide="ignore"):
            at = now + length * step
            return float((step / at).sum()) if (at > 0).all() else -np.inf

    if slope(most) >= 0:
        return most
    low = 0.0
    high = most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low
