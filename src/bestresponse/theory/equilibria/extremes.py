"""All extreme equilibria of a bimatrix game: the pairs of vertices of the best-response polytopes
with all labels.

Every equilibrium of a nondegenerate game is extreme; in a degenerate game the equilibria are the
convex combinations of extreme ones within maximal Nash subsets (Winkels 1979; Avis, Rosenberg,
Savani and von Stengel 2010).

How the extreme equilibria of a degenerate bimatrix game hang together: Nash subsets, components and
their index.

Join a vertex x of one best-response polytope to a vertex y of the other when (x, y) is an
equilibrium. The maximal complete bipartite subgraphs are the maximal Nash subsets, the connected
parts are the components of the set of equilibria (Winkels 1979; Avis, Rosenberg, Savani and von
Stengel 2010, Economic Theory 42).
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from math import comb
from threading import Thread
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.arrays import Numbers
from bestresponse.theory.engines import Engine, load_kernels
from bestresponse.theory.equilibria.integer import Vertex, determinant_sign, vertices, whole_matrix
from bestresponse.theory.equilibria.result import Component, Equilibrium, Fractions, NashSubset
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile

_MEMORY_LIMIT = 2**30
_HOPELESS = 2**33  # vertices at most; games of this size seldom have a hundredth of them
_LONG = (
    2**20
)  # vertices at most: from here on the enumeration may take a second, and can be interrupted
_TOO_MANY = -2  # `extreme_kernels.TOO_MANY`, which is not imported here as that would load numba
_INTEGER_BYTES = 80
_MASK_BITS = (
    52  # one bit a label: masks are next to strategies in tables of floats, which hold 53 bits
)
_KERNELS = "bestresponse.theory.equilibria.extreme_kernels"
# With integers of any length a game takes about so many seconds, and so many more for every number
# to compute; loading the compiled loops takes a second.
_GAME_SECONDS = 1e-3
_NUMBER_SECONDS = 3e-7
_LOADING_SECONDS = 1.0
_REGRET_LIMIT = 1e-9  # of the payoff range; an answer with more is computed again in whole numbers
EXACT_VERTICES = 1500
"""Integers of any length take a fraction of a second up to so many, as they do up to about 8x8."""
Edge = tuple[int, int]
Seen = tuple[int, int, bool, bool, float, Numbers]
"""What an enumeration saw, as `extreme_kernels.extreme_pairs` gives it."""
_COMPILED = ("auto", "numba")


_READY: dict[
    tuple[int, ...], Callable[[Array], Seen]
] = {}  # the compiled enumeration, for the shapes of payoffs it was found to fit


def group_connected(edges: Sequence[Edge]) -> list[list[Edge]]:
    """Group the edges into connected parts, in order of first appearance.

    >>> group_connected([(0, 0), (1, 1), (0, 2)])
    [[(0, 0), (0, 2)], [(1, 1)]]
    """
    parts: list[list[Edge]] = []
    for edge in edges:
        touching = [part for part in parts if any(edge[0] == x or edge[1] == y for x, y in part)]
        parts = [part for part in parts if part not in touching] + [[*chain(*touching), edge]]
    order = {edge: k for k, edge in enumerate(edges)}
    return sorted(
        (sorted(part, key=order.__getitem__) for part in parts), key=lambda part: order[part[0]]
    )


def find_maximal_subsets(edges: Iterable[Edge]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Find all maximal complete bipartite subgraphs, as (x vertices, y vertices).

    >>> find_maximal_subsets([(0, 0), (0, 1), (1, 1)])
    [((0,), (0, 1)), ((0, 1), (1,))]
    """
    neighbours: dict[int, frozenset[int]] = {}
    for x, y in edges:
        neighbours[x] = neighbours.get(x, frozenset()) | {y}
    closed: set[frozenset[int]] = set()
    for shared in neighbours.values():
        closed |= {shared & other for other in closed} | {shared}
    closed.discard(frozenset())
    subsets = [
        (tuple(sorted(x for x, ys in neighbours.items() if shared <= ys)), shared)
        for shared in closed
    ]
    return sorted((xs, tuple(sorted(ys))) for xs, ys in subsets)


