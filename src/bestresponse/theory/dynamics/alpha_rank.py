"""alpha-Rank: how long evolving populations spend at each pure profile.

Omidshafiei et al., "alpha-Rank: multi-agent evaluation by evolution", Scientific Reports 9, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory.dynamics.trajectory import check_one_population
from bestresponse.theory.games.normal_form import Array, GameLike, NormalForm, as_normal_form

# The chain is a dense table of their square, and elimination takes their cube.
_MOST_PROFILES = 1500
# Of selection: the logarithms of the chain grow as large, and the rounding of a share to 1e-6.
_STRONGEST = 1e10
_SAME = 1e-14
"""Differences between payoffs below this are none."""


@dataclass(frozen=True, eq=False, slots=True)
class AlphaRank:
    """The stationary distribution over pure profiles.

    `residual` is how far one step of the chain moves it.
    """

    profiles: tuple[tuple[str, ...], ...]
    probabilities: Array
    transitions: Array
    residual: float
    alpha: float
    population: int
    method: str

    def ranking(self) -> tuple[tuple[tuple[str, ...], float], ...]:
        """Profiles with their probabilities, most frequent first."""
        ranked = []
        for k in np.argsort(-self.probabilities, kind="stable"):
            ranked.append((self.profiles[k], float(self.probabilities[k])))
        return tuple(ranked)


def alpha_rank(
    game: GameLike,
    *,
    alpha: float = 100.0,
    population: int = 50,
    one_population: bool = False,
) -> AlphaRank:
    """Rank the pure profiles of `game` by the time evolving populations spend at each.

    With `one_population`, ranks the actions of a symmetric game of two players.

    Omidshafiei et al., "alpha-Rank: multi-agent evaluation by evolution", Scientific Reports 9,
    2019. Populations of m individuals play one strategy each until a mutant appears; the mutant
    takes over or dies out under selection of strength alpha. With rho the probability that it takes
    over, the chain moves from a profile to each one that differs in a single population with
    probability rho / (number of such profiles). Its stationary distribution ranks the profiles.
    """
    game = as_normal_form(game)
    if not 0 <= alpha < np.inf:
        raise UsageError(f"alpha: expected a number >= 0, got {alpha:g}")
    if population < 2:
        raise UsageError(f"population: expected at least 2 individuals, got {population}")
    count = game.shape[0] if one_population else int(np.prod(game.shape, dtype=float))
    if count > _MOST_PROFILES:
        raise TooLarge(
            f"{count} profiles make a chain of {count}^2 transitions; at most {_MOST_PROFILES} are"
            " ranked"
        )
    profile_axes = tuple(range(1, game.payoffs.ndim))
    ranges = np.ptp(game.payoffs, axis=profile_axes)
    strength = population * float(ranges.max())
    if alpha * strength > _STRONGEST:
        # Beyond, rounding would rank the profiles.
        raise UsageError(
            f"alpha: expected at most {_STRONGEST / strength:.3g} for such payoffs, got {alpha:g}"
        )

    if one_population:
        profiles: tuple[tuple[str, ...], ...] = tuple((label,) for label in game.actions[0])
        rates = _one_population(game, alpha, population)
        method = "alpha-Rank, one population"
    else:
        profiles = tuple(product(*game.actions))
        rates = _many_populations(game, alpha, population)
        method = "alpha-Rank, one population per player"

    probabilities = _find_stationary(rates.copy())
    transitions = np.exp(rates)
    np.fill_diagonal(transitions, 1.0 - transitions.sum(axis=1))
    moved = probabilities @ transitions - probabilities
    return AlphaRank(
        profiles=profiles,
        probabilities=probabilities,
        transitions=transitions,
        residual=float(np.abs(moved).max()),
        alpha=alpha,
        population=population,
        method=method,
    )


def _one_population(game: NormalForm, alpha: float, size: int) -> Array:
    """Logarithms of the transition probabilities between actions; -inf on the diagonal.

    A mutant meets residents and other mutants in the proportions of the moment, and rho = 1 / (1 +
    sum_l prod_{k<=l} exp(-alpha (f_mutant(k) - f_resident(k)))) (Traulsen, Nowak & Pacheco,
    "Stochastic dynamics of invasion and fixation", Physical Review E 74, 2006).
    """
    check_one_population(game)
    payoff = game.payoffs[0]
    mutual = np.diag(payoff)
    mutants = np.arange(1, size)
    # advantage[resident, mutant, k - 1]: fitness of a mutant minus fitness of a resident while
    # there are k mutants
    residents = size - mutants
    invader = (mutants - 1) * mutual[None, :, None] + residents * payoff.T[:, :, None]
    resident = mutants * payoff[:, :, None] + (residents - 1) * mutual[:, None, None]
    advantage = (invader - resident) / (size - 1)
    exponents = -alpha * np.cumsum(advantage, axis=2)
    fixation = -np.logaddexp(0.0, np.logaddexp.reduce(exponents, axis=2))
    other_actions = max(1, len(payoff) - 1)
    rates = fixation - np.log(other_actions)
    np.fill_diagonal(rates, -np.inf)
    return np.asarray(rates)


def _many_populations(game: NormalForm, alpha: float, size: int) -> Array:
    """Logarithms of transition probabilities between profiles that differ in one action.

    Fitness is the same whatever the number of mutants.
    """
    count = int(np.prod(game.shape))
    rates = np.full((count, count), -np.inf)
    index = np.arange(count).reshape(game.shape)
    neighbours = max(1, sum(game.shape) - game.num_players)
    for i, table in enumerate(game.payoffs):
        lines = np.moveaxis(index, i, -1).reshape(-1, game.shape[i])
        payoffs = np.moveaxis(table, i, -1).reshape(-1, game.shape[i])
        gain = alpha * (payoffs[:, None, :] - payoffs[:, :, None])
        rates[lines[:, :, None], lines[:, None, :]] = _log_fixation(gain, size) - np.log(neighbours)
    np.fill_diagonal(rates, -np.inf)
    return rates


def _log_fixation(gain: Array, size: int) -> Array:
    """log((1 - e^-g) / (1 - e^(-size g))), which is -log(size) at g = 0."""
    is_neutral = np.abs(gain) < _SAME
    strength = np.where(is_neutral, 1.0, np.abs(gain))
    one = -np.expm1(-strength)
    many = -np.expm1(-size * strength)
    ratio = np.log(one) - np.log(many)
    downhill = np.where(gain < 0, (size - 1) * -strength, 0.0)
    return np.asarray(np.where(is_neutral, -np.log(size), ratio + downhill))


def _find_stationary(chain: Array) -> Array:
    """Return the stationary distribution of a chain, given its log transitions.

    Elimination without subtraction (Grassmann, Taksar & Heyman, "Regenerative analysis and steady
    state distributions for Markov chains", Operations Research 33, 1985), in logarithms, as plain
    numbers would vanish.
    """
    last = len(chain) - 1
    for k in range(last, 0, -1):
        chain[:k, k] -= np.logaddexp.reduce(chain[k, :k])
        chain[:k, :k] = np.logaddexp(chain[:k, :k], chain[:k, k, None] + chain[None, k, :k])
    weights = np.zeros(last + 1)
    for k in range(1, last + 1):
        weights[k] = np.logaddexp.reduce(weights[:k] + chain[:k, k])
    shares = np.exp(weights - weights.max())
    return np.asarray(shares / shares.sum())
