"""alpha-Rank: published figures, symmetry, and very strong selection."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory import catalogue, generators
from bestresponse.theory.dynamics.alpha_rank import alpha_rank
from bestresponse.theory.games.isomorphs import random_isomorph
from bestresponse.theory.games.normal_form import NormalForm


def commitment_game():
    """Proposers of agreements, cooperators, defectors, fake committers, free riders.

    Han, Pereira, Santos & Lenaerts, "Good agreements make good friends", Scientific Reports 3,
    2013: T = 2, R = 1, P = 0, S = -1, compensation 4, cost of arranging an agreement 1/4.
    """
    row = np.array(
        [
            [0.875, 0.75, 0, 2.75, 0.75],
            [1, 1, -1, -1, -1],
            [0, 2, 0, 0, 0],
            [-2, 2, 0, 0, 0],
            [1, 2, 0, 0, 0],
        ]
    )
    return NormalForm.bimatrix(row, row.T)


def test_the_cooperation_game_of_han_et_al_gives_the_published_distribution():
    found = alpha_rank(commitment_game(), alpha=0.1, population=20, one_population=True)
    assert found.probabilities == pytest.approx(
        [0.40967, 0.07960, 0.20507, 0.08506, 0.22060], abs=5e-6
    )
    assert found.residual < 1e-15


def test_the_ranking_is_sorted_and_labelled():
    found = alpha_rank(commitment_game(), alpha=0.1, population=20, one_population=True)
    assert [labels for labels, _ in found.ranking()] == [
        ("a0",),
        ("a4",),
        ("a2",),
        ("a3",),
        ("a1",),
    ]


@pytest.mark.parametrize("alpha", [0.0, 0.1, 10.0, 1e6])
def test_cycles_get_equal_shares_whatever_the_strength_of_selection(alpha):
    pennies = alpha_rank(catalogue.load("matching-pennies"), alpha=alpha)
    assert pennies.probabilities == pytest.approx([0.25] * 4)
    circle = alpha_rank(catalogue.load("rock-paper-scissors"), alpha=alpha, one_population=True)
    assert circle.probabilities == pytest.approx([1 / 3] * 3)


def test_shares_sum_to_one_where_selection_is_as_strong_as_can_be():
    # Two best actions tie, the first one earns 1 less: 1e10 / (2 individuals x range 1) is the
    # strongest selection.
    found = alpha_rank(NormalForm([[0, 1, 1]]), alpha=5e9, population=2)
    assert found.probabilities == pytest.approx([0, 0.5, 0.5])


def test_selection_so_strong_that_rounding_would_rank_the_profiles_is_refused():
    # 1e10 / (50 individuals x range 1e9) = 0.2
    with pytest.raises(UsageError, match=r"alpha: expected at most 0\.2 for such payoffs, got 100"):
        alpha_rank(NormalForm([[0, 1e9, 1e9]]))


def test_without_selection_all_profiles_are_equally_frequent():
    found = alpha_rank(generators.uniform(4, (2, 3, 2)), alpha=0)
    assert found.probabilities == pytest.approx([1 / 12] * 12)


def test_strong_selection_leads_to_the_strict_equilibria():
    found = alpha_rank(catalogue.load("battle-of-the-sexes"), alpha=1e4)
    assert found.ranking()[0] == (("opera", "opera"), pytest.approx(0.5))
    assert found.ranking()[1] == (("football", "football"), pytest.approx(0.5))
    dilemma = alpha_rank(catalogue.load("prisoners-dilemma"), alpha=1e4)
    assert dilemma.ranking()[0] == (("defect", "defect"), pytest.approx(1))


def test_two_actions_of_one_population_follow_detailed_balance():
    game = catalogue.load("stag-hunt")
    found = alpha_rank(game, alpha=0.3, population=10, one_population=True)
    (_, up), (down, _) = found.transitions
    assert found.probabilities == pytest.approx([down / (up + down), up / (up + down)])


def test_fixation_of_a_neutral_mutant_is_one_over_the_population():
    game = NormalForm.bimatrix([[1, 1], [1, 1]], [[1, 1], [1, 1]])
    assert alpha_rank(game, population=8, one_population=True).transitions[0, 1] == pytest.approx(
        1 / 8
    )
    assert alpha_rank(game, population=8).transitions[0, 1] == pytest.approx(1 / 16)


def test_a_mutant_that_earns_one_more_takes_over_with_the_closed_form_probability():
    game = NormalForm.bimatrix([[1, 1], [0, 0]], [[0, 0], [0, 0]])
    found = alpha_rank(game, alpha=0.5, population=4)
    fixation = (1 - np.exp(-0.5)) / (1 - np.exp(-2))
    assert found.transitions[2, 0] == pytest.approx(fixation / 2)
    assert found.transitions[0, 2] == pytest.approx((np.exp(0.5) - 1) / (np.exp(2) - 1) / 2)


@example(seed=9533, alpha=28.0)
@given(seed=st.integers(0, 2**32), alpha=st.floats(0, 50))
@settings(max_examples=30, deadline=None)
def test_every_profile_keeps_its_share_when_the_game_is_rewritten(seed, alpha):
    game = generators.uniform(seed, (3, 2))
    other = random_isomorph(seed, game, affine=False)
    here = alpha_rank(game, alpha=alpha).probabilities.reshape(game.shape)
    there = alpha_rank(other.game, alpha=alpha).probabilities.reshape(other.game.shape)
    moved = here.transpose(other.order)[np.ix_(*other.actions)]
    assert moved == pytest.approx(there, abs=1e-9)


@given(seed=st.integers(0, 2**32), alpha=st.sampled_from([1.0, 10.0, 100.0, 1e4]))
@settings(max_examples=40, deadline=None)
def test_selection_of_any_strength_gives_a_certified_distribution(seed, alpha):
    found = alpha_rank(generators.uniform(seed, (3, 4)), alpha=alpha)
    assert found.probabilities.sum() == pytest.approx(1)
    assert found.probabilities.min() >= 0
    assert found.residual < 1e-9


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alpha": -1}, "alpha: expected a number >= 0"),
        ({"population": 1}, "at least 2 individuals"),
        ({"one_population": True}, "expected a symmetric game"),
    ],
)
def test_bad_arguments_say_what_was_expected(options, match):
    with pytest.raises(UsageError, match=match):
        alpha_rank(catalogue.load("battle-of-the-sexes"), **options)


def test_too_many_profiles_are_refused():
    with pytest.raises(TooLarge, match="9801 profiles"):
        alpha_rank(catalogue.load("travelers-dilemma"))
