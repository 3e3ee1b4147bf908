"""Random games with properties: one function per family, and `generate` for reproducible batches.

Every family is a function `family(seed, shape, ...) -> NormalForm`, where `seed` is an integer or a
numpy generator and `shape` says how many actions each player has. `generate("family-name", count,
shape, seed, ...)` draws many at once; game k of a batch depends only on (seed, k), never on how
many games were asked for. What a family promises holds by construction, or is checked before a game
is handed out. The selection follows GAMUT (Nudelman, Wortman, Shoham & Leyton-Brown, "Run the
GAMUT", AAMAS 2004).

First come families given by how payoffs hang together (independent, opposed, shared, potential,
symmetric, correlated) or by a story (cycles, Colonel Blotto, congestion, public goods), then those
given by their equilibria (dominance solvable, unique mixed equilibrium, number of pure equilibria).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from itertools import combinations
from math import comb, prod
from typing import Concatenate, Literal, ParamSpec, get_args

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory.arrays import Ints
from bestresponse.theory.games.isomorphs import ordinal_games
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.seeds import Seed, as_generator, streams

LARGEST = 50_000_000
"""How many payoffs one game may have."""

FAMILIES: dict[str, Callable[..., Array]] = {}
"""Kebab-case name of each family and how its payoffs are drawn from a generator."""

P = ParamSpec("P")


def family(
    draw: Callable[Concatenate[np.random.Generator, P], Array],
) -> Callable[Concatenate[Seed, P], NormalForm]:
    """Register `draw` under its name and turn it into a function from a seed to a game."""
    name = draw.__name__.replace("_", "-")
    FAMILIES[name] = draw

    @wraps(draw)
    def game(seed: Seed, /, *args: P.args, **kwargs: P.kwargs) -> NormalForm:
        return NormalForm(draw(as_generator(seed), *args, **kwargs), name=name)

    return game


def check_shape(
    shape: tuple[int, ...],
    players: int | None = None,
    square_from: int | None = None,
) -> None:
    """Refuse a shape that is no shape, is of the wrong number of players, or has too many payoffs.

    With `square_from` also one in which players differ in their number of actions or have fewer
    than that.
    """
    are_counts = all(isinstance(m, int | np.integer) and m >= 1 for m in shape)
    if not shape or not are_counts:
        raise UsageError(
            f"shape: expected the number of actions of each player, such as (3, 3), got {shape!r}"
        )
    if players is not None and len(shape) != players:
        raise UsageError(f"shape: this family has {players} players, got {len(shape)} in {shape!r}")
    size = len(shape) * prod(shape)
    if size > LARGEST:
        raise TooLarge(f"shape {shape!r} has {size:.3g} payoffs; at most {LARGEST:.3g} fit")
    if square_from is None:
        return
    if len(set(shape)) != 1 or shape[0] < square_from:
        raise UsageError(
            f"shape: this family needs the same number of actions (at least {square_from}) for"
            f" every player, got {shape!r}"
        )


Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Many games of one shape.

    `payoffs[k]` is the payoff tensor of game k, `batch[k]` the game itself.
    """

    payoffs: Array
    family: str
    seed: int

    def __len__(self) -> int:
        return int(self.payoffs.shape[0])

    def __getitem__(self, k: int) -> NormalForm:
        at = range(len(self))[k]
        return NormalForm(self.payoffs[at], name=f"{self.family} {self.seed}/{at}")

    def __iter__(self) -> Iterator[NormalForm]:
        return (self[k] for k in range(len(self)))

    @property
    def row(self) -> Array:
        """The first player's payoffs, shape (count, *shape).

        They are the matrices of a batch of zero-sum games.
        """
        view = self.payoffs[:, 0]
        view.setflags(write=False)
        return view


def families() -> tuple[str, ...]:
    """The names `generate` knows, in alphabetical order."""
    return tuple(sorted(FAMILIES))


