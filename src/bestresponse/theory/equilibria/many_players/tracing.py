"""Logit equilibria along their branch, and the Nash equilibrium at its end.

Games may have any number of players.

Logit equilibria (McKelvey and Palfrey 1995) satisfy log x_is - log x_i0 = k (u_is - u_i0) for
precision k. From k = 0 and uniform mixtures a branch leads, for generic games, to a Nash
equilibrium as k grows; it is followed by predictor and corrector steps in log probabilities (Turocy
2005). All players share one k, so that payoffs are scaled by one unit; a unit for each player
would be another branch.

Who wants an equilibrium, whichever it is, is served sooner: now and then the actions still in use
are taken as supports and Newton's method is tried on them.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise

import numpy as np

from bestresponse.core.errors import NotCertified
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.equilibria.many_players.equations import (
    REGRET_LIMIT,
    measure_distance,
    pair_payoffs,
    settle,
)
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, contract

_STEPS = 1500
_USED = (
    1e-2,
    1e-4,
    1e-7,
)  # what is played with less counts as a mistake: first much, then hardly anything
_CORRECTIONS = 8
_TOLERANCE = 1e-9
_END = 1e7  # for payoffs in [0, 1]; beyond, the last digits of a long branch are rounding
_FAR_ON = 1e6  # a branch that is lost in flat corners beyond has shown where it leads
_CLOSE = 1e-2  # of probabilities: the end of a branch is no farther
_CLOSER = 5
"""Of a hundredfold precision a branch is so many times closer to its end, ten times at least where
it is not regular."""
_HIGHEST = 1e8  # for payoffs in [0, 1]: a loss of 1e-6 is then never chosen
_MOST_POINTS = 20_000
_LEAST_STEP = 1e-10
_CROSSING = 1e-4
_CAREFUL = (0.02, 0.998)
_BOLD = (0.3, 0.9)
"""How far a correction may lead, relative to the step, and the least cosine of the angle between
two tangents."""


class LogitBranch:
    """The equations of a branch.

    A point is the logarithms of all probabilities followed by the precision.

    `sizes` are the numbers of actions of those who choose: the players of a table, the information
    sets of a tree (see `trees.agents`).
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.uniform = -np.log(np.repeat(sizes, sizes))
        self.edges = list(pairwise(np.cumsum([0, *sizes]).tolist()))
        self.size = self.edges[-1][1]
        self._starts = np.array([low for low, _ in self.edges])
        self._first = np.repeat(self._starts, sizes)

    @abstractmethod
    def evaluate(self, logs: Array) -> tuple[Array, Array]:
        """Say what every action earns, and derive that by the logarithms of all probabilities."""

    def strategies(self, point: Array) -> Profile:
        """Give the mixtures of a point."""
        raw = [np.exp(point[low:high]) for low, high in self.edges]
        return tuple(mix / mix.sum() for mix in raw)

    def equations(self, point: Array) -> tuple[Array, Array]:
        """Return the left-hand sides and their derivatives by the logarithms and the precision.

        Every action but the first of each has the odds against the first that it earns; the first
        makes the sum 1.
        """
        logs = point[:-1]
        precision = point[-1]
        values, derivative = self.evaluate(logs)
        raw = logs - self.uniform - precision * values
        slopes = np.column_stack([np.eye(self.size) - precision * derivative, -values])
        sides = raw - raw[self._first]
        slopes = slopes - slopes[self._first]
        mixes = np.exp(logs)
        sides[self._starts] = np.add.reduceat(mixes, self._starts) - 1.0
        for low, high in self.edges:
            slopes[low, low:high] = mixes[low:high]
        return sides, slopes

    def tangent(self, point: Array, towards: Array) -> tuple[Array, float]:
        """Find the direction of the branch at `point` that goes on towards `towards`.

        Not a number if unclear.

        With it comes the sign of the determinant of the derivatives bordered by the direction.
        """
        _, slopes = self.equations(point)
        try:
            direction = np.linalg.solve(np.vstack([slopes, towards]), np.eye(self.size + 1)[-1])
        except np.linalg.LinAlgError:
            return np.full(self.size + 1, np.nan), 0.0
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # nearly singular: no direction, which is seen later
            direction = direction / np.linalg.norm(direction)
            return direction, float(np.linalg.slogdet(np.vstack([slopes, direction]))[0])

    def correct(self, guess: Array, normal: Array) -> Array | None:
        """Find the point of the branch nearest to `guess` in the plane with that normal.

        Returns None if there is none near.
        """
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
            largest = max(1.0, float(np.abs(point).max()))
            if np.abs(step).max() < _TOLERANCE * largest:
                return point
        return None


