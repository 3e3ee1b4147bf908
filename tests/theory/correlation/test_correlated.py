"""Correlated equilibria: Aumann's chicken, objectives that order as they should, batches that agree
with HiGHS."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory import NormalForm, correlated, correlated_regret, nash
from bestresponse.theory.correlation.equilibria import exact_correlated, incentives

CHICKEN = NormalForm.bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
SHAPES = [(2, 2), (3, 2), (3, 3), (2, 2, 2), (2, 3, 2)]
GAMES = st.integers(0, 10**6).map(
    lambda seed: NormalForm(
        np.random.default_rng(seed)
        .integers(-3, 4, (len(SHAPES[seed % 5]), *SHAPES[seed % 5]))
        .astype(float)
    )
)


def test_aumanns_traffic_light_doubles_the_mixed_payoff_in_chicken() -> None:
    # Aumann (1974): (1/4, 1/4, 1/2) on the two pure equilibria and mutual caution, 5.25 each.
    best = correlated(CHICKEN)
    assert best.distribution == pytest.approx(np.array([[0, 0.25], [0.25, 0.5]]))
    assert best.payoffs == pytest.approx([5.25, 5.25])
    assert best.value == pytest.approx(10.5)


@pytest.mark.parametrize("objective", ["welfare", "fairness", "any"])
def test_the_prisoners_dilemma_has_only_one_correlated_equilibrium(objective: str) -> None:
    found = correlated(DILEMMA, objective)  # type: ignore[arg-type]
    assert found.distribution == pytest.approx(np.array([[0, 0], [0, 1]]))


def test_fairness_raises_the_lowest_payoff_where_welfare_does_not() -> None:
    # Coordinate on (3, 1) or on (1, 2): welfare takes the first, fairness mixes to 5/3 each.
    game = NormalForm.bimatrix([[3, 0], [0, 1]], [[1, 0], [0, 2]])
    assert correlated(game).payoffs == pytest.approx([3, 1])
    fair = correlated(game, "fairness")
    assert fair.payoffs == pytest.approx([5 / 3, 5 / 3])
    assert fair.value == pytest.approx(5 / 3)


def test_coarse_equilibria_can_be_better_than_correlated_ones() -> None:
    # Safe pays 1 for sure and is the only correlated equilibrium. Exploiting (3, 0) with 1/3 and
    # being exploited (0, 3) with 2/3 pays (1, 2): committing in advance earns the row player at
    # most 1 and the column player at most 2.
    row = [[2, 0, 0], [3, 0, 0], [1, 1, 1]]
    game = NormalForm.bimatrix(row, np.transpose(row))
    assert correlated(game).welfare == pytest.approx(2)
    loose = correlated(game, coarse=True)
    assert loose.welfare == pytest.approx(3)
    assert correlated_regret(
        game, [[0, 2 / 3, 0], [1 / 3, 0, 0], [0, 0, 0]], coarse=True
    ) == pytest.approx([0, 0])
    assert correlated_regret(game, [[0, 2 / 3, 0], [1 / 3, 0, 0], [0, 0, 0]]) == pytest.approx(
        [2 / 3, 1 / 3]
    )


@settings(max_examples=40, deadline=None)
@given(GAMES)
def test_objectives_order_as_they_should_and_are_obeyed(game: NormalForm) -> None:
    best, fair, some = (correlated(game, o) for o in ("welfare", "fairness", "any"))
    loose = correlated(game, coarse=True)
    for found in (best, fair, some):
        assert found.violation < 1e-8
        assert correlated_regret(game, found.distribution, coarse=True).max() < 1e-8
        assert best.welfare >= found.welfare - 1e-8
        assert fair.payoffs.min() >= found.payoffs.min() - 1e-8
    assert loose.welfare >= best.welfare - 1e-8


@settings(max_examples=40, deadline=None)
@given(GAMES.filter(lambda game: game.num_players == 2))
def test_every_nash_equilibrium_is_a_correlated_one_of_no_more_welfare(game: NormalForm) -> None:
    best = correlated(game)
    for e in nash(game).equilibria:
        product = np.outer(*e.strategies)
        assert correlated_regret(game, product).max() < 1e-9
        assert e.welfare <= best.welfare + 1e-8


@settings(max_examples=30, deadline=None)
@given(GAMES, st.booleans())
def test_whole_numbers_and_floating_point_reach_the_same_welfare(
    game: NormalForm, coarse: bool
) -> None:
    p = exact_correlated(game, game.payoffs.sum(axis=0), coarse).reshape(game.shape)
    assert correlated_regret(game, p, coarse=coarse).max() < 1e-12
    assert float((p * game.payoffs.sum(axis=0)).sum()) == pytest.approx(
        correlated(game, coarse=coarse).welfare
    )


def test_payoffs_that_nearly_tie_are_certified_all_the_same() -> None:
    generator = np.random.default_rng(5)
    row, col = generator.integers(0, 3, (2, 30, 3, 3)) + 1e-7 * generator.random((2, 30, 3, 3))
    for payoffs in zip(row, col, strict=True):
        assert correlated(NormalForm(np.stack(payoffs))).violation <= 1e-9 * 3


def test_incentives_are_rows_per_player_told_and_instead() -> None:
    # Row player told "dare" (payoffs 0, 7) would instead be cautious (2, 6): gains 2 and -1, over a
    # range of 7.
    assert incentives(CHICKEN, False).toarray()[0] == pytest.approx([2 / 7, -1 / 7, 0, 0])


def test_bad_questions_are_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="welfare, fairness or any, got 'best'"):
        correlated(CHICKEN, "best")  # type: ignore[arg-type]
    with pytest.raises(InvalidGame, match="sum to 1, got sum 2"):
        correlated_regret(CHICKEN, np.full((2, 2), 0.5))
    with pytest.raises(InvalidGame, match=r"shape \(2, 2\), got \(3,\)"):
        correlated_regret(CHICKEN, [1, 0, 0])
    with pytest.raises(TooLarge, match=r"regret matching"):
        correlated(NormalForm(np.zeros((7, *(8,) * 7))))


@pytest.mark.parametrize(("size", "seed"), [(10, 5), (15, 3)])
def test_the_fairest_equilibrium_is_found_where_rounding_makes_its_floor_infeasible(size, seed):
    game = NormalForm(np.random.default_rng([size, seed]).random((2, size, size)))
    found = correlated(game, "fairness")
    assert found.violation <= 1e-8
    assert found.value >= correlated(game, "welfare").payoffs.min() - 1e-9


@pytest.mark.parametrize(("objective", "value"), [("welfare", 7), ("fairness", 3), ("any", 7)])
def test_a_game_without_choices_is_its_only_cell(objective, value):
    found = correlated([[[3]], [[4]]], objective)
    assert (found.distribution.tolist(), found.value) == ([[1.0]], value)
