"""Guided against unguided in words that the solver has not seen."""

import json
from functools import partial

import numpy as np
import pytest
from steering import cast_of, dialogue

from bestresponse.core.errors import InvalidGame, NotCached, UsageError
from bestresponse.games.dialogue.game import RecordedDialogue
from bestresponse.models.base import Reply
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.building import build_dialogue
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.embedding import HashedWords
from bestresponse.studies.steer.evaluating import evaluate_plays
from bestresponse.studies.steer.fresh import FreshPlays, Nearest, hold_talk, play_fresh
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.solving import solve_dialogue


def solved_game(name="meeting", wordings=2, **more):
    game, answers, model = dialogue(name, **more), AnswerStore(), SimulatedSpeaker(0)
    cast = cast_of(model, game.domain)
    build_dialogue(game, cast, answers, wordings=wordings)
    policy = solve_dialogue(RecordedDialogue(game, answers.book, wordings), 200).policy
    return game, Nearest(policy, HashedWords()), cast, answers


def test_gain_and_margin_are_means_over_seats_of_paired_draws():
    unguided = np.array([[1.0, 2.0], [3.0, 4.0]])
    guided = np.array([[[5.0, 1.0], [3.0, 3.0]], [[0.0, 4.0], [np.nan, np.nan]]])
    plays = FreshPlays(unguided, guided)
    # Draw 1: seat 1 gains 5 - 1, seat 2 gains 4 - 2; draw 2: seat 1 gains 3 - 3, seat 2 is void.
    assert plays.gains.tolist() == [3.0, 0.0]
    # Draw 1: 5 - 1 and 4 - 0; draw 2: 3 - 3.
    assert plays.margins.tolist() == [4.0, 0.0]
    assert (plays.plays, plays.void) == (6, 1)


def test_fresh_draws_are_not_those_of_the_tree_and_are_asked_for_once():
    game, policy, cast, answers = solved_game()
    before = len(answers.book)
    first = play_fresh(game, policy, cast, answers, range(2, 5))
    assert first.unguided.shape == (3, 2)
    assert first.guided.shape == (2, 3, 2)
    assert 0 < len(answers.book) - before <= 3 * 8
    assert {entry.number for entry in answers.book.entries} >= {2, 3, 4}
    asked = answers.calls
    again = play_fresh(game, policy, cast, answers, range(2, 5), workers=3)
    assert answers.calls == asked
    assert np.array_equal(again.guided, first.guided)
    on_record = [answers.has_all_of(partial(hold_talk, game, cast, draw, 0)) for draw in (2, 4, 5)]
    assert on_record == [True, True, False]


def test_guided_and_unguided_share_their_words_as_long_as_they_choose_the_same():
    game, policy, cast, answers = solved_game("debate")
    before = answers.calls
    play_fresh(game, policy, cast, answers, range(2, 8))
    # Per draw: 2 messages and a ruling unguided, a message less for the second seat, which hears
    # the same opening.
    assert answers.calls - before <= 6 * (2 + 1 + 2 + 1 + 1 + 1)


@pytest.mark.parametrize("more", [{"types": 3}, {"replies": 2}])
def test_fresh_dialogues_with_hidden_types_and_longer_talks(more):
    game, policy, cast, answers = solved_game(wordings=1, **more)
    plays = play_fresh(game, policy, cast, answers, range(1, 4))
    assert plays.void == 0
    assert plays.met["known"] >= 3


def test_three_speakers_address_each_other_in_fresh_dialogues():
    game, policy, cast, answers = solved_game("email", wordings=1)
    plays = play_fresh(game, policy, cast, answers, range(1, 2))
    assert plays.guided.shape == (3, 1, 3)


