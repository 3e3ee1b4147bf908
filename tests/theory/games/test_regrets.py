"""Payoffs and regret of any profile of mixed strategies."""

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import (
    deviation_payoffs,
    regret,
)


def test_the_three_players_of_a_majority_vote_gain_only_where_they_are_pivotal():
    # Everybody earns 1 where at least two choose action 1, but choosing it costs 0.25.
    votes = np.indices((2, 2, 2))
    won = votes.sum(axis=0) >= 2
    game = NormalForm(np.stack([won - 0.25 * vote for vote in votes]))
    profile = [[0, 1], [0.5, 0.5], [1, 0]]
    # The first is pivotal half of the time: 1 earns 0.5 - 0.25, 0 earns 0. The second decides
    # alone. The third would lift the chance of winning from one half to one.
    assert [values.tolist() for values in deviation_payoffs(game, profile)] == [
        [0, 0.25],
        [0, 0.75],
        [0.5, 0.75],
    ]
    assert regret(game, profile).tolist() == [0, 0.375, 0.25]


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ([[1, 0]], "profile: expected 2 mixed strategies, got 1"),
        ([[1, 0], [1, 0, 0]], r"strategy of .*: expected 2 probabilities, got shape \(3,\)"),
        (
            [[1, 0], [0.5, 0.4]],
            r"expected probabilities that sum to 1, got \[0\.5, 0\.4\] \(sum 0\.9\)",
        ),
        ([[1, 0], [0.5, 0.6]], r"\(sum 1\.1\)"),
        ([[1, 0], [1.5, -0.5]], "expected probabilities that sum to 1"),
        ([[1, 0], [float("nan"), 0.5]], "expected probabilities that sum to 1"),
    ],
)
def test_a_profile_that_is_none_is_refused_with_what_came(profile, message):
    with pytest.raises(InvalidGame, match=message):
        regret(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]), profile)


def test_rounded_probabilities_are_taken_and_visibly_wrong_ones_are_not():
    game = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    assert regret(game, [[0.5000004, 0.5], [0, 1]]) == pytest.approx([0.5, 0], abs=1e-6)
    assert regret(game, [[1.000001, -0.000001], [0, 1]]) == pytest.approx([1, 0], abs=1e-5)
    with pytest.raises(InvalidGame, match="sum to 1"):
        regret(game, [[0.50001, 0.5], [0, 1]])
    with pytest.raises(InvalidGame, match="sum to 1"):
        regret(game, [[1.00001, -0.00001], [0, 1]])
