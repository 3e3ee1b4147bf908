"""All extreme equilibria of a bimatrix game.

They are the pairs of vertices of the best-response polytopes with all labels.

Every equilibrium of a nondegenerate game is extreme; in a degenerate game the equilibria are the
convex combinations of extreme ones within maximal Nash subsets (Winkels 1979; Avis, Rosenberg,
Savani and von Stengel 2010).
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import comb, inf
from operator import or_
from threading import Thread

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.engines import Engine, choose_engine, load_kernels
from bestresponse.theory.equilibria.components import (
    Edge,
    compute_indices,
    find_maximal_subsets,
    group_connected,
)
from bestresponse.theory.equilibria.integer import Vertex, vertices, whole_matrix
from bestresponse.theory.equilibria.result import Component, Equilibrium, Fractions, NashSubset
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.games.regrets import Profile

_MEMORY_LIMIT = 2**30
_HOPELESS = 2**33  # vertices at most; games of this size seldom have a hundredth of them
_LONG = 2**20
"""Vertices from which the enumeration may take a second, and can be interrupted."""
_TOO_MANY = -2  # `vertex_kernels.TOO_MANY`, which is not imported here as that would load numba
_INTEGER_BYTES = 80
_MASK_BITS = 52
"""One bit per label: masks are next to strategies in tables of floats, which hold 53 bits."""
_KERNELS = "bestresponse.theory.equilibria.extreme_kernels"
# With integers of any length a game takes about so many seconds, and so many more for every number
# to compute; loading the compiled loops takes a second.
_GAME_SECONDS = 1e-3
_NUMBER_SECONDS = 3e-7
_LOADING_SECONDS = 1.0
_REGRET_LIMIT = 1e-9  # of the payoff range; an answer with more is computed again in whole numbers
EXACT_VERTICES = 1500
"""Integers of any length take a fraction of a second up to so many, as they do up to about 8x8."""
Seen = tuple[int, float, Array]
"""What the compiled enumeration saw, as `extreme_kernels.extreme_pairs` gives it."""
_COMPILED = ("auto", "numba")


@dataclass(frozen=True, slots=True)
class _Compiled:
    """The compiled enumeration for one size of games; `is_long` says that it may take a second."""

    kernel: Callable[[Array], Seen]
    is_long: bool

    def enumerate(self, payoffs: Array, deadline: Deadline) -> Seen:
        """See all vertices; NotCertified where that takes longer than the `deadline`."""
        if self.is_long:
            return _call_in_thread(self.kernel, payoffs, deadline)
        return self.kernel(payoffs)


_READY: dict[tuple[int, ...], _Compiled] = {}
"""The compiled enumeration, for the shapes of payoffs it was found to fit."""


@dataclass(frozen=True, eq=False)
class Extremes:
    """The extreme equilibria of a game, and what follows from them.

    Pure ones come first, then by size of support. `strategies` has one of them a row, x beside y,
    and `edges` the numbers of both vertices: those with the same first (second) number have the
    same x (y). `bases` has both vertices and the nonbasic variables of x's polytope, as bits, of
    every equilibrium of the perturbed game, which is perturbed lexicographically and hence
    nondegenerate. `regret` is the largest regret of any of them, as a share of the player's payoff
    range. Where integers of any length were used, `points` has both strategies, unscaled.
    """

    game: NormalForm
    strategies: Array
    edges: list[Edge]
    bases: Sequence[Sequence[int]]
    regret: float
    degenerate: bool = False
    points: Sequence[tuple[tuple[int, ...], tuple[int, ...]]] | None = None

    @property
    def x(self) -> Array:
        """The row player's strategies, one a row."""
        return self.strategies[:, : self.game.shape[0]]

    @property
    def y(self) -> Array:
        """The column player's strategies, one a row."""
        return self.strategies[:, self.game.shape[0] :]

    @property
    def in_integers(self) -> bool:
        """Whether integers of any length were used.

        Payoffs were rounded to 14 digits for this unless `exact`.
        """
        return self.points is not None

    @property
    def exact(self) -> bool:
        """Whether payoffs are known exactly and were never rounded."""
        return self.in_integers and self.game.is_exact

    @property
    def method(self) -> str:
        """How they were found, in words."""
        if self.exact:
            return "vertex enumeration, exact"
        if self.in_integers:
            return "vertex enumeration, to 1e-12"
        return "vertex enumeration, floating point"

    @cached_property
    def indices(self) -> dict[Edge, int]:
        """The indices of the perturbed game's equilibria, by the extreme one they are near."""
        return compute_indices(self.game, self.bases, self.in_integers)

    @cached_property
    def parts(self) -> list[list[Edge]]:
        """The edges of each component, both in reading order."""
        return group_connected(self.edges) if self.degenerate else [[edge] for edge in self.edges]

    @cached_property
    def isolated(self) -> frozenset[Edge]:
        """The equilibria that are components of their own."""
        alone = [part[0] for part in self.parts if len(part) == 1]
        return frozenset(alone)

    def find_degenerate(self) -> bool:
        """Return whether some strategy has too many best replies.

        A strategy of actions that are never best replies counts too.

        The enumeration leaves those actions out, and larger games are not looked through a second
        time for them.
        """
        m, n = self.game.shape
        is_large = most_vertices(m, m + n) > EXACT_VERTICES
        if self.degenerate or is_large:
            return self.degenerate
        corners = vertices(_turn(whole_matrix(self.game, 1), range(m)))
        return any(vertex.is_degenerate for vertex in corners)

    def find_strategies(self, number: int) -> Profile:
        """Give the mixed strategy of every player."""
        row = self.strategies[number]
        m, _ = self.game.shape
        return row[:m], row[m:]

    def find_index(self, number: int) -> int | None:
        """Compute the index, or None where the equilibrium is not isolated."""
        edge = self.edges[number]
        return self.indices.get(edge, 0) if edge in self.isolated else None

    def find_continuum(self, number: int) -> bool:
        """Say whether the equilibrium is one of a continuum."""
        return self.edges[number] not in self.isolated

    def find_fractions(self, number: int) -> Fractions | None:
        """Give the strategies as fractions, or None where floating point was used."""
        if self.points is None or not self.game.is_exact:
            return None
        strategies = []
        for weights in self.points[number]:
            total = sum(weights)
            shares = [Fraction(weight, total) for weight in weights]
            strategies.append(tuple(shares))
        return tuple(strategies)

    def build_components(self, equilibria: tuple[Equilibrium, ...]) -> tuple[Component, ...]:
        """Group the equilibria into connected components."""
        by_edge = dict(zip(self.edges, equilibria, strict=True))
        components = []
        for part in self.parts:
            x = {k: by_edge[k, h].strategies[0] for k, h in part}
            y = {h: by_edge[k, h].strategies[1] for k, h in part}
            subsets = []
            for xs, ys in find_maximal_subsets(part):
                rows = np.stack([x[k] for k in xs])
                columns = np.stack([y[h] for h in ys])
                subsets.append(NashSubset(rows, columns))
            index = sum(self.indices.get(edge, 0) for edge in part)
            members = tuple(by_edge[edge] for edge in part)
            components.append(Component(members, tuple(subsets), index))
        return tuple(components)


