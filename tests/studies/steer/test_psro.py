"""PSRO grows prompts by best responses, on common plays, and recovers the simulated speaker's
equilibrium."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from steering import cast_of, dialogue, search_settings
from true_dialogue import true_deviations, true_payoffs

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.meta_game import (
    MetaGame,
    PromptArena,
    estimate,
    find_intervals,
    find_plausible,
    solve_meta,
)
from bestresponse.studies.steer.oracles import Inventor, Oracle, find_response, tidy
from bestresponse.studies.steer.psro import psro

VALUES = ({"values": {"Monday": 10, "Tuesday": 4}}, {"values": {"Monday": 3, "Tuesday": 20}})


def known_game():
    """The first does best by being submissive, the second by being stubborn: payoffs 0.9 x 4 and
    0.9 x 20."""
    game = dialogue("meeting")
    return replace(game, cases=(replace(game.cases[0], private=VALUES),))


def arena_of(game, seed=0, model=None, **more):
    model = model or SimulatedSpeaker(seed)
    answers = AnswerStore()
    arena = PromptArena([game], cast_of(model, game.domain), answers, seed=seed, **more)
    return arena, Inventor(model, "a talk", answers, 1.0)


def bimatrix(first, second):
    """A table without noise: two equal plays of every profile."""
    cells = np.stack([np.array(first, float), np.array(second, float)], axis=-1)
    names = tuple(tuple("abcd"[:count]) for count in cells.shape[:2])
    return MetaGame(names, np.stack([cells, cells], axis=2), "a")


PROMPTS = (("calm", "assertive"), ("submissive", "any"))


def standard_scores(game, table, plays):
    """How far the means of a table are from the truth, in true standard errors, and the table's own
    over the true."""
    profiles = list(product(*PROMPTS))
    truth = np.array([true_payoffs(game, profile) for profile in profiles]).T.reshape(
        table.means.shape
    )
    error = (
        np.array([true_deviations(game, profile) for profile in profiles]).T.reshape(
            table.means.shape
        )
        / plays**0.5
    )
    return (table.means - truth) / error, table.errors / error


def test_the_table_agrees_with_the_truth_within_true_standard_errors():
    game = known_game()
    tables = [estimate(arena_of(game, seed)[0], PROMPTS, 80) for seed in range(6)]
    scores, ratios = map(
        np.array, zip(*(standard_scores(game, table, 80) for table in tables), strict=True)
    )
    assert np.abs(scores).max() < 5
    assert np.abs(scores.mean(axis=0)).max() < 4 / 6**0.5
    assert ratios.mean() == pytest.approx(1, abs=0.1)
    assert all((table.counts == 80).all() for table in tables)


def test_profiles_share_texts_and_a_second_table_makes_no_call():
    arena, _ = arena_of(known_game())
    prompts = (("calm", "assertive"), ("calm", "assertive"))
    estimate(arena, prompts, 10)
    first = arena.answers.calls
    assert 0 < first <= 2 * 10 + 4 * 10 + 4 * 10
    estimate(arena.rehearse(arena.answers), prompts, 10)
    assert arena.answers.calls == first


def test_plays_in_threads_give_the_same_table():
    prompts = (("calm", "assertive"), ("calm", "any"))
    one = estimate(arena_of(known_game())[0], prompts, 12)
    many = estimate(arena_of(known_game(), workers=4)[0], prompts, 12)
    assert np.array_equal(one.samples, many.samples)


@pytest.mark.parametrize(
    ("how", "payoffs"),
    [
        # Chicken: the pure equilibrium, 0-sum of replicator's symmetric start, welfare CCE and the
        # bargain (6, 6).
        ("nash", [7, 2]),
        ("bargaining", [6, 6]),
    ],
)
def test_meta_solvers_on_chicken(how, payoffs):
    chicken = bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    assert solve_meta(chicken, how).payoffs == pytest.approx(payoffs, abs=1e-4)


def test_the_welfare_equilibrium_is_worth_at_least_as_much_as_any_nash_equilibrium():
    chicken = bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    welfare = solve_meta(chicken, "welfare")
    assert welfare.payoffs.sum() >= 28 / 3 - 1e-9
    assert welfare.joint.sum() == pytest.approx(1)


def test_replicator_dynamics_ends_in_the_dominant_manner():
    dilemma = bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    assert solve_meta(dilemma, "replicator").marginals[0] == pytest.approx([0, 1], abs=1e-3)


def test_two_plays_that_end_alike_do_not_make_a_certain_table():
    rng = np.random.default_rng(0)
    values, masses = find_intervals(bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]), "nash", rng=rng)
    assert [one.estimate for one in values] == [1, 1]
    assert all(one.low < 1 < one.high for one in values)
    assert [one.estimate for one in masses[0]] == [0, 1]
    noisy = rng.normal(0, 1, (2, 2, 30, 2)) + np.array([[3, 0], [5, 1]])[:, :, None, None]
    values, _ = find_intervals(MetaGame((("a", "b"), ("a", "b")), noisy, "a"), "nash", rng=rng)
    assert all(one.low < one.estimate < one.high for one in values)


@pytest.mark.parametrize("oracle", ["shotgun", "better", "trajectory", "categorical"])
def test_every_oracle_finds_that_the_second_should_be_stubborn(oracle):
    arena, inventor = arena_of(known_game(), seed=3)
    found = psro(arena, inventor, search_settings(4, 30, 6, oracle, "nash", 3))
    assert found.prompts[1][-1] == "stubborn"
    assert found.closed
    assert found.solution.marginals[0][found.prompts[0].index("submissive")] == pytest.approx(1)
    values, _ = find_intervals(found.game, "nash", rng=np.random.default_rng(0))
    assert all(one.low <= truth <= one.high for one, truth in zip(values, (3.6, 18), strict=True))


def test_hopeless_candidates_cost_few_plays():
    arena, inventor = arena_of(known_game(), seed=3)
    found = psro(arena, inventor, search_settings(1, 60, 8, "shotgun", "nash", 3))
    plays = {one.manner: one.plays for one in found.history[0].responses[1].tried}
    assert plays["stubborn"] == 60
    assert min(plays.values()) < 60


def test_duplicates_are_rejected_before_they_cost_a_play():
    def repeats(request):
        if "You invent" in request.messages[0].content:
            return '["Calm", " ASSERTIVE. ", "calm", ""]'
        return SimulatedSpeaker(0).complete(request)

    arena, inventor = arena_of(known_game(), model=ScriptedModel(repeats))
    found = psro(arena, inventor, search_settings(3, 6, 4, "shotgun", "nash"))
    assert found.closed
    assert len(found.history) == 2
    assert found.game.counts.max() == 12
    assert found.history[0].responses[0].rejected == ("Calm", " ASSERTIVE. ", "calm", "")
    assert tidy("  'Quite  Calm'. ") == "quite calm"


def test_a_profile_without_a_readable_play_is_an_error_not_a_zero():
    def silent(request):
        return (
            ""
            if "impartial" in request.messages[0].content
            else SimulatedSpeaker(0).complete(request)
        )

    arena, _ = arena_of(known_game(), model=ScriptedModel(silent))
    with pytest.raises(InvalidGame, match="none of the 3 plays of calm against calm could be read"):
        estimate(arena, (("calm",), ("calm",)), 3)
    assert arena.voids == 3


def test_actions_that_cannot_grow_are_refused():
    game = known_game()
    arena, inventor = arena_of(replace(game, manners=game.domain.manners("day")))
    with pytest.raises(UsageError, match="cannot be added to"):
        psro(arena, inventor, search_settings(1, 2))


def test_three_speakers_search_together():
    game = dialogue("email")
    arena, inventor = arena_of(game)
    found = psro(arena, inventor, search_settings(1, 3, 1, "shotgun", "welfare"))
    assert found.game.means.shape[0] == 3
    assert found.solution.joint.sum() == pytest.approx(1)


def test_a_response_is_judged_against_the_present_solution_on_common_plays():
    arena, inventor = arena_of(known_game(), seed=1)
    prompts = (("submissive",), ("calm",))
    table = estimate(arena, prompts, 40)
    oracle = Oracle(arena, inventor, 1, prompts, solve_meta(table, "nash"), 40, 8, 1, 0)
    found = find_response(oracle, "shotgun")
    assert found.value == pytest.approx(float(table.means[1, 0, 0]))
    assert found.best is not None
    assert found.best.score > found.value


def test_an_interval_holds_the_other_solution_where_the_plays_leave_it_open():
    # The second's manners a and b differ by less than the plays can tell; with b the first would
    # earn 9 instead of 1.
    rng = np.random.default_rng(1)
    cells = np.array([[[1.0, 5.0], [9.0, 4.98]]])
    noisy = MetaGame(
        (("a",), ("a", "b")), cells[:, :, None, :] + rng.normal(0, 0.5, (1, 2, 60, 2)), "a"
    )
    values, masses = find_intervals(noisy, "nash", rng=rng)
    assert values[0].low < 1.5
    assert values[0].high > 8.5
    assert [(one.low, one.high) for one in masses[1]] == [(0, 1), (0, 1)]
    others = find_plausible(noisy, "nash", 2, rng=rng)
    assert len(others) == 1
    assert others[0].payoffs[0] == pytest.approx(9 if values[0].estimate < 5 else 1, abs=0.5)


def test_no_other_solution_is_plausible_where_the_plays_are_clear():
    cells = np.array([[[1.0, 5.0], [9.0, 3.0]]])
    noisy = MetaGame(
        (("a",), ("a", "b")),
        cells[:, :, None, :] + np.random.default_rng(0).normal(0, 0.5, (1, 2, 60, 2)),
        "a",
    )
    assert find_plausible(noisy, "nash", 2, rng=np.random.default_rng(0)) == ()


def test_a_stated_payoff_stays_within_the_utilities_of_the_domain():
    arena, inventor = arena_of(known_game())
    found = psro(arena, inventor, search_settings(1, 2, 2, "shotgun", "nash"))
    values, _ = find_intervals(found.game, "nash", rng=np.random.default_rng(0), span=(0, 20))
    assert all(0 <= one.low <= one.high <= 20 for one in values)
