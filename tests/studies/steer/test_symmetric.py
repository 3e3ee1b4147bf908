"""Speakers that swap seats play a symmetric game, of which half the profiles need not be played."""

import numpy as np
import pytest
from steering import cast_of, dialogue, search_settings
from true_dialogue import true_deviations, true_payoffs

from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.meta_game import MetaGame, PromptArena, estimate, solve_meta
from bestresponse.studies.steer.oracles import Inventor
from bestresponse.studies.steer.psro import psro
from bestresponse.theory import regret


def arena_of(game, swap=True, seed=0):
    return PromptArena(
        [game], cast_of(SimulatedSpeaker(seed), game.domain), AnswerStore(), seed=seed, swap=swap
    )


def sample(arena, profile, plays):
    return arena.sample_many([(profile, number) for number in range(plays)])


def test_a_mirrored_profile_earns_the_mirrored_payoffs_and_is_not_played_again():
    arena = arena_of(dialogue())
    one = sample(arena, ("calm", "assertive"), 20)
    played = arena.played
    other = sample(arena, ("assertive", "calm"), 20)
    assert arena.played == played == 20
    assert np.array_equal(one, other[:, ::-1])


def test_everybody_speaks_first_equally_often():
    game = dialogue()
    arena = arena_of(game)
    earned = sample(arena, ("calm", "assertive"), 300)
    truth = (
        np.array(true_payoffs(game, ("calm", "assertive")))
        + true_payoffs(game, ("assertive", "calm"))[::-1]
    ) / 2
    assert (
        np.abs(earned.mean(axis=0) - truth) <= 5 * earned.std(axis=0, ddof=1) / np.sqrt(300)
    ).all()


def true_symmetric_table(game, prompts):
    """The exact payoffs of the first of two speakers who swap seats, and the largest deviation of
    one play."""
    first, second = (
        np.array([[true_payoffs(game, (a, b))[k] for b in prompts] for a in prompts])
        for k in (0, 1)
    )
    worst = max(max(true_deviations(game, (a, b))) for a in prompts for b in prompts)
    return (first + second.T) / 2, worst


@pytest.mark.parametrize("name", ["meeting", "debate"])
def test_half_the_games_give_a_table_that_is_as_true_and_its_equilibrium(name):
    game = dialogue(name, seed=4)
    prompts = (game.manners.options,) * 2
    reusing, fixed = arena_of(game), arena_of(game, swap=False)
    half = estimate(reusing, prompts, 100)
    seated = estimate(fixed, prompts, 100).samples
    assert (reusing.played, fixed.played) == (100 * 10, 100 * 16)
    assert np.array_equal(half.means[0], half.means[1].T)
    full = MetaGame(
        prompts, np.concatenate([seated, seated.swapaxes(0, 1)[..., ::-1]], axis=-2), prompts[0][0]
    )
    truth, deviation = true_symmetric_table(game, prompts[0])
    # Seats differ in what they expect, so one play strays by that as well: at most by the range of
    # the true table.
    error = 5 * np.hypot(deviation, np.ptp(truth)) / 100**0.5
    exact = MetaGame(
        prompts, np.stack([np.stack([truth, truth.T], axis=-1)] * 2, axis=2), prompts[0][0]
    )
    for table in (half, full):
        assert np.abs(table.means - exact.means).max() < error
        assert regret(exact.means, solve_meta(table, "nash").marginals).sum() < 2 * error


def test_what_one_speaker_finds_is_a_manner_of_all():
    game = dialogue(seed=2)
    arena = arena_of(game, seed=3)
    inventor = Inventor(SimulatedSpeaker(3), "a talk", arena.answers, 1.0)
    found = psro(arena, inventor, search_settings(3, 30, 8, "shotgun", "nash", 3))
    assert found.prompts[0] == found.prompts[1]
    assert len(found.prompts[0]) > 4


def test_three_speakers_swap_seats_too():
    arena = arena_of(dialogue("email"))
    table = estimate(arena, (("calm", "assertive"),) * 3, 6)
    # The multisets of three out of two manners: 4 instead of 8 profiles.
    assert arena.played == 4 * 6
    assert table.means[0, 0, 1, 1] == table.means[1, 1, 0, 1] == table.means[2, 1, 1, 0]
