"""Expected totals of a round robin: the Markov chain over pairs of states, for every pair of strategies.

The automata do not know which seat they are in, so the expected number of times each pair of actions is played when i
sits first and j second is, transposed, that of j first and i second: half the pairs are enough, and payoffs come last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.engines import choose_engine
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.repeated.round_robin import Matches, Rules

__all__ = ["expected_totals"]

Pairs = NDArray[np.int64]
Places = NDArray[np.int64]

_BREAK_EVEN_CELLS = 100_000_000
_MOST_CELLS = 1_000_000


def expected_totals(matches: Matches, rules: Rules) -> Array:
    """(strategies, strategies, 2)."""
    count, _, actions = matches.mix.shape
    pairs = np.array([(i, j) for i in range(count) for j in range(i, count)])
    work = rules.rounds * actions**2 * int((matches.states[pairs[:, 0]] * matches.states[pairs[:, 1]]).sum())
    if choose_engine("auto", pays=work >= _BREAK_EVEN_CELLS) == "numba":
        from bestresponse.theory.repeated.kernels import count_compiled

        plays = count_compiled(matches, rules, pairs)
    else:
        plays = _count_in_parts(matches, rules, pairs)
    totals = np.empty((count, count, 2))
    first, second = pairs.T
    totals[first, second] = np.einsum("pab,kab->pk", plays, matches.payoffs)
    totals[second, first] = np.einsum("pba,kab->pk", plays, matches.payoffs)
    return totals


def _count_in_parts(matches: Matches, rules: Rules, pairs: Pairs) -> Array:
    """As many pairs at once as fit into `_MOST_CELLS`, always at least one."""
    actions = matches.mix.shape[2]
    cells = matches.states[pairs[:, 0]].astype(np.int64) * matches.states[pairs[:, 1]]
    parts = (np.cumsum(cells) - cells) // _MOST_CELLS
    plays = np.empty((len(pairs), actions, actions))
    for part in np.unique(parts):
        group = np.flatnonzero(parts == part)
        plays[group] = _count(_Chain.of(matches, pairs[group]), rules).reshape(-1, actions, actions)
    return plays


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """The chains of several pairs as one: `chances[c]` are the probabilities of every pair of actions in cell c, which
    belongs to `pair[c]`; `target` is where they lead; `start` the first cell of every pair. Only cells that can be
    reached are kept: two strategies that look back one round share few of their pairs of states."""

    pair: Places
    chances: Array
    target: Places
    start: Places

    @classmethod
    def of(cls, matches: Matches, pairs: Pairs) -> _Chain:
        first, second = pairs.T
        cols = matches.states[second].astype(np.int64)
        cells = matches.states[first] * cols
        start = np.cumsum(cells) - cells
        pair = np.repeat(np.arange(len(pairs)), cells)
        s, t = np.divmod(np.arange(len(pair)) - start[pair], cols[pair])
        i, j = first[pair], second[pair]
        chances = (matches.mix[i, s][:, :, None] * matches.mix[j, t][:, None, :]).reshape(len(pair), -1)
        to_x, to_y = matches.step[i, s], matches.step[j, t].transpose(0, 2, 1)
        target = start[pair][:, None, None] + to_x * cols[pair][:, None, None] + to_y
        return cls(pair, chances, target.reshape(len(pair), -1), start)._reachable()

    def _reachable(self) -> _Chain:
        """The same without the cells that no play comes to."""
        seen = np.zeros(len(self.pair), dtype=bool)
        new = self.start
        while len(new):
            seen[new] = True
            following = self.target[new][self.chances[new] > 0]
            new = np.unique(following[~seen[following]])
        place = np.cumsum(seen) - 1
        return _Chain(self.pair[seen], self.chances[seen], place[self.target[seen]], place[self.start])


def _count(chain: _Chain, rules: Rules) -> Array:
    """How often each pair of actions is played, (pairs, actions squared)."""
    from scipy.sparse import csr_array

    cells, actions = chain.chances.shape
    live = chain.chances.ravel() > 0
    places = (chain.target.ravel()[live], np.repeat(np.arange(cells), actions)[live])
    onward = csr_array((chain.chances.ravel()[live] * rules.continuation, places), shape=(cells, cells))
    now = np.zeros(cells)
    now[chain.start] = 1.0
    visits = now.copy()
    for _ in range(rules.rounds - 1):
        now = np.asarray(onward @ now)
        visits += now
    return np.asarray(np.add.reduceat(chain.chances * visits[:, None], chain.start))