def extreme_equilibria(
    game: GameLike,
    *,
    exact: bool = False,
    engine: Engine = "auto",
    deadline: Deadline = NEVER,
) -> Extremes:
    """Find all extreme equilibria of a two-player game, each certified by its regret.

    Two enumerations give the same answer. With integers of any length: where `exact` asks for it,
    and with the engine "numpy". Compiled: in floating point, and any comparison close to a tie
    makes it start again with integers. "auto" compiles once the games solved so far repay it.
    Raises TooLarge when the polytopes have more vertices than fit into memory, or are bound to, and
    NotCertified where they take longer than the `deadline`: `lemke_howson` finds one equilibrium of
    such a game.

    >>> battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> extreme_equilibria(battle).x.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.667, 0.333]]
    """
    game = as_normal_form(game)
    require_two_players(game, "extreme_equilibria")
    choose_engine(engine, pays=False)  # refuses one that is unknown or not installed
    compiled = None if exact else _find_kernel(game, engine)
    if compiled is None:
        return _enumerate_in_integers(game, deadline)
    m, n = game.shape
    count, worst, table = compiled.enumerate(game.payoffs, deadline)
    if count == _TOO_MANY:
        raise _too_large(m, n, "has more than 67 million vertices, or 1 GiB of them")
    # A nondegenerate game has an odd number of equilibria.
    if count % 2 == 0 or count < 0 or worst > _REGRET_LIMIT:
        return _enumerate_in_integers(game, deadline)
    if count > 1:
        sizes = np.count_nonzero(table[:, : m + n], axis=1)
        table = table[np.lexsort((*-table[:, m + n - 1 :: -1].T, sizes))]
    bases = table[:, m + n :].astype(np.int64)
    edges = [(k, h) for k, h, _ in bases.tolist()]
    return Extremes(game, table[:, : m + n], edges, bases.tolist(), worst)