def compute_indices(
    game: NormalForm, bases: Iterable[Sequence[int]], exact: bool
) -> dict[Edge, int]:
    """Compute the index of each equilibrium of the perturbed game, summed by the extreme
    equilibrium it is close to.

    With positive payoffs and supports I, J of size k it is (-1)**(k + 1) * sign(det A_IJ * det
    B_IJ) (Shapley 1974).
    """
    m, n = game.shape
    if exact:
        matrices: list[Any] = [whole_matrix(game, player) for player in (0, 1)]
    else:
        matrices = [
            (table - table.min()) / (float(np.ptp(table)) or 1.0) + 1.0 for table in game.payoffs
        ]

    def find_sign(player: int, rows: list[int], columns: list[int]) -> int:
        part = [[matrices[player][i][j] for j in columns] for i in rows]
        return determinant_sign(part) if exact else int(np.sign(np.linalg.det(part)))

    indices: dict[Edge, int] = {}
    for x, y, mask in bases:
        rows = [i for i in range(m) if not mask >> i & 1]
        columns = [j for j in range(n) if mask >> (m + j) & 1]
        sign = (-1) ** (len(rows) + 1) * find_sign(0, rows, columns) * find_sign(1, rows, columns)
        edge = (int(x), int(y))
        indices[edge] = indices.get(edge, 0) + sign
    return indices


class Extremes:
    """The extreme equilibria of a game, and what follows from them; pure ones come first, then by
    size of support.

    `regret` is the largest regret of any of them, as a share of the player's payoff range. `exact`
    says that the payoffs are known exactly and were never rounded; `table` keeps what the
    enumeration saw, as `extreme_kernels.extreme_pairs` gives it.
    """

    def __init__(self, game: NormalForm, seen: Seen) -> None:
        self.game = game
        (
            self.num_equilibria,
            self.num_bases,
            self.exact,
            self.degenerate,
            self.regret,
            self.table,
        ) = seen

    @property
    def x(self) -> Array:
        """The row player's strategies, one a row."""
        return np.asarray(self.table[: self.num_equilibria, : self.game.shape[0]], dtype=np.float64)

    @property
    def y(self) -> Array:
        """The column player's strategies, one a row."""
        m, n = self.game.shape
        return np.asarray(self.table[: self.num_equilibria, m : m + n], dtype=np.float64)

    @property
    def method(self) -> str:
        """How they were found, in words."""
        if self.exact:
            return "vertex enumeration, exact"
        return (
            "vertex enumeration, to 1e-12"
            if self.in_integers
            else "vertex enumeration, floating point"
        )

    @property
    def in_integers(self) -> bool:
        """Whether integers of any length were used, on payoffs that were rounded to 14 digits
        unless `exact`."""
        return bool(self.table.dtype == np.object_)

    @cached_property
    def edges(self) -> list[Edge]:
        """The numbers of both vertices of every equilibrium: those with the same first (second)
        have the same x (y)."""
        return [(int(k), int(h)) for k, h in self.table[: self.num_equilibria, -2:]]

    @property
    def bases(self) -> list[tuple[int, ...]]:
        """For every equilibrium of the lexicographically perturbed, hence nondegenerate, game:
        vertex of x, vertex of y, and nonbasic variables of x's polytope as bits."""
        rows = self.table[self.num_equilibria : self.num_equilibria + self.num_bases, :3]
        return [tuple(map(int, row)) for row in rows]

    @cached_property
    def indices(self) -> dict[Edge, int]:
        """The indices of the equilibria of the perturbed game, by the extreme one they are close
        to."""
        return compute_indices(self.game, self.bases, self.exact or self.in_integers)

    @cached_property
    def parts(self) -> list[list[Edge]]:
        """The edges of each component, both in reading order."""
        return group_connected(self.edges) if self.degenerate else [[edge] for edge in self.edges]

    @cached_property
    def isolated(self) -> frozenset[Edge]:
        """The equilibria that are components of their own."""
        return frozenset(part[0] for part in self.parts if len(part) == 1)

    def find_degenerate(self) -> bool:
        """Say whether some strategy has too many best replies, one of actions that are never best
        replies included.

        The enumeration leaves those actions out, and larger games are not looked through a second
        time for them.
        """
        m, n = self.game.shape
        if self.degenerate or most_vertices(m, m + n) > EXACT_VERTICES:
            return self.degenerate
        column = whole_matrix(self.game, 1)
        corners = vertices([[column[i][j] for i in range(m)] for j in range(n)])
        return any(vertex.basis != vertex.zeros for vertex in corners)

    def find_strategies(self, number: int) -> Profile:
        """Give the mixed strategy of every player."""
        m, n = self.game.shape
        row = self.table[number]
        if row.dtype != np.float64:
            row = row[: m + n].astype(np.float64)
        return row[:m], row[m : m + n]

    def find_index(self, number: int) -> int | None:
        """Compute the index, or None where the equilibrium is not isolated."""
        edge = self.edges[number]
        return self.indices.get(edge, 0) if edge in self.isolated else None

    def find_continuum(self, number: int) -> bool:
        """Say whether the equilibrium is one of a continuum."""
        return self.edges[number] not in self.isolated

    def find_fractions(self, number: int) -> Fractions | None:
        """Give the strategies as fractions, or None where floating point was used."""
        if not self.exact:
            return None
        m, n = self.game.shape
        whole = [int(value) for value in self.table[number, m + n : 2 * (m + n)]]
        return tuple(
            tuple(Fraction(value, sum(row)) for value in row) for row in (whole[:m], whole[m:])
        )

    def build_components(self, equilibria: tuple[Equilibrium, ...]) -> tuple[Component, ...]:
        """Group the equilibria into connected components."""
        by_edge = dict(zip(self.edges, equilibria, strict=True))
        components = []
        for part in self.parts:
            x = {k: by_edge[k, h].strategies[0] for k, h in part}
            y = {h: by_edge[k, h].strategies[1] for k, h in part}
            subsets = tuple(
                NashSubset(np.stack([x[k] for k in xs]), np.stack([y[h] for h in ys]))
                for xs, ys in find_maximal_subsets(part)
            )
            index = sum(self.indices.get(edge, 0) for edge in part)
            components.append(Component(tuple(by_edge[edge] for edge in part), subsets, index))
        return tuple(components)


