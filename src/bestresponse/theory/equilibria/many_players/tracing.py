"""Logit equilibria along their branch, and the Nash equilibrium at its end, for any number of players.

Logit equilibria (McKelvey and Palfrey 1995) satisfy log x_is - log x_i0 = k (u_is - u_i0) for precision k. From k = 0
and uniform mixtures a branch leads, for generic games, to a Nash equilibrium as k grows; it is followed by predictor
and corrector steps in log probabilities (Turocy 2005). Now and then the actions still in use are taken as supports and
Newton's method is tried on them. Where a branch cannot be followed, others are, with complete noise that prefers some
actions: log x_is - log x_i0 = k (u_is - u_i0) + b_is - b_i0 leads to Nash equilibria as well.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bestresponse.theory.equilibria.many_players.certify import (
    REGRET_LIMIT,
    equal_payoffs,
    find_supports,
    pair_payoffs,
    worst_regret,
)
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.regrets import Profile, contract

_STEPS = 1500
_USED = (1e-2, 1e-4, 1e-7)
_BRANCHES = 8
_CORRECTIONS = 8
_TOLERANCE = 1e-9


class LogitBranch:
    """The equations of a branch. A point is the logarithms of all probabilities followed by the precision.

    `noise` are the logarithms of what is played at precision 0.
    """

    def __init__(self, payoffs: Array, noise: Array | None = None) -> None:
        shape = payoffs.shape[1:]
        self.payoffs = payoffs
        self.noise = -np.log(np.repeat(shape, shape)) if noise is None else noise
        self.edges = list(pairwise(np.cumsum([0, *shape]).tolist()))
        self.size = self.edges[-1][1]

    def strategies(self, point: Array) -> Profile:
        """Give the mixtures of a point."""
        raw = [np.exp(point[low:high]) for low, high in self.edges]
        return tuple(mix / mix.sum() for mix in raw)

    def equations(self, point: Array) -> tuple[Array, Array]:
        """Return the left-hand sides and their derivatives by the logarithms and the precision."""
        mixes, precision = tuple(np.exp(point[low:high]) for low, high in self.edges), point[-1]
        sides, slopes = np.empty(self.size), np.zeros((self.size, self.size + 1))
        for i, (low, high) in enumerate(self.edges):
            value, odds = contract(self.payoffs[i], mixes, i), (point[:-1] - self.noise)[low:high]
            sides[low] = mixes[i].sum() - 1.0
            slopes[low, low:high] = mixes[i]
            sides[low + 1 : high] = odds[1:] - odds[0] - precision * (value[1:] - value[0])
            slopes[low + 1 : high, low + 1 : high] = np.eye(high - low - 1)
            slopes[low + 1 : high, low] = -1.0
            slopes[low + 1 : high, -1] = value[0] - value[1:]
            for j, (left, right) in enumerate(self.edges):
                if j != i:
                    pair = pair_payoffs(self.payoffs, mixes, i, j)
                    slopes[low + 1 : high, left:right] = -precision * (pair[1:] - pair[0]) * mixes[j]
        return sides, slopes

    def tangent(self, point: Array, towards: Array) -> Array:
        """Find the direction of the branch at `point` that goes on towards `towards`; not a number if unclear."""
        _, slopes = self.equations(point)
        try:
            direction = np.linalg.solve(np.vstack([slopes, towards]), np.eye(self.size + 1)[-1])
        except np.linalg.LinAlgError:
            return np.full(self.size + 1, np.nan)
        with np.errstate(over="ignore", invalid="ignore"):  # nearly singular: no direction, which is seen later
            return np.asarray(direction / np.linalg.norm(direction))

    def correct(self, guess: Array, normal: Array) -> Array | None:
        """Find the point of the branch nearest to `guess` in the plane with that normal; None if there is none near."""
        point = guess.copy()
        for _ in range(_CORRECTIONS):
            if not point[:-1].max() < 1.0:
                return None
            sides, slopes = self.equations(point)
            try:
                step = np.linalg.solve(np.vstack([slopes, normal]), np.append(-sides, 0.0))
            except np.linalg.LinAlgError:
                return None
            point = point + step
            if np.abs(step).max() < _TOLERANCE * max(1.0, float(np.abs(point).max())):
                return point
        return None


def trace_to_equilibrium(payoffs: Array, branches: int = _BRANCHES) -> Profile | None:
    """Find mixtures of regret at most 1e-9 for payoffs scaled into [0, 1]; None where none of the branches led there.

    The first branch is the principal one, from uniform play; the others start elsewhere.
    """
    generator = np.random.default_rng(0)
    for number in range(branches):
        drawn = [np.log(generator.dirichlet(np.full(m, 4.0))) for m in payoffs.shape[1:]] if number else None
        mix = _follow(LogitBranch(payoffs, None if drawn is None else np.concatenate(drawn)))
        if mix is not None:
            return mix
    return None


def _follow(branch: LogitBranch) -> Profile | None:
    """Follow a branch until its supports give a Nash equilibrium."""
    point = np.append(branch.noise, 0.0)
    tangent = np.eye(len(point))[-1]
    length, next_try = 0.05, 1.0
    for _ in range(_STEPS):
        if abs(point[-1]) >= next_try:
            next_try *= 1.5
            polished = _polish(branch.payoffs, branch.strategies(point))
            if polished is not None:
                return polished
        tangent = branch.tangent(point, tangent)
        landed = branch.correct(point + length * tangent, tangent)
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


def _polish(payoffs: Array, mix: Profile) -> Profile | None:
    for least in _USED:
        start = tuple(np.where(x > least, x, 0.0) / x[x > least].sum() for x in mix)
        polished = equal_payoffs(payoffs, find_supports(mix, least), start)
        if polished is not None and worst_regret(payoffs, polished) <= REGRET_LIMIT:
            return polished
    return None
