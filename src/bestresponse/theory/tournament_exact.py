"""Expected totals of a round robin: the Markov chain over pairs of states, for every pair of strategies.

The automata do not know which seat they are in, so the expected number of times each pair of actions is played when i
sits first and j second is, transposed, that of j first and i second: half the pairs are enough, and payoffs come last.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from bestresponse.theory.normal_form import Array
from bestresponse.theory.tournament import Matches, Rules

__all__ = ["expected_totals"]

_BREAK_EVEN_CELLS = 100_000_000


def expected_totals(matches: Matches, rules: Rules) -> Array:
    """(strategies, strategies, 2)."""
    count, _, actions = matches.mix.shape
    pairs = np.array([(i, j) for i in range(count) for j in range(i, count)])
    work = rules.rounds * actions**2 * int((matches.states[pairs[:, 0]] * matches.states[pairs[:, 1]]).sum())
    if work >= _BREAK_EVEN_CELLS and find_spec("numba"):
        from bestresponse.theory.tournament_kernels import count_compiled as count_plays
    else:
        count_plays = _count_by_groups
    plays = count_plays(matches, rules, pairs)
    totals = np.empty((count, count, 2))
    first, second = pairs.T
    totals[first, second] = np.einsum("pab,kab->pk", plays, matches.payoffs)
    totals[second, first] = np.einsum("pba,kab->pk", plays, matches.payoffs)
    return totals


def _count_by_groups(matches: Matches, rules: Rules, pairs: Array) -> Array:
    """Pairs whose automata have the same numbers of states are advanced together."""
    actions = matches.mix.shape[2]
    plays = np.empty((len(pairs), actions, actions))
    sizes = matches.states[pairs]
    for size in np.unique(sizes, axis=0):
        group = np.flatnonzero((sizes == size).all(axis=1))
        plays[group] = _count(matches, rules, pairs[group], *size)
    return plays


def _count(matches: Matches, rules: Rules, pairs: Array, rows: int, cols: int) -> Array:
    """How often each pair of actions is played, for pairs of automata with `rows` and `cols` states."""
    first, second = pairs.T
    x, y = matches.mix[first, :rows], matches.mix[second, :cols]
    actions, states = x.shape[2], rows * cols
    chances = np.einsum("psa,ptb->pstab", x, y).reshape(len(pairs), states, -1)
    to_x, to_y = matches.step[first, :rows], matches.step[second, :cols].transpose(0, 1, 3, 2)
    target = (to_x[:, :, None] * cols + to_y[:, None, :]).reshape(len(pairs), -1)
    flat = (target + (np.arange(len(pairs)) * states)[:, None]).ravel()
    now = np.zeros((len(pairs), states))
    now[:, 0] = 1.0
    visits = now.copy()
    for _ in range(rules.rounds - 1):
        flow = (now[:, :, None] * chances).ravel() * rules.continuation
        now = np.bincount(flat, flow, minlength=now.size).reshape(now.shape).astype(np.float64, copy=False)
        visits += now
    return np.asarray(np.einsum("ps,psc->pc", visits, chances).reshape(len(pairs), actions, actions))
