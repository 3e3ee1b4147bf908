"""Round robins of automata in a repeated two-player game, worked out exactly.

Every pair (i as first player, j as second) meets, itself included, as often as a `Repetition` says.
Payoffs are totals over the rounds played, which are counted with their weights. They are the
expectation over the Markov chain of the two automata's states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.arrays import Ints
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.repeated.automaton import Automaton, States, reduced
from bestresponse.theory.repeated.repetition import Repetition


@dataclass(frozen=True, eq=False, slots=True)
class TournamentResult:
    """`totals[i, j]` are the mean totals (first, second) of i first and j second.

    `rounds[i, j]` is how many rounds their matches last on average, by their weights.
    """

    totals: Array
    rounds: Array


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Automata packed into arrays: `mix` and `step`.

    `mix` is (strategies, states, actions), noise included, and `step` is (..., a, b).
    """

    mix: Array
    step: States
    states: States
    payoffs: Array

    @classmethod
    def of(
        cls,
        strategies: Sequence[Automaton],
        game: NormalForm,
        noise: float,
    ) -> Matches:
        """Stack the strategies into arrays, with `noise` applied to what they play."""
        if game.num_players != 2 or game.shape[0] != game.shape[1]:
            raise InvalidGame(
                f"a round robin needs two players with the same actions, got {game.shape}"
            )
        actions = game.shape[0]
        if not strategies:
            raise UsageError("a tournament needs at least one strategy")
        states = max(automaton.states for automaton in strategies)
        mix = np.zeros((len(strategies), states, actions))
        step = np.zeros((len(strategies), states, actions, actions), dtype=np.int32)
        for number, automaton in enumerate(strategies):
            if automaton.step.shape[1:] != (actions, actions):
                raise InvalidGame(
                    f"strategy {automaton.name!r} is for {automaton.step.shape[1]} actions; the"
                    f" game has {actions}"
                )
            mix[number, : automaton.states] = automaton.mix
            step[number, : automaton.states] = automaton.step
        if actions > 1:
            mix = mix * (1 - noise) + (1 - mix) * noise / (actions - 1)
        sizes = np.array([automaton.states for automaton in strategies], dtype=np.int32)
        return cls(
            mix=mix,
            step=step,
            states=sizes,
            payoffs=np.ascontiguousarray(game.payoffs),
        )


def exact_round_robin(
    strategies: Sequence[Automaton],
    game: GameLike,
    repetition: Repetition | None = None,
) -> TournamentResult:
    """Return the expected totals of every pair, without sampling error.

    >>> from bestresponse.theory.repeated.automaton import classic_strategy
    >>> from bestresponse.theory.catalogue.tables import load
    >>> pair = [classic_strategy("tit-for-tat"), classic_strategy("defector")]
    >>> exact_round_robin(pair, load("prisoners-dilemma"), Repetition(10)).totals[0, 1].tolist()
    [9.0, 14.0]
    """
    game = as_normal_form(game)
    repetition = repetition or Repetition()
    smallest = list(map(reduced, strategies))
    matches = Matches.of(smallest, game, repetition.noise)
    totals = expected_totals(matches, repetition)
    return TournamentResult(totals, np.full(totals.shape[:2], repetition.expected_weight))


_MOST_CELLS = 1_000_000


def expected_totals(matches: Matches, repetition: Repetition) -> Array:
    """Return the expected totals of both players, (strategies, strategies, 2).

    They come from the Markov chain over pairs of states of every pair of strategies.

    The automata do not know which seat they are in, so the expected number of times each pair of
    actions is played when i sits first and j second is, transposed, that of j first and i second:
    half the pairs are enough, and payoffs come last.
    """
    count, _, actions = matches.mix.shape
    pairs = np.column_stack(np.triu_indices(count))
    first, second = pairs.T
    # As many pairs at once as fit into `_MOST_CELLS`, always at least one.
    cells = matches.states[first].astype(np.int64) * matches.states[second]
    parts = (np.cumsum(cells) - cells) // _MOST_CELLS
    plays = np.empty((len(pairs), actions, actions))
    for part in np.unique(parts):
        group = np.flatnonzero(parts == part)
        chain = _Chain.of(matches, pairs[group])
        plays[group] = _count(chain, repetition).reshape(-1, actions, actions)
    totals = np.empty((count, count, 2))
    totals[first, second] = np.einsum("pab,kab->pk", plays, matches.payoffs)
    totals[second, first] = np.einsum("pba,kab->pk", plays, matches.payoffs)
    return totals


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """The chains of several pairs as one.

    `chances[c]` are the probabilities of every pair of actions in cell c, which belongs to
    `pair[c]`; `target` is where they lead; `start` the first cell of every pair. Only cells that
    can be reached are kept: two strategies that look back one round share few of their pairs of
    states.
    """

    pair: Ints
    chances: Array
    target: Ints
    start: Ints

    @classmethod
    def of(cls, matches: Matches, pairs: Ints) -> _Chain:
        first, second = pairs.T
        cols = matches.states[second].astype(np.int64)
        cells = matches.states[first] * cols
        start = np.cumsum(cells) - cells
        pair = np.repeat(np.arange(len(pairs)), cells)
        s, t = np.divmod(np.arange(len(pair)) - start[pair], cols[pair])
        i = first[pair]
        j = second[pair]
        mix_x = matches.mix[i, s]
        mix_y = matches.mix[j, t]
        chances = mix_x[:, :, None] * mix_y[:, None, :]
        to_x = matches.step[i, s]
        to_y = matches.step[j, t].transpose(0, 2, 1)
        target = start[pair][:, None, None] + to_x * cols[pair][:, None, None] + to_y
        whole = cls(
            pair=pair,
            chances=chances.reshape(len(pair), -1),
            target=target.reshape(len(pair), -1),
            start=start,
        )
        return whole._reachable()

    def _reachable(self) -> _Chain:
        """The same without the cells that no play comes to."""
        seen = np.zeros(len(self.pair), dtype=bool)
        new = self.start
        while len(new):
            seen[new] = True
            following = self.target[new][self.chances[new] > 0]
            new = np.unique(following[~seen[following]])
        renumbered = np.cumsum(seen) - 1
        return _Chain(
            pair=self.pair[seen],
            chances=self.chances[seen],
            target=renumbered[self.target[seen]],
            start=renumbered[self.start],
        )


def _count(chain: _Chain, repetition: Repetition) -> Array:
    """How often each pair of actions is played, by weight, (pairs, actions squared)."""
    from scipy.sparse import csr_array

    cells, actions = chain.chances.shape
    chances = chain.chances.ravel()
    live = chances > 0
    origin = np.repeat(np.arange(cells), actions)[live]
    target = chain.target.ravel()[live]
    weights = chances[live] * repetition.weight
    onward = csr_array((weights, (target, origin)), shape=(cells, cells))
    now = np.zeros(cells)
    now[chain.start] = 1.0
    visits = now.copy()
    for _ in range(repetition.rounds - 1):
        now = np.asarray(onward @ now)
        visits += now
    plays = chain.chances * visits[:, None]
    return np.asarray(np.add.reduceat(plays, chain.start))
