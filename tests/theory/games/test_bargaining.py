"""Nash bargaining: dividing a cake, kinked frontiers, invariance, and no deal."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import NormalForm, nash_bargaining


def test_a_cake_is_halved_and_the_stronger_threat_gets_more() -> None:
    cake = [[1, 0], [0, 1], [0, 0]]
    assert nash_bargaining(cake, [0, 0]).payoffs == pytest.approx([0.5, 0.5])
    assert nash_bargaining(cake, [0.4, 0]).payoffs == pytest.approx([0.7, 0.3])


def test_a_kink_in_the_frontier_is_the_agreement() -> None:
    # Along (0, 10)-(4, 8)-(6, 0) the product u v is largest at the corner (4, 8).
    bargain = nash_bargaining([[0, 10], [4, 8], [6, 0]], [0, 0])
    assert bargain.payoffs == pytest.approx([4, 8])
    assert bargain.weights == pytest.approx([0, 1, 0])


def test_three_players_split_a_cake_in_thirds() -> None:
    assert nash_bargaining(np.eye(3), [0, 0, 0]).payoffs == pytest.approx([1 / 3] * 3)


def test_a_game_bargains_over_mixtures_of_its_cells_from_the_security_levels() -> None:
    dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    bargain = nash_bargaining(dilemma)
    assert bargain.disagreement == pytest.approx([1, 1])
    assert bargain.payoffs == pytest.approx([3, 3])
    assert bargain.weights == pytest.approx(np.array([[1, 0], [0, 0]]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 50), st.floats(-20, 20))
def test_scale_and_origin_of_a_players_utility_do_not_matter(
    seed: int, scale: float, shift: float
) -> None:
    points = np.random.default_rng(seed).random((6, 2)) + 0.1
    plain = nash_bargaining(points, [0, 0])
    mapped = nash_bargaining(points * [scale, 1] + [shift, 0], [shift, 0])
    assert mapped.payoffs == pytest.approx(
        plain.payoffs * [scale, 1] + [shift, 0], rel=1e-5, abs=1e-5
    )
    assert plain.gap < 1e-9


def test_no_deal_is_an_error_that_says_so() -> None:
    with pytest.raises(InvalidGame, match="nothing to agree on"):
        nash_bargaining([[1, 0], [0, 1]], [2, 0])
    with pytest.raises(InvalidGame, match="better for everybody"):
        nash_bargaining([[1, 0], [0, 1]], [0.6, 0.6])
    with pytest.raises(InvalidGame, match="one payoff per player"):
        nash_bargaining([[1, 0], [0, 1]])
    with pytest.raises(InvalidGame, match="expected 2 payoffs"):
        nash_bargaining([[1, 0], [0, 1]], [0, 0, 0])