def require_two_players(game: NormalForm, what: str) -> None:
    """Refuse a game with another number of players; `what` is what needs two."""
    if game.num_players != 2:
        raise InvalidGame(f"{what}: expected a game of two players, got one of {game.num_players}")


def most_vertices(dimension: int, facets: int) -> int:
    """Return the largest number of vertices a polytope can have.

    The number is that of the upper bound theorem (McMullen 1970).

    >>> most_vertices(6, 12)
    112
    """
    half = dimension // 2
    rest = (dimension + 1) // 2
    first = comb(facets - rest, half)
    second = comb(facets - half - 1, rest - 1)
    return first + second


def _format_count(count: int) -> str:
    if count < 10**12:
        return f"{count:,}"
    digits = len(str(count))
    return f"about 10^{digits - 1}"


def _too_large(m: int, n: int, why: str) -> TooLarge:
    return TooLarge(
        f"a {m}x{n} game {why}; lemke_howson finds one equilibrium, pure_nash the pure ones"
    )


def _find_kernel(game: NormalForm, engine: Engine) -> _Compiled | None:
    """Find the compiled enumeration, or None if there is none to use.

    It is None if it does not exist, does not fit or would not pay.
    """
    ready = _READY.get(game.payoffs.shape)
    if ready is not None and engine in _COMPILED:
        return ready
    m, n = game.shape
    most = most_vertices(m, m + n) + most_vertices(n, m + n)
    numbers = min(most * (m + n) * m * n, 10**9)
    seconds = _GAME_SECONDS + _NUMBER_SECONDS * numbers
    kernels = load_kernels(_KERNELS, engine, seconds, _LOADING_SECONDS)
    if kernels is None or m + n > _MASK_BITS:
        return None
    if most > _HOPELESS:
        raise _too_large(m, n, f"may have {_format_count(most)} vertices to enumerate")
    compiled = _Compiled(kernels.extreme_pairs, is_long=most > _LONG)
    _READY[game.payoffs.shape] = compiled
    return compiled


def _call_in_thread(kernel: Callable[[Array], Seen], payoffs: Array, deadline: Deadline) -> Seen:
    """Call compiled code where neither Ctrl-C nor the `deadline` need wait for its end."""
    seen: list[Seen] = []

    def work() -> None:
        with suppress(MemoryError):
            seen.append(kernel(payoffs))

    thread = Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        # One that is left alone ends by itself, at the latest when its memory is full.
        deadline.check("all vertices of the best-response polytopes")
        thread.join(None if deadline.stop == inf else deadline.left)
    if not seen:
        raise _too_large(
            payoffs.shape[1],
            payoffs.shape[2],
            "has more vertices than fit into memory",
        )
    return seen[0]


@dataclass(frozen=True, slots=True)
class _Corners:
    """The vertices of the best-response polytope of one player.

    Of vertices that are the same point under several bases the first one stands for all: `ids` has
    its number for each vertex, -1 for the origin.
    """

    vertices: list[Vertex]
    ids: list[int]

    def find_point(self, number: int) -> tuple[int, ...]:
        """Give the point of a vertex, unscaled."""
        return self.vertices[number].point

    @property
    def distinct(self) -> list[int]:
        """The numbers of the first vertex of every point but the origin."""
        return [number for number, first in enumerate(self.ids) if first == number]


def _enumerate_in_integers(game: NormalForm, deadline: Deadline) -> Extremes:
    """Enumerate the vertices of both polytopes in integers of any length, and pair them."""
    m, n = game.shape
    _check_memory(m, n)
    of_x, of_y = _find_corners(game, deadline)
    all_labels = (1 << (m + n)) - 1

    pairs = []
    zeros_of_y = [(h, of_y.vertices[h].zeros) for h in of_y.distinct]
    for k in of_x.distinct:
        zeros = of_x.vertices[k].zeros
        pairs += [(k, h) for h, others in zeros_of_y if zeros | others == all_labels]
    pairs.sort(key=lambda pair: _reading_order(of_x.find_point(pair[0]), of_y.find_point(pair[1])))
    points = [(of_x.find_point(k), of_y.find_point(h)) for k, h in pairs]

    bases = []
    by_basis = {vertex.basis: h for h, vertex in enumerate(of_y.vertices) if h}
    for k, vertex in enumerate(of_x.vertices):
        partner = by_basis.get(all_labels ^ vertex.basis)
        if partner is not None:
            bases.append((of_x.ids[k], of_y.ids[partner], vertex.basis))

    x = _make_strategies([point for point, _ in points])
    y = _make_strategies([point for _, point in points])
    corners = (*of_x.vertices, *of_y.vertices)
    return Extremes(
        game=game,
        strategies=np.hstack([x, y]),
        edges=pairs,
        bases=bases,
        regret=find_largest_regret(game.payoffs, x, y),
        degenerate=any(vertex.is_degenerate for vertex in corners),
        points=points,
    )


