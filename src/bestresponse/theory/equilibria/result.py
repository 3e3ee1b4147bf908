"""What `nash` returns: equilibria, components, and how they were found.

It also says how good they are.

Solvers give strategies only. Payoffs, regret, index, stability and components are computed when
first asked for.

Equilibria in pure strategies, for any number of players.

Definition: a cell of the game is a pure Nash equilibrium when no player gains by changing its own
action alone; it is strict when every such change loses.

Evolutionarily stable strategies of symmetric two-player games.

Definition (Maynard Smith and Price 1973): x is evolutionarily stable when x is a best reply to
itself and, against every other best reply y, x earns more than y does. Test (Haigh 1975; Abakuks
1980): with k in the support of x, the matrix q_ij = a_kj + a_ik - a_ij - a_kk over the other best
replies must be strictly copositive, where coordinates in the support may have either sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import prod
from operator import sub
from typing import TYPE_CHECKING, Final, Literal, cast, overload

import numpy as np

from bestresponse.core.notebook import format_html
from bestresponse.theory.arrays import Numbers, as_fractions, find_range
from bestresponse.theory.engines import ChosenEngine
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.games.regrets import Profile, contract, deviation_payoffs

if TYPE_CHECKING:
    from bestresponse.theory.equilibria.extremes import Extremes

_TOLERANCE = 1e-9  # of payoffs that are not exact: smaller differences count as 0


def is_symmetric_bimatrix(game: NormalForm) -> bool:
    """Return whether a game is a symmetric bimatrix game.

    The players must have the same actions, and the column player's payoffs be the transposed row
    payoffs.
    """
    first, second = game.payoffs if game.units is None else game.units
    if first.shape[0] != first.shape[1]:
        return False
    if game.units is not None:
        return np.array_equal(second, first.T)
    largest = float(np.abs(first).max())
    difference = np.abs(second - first.T).max()
    return bool(difference <= 1e-12 * largest)


def is_evolutionarily_stable(payoff: Numbers, x: Numbers) -> bool:
    """Return whether an equilibrium strategy x is evolutionarily stable.

    The game is the symmetric one with this row payoff.

    Whole numbers and fractions, in arrays of objects, are compared exactly.

    >>> hawk_dove = np.array([[-1.0, 4.0], [0.0, 2.0]])
    >>> is_evolutionarily_stable(hawk_dove, np.array([2 / 3, 1 / 3]))
    True
    """
    exact = payoff.dtype == np.object_
    slack = 0 if exact else _TOLERANCE  # not 0.0, which would make fractions floats
    scaled = payoff if exact else payoff / find_range(payoff)
    earned = scaled @ x
    least = earned.max() - slack
    best = np.flatnonzero(earned >= least)
    support = [int(i) for i in best if x[i] > slack]
    k = support[0]
    free = support[1:]
    signed = [int(i) for i in best if int(i) not in support]
    rest = np.array(free + signed, dtype=np.intp)
    if rest.size == 0:
        return True
    against = scaled[k, rest]
    invading = scaled[rest, k]
    among = scaled[np.ix_(rest, rest)]
    q = against[None, :] + invading[:, None] - among - scaled[k, k]
    q = q + q.T
    # Scaling coordinates changes nothing, and keeps small numbers beside large ones from being
    # taken for rounding.
    sizes = np.diag(q) if exact else np.full(len(q), 2.0)
    if sizes.min() <= 0:
        return False
    roots = np.sqrt(sizes.astype(np.float64))
    return _strictly_copositive(q.astype(np.float64) / np.outer(roots, roots), len(free))


def _strictly_copositive(q: Array, free: int) -> bool:
    """z'qz > 0 for all nonzero z whose coordinates from `free` on are not negative."""
    if free:
        corner = q[:free, :free]
        eigenvalues = np.linalg.eigvalsh(corner)
        if eigenvalues.min() <= _TOLERANCE:
            return False
        solved = np.linalg.solve(corner, q[:free, free:])
        q = q[free:, free:] - q[free:, :free] @ solved
    size = q.shape[0]
    for count in range(1, size + 1):
        for chosen in combinations(range(size), count):
            if not _no_positive_descent(q[np.ix_(chosen, chosen)]):
                return False
    return True


def _no_positive_descent(q: Array) -> bool:
    """No eigenvector with all entries positive has an eigenvalue <= 0 (Kaplan 2000)."""
    values, vectors = np.linalg.eigh(q)
    for value, vector in zip(values, vectors.T, strict=True):
        has_one_sign = np.all(vector > 0) or np.all(vector < 0)
        if has_one_sign and value <= _TOLERANCE:
            return False
    return True


