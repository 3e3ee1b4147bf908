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

What matches earned is one array a population, `payoffs[p][a, b]`: what strategy a earned against b, match by match.
With one population both roles are pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.dynamics.learning import logit_dynamics, replicator
from bestresponse.theory.games.normal_form import Array, NormalForm

if TYPE_CHECKING:
    from bestresponse.studies.population.study import PopulationConfig

Agents = NDArray[np.int64]
"""The strategies that the agents of a population hold: a row for each repetition."""
_TIE = 1e-9  # strategies whose means differ by less, relative to their size, are equally good replies
_SURE = 1e12
"""The precision, in units of the payoff range, at which logit choice is a best reply."""


def average_matches(payoffs: Sequence[Array]) -> NormalForm:
    """Return the game between strategies, in mean payoffs."""
    first, second = (payoffs[number].mean(axis=2) for number in (0, -1))
    return NormalForm.bimatrix(first, second.T)


def predict_shares(config: PopulationConfig, payoffs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the shares that theory expects, by population: a row for each generation from 0 on."""
    start, steps = list(config.first_shares), config.generations
    form, both = average_matches(payoffs), [start[0], start[-1]]
    spread = [np.ptp(payoffs[number]) or 1.0 for number in (0, -1)]
    scaled = NormalForm(form.payoffs / np.array(spread).reshape(2, 1, 1))
    if config.rule == "imitation":
        single = len(payoffs) == 1
        path = replicator(scaled, start, steps=steps, size=config.revise, form="euler", one_population=single, stride=1)
    elif config.rule == "best-reply":
        path = logit_dynamics(scaled, _SURE, both, steps=steps, size=config.revise, stride=1)
    else:
        path = logit_dynamics(form, config.precision, both, steps=steps, size=config.revise, stride=1)
    return tuple(path.strategies[: len(start)])


def run_agents(config: PopulationConfig, payoffs: Sequence[Array], rng: np.random.Generator) -> tuple[Array, ...]:
    """Return the observed shares by population: repetition, generation from 0 on, strategy."""
    held: list[Agents] = []
    for first in config.first_shares:
        row = np.repeat(np.arange(len(first)), np.rint(first * config.agents).astype(np.int64))
        held.append(rng.permuted(np.tile(row, (config.repetitions, 1)), axis=1))
    paths: list[list[Array]] = [[] for _ in held]
    for _ in range(config.generations + 1):
        for path, agents, own in zip(paths, held, payoffs, strict=True):
            path.append(np.stack([(agents == strategy).mean(axis=1) for strategy in range(len(own))], axis=1))
        earned = _meet(held, payoffs, rng)
        rivals = [path[-1] for path in reversed(paths)]
        held = [_revise(config, *side, rng) for side in zip(payoffs, held, earned, rivals, strict=True)]
    return tuple(np.stack(path, axis=1) for path in paths)


def _meet(held: Sequence[Agents], payoffs: Sequence[Array], rng: np.random.Generator) -> list[Array]:
    """Match all agents at random and return what each earns."""
    shape = held[0].shape
    order = rng.permuted(np.tile(np.arange(shape[1]), (shape[0], 1)), axis=1)
    drawn = rng.integers(payoffs[0].shape[2], size=shape)
    if len(held) > 1:
        rivals = np.take_along_axis(held[1], order, axis=1)
        second = np.empty(shape)
        np.put_along_axis(second, order, payoffs[1][rivals, held[0], drawn], axis=1)
        return [payoffs[0][held[0], rivals, drawn], second]
    rivals = np.empty(shape, dtype=np.int64)
    np.put_along_axis(rivals, order, np.take_along_axis(held[0], np.roll(order, 1, axis=1), axis=1), axis=1)
    return [payoffs[0][held[0], rivals, drawn]]


def _revise(
    config: PopulationConfig, payoffs: Array, held: Agents, earned: Array, rivals: Array, rng: np.random.Generator
) -> Agents:
    """Return the strategies after those who revise have; `rivals` are the shares of those they meet."""
    revises = rng.random(held.shape) < config.revise
    if config.rule == "imitation":
        others = (np.arange(held.shape[1]) + rng.integers(1, held.shape[1], size=held.shape)) % held.shape[1]
        better = np.take_along_axis(earned, others, axis=1) - earned
        switches = revises & (rng.random(held.shape) < better / (np.ptp(payoffs) or 1.0))
        return np.where(switches, np.take_along_axis(held, others, axis=1), held)
    values = rivals @ payoffs.mean(axis=2).T
    top = values.max(axis=1, keepdims=True)
    if config.rule == "best-reply":
        weights = (values >= top - _TIE * np.maximum(1.0, np.abs(top))).astype(np.float64)
    else:
        weights = np.exp(config.precision * (values - top))
    chances = weights / weights.sum(axis=1, keepdims=True)
    drawn = (rng.random(held.shape)[:, :, None] > chances.cumsum(axis=1)[:, None, :]).sum(axis=2)
    return np.where(revises, np.minimum(drawn, chances.shape[1] - 1), held)