def _check_memory(m: int, n: int) -> None:
    """Refuse a game whose vertices may not fit into memory."""
    most_of_x = most_vertices(m, m + n)
    most_of_y = most_vertices(n, m + n)
    numbers = most_of_x * n * (m + 1) + most_of_y * m * (n + 1)
    size = _INTEGER_BYTES * numbers
    if size > _MEMORY_LIMIT:
        count = _format_count(most_of_x + most_of_y)
        need = f"which need {_format_count(size >> 20)} MiB"
        raise _too_large(m, n, f"may have {count} vertices to enumerate, {need}")


def _find_corners(game: NormalForm, deadline: Deadline) -> tuple[_Corners, _Corners]:
    """Find the vertices of the polytopes of x and of y, with one bit per label, rows first."""
    m, n = game.shape
    row_labels = (1 << m) - 1
    column_labels = (1 << n) - 1

    def renumber(mask: int) -> int:
        """Turn variables of y's polytope, y first and slacks second, into labels."""
        return (mask & column_labels) << m | mask >> n

    of_y = [
        Vertex(renumber(vertex.basis), renumber(vertex.zeros), vertex.point)
        for vertex in vertices(whole_matrix(game, 0), deadline)
    ]
    labels = reduce(or_, [vertex.zeros for vertex in of_y])
    used = [i for i in range(m) if labels >> i & 1]
    in_used_rows = vertices(_turn(whole_matrix(game, 1), used), deadline)
    of_x = [_spread(vertex, used, m) for vertex in in_used_rows]
    return (
        _Corners(of_x, _number_by_zeros(of_x, row_labels)),
        _Corners(of_y, _number_by_zeros(of_y, column_labels << m)),
    )


def _turn(matrix: list[list[int]], rows: Iterable[int]) -> list[list[int]]:
    """Return the transpose of some rows of a matrix."""
    kept = [matrix[i] for i in rows]
    return [list(column) for column in zip(*kept, strict=True)]


def _spread(vertex: Vertex, used: list[int], m: int) -> Vertex:
    """A vertex of x's polytope over the used rows only, as one over all rows.

    The others can never be best replies.
    """
    unused = sum(1 << i for i in range(m) if i not in used)
    point = [0] * m
    for k, i in enumerate(used):
        point[i] = vertex.point[k]

    def spread(mask: int) -> int:
        labels = unused | mask >> len(used) << m
        for k, i in enumerate(used):
            labels |= (mask >> k & 1) << i
        return labels

    return Vertex(spread(vertex.basis), spread(vertex.zeros), tuple(point))


def _number_by_zeros(corners: list[Vertex], origin: int) -> list[int]:
    """Give vertices that are the same point the number of the first of them; the origin gets -1."""
    first: dict[int, int] = {}
    numbers = []
    for number, vertex in enumerate(corners):
        is_origin = vertex.zeros & origin == origin
        numbers.append(-1 if is_origin else first.setdefault(vertex.zeros, number))
    return numbers


def _reading_order(*points: tuple[int, ...]) -> tuple[int, list[Fraction]]:
    """By size of the supports, then by how much is on the first actions."""
    size = 0
    shares = []
    for point in points:
        total = sum(point)
        size += sum(weight > 0 for weight in point)
        shares += [Fraction(-weight, total) for weight in point]
    return size, shares


def _make_strategies(points: list[tuple[int, ...]]) -> Array:
    """Return points as mixed strategies, one per row."""
    rows = []
    for point in points:
        total = sum(point)
        rows.append([weight / total for weight in point])
    return np.array(rows, dtype=np.float64)


def find_largest_regret(payoffs: Array, x: Array, y: Array) -> float:
    """Return the largest regret at pairs of strategies in rows.

    It is a share of the player's payoff range.
    """
    row, column = (payoff - payoff.min() for payoff in payoffs)
    row_range = float(row.max()) or 1.0
    column_range = float(column.max()) or 1.0
    of_rows = y @ row.T
    of_columns = x @ column
    row_earned = (of_rows * x).sum(axis=1)
    column_earned = (of_columns * y).sum(axis=1)
    row_gains = (of_rows.max(axis=1) - row_earned) / row_range
    column_gains = (of_columns.max(axis=1) - column_earned) / column_range
    return float(max(row_gains.max(), column_gains.max(), 0.0))