def pure_nash(game: GameLike, *, strict: bool = False) -> tuple[tuple[int, ...], ...]:
    """Find every pure Nash equilibrium as a tuple of action numbers, in lexicographic order.

    Payoffs are compared exactly, as the numbers that are meant (see `games.ties`).

    >>> stag_hunt = NormalForm.bimatrix([[4, 1], [3, 3]], [[4, 3], [1, 3]])
    >>> pure_nash(stag_hunt)
    ((0, 0), (1, 1))
    """
    game = as_normal_form(game)
    stays = np.ones(game.shape, dtype=np.bool_)
    for player, table in enumerate(game.compared):
        best = np.asarray(table == table.max(axis=player, keepdims=True), dtype=np.bool_)
        stays &= best
        if strict:
            stays &= best.sum(axis=player, keepdims=True) == 1
    return tuple(map(tuple, np.argwhere(stays).tolist()))


Fractions = tuple[tuple[Fraction, ...], ...]
Concept = Literal["Nash", "extreme Nash", "isolated Nash", "pure Nash", "pure subgame perfect"]
"""What a list of equilibria can hold all of."""

_SAME = 1e-12  # rounding of a probability: both players play the same strategy
_EXACT_CELLS = 400

_LONGEST = 150
_MOST_PRINTED = 20


