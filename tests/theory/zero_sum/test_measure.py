"""Best responses, exploitability, and payoffs against every optimal opponent, on games worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import best_response_value, exploitability, optimal_opponent_range, solve_zero_sum

PENNIES = [[1, -1], [-1, 1]]
ROCK_PAPER_SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]


def test_always_rock_loses_one_to_paper():
    assert best_response_value(ROCK_PAPER_SCISSORS, [1, 0, 0]).tolist() == [-1.0]
    assert exploitability(ROCK_PAPER_SCISSORS, [1, 0, 0]).tolist() == [1.0]
    assert best_response_value(ROCK_PAPER_SCISSORS, [1, 0, 0], player="col").tolist() == [1.0]
    assert exploitability(ROCK_PAPER_SCISSORS, [1, 0, 0], player="col").tolist() == [1.0]


def test_a_batch_is_measured_game_by_game():
    batch = [PENNIES, [[3, -1], [-2, 1]]]
    half = [[0.5, 0.5], [0.5, 0.5]]
    assert best_response_value(batch, half).tolist() == [0.0, 0.0]
    assert exploitability(batch, half) == pytest.approx([0, 1 / 7])
    assert best_response_value(batch, half, player="col").tolist() == [0.0, 1.0]
    assert exploitability(batch, half, player="col") == pytest.approx([0, 6 / 7])


def test_one_strategy_goes_with_all_games_and_one_game_with_all_strategies():
    assert exploitability([PENNIES, PENNIES], [1, 0]).tolist() == [1.0, 1.0]
    assert exploitability(PENNIES, [[1, 0], [0.5, 0.5], [0, 1]]).tolist() == [1.0, 0.0, 1.0]


def test_known_values_need_not_be_solved_for_again():
    assert exploitability([PENNIES], [[1, 0]], values=[0.0]).tolist() == [1.0]


def test_a_large_offset_does_not_blur_exploitability():
    game = np.array([[3.0, -1.0], [-2.0, 1.0]]) + 1e9
    assert exploitability(game, [3 / 7, 4 / 7])[0] == pytest.approx(0, abs=2e-7)
    assert exploitability(game, [1, 0])[0] == pytest.approx(1 + 1 / 7, abs=2e-7)


@given(arrays(np.float64, (3, 4), elements=st.integers(-4, 4).map(float)))
@settings(max_examples=80, deadline=None)
def test_optimal_strategies_are_not_exploitable_and_pure_ones_are_not_less(game):
    solved = solve_zero_sum(game)
    assert exploitability(game, solved.row)[0] == pytest.approx(0, abs=1e-9)
    assert exploitability(game, solved.col, player="col")[0] == pytest.approx(0, abs=1e-9)
    assert (exploitability(game, np.eye(3)) >= 0).all()
    assert (exploitability(game, np.eye(4), player="col") >= 0).all()


def test_a_unique_optimal_opponent_gives_a_range_of_one_point():
    assert optimal_opponent_range(PENNIES, [1, 0]) == pytest.approx((0, 0), abs=1e-9)
    # y = (2/7, 5/7) is the only optimal column strategy: any row strategy gets 1/7 against it
    assert optimal_opponent_range([[3, -1], [-2, 1]], [0.25, 0.75]) == pytest.approx((1 / 7, 1 / 7), abs=1e-9)


def test_a_mistake_costs_between_nothing_and_one_if_the_opponent_is_indifferent():
    # The value is 0 and every column strategy is optimal; the second row gets -1 from the second column, 0 else.
    assert optimal_opponent_range([[0, 0], [0, -1]], [0, 1]) == pytest.approx((-1, 0), abs=1e-9)
    assert optimal_opponent_range([[0, 0], [0, -1]], [0.5, 0.5]) == pytest.approx((-0.5, 0), abs=1e-9)


def test_for_the_column_player_payoffs_are_still_the_row_players():
    # Both rows are optimal for the row player; the second column gives 0 to the first and 1 to the second.
    assert optimal_opponent_range([[0, 0], [0, 1]], [1, 0], player="col") == pytest.approx((0, 0), abs=1e-9)
    assert optimal_opponent_range([[1, 1], [1, 3]], [0, 1], player="col") == pytest.approx((1, 3), abs=1e-9)


def test_the_range_of_a_constant_game_is_its_constant():
    assert optimal_opponent_range([[5, 5], [5, 5]], [1, 0]) == (5.0, 5.0)


@given(arrays(np.float64, (3, 3), elements=st.integers(-2, 2).map(float)), st.integers(0, 2))
@settings(max_examples=80, deadline=None)
def test_the_range_lies_between_the_best_response_and_the_value(game, action):
    pure = np.eye(3)[action]
    low, high = optimal_opponent_range(game, pure)
    solved = solve_zero_sum(game)
    assert best_response_value(game, pure)[0] - 1e-8 <= low <= high <= solved.values[0] + 1e-8
    assert low - 1e-8 <= pure @ game @ solved.col[0] <= high + 1e-8


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ([0.5, 0.6], r"sum to 1.1"),
        ([1.5, -0.5], r"got -0.5 at \[0, 1\]"),
        ([0.2, 0.3, 0.5], r"2 actions of the row player"),
        ([float("nan"), 1], "nan"),
        ([[[0.5, 0.5]]], "shape"),
        ("half", "numbers"),
    ],
)
def test_what_is_no_strategy_is_refused(strategy, message):
    with pytest.raises(InvalidGame, match=message):
        exploitability(PENNIES, strategy)


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(InvalidGame, match=r"shape \(3, 2\), got \(2, 2\)"):
        exploitability([PENNIES] * 3, [[1, 0]] * 2)
    with pytest.raises(InvalidGame, match="a batch of 2"):
        optimal_opponent_range([PENNIES] * 2, [1, 0])
    with pytest.raises(InvalidGame, match="expected one strategy, got 2"):
        optimal_opponent_range(PENNIES, [[1, 0], [0, 1]])
    with pytest.raises(InvalidGame, match="values"):
        exploitability([PENNIES] * 3, [1, 0], values=[0.0, 0.0])
    with pytest.raises(InvalidGame, match="'row' or 'col'"):
        exploitability(PENNIES, [1, 0], player="nature")
