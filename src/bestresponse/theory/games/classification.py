"""What kind of game it is: zero-sum, symmetric, potential, common interest, coordination, dominance solvable.

Definitions: Moulin and Vial (1978) for strategically zero-sum, Monderer and Shapley (1996) for potentials and the
finite improvement property. Numbers closer than 1e-9 of the payoffs' range (of the largest payoff, where each player
has only one) count as equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import TooLarge
from bestresponse.theory.equilibria.pure import pure_nash
from bestresponse.theory.games.dominance import iterated_elimination
from bestresponse.theory.games.normal_form import Array, GameLike, NormalForm, as_normal_form

__all__ = ["GameKind", "classify", "exact_potential", "finite_improvement", "has_constant_sum"]

_EQUAL = 1e-9
_CELLS_LIMIT = 200_000


@dataclass(frozen=True, eq=False, slots=True)
class GameKind:
    """Properties of a game; `potential` is an exact potential over the cells, 0 in the first cell, or None.

    `constant_sum`: payoffs of all players add up to the same in every cell; `zero_sum`: to 0. `strategically_zero_sum`
    (two players): scaling payoffs and adding to each player's what the other alone decides makes it zero-sum.
    `common_interest`: the players' payoffs are the same up to positive scale and shift. `coordination`: a square game
    in which every action belongs to exactly one strict equilibrium. `symmetric`: renaming the players changes nothing.
    """

    zero_sum: bool
    constant_sum: bool
    strategically_zero_sum: bool
    symmetric: bool
    common_interest: bool
    coordination: bool
    potential: Array | None
    finite_improvement: bool | None
    dominance_solvable: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that hold, in words."""
        flags = ("zero_sum", "constant_sum", "strategically_zero_sum", "symmetric", "common_interest", "coordination")
        words = [name.replace("_", " ") for name in flags if getattr(self, name)]
        words += ["exact potential"] if self.potential is not None else []
        words += ["finite improvement"] if self.finite_improvement else []
        return (*words, "dominance solvable") if self.dominance_solvable else tuple(words)


def classify(game: GameLike) -> GameKind:
    """Say which of the named properties `game` has.

    >>> classify(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])).names
    ('symmetric', 'exact potential', 'finite improvement', 'dominance solvable')
    """
    given = as_normal_form(game)
    game, total = _move_to_zero(given), given.given.sum(axis=0)
    slack = 0.0 if given.is_exact else _EQUAL * _largest_range(given)
    constant = has_constant_sum(given)
    return GameKind(
        zero_sum=constant and bool(abs(total).max() <= slack),
        constant_sum=constant,
        strategically_zero_sum=game.num_players == 2 and _strategically_zero_sum(game),
        symmetric=_symmetric(game),
        common_interest=_common_interest(game),
        coordination=_coordination(game),
        potential=exact_potential(game),
        finite_improvement=finite_improvement(game) if total.size <= _CELLS_LIMIT else None,
        dominance_solvable=iterated_elimination(game).solved,
    )


def exact_potential(game: NormalForm) -> Array | None:
    """Find the function that changes by what a deviating player gains, 0 in the first cell; None if there is none.

    >>> exact_potential(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])).tolist()
    [[0.0, 2.0], [2.0, 3.0]]
    """
    potential = np.zeros(game.shape)
    for i in range(game.num_players):
        later = tuple(slice(None) if k <= i else slice(0, 1) for k in range(game.num_players))
        own = game.payoffs[i][later]
        potential = potential + (own - own.take([0], axis=i))
    for i in range(game.num_players):
        rest = game.payoffs[i] - potential
        if np.ptp(rest, axis=i).max() > _EQUAL * _largest_range(game):
            return None
    return potential


def finite_improvement(game: NormalForm) -> bool:
    """Say whether players who improve one at a time, in any order, always come to rest in a pure equilibrium.

    >>> finite_improvement(NormalForm.zero_sum([[1, -1], [-1, 1]]))
    False
    """
    cells = int(np.prod(game.shape))
    if cells > _CELLS_LIMIT:
        raise TooLarge(f"improvement paths over {cells:,} cells: more than {_CELLS_LIMIT:,}")
    alive = np.ones(game.shape, dtype=np.bool_)
    while True:
        stuck = alive & ~_can_improve(game, alive)
        if not stuck.any():
            return not alive.any()
        alive &= ~stuck


def _can_improve(game: NormalForm, alive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cells from which some player gains by moving alone to a cell that is alive."""
    better = np.zeros(game.shape, dtype=np.bool_)
    for i in range(game.num_players):
        reachable = np.where(alive, game.payoffs[i], -np.inf).max(axis=i, keepdims=True)
        better |= reachable > game.payoffs[i] + _EQUAL * float(np.ptp(game.payoffs[i]))
    return better


def has_constant_sum(game: NormalForm) -> bool:
    """Say whether payoffs have the same sum in every cell: exactly where they are exact, else up to 1e-9 of a range."""
    total = game.given.sum(axis=0)
    return bool(total.max() - total.min() <= (0 if game.is_exact else _EQUAL * _largest_range(game)))


def _move_to_zero(game: NormalForm) -> NormalForm:
    """The same payoffs less the smallest of all, so that floats can tell exact ones apart."""
    if game.rationals is None:
        return game
    moved = game.rationals - game.rationals.min()
    return replace(game, payoffs=moved.astype(np.float64), rationals=moved)


def _largest_range(game: NormalForm) -> float:
    return max(float(np.ptp(own)) for own in game.payoffs) or float(np.abs(game.payoffs).max())


def _strategically_zero_sum(game: NormalForm) -> bool:
    """What remains of both payoffs after removing row and column means must be opposite up to scale."""
    parts = [_interaction(own / (float(np.ptp(own)) or 1.0)) for own in game.payoffs]
    sizes = [float(np.abs(part).max()) for part in parts]
    if min(sizes) <= _EQUAL:
        return max(sizes) <= _EQUAL
    return bool(np.abs(parts[0] / np.linalg.norm(parts[0]) + parts[1] / np.linalg.norm(parts[1])).max() <= _EQUAL)


def _interaction(own: Array) -> Array:
    return np.asarray(own - own.mean(axis=0, keepdims=True) - own.mean(axis=1, keepdims=True) + own.mean())


def _symmetric(game: NormalForm) -> bool:
    if len(set(game.shape)) > 1:
        return False
    slack = _EQUAL * _largest_range(game)
    for i in range(game.num_players - 1):
        swapped = np.swapaxes(game.payoffs, i + 1, i + 2).copy()
        swapped[[i, i + 1]] = swapped[[i + 1, i]]
        if np.abs(swapped - game.payoffs).max() > slack:
            return False
    return True


def _common_interest(game: NormalForm) -> bool:
    scaled = [(own - own.min()) / (float(np.ptp(own)) or 1.0) for own in game.payoffs]
    return all(bool(np.abs(scaled[0] - other).max() <= _EQUAL) for other in scaled[1:])


def _coordination(game: NormalForm) -> bool:
    count = game.shape[0]
    if count < 2 or any(m != count for m in game.shape):
        return False
    strict = pure_nash(game, strict=True, tolerance=_EQUAL)
    return len(strict) == count and all(len({cell[i] for cell in strict}) == count for i in range(game.num_players))
