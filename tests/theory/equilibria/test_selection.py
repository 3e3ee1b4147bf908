"""The rule that chooses among equilibria: joint payoff, then risk dominance, never the order."""

import numpy as np

from bestresponse.theory.equilibria.selection import select_equilibria
from bestresponse.theory.equilibria.solve import nash


def find_supports(row, col):
    return [e.supports for e in select_equilibria(nash(row, col).equilibria)]


def test_the_highest_joint_payoff_is_chosen_wherever_it_is_listed():
    # Stag hunt: stag is worth 4 + 4, hare 2 + 2, and the mixed equilibrium less than stag.
    assert find_supports([[4, 0], [3, 2]], [[4, 3], [0, 2]]) == [((0,), (0,))]
    assert find_supports([[2, 3], [0, 4]], [[2, 0], [3, 4]]) == [((1,), (1,))]


def test_among_equal_joint_payoffs_the_risk_dominant_one_is_chosen():
    # Both corners are worth 6 together. To leave the first costs 3 and 1, to leave the second 1
    # and 1: 3 is more than 1.
    row = [[4, 1], [1, 2]]
    col = [[2, 1], [3, 4]]
    assert find_supports(row, col) == [((0,), (0,))]
    assert find_supports(row[::-1], col[::-1]) == [((1,), (0,))]


def test_a_symmetric_game_leaves_several():
    assert find_supports([[2, 0], [0, 1]], [[1, 0], [0, 2]]) == [((0,), (0,)), ((1,), (1,))]


def test_the_choice_follows_every_order_of_rows_and_columns():
    rng = np.random.default_rng(0)
    for _ in range(40):
        row, col = rng.integers(-9, 10, (2, 3, 3))
        chosen = select_equilibria(nash(row, col).equilibria)
        rows, cols = rng.permutation(3), rng.permutation(3)
        other = select_equilibria(nash(row[rows][:, cols], col[rows][:, cols]).equilibria)
        assert len(chosen) == len(other)
        if len(chosen) == 1:
            mixes = chosen[0].strategies
            assert np.allclose(other[0].strategies[0], mixes[0][rows])
            assert np.allclose(other[0].strategies[1], mixes[1][cols])
