"""Kinds of games and outstanding outcomes, on games whose properties are known."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.analysis.solve.document import payoff_blocks
from bestresponse.analysis.solve.facts import mix_text
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.theory import (
    NormalForm,
    classify,
    efficiency,
    exact_potential,
    finite_improvement,
    nash,
    pareto_optimal,
    payoff_dominant,
    pure_nash,
    risk_dominant,
)

DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
STAG_HUNT = NormalForm.bimatrix([[4, 1], [3, 3]], [[4, 3], [1, 3]])
PENNIES = NormalForm.zero_sum([[1, -1], [-1, 1]])
BATTLE = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])


def test_matching_pennies_is_zero_sum_and_nothing_else() -> None:
    assert classify(PENNIES).names == ("zero sum", "constant sum", "strategically zero sum")


def test_the_prisoners_dilemma_is_a_symmetric_potential_game_solved_by_dominance() -> None:
    kind = classify(DILEMMA)
    assert kind.names == (
        "symmetric",
        "exact potential",
        "finite improvement",
        "dominance solvable",
    )
    assert kind.potential is not None
    assert kind.potential.tolist() == [[0, 2], [2, 3]]


def test_battle_of_the_sexes_is_coordination_without_common_interest() -> None:
    kind = classify(BATTLE)
    assert kind.coordination
    assert not kind.common_interest
    assert not kind.symmetric


def test_payoffs_equal_up_to_scale_and_shift_are_common_interest() -> None:
    row = np.array([[1.0, 5.0], [2.0, 0.0]])
    assert classify(NormalForm.bimatrix(row, 3 * row - 7)).common_interest
    assert not classify(NormalForm.bimatrix(row, -row)).common_interest


def test_adding_what_the_opponent_alone_decides_keeps_a_game_strategically_zero_sum() -> None:
    row = np.array([[1.0, -1.0], [-1.0, 1.0]])
    moved = NormalForm.bimatrix(3 * row + [[5, 2]], -row + [[1], [9]])
    kind = classify(moved)
    assert kind.strategically_zero_sum
    assert not kind.constant_sum


def test_a_congestion_game_has_rosenthals_potential() -> None:
    # Two players choose one of two roads; a road costs its number of users times 1 or 2. Rosenthal
    # (1973).
    row = -np.array([[2.0, 1.0], [2.0, 4.0]])
    col = row.T
    potential = exact_potential(NormalForm.bimatrix(row, col))
    rosenthal = -np.array([[1 + 2, 1 + 2], [2 + 1, 2 + 4]])
    assert potential is not None
    assert potential == pytest.approx(rosenthal - rosenthal[0, 0])


def test_the_potential_of_a_single_player_is_its_own_payoff_also_beyond_small_numbers() -> None:
    # In units of 1/3 the payoffs span more than 2^31: 3e9 - 1/3 = 8,999,999,999 thirds.
    kind = classify(NormalForm([[Fraction(1, 3), 3_000_000_000]]))
    assert kind.potential is not None
    assert kind.potential.tolist() == [0, 3_000_000_000 - 1 / 3]


def test_improvement_paths_can_be_finite_without_an_exact_potential() -> None:
    game = NormalForm.bimatrix([[1, 0], [2, 0]], [[2, 0], [0, 1]])
    assert exact_potential(game) is None
    assert finite_improvement(game)
    assert not finite_improvement(PENNIES)


def test_three_player_symmetry_needs_every_swap() -> None:
    contributions = np.indices((2, 2, 2))
    payoffs = np.stack([contributions.sum(axis=0) - 2.0 * contributions[i] for i in range(3)])
    assert classify(NormalForm(payoffs)).symmetric
    payoffs[2] *= 2
    assert not classify(NormalForm(payoffs)).symmetric


def test_the_stag_hunt_is_payoff_dominant_one_way_and_risk_dominant_the_other() -> None:
    best = payoff_dominant(nash(STAG_HUNT))
    assert best is not None
    assert best.supports == ((0,), (0,))
    assert risk_dominant(STAG_HUNT) == (1, 1)


def test_nothing_is_risk_or_payoff_dominant_where_the_players_are_even() -> None:
    assert risk_dominant(BATTLE) is None
    assert payoff_dominant(nash(BATTLE)) is None
    assert risk_dominant(DILEMMA) is None


def test_everything_but_mutual_defection_is_pareto_optimal_in_the_dilemma() -> None:
    assert pareto_optimal(DILEMMA) == ((0, 0), (0, 1), (1, 0))


def test_the_dilemma_costs_a_factor_of_three_either_way() -> None:
    found = efficiency(DILEMMA, nash(DILEMMA))
    assert (found.optimum, found.price_of_anarchy, found.price_of_stability) == (6, 3, 3)


def test_the_best_and_the_worst_equilibrium_of_a_hunt_are_told_apart() -> None:
    # Both hunt the stag: 4 each. Both hunt the hare, or mix so that it makes no difference: 3 each.
    hunt = NormalForm.bimatrix([[4, 0], [3, 3]], [[4, 3], [0, 3]])
    found = efficiency(hunt, nash(hunt))
    assert (found.optimum, found.best_equilibrium, found.worst_equilibrium) == (8, 8, 6)
    assert (found.price_of_anarchy, found.price_of_stability) == (8 / 6, 1)


def test_welfare_that_is_only_rounding_gives_no_price() -> None:
    third = NormalForm.zero_sum(np.array([[-5, 6, -8, -2], [-7, 4, 2, 6]]) / 24)
    found = efficiency(third, nash(third))
    assert (found.optimum, found.best_equilibrium, found.worst_equilibrium) == (0, 0, 0)
    assert (found.price_of_anarchy, found.price_of_stability) == (None, None)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e-9, 1.0, 1e9, 1e140])
def test_the_unit_of_payoffs_changes_nothing(scale: float) -> None:
    stag = NormalForm(STAG_HUNT.payoffs * scale)
    best = payoff_dominant(nash(stag))
    assert best is not None
    assert best.supports == ((0,), (0,))
    assert risk_dominant(stag) == (1, 1)
    assert classify(NormalForm(BATTLE.payoffs * scale)).names == classify(BATTLE).names
    assert [
        e.evolutionarily_stable for e in nash(NormalForm(BATTLE.payoffs * scale)).equilibria
    ] == [None] * 3
    unequal = classify(NormalForm.bimatrix([[scale]], [[2 * scale]]))
    assert (unequal.zero_sum, unequal.symmetric) == (False, False)


def test_a_price_without_positive_welfare_is_not_given() -> None:
    found = efficiency(PENNIES, nash(PENNIES))
    assert found.price_of_anarchy is None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_games_built_from_a_potential_are_recognised_and_rest_at_its_maximum(seed: int) -> None:
    generator = np.random.default_rng(seed)
    potential = generator.integers(0, 9, (2, 3, 2)).astype(float)
    payoffs = np.stack(
        [potential + generator.integers(0, 9, shape) for shape in ((1, 3, 2), (2, 1, 2), (2, 3, 1))]
    )
    game = NormalForm(payoffs)
    found = exact_potential(game)
    assert found is not None
    assert found == pytest.approx(potential - potential[0, 0, 0])
    assert finite_improvement(game)
    assert tuple(
        int(a) for a in np.unravel_index(potential.argmax(), potential.shape)
    ) in pure_nash(game)


def test_sums_of_integers_beyond_floats_are_compared_exactly() -> None:
    large = 2**53
    not_constant = NormalForm.bimatrix(
        [[large + 1, large], [large, large]], [[large + 1, large + 1], [large, large]]
    )
    assert not classify(not_constant).constant_sum
    constant = NormalForm.zero_sum([[large + 1, large], [large, large + 1]])
    assert classify(constant).zero_sum
    assert not classify(constant).common_interest
    assert solve_form(not_constant).value is None


FAR_APART = NormalForm.bimatrix([[10**13, 0], [0, 1]], [[1, 0], [0, 10**13]])
"""Battle of the sexes with payoffs so far apart that the small ones are less than a rounding of the
large ones."""


def test_small_payoffs_count_beside_large_ones_where_all_are_exact() -> None:
    kind = classify(FAR_APART)
    assert kind.coordination
    assert not kind.common_interest
    assert not kind.strategically_zero_sum
    assert pareto_optimal(FAR_APART) == ((0, 0), (1, 1))
    prices = efficiency(FAR_APART, nash(FAR_APART))
    assert prices.worst_equilibrium == pytest.approx(2)
    assert prices.price_of_anarchy == pytest.approx((10**13 + 1) / 2)


def test_integers_beyond_floats_are_told_apart() -> None:
    large = 2**53
    kind = classify(NormalForm.bimatrix([[large + 1, 0], [large, 1]], [[large, 0], [large + 1, 1]]))
    assert not kind.common_interest
    assert not kind.strategically_zero_sum
    assert not kind.symmetric
    assert kind.potential is None
    same = [[large + 1, 0], [large, 1]]
    assert classify(NormalForm.bimatrix(same, same)).common_interest


def test_the_page_of_a_game_marks_only_best_responses_and_names_every_action_of_a_mixture() -> None:
    (table,) = payoff_blocks(FAR_APART)
    assert [row[1:] for row in table.rows] == [("1e+13*, 1*", "0, 0"), ("0, 0", "1*, 1e+13*")]
    mixed = nash(FAR_APART).equilibria[-1]
    mix, exact = mixed.strategies[0].tolist(), map(str, mixed.exact[0])
    names = ("a0", "a1")
    assert (
        mix_text(dict(zip(names, mix, strict=True)), dict(zip(names, exact, strict=True)))
        == "1 a0 + 1e-13 a1"
    )


def test_risk_dominance_is_decided_by_whole_products_however_close_they_are() -> None:
    half = 2**30
    nearly = NormalForm.bimatrix([[half + 1, 0], [0, half]], [[half - 1, 0], [0, half]])
    assert risk_dominant(nearly) == (1, 1)
    assert (
        risk_dominant(NormalForm.bimatrix([[half, 0], [0, half]], [[half, 0], [0, half]])) is None
    )
    large = 10**140
    assert risk_dominant(NormalForm.bimatrix([[large, 0], [0, 1]], [[1, 0], [0, large]])) is None


def test_products_that_are_equal_but_for_rounding_make_no_equilibrium_risk_dominant() -> None:
    row = [[0.1 + 0.2, 0.0], [0.0, 0.3]]
    assert risk_dominant(NormalForm.bimatrix(row, row)) is None


def test_a_strict_equilibrium_is_evolutionarily_stable_however_small_its_payoff_is_beside_others() -> (
    None
):
    row = [[1, 0], [0, 10**13]]
    game = NormalForm.bimatrix(row, row)
    assert [e.evolutionarily_stable for e in nash(game).equilibria] == [True, True, False]
    thirds = NormalForm.bimatrix(
        [[0, 3, 3], [3, 0, 3], [3, 3, 0]], [[0, 3, 3], [3, 0, 3], [3, 3, 0]]
    )
    assert [e.evolutionarily_stable for e in nash(thirds).equilibria if e.kind == "mixed"][
        -1
    ] is True
    assert risk_dominant(game) == (1, 1)
    chicken = NormalForm.bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    assert [e.evolutionarily_stable for e in nash(chicken).equilibria] == [None, None, True]
