"""Nash equilibria of games with more than two players, and whether there are others.

First strictly dominated actions go, again and again. Players who then have one action left drop
out, and the rest is solved by what is best for it:

- nobody or one player is left: every action left is as good as any other;
- two players: the extreme equilibria and the components they span, as for any two-player game;
- three players with two actions each: a closed form (see `two_actions`);
- otherwise every profile of supports that survives conditional dominance gives a polynomial system
  (everything in a support earns the same), smallest supports first, until the time is used up.

A system of up to `_MOST_UNKNOWNS` unknowns is solved by halving boxes, which finds all its
solutions and proves that there are no others (see `subdivision`). What that does not settle, a
continuum or a large system, is searched by Newton's method from random points, and the list is then
not called complete. It is where every system was settled and every solution could be certified;
where payoffs are exact, rationals decide which solutions are equilibria (see `certify`).

Where the list is not complete, a branch of logit equilibria is traced as well (Turocy 2005, see
`tracing`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from typing import Literal, get_args

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.many_players.certify import Certified, certify
from bestresponse.theory.equilibria.many_players.continua import (
    add_continua,
    is_on_curve,
)
from bestresponse.theory.equilibria.many_players.equations import (
    Supports,
    find_index,
    measure_distance,
    scale_by_player,
)
from bestresponse.theory.equilibria.many_players.rest import ReducedGame, find_rest
from bestresponse.theory.equilibria.many_players.subdivision import (
    Root,
    guess_roots,
    make_systems,
    solve_systems,
)
from bestresponse.theory.equilibria.many_players.tracing import (
    find_branch_end,
    trace_to_equilibrium,
)
from bestresponse.theory.equilibria.many_players.two_actions import solve_two_actions
from bestresponse.theory.equilibria.result import Continuum, Equilibrium, NashResult, pure_nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile

OneMethod = Literal["auto", "logit"]

_CELLS_LIMIT = 300_000
_MOST_PROFILES = 1_000_000
_MOST_UNKNOWNS = 7  # halved boxes double with every further unknown
_UNKNOWNS_IN_DOUBT = 3  # where nothing can be proved any more, guesses find solutions sooner
_AT_ONCE = 2000  # systems
_NEAR = 1e-2  # between the points of a curve: an equilibrium that is closer lies on it
_SAME = 1e-6  # of probabilities: two solutions that are closer are one
_SURELY_SAME = 1e-9  # solutions between this and `_SAME` apart may be two


@dataclass(slots=True)
class _Search:
    """What the search has found so far.

    `sure` ends with the first doubt that a solution may have been missed.
    """

    payoffs: Array
    deadline: Deadline
    report: Callable[[str], None] | None
    mixed: list[Profile] = field(default_factory=list)
    searched: int = 0
    guessed: bool = False
    sure: bool = True


def nplayer_nash(
    game: NormalForm,
    *,
    engine: Engine = "auto",
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
) -> NashResult:
    """Find pure equilibria, and mixed ones for as long as `seconds`.

    `report` hears how many there are so far.

    The continua that equilibria lie on are followed for as long again, which may be too short to
    find them all. `degenerate` says that an equilibrium listed is not regular; each says whether it
    is one of a continuum.
    """
    deadline = Deadline.after(seconds)
    _check_size(game)
    rest = find_rest(game)
    solved = rest.solve_simple(engine, deadline)
    if solved is not None:
        return solved
    if rest.game.shape == (2, 2, 2):
        return _solve_in_closed_form(rest)
    search = _Search(scale_by_player(rest.game), deadline, report)
    return _search_rest(rest, search)


def _search_rest(rest: ReducedGame, search: _Search) -> NashResult:
    """Search what is left of a game: see above."""
    game = rest.game
    pure = [_point_masses(game, cell) for cell in pure_nash(game)]
    # In these somebody mixes.
    supports = [2**m - 1 for m in game.shape]
    profiles = prod(supports) - prod(game.shape)
    if profiles <= _MOST_PROFILES:
        _search_supports(search)
    candidates = [*pure, *search.mixed]
    certified = _certify_all(game, candidates)
    all_certified = len(certified) == len(candidates)
    search.sure = search.sure and all_certified and search.searched == profiles
    if not search.sure or not certified:
        time = Deadline.after(max(search.deadline.seconds, SECONDS))
        traced = trace_to_equilibrium(search.payoffs, time)
        certified += _certify_all(game, [] if traced is None else [traced])
    if not certified:
        raise NotCertified(
            f"no equilibrium of this {'x'.join(map(str, rest.whole.shape))} game could be"
            " certified; correlated(game) always finds a correlated one"
        )
    search.deadline = Deadline.after(search.deadline.seconds)
    different = _drop_doubles(search, certified)
    return _assemble(rest, different, search, profiles)


def _drop_doubles(search: _Search, certified: list[Certified]) -> list[Certified]:
    """Keep one of the equilibria that are the same; those that are only close leave a doubt."""
    different: list[Certified] = []
    for point in certified:
        if not any(_are_same(search, point, other) for other in different):
            different.append(point)
    return different


def _are_same(search: _Search, point: Certified, other: Certified) -> bool:
    if point.exact is not None and other.exact is not None:
        return point.exact == other.exact
    distance = measure_distance(point.strategies, other.strategies)
    if _SURELY_SAME < distance <= _SAME:
        search.sure = False
    return distance <= _SAME


def _assemble(
    rest: ReducedGame,
    different: list[Certified],
    search: _Search,
    profiles: int,
) -> NashResult:
    def reading_order(equilibrium: Equilibrium) -> tuple[int, list[list[float]]]:
        """By size of the supports, then by how much is on the first actions."""
        size = sum(map(len, equilibrium.supports))
        return size, [(-x).tolist() for x in equilibrium.strategies]

    equilibria, continua = _describe(rest, different, search.deadline)
    equilibria.sort(key=reading_order)
    return NashResult(
        equilibria=tuple(equilibria),
        method=_name_method(search, profiles),
        complete=search.sure,
        spans=None in [e.index for e in equilibria],
        known_complete=("Nash", "pure Nash") if search.sure else ("pure Nash",),
        mixed_searched=search.searched > 0,
        continua=tuple(continua),
    )


def _name_method(search: _Search, profiles: int) -> str:
    if not search.searched:
        return "pure search, logit tracing"
    part = ""
    if search.searched < profiles:
        part = f" of {search.searched:,} of {profiles:,} profiles"
    how = "subdivision and guesses" if search.guessed else "subdivision"
    return f"pure search, support enumeration{part} with {how}"


def _describe(
    rest: ReducedGame,
    points: list[Certified],
    deadline: Deadline,
) -> tuple[list[Equilibrium], list[Continuum]]:
    """Compute the indices of equilibria, and the continua of those that have none.

    Continua are computed until `deadline`.
    """
    payoffs = scale_by_player(rest.game)
    equilibria: list[Equilibrium] = []
    continua: list[Continuum] = []
    for point in points:
        index = find_index(payoffs, point.strategies, point.quasi_strict)
        if index is None and not deadline.is_over:
            add_continua(payoffs, point.strategies, continua)
        on_curve = index is None and is_on_curve(continua, point.strategies, _NEAR)
        equilibria.append(rest.carry(point.strategies, point.exact, index, on_curve))
    return equilibria, list(map(rest.carry_continuum, continua))


def _solve_in_closed_form(rest: ReducedGame) -> NashResult:
    """Solve a game of which 2x2x2 is left.

    All of it is exact where the payoffs are and no root is irrational.
    """
    game = rest.game
    cube = solve_two_actions(game)
    points = []
    for point in cube.points:
        # The second of the two actions left is played with these probabilities.
        exact = tuple((1 - x, x) for x in point)
        known = game.is_exact and (cube.rational or 0 in point or 1 in point)
        mix = tuple(np.array(shares, dtype=np.float64) for shares in exact)
        points.append(Certified(mix, exact if known else None))
    equilibria, continua = _describe(rest, points, NEVER)
    is_exact = game.is_exact and cube.rational
    return NashResult(
        equilibria=tuple(equilibria),
        method="closed form, exact" if is_exact else "closed form",
        complete=not cube.continua,
        spans=None in [e.index for e in equilibria],
        known_complete=("isolated Nash" if cube.continua else "Nash", "pure Nash"),
        continua=tuple(continua),
    )


def nplayer_nash_one(
    game: NormalForm,
    method: OneMethod,
    seconds: float,
) -> Equilibrium:
    """Find one equilibrium by "logit" or "auto".

    By "logit" it is the end of the principal branch, by "auto" a pure one if there is one, else
    what the branch leads to, or the first that the search of supports finds.
    """
    deadline = Deadline.after(seconds)
    _check_size(game)
    if method not in get_args(OneMethod):
        raise UsageError(
            f"method: expected one of {', '.join(get_args(OneMethod))}, got {method!r}"
        )
    if method == "logit":
        traced = find_branch_end(game, deadline)
    elif pure := pure_nash(game):
        return Equilibrium.at(game, _point_masses(game, pure[0]))
    else:
        traced = trace_to_equilibrium(scale_by_player(game), deadline)
    certified = None if traced is None else certify(game, traced)
    if certified is None:
        deadline.check("an equilibrium")
        if method == "auto":
            return nplayer_nash(game, seconds=min(SECONDS, deadline.left))[0]
        raise NotCertified(
            "the branch of logit equilibria could not be followed to its end;"
            " method 'auto' looks for any equilibrium"
        )
    index = find_index(scale_by_player(game), certified.strategies, certified.quasi_strict)
    return Equilibrium.at(game, certified.strategies, certified.exact, index)


def _check_size(game: NormalForm) -> None:
    cells = prod(game.shape)
    if cells > _CELLS_LIMIT:
        raise TooLarge(
            f"a {'x'.join(map(str, game.shape))} game has {cells:,} cells, more than"
            f" {_CELLS_LIMIT:,} for following mixed equilibria; pure_nash finds the pure ones,"
            " regret matching approaches coarse correlated ones"
        )


def _point_masses(game: NormalForm, cell: tuple[int, ...]) -> Profile:
    return tuple(np.eye(m)[a] for m, a in zip(game.shape, cell, strict=True))


def _certify_all(game: NormalForm, candidates: list[Profile]) -> list[Certified]:
    certified = (certify(game, mix) for mix in candidates)
    return [point for point in certified if point is not None]


def _search_supports(search: _Search) -> None:
    """Solve the systems of all profiles of supports, smallest first, until the time is used up."""
    shape = search.payoffs.shape[1:]
    if _count_unknowns(shape) > _MOST_UNKNOWNS and _may_be_regular(shape):
        search.sure = False  # the largest system will not be settled
    sizes_of_each = [range(1, m + 1) for m in shape]
    all_sizes = product(*sizes_of_each)
    for sizes in sorted(all_sizes, key=lambda s: (sum(s), max(s), s)):
        if max(sizes) == 1:
            continue
        if search.deadline.is_over:
            search.sure = False
            return
        choices = []
        for m, size in zip(shape, sizes, strict=True):
            choices.append(list(combinations(range(m), size)))
        for batch in _batches(search, choices):
            open_ones = _settle(search, batch)
            _guess(search, open_ones)
            if search.report is not None:
                done = f"{search.searched:,} profiles of supports searched"
                search.report(f"{len(search.mixed):,} mixed equilibria, {done}")


def _count_unknowns(sizes: Sequence[int]) -> int:
    return sum(sizes) - len(sizes)


def _may_be_regular(sizes: Sequence[int]) -> bool:
    """Say whether a system can have isolated solutions.

    A player's equations must not be more than the unknown probabilities of the others.
    """
    most = max(sizes) - 1
    return 2 * most <= _count_unknowns(sizes)


def _settle(search: _Search, batch: list[Supports]) -> list[Supports]:
    """Solve systems of equal sizes with a proof; return those for which that fails."""
    unknowns = _count_unknowns(list(map(len, batch[0])))
    if unknowns > (_MOST_UNKNOWNS if search.sure else _UNKNOWNS_IN_DOUBT):
        return batch
    systems = make_systems(search.payoffs, batch)
    roots = solve_systems(systems, search.deadline)
    _keep_roots(search, batch, roots.found)
    return [supports for supports, known in zip(batch, roots.proved, strict=True) if not known]


def _guess(search: _Search, batch: list[Supports]) -> None:
    """Search systems that are not settled; nothing is proved of them."""
    if not batch:
        return
    search.sure = False
    if _may_be_regular(list(map(len, batch[0]))):
        search.guessed = True
        systems = make_systems(search.payoffs, batch)
        _keep_roots(search, batch, guess_roots(systems, search.deadline))


def _keep_roots(search: _Search, batch: list[Supports], roots: Sequence[Root]) -> None:
    """Keep solutions as mixtures of all actions."""
    shape = search.payoffs.shape[1:]
    for system, root in roots:
        mix = tuple(np.zeros(m) for m in shape)
        start = 0
        for whole, support in zip(mix, batch[system], strict=True):
            stop = start + len(support) - 1
            part = np.clip(root[start:stop], 0.0, None)
            whole[list(support[1:])] = part
            whole[support[0]] = max(0.0, 1.0 - part.sum())
            start = stop
        search.mixed.append(mix)


def _batches(
    search: _Search,
    choices: Sequence[list[tuple[int, ...]]],
) -> Iterator[list[Supports]]:
    """The profiles that survive conditional dominance, some at a time, as long as there is time."""
    batch: list[Supports] = []
    for supports in product(*choices):
        if search.deadline.is_over:
            search.sure = False
            break
        search.searched += 1
        if not _is_beaten(search.payoffs, supports):
            batch.append(supports)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _is_beaten(payoffs: Array, supports: Supports) -> bool:
    """Return whether some action in a support always earns less than another action.

    It earns less whatever the others' supports do.
    """
    for i, support in enumerate(supports):
        count = payoffs.shape[1 + i]
        cells: list[Sequence[int]] = list(supports)
        cells[i] = range(count)
        table = payoffs[i][np.ix_(*cells)]
        mine = np.moveaxis(table, i, 0).reshape(count, -1)
        used = mine[list(support)]
        is_better = mine[None] > used[:, None]
        if is_better.all(axis=2).any():
            return True
    return False