class Equilibrium:
    """A Nash equilibrium of `game`: its strategies, and on request all that follows.

    >>> from bestresponse.theory.equilibria.solve import nash
    >>> equilibrium = nash(NormalForm.zero_sum([[3, -1], [-2, 1]])).equilibria[0]
    >>> [str(payoff) for payoff in equilibrium.exact_payoffs]
    ['1/7', '-1/7']

    Written by hand because a frozen dataclass takes three times as long to create, longer than
    finding a small game's equilibria.
    """

    def __init__(self, game: NormalForm, source: Extremes, number: int = 0) -> None:
        self.game: Final = game
        self._source: Final = source
        self._number: Final = number

    @classmethod
    def at(
        cls,
        game: NormalForm,
        strategies: Profile,
        fractions: Fractions | None = None,
        index: int | None = None,
        in_continuum: bool = False,
    ) -> Equilibrium:
        """Describe the equilibrium at these strategies.

        They are known as `fractions` too or only as floats.
        """
        equilibrium = cls(game, cast("Extremes", None))
        # What is known takes the place of what an enumeration would be asked for.
        vars(equilibrium).update(
            strategies=strategies,
            exact=fractions,
            index=index,
            in_continuum=in_continuum,
        )
        return equilibrium

    def __repr__(self) -> str:
        mixes = [x.tolist() for x in self.strategies]
        text = ", ".join(map(str, mixes))
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}..."
        return f"Equilibrium({text})"

    def __str__(self) -> str:
        """Name what every player plays, with probabilities where it mixes, and what all earn."""
        plays = []
        game = self.game
        mixes = self._mixes
        for player, actions, mix, support in zip(
            game.players, game.actions, mixes, self.supports, strict=True
        ):
            shares = [f"{actions[a]} {_format(mix[a])}" for a in support]
            if len(support) == 1:
                shares = [actions[support[0]]]
            plays.append(f"{player}: {', '.join(shares)}")
        payoffs = self.exact_payoffs or self.payoffs.tolist()
        earned = ", ".join(map(_format, payoffs))
        return f"{'; '.join(plays)} (payoffs {earned})"

    @cached_property
    def strategies(self) -> Profile:
        """The mixed strategy of every player."""
        return self._source.find_strategies(self._number)

    @cached_property
    def _deviations(self) -> tuple[Array, ...]:
        if self.game.num_players != 2:
            return deviation_payoffs(self.game, self.strategies)
        row, col = self.game.payoffs
        x, y = self.strategies
        return row @ y, x @ col

    @cached_property
    def _exact_deviations(self) -> list[list[Fraction]] | None:
        """What every action earns, exactly.

        Returns None where strategies or payoffs are rounded, or there is too much.
        """
        if self.exact is None or self.game.payoffs[0].size > _EXACT_CELLS:
            return None
        mixes = [np.array(mix, dtype=object) for mix in self.exact]
        return [
            contract(table, mixes, player).tolist()
            for player, table in enumerate(as_fractions(self.game.given))
        ]

    @cached_property
    def payoffs(self) -> Array:
        """What each player expects."""
        if self._exact_deviations is not None and self._earned is not None:
            return np.array(list(map(float, self._earned)))
        return np.array([u @ x for u, x in zip(self._deviations, self.strategies, strict=True)])

    @cached_property
    def _earned(self) -> tuple[Fraction, ...] | None:
        """What each player expects from the strategies as fractions.

        Returns None where they are rounded.
        """
        if self.exact is None:
            return None
        totals = [Fraction(0)] * self.game.num_players
        for cell in product(*self.supports):
            weight = prod(mix[a] for mix, a in zip(self.exact, cell, strict=True))
            for player, table in enumerate(self.game.given):
                totals[player] += weight * Fraction(table[cell])
        return tuple(totals)

    @property
    def exact_payoffs(self) -> tuple[Fraction, ...] | None:
        """What each player expects, as fractions; None where strategies or payoffs are rounded."""
        return self._earned if self.game.is_exact else None

    @cached_property
    def regret(self) -> float:
        """The largest gain any player could make by deviating."""
        if self._exact_deviations is not None and self._earned is not None:
            most = map(max, self._exact_deviations)
            return float(max(map(sub, most, self._earned)))
        best = [float(values.max()) for values in self._deviations]
        gains = map(sub, best, self.payoffs.tolist())
        return float(max(0.0, *gains))

    @cached_property
    def strict(self) -> bool:
        """Whether every deviation loses, by the rule of `pure_nash`."""
        if self.kind != "pure":
            return False
        cell = tuple(support[0] for support in self.supports)
        for player, table in enumerate(self.game.compared):
            at: tuple[int | slice, ...] = (*cell[:player], slice(None), *cell[player + 1 :])
            if np.count_nonzero(table[at] >= table[cell]) > 1:
                return False
        return True

    @cached_property
    def index(self) -> int | None:
        """+1 or -1 where the equilibrium is isolated and regular (Shapley 1974).

        Where it is isolated only: the sum over a small perturbation. None where it belongs to a
        larger component or the solver does not compute it.
        """
        return self._source.find_index(self._number)

    @cached_property
    def in_continuum(self) -> bool:
        """Whether the equilibrium is known to be one of a continuum."""
        return self._source.find_continuum(self._number)

    @cached_property
    def evolutionarily_stable(self) -> bool | None:
        """Whether the strategy is evolutionarily stable.

        Returns None unless game and equilibrium are symmetric.
        """
        if self.game.num_players != 2 or not is_symmetric_bimatrix(self.game):
            return None
        x, y = self.strategies
        if self.exact is not None and self.game.units is not None:
            first, second = self.exact
            if first != second:
                return None
            whole = self.game.units[0].astype(object)
            return is_evolutionarily_stable(whole, np.array(first, dtype=object))
        if np.abs(x - y).max() > _SAME:
            return None
        if self.kind == "pure" and self.game.units is not None:
            whole = self.game.units[0].astype(object)
            return is_evolutionarily_stable(whole, (x > 0).astype(np.int64).astype(object))
        return is_evolutionarily_stable(self.game.payoffs[0], x)

    @cached_property
    def exact(self) -> Fractions | None:
        """The strategies as fractions; None where floating point was used."""
        return self._source.find_fractions(self._number)

    @property
    def _mixes(self) -> Sequence[Sequence[Fraction | float]]:
        """The strategies as fractions where these are known, else as floats."""
        return self.exact or [x.tolist() for x in self.strategies]

    @property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """The actions each player uses."""
        used = []
        for mix in self._mixes:
            used.append(tuple([a for a, p in enumerate(mix) if p > 0]))
        return tuple(used)

    @property
    def kind(self) -> str:
        """Either "pure" or "mixed"."""
        most = max(map(len, self.supports))
        return "pure" if most == 1 else "mixed"

    @property
    def welfare(self) -> float:
        """The sum of the payoffs."""
        return float(self.payoffs.sum())

    @property
    def stability(self) -> str:
        """Which of the stability notions hold, in words for a table.

        A negative index is unstable under every dynamics that has the equilibria as its rest points
        and moves continuously with the game (Demichelis and Ritzberger 2003).
        """
        words = ["strict"] if self.strict else []
        if self.evolutionarily_stable:
            words.append("evolutionarily stable")
        if self.index is not None:
            words.append(f"index {self.index:+d}" if self.index else "index 0")
        if self.in_continuum:
            words.append("one of a continuum")
        return ", ".join(words) or "not regular"


def _format(number: Fraction | float) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)


@dataclass(frozen=True, eq=False, slots=True)
class NashSubset:
    """A maximal set of interchangeable equilibria.

    Any mixture of the rows of `x` goes with any of the rows of `y`.

    Where iterated elimination leaves two of several players a choice, `players` are these two.
    """

    x: Array
    y: Array
    players: tuple[int, ...] = (0, 1)


@dataclass(frozen=True, eq=False, slots=True)
class Component:
    """A connected set of equilibria: its extreme points and maximal Nash subsets.

    It is the union of these subsets.

    `index` is the sum of the indices of the equilibria that appear near it when the payoffs are
    perturbed a little; a component of index other than 0 does not vanish under any small
    perturbation.
    """

    equilibria: tuple[Equilibrium, ...]
    subsets: tuple[NashSubset, ...]
    index: int

    @property
    def isolated(self) -> bool:
        """Whether the component is a single equilibrium."""
        return len(self.equilibria) == 1


