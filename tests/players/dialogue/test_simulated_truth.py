"""With the simulated speaker the true game is known: measured payoffs and equilibria agree with
it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from steering import dialogue, recorded
from true_dialogue import true_payoffs, true_tree

from bestresponse.core.episode import play
from bestresponse.core.player import Decision
from bestresponse.players.dialogue.simulated import (
    SimulatedSpeaker,
    edge,
    firmness,
    manner_in,
    opener,
    shown_in,
)
from bestresponse.players.dialogue.speaker import DealReferee, Guided, ScoreReferee, Speaker
from bestresponse.players.llm.player import Sampling
from bestresponse.players.strategies import FixedMix
from bestresponse.studies.steer.solving import solve_dialogue
from bestresponse.theory import cfr, compile_game, subgame_perfect


class Manner:
    """Always chooses one manner and lets the speaker voice it."""

    name = "manner"

    def __init__(self, manner, speaker):
        self.manner, self.speaker = manner, speaker

    def decide(self, view, ask):
        return Decision(self.manner) if hasattr(ask, "options") else self.speaker.decide(view, ask)


def played(game, manners, number, referee=DealReferee):
    model = SimulatedSpeaker(0)
    speaker = Speaker(model, Sampling(0.7, replicate=number))
    seats = {
        role: Manner(manner, speaker) for role, manner in zip(game.roles, manners, strict=True)
    }
    return play(game, {**seats, "referee": referee(model, game.domain)}).payoffs


def test_the_truth_of_one_exchange_follows_from_firmness():
    # Insisting with f and refusing with g: the second's best day with (1-f) g, the first's with
    # 1-g, nothing with f g.
    game = dialogue("meeting")
    own, other = (case["values"] for case in game.cases[0].private)
    first, second = max(own, key=own.get), max(other, key=other.get)
    f, g = 0.8, 0.4
    expected = (1 - f) * g * own.get(second, 0) + (1 - g) * own[first]
    assert true_payoffs(game, ("assertive", "calm"))[0] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["meeting", "fruit", "debate"])
@pytest.mark.parametrize("replies", [1, 2])
def test_live_plays_earn_what_the_truth_says(name, replies):
    game = dialogue(name, seed=4, replies=replies)
    manners = (game.manners.options[0], game.manners.options[1])
    payoffs = np.array([list(played(game, manners, number).values()) for number in range(400)])
    error = payoffs.std(axis=0, ddof=1) / np.sqrt(len(payoffs))
    assert (np.abs(payoffs.mean(axis=0) - true_payoffs(game, manners)) <= 4 * error + 1e-9).all()


@pytest.mark.parametrize("name", ["meeting", "fruit", "debate"])
def test_both_referees_agree_on_the_simulated_speakers_dialogues(name):
    game = dialogue(name, seed=2)
    for number in range(30):
        assert played(game, game.manners.options[:2], number) == played(
            game, game.manners.options[:2], number, ScoreReferee
        )


def test_the_true_tree_has_the_equilibrium_worked_out_by_hand():
    # The answerer is soft (0.1) to one who insists and hard (0.8) to one who yields; the first
    # takes the better side. First: Monday 10, Tuesday 4. Second: Monday 3, Tuesday 20. Insisting
    # ends with 0.9 x 10 = 9 (the answerer accepts nine times in ten), yielding with 0.8 x 4 + 0.2 x
    # 10 = 5.2, so the first is assertive: 0.8 x 9 + 0.2 x 5.2 = 8.24, and the second gets 0.8 x 0.9
    # x 3 + 0.2 x (0.8 x 20 + 0.2 x 3) = 5.48.
    game = dialogue("meeting")
    values = ({"values": {"Monday": 10, "Tuesday": 4}}, {"values": {"Monday": 3, "Tuesday": 20}})
    game = replace(game, cases=(replace(game.cases[0], private=values),))
    value = cfr(true_tree(game), 3000).value
    assert value == pytest.approx({"player 1": 8.24, "player 2": 5.48}, abs=1e-3)


def test_cfr_on_a_recorded_tree_finds_the_subgame_perfect_value():
    game, _ = recorded(dialogue(seed=6), 3)
    tree = compile_game(game)
    solved = solve_dialogue(game, 3000)
    if tree.is_perfect_information:
        values = [e.payoffs for e in subgame_perfect(tree).equilibria]
        assert any(
            v["player 1"] == pytest.approx(solved.equilibrium_payoffs[0], abs=0.05) for v in values
        )
    assert solved.metrics["nash_conv"] < 0.01


def test_more_wordings_come_closer_to_the_truth():
    game = dialogue("debate", seed=3)
    truth = cfr(true_tree(game), 1000).value["player 1"]
    few = [
        solve_dialogue(recorded(game, 1, SimulatedSpeaker(s))[0], 200).equilibrium_payoffs[0]
        for s in range(5)
    ]
    many = [
        solve_dialogue(recorded(game, 24, SimulatedSpeaker(s))[0], 200).equilibrium_payoffs[0]
        for s in range(5)
    ]
    assert np.abs(np.array(many) - truth).mean() < np.abs(np.array(few) - truth).mean()


def test_a_guided_player_follows_the_policy_and_voices_by_itself():
    game, _ = recorded(dialogue(), 2)
    solved = solve_dialogue(game, 500)
    view, ask = game.view(game.start(), "player 1"), game.asks(game.start())["player 1"]
    chances = solved.policy.at("player 1", view.key)
    guided = [
        Guided(FixedMix((1.0,)), solved.policy, seed).decide(view, ask).action
        for seed in range(200)
    ]
    assert (
        {move for move, p in chances.items() if p > 0.1}
        <= set(guided)
        <= {m for m, p in chances.items() if p > 0}
    )
    guided = Guided(FixedMix((1.0,)), solved.policy)
    assert guided.decide(view, ask) == guided.decide(view, ask)
    assert guided.name == "guided fixed"
    stranger = dialogue(seed=9)
    other = Guided(FixedMix((0.0, 0.0, 1.0, 0.0)), solved.policy)
    decision = other.decide(
        stranger.view(stranger.start(), "player 1"), stranger.asks(stranger.start())["player 1"]
    )
    assert decision.action == "submissive"
    assert "does not know" in decision.reasoning


def test_guided_speakers_play_the_live_game():
    game, _ = recorded(dialogue(), 2)
    solved = solve_dialogue(game, 200)
    model = SimulatedSpeaker(0)
    voice = partial(Manner, "any")(Speaker(model))
    seats = {role: Guided(voice, solved.policy) for role in game.roles}
    record = play(game.live, {**seats, "referee": DealReferee(model, game.live.domain)})
    assert record.void is None
    assert set(record.payoffs) == {"player 1", "player 2"}


def test_manners_show_in_the_first_sentence_and_can_be_read_from_instructions():
    assert [shown_in(opener(m) + " I propose x.") for m in ("calm", "logos", "grumpy")] == [
        "calm",
        "logos",
        "grumpy",
    ]
    assert manner_in("Write in an assertive tone.") == "assertive"
    assert manner_in("Write in a rather odd tone.") == "rather odd"
    assert firmness("submissive") < firmness("any") < firmness("assertive")
    assert edge("logos", "pathos") == -edge("pathos", "logos") == 0.3
    assert edge("any", "logos") < 0 < edge("logos", "any")
