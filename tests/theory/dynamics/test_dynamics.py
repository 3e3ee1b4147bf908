"""Replicator, fictitious play, regret matching, multiplicative weights, logit dynamics: fixed
points and guarantees."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import catalogue, generators
from bestresponse.theory.dynamics.learning import (
    fictitious_play,
    logit_dynamics,
    multiplicative_weights,
    regret_matching,
)
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.dynamics.trajectory import fitness, space_records
from bestresponse.theory.fitting import quantal_response
from bestresponse.theory.games.isomorphs import random_isomorph
from bestresponse.theory.games.normal_form import NormalForm

SEEDS = st.integers(0, 2**32)
ONEILL = [0.2, 0.2, 0.2, 0.4]


def plus(game, **options):
    return regret_matching(game, plus=True, **options)


LEARNERS = [fictitious_play, regret_matching, plus, multiplicative_weights]
DYNAMICS = [*LEARNERS, replicator, lambda game, **options: logit_dynamics(game, 2.0, **options)]


def same(one, two, tolerance=1e-9):
    return all(np.abs(a - b).max() <= tolerance for a, b in zip(one, two, strict=True))


def test_a_lonely_player_learns_its_best_action() -> None:
    game = NormalForm([[1.0, 3.0, 2.0]])
    runs = (
        fictitious_play(game, steps=400),
        regret_matching(game, steps=400),
        multiplicative_weights(game, steps=4000),
        replicator(game, steps=4000),
        logit_dynamics(game, 20.0),
    )
    for run in runs:
        assert run.final[0].tolist() == pytest.approx([0, 1, 0], abs=0.05)
    assert quantal_response(game, 20.0).strategies[0].tolist() == pytest.approx([0, 1, 0], abs=1e-8)


@pytest.mark.parametrize("dynamic", LEARNERS)
def test_learning_finds_the_equilibrium_of_oneills_game(dynamic):
    found = dynamic(catalogue.load("oneill"), steps=20_000)
    assert found.final[0] == pytest.approx(ONEILL, abs=0.02)
    assert found.final[1] == pytest.approx(ONEILL, abs=0.02)
    assert found.gap < 0.1


@pytest.mark.parametrize("dynamic", LEARNERS)
@given(seed=SEEDS)
@settings(max_examples=4, deadline=None)
def test_in_zero_sum_games_the_gap_of_the_averages_goes_down(dynamic, seed):
    found = dynamic(generators.zero_sum(seed, (3, 4)), steps=3000, stride=30)
    assert found.curve[-1] <= 0.1
    assert found.curve[-1] <= found.curve[0] + 1e-9


@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_in_zero_sum_games_the_gains_at_the_average_sum_to_the_external_regrets(seed):
    found = regret_matching(generators.zero_sum(seed, (3, 3)), steps=500)
    assert found.gains.sum(axis=1) == pytest.approx(found.external.sum(axis=1), abs=1e-9)


@given(seed=SEEDS, steps=st.integers(10, 400))
@settings(max_examples=15, deadline=None)
def test_multiplicative_weights_keep_their_regret_bound_in_every_game(seed, steps):
    game = generators.uniform(seed, (2, 3, 4))
    bounds = [
        np.ptp(own) * np.sqrt(np.log(m) / (2 * steps))
        for own, m in zip(game.payoffs, game.shape, strict=True)
    ]
    assert (
        multiplicative_weights(game, steps=steps).external[-1] <= np.array(bounds) + 1e-12
    ).all()


@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_regret_matching_keeps_its_regret_bound_in_every_game(seed):
    game, steps = generators.uniform(seed, (3, 3, 2)), 300
    bounds = [np.sqrt(m / steps) for m in game.shape]
    assert (regret_matching(game, steps=steps).external[-1] <= bounds).all()
    assert (plus(game, steps=steps).external[-1] <= bounds).all()


@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_a_fully_mixed_equilibrium_is_a_rest_point_of_the_replicator_dynamics(seed):
    game = generators.fully_mixed(seed, (3, 3))
    row, col = game.payoffs
    y, x = (
        np.linalg.solve(np.vstack([np.diff(m, axis=0), np.ones(3)]), [0, 0, 1])
        for m in (row, col.T)
    )
    for form in ("rk4", "euler", "discrete"):
        found = replicator(game, [x, y], steps=5, form=form)
        assert same(found.final, (x, y))
        assert found.gap < 1e-9


@given(seed=SEEDS)
@settings(max_examples=6, deadline=None)
def test_dominated_actions_die_out_and_the_survivors_are_the_solution(seed):
    game = generators.dominance_solvable(seed, (3, 3))
    for found in (
        replicator(game, steps=1500, size=0.5),
        fictitious_play(game, steps=3000),
        plus(game, steps=1500),
    ):
        assert found.gap < 0.05


@pytest.mark.parametrize("hawks", [0.25, 0.5, 0.75])
def test_a_small_euler_step_changes_shares_by_what_is_known_by_hand_in_hawk_dove(hawks):
    # At a share h of hawks the difference in fitness is 2(1 - h) - h - (1 - h) = 1 - 2h.
    start = [[hawks, 1 - hawks]] * 2
    found = replicator(catalogue.load("hawk-dove"), start, steps=1, size=1e-3, form="euler")
    wanted = hawks + 1e-3 * hawks * (1 - hawks) * (1 - 2 * hawks)
    assert [mix.tolist() for mix in found.final] == [
        pytest.approx([wanted, 1 - wanted], abs=1e-12)
    ] * 2


@pytest.mark.parametrize("dynamic", DYNAMICS)
def test_a_player_with_one_action_plays_it(dynamic):
    found = dynamic(generators.uniform(2, (1, 3)), steps=50)
    assert found.final[0].tolist() == [1.0]


@pytest.mark.parametrize("dynamic", DYNAMICS)
def test_uniform_play_stays_put_in_rock_paper_scissors(dynamic):
    found = dynamic(catalogue.load("rock-paper-scissors"), steps=300)
    assert found.final[0] == pytest.approx([1 / 3] * 3, abs=0.05)


@pytest.mark.parametrize("dynamic", [replicator, regret_matching, plus, multiplicative_weights])
@given(seed=SEEDS)
@settings(max_examples=8, deadline=None)
def test_renaming_and_reordering_changes_nothing_else(dynamic, seed):
    game = generators.uniform(seed, (3, 4))
    other = random_isomorph(seed, game, affine=False)
    found, moved = dynamic(game, steps=60), dynamic(other.game, steps=60)
    assert same(other.back(moved.final), found.final, 1e-6)


def test_replicator_in_hawk_dove_leads_one_population_to_half_hawks():
    found = replicator(catalogue.load("hawk-dove"), [[0.9, 0.1]], one_population=True, steps=3000)
    assert found.final[0] == pytest.approx([0.5, 0.5], abs=1e-6)
    assert found.strategies[0][0].tolist() == [0.9, 0.1]


def test_replicator_of_two_populations_in_hawk_dove_splits_the_roles():
    found = replicator(catalogue.load("hawk-dove"), [[0.6, 0.4], [0.4, 0.6]], steps=8000)
    assert found.final[0] == pytest.approx([1, 0], abs=1e-6)
    assert found.final[1] == pytest.approx([0, 1], abs=1e-6)


def test_replicator_follows_the_logistic_curve_when_one_action_is_always_better_by_one():
    game = NormalForm.bimatrix([[1, 1], [0, 0]], [[0, 0], [0, 0]])
    found = replicator(game, steps=200, size=0.01, stride=50)
    assert found.times.tolist() == [0, 0.5, 1, 1.5, 2]
    assert found.strategies[0][:, 0] == pytest.approx(1 / (1 + np.exp(-found.times)), abs=1e-9)


def test_discrete_generations_multiply_shares_by_relative_fitness():
    game = NormalForm.bimatrix([[3, 3], [1, 1]], [[0, 0], [0, 0]])
    found = replicator(game, steps=1, form="discrete", background=1)
    assert found.final[0].tolist() == [2 / 3, 1 / 3]


def test_generations_take_payoffs_as_they_are_unless_one_is_negative():
    game = NormalForm.bimatrix([[3, 3], [1, 1]], [[-1, 0], [-1, 0]])
    found = replicator(game, steps=1, form="discrete")
    # 3 to 1 as they are; -1 and 0 become 1 and 2.
    assert found.final[0].tolist() == [3 / 4, 1 / 4]
    assert found.final[1].tolist() == [1 / 3, 2 / 3]


def test_shares_stay_where_nobody_has_offspring():
    # The first action drives out the second, which earns 0, and then earns 0 itself.
    game = NormalForm.bimatrix([[0, 1], [0, 0]], [[0, 0], [1, 0]])
    found = replicator(game, steps=5, form="discrete", one_population=True)
    assert found.final[0].tolist() == [1.0, 0.0]


def test_the_cycle_of_matching_pennies_keeps_its_constant_of_motion():
    found = replicator(catalogue.load("matching-pennies"), [[0.7, 0.3], [0.5, 0.5]], steps=5000)
    height = np.log(found.strategies[0]).sum(axis=1) + np.log(found.strategies[1]).sum(axis=1)
    assert np.ptp(height) < 1e-6


def test_fictitious_play_does_not_settle_in_shapleys_game():
    found = fictitious_play(catalogue.load("shapley"), steps=20_000, stride=10)
    late = found.strategies[0][len(found) // 2 :]
    assert np.ptp(late, axis=0).max() > 0.2


def test_fictitious_play_breaks_ties_towards_the_first_action():
    found = fictitious_play(NormalForm.bimatrix([[0, 0], [0, 0]], [[0, 0], [0, 0]]), steps=10)
    assert [mix.tolist() for mix in found.final] == [[1, 0], [1, 0]]


def test_the_first_rounds_of_fictitious_play_in_matching_pennies():
    found = fictitious_play(catalogue.load("matching-pennies"), steps=7, stride=1)
    played = np.diff(found.strategies[0][:, 0] * found.times, prepend=0)
    answered = np.diff(found.strategies[1][:, 0] * found.times, prepend=0)
    # Heads twice; column has seen heads and leaves; row follows once tails are ahead, and then
    # column leaves again.
    assert played.round().tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert answered.round().tolist() == [1, 0, 0, 0, 0, 0, 1]


def test_stochastic_fictitious_play_is_reproducible_and_settles_at_the_logit_equilibrium():
    game = catalogue.load("asymmetric-matching-pennies")
    one, two = (fictitious_play(game, steps=4000, precision=0.01, seed=5) for _ in range(2))
    assert same(one.final, two.final, 0)
    resting = logit_dynamics(game, 0.01, steps=4000)
    assert same(one.final, resting.final, 0.05)


def test_logit_dynamics_rest_where_everybody_replies_by_logit():
    game = catalogue.load("asymmetric-matching-pennies")
    found = logit_dynamics(game, 0.02, steps=20_000)
    for mix, value in zip(found.final, fitness(game)(found.final), strict=True):
        reply = np.exp(0.02 * value) / np.exp(0.02 * value).sum()
        assert mix == pytest.approx(reply, abs=1e-9)


def test_three_players_are_handled_by_every_dynamic():
    game = catalogue.load("volunteers-dilemma")
    for dynamic in DYNAMICS:
        found = dynamic(game, steps=200)
        assert [mix.sum() for mix in found.final] == pytest.approx([1, 1, 1])
        assert (found.gains >= -1e-12).all()


def test_records_come_every_stride_and_at_the_end():
    found = fictitious_play(catalogue.load("chicken"), steps=25, stride=10)
    assert found.times.tolist() == [10, 20, 25]
    assert len(found) == 3
    assert list(space_records(25, 10)) == [10, 10, 5]


def test_a_long_run_keeps_about_a_thousand_records():
    assert len(fictitious_play(catalogue.load("chicken"), steps=25_000)) == 1000


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda game: replicator(game, steps=0), "steps: expected at least 1"),
        (lambda game: replicator(game, stride=0), "stride: expected at least 1"),
        (lambda game: replicator(game, size=-1), "positive step"),
        (
            lambda game: replicator(game, size=0.7),
            "payoffs that range over 2 need steps of at most 0.5, got 0.7",
        ),
        (lambda game: replicator(game, form="rk5"), "expected one of euler, rk4, discrete"),
        (lambda game: replicator(game, one_population=True), "expected a symmetric game"),
        (lambda game: replicator(game, form="discrete", background=0), "expected more than 0"),
        (lambda game: fictitious_play(game, precision=-1), "precision: expected a number >= 0"),
        (lambda game: multiplicative_weights(game, rate=0), "rate: expected a number above 0"),
        (lambda game: logit_dynamics(game, -1), "precision: expected a number >= 0"),
        (lambda game: logit_dynamics(game, 1, size=2), "at most 1"),
    ],
)
def test_bad_arguments_say_what_was_expected(call, match):
    with pytest.raises(UsageError, match=match):
        call(catalogue.load("battle-of-the-sexes"))


def test_a_start_that_is_no_profile_is_refused():
    with pytest.raises(InvalidGame, match="sum to 1"):
        replicator(catalogue.load("chicken"), [[0.5, 0.4], [1, 0]])


@pytest.mark.parametrize("form", ["euler", "rk4", "discrete"])
def test_shares_sum_to_one_however_many_steps_are_taken(form):
    payoffs = np.array(
        [[1.0, 1.0, 1.0, 1.0], [1.0, -5.0, 3.0, 1.0], [1.0, 4.0, -9.0, 0.0], [0.0, 0.0, 0.0, -7.0]]
    )
    game = NormalForm.bimatrix(payoffs, payoffs.T)
    found = replicator(game, steps=20_000, form=form, one_population=True)
    assert np.abs(found.strategies[0].sum(axis=1) - 1).max() <= 1e-12
    assert (found.strategies[0] >= 0).all()


def test_discrete_generations_survive_payoffs_that_swallow_the_background():
    payoffs = np.array([[-1e17, -1e17], [-1e17, -1e17]])
    found = replicator(
        NormalForm.bimatrix(payoffs, payoffs),
        [[0.25, 0.75], [0.5, 0.5]],
        steps=100,
        form="discrete",
    )
    assert [x.tolist() for x in found.final] == [[0.25, 0.75], [0.5, 0.5]]


def test_where_all_earn_the_same_mutation_alone_leads_to_equal_shares() -> None:
    # x' = c m (1 - 2 x) for two actions that both earn c: the distance to 1/2 shrinks by exp(-2 c m
    # t).
    game = NormalForm.bimatrix([[3, 3], [3, 3]], [[3, 3], [3, 3]])
    path = replicator(game, [[0.9, 0.1], [0.2, 0.8]], steps=500, size=0.01, mutation=0.1)
    shrunk = np.exp(-2 * 3 * 0.1 * 5)
    assert path.final[0][0] == pytest.approx(0.5 + 0.4 * shrunk, abs=1e-9)
    assert path.final[1][0] == pytest.approx(0.5 - 0.3 * shrunk, abs=1e-9)
    assert path.method == "replicator, rk4, mutation 0.1"
    with pytest.raises(UsageError, match="must be at least 0, the lowest is -1"):
        replicator(NormalForm.zero_sum([[1, -1], [-1, 1]]), mutation=0.1)


def test_mutation_in_generations_keeps_a_dominated_action_alive() -> None:
    # Fitness 1 and 2, mutation m: at rest x = (1 - m) x / (2 - x) + 2 m (1 - x) / (2 - x), so x = 3
    # m + O(m^2).
    game = NormalForm.bimatrix([[1, 1], [2, 2]], [[1, 2], [1, 2]])
    path = replicator(game, steps=400, form="discrete", background=0.0, mutation=0.01)
    x = float(path.final[0][0])
    assert x * (2 - x) == pytest.approx(0.99 * x + 0.02 * (1 - x), abs=1e-12)
    assert 0.01 < x < 0.03


def test_fictitious_play_starts_where_it_is_told_and_counts_the_start_as_rounds() -> None:
    game = NormalForm.bimatrix([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    to_second = fictitious_play(game, [[0.4, 0.6], [0.4, 0.6]], steps=10)
    assert to_second.final[0].tolist() == [0.0, 1.0]
    weighed = fictitious_play(game, [[0.4, 0.6], [0.4, 0.6]], steps=10, weight=10)
    assert weighed.final[0] == pytest.approx([0.2, 0.8])
    assert weighed.external is None


def test_with_a_gain_beliefs_move_by_that_share_of_the_way() -> None:
    game = NormalForm.bimatrix([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    path = fictitious_play(game, [[0.4, 0.6], [0.4, 0.6]], steps=3, gain=0.5, stride=1)
    assert path.strategies[0][:, 1] == pytest.approx([0.8, 0.9, 0.95])
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        fictitious_play(game, gain=2)


def build_game_of_ties() -> NormalForm:
    """Against uniform play both actions of the first player earn 8/9, which floats add up to two
    numbers."""
    payoffs = np.zeros((3, 2, 3, 3))
    payoffs[0] = [[[2, 0, 1], [0, 1, 2], [1, 0, 1]], [[1, 1, 0], [1, 0, 0], [2, 1, 2]]]
    return NormalForm(payoffs)


@pytest.mark.parametrize("plus", [False, True])
def test_regret_that_is_rounding_changes_no_play(plus):
    # Nobody regrets the first round, so that the second is uniform as well.
    assert regret_matching(build_game_of_ties(), steps=2, plus=plus).final[0].tolist() == [0.5, 0.5]


def test_the_first_move_of_fictitious_play_is_the_first_of_equally_good_ones():
    assert fictitious_play(build_game_of_ties(), steps=1).final[0].tolist() == [1.0, 0.0]
