"""Rules by which players learn: regret matching, multiplicative weights, fictitious play, logit and
replicator dynamics.

Every rule returns a `Trajectory`: the path, its end, and how far from equilibrium it is along the
way. The gain of player i at a profile x is max_a u_i(a, x_-i) - u_i(x); a profile is a Nash
equilibrium exactly when all gains are 0. The external regret of a player after T steps is how much
more per step its best fixed action would have earned against what the others did; it tends to 0
for the learning rules with a guarantee, in every game.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from sys import modules
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.arrays import Ints
from bestresponse.theory.engines import ChosenEngine, Engine, choose_engine
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, as_profile
from bestresponse.theory.seeds import Seed, as_generator

Run = Callable[[Ints, Array], None]
"""Go on by each of the numbers of steps given, and write the state after each into the rows
given."""
# Steps that plain code takes in about the time it takes to load the compiled loop.
_WORTH_COMPILING = 100_000
_WORTH_CALLING = 1_000  # steps, once it is loaded


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """A path through the mixed profiles of a game.

    `strategies[i][r]` is player i's recorded strategy at `times[r]`, and `gains[r, i]` what it
    could gain there by deviating. For learning rules the recorded strategies are time averages,
    `last` is what is played at the end, and `external[r, i]` the average external regret so far.
    """

    method: str
    engine: str
    times: Array
    strategies: tuple[Array, ...]
    gains: Array
    last: Profile
    external: Array | None = None

    @property
    def final(self) -> Profile:
        """The recorded strategies at the end."""
        return tuple(path[-1] for path in self.strategies)

    @property
    def gap(self) -> float:
        """The certificate: the final profile is an equilibrium up to this gain of any one
        player."""
        return float(self.gains[-1].max())

    @property
    def curve(self) -> Array:
        """The largest gain of any player at every recorded time."""
        return np.asarray(self.gains.max(axis=1))

    def __len__(self) -> int:
        return len(self.times)


def fitness(game: NormalForm) -> Callable[[Sequence[Array]], list[Array]]:
    """A function from a profile to what each action of each player earns against it.

    Leading axes of the strategies are carried along, so a whole path can be evaluated at once.
    """
    payoffs = game.payoffs
    if game.num_players == 2:
        row = np.ascontiguousarray(payoffs[0].T)
        col = np.ascontiguousarray(payoffs[1])
        return lambda profile: [profile[1] @ row, profile[0] @ col]
    if game.num_players == 1:
        return lambda profile: [np.broadcast_to(payoffs[0], profile[0].shape)]

    letters = "abcdefghijklmnopqrstuvwxy"[: game.num_players]
    formulas = []
    for own in letters:
        mixes = ["..." + other for other in letters if other != own]
        operands = ",".join([letters, *mixes])
        formulas.append(f"{operands}->...{own}")

    def values(profile: Sequence[Array]) -> list[Array]:
        earned = []
        for i, formula in enumerate(formulas):
            others = [mix for j, mix in enumerate(profile) if j != i]
            earned.append(np.asarray(np.einsum(formula, payoffs[i], *others)))
        return earned

    return values


def record(
    game: NormalForm,
    method: str,
    engine: str,
    times: Array,
    paths: Sequence[Array],
    last: Profile,
    external: Array | None = None,
) -> Trajectory:
    """Return the trajectory along `paths`, one array of weights for each player, with all gains at
    every point."""
    totals = [path.sum(axis=1, keepdims=True) for path in paths]
    strategies = tuple(path / total for path, total in zip(paths, totals, strict=True))
    values = fitness(game)(strategies)

    gains = []
    for value, mix in zip(values, strategies, strict=True):
        earned = (value * mix).sum(axis=1)
        gains.append(value.max(axis=1) - earned)

    return Trajectory(
        method=method,
        engine=engine,
        times=times,
        strategies=strategies,
        gains=np.stack(gains, axis=1),
        last=last,
        external=external,
    )


def allot(*sizes: int) -> tuple[Array, list[Array]]:
    """One array of zeros for the whole state of a process, and views of its parts."""
    state = np.zeros(sum(sizes))
    return state, np.split(state, np.cumsum(sizes)[:-1])


def stepwise(advance: Callable[[int], None], state: Array) -> Run:
    """Return a run that calls `advance` from one record to the next."""

    def run(gaps: Ints, seen: Array) -> None:
        for at, gap in enumerate(gaps):
            advance(int(gap))
            seen[at] = state

    return run


def walk(run: Run, gaps: Iterable[int], *sizes: int) -> tuple[Array, list[Array]]:
    """Numbers of steps at the records, and what the parts of the state (of these sizes) were
    then."""
    counts = np.fromiter(gaps, dtype=np.int64)
    seen = np.empty((len(counts), sum(sizes)))
    run(counts, seen)
    return np.cumsum(counts, dtype=np.float64), np.split(seen, np.cumsum(sizes)[:-1], axis=1)


def external_regrets(times: Array, totals: Sequence[Array], earned: Array) -> Array:
    """Average external regrets from what each action would have earned in total and what was
    earned."""
    best = np.stack([total.max(axis=1) for total in totals], axis=1)
    return np.asarray((best - earned) / times[:, None])


def space_records(steps: int, stride: int | None) -> Iterator[int]:
    """Say how many steps lie between records: `stride`, by default so that there are about 1000,
    and the end.

    >>> list(space_records(7, 3))
    [3, 3, 1]
    """
    if steps < 1:
        raise UsageError(f"steps: expected at least 1, got {steps}")
    every = max(1, steps // 1000) if stride is None else stride
    if every < 1:
        raise UsageError(f"stride: expected at least 1, got {every}")

    whole, rest = divmod(steps, every)
    yield from [every] * whole
    if rest:
        yield rest


def choose_loop(engine: Engine, game: NormalForm, steps: int) -> ChosenEngine:
    """Choose the compiled loop where there are two players and the run is long enough to pay for
    loading it."""
    if engine == "numba" and game.num_players != 2:
        raise UsageError(
            f"engine 'numba' needs two players, the game has {game.num_players}; use engine='numpy'"
        )
    worth = _WORTH_CALLING if "numba" in modules else _WORTH_COMPILING
    pays = steps >= worth and game.num_players == 2
    return choose_engine(engine, pays=pays)


def start_or_uniform(game: NormalForm, start: Sequence[ArrayLike] | None) -> Profile:
    """`start` as a profile of `game`, or uniform play."""
    if start is not None:
        return as_profile(game, start)
    return tuple(_find_uniform(actions) for actions in game.shape)


def _find_uniform(actions: int) -> Array:
    return np.full(actions, 1.0 / actions)


def two_matrices(game: NormalForm) -> tuple[Array, Array]:
    """Return the payoffs of a bimatrix game for compiled loops: both matrices with the opponent's
    action first."""
    return np.ascontiguousarray(game.payoffs[0].T), np.ascontiguousarray(game.payoffs[1])


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
        return weights / whole if whole > 0 else _find_uniform(len(weights))

    def advance(most: int) -> None:
        for time in islice(rounds, most):
            profile = [choose(i) for i in range(players)]
            for i, value in enumerate(values(profile)):
                got = profile[i] @ value
                earned[i] += got
                totals[i] += value
                regrets = clipped[i] + value - got
                clipped[i][:] = np.maximum(regrets, 0.0)
                averages[i] += (time if linear else 1) * profile[i]

    gaps = space_records(steps, stride)
    times, held = walk(stepwise(advance, state), gaps, *sizes)
    return record(
        game=game,
        method=method,
        engine="numpy",
        times=times,
        paths=held[:players],
        last=tuple(choose(i) for i in range(players)),
        external=external_regrets(times, held[players : 2 * players], held[-1]),
    )


def _find_rounding(game: NormalForm) -> list[float]:
    """Say for each player which differences between expected payoffs may be rounding, and decide
    nothing."""
    largest = [np.abs(table).max() for table in game.payoffs]
    return [1e-12 * float(payoff) for payoff in largest]


def regret_matching(
    game: NormalForm, *, steps: int = 10_000, plus: bool = False, stride: int | None = None
) -> Trajectory:
    """Play each action in proportion to how much one regrets not having played it.

    Hart & Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica
    68, 2000 (here with external regrets). Average external regrets vanish at rate 1/sqrt(steps) in
    every game; in two-player zero-sum games the average strategies therefore approach equilibrium.

    `plus` chooses regret matching+, which never lets a regret fall below zero and gives step t the
    weight t in the average: Tammelin, "Solving large imperfect information games using CFR+", 2014.
    """
    limits = _find_rounding(game)

    def weigh(i: int, total: Array, kept: Array, got: float) -> Array:
        regrets = kept if plus else total - got
        return np.where(regrets > limits[i], regrets, 0.0)

    method = "regret matching+" if plus else "regret matching"
    return _learn(game, weigh, method, steps=steps, stride=stride, linear=plus)


def multiplicative_weights(
    game: NormalForm, *, steps: int = 10_000, rate: float | None = None, stride: int | None = None
) -> Trajectory:
    """Let each action's weight grow exponentially with what it would have earned (Hedge).

    Freund & Schapire, "Adaptive game playing using multiplicative weights", Games and Economic
    Behavior 29, 1999. `rate` multiplies total payoffs in the exponent. With the default rate
    sqrt(8 ln(actions) / steps) / (range of the player's payoffs), nobody's average external regret
    after the last step exceeds range * sqrt(ln(actions) / (2 steps)).
    """
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
    game: NormalForm,
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
    times, paths = walk(stepwise(advance, state), gaps, *game.shape)
    return record(
        game=game,
        method=f"logit dynamics, precision {precision:g}",
        engine="numpy",
        times=size * times,
        paths=paths,
        last=_find_end(paths),
    )


def _find_end(paths: Sequence[Array]) -> Profile:
    return tuple(path[-1] for path in paths)


@dataclass(frozen=True, eq=False, slots=True)
class _Tally:
    """Running totals: what each action would have earned, how often it was played, what was
    earned."""

    totals: Profile
    counts: Profile
    earned: Array


def fictitious_play(
    game: NormalForm,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    weight: float = 0.0,
    gain: float | None = None,
    precision: float | None = None,
    seed: Seed = 0,
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """Let everybody play a best reply to what the others have done so far, for `steps` rounds; the
    recorded strategies are the frequencies of the actions played so far.

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

    is_plain = precision is None and gain is None
    chosen = choose_loop(engine, game, steps) if is_plain else "numpy"
    run = stepwise(advance, state)
    if chosen == "numba":
        from bestresponse.theory.dynamics.kernels import best_reply_steps

        run = partial(
            best_reply_steps, two_matrices(game), tally.totals, tally.counts, tally.earned, state
        )
    first, *gaps = space_records(steps, stride)  # the first round has been played already
    times, held = walk(run, [first - 1, *gaps], *sizes)

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
        engine=chosen,
        times=times + 1,
        paths=held[:players],
        last=tuple(_find_best_reply(total) for total in tally.totals),
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


def _play(game: NormalForm, tally: _Tally, actions: tuple[int, ...], gain: float | None) -> None:
    """Add a round to the totals; with a gain they fade by it first, so that they stay averages."""
    kept, new = (1.0, 1.0) if gain is None else (1.0 - gain, gain)
    for i, (table, action) in enumerate(zip(game.payoffs, actions, strict=True)):
        tally.counts[i][:] *= kept
        tally.counts[i][action] += new
        tally.earned[i] += table[actions]
        against_others = table[(*actions[:i], slice(None), *actions[i + 1 :])]
        tally.totals[i][:] *= kept
        tally.totals[i][:] += new * against_others


Form = Literal["euler", "rk4", "discrete"]
_EXTINCT = 1e-300  # as in `kernels`, so that both engines give the same path


def replicator(
    game: NormalForm,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    size: float = 0.01,
    form: Form = "rk4",
    one_population: bool = False,
    background: float | None = None,
    mutation: float = 0.0,
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """Let actions that earn more than average grow: take `steps` steps from `start` [default:
    uniform play], recorded every `stride` steps and at both ends.

    Continuous time (Taylor & Jonker, "Evolutionarily stable strategies and game dynamics",
    Mathematical Biosciences 40, 1978): x_a' = x_a (f_a - mean f), with f_a what action a earns
    against the others' populations. `form` "rk4" and "euler" integrate it with steps of length
    `size` (errors of order size**4 and size), at most 1 / payoff range, lest shares jump past 0.

    Discrete generations (`form` "discrete"; Maynard Smith, "Evolution and the Theory of Games",
    1982): x_a <- x_a (b + f_a) / (b + mean f), b the `background` fitness (by default none; where a
    player has negative payoffs, just enough to make them at least 1).

    With `one_population` the game must be symmetric and plays against itself; `start` then holds
    one strategy for both players. Otherwise every player has a population of its own. Interior rest
    points are exactly the interior equilibria. Shares below 1e-300 become 0.

    `mutation` is the share m of every action's offspring that turns into one of the other actions,
    all alike: x_a' = sum_b x_b f_b q_ba - x_a mean f with q_bb = 1 - m (Hadeler, "Stable
    polymorphisms in a selection model with mutation", SIAM Journal on Applied Mathematics 41,
    1981). Payoffs are then fitnesses, which must not be negative. The loop is compiled in
    continuous time without mutation only.
    """
    _check_replicator(game, size, form, one_population=one_population, mutation=mutation)
    plain = bool(mutation) or form == "discrete"
    if plain and engine == "numba":
        raise UsageError(
            "the loop is compiled neither for generations nor with mutation; use engine='numpy'"
        )
    if start is not None and one_population:
        start = [start[0], start[0]]
    state, parts = allot(*game.shape)
    state[:] = np.concatenate(start_or_uniform(game, start))

    chosen = "numpy" if plain else choose_loop(engine, game, steps)
    if chosen == "numba":
        run = _compile_shares(game, parts, (size, form == "rk4", one_population))
    else:
        growth = _Growth(
            values=fitness(_add_background(game, background) if form == "discrete" else game),
            form=form,
            size=size,
            single=one_population,
            mutation=mutation,
        )
        run = stepwise(partial(growth.advance, parts), state)

    times, paths = walk(run, chain([0], space_records(steps, stride)), *game.shape)
    unit = 1.0 if form == "discrete" else size
    method = f"replicator, {form}"
    if mutation:
        method += f", mutation {mutation:g}"
    return record(
        game=game,
        method=method,
        engine=chosen,
        times=unit * times,
        paths=paths,
        last=_find_end(paths),
    )


def _check_replicator(
    game: NormalForm, size: float, form: Form, one_population: bool, mutation: float
) -> None:
    if form not in get_args(Form):
        raise UsageError(f"form: expected one of {', '.join(get_args(Form))}, got {form!r}")
    if not 0 < size < np.inf:
        raise UsageError(f"size: expected a positive step, got {size:g}")
    ranges = [float(np.ptp(table)) for table in game.payoffs]
    spread = max(ranges)
    if form != "discrete" and size * spread > 1.0:
        raise UsageError(
            f"size: payoffs that range over {spread:g} need steps of at most {1 / spread:g}, got"
            f" {size:g}"
        )
    if one_population:
        check_one_population(game)
    if not 0 <= mutation <= 1:
        raise UsageError(f"mutation: expected a share from 0 to 1, got {mutation:g}")
    lowest = game.payoffs.min()
    if mutation and form != "discrete" and lowest < 0:
        raise UsageError(
            f"mutation: payoffs are fitnesses and must be at least 0, the lowest is {lowest:g}"
        )


def _mutate(offspring: Array, mutation: float) -> Array:
    """Spread a share of every action's offspring over the other actions."""
    if not mutation or len(offspring) == 1:
        return offspring
    moved = mutation * offspring / (len(offspring) - 1)
    kept = offspring * (1.0 - mutation)
    return np.asarray(kept + moved.sum() - moved)


def _add_background(game: NormalForm, background: float | None) -> NormalForm:
    """Turn payoffs into fitnesses, none of them negative."""
    lowest = [float(table.min()) for table in game.payoffs]
    if background is not None:
        if background + min(lowest) <= 0:
            raise UsageError(
                f"background: expected more than {0 - min(lowest):g}, so that payoffs are positive;"
                f" got {background:g}"
            )
        return NormalForm(game.payoffs + background)

    shifted = []
    for table, low in zip(game.payoffs, lowest, strict=True):
        shifted.append(table if low >= 0 else (table - low) + 1.0)
    return NormalForm(np.stack(shifted))


def _compile_shares(game: NormalForm, start: Sequence[Array], how: tuple[float, bool, bool]) -> Run:
    from bestresponse.theory.dynamics.kernels import flow

    rows, columns = game.shape
    # Rounded up to what the compiled loops handle at once; the actions added have no share and earn
    # 0.
    widths = [_round_up(rows, 16), _round_up(columns, 16)]
    row = np.zeros((_round_up(columns, 4), widths[0]))
    col = np.zeros((_round_up(rows, 4), widths[1]))
    for wide, matrix in zip((row, col), two_matrices(game), strict=True):
        wide[: matrix.shape[0], : matrix.shape[1]] = matrix
    state, (x, y) = allot(*widths)
    for wide, mix in zip((x, y), start, strict=True):
        wide[: len(mix)] = mix

    def run(gaps: Ints, seen: Array) -> None:
        raw = np.empty((len(gaps), len(state)))
        flow(payoffs=(row, col), shares=(x, y), how=how, gaps=gaps, state=state, seen=raw)
        seen[:, :rows] = raw[:, :rows]
        seen[:, rows:] = raw[:, widths[0] : widths[0] + columns]

    return run


def _round_up(count: int, multiple: int) -> int:
    return count if count <= 8 else count + -count % multiple


@dataclass(frozen=True, eq=False, slots=True)
class _Growth:
    """A step of the replicator dynamics in plain code; `values` says what every action earns."""

    values: Callable[[Sequence[Array]], list[Array]]
    form: Form
    size: float
    single: bool
    mutation: float

    def advance(self, shares: Sequence[Array], steps: int) -> None:
        """Change the shares of every population in place; the second is the first where there is
        one population."""
        populations = shares[:1] if self.single else shares
        for _ in range(steps):
            moved = self._take_step(populations)
            for mix, new in zip(populations, moved, strict=True):
                mix[:] = new
        if self.single:
            shares[1][:] = shares[0]

    def _take_step(self, profile: Sequence[Array]) -> list[Array]:
        if self.form == "discrete":
            return self._breed(profile)
        slopes = self._find_slopes(profile)
        if self.form == "rk4":
            slopes = self._average_slopes(profile, slopes)

        # Probabilities again after rounding: what is below _EXTINCT is gone, the rest sums to 1.
        following = []
        for mix in _move_along(profile, slopes, self.size):
            clipped = np.where(mix > _EXTINCT, mix, 0.0)
            following.append(clipped / clipped.sum())
        return following

    def _find_earnings(self, profile: Sequence[Array]) -> list[Array]:
        """Return what the actions of every population earn."""
        if self.single:
            return self.values([profile[0], profile[0]])[:1]
        return self.values(profile)

    def _breed(self, profile: Sequence[Array]) -> list[Array]:
        """Return the shares in the next generation."""
        following = []
        for mix, value in zip(profile, self._find_earnings(profile), strict=True):
            grown = _mutate(mix * value, self.mutation)
            total = grown.sum()
            # Where nobody has offspring, as where all earn 0, the shares stay.
            shares = grown / total if total > 0 else mix
            following.append(np.where(shares > _EXTINCT, shares, 0.0))
        return following

    def _find_slopes(self, profile: Sequence[Array]) -> list[Array]:
        """Return how fast every share grows in continuous time."""
        slopes = []
        for mix, value in zip(profile, self._find_earnings(profile), strict=True):
            mean = mix @ value
            if self.mutation:
                slopes.append(_mutate(mix * value, self.mutation) - mix * mean)
            else:
                slopes.append(mix * (value - mean))
        return slopes

    def _average_slopes(self, profile: Sequence[Array], first: list[Array]) -> list[Array]:
        """Return the slope that a Runge-Kutta step of order 4 follows."""
        half = self.size / 2
        second = self._find_slopes(_move_along(profile, first, half))
        third = self._find_slopes(_move_along(profile, second, half))
        fourth = self._find_slopes(_move_along(profile, third, self.size))
        averages = []
        for a, b, c, d in zip(first, second, third, fourth, strict=True):
            weighted = a + 2 * b + 2 * c + d
            averages.append(weighted / 6)
        return averages


def _move_along(profile: Sequence[Array], slopes: Sequence[Array], time: float) -> list[Array]:
    return [mix + time * slope for mix, slope in zip(profile, slopes, strict=True)]


def check_one_population(game: NormalForm) -> None:
    """Refuse a game that one population cannot play against itself."""
    if game.num_players != 2 or not np.array_equal(game.payoffs[0], game.payoffs[1].T):
        raise UsageError(
            "one_population: expected a symmetric game of two players; this one is not"
        )