@dataclass(frozen=True, eq=False)
class Continuum:
    """A connected set of equilibria of several players.

    It has its dimension, and points of a curve through it.

    `ends` are where the curve leaves the set, `inner` lies between them. Of a set of more than one
    dimension the curve is one of many.
    """

    dimension: int
    path: tuple[Profile, ...]

    @cached_property
    def points(self) -> Array:
        """The points of the curve as rows: the probabilities of all actions, player by player."""
        return np.array([np.concatenate(point) for point in self.path])

    @property
    def ends(self) -> tuple[Profile, Profile]:
        """The first and the last point of the curve."""
        return self.path[0], self.path[-1]

    @property
    def inner(self) -> Profile:
        """The middle one of the points of the curve."""
        return self.path[len(self.path) // 2]


@dataclass(eq=False, repr=False)
class NashResult:
    """The equilibria of a game, in a sequence.

    `complete` says that there are no others outside the listed components.

    `complete_for` says it per solution concept; `all_pure` that no pure one is missing, and
    `mixed_searched` whether mixed ones were looked for at all. `engine` is "numba" where compiled
    loops found them.

    In a degenerate game `equilibria` are the extreme ones; `components` tells which sets they span.
    With more than two players `components` are known where elimination leaves two, and `degenerate`
    says that an equilibrium listed is not regular; points of a continuum say so, and `continua`
    describe them.
    `spans` says that extreme ones span sets, and `source` knows which. Not frozen, which takes
    longer to create than finding a small game's equilibria.
    """

    equilibria: tuple[Equilibrium, ...]
    method: str
    complete: bool = False
    spans: bool = False
    source: Extremes | None = None
    all_pure: bool = field(default=False, kw_only=True)
    mixed_searched: bool = field(default=True, kw_only=True)
    known_complete: tuple[Concept, ...] | None = field(default=None, kw_only=True)
    engine: ChosenEngine = field(default="numpy", kw_only=True)
    continua: tuple[Continuum, ...] = field(default=(), kw_only=True)
    known_components: tuple[Component, ...] = field(default=(), kw_only=True)

    @property
    def complete_for(self) -> tuple[Concept, ...]:
        """The solution concepts of which every equilibrium is listed.

        With isolated ones, points of every continuum.
        """
        if self.known_complete is not None:
            return self.known_complete
        if self.complete:
            return ("extreme Nash" if self.spans else "Nash", "pure Nash")
        return ("pure Nash",) if self.all_pure else ()

    @cached_property
    def degenerate(self) -> bool:
        """Whether some strategy has more pure best replies than actions in its support.

        The strategy is that of one of two players.

        With more players: whether an equilibrium listed is not regular.
        """
        return self.spans if self.source is None else self.source.find_degenerate()

    def __repr__(self) -> str:
        extent = "some"
        if self.complete:
            extent = "all" if "Nash" in self.complete_for else "all extreme"
        return f"NashResult({extent} equilibria: {len(self.equilibria)}, {self.method})"

    def __str__(self) -> str:
        """List the equilibria, one a line."""
        rest = len(self) - _MOST_PRINTED
        return "\n".join(
            [
                repr(self),
                *map(str, self[:_MOST_PRINTED]),
                *([f"and {rest} more"] if rest > 0 else []),
            ]
        )

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.equilibria)

    def __len__(self) -> int:
        return len(self.equilibria)

    @overload
    def __getitem__(self, index: int) -> Equilibrium: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Equilibrium, ...]: ...

    def __getitem__(self, index: int | slice) -> Equilibrium | tuple[Equilibrium, ...]:
        return self.equilibria[index]

    def _repr_html_(self) -> str:
        rows = []
        for equilibrium in self.equilibria:
            rounded = [np.round(mix, 6).tolist() for mix in equilibrium.strategies]
            rows.append(tuple(rounded))
        players = self.equilibria[0].game.players if self.equilibria else ()
        return format_html(repr(self), players, rows)

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The connected sets that the equilibria form.

        Returns an empty result where the solver does not find all of them.
        """
        if self.source is None:
            return self.known_components
        return self.source.build_components(self.equilibria)

    @cached_property
    def regret(self) -> float:
        """The largest regret of any equilibrium listed."""
        return max((e.regret for e in self.equilibria), default=0.0)

    @property
    def pure(self) -> tuple[Equilibrium, ...]:
        """The equilibria in pure strategies."""
        return tuple(e for e in self.equilibria if e.kind == "pure")
