"""What a steering run reports, from results put together by hand: every figure can be checked on
paper."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from bestresponse.core.player import Reading, Status
from bestresponse.games.dialogue.game import PERSON, Entry
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.dialogue_frames import (
    _compare_referees,
    _describe_game,
    _describe_ruling,
    _list_advice,
    _list_choices,
    _measure_following,
    build_guidance_game,
)
from bestresponse.studies.steer.evaluating import _split_by_game, evaluate_plays
from bestresponse.studies.steer.following import Followed, Opinions
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.meta_game import MetaGame, MetaSolution
from bestresponse.studies.steer.oracles import Candidate, Response
from bestresponse.studies.steer.psro import Iteration
from bestresponse.studies.steer.search_frames import measure_psro
from bestresponse.studies.steer.session import GameResult, SteerResults, Written
from bestresponse.studies.steer.study import measure_steering, steer
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.tree import Policy

NAN = float("nan")


def solve_by_hand(unguided, guided, **metrics):
    """A solution of which only the metrics are known."""
    return SimpleNamespace(
        metrics={"gain": 0.5, "loss": 0.0, "relative_gain": 9.0, "unguided_nash_conv": 1.0}
        | metrics,
        policies={
            name: SimpleNamespace(nash_conv=conv, earned=SimpleNamespace(gain=gain))
            for name, conv, gain in (
                ("cfr", 0.25, 0.5),
                ("credible", 0.0, 1.0),
            )
        },
        tree=SimpleNamespace(num_nodes=7, num_players=3, infosets=()),
        unguided_payoffs=unguided,
        guided_payoffs=guided,
        equilibrium_payoffs=(2.0, 3.0),
    )


def make_result(number, solved=None, names=("Ann", "Bob"), **more):
    return GameResult(number, SimpleNamespace(names=names, cases=()), solved=solved, **more)


def gather(*games, config=None, **more):
    config = config or SteerConfig("meeting")
    return SteerResults(config, config.read_domain(), games=games, **more)


# Dialogues as trees


def test_a_run_is_averaged_over_its_games_and_the_largest_loss_is_told():
    fresh = FreshPlays(
        np.array([[1.0, 1.0]]),
        np.array([[[3.0, 1.0]], [[1.0, 1.0]]]),
        Counter(known=3, nearest=2),
        (0.25, 0.75),
    )
    made = measure_steering(
        gather(
            make_result(0, solve_by_hand((1.0, 1.0), (2.0, 1.0), gain=0.5, loss=0.25)),
            make_result(
                1, solve_by_hand((3.0, 3.0), (3.0, 6.0), gain=1.5, loss=0.125), fresh=fresh
            ),
            make_result(2, why_void="nobody agreed"),
            entries=(
                Entry("a", 0, "hi", "m", Reading(Status.VALID)),
                Entry("a", 1, None, "m", Reading(Status.UNPARSEABLE, "x" * 200)),
                Entry("b", 0, "ho", PERSON, Reading(Status.VALID)),
            ),
            written=Written((), ("too long", "too short", "too long")),
        )
    )
    recorded, drawn = (figures for _, figures in made.groups.items())
    assert list(made.groups) == [("recorded texts",), ("fresh texts",)]
    assert recorded["gain"].estimate == 1.0
    assert recorded["gain"].n == 2
    # 2, 1, 3, 6 are 3 on average, 1, 1, 3, 3 are 2: half as much again; shares of games are not
    # averaged.
    assert (recorded["relative_gain"], recorded["loss"]) == (0.5, 0.25)
    # The first speaker gains 2, the second nothing: 1 on average, and 3, 1 instead of 1, 1 is twice
    # as much.
    assert (drawn["gain"].estimate, drawn["relative_gain"]) == (1.0, 1.0)
    assert made.answered == 2
    (overview,) = made.frames["overview"]
    assert {name: value for name, value in overview.items() if name != "domain"} == {
        "solved_games": 2,
        "answers": 3,
        "by_people": 1,
        "closed": None,
        "plays": 3,
        "void_plays": 0,
        "known": 3,
        "nearest": 2,
        "no_advice": 0,
        "distance": 0.5,
        "stopped": None,
    }
    assert made.frames["rejected_scenarios"].rows == [
        {"what": "too long", "times": 2},
        {"what": "too short", "times": 1},
    ]
    assert made.frames["unread"].rows == [{"what": "x" * 160, "times": 1}]
    assert [row["game"] for row in made.frames["games"]] == [0, 1, 2]
    assert [
        (row["policy"], row["followed"], row["nash_conv"].estimate)
        for row in made.frames["policies"]
    ] == [
        ("cfr+ at 1,000 iterations", "no", 0.25),
        ("credible", "yes", 0.0),
        ("unguided", "no", 1.0),
    ]


def test_a_run_without_a_solved_game_has_no_figures_and_no_fresh_situations():
    made = measure_steering(gather(make_result(0, why_void="w" * 300)))
    assert (made.groups, made.answered) == ({}, 0)
    (overview,) = made.frames["overview"]
    assert (
        overview["known"],
        overview["nearest"],
        overview["no_advice"],
        overview["distance"],
    ) == (None,) * 4
    assert made.frames["games"][0]["why_void"] == "w" * 200
    assert made.frames["unread"].rows == []


def test_a_game_tells_its_payoffs_and_the_mean_gain_of_fresh_draws():
    # Draw 1 gains 2 and 0, draw 2 cannot be read: 1.
    fresh = FreshPlays(
        np.array([[1.0, 1.0], [NAN, NAN]]),
        np.array([[[3.0, 1.0], [NAN, NAN]], [[1.0, 1.0], [NAN, NAN]]]),
    )
    row = _describe_game(make_result(4, solve_by_hand((1.0, 1.0), (2.0, 1.0)), fresh=fresh))
    assert (row["game"], row["people"], row["nodes"]) == (4, "Ann, Bob", 7)
    assert (row["gain"], row["fresh_gain"], row["why_void"]) == (0.5, 1.0, None)
    assert (row["unguided_payoffs"], row["guided_payoffs"], row["equilibrium_payoffs"]) == (
        (1.0, 1.0),
        (2.0, 1.0),
        (2.0, 3.0),
    )
    assert (
        _describe_game(make_result(4, solve_by_hand((1.0, 1.0), (2.0, 1.0))))["fresh_gain"] is None
    )


def test_advice_is_listed_with_what_the_speaker_knows_and_has_heard():
    def infoset(said, private, player=1):
        facts = {"private": private, "said": said}
        return SimpleNamespace(
            key=json.dumps(["role", "", "", facts, []]),
            player=player,
            moves=("calm", "firm", "odd"),
        )

    infosets = [
        infoset([], {"worth": {"book": 3, "hat": 1}, "mood": "glad"}),
        infoset([[1, 0, "first"], [0, 0, "y" * 201]], {}),
        infoset([[0, 0, "z" * 200]], {}),
    ]
    tree = SimpleNamespace(infosets=infosets, first_move=np.array([0, 3, 6]))
    policy = SimpleNamespace(
        tree=tree, probabilities=np.array([0.25, 0.75, 0.0, 1, 0, 0, 0.005, 0.495, 0.5])
    )
    solved = SimpleNamespace(
        tree=tree,
        policy=policy,
        losses=np.array([0.0, 0.5, 0.25]),
    )
    first, second, third = _list_advice(SimpleNamespace(names=("Ann", "Bob")), 5, solved)
    assert first == {
        "game": 5,
        "speaker": "Bob",
        "knows": "book 3, hat 1; glad",
        "last_heard": "nothing yet",
        "advice": "firm 0.75, calm 0.25",
        "loss": 0.0,
    }
    assert second["last_heard"] == "Ann: " + "y" * 200 + "…"
    assert (third["last_heard"], third["advice"], third["loss"]) == (
        "Ann: " + "z" * 200,
        "odd 0.50, firm 0.49",
        0.25,
    )


@pytest.mark.parametrize(
    ("ruling", "words"),
    [
        ({"payoffs": [1, 2.5]}, "payoffs 1, 2.5"),
        ({"winner": None}, "undecided"),
        ({"winner": 1}, "Bob argued better"),
        ({"moves": ["rock", "paper"]}, "Ann plays rock; Bob plays paper"),
        ({"agreed": False}, "no agreement"),
        ({"agreed": True, "terms": {"day": "Monday", "place": "here"}}, "agreed on Monday, here"),
        ({"agreed": True, "price": 12.0}, "agreed on a price of 12"),
        ({"agreed": True, "choice": "tea"}, "agreed on tea"),
        ({"agreed": True, "gives": [{"book": 2}, {}]}, "Ann gives 2 book; Bob gives nothing"),
    ],
)
def test_rulings_are_told_in_words(ruling, words):
    assert _describe_ruling(ruling, ("Ann", "Bob")) == words


def test_two_referees_are_compared():
    # Differences 0, 1, 0 (a rounding), 3: half the same, 1 on average.
    games = [
        make_result(0, opinions=Opinions(((1.0, 1.0), (2.0, 3.0)), 1)),
        make_result(1, opinions=Opinions(((4.0, 4.0 + 1e-10), (2.0, 5.0)), 2)),
    ]
    (row,) = _compare_referees(games)
    assert (row["payoffs"], row["same"], row["void"]) == (4, 0.5, 3)
    assert row["distance"] == pytest.approx(1.0)
    # Observed squares 0, 1, 0, 9: 10 / 4. Expected: all 56 ordered pairs of 1, 1, 2, 2, 3, 4, 4, 5,
    # whose squared differences sum to 2 * (8 * 76 - 22 ** 2) = 248: 248 / 56. Alpha = 1 - 2.5 /
    # 4.428571.
    assert row["alpha"] == pytest.approx(1 - 2.5 * 56 / 248)
    (void,) = _compare_referees([make_result(0, opinions=Opinions((), 1))])
    assert void == {"payoffs": 0, "same": None, "distance": None, "alpha": None, "void": 1}
    (same,) = _compare_referees([make_result(0, opinions=Opinions(((2.0, 2.0),)))])
    assert (same["payoffs"], same["same"], same["alpha"]) == (1, 1.0, None)
    assert list(_compare_referees([make_result(0)])) == []


def test_messages_follow_their_manner_as_often_as_the_classifier_names_it():
    config = SteerConfig("meeting", "simulated", follow=True)
    options = config.read_domain().manners(config.actions).options
    named = Followed({(options[0], options[0]): 2, (options[0], options[1]): 1}, 1)
    other = Followed({(options[1], options[1]): 1}, 2)
    results = gather(make_result(0, followed=named), make_result(1, followed=other), config=config)
    (row,) = _measure_following(results)["following"]
    # Two and one of four messages, 3/4; two games.
    assert (row["rate"].estimate, row["rate"].n, row["judged"], row["unreadable"]) == (
        0.75,
        2,
        4,
        3,
    )
    assert (row["classifier"], row["held_out"], row["chance"]) == (
        "simulated",
        False,
        1 / len(options),
    )
    nobody = gather(make_result(0), config=config)
    assert len(_measure_following(nobody)["following"]) == 0
    without = gather(make_result(0, followed=named), config=SteerConfig("meeting", "simulated"))
    assert len(_measure_following(without)["following"]) == 0
    elsewhere = gather(
        make_result(0, followed=named),
        config=SteerConfig("meeting", "simulated", follow=True, judge="scripted:J"),
    )
    (judged,) = _measure_following(elsewhere)["following"]
    assert (judged["classifier"], judged["held_out"]) == ("scripted:J", True)


def test_choosing_guidance_is_a_dilemma_where_guidance_is_defection():
    # Unguided speakers cooperate and the guided defect in the dilemma 3, 0, 5, 1; the second game
    # pays the same.
    tree = compile_game(MatrixGame(NormalForm([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])))
    solved = SimpleNamespace(
        tree=tree,
        unguided=Policy(tree, np.array([1.0, 0, 1, 0])),
        policy=Policy(tree, np.array([0, 1.0, 0, 1])),
    )
    form = build_guidance_game([solved, solved])
    assert form.payoffs.tolist() == [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]
    rows = [
        (row["first"], row["second"], row["payoffs"], row["probability"])
        for row in _list_choices(form)
    ]
    assert rows == [
        ("unguided", "unguided", "3.000, 3.000", 0.0),
        ("unguided", "guided", "0.000, 5.000", 0.0),
        ("guided", "unguided", "5.000, 0.000", 0.0),
        ("guided", "guided", "1.000, 1.000", 1.0),
    ]
    made = measure_steering(gather(make_result(0, solve_by_hand((0.0,) * 3, (0.0,) * 3))))
    assert made.frames["guidance"].rows == []


# The search in prompt space

PLAYS = np.array(
    [
        [[[1.0, 1.0], [3.0, 1.0]], [[1.0, 2.0], [1.0, 3.0]]],
        [[[4.0, 0.0], [4.0, 2.0]], [[0.0, 0.0], [NAN, NAN]]],
    ]
)
"""Manners of the first, of the second, plays, payoffs: both calm earn 2, 1 on average, firm against
calm 4, 1, calm against firm 1, 2.5, both firm 0, 0, of which one play cannot be read."""


def make_search():
    prompts = (("calm", "firm"), ("calm", "firm"))
    start = MetaSolution(np.ones((1, 1)), (np.array([1.0]), np.array([1.0])), np.array([2.0, 1.0]))
    joint = np.array([[0.25, 0.0], [0.75, 0.0]])
    end = MetaSolution(joint, (np.array([0.25, 0.75]), np.array([1.0, 0.0])), np.array([3.5, 1.0]))
    firm, odd = Candidate("firm", 4.0, 0.0, 2), Candidate("odd", 1.5, 0.1, 2)
    history = [
        Iteration((("calm",), ("calm",)), start, (Response(0, firm, (firm, odd), ("bad",), 2.0),)),
        Iteration(prompts, end),
    ]
    game = MetaGame(prompts, PLAYS, "calm")
    return SimpleNamespace(game=game, solution=end, prompts=prompts, history=history, closed=True)


def search_results(**more):
    config = SteerConfig("meeting", "simulated", solver="psro", **more)
    return SteerResults(
        config, config.read_domain(), psro=make_search(), psro_played=8, psro_voids=1
    )


def test_every_iteration_tells_what_its_mixture_gains_over_the_neutral_manner():
    frames = measure_psro(search_results(), make_search())
    assert frames["iterations"].rows == [
        {"iteration": 0, "player": "player 1", "gain": 0.0, "new_prompt_mass": 0},
        {"iteration": 0, "player": "player 2", "gain": 0.0, "new_prompt_mass": 0},
        # A quarter of 2 and three quarters of 4 are 3.5, against 2.
        {"iteration": 1, "player": "player 1", "gain": 1.5, "new_prompt_mass": 0.75},
        {"iteration": 1, "player": "player 2", "gain": 0.0, "new_prompt_mass": 0.0},
    ]
    # The whole equilibrium of each iteration; firm comes in with the second.
    assert [tuple(row.values()) for row in frames["manners"]] == [
        (0, "player 1", "calm", 1.0, 0),
        (0, "player 2", "calm", 1.0, 0),
        (1, "player 1", "calm", 0.25, 0),
        (1, "player 1", "firm", 0.75, 1),
        (1, "player 2", "calm", 1.0, 0),
        (1, "player 2", "firm", 0.0, 1),
    ]
    assert [
        (row["player"], row["manner"], row["score"], row["plays"], row["outcome"])
        for row in frames["candidates"]
    ] == [
        ("player 1", "firm", 4.0, 2, "added"),
        ("player 1", "odd", 1.5, 2, "not better"),
        ("player 1", "bad", None, 0, "rejected"),
    ]
    # Firm against calm is the pure equilibrium whose manners earn most from neutral partners: 4 +
    # 1.
    assert [
        (row["player"], row["manner"], row["probability"].estimate, row["payoff"].estimate)
        for row in frames["solution"]
    ] == [
        ("player 1", "calm", 0.0, 4.0),
        ("player 1", "firm", 1.0, 4.0),
        ("player 2", "calm", 1.0, 1.0),
        ("player 2", "firm", 0.0, 1.0),
    ]
    low, high = search_results().domain.low, search_results().domain.high
    assert all(
        low <= row["payoff"].low and row["payoff"].high <= high for row in frames["solution"]
    )


def test_profiles_show_means_with_errors_where_two_plays_can_be_read():
    profiles = measure_psro(search_results(), make_search())["profiles"]
    # 1 and 3: deviation sqrt(2), over sqrt(2).
    assert profiles[0] == {
        "player": "player 1",
        "first": "calm",
        "others": "calm",
        "plays": 2,
        "payoff": 2.0,
        "error": pytest.approx(1.0),
        "shown": "2.00 ± 1.00",
    }
    assert [
        (row["first"], row["others"], row["plays"], row["shown"])
        for row in profiles.select(player="player 2")
    ] == [
        ("calm", "calm", 2, "1.00 ± 0.00"),
        ("calm", "firm", 2, "2.50 ± 0.50"),
        ("firm", "calm", 2, "1.00 ± 1.00"),
        ("firm", "firm", 1, "0.00"),
    ]
    assert profiles[3]["error"] is None


def test_a_search_is_evaluated_on_its_own_plays_and_on_games_held_out():
    results = search_results(held_out=2, fresh=2)
    # Play n is on game n % 2: the guided first speaker gains 1, 2, 3, 4 on games 0, 1, 0, 1; the
    # second nothing.
    unguided = np.ones((4, 2))
    guided = np.stack([unguided + np.array([[1, 0], [2, 0], [3, 0], [4, 0]]), unguided])
    results.psro_held_out = FreshPlays(unguided, guided)
    made = measure_steering(results)
    search, held_out = made.groups["plays of the search",], made.groups["held-out games",]
    # The first speaker earns 3.25 and 3.75 instead of 1 and 3, the second 1 and 1 as before.
    # Of a single game every play is a unit of its own.
    assert (search["gain"].estimate, search["gain"].n) == (pytest.approx(0.75), 2)
    assert search["relative_gain"] == pytest.approx(0.5)
    # Alone, the first could have 4 instead of 3.5; from neutral talk 4 instead of 2, the second 2.5
    # instead of 1.
    assert search["nash_conv"] == pytest.approx(0.5)
    assert search["unguided_nash_conv"] == pytest.approx(3.5)
    assert (held_out["gain"].estimate, held_out["gain"].n) == (1.25, 2)
    (overview,) = made.frames["overview"]
    assert (
        overview["plays"],
        overview["void_plays"],
        overview["closed"],
        overview["solved_games"],
    ) == (
        8,
        1,
        True,
        None,
    )
    assert made.answered == 1


def test_plays_are_split_by_the_remainder_of_their_number():
    plays = FreshPlays(np.arange(10.0).reshape(5, 2), np.arange(20.0).reshape(2, 5, 2))
    (first, even), (second, odd) = _split_by_game(plays, 2)
    assert (first, second) == (0, 1)
    assert even.unguided.tolist() == [[0, 1], [4, 5], [8, 9]]
    assert odd.guided.tolist() == [[[2, 3], [6, 7]], [[12, 13], [16, 17]]]
    assert len(_split_by_game(plays, 9)) == 5


def test_plays_that_cannot_be_read_enter_no_average():
    results = search_results()
    plays = FreshPlays(
        np.array([[1.0, 1.0], [NAN, NAN]]), np.array([[[2.0, 1.0]] * 2, [[1.0, 1.0]] * 2])
    )
    figures = evaluate_plays(results, [(0, plays)])
    assert isinstance(figures["gain"], Interval)
    assert figures["gain"].estimate == 0.5
    nothing = FreshPlays(np.full((1, 2), NAN), np.full((2, 1, 2), NAN))
    assert evaluate_plays(results, [(0, nothing)]) == {
        "gain": None,
        "margin": None,
        "won": None,
        "relative_gain": None,
    }


def test_a_run_has_a_step_for_each_game_or_for_each_table_of_the_search():
    assert steer.count(SteerConfig("meeting", "simulated", games=3)) == 3
    assert steer.count(SteerConfig("meeting", "simulated", solver="psro", iterations=4)) == 5
