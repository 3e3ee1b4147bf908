"""Round robins of automata in a repeated two-player game: played in bulk, or worked out exactly.

Every pair (i as first player, j as second) meets, itself included. `noise` is the probability that an intended action
is replaced by another one (uniformly); `continuation` the probability of a further round after each, up to `rounds`.
Payoffs are totals over the rounds played; `per_round` divides them by the expected number of rounds.

The exact result is the expectation over the Markov chain of the two automata's states; the played one samples it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.engines import Engine, choose_engine
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.repeated.automaton import Automaton, States

__all__ = ["Matches", "Rules", "TournamentResult", "exact_round_robin", "play_round_robin"]

_BREAK_EVEN_TURNS = 20_000_000


@dataclass(frozen=True, slots=True)
class Rules:
    """How long a match lasts and what goes wrong in it."""

    rounds: int = 200
    noise: float = 0.0
    continuation: float = 1.0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UsageError(f"rounds: expected at least 1, got {self.rounds}")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"noise: expected a probability, got {self.noise:g}")
        if not 0 < self.continuation <= 1:
            raise UsageError(f"continuation: expected a probability above 0, got {self.continuation:g}")

    @property
    def expected_rounds(self) -> float:
        """How many rounds a match lasts on average."""
        if self.continuation == 1.0:
            return float(self.rounds)
        return (1 - self.continuation**self.rounds) / (1 - self.continuation)


@dataclass(frozen=True, eq=False, slots=True)
class TournamentResult:
    """`totals[i, j]` are the mean totals (first, second) of i first and j second; `spread` their sd over plays."""

    names: tuple[str, ...]
    totals: Array
    spread: Array | None
    rules: Rules
    repetitions: int | None
    method: str

    @property
    def per_round(self) -> Array:
        """Mean payoff a round, (first, second) by seats."""
        return np.asarray(self.totals / self.rules.expected_rounds)

    @property
    def scores(self) -> Array:
        """Mean payoff a round of each strategy over all its matches, both seats, itself included."""
        rounds = self.per_round
        return np.asarray((rounds[:, :, 0].mean(axis=1) + rounds[:, :, 1].mean(axis=0)) / 2)

    @property
    def ranking(self) -> tuple[tuple[str, float], ...]:
        """Names and scores, best first; equal scores in order of name."""
        found = zip(self.names, map(float, self.scores), strict=True)
        return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Automata packed into arrays: `mix` (strategies, states, actions), noise included, and `step` (..., a, b)."""

    mix: Array
    step: States
    states: States
    payoffs: Array

    @classmethod
    def of(cls, strategies: Sequence[Automaton], game: NormalForm, noise: float) -> Matches:
        """Stack the strategies into arrays, with `noise` applied to what they play."""
        if game.num_players != 2 or game.shape[0] != game.shape[1]:
            raise InvalidGame(f"a round robin needs two players with the same actions, got {game.shape}")
        actions = game.shape[0]
        if not strategies:
            raise UsageError("a tournament needs at least one strategy")
        states = max(automaton.states for automaton in strategies)
        mix = np.zeros((len(strategies), states, actions))
        step = np.zeros((len(strategies), states, actions, actions), dtype=np.int32)
        for number, automaton in enumerate(strategies):
            if automaton.step.shape[1:] != (actions, actions):
                raise InvalidGame(
                    f"strategy {automaton.name!r} is for {automaton.step.shape[1]} actions; the game has {actions}"
                )
            mix[number, : automaton.states] = automaton.mix
            step[number, : automaton.states] = automaton.step
        if actions > 1:
            mix = mix * (1 - noise) + (1 - mix) * noise / (actions - 1)
        sizes = np.array([automaton.states for automaton in strategies], dtype=np.int32)
        return cls(mix, step, sizes, np.ascontiguousarray(game.payoffs))


def play_round_robin(
    strategies: Sequence[Automaton],
    game: NormalForm,
    rules: Rules | None = None,
    *,
    repetitions: int = 10,
    seed: int = 0,
    engine: Engine = "auto",
) -> TournamentResult:
    """Play every pair `repetitions` times."""
    rules = rules or Rules()
    if repetitions < 1:
        raise UsageError(f"repetitions: expected at least 1, got {repetitions}")
    matches = Matches.of(strategies, game, rules.noise)
    turns = len(strategies) ** 2 * repetitions * rules.rounds
    chosen = choose_engine(engine, pays=turns >= _BREAK_EVEN_TURNS)
    if chosen == "numba":
        from bestresponse.theory.repeated.kernels import play_compiled as play
    else:
        from bestresponse.theory.repeated.numpy_matches import play_in_step as play
    totals = play(matches, rules, repetitions, seed)
    names = tuple(automaton.name for automaton in strategies)
    spread = totals.std(axis=2, ddof=1) if repetitions > 1 else None
    return TournamentResult(names, totals.mean(axis=2), spread, rules, repetitions, f"played ({chosen})")


def exact_round_robin(
    strategies: Sequence[Automaton], game: NormalForm, rules: Rules | None = None
) -> TournamentResult:
    """Return the expected totals of every pair, without sampling error.

    >>> from bestresponse.theory.repeated.library import classic_strategy
    >>> from bestresponse.theory.catalogue.tables import load
    >>> pair = [classic_strategy("tit-for-tat"), classic_strategy("defector")]
    >>> exact_round_robin(pair, load("prisoners-dilemma"), Rules(rounds=10)).totals[0, 1].tolist()
    [9.0, 14.0]
    """
    from bestresponse.theory.repeated.exact import expected_totals
    from bestresponse.theory.repeated.reduce import reduced

    rules = rules or Rules()
    names = tuple(automaton.name for automaton in strategies)
    totals = expected_totals(Matches.of([reduced(one) for one in strategies], game, rules.noise), rules)
    return TournamentResult(names, totals, None, rules, None, "exact")