def generate(
    family: str,
    count: int,
    shape: Shape | None = None,
    seed: int = 0,
    **properties: object,
) -> Batch:
    """`count` games of `family`; game k depends only on (seed, k).

    `properties` are those of the family's function.

    >>> batch = generate("zero-sum", 1000, (3, 3), seed=7)
    >>> len(batch), batch.payoffs.shape
    (1000, (1000, 2, 3, 3))
    >>> bool((batch[3].payoffs == generate("zero-sum", 4, (3, 3), seed=7)[3].payoffs).all())
    True
    """
    if family not in FAMILIES:
        hint = f"expected one of: {', '.join(families())}"
        for close in get_close_matches(family, FAMILIES, n=1):
            hint = f"did you mean {close!r}?"
        raise UsageError(f"no family of games is called {family!r}; {hint}")
    if count < 1:
        raise UsageError(f"count: expected at least 1 game, got {count}")
    draw = FAMILIES[family]
    if shape is not None:
        properties["shape"] = tuple(shape)
    takes = tuple(signature(draw).parameters)[1:]
    for unknown in sorted(set(properties) - set(takes)):
        raise UsageError(f"family {family!r} takes {', '.join(takes)}; got {unknown}")
    payoffs = np.stack([draw(rng, **properties) for rng in streams(seed, count)])
    payoffs.setflags(write=False)
    return Batch(payoffs, family, seed)


@family
def uniform(
    rng: np.random.Generator,
    shape: Shape = (2, 2),
    low: float = 0.0,
    high: float = 1.0,
) -> Array:
    """Independent payoffs, uniform between `low` and `high`."""
    check_shape(shape)
    _check_range(low, high)
    return low + (high - low) * rng.random((len(shape), *shape))


@family
def integer(
    rng: np.random.Generator,
    shape: Shape = (2, 2),
    low: int = -10,
    high: int = 10,
) -> Array:
    """Independent whole payoffs from `low` to `high`, both included.

    Ties, and so degenerate games, do occur.
    """
    check_shape(shape)
    _check_range(low, high)
    return rng.integers(
        low,
        high,
        (len(shape), *shape),
        endpoint=True,
    ).astype(np.float64)


@family
def normal(
    rng: np.random.Generator,
    shape: Shape = (2, 2),
    mean: float = 0.0,
    deviation: float = 1.0,
) -> Array:
    """Independent normally distributed payoffs."""
    check_shape(shape)
    if deviation <= 0:
        raise UsageError(f"deviation: expected a number above 0, got {deviation:g}")
    return mean + deviation * rng.standard_normal((len(shape), *shape))


EquilibriumKind = Literal["any", "pure", "mixed"]
"""Of a zero-sum game: pure has a saddle point, an equilibrium in which nobody mixes; mixed has
none."""


@family
def zero_sum(
    rng: np.random.Generator,
    shape: Shape = (2, 2),
    low: float = -1.0,
    high: float = 1.0,
    whole: bool = False,
    equilibrium: EquilibriumKind = "any",
) -> Array:
    """Two players: uniform row payoffs (whole if `whole`), column payoffs their negatives.

    With `equilibrium` the games are those that happen to have a saddle point (pure), or none
    (mixed).
    """
    check_shape(shape, 2)
    _check_range(low, high)
    if equilibrium not in get_args(EquilibriumKind):
        raise UsageError(f"equilibrium: expected any, pure or mixed, got {equilibrium!r}")
    if equilibrium == "mixed" and min(shape) < 2:
        raise UsageError(
            "equilibrium: where one player has one action there is a saddle point, got shape"
            f" {shape!r}"
        )
    for _ in range(TRIES):
        if whole:
            row = rng.integers(
                round(low),
                round(high),
                shape,
                endpoint=True,
            ).astype(np.float64)
        else:
            row = low + (high - low) * rng.random(shape)
        if equilibrium == "pure":
            _plant_saddle_point(rng, row)
        if equilibrium != "mixed" or not has_saddle_point(row):
            return np.array([row, -row])
    raise NotCertified(
        f"no game of shape {shape!r} without a saddle point in {TRIES} tries; widen low and high"
    )