def extreme_equilibria(
    game: NormalForm, *, exact: bool = False, engine: Engine = "auto"
) -> Extremes:
    """Find all extreme equilibria of a two-player game, each certified by its regret.

    Two enumerations give the same answer. With integers of any length: where `exact` asks for it,
    and with the engine "numpy". Compiled: exact for small integer payoffs; others are solved in
    floating point, and any comparison close to a tie makes it start again with integers. "auto"
    compiles once the games solved so far repay it. Raises TooLarge when the polytopes have more
    vertices than fit into memory, or are bound to: `lemke_howson` finds one equilibrium of such a
    game.

    >>> extreme_equilibria(NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])).x.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.667, 0.333]]
    """  # noqa: E501
    payoffs = game.payoffs
    kernel = (_READY.get(payoffs.shape) if engine in _COMPILED else None) or _find_kernel(
        game, engine
    )
    if kernel is None:
        return _by_integers(game)
    count, _, whole, degenerate, worst, _ = seen = kernel(payoffs)
    if count == _TOO_MANY:
        raise _too_large(
            payoffs.shape[1],
            payoffs.shape[2],
            "has more than 67 million vertices, or 1 GiB of them",
        )
    if count < 0 or worst > _REGRET_LIMIT or (exact and not whole) or not (degenerate or count % 2):
        return _by_integers(game)
    return Extremes(game, seen)


def require_two_players(game: NormalForm, what: str) -> None:
    """Refuse a game with another number of players; `what` names the function that needs two."""
    if game.num_players != 2:
        raise InvalidGame(f"{what}: expected a game of two players, got one of {game.num_players}")


def most_vertices(dimension: int, facets: int) -> int:
    """Return the largest number of vertices a polytope can have (upper bound theorem, McMullen
    1970).

    >>> most_vertices(6, 12)
    112
    """
    half = dimension // 2
    rest = (dimension + 1) // 2
    return comb(facets - rest, half) + comb(facets - half - 1, rest - 1)


def _format_count(count: int) -> str:
    return f"{count:,}" if count < 10**12 else f"about 10^{len(str(count)) - 1}"


def _too_large(m: int, n: int, why: str) -> TooLarge:
    return TooLarge(
        f"a {m}x{n} game {why}; lemke_howson finds one equilibrium, pure_nash the pure ones"
    )


def _find_kernel(game: NormalForm, engine: Engine) -> Callable[[Array], Seen] | None:
    """Find the compiled enumeration, or None where it does not exist, does not fit or would not
    pay."""
    require_two_players(game, "extreme_equilibria")
    m, n = game.shape
    most = most_vertices(m, m + n) + most_vertices(n, m + n)
    seconds = _GAME_SECONDS + _NUMBER_SECONDS * min(most * (m + n) * m * n, 10**9)
    kernels = load_kernels(_KERNELS, engine, seconds, _LOADING_SECONDS)
    if kernels is None or m + n > _MASK_BITS:
        return None
    if most > _HOPELESS:
        raise _too_large(m, n, f"may have {_format_count(most)} vertices to enumerate")
    kernel: Callable[[Array], Seen] = (
        kernels.extreme_pairs_of_three if (m, n) == (3, 3) else kernels.extreme_pairs
    )
    if most > _LONG:
        kernel = partial(_call_in_thread, kernel)
    _READY[game.payoffs.shape] = kernel
    return kernel


def _call_in_thread(kernel: Callable[[Array], Seen], payoffs: Array) -> Seen:
    """Call compiled code where Ctrl-C need not wait for its end."""
    seen: list[Seen] = []

    def work() -> None:
        with suppress(MemoryError):
            seen.append(kernel(payoffs))

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if not seen:
        raise _too_large(
            payoffs.shape[1], payoffs.shape[2], "has more vertices than fit into memory"
        )
    return seen[0]


