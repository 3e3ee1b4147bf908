"""Ratings: odds worked out by hand, and players and tasks that are entered twice."""

import numpy as np
import pytest

from bestresponse.report.stats.ratings import average_by_nash, count_wins, rate_wins


def test_ten_to_one_are_400_points_and_a_tie_is_half_a_win():
    # 9.5 wins to 0.5 and the tie that everybody is given: odds of ten to one.
    first, second = rate_wins(np.array([[0.0, 9.5], [0.5, 0.0]]))
    assert (first, second) == (pytest.approx(1200), pytest.approx(800))
    scores = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, np.nan]])
    wins = count_wins(scores)
    assert wins[:, 0, 1].tolist() == [0.5, 1.0, 0.0]
    assert wins[:, 1, 0].tolist() == [0.5, 0.0, 0.0]


def test_who_always_wins_has_a_finite_rating_and_odds_hold_for_three():
    ratings = rate_wins(count_wins(np.array([[3.0] * 9, [2.0] * 9, [1.0] * 9])).sum(axis=0))
    assert np.isfinite(ratings).all()
    assert ratings[0] - ratings[1] == pytest.approx(ratings[1] - ratings[2])
    # At the likeliest strengths everybody is expected to win as often as it did.
    odds = 10 ** ((ratings[:, None] - ratings) / 400)
    met = 9 + 0.5
    expected = (odds / (1 + odds) * met).sum(axis=1) - met / 2
    assert expected == pytest.approx([18.5, 9.5, 0.5])


@pytest.mark.parametrize("seed", range(4))
def test_a_player_or_a_task_that_is_entered_twice_moves_nobody(seed):
    scores = np.random.default_rng(seed).integers(0, 6, (5, 12)).astype(float)
    alone = average_by_nash(scores)
    twice = average_by_nash(np.vstack([scores, scores[2], scores[2]]))
    assert twice[:5] == pytest.approx(alone)
    assert twice[5] == pytest.approx(alone[2])
    assert average_by_nash(np.hstack([scores, scores[:, [3, 3, 7]]])) == pytest.approx(alone)
    # As opponents of each other both are entered: a column and a row.
    again = [0, 1, 2, 3, 4, 1]
    square = scores[:, :5]
    assert average_by_nash(square[np.ix_(again, again)])[:5] == pytest.approx(
        average_by_nash(square)
    )


def test_tasks_weigh_as_they_separate():
    # The first two tasks are a game of matching; the third tells nobody from anybody.
    scores = np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0], [0.0, 0.0, 5.0]])
    assert average_by_nash(scores) == pytest.approx([-0.5, -0.5, -1.0], abs=1e-6)
    # Who is best everywhere is behind nobody, and the others are behind by the mean.
    assert average_by_nash(np.array([[2.0, 1.0], [0.0, 0.0]])) == pytest.approx([0.0, -1.5])
