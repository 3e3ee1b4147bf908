"""Matches of a round robin advanced together, one round at a time, with numpy."""

from __future__ import annotations

import numpy as np

from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.repeated.round_robin import Matches, Rules

__all__ = ["play_in_step"]

_MATCHES_AT_ONCE = 200_000


def play_in_step(matches: Matches, rules: Rules, repetitions: int, seed: int) -> Array:
    """Totals (strategies, strategies, repetitions, 2)."""
    count = len(matches.mix)
    first, second, _ = (a.ravel() for a in np.indices((count, count, repetitions)))
    rng = np.random.default_rng(seed)
    totals = np.empty((len(first), 2))
    for begin in range(0, len(first), _MATCHES_AT_ONCE):
        part = slice(begin, begin + _MATCHES_AT_ONCE)
        totals[part] = _advance(matches, rules, first[part], second[part], rng)
    return totals.reshape(count, count, repetitions, 2)


def _advance(matches: Matches, rules: Rules, first: Array, second: Array, rng: np.random.Generator) -> Array:
    """Flat indices: state s of strategy i is i * states + s everywhere, and a joint action is a * actions + b."""
    count, states, actions = matches.mix.shape
    limits = np.cumsum(matches.mix, axis=2).reshape(-1, actions)[:, :-1].astype(np.float32)
    base = (np.arange(count) * states)[:, None, None, None]
    mine = (matches.step + base).reshape(-1, actions * actions)
    theirs = (matches.step.transpose(0, 1, 3, 2) + base).reshape(-1, actions * actions)
    a, b = first * states, second * states
    joint = np.zeros((len(first), actions * actions), dtype=np.int32)
    rows = np.arange(len(first))
    playing = np.ones(len(first), dtype=bool)
    for _ in range(rules.rounds):
        x, y = _drawn(limits[a], rng), _drawn(limits[b], rng)
        cell = x * actions + y
        joint[rows, cell] += playing
        a, b = mine[a, cell], theirs[b, cell]
        if rules.continuation < 1.0:
            playing &= rng.random(len(playing)) < rules.continuation
    return np.asarray(joint @ matches.payoffs.reshape(2, -1).T)


def _drawn(limits: Array, rng: np.random.Generator) -> Array:
    """For each row of cumulative probabilities, the action a uniform number falls on."""
    luck = rng.random(len(limits), dtype=np.float32)
    if limits.shape[1] == 1:
        return np.asarray(luck >= limits[:, 0]).astype(np.int64)
    return np.asarray((luck[:, None] >= limits).sum(axis=1))