def test_unknown_words_are_answered_as_the_nearest_known_ones():
    _, nearest, _, _ = solved_game("debate", wordings=8)
    tree = nearest.policy.tree
    known = next(
        one for one in tree.infosets if one.player == 1 and "The facts are plain." in one.key
    )
    role, briefing, situation, facts, notes = json.loads(known.key)
    facts["said"][0][2] = "The facts are plain. And that is all."
    other = json.dumps([role, briefing, situation, facts, notes])
    assert nearest.at("player 2", other) == nearest.at("player 2", known.key)
    assert nearest.met == {"nearest": 1, "known": 1}
    # 8 words and 7 pairs here, 13 words ("the" twice) and 13 pairs there; shared are 6 words, "the"
    # twice, and 4 pairs.
    assert nearest.distances == [pytest.approx(1 - 11 / (15 * 29) ** 0.5, abs=0.02)]
    strict = Nearest(nearest.policy, HashedWords(), farthest=nearest.distances[0] - 0.01)
    with pytest.raises(InvalidGame, match="the nearest is at"):
        strict.at("player 2", other)
    assert strict.met == {"no advice": 1}
    facts["said"].append([0, 1, "a second message"])
    with pytest.raises(InvalidGame, match="no situation like this one"):
        nearest.at("player 2", json.dumps([role, briefing, situation, facts, notes]))


def test_a_dialogue_without_a_readable_end_is_void():
    class Mute(SimulatedSpeaker):
        def complete(self, request):
            return Reply("no idea") if request.schema else super().complete(request)

    game, policy, _, _ = solved_game()
    plays = play_fresh(game, policy, cast_of(Mute(0), game.domain), AnswerStore(), range(2, 4))
    assert plays.void == plays.plays == 6
    assert np.isnan(plays.gains).all()


def test_a_run_that_is_only_read_asks_nobody():
    asked = []
    with pytest.raises(NotCached, match="not every answer is on record"):
        AnswerStore(offline=True).ask("key", 0, lambda: asked.append(1))
    assert asked == []


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"fresh": 1, "temperature": 0.0}, "fresh draws of the texts need a temperature above 0"),
        ({"held_out": 3}, "held_out: it belongs to psro and imitation"),
        ({"solver": "psro", "held_out": 3, "fresh": 0}, "give both or none"),
        ({"classifier": "J"}, "classifier: it belongs to follow"),
        ({"fresh": -1}, "fresh: expected a whole number of at least 0, got -1"),
        ({"held_out": -1}, "held_out: expected a whole number of at least 0, got -1"),
    ],
)
def test_evaluations_that_cannot_be_are_refused(settings, complaint):
    with pytest.raises(UsageError, match=complaint):
        SteerConfig("meeting", "simulated", **settings)


def test_the_guided_win_where_they_earn_most_and_ties_count_half():
    unguided = np.zeros((3, 2))
    guided = np.array([[[5, 1], [2, 2], [np.nan, np.nan]], [[4, 3], [1, 6], [0, 9]]], dtype=float)
    # seat 1 wins, ties, void; seat 2 loses, wins, wins
    assert FreshPlays(unguided, guided).wins.tolist() == [0.5, 0.75, 1.0]


def test_the_relative_gain_is_that_of_the_dialogues_which_the_gain_compares():
    # The second draw counts for neither, as its unguided dialogue cannot be read: 3 and 3 instead
    # of 2 and 2 are left.
    unguided = np.array([[2.0, 2.0], [np.nan, np.nan]])
    guided = np.array([[[3.0, 1.0], [0.0, 0.0]], [[1.0, 3.0], [0.0, 0.0]]])
    config = SteerConfig("meeting")
    results = SteerResults(config, config.read_domain())
    figures = evaluate_plays(results, [(0, FreshPlays(unguided, guided))])
    assert (figures["gain"].estimate, figures["relative_gain"]) == (1.0, 0.5)


def test_what_guidance_earns_by_hand():
    unguided = np.array([[2.0, 2.0], [1.0, 3.0]])
    guided = np.array([[[3.0, 1.0], [2.0, 2.0]], [[1.0, 3.0], [1.0, 4.0]]])
    config = SteerConfig("meeting")
    results = SteerResults(config, config.read_domain())
    figures = evaluate_plays(results, [(0, FreshPlays(unguided, guided))])
    # The guided get 3, 2 and 3, 4 where the unguided had 2, 1 and 2, 3: one more each time, 3
    # instead of 2 on average.
    assert figures["gain"].estimate == 1.0
    assert figures["relative_gain"] == 0.5
    # In the same dialogues the others get 1, 2 and 1, 1: the guided lead by 2, 0 and 2, 3, and win
    # but for one tie.
    assert figures["margin"].estimate == 1.75
    assert figures["won"].estimate == 0.875
    nothing = evaluate_plays(results, [(0, FreshPlays(0 * unguided, guided))])
    assert nothing["relative_gain"] is None