class TableBranch(LogitBranch):
    """The branch of a table with these payoffs."""

    def __init__(self, payoffs: Array) -> None:
        super().__init__(payoffs.shape[1:])
        self.payoffs = payoffs

    def evaluate(self, logs: Array) -> tuple[Array, Array]:
        """Say what every action earns, and derive that by the logarithms of all probabilities."""
        mixes = tuple(np.exp(logs[low:high]) for low, high in self.edges)
        values = np.empty(self.size)
        derivative = np.zeros((self.size, self.size))
        for i, (low, high) in enumerate(self.edges):
            values[low:high] = contract(self.payoffs[i], mixes, i)
            for j, (left, right) in enumerate(self.edges):
                if j != i:
                    derivative[low:high, left:right] = (
                        pair_payoffs(self.payoffs, mixes, i, j) * mixes[j]
                    )
        return values, derivative


def follow_branch(branch: LogitBranch, highest: float, *, bold: bool = False) -> Iterator[Array]:
    """List points of the branch from precision 0 to `highest`.

    NotCertified where it cannot be followed so far.

    Who wants an equilibrium, whatever branch leads to it, may be `bold`.
    """
    farthest, least_cosine = _BOLD if bold else _CAREFUL
    point = np.append(branch.uniform, 0.0)
    yield point
    if highest == 0:
        return
    stride = min(0.1, highest)
    tangent, orientation = branch.tangent(point, np.eye(len(point))[-1])
    for _ in range(_MOST_POINTS):
        guess = point + stride * tangent
        landed = branch.correct(guess, tangent)
        sure = False
        if landed is not None and np.linalg.norm(landed - guess) <= farthest * stride:
            ahead, turned = branch.tangent(landed, tangent)
            # Along a branch the orientation keeps its sign, except where branches cross; a change
            # is believed only after the smallest steps, everywhere else it means that the step has
            # landed on another branch.
            is_same_branch = turned == orientation or stride <= _CROSSING
            sure = is_same_branch and float(ahead @ tangent) > least_cosine
        if landed is None or not sure:
            stride /= 2
            if stride < _LEAST_STEP:
                raise NotCertified(f"the branch cannot be followed beyond precision {point[-1]:g}")
            continue
        if landed[-1] >= highest:
            yield _find_between(branch, point, landed, highest)
            return
        point = landed
        tangent = ahead
        orientation = turned
        stride = min(1.5 * stride, highest)
        yield point
    raise NotCertified(
        f"the branch has not reached precision {highest:g} after {_MOST_POINTS} points"
    )


def _find_between(
    branch: LogitBranch,
    before: Array,
    after: Array,
    precision: float,
) -> Array:
    """Return the point between two neighbours whose precision is exactly `precision`."""
    share = (precision - before[-1]) / (after[-1] - before[-1])
    guess = before + share * (after - before)
    guess[-1] = precision
    point = branch.correct(guess, np.eye(len(guess))[-1])
    if point is None:
        raise NotCertified(
            f"no equilibrium found at precision {precision:g}, although the branch passes it"
        )
    return point


def find_branch_end(game: NormalForm, deadline: Deadline) -> Profile | None:
    """Find where the principal branch ends, which starts at uniform play.

    Returns None where it cannot be followed so far, or comes closer to no equilibrium.
    """
    lowest = game.payoffs.min(axis=tuple(range(1, game.payoffs.ndim)), keepdims=True)
    payoffs = game.payoffs - lowest
    branch = TableBranch(payoffs / (float(payoffs.max()) or 1.0))
    points = []
    with suppress(NotCertified):
        for point in follow_branch(branch, _END):
            if deadline.is_over:
                return None
            points.append(point)
    last = points[-1]
    if last[-1] < _FAR_ON:
        return None
    here = branch.strategies(last)
    end = _polish(branch.payoffs, here, farthest=_CLOSE)
    before = next(point for point in reversed(points) if point[-1] <= last[-1] / 100)
    if end is None or _CLOSER * measure_distance(end, here) > REGRET_LIMIT + measure_distance(
        end, branch.strategies(before)
    ):
        return None
    return end


def trace_to_equilibrium(payoffs: Array, deadline: Deadline = NEVER) -> Profile | None:
    """Find mixtures of regret at most 1e-9 for payoffs scaled into [0, 1].

    Returns None where the branch led to none before the `deadline`.
    """
    next_try = 1.0
    branch = TableBranch(payoffs)
    with suppress(NotCertified):
        for point in islice(follow_branch(branch, _HIGHEST, bold=True), _STEPS):
            if deadline.is_over:
                return None
            if abs(point[-1]) < next_try:
                continue
            next_try *= 1.5
            polished = _polish(payoffs, branch.strategies(point))
            if polished is not None:
                return polished
    return None


def _polish(payoffs: Array, mix: Profile, farthest: float = 1.0) -> Profile | None:
    """Find an equilibrium whose probabilities are no farther from those of `mix`."""
    for least in _USED:
        polished = settle(payoffs, mix, least)
        if polished is not None and measure_distance(polished, mix) <= farthest:
            return polished
    return None
