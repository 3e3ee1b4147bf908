"""From the logit equilibrium of complete noise along its branch to a Nash equilibrium, for any number of players.

Logit equilibria (McKelvey and Palfrey 1995) satisfy log x_is - log x_i0 = k (u_is - u_i0) for precision k. From k = 0
and uniform mixtures a branch leads, for generic games, to a Nash equilibrium as k grows; it is followed by predictor
and corrector steps in log probabilities (Turocy 2005). Now and then the actions still in use are taken as supports and
Newton's method is tried on them. Where a branch cannot be followed, others are, with complete noise that prefers some
actions: log x_is - log x_i0 = k (u_is - u_i0) + b_is - b_i0 leads to Nash equilibria as well.
"""

from __future__ import annotations

import numpy as np

from bestresponse.theory.equilibria.many_players.newton import action_payoffs, equal_payoffs, pair_payoffs, worst_regret
from bestresponse.theory.games.normal_form import Array

__all__ = ["trace_to_equilibrium"]

_STEPS = 1500
_REGRET_LIMIT = 1e-9
_USED = (1e-2, 1e-4, 1e-7)
_BRANCHES = 8


def trace_to_equilibrium(payoffs: Array) -> tuple[Array, ...] | None:
    """Mixtures of regret at most 1e-9 for payoffs scaled into [0, 1], or None where no branch led there."""
    generator = np.random.default_rng(0)
    shape = payoffs.shape[1:]
    for branch in range(_BRANCHES):
        noise = [generator.dirichlet(np.full(m, 4.0)) if branch else np.full(m, 1.0 / m) for m in shape]
        found = _followed(payoffs, np.log(np.concatenate(noise)))
        if found is not None:
            return found
    return None


def _followed(payoffs: Array, noise: Array) -> tuple[Array, ...] | None:
    """The end of the branch from the logarithms `noise` of what is played at precision 0."""
    shape = payoffs.shape[1:]
    point = np.append(noise, 0.0)
    tangent = np.zeros(len(point))
    tangent[-1] = 1.0
    length, next_try = 0.05, 1.0
    for _ in range(_STEPS):
        if abs(point[-1]) >= next_try:
            next_try *= 1.5
            found = _polished(payoffs, _mixtures(point, shape))
            if found is not None:
                return found
        tangent = _tangent(payoffs, noise, point, tangent)
        landed = _corrected(payoffs, noise, point + length * tangent, tangent)
        if landed is None:
            length /= 2.0
            if length < 1e-9:
                return None
            continue
        drift = float(np.linalg.norm(landed - point - length * tangent)) / length
        point = landed
        length *= 1.5 if drift < 0.05 else (0.7 if drift > 0.3 else 1.0)
        if point[-1] > 1e8:
            return None
    return None


def _mixtures(point: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    parts = np.split(np.exp(point[:-1]), np.cumsum(shape)[:-1])
    return tuple(x / x.sum() for x in parts)


def _polished(payoffs: Array, mix: tuple[Array, ...]) -> tuple[Array, ...] | None:
    for least in _USED:
        supports = tuple(tuple(int(a) for a in np.flatnonzero(x > least)) for x in mix)
        start = tuple(np.where(x > least, x, 0.0) / x[x > least].sum() for x in mix)
        found = equal_payoffs(payoffs, supports, start)
        if found is not None and worst_regret(payoffs, found) <= _REGRET_LIMIT:
            return found
    return None


def _system(payoffs: Array, noise: Array, point: Array) -> tuple[Array, Array]:
    """Residuals of the logit conditions and their derivatives by log probabilities and precision."""
    shape = payoffs.shape[1:]
    offsets = np.concatenate([[0], np.cumsum(shape)])
    mix = tuple(np.exp(part) for part in np.split(point[:-1], offsets[1:-1]))
    precision = point[-1]
    residual, jacobian = np.zeros(len(point) - 1), np.zeros((len(point) - 1, len(point)))
    for i, m in enumerate(shape):
        low, high = int(offsets[i]), int(offsets[i + 1])
        earned = action_payoffs(payoffs, mix, i)
        residual[low] = mix[i].sum() - 1.0
        odds = (point[low + 1 : high] - point[low]) - (noise[low + 1 : high] - noise[low])
        residual[low + 1 : high] = odds - precision * (earned[1:] - earned[0])
        jacobian[low, low:high] = mix[i]
        jacobian[low + 1 : high, low] = -1.0
        jacobian[low + 1 : high, low + 1 : high] = np.eye(m - 1)
        jacobian[low + 1 : high, -1] = -(earned[1:] - earned[0])
        for j in range(len(shape)):
            if j != i:
                table = pair_payoffs(payoffs, mix, i, j) * mix[j]
                jacobian[low + 1 : high, int(offsets[j]) : int(offsets[j + 1])] = -precision * (table[1:] - table[0])
    return residual, jacobian


def _tangent(payoffs: Array, noise: Array, point: Array, before: Array) -> Array:
    """The unit direction of the branch, on the same way as `before`."""
    _, jacobian = _system(payoffs, noise, point)
    right = np.zeros(len(point))
    right[-1] = 1.0
    direction = np.linalg.lstsq(np.vstack([jacobian, before]), right, rcond=None)[0]
    return np.asarray(direction / np.linalg.norm(direction))


def _corrected(payoffs: Array, noise: Array, guess: Array, tangent: Array) -> Array | None:
    """Back to the branch, across the tangent; None if that does not converge quickly."""
    point = guess
    for _ in range(8):
        if not float(point[:-1].max()) < 1.0:
            return None
        residual, jacobian = _system(payoffs, noise, point)
        if np.abs(residual).max() < 1e-10 * max(1.0, abs(point[-1])):
            return point
        wanted = np.concatenate([-residual, [float(tangent @ (guess - point))]])
        point = point + np.linalg.lstsq(np.vstack([jacobian, tangent]), wanted, rcond=None)[0]
    return None
