"""Models of bounded rationality: logit quantal response equilibria, level-k and cognitive hierarchy.

Logit quantal response equilibria, followed from uniform play along a branch in the precision lambda.

In a logit quantal response equilibrium every action's probability is proportional to exp(lambda * what it earns)
(McKelvey & Palfrey, "Quantal response equilibria for normal form games", Games and Economic Behavior 10, 1995). At
lambda = 0 play is uniform; the branch that starts there leads, in almost every game, to a Nash equilibrium as lambda
grows. It is followed by its arc length, so that it may turn back (Turocy, "A dynamic homotopy interpretation of the
logistic quantal response equilibrium correspondence", Games and Economic Behavior 51, 2005), in logarithms of
probabilities, by a tangent step and Newton corrections.

Certificate: the largest difference between a strategy and the logit reply to the others; it proves that a point is an
equilibrium of its precision, not that it lies on the branch from uniform play, for which short steps are the only
assurance. At precision lambda nobody with m actions can gain more than ln(m) / lambda.

Level-k and cognitive hierarchy: players who think a limited number of steps ahead.

Level 0 plays an anchor, by default uniformly. Level k best-responds to level k - 1 (Nagel, "Unraveling in guessing
games", American Economic Review 85, 1995; Stahl & Wilson, "On players' models of other players", Games and Economic
Behavior 10, 1995). In the cognitive hierarchy level k best-responds to all lower levels in the proportions of a Poisson
distribution, f(k) = e^-tau tau^k / k!, truncated below k (Camerer, Ho & Chong, "A cognitive hierarchy model of games",
Quarterly Journal of Economics 119, 2004; tau = 1.5 fits many experiments). Best responses that tie share equally.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import NotCertified, UsageError
from bestresponse.theory.dynamics.learning import logit_reply
from bestresponse.theory.dynamics.trajectory import Profile, fitness, start_or_uniform
from bestresponse.theory.equilibria.many_players.tracing import LogitBranch
from bestresponse.theory.games.normal_form import Array, GameLike, NormalForm, as_normal_form

_TAIL = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Levels:
    """`strategies[i][k]`: what player i does at level k; `shares[k]`: how many players are at that level.

    `final` is the play the model predicts and `gains[i]` what player i could gain by deviating from it.
    """

    method: str
    shares: Array
    strategies: tuple[Array, ...]
    final: Profile
    gains: Array

    @property
    def gap(self) -> float:
        """The largest gain any player could make by deviating."""
        return float(self.gains.max())


def level_k(game: GameLike, level: int = 2, anchor: Sequence[ArrayLike] | None = None) -> Levels:
    """Levels 0 to `level`; everybody is at the highest.

    >>> found = level_k(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]), level=1)
    >>> found.final[0].tolist()
    [0.0, 1.0]
    """
    game = as_normal_form(game)
    if level < 0:
        raise UsageError(f"level: expected at least 0, got {level}")
    values = fitness(game)
    steps = [start_or_uniform(game, anchor)]
    for _ in range(level):
        steps.append(tuple(_best(value) for value in values(steps[-1])))
    shares = np.zeros(level + 1)
    shares[-1] = 1.0
    return _levels(game, f"level-{level}", shares, steps)


def cognitive_hierarchy(
    game: NormalForm, tau: float = 1.5, level: int | None = None, anchor: Sequence[ArrayLike] | None = None
) -> Levels:
    """Levels 0 to `level` with Poisson shares of mean `tau`; by default so many that fewer than 1e-9 are above."""
    if not 0 <= tau < 700:
        raise UsageError(f"tau: expected a mean number of steps from 0 to 700, got {tau:g}")
    if level is not None and level < 0:
        raise UsageError(f"level: expected at least 0, got {level}")
    chances = [exp(-tau)]
    while (1.0 - sum(chances) > _TAIL) if level is None else (len(chances) <= level):
        chances.append(chances[-1] * tau / len(chances))
    weights, values = np.array(chances), fitness(game)
    steps = [start_or_uniform(game, anchor)]
    for k in range(1, len(weights)):
        below = weights[:k] / weights[:k].sum()
        believed = tuple(np.tensordot(below, [step[i] for step in steps], 1) for i in range(game.num_players))
        steps.append(tuple(_best(value) for value in values(believed)))
    return _levels(game, f"cognitive hierarchy, tau {tau:g}", weights / weights.sum(), steps)


def _best(values: Array) -> Array:
    """Uniform over the best actions; a difference in the last digits is a tie."""
    best = values >= values.max() - 1e-12 * max(1.0, float(np.abs(values).max()))
    return np.asarray(best / best.sum())


def _levels(game: NormalForm, method: str, shares: Array, steps: list[Profile]) -> Levels:
    strategies = tuple(np.array([step[i] for step in steps]) for i in range(game.num_players))
    final = tuple(shares @ path for path in strategies)
    gains = [value.max() - mix @ value for mix, value in zip(final, fitness(game)(final), strict=True)]
    return Levels(method, shares, strategies, final, np.array(gains))


_MOST_POINTS = 20_000
_LEAST_STEP = 1e-10
_CROSSING = 1e-4
_STRAY = 0.02  # how far a correction may lead, relative to the step
_TURN = 0.998  # how small the cosine of the angle between neighbouring tangents may be


@dataclass(frozen=True, eq=False, slots=True)
class QuantalResponse:
    """A quantal response equilibrium: `residual` certifies it, `gains` say how far it is from a Nash equilibrium."""

    precision: float
    strategies: Profile
    residual: float
    gains: Array

    @property
    def gap(self) -> float:
        """The largest gain any player could make by deviating."""
        return float(self.gains.max())


@dataclass(frozen=True, eq=False, slots=True)
class QuantalBranch:
    """The branch from uniform play: `strategies[i][r]` belongs to `precisions[r]`, every point certified."""

    method: str
    precisions: Array
    strategies: tuple[Array, ...]
    residuals: Array
    gains: Array

    @property
    def final(self) -> QuantalResponse:
        """The last point of the branch."""
        mixes = tuple(path[-1] for path in self.strategies)
        return QuantalResponse(float(self.precisions[-1]), mixes, float(self.residuals[-1]), self.gains[-1])

    @property
    def gap(self) -> float:
        """The largest gain any player could make by deviating."""
        return float(self.gains[-1].max())

    def __len__(self) -> int:
        return len(self.precisions)


def quantal_response(game: GameLike, precision: float) -> QuantalResponse:
    """Find the equilibrium of that precision on the branch from uniform play, the first one where the branch turns."""
    game = as_normal_form(game)
    return quantal_branch(game, precision).final


def quantal_branch(game: GameLike, highest: float) -> QuantalBranch:
    """Follow the branch from precision 0 until `highest` is first reached; `NotCertified` if it cannot be followed."""
    game = as_normal_form(game)
    if not 0 <= highest < np.inf:
        raise UsageError(f"precision: expected a number >= 0, got {highest:g}")
    unit = float(np.ptp(game.payoffs, axis=tuple(range(1, game.payoffs.ndim))).max()) or 1.0
    branch = LogitBranch(game.payoffs / unit)
    points = [*_follow(branch, highest * unit)]
    mixes = [branch.strategies(point) for point in points]
    paths = tuple(np.array([mix[i] for mix in mixes]) for i in range(game.num_players))
    precisions = np.array([point[-1] for point in points]) / unit
    residuals, gains = _certify(game, precisions, paths)
    if residuals.max() > 1e-6:
        raise NotCertified(f"a point of the branch is off by {residuals.max():.2g}; try a lower precision")
    return QuantalBranch("logit branch by arc length", precisions, paths, residuals, gains)


def _certify(game: NormalForm, precisions: Array, paths: tuple[Array, ...]) -> tuple[Array, Array]:
    values = fitness(game)(paths)
    off = [
        [np.abs(mix[r] - logit_reply(value[r], precision)).max() for r, precision in enumerate(precisions)]
        for mix, value in zip(paths, values, strict=True)
    ]
    gains = [value.max(axis=1) - (value * mix).sum(axis=1) for mix, value in zip(paths, values, strict=True)]
    return np.max(off, axis=0), np.stack(gains, axis=1)


def _follow(branch: LogitBranch, highest: float) -> Iterator[Array]:
    """Points of the branch from precision 0 to `highest`."""
    point = np.append(branch.noise, 0.0)
    yield point
    if highest == 0:
        return
    stride, tangent = min(0.1, highest), branch.tangent(point, np.eye(len(point))[-1])
    for _ in range(_MOST_POINTS):
        found = _advance(branch, point, tangent, stride)
        if found is None:
            stride /= 2
            if stride < _LEAST_STEP:
                raise NotCertified(f"the branch cannot be followed beyond precision {point[-1]:g}")
            continue
        if found[0][-1] >= highest:
            yield _find_between(branch, point, found[0], highest)
            return
        point, tangent, stride = *found, min(1.5 * stride, highest)
        yield point
    raise NotCertified(f"the branch has not reached precision {highest:g} after {_MOST_POINTS} points")


def _advance(branch: LogitBranch, point: Array, tangent: Array, stride: float) -> tuple[Array, Array] | None:
    """The next point and the tangent there, or None if the step was too long to be sure of it.

    Along a branch the orientation of (derivatives, tangent) keeps its sign, except where branches cross; a change
    is believed only after the smallest steps, everywhere else it means that the step has landed on another branch.
    """
    guess = point + stride * tangent
    new = branch.correct(guess, tangent)
    if new is None or float(np.linalg.norm(new - guess)) > _STRAY * stride:
        return None
    ahead = branch.tangent(new, tangent)
    if not float(ahead @ tangent) > _TURN:
        return None
    crossed = _find_orientation(branch, new, ahead) != _find_orientation(branch, point, tangent)
    return None if crossed and stride > _CROSSING else (new, ahead)


def _find_between(branch: LogitBranch, before: Array, after: Array, precision: float) -> Array:
    """Return the point between two neighbours whose precision is exactly `precision`."""
    share = (precision - before[-1]) / (after[-1] - before[-1])
    guess = before + share * (after - before)
    guess[-1] = precision
    point = branch.correct(guess, np.eye(len(guess))[-1])
    if point is None:
        raise NotCertified(f"no equilibrium found at precision {precision:g}, although the branch passes it")
    return point


def _find_orientation(branch: LogitBranch, point: Array, tangent: Array) -> float:
    """Return the sign of the determinant of the derivatives bordered by the tangent."""
    _, slopes = branch.equations(point)
    return float(np.linalg.slogdet(np.vstack([slopes, tangent]))[0])
