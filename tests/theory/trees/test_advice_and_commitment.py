"""Extensive-form correlated equilibria and commitments: values worked out by hand, and a brute force
search that shares no code."""

from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from tests.oracles.advice_by_brute_force import (
    count_profiles,
    find_best_commitment,
    find_best_welfare,
    tabulate,
)
from tests.support.random_trees import random_tree

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory import (
    Chance,
    Leaf,
    NormalForm,
    Turn,
    build_tree,
    correlate_tree,
    correlated,
    load_tree,
    nash,
    stackelberg,
    stackelberg_tree,
    to_normal_form,
    to_sequence_form,
)
from bestresponse.theory.deadline import NEVER
from bestresponse.theory.trees.correlation import (
    MediatorProgram,
    is_triangle_free,
    solve_weights,
    weigh_pairs,
    weigh_plans,
)


def hiring() -> object:
    """The signalling game of von Stengel and Forges (2008): a good or bad student sends X or Y,
    which cost nothing; the professor sees the signal and hires or refuses."""

    def professor(signal: str, hired: list[int]) -> Turn:
        return Turn("professor", signal, {"hire": Leaf(hired), "refuse": Leaf([0, 6])})

    def student(kind: str, hired: list[int]) -> Turn:
        return Turn("student", kind, {s: professor(s, hired) for s in ("X", "Y")})

    half = Fraction(1, 2)
    kinds = {
        "good": (half, student("good", [4, 10])),
        "bad": (half, student("bad", [6, 0])),
    }
    return build_tree(["student", "professor"], Chance(kinds))


def test_advice_given_move_by_move_lets_the_good_student_be_hired():
    # Told in advance, the bad student would send the good one's signal, and nobody is hired: 0, 6.
    told_before = correlated(to_normal_form(hiring()))
    assert told_before.payoffs == pytest.approx([0.0, 6.0], abs=1e-9)
    # Told at its information set, the bad student does not know the good one's signal, and guesses
    # right at least half of the time. A good student that is hired is worth 14, everything else 6.
    best = correlate_tree(hiring())
    assert best.welfare == pytest.approx(0.5 * 14 + 0.5 * 6)
    assert best.gain < 1e-9
    assert best.outcomes.sum() == pytest.approx(1.0)
    hired = 0.0
    for leaf, probability in zip(best.tree.leaves.tolist(), best.outcomes, strict=True):
        if best.tree.path(leaf).startswith("good") and best.tree.path(leaf).endswith("hire"):
            hired += probability
    assert hired == pytest.approx(0.5)


def test_the_fairest_advice_hires_as_many_bad_students_as_the_professor_accepts():
    # With all good and a share b of bad students hired on a signal, hiring is best for the professor
    # while 10 >= 6 (1 + b), so b = 2/3: 4/2 + 6 b/2 = 4 for the student, 10/2 + 6 (1 - b)/2 = 6.
    fair = correlate_tree(hiring(), "fairness")
    assert fair.value == pytest.approx(4.0)
    assert fair.payoffs == pytest.approx([4.0, 6.0])


def test_the_mediators_draw_gives_back_the_payoffs():
    best = correlate_tree(hiring())
    table = to_normal_form(hiring())
    total = np.zeros(2)
    for draw in best.drawn:
        cell = tuple(table.actions[k].index(plan) for k, plan in enumerate(draw.plans))
        total += draw.probability * table.payoffs[(slice(None), *cell)]
    assert total == pytest.approx(best.payoffs)


def test_a_threat_is_advice_too_as_in_a_nash_equilibrium():
    # In entry deterrence (out, fight) is a Nash equilibrium that earns 1 and 5.
    assert correlate_tree(load_tree("entry-deterrence")).payoffs == pytest.approx([1.0, 5.0])


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_brute_force_finds_the_same_welfare(seed, coarse):
    rng = Random(seed)
    players = 2 + seed % 2
    tree = random_tree(rng, players, depth=3, zero_sum=False)
    while not 4 <= count_profiles(tree) <= 144:
        tree = random_tree(rng, players, depth=3, zero_sum=False)
    found = correlate_tree(tree, coarse=coarse)
    assert found.welfare == pytest.approx(find_best_welfare(tree, coarse=coarse), abs=1e-7)


@pytest.mark.parametrize("coarse", [False, True])
def test_pairs_of_sequences_and_profiles_of_plans_agree_where_no_triangle_is(coarse):
    compared = 0
    for seed in range(40):
        tree = random_tree(Random(seed), 2, depth=4, zero_sum=False)
        form = to_sequence_form(tree)
        if not is_triangle_free(form):
            continue
        program = MediatorProgram(form, coarse)
        try:
            plans = solve_weights(program, weigh_plans(program), "welfare", NEVER)
        except TooLarge:
            continue
        pairs = solve_weights(program, weigh_pairs(program), "welfare", NEVER)
        assert pairs.welfare == pytest.approx(plans.welfare, abs=1e-7)
        compared += 1
    assert compared >= 20


def test_the_kinds_of_advice_contain_each_other():
    # Nash and correlated, extensive-form correlated, its coarse kind, coarse correlated: each allows
    # more than the one before.
    for seed in range(8):
        tree = random_tree(Random(seed), 2, depth=4, zero_sum=False)
        table = to_normal_form(tree)
        if table.payoffs.size > 2_000:
            continue
        steps = [
            correlated(table).welfare,
            correlate_tree(tree).welfare,
            correlate_tree(tree, coarse=True).welfare,
            correlated(table, coarse=True).welfare,
        ]
        assert all(a <= b + 1e-7 for a, b in pairwise(steps))


def test_what_cannot_be_advised_is_said():
    with pytest.raises(UsageError, match="expected welfare, fairness or any, got 'entropy'"):
        correlate_tree(hiring(), "entropy")
    with pytest.raises(NotCertified, match="not solved within 0 s"):
        correlate_tree(load_tree("kuhn-poker"), seconds=0.0)


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
    committed = stackelberg_tree(entry, "incumbent")
    assert committed.payoffs == {"entrant": 1.0, "incumbent": 5.0}
    assert committed.policy.at("incumbent", "entry")["fight"] > 0
    assert stackelberg_tree(entry).payoffs == {"entrant": 2.0, "incumbent": 2.0}


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
    found = stackelberg_tree(tree, leader)
    assert found.value == pytest.approx(find_best_commitment(own, others), abs=1e-7)
    assert found.gain < 1e-8


def test_the_table_of_a_tree_has_the_same_commitment():
    for name in ("centipede", "kuhn-poker"):
        tree = load_tree(name)
        table = to_normal_form(tree)
        for leader in (0, 1):
            by_tree = stackelberg_tree(tree, leader).value
            assert by_tree == pytest.approx(stackelberg(table, leader).value, abs=1e-7)


def test_commitments_that_cannot_be_made_are_refused():
    with pytest.raises(UsageError, match="leader: expected one of row, col"):
        stackelberg(FIRST, "nobody")
    with pytest.raises(UsageError, match="leave it out for more than two players"):
        stackelberg(np.zeros((3, 2, 2, 2)), pure=True)
    with pytest.raises(UsageError, match="has one player"):
        stackelberg(NormalForm([[1.0, 2.0]]))
    with pytest.raises(NotCertified, match="not found within 0 s"):
        stackelberg_tree(load_tree("kuhn-poker"), seconds=0.0)
