"""alpha-Rank: how much time evolving populations spend at each profile of pure strategies.

Omidshafiei et al., "alpha-Rank: multi-agent evaluation by evolution", Scientific Reports 9, 2019. Populations of m
individuals play one strategy each until a mutant appears; the mutant takes over or dies out under selection of strength
alpha. With rho the probability that it takes over, the chain moves from a profile to each one that differs in a single
population with probability rho / (number of such profiles). Its stationary distribution ranks the profiles.

One population of a symmetric game: a mutant meets residents and other mutants in the proportions of the moment, and
rho = 1 / (1 + sum_l prod_{k<=l} exp(-alpha (f_mutant(k) - f_resident(k)))) (Traulsen, Nowak & Pacheco, "Stochastic
dynamics of invasion and fixation", Physical Review E 74, 2006). With one population per player, fitness is the same for
every k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["AlphaRank", "alpha_rank"]

_MOST_PROFILES = 1500
_UNDERFLOW = 1e-280


@dataclass(frozen=True, eq=False, slots=True)
class AlphaRank:
    """The stationary distribution over pure profiles; `residual` is how far one step of the chain moves it."""

    profiles: tuple[tuple[str, ...], ...]
    probabilities: Array
    transitions: Array
    residual: float
    alpha: float
    population: int
    method: str

    def ranking(self) -> tuple[tuple[tuple[str, ...], float], ...]:
        """Profiles with their probabilities, most frequent first."""
        order = np.argsort(-self.probabilities, kind="stable")
        return tuple((self.profiles[k], float(self.probabilities[k])) for k in order)


def alpha_rank(
    game: NormalForm, *, alpha: float = 100.0, population: int = 50, one_population: bool = False
) -> AlphaRank:
    """Rank the pure profiles of `game`, or with `one_population` the actions of a symmetric game of two players."""
    if not 0 <= alpha < np.inf:
        raise UsageError(f"alpha: expected a number >= 0, got {alpha:g}")
    if population < 2:
        raise UsageError(f"population: expected at least 2 individuals, got {population}")
    count = game.shape[0] if one_population else int(np.prod(game.shape, dtype=float))
    if count > _MOST_PROFILES:
        raise TooLarge(f"{count} profiles make a chain of {count}^2 transitions; at most {_MOST_PROFILES} are ranked")
    if one_population:
        profiles: tuple[tuple[str, ...], ...] = tuple((label,) for label in game.actions[0])
        rates, method = _one_population(game, alpha, population), "alpha-Rank, one population"
    else:
        places = list(np.ndindex(*game.shape))
        profiles = tuple(tuple(game.actions[i][a] for i, a in enumerate(place)) for place in places)
        rates, method = _many_populations(game, alpha, population), "alpha-Rank, one population per player"
    probabilities = _stationary(rates)
    transitions = np.exp(rates)
    np.fill_diagonal(transitions, 1.0 - transitions.sum(axis=1))
    residual = float(np.abs(probabilities @ transitions - probabilities).max())
    return AlphaRank(profiles, probabilities, transitions, residual, alpha, population, method)


def _one_population(game: NormalForm, alpha: float, size: int) -> Array:
    """Logarithms of the transition probabilities between actions; -inf on the diagonal."""
    if game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T):
        raise UsageError("one_population: expected a symmetric game of two players; this one is not")
    payoff = game.payoffs[0]
    own = np.diag(payoff)
    mutants = np.arange(1, size)
    # advantage[resident, mutant, k - 1]: fitness of a mutant minus fitness of a resident while there are k mutants
    invader = (mutants - 1) * own[None, :, None] + (size - mutants) * payoff.T[:, :, None]
    resident = mutants * payoff[:, :, None] + (size - mutants - 1) * own[:, None, None]
    advantage = (invader - resident) / (size - 1)
    exponents = -alpha * np.cumsum(advantage, axis=2)
    fixation = -np.logaddexp.reduce(np.concatenate([np.zeros_like(exponents[:, :, :1]), exponents], axis=2), axis=2)
    rates = fixation - np.log(max(1, len(payoff) - 1))
    np.fill_diagonal(rates, -np.inf)
    return np.asarray(rates)


def _many_populations(game: NormalForm, alpha: float, size: int) -> Array:
    """Logarithms of the transition probabilities between profiles that differ in one player's action."""
    count = int(np.prod(game.shape))
    rates = np.full((count, count), -np.inf)
    index = np.arange(count).reshape(game.shape)
    neighbours = max(1, sum(m - 1 for m in game.shape))
    for i, own in enumerate(game.payoffs):
        lines = np.moveaxis(index, i, -1).reshape(-1, game.shape[i])
        payoffs = np.moveaxis(own, i, -1).reshape(-1, game.shape[i])
        gain = alpha * (payoffs[:, None, :] - payoffs[:, :, None])
        rates[lines[:, :, None], lines[:, None, :]] = _log_fixation(gain, size) - np.log(neighbours)
    np.fill_diagonal(rates, -np.inf)
    return rates


def _log_fixation(gain: Array, size: int) -> Array:
    """log((1 - e^-g) / (1 - e^(-size g))), which is -log(size) at g = 0."""
    strength = np.where(np.abs(gain) < 1e-14, 1.0, np.abs(gain))
    ratio = np.log(-np.expm1(-strength)) - np.log(-np.expm1(-size * strength))
    downhill = np.where(gain < 0, (size - 1) * -strength, 0.0)
    return np.asarray(np.where(np.abs(gain) < 1e-14, -np.log(size), ratio + downhill))


def _stationary(rates: Array) -> Array:
    """The stationary distribution of a chain given by the logarithms of its transition probabilities.

    Elimination without subtraction (Grassmann, Taksar & Heyman, "Regenerative analysis and steady state distributions
    for Markov chains", Operations Research 33, 1985), in logarithms where plain numbers would not do.
    """
    with np.errstate(all="ignore"):
        plain = _eliminate(np.exp(rates))
    return plain if plain is not None else _eliminate_logarithms(rates.copy())


def _eliminate(chain: Array) -> Array | None:
    """The stationary distribution, or None if numbers became too small or too large."""
    last = len(chain) - 1
    for k in range(last, 0, -1):
        leaving = chain[k, :k].sum()
        if leaving < _UNDERFLOW:
            return None
        chain[:k, k] /= leaving
        chain[:k, :k] += np.outer(chain[:k, k], chain[k, :k])
    weights = np.ones(last + 1)
    for k in range(1, last + 1):
        weights[k] = weights[:k] @ chain[:k, k]
    whole = float(weights.sum())
    return weights / whole if np.isfinite(whole) else None


def _eliminate_logarithms(chain: Array) -> Array:
    last = len(chain) - 1
    for k in range(last, 0, -1):
        chain[:k, k] -= np.logaddexp.reduce(chain[k, :k])
        chain[:k, :k] = np.logaddexp(chain[:k, :k], chain[:k, k, None] + chain[None, k, :k])
    weights = np.zeros(last + 1)
    for k in range(1, last + 1):
        weights[k] = np.logaddexp.reduce(weights[:k] + chain[:k, k])
    return np.asarray(np.exp(weights - np.logaddexp.reduce(weights)))
