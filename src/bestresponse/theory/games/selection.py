"""Which outcomes are good and which equilibria stand out: Pareto optimality, efficiency, payoff and risk dominance.

Definitions: the price of anarchy (stability) is the largest welfare of any outcome divided by that of the worst (best)
equilibrium (Koutsoupias and Papadimitriou 1999; Anshelevich et al. 2004). An equilibrium is payoff dominant when every
player likes it at least as much as every other one, risk dominant when the product of what players lose by leaving it
alone is larger (Harsanyi and Selten 1988).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.equilibria.extremes import require_two_players
from bestresponse.theory.equilibria.result import Equilibrium, NashResult, pure_nash
from bestresponse.theory.games.normal_form import Array, GameLike, NormalForm, as_normal_form

_CELLS_LIMIT = 20_000
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The largest sum of payoffs anywhere, at the best and at the worst equilibrium, and their ratios.

    Welfare that is only rounding is 0. A ratio is None where an equilibrium's welfare is not positive, so that it would
    mean nothing. With `complete` the
    equilibria were all known; otherwise the prices are bounds: anarchy from below, stability from above.
    """

    optimum: float
    best_equilibrium: float
    worst_equilibrium: float
    price_of_anarchy: float | None
    price_of_stability: float | None
    complete: bool


def efficiency(game: NormalForm, result: NashResult) -> Efficiency:
    """Say how much welfare the equilibria in `result` leave on the table.

    Welfare is bilinear on a Nash subset, so its extremes are at the extreme equilibria that `result` lists.
    """
    optimum = _drop_rounding(float(game.given.sum(axis=0).max()), 0.0 if game.is_exact else _largest(game.payoffs))
    welfare = [
        _drop_rounding(e.welfare, _largest(game.payoffs if e.exact is None else e.payoffs)) for e in result.equilibria
    ]
    best, worst = max(welfare), min(welfare)
    anarchy, stability = (optimum / w if w > 0 else None for w in (worst, best))
    return Efficiency(optimum, best, worst, anarchy, stability, result.complete)


def _largest(payoffs: Array) -> float:
    return float(np.abs(payoffs).max())


def _drop_rounding(total: float, unit: float) -> float:
    """A sum of numbers of size `unit`, or 0 where it is their rounding."""
    return 0.0 if abs(total) <= _EQUAL * unit else total


def pareto_optimal(game: GameLike) -> tuple[tuple[int, ...], ...]:
    """Find the cells where nobody can be made better off, in another cell, without making somebody worse off.

    >>> pareto_optimal(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))
    ((0, 0), (0, 1), (1, 0))
    """
    game = as_normal_form(game)
    points = (game.payoffs if game.units is None else game.units).reshape(game.num_players, -1).T
    if len(points) > _CELLS_LIMIT:
        raise TooLarge(f"comparing {len(points):,} cells with each other: more than {_CELLS_LIMIT:,}")
    slack = _EQUAL * np.ptp(points, axis=0) if game.units is None else np.zeros(game.num_players, dtype=np.int64)
    front = points
    for point in points[np.argsort(-points.sum(axis=1), kind="stable")]:
        worse = (front <= point + slack).all(axis=1) & (front < point - slack).any(axis=1)
        front = front[~worse]
    optimal = [bool((abs(front - point) <= slack).all(axis=1).any()) for point in points]
    return tuple(tuple(int(a) for a in np.unravel_index(k, game.shape)) for k, good in enumerate(optimal) if good)


def payoff_dominant(result: NashResult) -> Equilibrium | None:
    """Find the equilibrium that gives every player at least as much as any other, and somebody more; None if none."""
    for e in result.equilibria:
        others = [other for other in result.equilibria if other is not e]
        if others and all(_dominates(e, other) for other in others):
            return e
    return None


def _dominates(e: Equilibrium, other: Equilibrium) -> bool:
    """Whether nobody gets less and somebody more, up to rounding where payoffs are not exact."""
    if e.exact_payoffs is not None and other.exact_payoffs is not None:
        pairs = list(zip(e.exact_payoffs, other.exact_payoffs, strict=True))
        return all(u >= v for u, v in pairs) and any(u > v for u, v in pairs)
    slack = 1e-9 * np.abs(e.game.payoffs).reshape(e.game.num_players, -1).max(axis=1)
    return bool((e.payoffs >= other.payoffs - slack).all() and (e.payoffs > other.payoffs + slack).any())


def risk_dominant(game: GameLike) -> tuple[int, int] | None:
    """Find the strict pure equilibrium that risk-dominates all others; None if there is none or nothing to compare.

    Two equilibria of a larger game are compared in the 2x2 game of their own actions. Two players only.

    >>> risk_dominant(NormalForm.bimatrix([[4, 1], [3, 3]], [[4, 3], [1, 3]]))
    (1, 1)
    """
    game = as_normal_form(game)
    require_two_players(game, "risk_dominant")
    strict = [(cell[0], cell[1]) for cell in pure_nash(game, strict=True)]
    for cell in strict:
        others = [other for other in strict if other != cell]
        if others and all(_is_safer(game, cell, other) for other in others):
            return cell
    return None


def _is_safer(game: NormalForm, here: tuple[int, int], there: tuple[int, int]) -> bool:
    """Whether leaving `here` alone costs the larger product, up to rounding where payoffs are not exact."""
    mine, other = _find_losses(game, here, there), _find_losses(game, there, here)
    slack = 0 if game.units is not None else _EQUAL * (sum(mine) + sum(other))
    return mine[0] * mine[1] - other[0] * other[1] > slack


def _find_losses(game: NormalForm, here: tuple[int, int], there: tuple[int, int]) -> tuple[float, float]:
    """What each player loses who moves alone from `here` to its action in `there`; whole units where they are exact."""
    tables = [own / (_largest(own) or 1.0) for own in game.payoffs] if game.units is None else game.units
    row, col = tables[0].tolist(), tables[1].tolist()
    return (
        row[here[0]][here[1]] - row[there[0]][here[1]],
        col[here[0]][here[1]] - col[here[0]][there[1]],
    )
