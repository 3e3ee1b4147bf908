"""Agents who are matched, earn and revise: imitation, best reply or logit choice, many populations at once.

Every generation each agent meets one other, drawn at random, and earns what one of the recorded matches of their two
strategies earned. Then each revises with probability r:

    imitation    it looks at another agent of its population and takes over that one's strategy with probability
                 max(0, what that one earned - what it earned itself) / range of payoffs
    best-reply   it takes the strategy that earns most on average against the present shares, any of them in a tie
    logit        it takes strategy a with probability proportional to exp(precision * what a earns on average)

The expected change of the shares under imitation is that of the replicator dynamics with payoffs divided by their range
(K. Schlag, "Why imitate, and if so, how?", Journal of Economic Theory 78, 1998), under logit choice that of the logit
dynamics, under best reply its limit for large precision: one Euler step of length r a generation, as in `predict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.dynamics.learning import logit_dynamics
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.games.normal_form import Array, NormalForm

Rule = Literal["imitation", "best-reply", "logit"]
Integers = NDArray[np.int64]
_TIE = 1e-9  # strategies whose means differ by less, relative to their size, are equally good replies
_SURE = 1e12
"""The precision, in units of the payoff range, at which logit choice is a best reply."""


@dataclass(frozen=True, eq=False)
class Matches:
    """What matches earned: `payoffs[p][a, b]` has what population p's strategy a earned against b, one a match.

    With one population both roles are pooled, and there is one table.
    """

    payoffs: tuple[Array, ...]

    @property
    def means(self) -> tuple[Array, ...]:
        """The mean payoffs, by population, own strategy and strategy of the other."""
        return tuple(own.mean(axis=2) for own in self.payoffs)

    @property
    def ranges(self) -> tuple[float, ...]:
        """The range of payoffs in each population."""
        return tuple(float(np.ptp(own)) for own in self.payoffs)

    @property
    def form(self) -> NormalForm:
        """The game between strategies, in mean payoffs."""
        own = self.means[0]
        return NormalForm.bimatrix(own, self.means[1].T if len(self.means) > 1 else own.T)


@dataclass(frozen=True, slots=True)
class Dynamics:
    """How many agents revise how, how often; `start` holds the shares at the start, one vector a population."""

    rule: Rule
    agents: int
    generations: int
    repetitions: int
    revise: float
    precision: float
    start: tuple[Array, ...]


def predict(dynamics: Dynamics, matches: Matches) -> tuple[Array, ...]:
    """Return the shares that theory expects, by population: a row for each generation from 0 on."""
    start, steps, single = list(dynamics.start), dynamics.generations, len(matches.payoffs) == 1
    form = matches.form
    spread = np.array([width or 1.0 for width in (matches.ranges * 2)[:2]]).reshape(2, 1, 1)
    if dynamics.rule == "imitation":
        scaled = NormalForm(form.payoffs / spread)
        path = replicator(
            scaled, start, steps=steps, size=dynamics.revise, form="euler", one_population=single, stride=1
        )
    else:
        sharp = dynamics.rule == "best-reply"
        played = NormalForm(form.payoffs / spread) if sharp else form
        both = start * 2 if single else start
        precision = _SURE if sharp else dynamics.precision
        path = logit_dynamics(played, precision, both, steps=steps, size=dynamics.revise, stride=1)
    return tuple(path.strategies[: len(start)])


def run_agents(dynamics: Dynamics, matches: Matches, rng: np.random.Generator) -> tuple[Array, ...]:
    """Return the observed shares by population: repetition, generation from 0 on, strategy."""
    start = dynamics.start
    held = [_seat(shares, dynamics, rng) for shares in start]
    seen = [np.empty((dynamics.repetitions, dynamics.generations + 1, len(shares))) for shares in start]
    for generation in range(dynamics.generations + 1):
        shares = [_count(own, len(first)) for own, first in zip(held, start, strict=True)]
        for path, now in zip(seen, shares, strict=True):
            path[:, generation] = now
        earned = _meet(held, matches, rng)
        held = [
            _revise(dynamics, matches, population, own, earned[population], shares[-1 - population], rng)
            for population, own in enumerate(held)
        ]
    return tuple(seen)


def _seat(shares: Array, dynamics: Dynamics, rng: np.random.Generator) -> Integers:
    """Give every agent its first strategy: a row for each repetition."""
    row = np.repeat(np.arange(len(shares)), np.rint(shares * dynamics.agents).astype(np.int64))
    return rng.permuted(np.tile(row, (dynamics.repetitions, 1)), axis=1)


def _count(held: Integers, strategies: int) -> Array:
    return np.stack([(held == one).mean(axis=1) for one in range(strategies)], axis=1)


def _meet(held: Sequence[Integers], matches: Matches, rng: np.random.Generator) -> list[Array]:
    """Match all agents at random and return what each earns."""
    shape = held[0].shape
    order = rng.permuted(np.tile(np.arange(shape[1]), (shape[0], 1)), axis=1)
    drawn = rng.integers(matches.payoffs[0].shape[2], size=shape)
    if len(held) > 1:
        rivals = np.take_along_axis(held[1], order, axis=1)
        first = matches.payoffs[0][held[0], rivals, drawn]
        second = np.empty(shape)
        np.put_along_axis(second, order, matches.payoffs[1][rivals, held[0], drawn], axis=1)
        return [first, second]
    rivals = np.empty(shape, dtype=np.int64)
    np.put_along_axis(rivals, order, np.take_along_axis(held[0], np.roll(order, 1, axis=1), axis=1), axis=1)
    return [matches.payoffs[0][held[0], rivals, drawn]]


def _revise(
    dynamics: Dynamics,
    matches: Matches,
    population: int,
    held: Integers,
    earned: Array,
    rivals: Array,
    rng: np.random.Generator,
) -> Integers:
    """Return the strategies after those who revise have."""
    revises = rng.random(held.shape) < dynamics.revise
    if dynamics.rule == "imitation":
        others = (np.arange(held.shape[1]) + rng.integers(1, held.shape[1], size=held.shape)) % held.shape[1]
        better = np.take_along_axis(earned, others, axis=1) - earned
        width = matches.ranges[population] or 1.0
        switches = revises & (rng.random(held.shape) < better / width)
        return np.where(switches, np.take_along_axis(held, others, axis=1), held)
    chances = _choose(dynamics, rivals @ matches.means[population].T)
    drawn = (rng.random(held.shape)[:, :, None] > chances.cumsum(axis=1)[:, None, :]).sum(axis=2)
    return np.where(revises, np.minimum(drawn, chances.shape[1] - 1), held)


def _choose(dynamics: Dynamics, values: Array) -> Array:
    """Return the chances of the strategies in every repetition, by what they earn on average."""
    top = values.max(axis=1, keepdims=True)
    if dynamics.rule == "best-reply":
        best = values >= top - _TIE * np.maximum(1.0, np.abs(top))
        return np.asarray(best / best.sum(axis=1, keepdims=True))
    weights = np.exp(dynamics.precision * (values - top))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
