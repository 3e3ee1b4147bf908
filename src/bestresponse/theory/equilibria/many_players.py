"""Nash equilibria of games with more than two players: pure ones, then mixed ones by Newton's method, each certified.

Method: all pure equilibria are found by inspection. For mixed ones every profile of supports that survives conditional
dominance and the dimension count of McKelvey and McLennan (1997) gives a polynomial system (everything in a support
earns the same); Newton's method solves it from several starts (Dickhaut and Kaplan 1991; Porter, Nudelman and Shoham
2008). Where that would be too many profiles, or finds nothing, the principal branch of logit equilibria is traced
(Turocy 2005, see `nplayer_tracing`). What is returned has a regret of at most 1e-9 of the payoff range.

Limits: Newton's method may miss solutions of a system, and a game of three players can have equilibria that are
irrational or form surfaces, so the list is never claimed to be complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge
from bestresponse.theory.equilibria.newton import Supports, equal_payoffs, scaled, worst_regret
from bestresponse.theory.equilibria.pure import pure_nash
from bestresponse.theory.equilibria.result import Equilibrium, NashResult
from bestresponse.theory.equilibria.tracing import trace_to_equilibrium
from bestresponse.theory.games.dominance import iterated_elimination
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["nplayer_nash", "nplayer_nash_one"]

_REGRET_LIMIT = 1e-9
_SUPPORTS_LIMIT = 400
_CELLS_LIMIT = 300_000
_STARTS = 4


def nplayer_nash(game: NormalForm) -> NashResult:
    """Pure equilibria and the mixed ones that could be found; `complete` is False."""
    _check_size(game)
    found = [_point_masses(game, cell) for cell in pure_nash(game)]
    left = iterated_elimination(game)
    method = "pure search"
    if not left.solved:
        if _profiles(left.game.shape) <= _SUPPORTS_LIMIT:
            method += ", support enumeration with Newton's method"
            found += [_embedded(game, mix, left.kept) for mix in _mixed(left.game)]
        if not found:
            method += ", logit tracing"
            found.append(_traced(game))
    equilibria = [Equilibrium.at(game, mix) for mix in _different(found)]
    equilibria.sort(key=lambda e: (sum(map(len, e.supports)), [(-x).tolist() for x in e.strategies]))
    return NashResult(tuple(equilibria), method)


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


def _mixed(game: NormalForm) -> Iterator[tuple[Array, ...]]:
    """Equilibria in which somebody mixes, one system per profile of supports."""
    payoffs = scaled(game)
    generator = np.random.default_rng(0)
    for supports in _support_profiles(payoffs):
        for start in range(_STARTS):
            mix = equal_payoffs(payoffs, supports, generator if start else None)
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
