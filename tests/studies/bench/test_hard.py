"""Hard games: their supports and margins are computed anew by a linear program of another library."""

import numpy as np
import pytest
from scipy.optimize import linprog

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.hard import draw_hard, measure_margin


def solve(matrix):
    """Return an optimal strategy of the row player, by scipy."""
    rows, cols = matrix.shape
    found = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-matrix.T, np.ones((cols, 1))]),
        b_ub=np.zeros(cols),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0, 1)] * rows + [(None, None)],
    )
    return found.x[:-1]


@pytest.mark.parametrize("number", range(7))
def test_both_players_of_a_hard_game_mix_at_least_four_of_six_to_twelve_actions(number):
    own, other = draw_hard(number, seed=3, scale=100.0, decimals=0)
    assert own.shape == (6 + number, 6 + number)
    assert np.array_equal(own, -other)
    for matrix in (own, other.T):
        assert np.count_nonzero(solve(matrix) > 1e-7) >= 4


def test_the_margin_is_what_the_best_action_outside_the_support_loses():
    # Four pairs of matching pennies' kind: each diagonal action wins 4 where it meets its own. All
    # four are played equally often, worth 1 each. A fifth action is worth 1/2 to whoever has it.
    payoffs = np.full((5, 5), 0.5)
    payoffs[:4, :4] = 4 * np.eye(4)
    payoffs[:4, 4] = 1.75
    mix = np.array([0.25, 0.25, 0.25, 0.25, 0.0])
    assert measure_margin(payoffs, mix, mix) == pytest.approx(0.5)  # 0.75 for the other
    assert measure_margin(np.eye(3), np.full(3, 1 / 3), np.full(3, 1 / 3)) == float("inf")


def test_hard_games_are_the_same_whatever_the_length_of_the_run(tmp_path):
    runs = []
    for count in (1, 2):
        run = br.bench("maximin", num_games=count, suite="hard", seed=2, output_dir=tmp_path)
        runs.append([row["row_payoffs"] for row in run.frame("games").select(player="uniform")])
    assert runs[0] == runs[1][:1]
    assert [len(payoffs) for payoffs in runs[1]] == [6, 7]


@pytest.mark.parametrize("changes", [{"num_rows": 4}, {"family": "uniform"}, {"game": "chicken"}])
def test_settings_that_the_suite_sets_itself_are_refused(changes):
    with pytest.raises(SettingError):
        BenchConfig("m", suite="hard", **changes)