def _by_integers(game: NormalForm) -> Extremes:
    m, n = game.shape
    p = most_vertices(m, m + n)
    q = most_vertices(n, m + n)
    size = _INTEGER_BYTES * (p * n * (m + 1) + q * m * (n + 1))
    if size > _MEMORY_LIMIT:
        need = f"which need {_format_count(size >> 20)} MiB"
        raise _too_large(m, n, f"may have {_format_count(p + q)} vertices to enumerate, {need}")
    row = whole_matrix(game, 0)
    column = whole_matrix(game, 1)
    # Variables of y's polytope, y first and slacks second, are renumbered by label, rows first.
    low = (1 << n) - 1
    in_q = [
        Vertex((v.basis & low) << m | v.basis >> n, (v.zeros & low) << m | v.zeros >> n, v.point)
        for v in vertices(row)
    ]
    used = [i for i in range(m) if any(vertex.zeros >> i & 1 for vertex in in_q)]
    in_p = [
        _spread(vertex, used, m)
        for vertex in vertices([[column[i][j] for i in used] for j in range(n)])
    ]
    full = (1 << (m + n)) - 1
    ids_p = _first_with_zeros(in_p, (1 << m) - 1)
    ids_q = _first_with_zeros(in_q, ((1 << n) - 1) << m)
    ends_p, ends_q = ([k for k, first in enumerate(ids) if first == k] for ids in (ids_p, ids_q))
    pairs = [(k, h) for k in ends_p for h in ends_q if in_p[k].zeros | in_q[h].zeros == full]
    pairs.sort(key=lambda pair: _reading_order(in_p[pair[0]].point, in_q[pair[1]].point))
    partner = {vertex.basis: k for k, vertex in enumerate(in_q) if k}
    bases = [
        (ids_p[k], ids_q[partner[full ^ vertex.basis]], vertex.basis)
        for k, vertex in enumerate(in_p)
        if full ^ vertex.basis in partner
    ]
    x = _unit([in_p[k].point for k, _ in pairs])
    y = _unit([in_q[h].point for _, h in pairs])
    rows = [[*x[e], *y[e], *in_p[k].point, *in_q[h].point, k, h] for e, (k, h) in enumerate(pairs)]
    table = np.zeros((len(pairs) + len(bases), 2 * (m + n) + 2), dtype=object)
    table[: len(pairs)] = rows
    table[len(pairs) :, :3] = bases
    degenerate = any(
        vertex.basis.bit_count() != vertex.zeros.bit_count() for vertex in (*in_p, *in_q)
    )
    regret = find_largest_regret(game.payoffs, x, y)
    return Extremes(game, (len(pairs), len(bases), game.is_exact, degenerate, regret, table))


def _spread(vertex: Vertex, used: list[int], m: int) -> Vertex:
    """A vertex of x's polytope over the used rows only, as one over all rows; the others can never
    be best replies."""
    unused = sum(1 << i for i in range(m) if i not in used)
    point = [0] * m
    for k, i in enumerate(used):
        point[i] = vertex.point[k]

    def spread(mask: int) -> int:
        return (
            unused | mask >> len(used) << m | sum((mask >> k & 1) << i for k, i in enumerate(used))
        )

    return Vertex(spread(vertex.basis), spread(vertex.zeros), tuple(point))


def _first_with_zeros(corners: list[Vertex], origin: int) -> list[int]:
    first: dict[int, int] = {}
    return [
        -1 if v.zeros & origin == origin else first.setdefault(v.zeros, k)
        for k, v in enumerate(corners)
    ]


def _reading_order(*points: tuple[int, ...]) -> tuple[int, list[Fraction]]:
    """By size of the supports, then by how much is on the first actions."""
    size = sum(value > 0 for point in points for value in point)
    return size, [Fraction(-value, sum(point)) for point in points for value in point]


def _unit(points: list[tuple[int, ...]]) -> Array:
    return np.array([[value / sum(point) for value in point] for point in points], dtype=np.float64)


def find_largest_regret(payoffs: Array, x: Array, y: Array) -> float:
    """Return the largest regret, as a share of the player's payoff range, at pairs of strategies in
    rows."""
    row, column = (payoff - payoff.min() for payoff in payoffs)
    first = y @ row.T
    second = x @ column
    gains = (first.max(axis=1) - (first * x).sum(axis=1)) / (float(row.max()) or 1.0)
    more = (second.max(axis=1) - (second * y).sum(axis=1)) / (float(column.max()) or 1.0)
    return float(max(gains.max(), more.max(), 0.0))
