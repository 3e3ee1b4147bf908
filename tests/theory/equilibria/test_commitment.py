"""Commitments of a leader: values worked out by hand, and a brute force search that shares no
code."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.oracles.commitment_by_brute_force import (
    count_profiles,
    find_best_commitment,
    tabulate,
)
from tests.support.random_trees import random_tree

from bestresponse.core.errors import NotCertified, UsageError
from bestresponse.theory import NormalForm, load_tree, nash, stackelberg
from bestresponse.theory.trees.normal_form import find_behaviour

# The leader's rows earn 2, 4 and 1, 3; the follower wants to match. Alone, the first row dominates
# and earns 2. Committed to one half each, the follower is indifferent and goes right: (4 + 3)/2.
FIRST = ([[2, 4], [1, 3]], [[1, 0], [0, 1]])


def test_commitment_to_a_mixture_earns_more_than_the_dominant_row():
    committed = stackelberg(FIRST)
    assert committed.exact == (Fraction(1, 2), Fraction(1, 2))
    assert committed.exact_payoffs == (Fraction(7, 2), Fraction(1, 2))
    assert committed.distribution.tolist() == [[0.0, 0.5], [0.0, 0.5]]
    assert committed.gain == 0.0
    assert nash(*FIRST)[0].payoffs.tolist() == [2.0, 1.0]


def test_commitment_to_a_single_action_earns_what_the_best_reply_leaves():
    committed = stackelberg(FIRST, pure=True)
    assert committed.strategy.tolist() == [0.0, 1.0]
    assert committed.payoffs.tolist() == [3.0, 1.0]


def test_the_column_player_may_lead():
    turned = (np.transpose(FIRST[1]), np.transpose(FIRST[0]))
    committed = stackelberg(turned, "col")
    assert committed.exact == (Fraction(1, 2), Fraction(1, 2))
    assert committed.payoffs.tolist() == [0.5, 3.5]


def test_many_replies_are_solved_by_linear_programs_as_well():
    generator = np.random.default_rng(5)
    payoffs = generator.integers(0, 50, (2, 21, 20))
    by_programs = stackelberg(payoffs)
    assert "HiGHS" in by_programs.method
    small = stackelberg(payoffs[:, :20])
    assert "whole numbers" in small.method
    # Another row can only help the leader.
    assert by_programs.value >= small.value - 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_the_best_corner_is_the_best_commitment(seed):
    generator = np.random.default_rng(seed)
    shape = (2, *generator.integers(1, 5, 2))
    payoffs = generator.integers(0, 7, shape)
    leader = seed % 2
    own, others = (payoffs[k].T if leader else payoffs[k] for k in (leader, 1 - leader))
    assert stackelberg(payoffs, leader).value == pytest.approx(find_best_commitment(own, others))


def test_of_three_players_the_leader_tells_the_others_what_to_do():
    # The followers earn 1 where they match each other and the leader earns 3 if they do so on the
    # second action while it plays the first; nothing keeps them from it.
    payoffs = np.zeros((3, 2, 2, 2))
    payoffs[0, 0, 1, 1] = 3.0
    payoffs[1:, :, [0, 1], [0, 1]] = 1.0
    committed = stackelberg(payoffs)
    assert committed.payoffs.tolist() == [3.0, 1.0, 1.0]
    assert committed.distribution[0, 1, 1] == 1.0


def test_a_commitment_to_signals_equals_the_mixed_one_of_two_players():
    # A third player without a choice makes the program over cells solve the game of two.
    for seed in range(10):
        pair = np.random.default_rng(seed).integers(0, 9, (2, 3, 3)).astype(float)
        three = np.stack([*pair, np.zeros((3, 3))])[..., None]
        assert stackelberg(three).value == pytest.approx(stackelberg(pair).value)


def test_in_a_tree_a_promise_not_to_fight_back_is_worth_what_it_deters():
    # The incumbent commits to fight, so that the entrant stays out: 1 and 5. The entrant has nothing
    # to commit to but to come in.
    entry = load_tree("entry-deterrence")
    committed = stackelberg(entry, "incumbent")
    assert committed.payoffs.tolist() == [1.0, 5.0]
    assert find_behaviour(entry, committed.strategies).at("incumbent", "entry")["fight"] > 0
    assert stackelberg(entry).payoffs.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("seed", range(20))
def test_brute_force_finds_the_same_commitment_in_trees(seed):
    rng = Random(1000 + seed)
    leader = seed % 2
    while True:
        tree = random_tree(rng, 2, depth=3, zero_sum=False)
        if count_profiles(tree) <= 60:
            payoffs = tabulate(tree)
            own, others = (payoffs[k].T if leader else payoffs[k] for k in (leader, 1 - leader))
            if len(own) <= 8:
                break
    found = stackelberg(tree, leader)
    assert found.value == pytest.approx(find_best_commitment(own, others), abs=1e-7)
    assert found.gain < 1e-8


def test_commitments_that_cannot_be_made_are_refused():
    with pytest.raises(UsageError, match="leader: expected one of row, col"):
        stackelberg(FIRST, "nobody")
    with pytest.raises(UsageError, match="leave it out for more than two players"):
        stackelberg(np.zeros((3, 2, 2, 2)), pure=True)
    with pytest.raises(UsageError, match="has one player"):
        stackelberg(NormalForm([[1.0, 2.0]]))
    with pytest.raises(NotCertified, match="not found within 0 s"):
        stackelberg(load_tree("kuhn-poker"), seconds=0.0)
