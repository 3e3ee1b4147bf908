"""Zero-sum games with solutions worked out by hand or published, bad input, and what the
certificate promises."""

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory import ZeroSumStep, solve_zero_sum, solve_zero_sum_game

PENNIES = [[1, -1], [-1, 1]]
ROCK_PAPER_SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
ONEILL = [[1, -1, -1, -1], [-1, -1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1]]

# name, payoffs, value, row strategy, column strategy (each game has exactly one optimal pair)
UNIQUE = [
    ("matching pennies", PENNIES, 0, [1 / 2, 1 / 2], [1 / 2, 1 / 2]),
    ("a biased 2x2", [[3, -1], [-2, 1]], 1 / 7, [3 / 7, 4 / 7], [2 / 7, 5 / 7]),
    ("rock paper scissors", ROCK_PAPER_SCISSORS, 0, [1 / 3] * 3, [1 / 3] * 3),
    (
        "rock worth double",
        [[0, -1, 2], [1, 0, -1], [-2, 1, 0]],
        0,
        [1 / 4, 1 / 2, 1 / 4],
        [1 / 4, 1 / 2, 1 / 4],
    ),
    (
        "a 2x2 kernel inside 3x3",
        [[3, -1, 9], [-2, 1, 9], [-9, -9, -9]],
        1 / 7,
        [3 / 7, 4 / 7, 0],
        [2 / 7, 5 / 7, 0],
    ),
    ("a saddle point", [[4, 2, 3], [9, 1, 0], [0, 0, 0]], 2, [1, 0, 0], [0, 1, 0]),
    (
        "O'Neill 1987, joker first",
        ONEILL,
        -1 / 5,
        [2 / 5, 1 / 5, 1 / 5, 1 / 5],
        [2 / 5, 1 / 5, 1 / 5, 1 / 5],
    ),
    (
        "a diagonal game",
        np.diag([1.0, 2, 3, 6]),
        1 / 2,
        [1 / 2, 1 / 4, 1 / 6, 1 / 12],
        [1 / 2, 1 / 4, 1 / 6, 1 / 12],
    ),
    ("one row", [[3, 1, 2]], 1, [1], [0, 1, 0]),
    ("one column", [[3], [5], [4]], 5, [0, 1, 0], [1]),
    ("one cell", [[-7]], -7, [1], [1]),
]


@pytest.mark.parametrize(
    ("name", "payoffs", "value", "row", "col"), UNIQUE, ids=[case[0] for case in UNIQUE]
)
def test_known_games_have_their_known_solution(name, payoffs, value, row, col):
    solution = solve_zero_sum_game(payoffs)
    assert solution.value == pytest.approx(value, abs=1e-14)
    assert solution.row == pytest.approx(row, abs=1e-14)
    assert solution.col == pytest.approx(col, abs=1e-14)
    assert 0 <= solution.gap < 1e-14


def test_a_saddle_point_is_exact_even_beside_huge_payoffs():
    solution = solve_zero_sum_game([[0.1, 1e9], [-1e9, 0.3]])
    assert (solution.value, solution.gap, solution.step) == (0.1, 0.0, ZeroSumStep.SADDLE)


def test_each_size_says_which_step_solved_it():
    assert solve_zero_sum_game(PENNIES).step is ZeroSumStep.CLOSED_FORM
    assert solve_zero_sum_game(ROCK_PAPER_SCISSORS).step is ZeroSumStep.CLOSED_FORM
    assert solve_zero_sum_game(ONEILL).step is ZeroSumStep.SIMPLEX


def test_of_several_saddle_points_the_first_row_and_column_are_taken():
    solution = solve_zero_sum_game([[1, 1, 2], [0, 0, 0], [1, 1, 2]])
    assert (solution.row, solution.col) == ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0))


def test_a_constant_matrix_has_its_constant_as_value_and_no_gap():
    solutions = solve_zero_sum(np.full((2, 4, 5), 0.1))
    assert solutions.values.tolist() == [0.1, 0.1]
    assert solutions.gaps.tolist() == solutions.relative_gaps.tolist() == [0.0, 0.0]


def test_one_matrix_is_a_batch_of_one():
    solutions = solve_zero_sum(PENNIES)
    assert len(solutions) == 1
    assert solutions.row.shape == solutions.col.shape == (1, 2)
    assert [solution.value for solution in solutions] == [0.0]


def test_the_payoffs_passed_in_are_left_alone():
    for shape in ((1, 2, 2), (5, 3, 3), (1, 4, 4), (3, 2, 6)):
        batch = np.random.default_rng(0).normal(size=shape)
        before = batch.copy()
        solve_zero_sum(batch)
        assert (batch == before).all()


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ([[1, float("nan")], [0, 1]], r"got nan at \[0, 1\]"),
        ([[[1, 2], [3, 4]], [[1, 2], [float("-inf"), 4]]], r"got -inf at \[1, 1, 0\]"),
        ([], "empty"),
        ([[], []], "empty"),
        (np.zeros((0, 3, 3)), "empty"),
        ([[1, 2], [3]], "different lengths"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        ([1, 2, 3], "1 axes"),
        (np.zeros((1, 1, 2, 2)), "4 axes"),
    ],
)
def test_bad_payoffs_are_refused_with_the_place(payoffs, message):
    with pytest.raises(InvalidGame, match=message):
        solve_zero_sum(payoffs)


def test_a_large_game_keeps_to_the_largest_cost_rule_while_there_is_progress(monkeypatch):
    from bestresponse.theory.zero_sum import simplex as module

    pivots = 0
    pivot = module._Tableau.pivot

    def count(self, *arguments):
        nonlocal pivots
        pivots += 1
        pivot(self, *arguments)

    monkeypatch.setattr(module._Tableau, "pivot", count)
    solution = solve_zero_sum(np.random.default_rng(0).random((1, 400, 400)), engine="numpy")[0]
    assert solution.relative_gap <= 1e-12
    assert 3 * (400 + 400) < pivots < 4500


def test_a_game_that_does_not_fit_into_memory_is_refused_before_it_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bestresponse.theory.zero_sum.solve.measure_machine", lambda: 1000)
    with pytest.raises(TooLarge, match=r"a 10x20 game needs .* leave out actions"):
        solve_zero_sum_game(np.ones((10, 20)))