def has_saddle_point(row: Array) -> bool:
    """Return whether some row payoff is the least of its row and largest of its column.

    Row payoffs are those of the row player.

    >>> has_saddle_point(np.array([[3.0, 2.0], [1.0, 0.0]]))
    True
    >>> has_saddle_point(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    False
    """
    guaranteed = row.min(axis=1).max()
    conceded = row.max(axis=0).min()
    return bool(guaranteed == conceded)


def _plant_saddle_point(rng: np.random.Generator, row: Array) -> None:
    """Rearrange the payoffs of a drawn row and column so that they cross in a saddle point.

    In a game of independent payoffs with a saddle point at a given place, the payoffs of its column
    are the least ones of the cross, the saddle point comes next, and those of its row are the
    largest, in any order among themselves. So games occur as often as they would among drawn
    games that have a saddle point.
    """
    at = int(rng.integers(row.shape[0]))
    across = int(rng.integers(row.shape[1]))
    others = np.arange(row.shape[0]) != at
    beside = np.arange(row.shape[1]) != across
    cross = np.sort(np.concatenate([row[others, across], row[at]]))
    below = cross[: others.sum()]
    above = cross[others.sum() + 1 :]
    row[others, across] = rng.permutation(below)
    row[at, across] = cross[others.sum()]
    row[at, beside] = rng.permutation(above)


