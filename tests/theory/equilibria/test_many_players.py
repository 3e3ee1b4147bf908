"""More than two players: pure equilibria, mixed ones by Newton's method, one by tracing; each with its certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestresponse.core.errors import TooLarge
from bestresponse.theory import NormalForm, nash, nash_one, pure_nash, regret
from bestresponse.theory.equilibria.newton import scaled, worst_regret
from bestresponse.theory.equilibria.tracing import trace_to_equilibrium


def coordination(players: int) -> NormalForm:
    """Everybody earns 1 if all do the same, else 0."""
    same = np.zeros((2,) * players)
    same[(0,) * players] = same[(1,) * players] = 1.0
    return NormalForm(np.stack([same] * players))


def test_three_player_coordination_has_two_pure_and_one_mixed_equilibrium() -> None:
    result = nash(coordination(3))
    assert [e.supports for e in result.equilibria] == [((0,),) * 3, ((1,),) * 3, ((0, 1),) * 3]
    assert result.equilibria[2].strategies[0] == pytest.approx([0.5, 0.5])
    assert not result.complete
    assert result.regret < 1e-12


def test_the_irrational_equilibrium_of_the_volunteers_dilemma_is_found() -> None:
    # Volunteer's dilemma (Diekmann 1985): benefit 1 if somebody volunteers at cost c; all abstain with probability
    # c ** (1 / (n - 1)).
    volunteers = np.indices((2, 2, 2))
    helped = (volunteers.sum(axis=0) > 0).astype(float)
    payoffs = np.stack([helped - 0.5 * volunteers[i] for i in range(3)])
    result = nash(NormalForm(payoffs))
    mixed = [e for e in result.equilibria if all(len(s) == 2 for s in e.supports)]
    assert len(mixed) == 1
    assert mixed[0].strategies[0][0] == pytest.approx(np.sqrt(0.5))
    assert len(result.pure) == 3


def test_three_player_matching_pennies_is_uniform_and_found_by_tracing() -> None:
    # Jordan (1993): player 1 wants to match 2, 2 to match 3, 3 to differ from 1; the only equilibrium is uniform.
    a, b, c = np.indices((2, 2, 2))
    game = NormalForm(np.stack([a == b, b == c, c != a]).astype(float))
    assert pure_nash(game) == ()
    assert nash_one(game).strategies[1] == pytest.approx([0.5, 0.5])
    assert [e.strategies[2].tolist() for e in nash(game).equilibria] == [pytest.approx([0.5, 0.5])]


def test_one_player_just_takes_its_best_actions() -> None:
    result = nash(NormalForm(np.array([[1.0, 3.0, 3.0]])))
    assert [e.supports for e in result.pure] == [((1,),), ((2,),)]


def test_dominated_actions_are_removed_before_the_search() -> None:
    given_by = np.indices((2, 2, 2))
    payoffs = np.stack([given_by.sum(axis=0) - 2.0 * given_by[i] for i in range(3)])
    result = nash(NormalForm(payoffs))
    assert [e.supports for e in result.equilibria] == [((0,), (0,), (0,))]
    assert result.method == "pure search"


def test_a_game_too_large_for_mixed_equilibria_says_so() -> None:
    with pytest.raises(TooLarge, match=r"8x8x8x8x8x8x8 game has 2,097,152 cells"):
        nash(NormalForm(np.zeros((7, *(8,) * 7))))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**4))
def test_random_three_player_games_have_certified_equilibria_among_them_all_pure_ones(seed: int) -> None:
    game = NormalForm(np.random.default_rng(seed).random((3, 2, 2, 2)))
    result = nash(game)
    assert result.equilibria
    assert all(regret(game, e.strategies).max() < 1e-9 for e in result.equilibria)
    assert {tuple(s[0] for s in e.supports) for e in result.pure} == set(pure_nash(game))


@pytest.mark.parametrize("seed", range(5))
def test_tracing_ends_at_an_equilibrium(seed: int) -> None:
    payoffs = scaled(NormalForm(np.random.default_rng(seed).random((3, 3, 3, 3))))
    found = trace_to_equilibrium(payoffs)
    assert found is not None
    assert worst_regret(payoffs, found) < 1e-9


def test_where_the_branch_from_uniform_noise_gets_lost_another_leads_to_an_equilibrium() -> None:
    generator = np.random.default_rng(0)
    generator.normal(size=4840 + 19 * 192)
    payoffs = scaled(NormalForm(generator.normal(size=(3, 4, 4, 4))))
    found = trace_to_equilibrium(payoffs)
    assert found is not None
    assert worst_regret(payoffs, found) < 1e-9


def test_one_equilibrium_of_two_players_is_pure_where_it_can_be() -> None:
    assert nash_one(NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])).supports == ((0,), (0,))
    assert nash_one(NormalForm.zero_sum([[1, -1], [-1, 1]])).supports == ((0, 1), (0, 1))


def test_generic_games_of_three_players_have_an_odd_number_of_equilibria_found():
    counts = [len(nash(np.random.default_rng([222, k]).integers(0, 10**6, (3, 2, 2, 2))).equilibria) for k in range(25)]
    assert [count % 2 for count in counts] == [1] * 25


def test_a_point_of_a_continuum_is_marked():
    # Two players are paid alike whatever they do, so every mixture of theirs is in some equilibrium.
    game = np.zeros((3, 2, 2, 2))
    game[0, 0] = [[1, 0], [0, 1]]
    assert nash(game).degenerate
    assert not nash(np.random.default_rng(4).random((3, 2, 2, 2))).degenerate


def test_mixed_equilibria_of_games_with_thousands_of_supports_are_searched():
    result = nash(np.random.default_rng([3, 0]).random((3, 5, 3, 2)))
    assert "support enumeration" in result.method
    assert any(e.kind == "mixed" for e in result.equilibria)
    assert result.regret <= 1e-9
