"""Estimators of behaviour find what a hand can work out, and what simulated players were made
of."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.theory.behaviour.choices import (
    Choices,
    fit_choices,
    predict_hierarchy,
    predict_quantal,
)
from bestresponse.theory.behaviour.mixtures import (
    Histories,
    count_agreement,
    fit_mixture,
    prune_mixture,
    resample,
)
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.fitting import cognitive_hierarchy, quantal_response
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import classic_strategy

DECISION = NormalForm.bimatrix([[1, 1], [0, 0]], [[0, 0], [0, 0]])
"""The first player should take the first action; the second one's choice is worth nothing to
anybody."""


def histories(own, other, names, units=None):
    own, other = np.array(own, dtype=np.int32), np.array(other, dtype=np.int32)
    units = np.arange(len(own)) if units is None else np.array(units)
    return Histories(own, other, [classic_strategy(name) for name in names], units)


def play(name, other, error, rng):
    """Let a strategy answer given moves, and err; what it did stands in its own history."""
    automaton, state, own = classic_strategy(name), 0, []
    for move in other:
        meant = int(rng.random() < automaton.mix[state, 1])
        own.append(1 - meant if rng.random() < error else meant)
        state = automaton.step[state, own[-1], move]
    return own


def test_shares_are_frequencies_where_strategies_are_perfectly_separated():
    block = histories([[0] * 4] * 10 + [[1] * 4] * 30, [[0] * 4] * 40, ["cooperator", "defector"])
    fitted = fit_mixture(count_agreement([block]))
    assert fitted.shares == pytest.approx([0.25, 0.75])
    assert fitted.error < 1e-6
    assert fitted.log_likelihood == pytest.approx(10 * np.log(0.25) + 30 * np.log(0.75), abs=1e-4)
    assert fitted.bic == pytest.approx(-2 * fitted.log_likelihood + 2 * np.log(40))
    assert fitted.icl == pytest.approx(fitted.bic, abs=1e-3)  # nobody's class is in doubt


def test_the_error_is_the_share_of_moves_that_were_not_prescribed():
    block = histories([[0] * 9 + [1], [0] * 10], [[0] * 10] * 2, ["cooperator"])
    fitted = fit_mixture(count_agreement([block]))
    assert fitted.error == pytest.approx(1 / 20, abs=1e-5)
    assert fitted.log_likelihood == pytest.approx(19 * np.log(0.95) + np.log(0.05), abs=1e-6)


def test_a_strategy_that_mixes_is_weighed_with_its_probabilities():
    block = histories([[0, 1], [0, 0]], [[0, 0]] * 2, ["random"])
    assert fit_mixture(count_agreement([block])).log_likelihood == pytest.approx(4 * np.log(0.5))


def test_matches_of_one_player_are_one_unit():
    block = histories(
        [[0] * 4, [1] * 3 + [-1]], [[0] * 4] * 2, ["cooperator", "defector"], units=[0, 0]
    )
    agreement = count_agreement([block])
    assert agreement.weights.tolist() == [1.0]
    assert agreement.counts[0].tolist() == [[3.0, 4.0], [4.0, 3.0]]


def test_strategies_that_never_differ_are_one_class():
    block = histories([[0, 0], [1, 1]], [[0, 0]] * 2, ["tit-for-tat", "grim", "defector"])
    assert count_agreement([block]).names == ("tit-for-tat = grim", "defector")


def test_moves_after_an_unknown_move_of_the_other_do_not_count():
    block = histories([[0, 0, 1]], [[0, -1, 0]], ["tit-for-tat"])
    assert count_agreement([block]).counts.sum() == 2


def test_shares_that_the_data_leave_open_are_called_flat():
    # One move each: more errors and fewer cooperators fit as well, and so does anybody who draws
    # lots.
    for names in (["cooperator", "defector", "random"], ["cooperator", "defector"]):
        block = histories([[0]] * 3 + [[1]] * 5, [[-1]] * 8, names)
        assert fit_mixture(count_agreement([block])).flat
    seen_often = histories([[0] * 4] * 3 + [[1] * 3 + [0]] * 5, [[0] * 4] * 8, names)
    assert not fit_mixture(count_agreement([seen_often])).flat


def test_parameters_of_simulated_players_are_found_again_with_their_intervals():
    rng = np.random.default_rng(5)
    names = ["defector", "tit-for-tat", "cooperator"]
    other = rng.integers(0, 2, (400, 8))
    own = [
        play(names[0 if i < 200 else 1 if i < 320 else 2], row, 0.08, rng)
        for i, row in enumerate(other)
    ]
    agreement = count_agreement([histories(own, other, [*names, "grim"])])
    fitted = fit_mixture(agreement)
    assert fitted.shares == pytest.approx([0.5, 0.3, 0.2, 0.0], abs=0.05)
    assert fitted.error == pytest.approx(0.08, abs=0.015)
    shares, errors = resample(agreement, fitted, 100, np.arange(400))
    low, high = np.quantile(shares, [0.025, 0.975], axis=0)
    assert (low[:3] <= [0.5, 0.3, 0.2]).all()
    assert (high[:3] >= [0.5, 0.3, 0.2]).all()
    assert errors.std() < 0.02
    path = prune_mixture(agreement, fitted)
    assert min(path, key=lambda fit: fit.bic).names == tuple(names)
    classes = fitted.posterior.argmax(axis=1)
    assert (classes[:200] == 0).mean() > 0.95


def test_units_of_a_cluster_are_drawn_together():
    # Six matches of somebody who always cooperates (0) with somebody who always defects (1), both
    # of them units.
    own, other = [[0] * 4, [1] * 4] * 6, [[1] * 4, [0] * 4] * 6
    agreement = count_agreement([histories(own, other, ["cooperator", "defector"])])
    fitted = fit_mixture(agreement)
    together, _ = resample(agreement, fitted, 50, np.repeat(np.arange(6), 2))
    # Whichever matches are drawn, half of those who play them cooperate.
    assert together == pytest.approx(np.full((50, 2), 0.5), abs=1e-3)
    # Seat by seat, 12 draws of a share of 1/2 spread by 0.14.
    alone, _ = resample(agreement, fitted, 50, np.arange(12))
    assert 0.1 < alone[:, 0].std() < 0.2


def test_games_with_different_numbers_of_moves_are_not_pooled():
    three = Histories(
        np.zeros((1, 1), np.int32),
        np.zeros((1, 1), np.int32),
        [_three_moves()],
        np.zeros(1, np.int64),
    )
    with pytest.raises(UsageError, match="game by game"):
        count_agreement([histories([[0]], [[0]], ["grim"]), three])


def _three_moves():
    from bestresponse.theory.repeated.automaton import constant

    return constant("first", [1, 0, 0])


def test_quantal_predictions_are_those_of_the_branch():
    forms = [load(name) for name in ("prisoners-dilemma", "chicken", "rock-paper-scissors")]
    grid = np.linspace(0.0, 1.5, 31)
    for form, (rows, columns) in zip(forms, predict_quantal(forms, grid), strict=True):
        exact = quantal_response(form, 1.5)
        assert rows[-1] == pytest.approx(exact.strategies[0], abs=1e-6)
        assert columns[-1] == pytest.approx(exact.strategies[1], abs=1e-6)


def test_hierarchies_are_predicted_for_all_means_at_once():
    form = load("battle-of-the-sexes")
    rows, _ = predict_hierarchy(form, np.array([0.0, 1.5]))
    assert rows[0] == pytest.approx([0.5, 0.5])
    assert rows[1] == pytest.approx(cognitive_hierarchy(form, 1.5).final[0], abs=1e-8)


def test_a_choice_between_1_and_0_made_three_times_in_four_has_the_parameters_of_a_hand():
    again = NormalForm(DECISION.payoffs, name="again")
    data = [Choices(form, (np.array([30.0, 10.0]), np.zeros(2))) for form in (DECISION, again)]
    quantal, levels, hierarchy = fit_choices(
        data, ("qre", "level-k", "cognitive-hierarchy"), draws=3
    )
    assert quantal.estimate[0] == pytest.approx(np.log(3), rel=0.03)  # 1 / (1 + exp(-lambda)) = 3/4
    assert hierarchy.estimate[0] == pytest.approx(np.log(2), abs=0.02)  # 1 - exp(-tau) / 2 = 3/4
    assert levels.estimate[0] == pytest.approx(
        0.5, abs=1e-4
    )  # half of level 0 and all others take the first
    # Held out, a choice scores (3 ln 3/4 + ln 1/4) / 4 = -0.5623. Completeness would be 1.241 here,
    # since 40 choices in a game tell too little about the best prediction.
    for fit in (quantal, levels, hierarchy):
        assert fit.score == pytest.approx(-0.5623, abs=2e-4)
        assert fit.completeness is None


def test_completeness_is_told_where_many_choices_in_many_games_show_the_best_prediction():
    forms = [NormalForm(DECISION.payoffs, name=f"game {k}") for k in range(8)]
    data = [Choices(form, (np.array([1500.0, 500.0]), np.zeros(2))) for form in forms]
    (quantal,) = fit_choices(data, ("qre",), draws=3)
    # A choice scores -0.56234 and chance -0.69315; knowing the others in the game has (3 ln
    # 1499.5/2000 + ln 499.5/2000) / 4 = -0.56284. So completeness is 0.13081 / 0.13031 = 1.0038, and
    # the same whichever games are drawn.
    assert quantal.completeness.estimate == pytest.approx(1.0038, abs=1e-4)
    assert quantal.completeness.resampled == pytest.approx(np.full(3, 1.0038), abs=1e-4)
    (fewer,) = fit_choices(data[:7], ("qre",), draws=3)
    assert fewer.completeness is None


def test_the_precision_is_the_most_likely_one_and_no_point_of_a_grid():
    data = [Choices(DECISION, (np.array([30.0, 10.0]), np.zeros(2)))]
    quantal, hierarchy = fit_choices(data, ("qre", "cognitive-hierarchy"), draws=2)
    assert quantal.estimate[0] == pytest.approx(np.log(3), rel=1e-5)
    assert hierarchy.estimate[0] == pytest.approx(np.log(2), rel=1e-5)


def test_a_likelihood_that_grows_without_end_is_said():
    data = [Choices(DECISION, (np.array([40.0, 0.0]), np.zeros(2)))]
    quantal, hierarchy = fit_choices(data, ("qre", "cognitive-hierarchy"), draws=2)
    assert quantal.edge
    assert hierarchy.edge
    assert quantal.score is None  # one game, none to hold out


def fit_dilemma(model, choices, offset=0.0):
    """Fit the dilemma 3, 0, 5, 1, in which the row player gets `offset` besides, whatever
    happens."""
    payoffs = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
    payoffs[0] += offset
    form = NormalForm(payoffs, ("row", "column"), (("C", "D"), ("C", "D")), "dilemma")
    (fit,) = fit_choices([Choices(form, (np.array(choices), np.array(choices)))], [model])
    return fit


@pytest.mark.parametrize("offset", [0.0, 1000.0, -1e6])
def test_precision_does_not_depend_on_what_a_player_gets_whatever_happens(offset):
    # 1 of 4 cooperates; defecting then earns 2/4 + 3/4 = 1.25 more, so lambda = ln 3 / 1.25 =
    # 0.878890, which lies between two points of the grid.
    fit = fit_dilemma("qre", [10.0, 30.0], offset)
    assert fit.estimate[0] == pytest.approx(0.878890, rel=5e-4)
    assert not fit.edge


def test_precision_is_found_at_the_scale_of_the_smaller_payoffs():
    # A payoff is 500 times as large for the row player, who is then sure to defect; 1 of 4 columns
    # cooperates, which costs 1 - 0 against defection: lambda = ln 3 = 1.0986, far beyond 100 /
    # 2500.
    payoffs = np.array([[[1500.0, 0.0], [2500.0, 500.0]], [[3.0, 5.0], [0.0, 1.0]]])
    form = NormalForm(payoffs, ("row", "column"), (("C", "D"), ("C", "D")), "dilemma")
    (fit,) = fit_choices([Choices(form, (np.zeros(2), np.array([10.0, 30.0])))], ["qre"])
    assert fit.estimate[0] == pytest.approx(1.0986, rel=1e-3)
    assert not fit.edge


def test_tau_is_found_between_the_points_of_the_grid():
    # Level 0 cooperates with 1/2 and all others never: exp(-tau) / 2 = 1/4, so tau = ln 2 =
    # 0.693147.
    assert fit_dilemma("cognitive-hierarchy", [10.0, 30.0]).estimate[0] == pytest.approx(
        0.693147, abs=5e-4
    )


def test_levels_that_do_the_same_are_called_flat():
    # Levels 1 to 3 defect, so only that half of the choices is of level 0 is known.
    fit = fit_dilemma("level-k", [10.0, 30.0])
    assert fit.estimate[0] == pytest.approx(0.5, abs=1e-6)
    assert fit.flat


def test_a_level_0_alone_is_not_flat():
    # As many cooperate as defect: nobody is at any other level, and no other shares say so.
    assert not fit_dilemma("level-k", [20.0, 20.0]).flat