@family
def common_interest(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """All players receive the same payoff, uniform in [0, 1]."""
    check_shape(shape)
    return np.repeat(rng.random((1, *shape)), len(shape), axis=0)


@family
def potential(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """Exact potential games: u_i(a) = P(a) + d_i(a of the others).

    P and every d_i are uniform in [0, 1].

    Monderer & Shapley, "Potential games", Games and Economic Behavior 14, 1996.
    """
    check_shape(shape)
    shared = rng.random(shape)
    payoffs = []
    for i in range(len(shape)):
        of_others = (*shape[:i], 1, *shape[i + 1 :])
        payoffs.append(shared + rng.random(of_others))
    return np.stack(payoffs)


@family
def symmetric(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """A player's payoff depends on its action and how often others play each action."""
    check_shape(shape, None, 1)
    table = rng.random(shape)
    actions = np.indices(shape)
    payoffs = []
    for i in range(len(shape)):
        others = np.sort(np.delete(actions, i, axis=0), axis=0)
        payoffs.append(table[(actions[i], *others)])
    return np.stack(payoffs)


@family
def covariant(rng: np.random.Generator, shape: Shape = (2, 2), rho: float = 0.0) -> Array:
    """Standard normal payoffs; in every profile those of any two players have correlation `rho`.

    rho = 1 is common interest and, for two players, rho = -1 zero-sum; n players allow no less than
    -1 / (n - 1).
    """
    check_shape(shape)
    players = len(shape)
    lowest = -1.0 / (players - 1) if players > 1 else 0.0
    if not lowest <= rho <= 1:
        raise UsageError(
            f"rho: {players} players allow correlations from {lowest:g} to 1, got {rho:g}"
        )
    independent = rng.standard_normal((players, *shape))
    # The root of (1 - rho) I + rho 11' scales the mean of the players' draws and their deviations
    # from it.
    average = independent.mean(axis=0, keepdims=True)
    deviations = np.sqrt(1 - rho) * (independent - average)
    common = 1 + (players - 1) * rho
    together = np.sqrt(max(0.0, common)) * average
    return np.asarray(deviations + together)


def _check_range(low: float, high: float) -> None:
    if not low < high:
        raise UsageError(f"low and high: expected low < high, got {low:g} and {high:g}")


@family
def cyclic(
    rng: np.random.Generator,
    shape: Shape = (3, 3),
    stakes: tuple[float, float] = (0.5, 1.5),
) -> Array:
    """Generalised rock-paper-scissors.

    Each action beats the next ones around a circle and loses to the others.

    With m actions, i beats i+1, ..., i+(m-1)//2 (modulo m); what a win is worth depends on the
    distance and is uniform in `stakes`. Zero-sum and symmetric, the value is 0 and uniform play is
    an equilibrium, for odd m in general the only one; for even m, opposite actions tie and there
    are others.
    """
    check_shape(shape, 2, 3)
    low, high = stakes
    if not 0 < low <= high:
        raise UsageError(f"stakes: expected 0 < low <= high, got {low:g} and {high:g}")
    size = shape[0]
    gains = np.zeros(size)
    reach = (size - 1) // 2
    gains[1 : reach + 1] = rng.uniform(low, high, reach)
    gains -= np.roll(gains[::-1], 1)
    own, other = np.indices(shape)
    row = gains[(other - own) % size]
    return np.stack([row, row.T])


@family
def blotto(
    rng: np.random.Generator,
    troops: tuple[int, int] = (5, 5),
    fields: int = 3,
    tilt: float = 0.0,
) -> Array:
    """Colonel Blotto: both split their troops over battlefields.

    A field goes to whoever sends more.

    An action is a division of a player's troops, in lexicographic order (see `divisions`); the
    payoff is the value of the fields won minus that of the fields lost. Field values are 1 plus
    uniform noise in [0, tilt]. Borel, "La théorie du jeu et les équations intégrales à noyau
    symétrique", C. R. Acad. Sci. 173, 1921.
    """
    if min(troops) < 0 or fields < 1 or tilt < 0:
        raise UsageError(
            f"expected troops >= 0, fields >= 1, tilt >= 0; got {troops}, {fields}, {tilt:g}"
        )
    ways = [comb(count + fields - 1, fields - 1) for count in troops]
    check_shape(tuple(ways))
    values = 1.0 + tilt * rng.random(fields)
    ours, theirs = (divisions(count, fields) for count in troops)
    row = np.sign(ours[:, None, :] - theirs[None, :, :]) @ values
    return np.stack([row, -row])


@family
def ordinal(rng: np.random.Generator) -> Array:
    """One of the 144 games of two players with two actions who rank the outcomes without ties.

    All are equally likely, and the ranks 1 to 4 are the payoffs; see `ordinal_games`.
    """
    games = ordinal_games()
    return games[int(rng.integers(len(games)))].game.payoffs.copy()


def divisions(troops: int, fields: int) -> Ints:
    """Return all ways to split `troops` over `fields`, one per row.

    >>> divisions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    slots = troops + fields - 1
    # Bars between the fields stand in some of the slots; the troops of a field lie between two.
    places = list(combinations(range(slots), fields - 1))
    bars = np.array(places, dtype=np.int64)
    edges = np.empty((len(bars), fields + 1), dtype=np.int64)
    edges[:, 0] = -1
    edges[:, 1:-1] = bars.reshape(-1, fields - 1)
    edges[:, -1] = slots
    counts: Ints = np.diff(edges, axis=1) - 1
    return counts


@family
def congestion(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """Every player picks one resource and pays its delay, which grows with its users.

    Delays start uniform in [0, 1] and grow by uniform steps in [0, 1]; they may differ between
    resources. An exact potential game: Rosenthal, "A class of games possessing pure-strategy Nash
    equilibria", Int. J. Game Theory 2, 1973.
    """
    check_shape(shape, None, 1)
    players = len(shape)
    resources = shape[0]
    delays = np.cumsum(rng.random((resources, players)), axis=1)
    choices = np.indices(shape)
    payoffs = []
    for choice in choices:
        load = (choices == choice).sum(axis=0)
        payoffs.append(-delays[choice, load - 1])
    return np.stack(payoffs)


@family
def public_goods(
    rng: np.random.Generator,
    shape: Shape = (2, 2),
    endowment: float = 1.0,
    multiplier: float | None = None,
) -> Array:
    """Linear public goods: keep what you do not give.

    What all give is multiplied and shared equally.

    Action k of m gives the share k / (m - 1) of the endowment. `multiplier` lies strictly between 1
    and the number of players (drawn uniformly if not given), so that giving nothing is dominant and
    everybody giving all is best for all.
    """
    check_shape(shape, None, 2)
    players = len(shape)
    levels = shape[0]
    drawn = rng.uniform(1.0, players) if multiplier is None else multiplier
    if players < 2 or not 1 < drawn < players:
        raise UsageError(
            f"multiplier: {players} players allow numbers strictly from 1 to {players}, got"
            f" {drawn:g}"
        )
    contributions = np.indices(shape) * (endowment / (levels - 1))
    shared = drawn / players * contributions.sum(axis=0)
    return np.asarray(endowment - contributions + shared)


TRIES = 10_000
# Of the largest singular value: nearer to singular the equilibrium would hardly be the only one.
CONDITION = 1e-3


@family
def dominance_solvable(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """Iterated strict dominance leaves one profile, which is the only equilibrium.

    An order of elimination is drawn first. Going through it backwards, each action is made worse
    than a random surviving one against everything that has survived by then. Payoffs of each player
    fill [0, 1].
    """
    check_shape(shape)
    payoffs = rng.random((len(shape), *shape))
    alive = [[int(rng.integers(m))] for m in shape]
    rest = []
    for player, (last,) in enumerate(alive):
        rest += [(player, action) for action in range(shape[player]) if action != last]
    for at in rng.permutation(len(rest)):
        player, action = rest[at]
        own = alive[player]
        better = own[int(rng.integers(len(own)))]
        before = alive[:player]
        after = alive[player + 1 :]
        against = np.ix_(*before, [action], *after)
        instead = np.ix_(*before, [better], *after)
        above = payoffs[player][instead]
        payoffs[player][against] = above - rng.uniform(0.05, 0.5, above.shape)
        own.append(action)
    return _fill_unit(payoffs)


@family
def fully_mixed(rng: np.random.Generator, shape: Shape = (2, 2), zero_sum: bool = False) -> Array:
    """Square bimatrix games whose only equilibrium is fully mixed.

    It gives every action of both players positive probability.

    With x and y in the interior and M = (I - 1x')R(I - y1') of rank m - 1, the zero-sum game M has
    value 0 and (x, y) as its only equilibrium, because an optimal strategy must solve M y = 0
    (Kaplansky, "A contribution to von Neumann's theory of games", Annals of Mathematics 46, 1945).
    Unless `zero_sum`, the columns of the first matrix and the rows of the second are shifted and
    both are scaled, which changes no best response (Moulin & Vial, "Strategically zero-sum games",
    Int. J. Game Theory 7, 1978).
    """
    check_shape(shape, 2, 2)
    core = _core(rng, shape[0])
    return np.stack([core, -core]) if zero_sum else _disguise(rng, core)


@family
def given_support(rng: np.random.Generator, shape: Shape = (3, 3), support: int = 2) -> Array:
    """Bimatrix games with one equilibrium, where both mix over exactly `support` actions.

    A fully mixed game on `support` actions each, to which actions strictly dominated by mixtures of
    these are added; rows and columns are then shuffled.
    """
    check_shape(shape, 2)
    if not 1 <= support <= min(shape):
        raise UsageError(
            f"support: expected 1 to {min(shape)} actions for shape {shape!r}, got {support}"
        )
    row = rng.random(shape)
    col = rng.random(shape)
    if support > 1:
        mixed = _disguise(rng, _core(rng, support))
        row[:support, :support], col[:support, :support] = _fill_unit(mixed)
    row[support:] = _dominated(rng, row[:support], shape[0] - support)
    col[:, support:] = _dominated(rng, col[:, :support].T, shape[1] - support).T
    rows = rng.permutation(shape[0])
    cols = rng.permutation(shape[1])
    shuffled = np.ix_(rows, cols)
    return np.stack([row[shuffled], col[shuffled]])


@family
def pure_equilibria(rng: np.random.Generator, shape: Shape = (2, 2), number: int = 1) -> Array:
    """Games with exactly `number` pure equilibria, payoffs uniform in [0, 1].

    For two players the best responses are drawn first so that exactly `number` pairs answer each
    other. For more players games are drawn until one fits; `NotCertified` after 10,000 tries.
    """
    check_shape(shape)
    most = int(np.prod(shape)) // max(shape)
    choosing = sum(m > 1 for m in shape)
    least = 1 if choosing < 2 else 0
    if not least <= number <= most:
        raise UsageError(
            f"number: shape {shape!r} allows {least} to {most} pure equilibria, got {number}"
        )
    if len(shape) == 2:
        return _with_best_responses(rng, shape, number)
    for _ in range(TRIES):
        payoffs = rng.random((len(shape), *shape))
        best = [table == table.max(axis=i, keepdims=True) for i, table in enumerate(payoffs)]
        if np.logical_and.reduce(best).sum() == number:
            return payoffs
    raise NotCertified(
        f"no game of shape {shape!r} with {number} pure equilibria in {TRIES} tries; ask for fewer"
    )


def _with_best_responses(rng: np.random.Generator, shape: Shape, count: int) -> Array:
    """Uniform payoffs whose maxima are moved to best responses.

    Column and row maxima are moved, with `count` mutual pairs.
    """
    to_row, to_col = _answers(rng, shape, count)
    row = rng.random(shape)
    col = rng.random(shape)
    for lines, answers in ((row.T, to_col), (col, to_row)):
        for line, best in zip(lines, answers, strict=True):
            top = int(line.argmax())
            line[best], line[top] = line[top], line[best]
    return np.stack([row, col])


def _answers(rng: np.random.Generator, shape: Shape, count: int) -> tuple[list[int], list[int]]:
    """The answers to every row and to every column, with `count` mutual pairs.

    The column player answers rows, and the row player columns.
    """
    rows = rng.permutation(shape[0])[:count]
    cols = rng.permutation(shape[1])[:count]
    for _ in range(TRIES):
        to_row = rng.integers(shape[1], size=shape[0])
        to_row[rows] = cols
        # The rows that may answer a column: those that it does not answer itself.
        options = [np.flatnonzero(to_row != col) for col in range(shape[1])]
        for row, col in zip(rows, cols, strict=True):
            options[col] = np.array([row])
        if min(map(len, options)) == 0:
            continue
        is_mutual = np.isin(np.arange(shape[1]), cols)
        to_col = []
        for rows_left, mutual in zip(options, is_mutual, strict=True):
            answer = rows_left[0] if mutual else rng.choice(rows_left)
            to_col.append(int(answer))
        return to_row.tolist(), to_col
    raise NotCertified(
        f"no best responses with {count} pure equilibria found for shape {shape!r} in {TRIES} tries"
    )


def _core(rng: np.random.Generator, size: int) -> Array:
    """A zero-sum matrix of value 0 whose only equilibrium is fully mixed."""
    for _ in range(TRIES):
        x = 0.3 / size + 0.7 * rng.dirichlet(np.ones(size))
        y = 0.3 / size + 0.7 * rng.dirichlet(np.ones(size))
        drawn = rng.uniform(-1, 1, (size, size))
        core: Array = (np.eye(size) - x) @ drawn @ (np.eye(size) - y[:, None])
        spread = np.linalg.svd(core, compute_uv=False)
        if spread[-2] > CONDITION * spread[0]:
            return np.asarray(core / np.abs(core).max())
    raise NotCertified(
        f"no well-conditioned fully mixed game of size {size} in {TRIES} tries; ask for fewer"
        " actions"
    )


def _disguise(rng: np.random.Generator, core: Array) -> Array:
    size = len(core)
    scale = rng.uniform(0.5, 1.5, 2)
    row = scale[0] * core + rng.random((1, size))
    col = -scale[1] * core + rng.random((size, 1))
    return np.stack([row, col])


def _dominated(rng: np.random.Generator, better: Array, count: int) -> Array:
    """`count` rows, each strictly below a random mixture of the rows of `better`."""
    weights = rng.dirichlet(np.ones(len(better)), count)
    return weights @ better - rng.uniform(0.05, 0.5, (count, better.shape[1]))


def _fill_unit(payoffs: Array) -> Array:
    """Each player's payoffs mapped to [0, 1] by a positive affine map."""
    axes = tuple(range(1, payoffs.ndim))
    low = payoffs.min(axis=axes, keepdims=True)
    high = payoffs.max(axis=axes, keepdims=True)
    ranges = np.where(high > low, high - low, 1.0)
    return np.asarray((payoffs - low) / ranges)


__all__ = [
    "FAMILIES",
    "Batch",
    "families",
    "generate",
    *(name.replace("-", "_") for name in sorted(FAMILIES)),
]
