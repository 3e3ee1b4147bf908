"""Models of bounded rationality: players with limited foresight, and players who err.

The former think a limited number of steps ahead (level-k and cognitive hierarchy). The latter are
in logit quantal response equilibria.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import NotCertified, UsageError
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.dynamics.learning import logit_reply
from bestresponse.theory.dynamics.trajectory import fitness, start_or_uniform
from bestresponse.theory.equilibria.many_players.tracing import (
    LogitBranch,
    TableBranch,
    follow_branch,
)
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.games.regrets import Profile, regret

_TAIL = 1e-9  # share of players on levels that are left out


@dataclass(frozen=True, eq=False, slots=True)
class Levels:
    """`strategies[i][k]`: what player i does at level k.

    `shares[k]`: how many players are at that level.

    `final` is the play the model predicts and `gains[i]` what player i could gain by deviating from
    it.
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

    Level 0 plays `anchor` [default: uniform play]; level k best-responds to level k - 1 (Nagel,
    "Unraveling in guessing games", American Economic Review 85, 1995; Stahl & Wilson, "On players'
    models of other players", Games and Economic Behavior 10, 1995). Best responses that tie share
    equally.

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
        earned = values(steps[-1])
        steps.append(tuple(map(share_best, earned, game.payoffs)))
    return _levels(game, f"level-{level}", np.eye(level + 1)[-1], steps)


def cognitive_hierarchy(
    game: GameLike,
    tau: float = 1.5,
    anchor: Sequence[ArrayLike] | None = None,
) -> Levels:
    """Levels with Poisson shares of mean `tau`, so many that fewer than 1e-9 are above.

    Level k best-responds to all lower levels in the proportions of a Poisson distribution, f(k) =
    e^-tau tau^k / k!, truncated below k (Camerer, Ho & Chong, "A cognitive hierarchy model of
    games", Quarterly Journal of Economics 119, 2004; tau = 1.5 fits many experiments). Level 0
    plays `anchor` [default: uniform play].
    """
    game = as_normal_form(game)
    if not 0 <= tau < 700:
        raise UsageError(f"tau: expected a mean number of steps from 0 to 700, got {tau:g}")
    chances = [exp(-tau)]
    while 1.0 - sum(chances) > _TAIL:
        chances.append(chances[-1] * tau / len(chances))
    weights = np.array(chances)

    values = fitness(game)
    steps = [start_or_uniform(game, anchor)]
    for k in range(1, len(weights)):
        below = weights[:k] / weights[:k].sum()
        believed = []
        for paths in zip(*steps, strict=True):
            believed.append(np.tensordot(below, paths, 1))
        steps.append(tuple(map(share_best, values(believed), game.payoffs)))
    return _levels(
        game,
        f"cognitive hierarchy, tau {tau:g}",
        weights / weights.sum(),
        steps,
    )


def share_best(values: Array, payoffs: Array) -> Array:
    """Share equally between the best actions, along the last axis.

    A difference of 1e-12 of the payoffs is a tie.
    """
    tie = 1e-12 * float(np.abs(payoffs).max())
    highest = values.max(axis=-1, keepdims=True)
    is_best = values >= highest - tie
    return np.asarray(is_best / is_best.sum(axis=-1, keepdims=True))


def _levels(
    game: NormalForm,
    method: str,
    shares: Array,
    steps: list[Profile],
) -> Levels:
    strategies = tuple(np.array(path) for path in zip(*steps, strict=True))
    final = tuple(shares @ path for path in strategies)
    return Levels(
        method=method,
        shares=shares,
        strategies=strategies,
        final=final,
        gains=regret(game, final),
    )


@dataclass(frozen=True, eq=False, slots=True)
class QuantalResponse:
    """A logit quantal response equilibrium.

    Every action's probability is proportional to exp(precision * what it earns) (McKelvey &
    Palfrey, "Quantal response equilibria for normal form games", Games and Economic Behavior 10,
    1995).

    `residual`, the largest difference between a strategy and the logit reply to the others, is the
    certificate: it proves that this is an equilibrium of its precision, not that it lies on the
    branch from uniform play, for which short steps are the only assurance. `gains` say how far it
    is from a Nash equilibrium; nobody with m actions can gain more than ln(m) / precision.
    """

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
    """The branch from uniform play, every point certified.

    `strategies[i][r]` belongs to `precisions[r]`.
    """

    method: str
    precisions: Array
    strategies: tuple[Array, ...]
    residuals: Array
    gains: Array

    @property
    def final(self) -> QuantalResponse:
        """The last point of the branch."""
        return QuantalResponse(
            precision=float(self.precisions[-1]),
            strategies=tuple(path[-1] for path in self.strategies),
            residual=float(self.residuals[-1]),
            gains=self.gains[-1],
        )

    @property
    def gap(self) -> float:
        """The largest gain any player could make by deviating."""
        return float(self.gains[-1].max())

    def __len__(self) -> int:
        return len(self.precisions)


def quantal_response(game: GameLike, precision: float, *, seconds: float = inf) -> QuantalResponse:
    """Find the equilibrium of that precision on the branch from uniform play.

    It is the first one if the branch turns.
    """
    return quantal_branch(game, precision, seconds=seconds).final


def quantal_branch(game: GameLike, highest: float, *, seconds: float = inf) -> QuantalBranch:
    """Follow the branch from precision 0 until `highest` is first reached.

    `NotCertified` if it cannot be followed, or not within `seconds`.

    At precision 0 play is uniform; the branch that starts there leads, in almost every game, to a
    Nash equilibrium as the precision grows. It is followed by its arc length, so that it may turn
    back (Turocy, "A dynamic homotopy interpretation of the logistic quantal response equilibrium
    correspondence", Games and Economic Behavior 51, 2005), in logarithms of probabilities, by a
    tangent step and Newton corrections.
    """
    game = as_normal_form(game)
    profile_axes = tuple(range(1, game.payoffs.ndim))
    ranges = np.ptp(game.payoffs, axis=profile_axes)
    unit = float(ranges.max()) or 1.0
    branch = TableBranch(game.payoffs / unit)
    return trace_branch(branch, highest, unit, Deadline.after(seconds))


def trace_branch(
    branch: LogitBranch,
    highest: float,
    unit: float,
    deadline: Deadline,
) -> QuantalBranch:
    """Follow a branch until `highest` is first reached, and certify its points.

    Its payoffs are in multiples of `unit`.
    """
    if not 0 <= highest < np.inf:
        raise UsageError(f"precision: expected a number >= 0, got {highest:g}")
    points = []
    for point in follow_branch(branch, highest * unit):
        deadline.check(f"the quantal response of precision {highest:g}")
        points.append(point)
    mixes = list(map(branch.strategies, points))
    residuals = np.zeros(len(points))
    gains = np.zeros((len(points), len(branch.edges)))
    for r, (point, mix) in enumerate(zip(points, mixes, strict=True)):
        earned = branch.evaluate(point[:-1])[0]
        for i, (low, high) in enumerate(branch.edges):
            values = earned[low:high]
            off = np.abs(mix[i] - logit_reply(values, point[-1]))
            residuals[r] = max(residuals[r], off.max())
            gains[r, i] = unit * (values.max() - values @ mix[i])
    if residuals.max() > 1e-6:
        raise NotCertified(
            f"a point of the branch is off by {residuals.max():.2g}; try a lower precision"
        )
    precisions = np.array([point[-1] for point in points])
    by_player = zip(*mixes, strict=True)
    return QuantalBranch(
        method="logit branch by arc length",
        precisions=precisions / unit,
        strategies=tuple(map(np.array, by_player)),
        residuals=residuals,
        gains=gains,
    )
