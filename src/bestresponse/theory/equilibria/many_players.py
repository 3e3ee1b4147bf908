"""Nash equilibria of games with more than two players: pure ones, then mixed ones by Newton's method, each certified.

Method: all pure equilibria are found by inspection. For mixed ones every profile of supports that survives conditional
dominance and the dimension count of McKelvey and McLennan (1997) gives a polynomial system (everything in a support
earns the same); Newton's method solves it from several starts (Dickhaut and Kaplan 1991; Porter, Nudelman and Shoham
2008). Almost every game has an odd number of equilibria (Wilson 1971), so where an even number was found there are more
starts. Larger games get one start per profile, smallest supports first, up to a fixed number of systems. Where there
are too many profiles, or nothing is found, the principal branch of logit equilibria is traced (Turocy 2005, see
`tracing`). What is returned has a regret of at most 1e-9 of the payoff range.

Limits: Newton's method may miss solutions of a system, and a game of three players can have equilibria that are
irrational or form surfaces, so the list is never claimed to be complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from math import prod

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge
from bestresponse.theory.equilibria.newton import Supports, equal_payoffs, is_isolated, scaled, worst_regret
from bestresponse.theory.equilibria.pure import pure_nash
from bestresponse.theory.equilibria.result import Equilibrium, NashResult
from bestresponse.theory.equilibria.tracing import trace_to_equilibrium
from bestresponse.theory.games.dominance import iterated_elimination
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["nplayer_nash", "nplayer_nash_one"]

_REGRET_LIMIT = 1e-9
_FEW_PROFILES = 400
_MOST_PROFILES = 5000
_MOST_SYSTEMS = 1500
_MORE_ROUNDS = 4
_CELLS_LIMIT = 300_000
_STARTS = 4


def nplayer_nash(game: NormalForm) -> NashResult:
    """Find pure equilibria and the mixed ones that Newton's method gets to; `complete` is False.

    `degenerate` says that the equations of a mixed one are singular, so that it may be one of a continuum.
    """
    _check_size(game)
    found = [_point_masses(game, cell) for cell in pure_nash(game)]
    left = iterated_elimination(game)
    method = "pure search"
    if not left.solved:
        profiles = _profiles(left.game.shape)
        if profiles <= _MOST_PROFILES:
            method += ", support enumeration with Newton's method"
            found += [_embedded(game, mix, left.kept) for mix in _search(left.game, len(found), profiles)]
        else:
            method += ", mixed equilibria not searched"
        if not found:
            method += ", logit tracing"
            found.append(_traced(game))
    equilibria = [Equilibrium.at(game, mix) for mix in _different(found)]
    equilibria.sort(key=lambda e: (sum(map(len, e.supports)), [(-x).tolist() for x in e.strategies]))
    numbers = scaled(game)
    continua = not all(is_isolated(numbers, e.strategies) for e in equilibria)
    searched = "not searched" not in method
    return NashResult(tuple(equilibria), method, degenerate=continua, all_pure=True, mixed_searched=searched)


def nplayer_nash_one(game: NormalForm) -> Equilibrium:
    """The first pure equilibrium, or the end of the principal branch of logit equilibria."""
    _check_size(game)
    pure = pure_nash(game)
    return Equilibrium.at(game, _point_masses(game, pure[0]) if pure else _traced(game))


def _check_size(game: NormalForm) -> None:
    cells = prod(game.shape)
    if cells > _CELLS_LIMIT:
        raise TooLarge(
            f"a {'x'.join(map(str, game.shape))} game has {cells:,} cells, more than {_CELLS_LIMIT:,} for following "
            f"mixed equilibria; pure_nash finds the pure ones, regret matching approaches coarse correlated ones"
        )


def _point_masses(game: NormalForm, cell: tuple[int, ...]) -> tuple[Array, ...]:
    return tuple(np.eye(m)[a] for m, a in zip(game.shape, cell, strict=True))


def _embedded(game: NormalForm, mix: tuple[Array, ...], kept: tuple[tuple[int, ...], ...]) -> tuple[Array, ...]:
    full = tuple(np.zeros(m) for m in game.shape)
    for whole, part, actions in zip(full, mix, kept, strict=True):
        whole[list(actions)] = part
    return full


def _traced(game: NormalForm) -> tuple[Array, ...]:
    mix = trace_to_equilibrium(scaled(game))
    if mix is None:
        raise NotCertified(
            f"no equilibrium of this {'x'.join(map(str, game.shape))} game could be certified to {_REGRET_LIMIT:g}; "
            "correlated(game) always finds a correlated one"
        )
    return mix


def _profiles(shape: tuple[int, ...]) -> int:
    return prod(2**m - 1 for m in shape)


def _search(game: NormalForm, pure: int, profiles: int) -> list[tuple[Array, ...]]:
    """Find equilibria in which somebody mixes; `pure` is the number of pure ones, for the parity of all."""
    payoffs = scaled(game)
    generator = np.random.default_rng(0)
    if profiles > _FEW_PROFILES:
        few = list(islice(_support_profiles(payoffs), _MOST_SYSTEMS))
        return _different(list(_solve_systems(payoffs, few, [None])))
    supports = list(_support_profiles(payoffs))
    starts = [None, *[generator] * (_STARTS - 1)]
    found = _different(list(_solve_systems(payoffs, supports, starts)))
    for _ in range(_MORE_ROUNDS):
        if (pure + len(found)) % 2 or not all(is_isolated(payoffs, mix) for mix in found):
            break
        found = _different(found + list(_solve_systems(payoffs, supports, [generator] * _STARTS)))
    return found


def _solve_systems(
    payoffs: Array, profiles: Iterable[Supports], starts: Sequence[np.random.Generator | None]
) -> Iterator[tuple[Array, ...]]:
    """Solve the system of every profile of supports from every start; None is the uniform one."""
    for supports in profiles:
        for start in starts:
            mix = equal_payoffs(payoffs, supports, start)
            if mix is not None and worst_regret(payoffs, mix) <= _REGRET_LIMIT:
                yield mix


def _support_profiles(payoffs: Array) -> Iterator[Supports]:
    shape = payoffs.shape[1:]
    choices = [[s for k in range(1, m + 1) for s in combinations(range(m), k)] for m in shape]
    for supports in sorted(product(*choices), key=lambda profile: (sum(map(len, profile)), profile)):
        freedom = [len(s) - 1 for s in supports]
        if sum(freedom) and all(2 * f <= sum(freedom) for f in freedom) and not _beaten(payoffs, supports):
            yield supports


def _beaten(payoffs: Array, supports: Supports) -> bool:
    """Whether some action in a support earns less than another action whatever the others' supports do."""
    for i, own in enumerate(supports):
        rest = [range(payoffs.shape[1 + i]) if k == i else s for k, s in enumerate(supports)]
        mine = np.moveaxis(payoffs[i][np.ix_(*rest)], i, 0).reshape(payoffs.shape[1 + i], -1)
        if any((mine > mine[a]).all(axis=1).any() for a in own):
            return True
    return False


def _different(found: list[tuple[Array, ...]]) -> list[tuple[Array, ...]]:
    kept: list[tuple[Array, ...]] = []
    for mix in found:
        if all(max(float(np.abs(a - b).max()) for a, b in zip(mix, k, strict=True)) > 1e-6 for k in kept):
            kept.append(mix)
    return kept
