"""Evolution in finite populations: the Moran process and alpha-Rank.

In the Moran process, each step one individual reproduces, with probability proportional to its
fitness, and its child takes the place of one drawn at random (P. Moran, "Random processes in
genetics", 1958; M. Nowak, A. Sasaki, C. Taylor & D. Fudenberg, "Emergence of cooperation and
evolutionary stability in finite populations", Nature 428, 2004). The payoff of an individual is its
mean against all others. Fitness is exp(intensity * payoff), or 1 - intensity + intensity * payoff
where it is "linear"; a child may mutate into another type.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory.dynamics.trajectory import check_one_population
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
    as_payoffs,
)

Counts = NDArray[np.int64]
Fitness = Literal["exponential", "linear"]
_STEPS = 100_000


@dataclass(frozen=True, eq=False, slots=True)
class MoranResult:
    """Counts of every type after each step, the last ones, and which type took over.

    The counts are `trajectory`, by `stride`.
    """

    counts: tuple[int, ...]
    trajectory: Array
    stride: int
    winner: int | None
    steps: int


@dataclass(frozen=True, slots=True)
class Takeovers:
    """How many runs each type won, and how many ended before anyone had."""

    wins: tuple[int, ...]
    undecided: int


def moran(
    payoffs: ArrayLike,
    counts: ArrayLike,
    *,
    seed: int = 0,
    intensity: float = 1.0,
    fitness: Fitness = "exponential",
    mutation: float = 0.0,
    steps: int = _STEPS,
    stride: int = 1,
) -> MoranResult:
    """Run the process until one type has taken over (without mutation) or `steps` are done."""
    process = _Process.check(payoffs, intensity, fitness)
    now = process.check_counts(counts)[None]
    if not 0 <= mutation <= 1 or steps < 1 or stride < 1:
        raise UsageError("mutation is a probability; steps and stride are at least 1")
    rng = np.random.default_rng(seed)
    path = [now[0].copy()]
    done = 0
    for done in range(1, steps + 1):
        process.step(now, rng, mutation)
        if done % stride == 0:
            path.append(now[0].copy())
        if not mutation and now.max() == now.sum():
            break
    winner = int(now.argmax()) if now.max() == now.sum() else None
    return MoranResult(
        counts=tuple(map(int, now[0])),
        trajectory=np.array(path, dtype=np.float64),
        stride=stride,
        winner=winner,
        steps=done,
    )


def count_takeovers(
    payoffs: ArrayLike,
    counts: ArrayLike,
    *,
    runs: int = 100,
    seed: int = 0,
    intensity: float = 1.0,
    fitness: Fitness = "exponential",
    steps: int = _STEPS,
) -> Takeovers:
    """Count how often each type takes over in `runs` runs from the same `counts`.

    Each run has at most `steps` steps.

    >>> count_takeovers([[1, 1], [1, 1]], [10, 0], runs=5)
    Takeovers(wins=(5, 0), undecided=0)
    """
    process = _Process.check(payoffs, intensity, fitness)
    start = process.check_counts(counts)
    if runs < 1 or steps < 1:
        raise UsageError(f"runs and steps: expected at least 1, got {runs} and {steps}")
    rng = np.random.default_rng(seed)
    wins = np.zeros(len(start), dtype=np.int64)
    now = np.tile(start, (runs, 1))
    for _ in range(steps):
        process.step(now, rng)
        won = now == start.sum()
        wins += won.sum(axis=0)
        now = now[~won.any(axis=1)]
        if not len(now):
            break
    return Takeovers(tuple(map(int, wins)), len(now))


def fixation_probability(
    payoffs: ArrayLike,
    population: int,
    *,
    intensity: float = 1.0,
    fitness: Fitness = "exponential",
) -> float:
    """Compute the probability that one mutant of type 0 takes over a population.

    The population is of type 1 (Nowak et al. 2004).

    1 / (1 + sum over k of prod over i <= k of f_1(i) / f_0(i)), where i is the number of mutants.

    >>> fixation_probability([[1, 1], [1, 1]], 10)
    0.1
    """
    process = _Process.check(payoffs, intensity, fitness)
    if process.matrix.shape != (2, 2) or population < 2:
        raise UsageError(
            "a fixation probability needs 2 types and at least 2 individuals, got"
            f" {process.matrix.shape}"
        )
    mutants = np.arange(1, population)
    logs = process.log_fitness(np.stack([mutants, population - mutants], axis=1))
    with np.errstate(invalid="ignore"):
        # Not a number where neither type can reproduce: then nobody gains on the other.
        ratios = logs[:, 1] - logs[:, 0]
        known = np.where(np.isnan(ratios), 0.0, ratios)
        totals = np.append(np.cumsum(known), 0.0)
    if np.inf in ratios:
        return 0.0  # mutants that cannot reproduce never become more
    top = float(totals.max())
    whole = np.exp(totals - top).sum()
    return float(np.exp(-top) / whole)


@dataclass(frozen=True, eq=False, slots=True)
class _Process:
    """Payoffs between types, and how they become fitness."""

    matrix: Array
    intensity: float
    fitness: Fitness

    @classmethod
    def check(cls, payoffs: ArrayLike, intensity: float, fitness: Fitness) -> _Process:
        matrix = as_payoffs(payoffs)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidGame(
                f"payoffs between types: expected a square matrix, got shape {matrix.shape}"
            )
        if fitness not in get_args(Fitness):
            raise UsageError(
                f"fitness: expected one of {', '.join(get_args(Fitness))}, got {fitness!r}"
            )
        may_be_linear = matrix.min() >= 0 and 0 <= intensity <= 1
        if fitness == "linear" and not may_be_linear:
            raise UsageError(
                "linear fitness needs payoffs of at least 0 and an intensity from 0 to 1"
            )
        largest = np.abs(matrix).max()
        if not np.isfinite(intensity * largest):
            raise UsageError(
                "intensity: expected a finite number, small enough for these payoffs, got"
                f" {intensity:g}"
            )
        return cls(matrix, intensity, fitness)

    def check_counts(self, counts: ArrayLike) -> Counts:
        now = np.array(counts, dtype=np.int64)
        if now.shape != (len(self.matrix),) or (now < 0).any() or now.sum() < 2:
            raise UsageError(
                f"counts: expected {len(self.matrix)} numbers with at least two individuals in all,"
                f" got {counts!r}"
            )
        return now

    def log_fitness(self, now: Counts) -> Array:
        """Give the logarithm of an individual's fitness, by run and type; nobody meets itself."""
        population = int(now[0].sum())
        totals = now @ self.matrix.T - np.diag(self.matrix)
        mean = totals / (population - 1)
        if self.fitness == "exponential":
            return np.asarray(self.intensity * mean)
        earned = self.intensity * np.maximum(mean, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(1.0 - self.intensity + earned))

    def step(
        self,
        now: Counts,
        rng: np.random.Generator,
        mutation: float = 0.0,
    ) -> None:
        """Let one be born and one die in every run, in place."""
        logs = np.where(now > 0, self.log_fitness(now), -np.inf)
        top = logs.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            offspring = now * np.exp(logs - top)
            # All alike where nobody has fitness.
            weights = np.where(np.isfinite(top), offspring, now)
        child = _draw(weights, rng)
        gone = _draw(now.astype(np.float64), rng)
        if mutation:
            mutants = rng.random(len(now)) < mutation
            types = now.shape[1]
            shift = rng.integers(1, max(types, 2), size=len(now))
            child = np.where(mutants, (child + shift) % types, child)
        rows = np.arange(len(now))
        now[rows, child] += 1
        now[rows, gone] -= 1


def _draw(weights: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw one place in every row, by weight."""
    limits = np.cumsum(weights, axis=1)
    luck = rng.random(len(weights)) * limits[:, -1]
    passed = luck[:, None] >= limits
    return np.asarray(passed.sum(axis=1))


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
