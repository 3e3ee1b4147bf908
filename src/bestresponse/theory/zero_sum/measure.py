"""How good a mixed strategy is in a zero-sum game: against the best response, and against optimal opponents.

All payoffs are the row player's: the row player wants them high, the column player low. `player` says whose
strategies are measured. The exploitability of a row strategy x is v - min_j (x A)_j, of a column strategy y it is
max_i (A y)_i - v, with v the value of the game: what the strategy loses to a best response, 0 exactly if it is optimal.
An opponent who is content with any optimal strategy may take less; `optimal_opponent_range` says how much less.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import Array, as_payoffs
from bestresponse.theory.linear_program import find_mixture
from bestresponse.theory.zero_sum.solve import as_batch, solve_zero_sum

Player = Literal["row", "col"]

_SUM_TOLERANCE = 1e-9
_FACE_TOLERANCE = 1e-10  # of the linear programs over optimal strategies, relative to the payoff range


def best_response_value(batch: ArrayLike, strategies: ArrayLike, *, player: Player = "row") -> Array:
    """Return the row player's payoffs (n,) when these strategies of `player` meet a best response.

    `batch` is (n, rows, cols) or one matrix; `strategies` (n, actions) or one strategy; a single one goes with all.

    >>> best_response_value([[1, -1], [-1, 1]], [0.75, 0.25]).tolist()
    [-0.5]
    """
    games = as_batch(batch)
    lowest = games.min(axis=(1, 2))
    weights = _as_strategies(strategies, games, player)
    return np.asarray(lowest + _response(games - lowest[:, None, None], weights, player))


def exploitability(
    batch: ArrayLike, strategies: ArrayLike, *, player: Player = "row", values: ArrayLike | None = None
) -> Array:
    """Say what each strategy (n, actions) of `player` loses to a best response, compared with the value of its game.

    Pass `values` (n,) if the games are already solved. The unit is that of the payoffs; never negative.

    >>> exploitability([[1, -1], [-1, 1]], [[0.5, 0.5], [0.75, 0.25]], player="col").tolist()
    [0.0, 0.5]
    """
    games = as_batch(batch)
    weights = _as_strategies(strategies, games, player)
    value = solve_zero_sum(games).values if values is None else as_payoffs(values, "values")
    if value.shape != (len(games),):
        raise InvalidGame(f"values: expected one for each of {len(games)} games, got an array of shape {value.shape}")
    lowest = games.min(axis=(1, 2))
    loss = (value - lowest) - _response(games - lowest[:, None, None], weights, player)
    return np.asarray(np.maximum(loss if player == "row" else -loss, 0.0))


def optimal_opponent_range(matrix: ArrayLike, strategy: ArrayLike, *, player: Player = "row") -> tuple[float, float]:
    """Return the row player's smallest and largest payoff when `strategy` of `player` meets any optimal opponent.

    Both equal the value if the strategy is optimal. They differ only where the opponent has more than one optimal
    strategy; the value less the smallest (for a column strategy: the largest less the value) is the regret against the
    whole set of equilibria. Found by two linear programs over the opponent's optimal strategies.

    >>> optimal_opponent_range([[0, 0], [0, -1]], [0, 1])
    (-1.0, 0.0)
    """
    games = as_batch(matrix)
    if len(games) != 1:
        raise InvalidGame(f"payoffs: expected one matrix (rows, cols), got a batch of {len(games)}")
    weights = _as_strategies(strategy, games, player)
    if weights.shape[0] != 1:
        raise InvalidGame(f"strategy: expected one strategy, got {weights.shape[0]}")
    if player == "col":
        low, high = optimal_opponent_range(-games[0].T, weights[0])
        return -high, -low
    return _range_over_optimal_columns(games[0], weights[0])


def _range_over_optimal_columns(game: Array, x: Array) -> tuple[float, float]:
    lowest, spread = game.min(), np.ptp(game)
    if spread == 0.0:
        return float(lowest), float(lowest)
    unit = (game - lowest) / spread
    solved = solve_zero_sum(unit)
    value, costs = float(solved.values[0]), x @ unit
    limits = np.full(len(unit), value + _FACE_TOLERANCE)
    found = (find_mixture(sign * costs, unit, limits) for sign in (1.0, -1.0))
    ends = [float(costs @ end) for end in (solved.col[0], *found) if end is not None]
    low, high = min(*ends, value), min(max(ends), value)
    return float(lowest + spread * low), float(lowest + spread * high)


def _response(shifted: Array, weights: Array, player: Player) -> Array:
    if player == "row":
        return np.asarray((weights[:, None, :] @ shifted)[:, 0].min(axis=1))
    return np.asarray((shifted @ weights[:, :, None])[:, :, 0].max(axis=1))


def _as_strategies(numbers: ArrayLike, games: Array, player: Player) -> Array:
    """Probabilities (n, actions) that fit the games, or InvalidGame naming the first bad place."""
    if player not in ("row", "col"):
        raise InvalidGame(f"player: expected 'row' or 'col', got {player!r}")
    weights = np.atleast_2d(as_payoffs(numbers, "strategy"))
    count, actions = len(games), games.shape[1 if player == "row" else 2]
    if weights.ndim != 2 or weights.shape[1] != actions or (1 not in (count, len(weights)) and count != len(weights)):
        raise InvalidGame(
            f"strategy: {count} games with {actions} actions of the {player} player need probabilities of shape "
            f"({count}, {actions}), got {weights.shape}"
        )
    if (weights < 0.0).any():
        place = tuple(int(i) for i in np.argwhere(weights < 0.0)[0])
        raise InvalidGame(f"strategy: expected probabilities, got {weights[place]:g} at {list(place)}")
    sums = weights.sum(axis=1)
    if (np.abs(sums - 1.0) > _SUM_TOLERANCE).any():
        worst = int(np.argmax(np.abs(sums - 1.0)))
        raise InvalidGame(f"strategy: probabilities should sum to 1, those at [{worst}] sum to {sums[worst]:.12g}")
    return weights
