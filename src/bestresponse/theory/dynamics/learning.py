"""Rules by which players learn: regret matching, multiplicative weights, fictitious play and logit
dynamics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.dynamics.trajectory import (
    Trajectory,
    allot,
    external_regrets,
    find_end,
    find_uniform,
    fitness,
    record,
    space_records,
    start_or_uniform,
    walk,
)
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.games.regrets import Profile
from bestresponse.theory.seeds import Seed, as_generator

Weigh = Callable[[int, Array, Array, float], Array]
"""From a player, what its actions would have earned in total, its regrets kept above 0 and what it
has earned: how much weight it gives to each action now."""


def _learn(
    game: NormalForm,
    weigh: Weigh,
    method: str,
    steps: int,
    stride: int | None,
    *,
    linear: bool = False,
) -> Trajectory:
    """Take `steps` rounds: play mixed strategies, see what every action would have earned, update.

    All players update at once and payoffs are expected payoffs, so nothing is random. The recorded
    strategies are averages, of `linear` weight where asked.
    """
    sizes = (*game.shape * 3, game.num_players)
    players = game.num_players
    state, (*parts, earned) = allot(*sizes)
    averages = parts[:players]
    totals = parts[players : 2 * players]
    clipped = parts[2 * players :]
    values = fitness(game)
    rounds = count(1)

    def choose(i: int) -> Array:
        weights = weigh(i, totals[i], clipped[i], earned[i])
        whole = weights.sum()
        return weights / whole if whole > 0 else find_uniform(len(weights))

    def advance(most: int) -> None:
        for time in islice(rounds, most):
            profile = list(map(choose, range(players)))
            for i, value in enumerate(values(profile)):
                got = profile[i] @ value
                earned[i] += got
                totals[i] += value
                regrets = clipped[i] + value - got
                clipped[i][:] = np.maximum(regrets, 0.0)
                averages[i] += (time if linear else 1) * profile[i]

    gaps = space_records(steps, stride)
    times, held = walk(advance, state, gaps, *sizes)
    return record(
        game=game,
        method=method,
        times=times,
        paths=held[:players],
        last=tuple(map(choose, range(players))),
        external=external_regrets(times, held[players : 2 * players], held[-1]),
    )


def _find_rounding(game: NormalForm) -> list[float]:
    """Say for each player which differences between expected payoffs may be rounding.

    Such differences decide nothing.
    """
    largest = [np.abs(table).max() for table in game.payoffs]
    return [1e-12 * float(payoff) for payoff in largest]


def regret_matching(
    game: GameLike,
    *,
    steps: int = 10_000,
    plus: bool = False,
    stride: int | None = None,
) -> Trajectory:
    """Play each action in proportion to how much one regrets not having played it.

    Hart & Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica
    68, 2000 (here with external regrets). Average external regrets vanish at rate 1/sqrt(steps) in
    every game; in two-player zero-sum games the average strategies therefore approach equilibrium.

    `plus` chooses regret matching+, which never lets a regret fall below zero and gives step t the
    weight t in the average: Tammelin, "Solving large imperfect information games using CFR+", 2014.
    """
    game = as_normal_form(game)
    limits = _find_rounding(game)

    def weigh(i: int, total: Array, kept: Array, got: float) -> Array:
        regrets = kept if plus else total - got
        return np.where(regrets > limits[i], regrets, 0.0)

    method = "regret matching+" if plus else "regret matching"
    return _learn(game, weigh, method, steps=steps, stride=stride, linear=plus)


def multiplicative_weights(
    game: GameLike,
    *,
    steps: int = 10_000,
    rate: float | None = None,
    stride: int | None = None,
) -> Trajectory:
    """Let each action's weight grow exponentially with what it would have earned (Hedge).

    Freund & Schapire, "Adaptive game playing using multiplicative weights", Games and Economic
    Behavior 29, 1999. `rate` multiplies total payoffs in the exponent. With the default rate
    sqrt(8 ln(actions) / steps) / (range of the player's payoffs), nobody's average external regret
    after the last step exceeds range * sqrt(ln(actions) / (2 steps)).
    """
    game = as_normal_form(game)
    if rate is not None and not 0 < rate < np.inf:
        raise UsageError(f"rate: expected a number above 0, got {rate:g}")

    if rate is None:
        ranges = [float(np.ptp(table)) for table in game.payoffs]
        spans = np.array([span or 1.0 for span in ranges])
        per_step = 8.0 * np.log(game.shape) / max(steps, 1)
        rates = np.sqrt(per_step) / spans
    else:
        rates = np.full(game.num_players, rate)

    def weigh(i: int, total: Array, kept: Array, got: float) -> Array:
        behind = total - total.max()
        return np.asarray(np.exp(rates[i] * behind))

    return _learn(game, weigh, "multiplicative weights", steps=steps, stride=stride)


def logit_reply(values: Array, precision: float) -> Array:
    """Probabilities proportional to exp(precision * value).

    >>> logit_reply(np.array([0.0, 0.0]), 3.0).tolist()
    [0.5, 0.5]
    """
    behind = values - values.max()
    weights = np.exp(precision * behind)
    return np.asarray(weights / weights.sum())


def logit_dynamics(
    game: GameLike,
    precision: float,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    size: float = 0.01,
    stride: int | None = None,
) -> Trajectory:
    """Let play drift towards the logit (softmax) reply to the present profile.

    x_i' = L(precision * u_i(x)) - x_i, with L(v)_a = exp(v_a) / sum_b exp(v_b); Fudenberg & Levine,
    "The Theory of Learning in Games", MIT Press, 1998, chapter 4. Its rest points are the logit
    quantal response equilibria of that precision. Takes `steps` Euler steps of length `size` from
    `start` [default: uniform play].
    """
    game = as_normal_form(game)
    if not 0 <= precision < np.inf:
        raise UsageError(f"precision: expected a number >= 0, got {precision:g}")
    if not 0 < size <= 1:
        raise UsageError(f"size: expected a step above 0 and at most 1, got {size:g}")
    values = fitness(game)
    state, parts = allot(*game.shape)
    state[:] = np.concatenate(start_or_uniform(game, start))

    def advance(count: int) -> None:
        for _ in range(count):
            for mix, value in zip(parts, values(parts), strict=True):
                mix += size * (logit_reply(value, precision) - mix)

    gaps = chain([0], space_records(steps, stride))
    times, paths = walk(advance, state, gaps, *game.shape)
    return record(
        game=game,
        method=f"logit dynamics, precision {precision:g}",
        times=size * times,
        paths=paths,
        last=find_end(paths),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Tally:
    """Running totals: what actions would have earned, their plays, and what was earned."""

    totals: Profile
    counts: Profile
    earned: Array


def fictitious_play(
    game: GameLike,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    weight: float = 0.0,
    gain: float | None = None,
    precision: float | None = None,
    seed: Seed = 0,
    stride: int | None = None,
) -> Trajectory:
    """Let everybody play a best reply to what the others have done so far, for `steps` rounds.

    The recorded strategies are the frequencies of the actions played so far.

    Brown, "Iterative solution of games by fictitious play", 1951. The first move is a best reply to
    `start` [default: uniform play], which counts for `weight` rounds; ties go to the action with
    the lowest index. With more than two players, the reply is to the joint frequencies of the
    others' actions. Empirical frequencies converge to equilibrium in zero-sum games (Robinson, "An
    iterative method of solving a game", Annals of Mathematics 54, 1951) and potential games, not in
    all: see the game `shapley` of the catalogue.

    With a `gain` above 0 and at most 1 beliefs move by that share towards what was played last,
    instead of by 1 / round, and are what is recorded: the newest round has that weight and older
    ones fade (Fudenberg & Levine, "The Theory of Learning in Games", 1998).

    A finite `precision` makes it stochastic fictitious play (Fudenberg & Kreps, "Learning mixed
    equilibria", Games and Economic Behavior 5, 1993): the action is drawn with `seed`, with
    probability proportional to exp(precision * average payoff). Without it there is nothing random.
    """
    game = as_normal_form(game)
    if gain is not None and not 0 < gain <= 1:
        raise UsageError(f"gain: expected a share above 0 and at most 1, got {gain:g}")
    if not 0 <= weight < np.inf:
        raise UsageError(f"weight: expected a number of rounds of at least 0, got {weight:g}")
    if precision is not None and not 0 <= precision < np.inf:
        raise UsageError(f"precision: expected a number >= 0, got {precision:g}")

    sizes = (*game.shape, *game.shape, game.num_players)
    players = game.num_players
    state, parts = allot(*sizes)
    tally = _Tally(totals=tuple(parts[players:-1]), counts=tuple(parts[:players]), earned=parts[-1])
    rng = as_generator(seed)
    believed = start_or_uniform(game, start)
    expected = fitness(game)(believed)
    initial = weight if gain is None else 1.0
    for i, mix in enumerate(believed):
        tally.counts[i][:] = initial * mix
        tally.totals[i][:] = initial * expected[i]

    actions = []
    for values, tie in zip(expected, _find_rounding(game), strict=True):
        best = values.max()
        settled = np.where(values >= best - tie, best, values)
        actions.append(_choose(settled, precision, rng))
    _play(game, tally, tuple(actions), gain)

    def advance(count: int) -> None:
        for _ in range(count):
            scale = precision
            if precision is not None:
                scale = precision / float(tally.counts[0].sum())
            actions = [_choose(total, scale, rng) for total in tally.totals]
            _play(game, tally, tuple(actions), gain)

    first, *gaps = space_records(steps, stride)  # the first round has been played already
    times, held = walk(advance, state, [first - 1, *gaps], *sizes)

    external = None
    if gain is None and not weight:
        external = external_regrets(times + 1, held[players:-1], held[-1])
    method = "fictitious play"
    if precision is not None:
        method = f"stochastic fictitious play, precision {precision:g}"
    if gain is not None:
        method += f", gain {gain:g}"
    return record(
        game=game,
        method=method,
        times=times + 1,
        paths=held[:players],
        last=tuple(map(_find_best_reply, tally.totals)),
        external=external,
    )


def _find_best_reply(values: Array) -> Array:
    """Return the first best action as a mixed strategy."""
    return np.asarray(np.eye(len(values))[values.argmax()])


def _choose(values: Array, precision: float | None, rng: np.random.Generator) -> int:
    if precision is None:
        return int(values.argmax())
    behind = values - values.max()
    weights = np.exp(precision * behind).cumsum()
    luck = rng.random() * weights[-1]
    return int(weights.searchsorted(luck, side="right"))


def _play(
    game: NormalForm,
    tally: _Tally,
    actions: tuple[int, ...],
    gain: float | None,
) -> None:
    """Add a round to the totals; with a gain they fade by it first, so that they stay averages."""
    kept, new = (1.0, 1.0) if gain is None else (1.0 - gain, gain)
    for i, (table, action) in enumerate(zip(game.payoffs, actions, strict=True)):
        tally.counts[i][:] *= kept
        tally.counts[i][action] += new
        tally.earned[i] += table[actions]
        against_others = table[(*actions[:i], slice(None), *actions[i + 1 :])]
        tally.totals[i][:] *= kept
        tally.totals[i][:] += new * against_others
