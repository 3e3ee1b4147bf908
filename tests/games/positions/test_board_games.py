"""Games told by rules and positions: played, told, counted, and never told more than a seat may
know."""

from dataclasses import replace
from random import Random

import pytest

from bestresponse.core.capabilities import EndlessPlays, HasPositions
from bestresponse.core.codec import record_from_json, record_to_json
from bestresponse.core.conformance import check_game
from bestresponse.core.episode import Episode, play
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision, Nature
from bestresponse.games.breakthrough.rules import Breakthrough
from bestresponse.games.connect_four.rules import ConnectFour
from bestresponse.games.goofspiel.rules import Goofspiel
from bestresponse.games.liars_dice.rules import LiarsDice
from bestresponse.games.lookup import find_game
from bestresponse.games.nim.rules import Nim
from bestresponse.games.pig.rules import Pig
from bestresponse.games.quiz import make_quiz
from bestresponse.games.tic_tac_toe.rules import TicTacToe
from bestresponse.players.strategies import RandomPlayer, make_equilibrium
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.sequence_form_lp import solve_tree

OPEN = (TicTacToe(), Nim(), ConnectFour(), Breakthrough(), Pig(20))
GAMES = (*OPEN, LiarsDice(), Goofspiel())


def follow(game, *moves):
    """The state after these moves, those of nature among them."""
    state = game.start()
    for move in moves:
        state = game.apply(state, dict.fromkeys(game.asks(state), move))
    return state


def walk(game, seed):
    """Every state of a random play in which somebody is asked, and who that is."""
    rng = Random(seed)
    state = game.start()
    while asks := game.asks(state):
        moves = {}
        for role, ask in asks.items():
            if role == NATURE:
                outcomes, chances = zip(*ask.chances, strict=True)
                moves[role] = rng.choices(outcomes, chances)[0]
            else:
                yield state, role
                moves[role] = rng.choice(ask.options)
        state = game.apply(state, moves)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_games_keep_what_games_promise(game):
    for seed in range(5):
        check_game(game, seed)
    assert isinstance(game, HasPositions) == (game in OPEN)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_prompts_are_short_and_a_question_is_the_position(game):
    for seed in range(5):
        for state, role in walk(game, seed):
            view = game.view(state, role)
            assert len(write_rules(view).split()) <= 200
            assert len(write_history(view).split()) <= 120


def test_a_board_is_told_with_the_names_of_its_cells():
    game = TicTacToe()
    view = game.view(follow(game, "b2", "a1", "c3"), "player 2")
    assert write_history(view).splitlines() == [
        "Your mark is O. The board:",
        "",
        "|   | a | b | c |",
        "| 3 | . | . | X |",
        "| 2 | . | X | . |",
        "| 1 | O | . | . |",
    ]


def test_discs_fall_and_pawns_take():
    game = ConnectFour(4, 4)
    view = game.view(follow(game, "2", "2", "4"), "player 2")
    assert write_history(view).splitlines()[2:] == [
        "|  | 1 | 2 | 3 | 4 |",
        "|  | . | . | . | . |",
        "|  | . | . | . | . |",
        "|  | . | o | . | . |",
        "|  | . | x | . | x |",
    ]
    game = Breakthrough(5, 3)
    state = follow(game, "a1-b2", "c5-b4", "b2-b3", "a5-a4")
    assert game.asks(state)["White"].options == (
        "b1-a2", "b1-b2", "b1-c2", "c1-b2", "c1-c2", "b3xa4", "b3-c4",
    )  # fmt: skip
    view = game.view(game.apply(state, {"White": "b3xa4"}), "Black")
    assert write_history(view).splitlines()[2:] == [
        "|   | a | b | c |",
        "| 5 | . | b | . |",
        "| 4 | w | b | . |",
        "| 3 | . | . | . |",
        "| 2 | . | . | . |",
        "| 1 | . | w | w |",
    ]


@pytest.mark.parametrize(
    ("game", "moves", "paid"),
    [
        (TicTacToe(), "b2 a1 a3 c1 c3 b1", [-1, 1]),
        (TicTacToe(), "a1 b1 c1 a2 b2 c2 b3 a3 c3", [1, -1]),
        (TicTacToe(), "b2 a1 c1 a3 a2 c2 b3 b1 c3", [0, 0]),
        (ConnectFour(4, 4), "1 2 1 2 1 2 1", [1, -1]),
        (ConnectFour(5, 4), "1 1 2 2 3 3 4", [1, -1]),
        (ConnectFour(4, 4), "1 2 2 3 3 4 3 4 4 1 4", [1, -1]),
        (Breakthrough(3, 2), "a1-a2 b3xa2 b1xa2 a3-b2 a2-a3", [1, -1]),
        (Breakthrough(3, 2), "a1-b2 b3-a2 b1xa2 a3xb2 a2-a3", [1, -1]),
    ],
)
def test_plays_are_paid_as_the_rules_say(game, moves, paid):
    state = follow(game, *moves.split())
    assert not game.asks(state)
    assert list(game.payoffs(state).values()) == paid
    assert write_history(game.view(state, game.roles[0])).endswith("The game is over.")


@pytest.mark.parametrize(("last_wins", "paid"), [(True, [-1, 1]), (False, [1, -1])])
def test_the_last_object_wins_or_loses(last_wins, paid):
    game = Nim("1-2", last_wins)
    state = follow(game, "take 2 from pile 2", "take 1 from pile 1")
    assert list(game.payoffs(state).values()) == paid


def test_a_rolled_one_loses_the_turn_and_holding_keeps_it():
    game = Pig(20)
    state = follow(game, "roll", "6", "hold", "roll", "5", "roll", "1")
    assert write_history(game.view(state, "player 1")) == (
        "Your score is 6, the other's 0. Points of this turn, not yet safe: 0."
    )
    state = follow(game, "roll", "6", "hold", "roll", "5", "hold")
    assert "Your score is 5, the other's 6." in write_history(game.view(state, "player 2"))
    won = follow(game, *["roll", "6"] * 4)
    assert list(game.payoffs(won).values()) == [1, -1]


def test_a_play_without_end_is_stopped_and_pays_nothing():
    game = Pig(20)
    assert isinstance(game, EndlessPlays)
    episode = Episode(game)
    while not episode.over:
        episode.submit(next(iter(episode.pending)), Decision("hold"))
    assert len(episode.submissions) == game.most_moves == 10_000
    assert episode.record({}).endless
    assert record_from_json(record_to_json(episode.record({}))).endless
    assert list(game.payoffs(episode.state).values()) == [0, 0]


def test_every_random_play_of_pig_ends():
    game = Pig(20)
    for seed in range(100):
        players = {role: RandomPlayer(seed) for role in game.roles}
        record = play(game, {**players, NATURE: Nature(seed)})
        assert sorted(record.payoffs.values()) == [-1, 1]
        assert not record.endless


def test_plays_that_meet_ask_the_same_question_and_know_another_past():
    game = TicTacToe()
    one = game.view(follow(game, "a1", "b2", "c3"), "player 2")
    other = game.view(follow(game, "c3", "b2", "a1"), "player 2")
    assert one.question == other.question
    assert one.key != other.key
    assert game.read_position(one) == game.read_position(other) == "..X.O.X.."


def test_dice_and_bids_are_told_to_those_who_may_know_them():
    game = LiarsDice(3)
    state = follow(game, "2,3", "1x2")
    told = write_history(game.view(state, "player 2"))
    assert told == "Your die shows 3. Bids so far: player 1: 1x2."
    same = game.view(follow(game, "1,3", "1x2"), "player 2")
    assert same.key == game.view(state, "player 2").key
    assert same.key != game.view(follow(game, "2,2", "1x2"), "player 2").key
    shown = write_history(game.view(follow(game, "2,3", "1x2", "liar"), "player 2"))
    assert "The dice show 2 and 3." in shown
    cards = Goofspiel(3)
    assert cards.view((), "player 1").key == cards.view((), "player 1").key
    assert "2" not in write_history(cards.view(((2, 1),), "player 1")).partition("You hold")[2][:9]


def test_games_with_secrets_are_solved_as_trees():
    solved = solve_tree(compile_game(LiarsDice(3), label=write_history))
    assert solved.value["player 1"] == pytest.approx(-1 / 9)
    assert solve_tree(compile_game(Goofspiel(3))).value["player 1"] == pytest.approx(0)
    assert Goofspiel(3).count_points(((1, 2), (3, 1), (2, 3))) == (2, 4)


def test_a_name_may_have_settings_in_brackets():
    found = find_game("Connect Four (columns=5, rows=4)")
    assert found.game == ConnectFour(5, 4, "connect-four(columns=5,rows=4)")
    assert found.name == "connect-four(columns=5,rows=4)"
    assert find_game("nim(piles=1-2,last_wins=false)").game.last_wins is False
    for typed, problem in (
        ("nim(pile=3)", "nim has no parameter 'pile'; it has piles, last_wins"),
        ("nim(piles=1-0)", "expected sizes such as 1-3-5-7"),
        ("nim(piles=30-31)", "at most 60 objects"),
        ("pig(goal=x)", "the parameter goal is 'x'; expected something like 50"),
        ("pig(goal=20", "expected settings in brackets"),
        ("nim(piles=1,piles=2)", "each of them once"),
        ("connect-four(rows=10)", "1 to 9 columns and rows"),
        ("breakthrough(rows=2)", "3 to 9 rows"),
        ("liars-dice(sides=1)", "2 to 6 sides"),
        ("goofspiel(cards=1)", "2 to 6 cards"),
    ):
        with pytest.raises(UsageError, match=problem):
            find_game(typed)


def test_the_equilibrium_plays_a_best_move_at_every_position():
    game = TicTacToe()
    best = {role: make_equilibrium(game, role, seed=1) for role in game.roles}
    for seed in range(20):
        record = play(game, {**best, "player 2": RandomPlayer(seed)})
        assert record.payoffs["player 1"] >= 0
    assert play(game, best).payoffs == {"player 1": 0, "player 2": 0}


def test_goofspiel_says_in_whole_sentences_what_is_left():
    cards = Goofspiel(2)
    began, ended = cards.view((), "player 1"), cards.view(((1, 2), (2, 1)), "player 1")
    last = cards.view(((1, 2),), "player 1")
    assert [write_rules(replace(view, rules=view.position)) for view in (began, last, ended)] == [
        "The prize is 2; still to come: 1. You hold 1 and 2, the other 1 and 2. Points so far:"
        " you 0, the other 0.",
        "The prize is 1, the last one. You hold 2, the other 1. Points so far: you 0, the other 2.",
        "All prizes have come up. Points: you 1, the other 2.",
    ]


@pytest.mark.parametrize("game", OPEN, ids=lambda game: game.name)
def test_nobody_is_asked_what_a_play_earns_that_is_not_over(game):
    for seed in range(5):
        assert make_quiz(game, game.roles[0], Random(seed)) == ()


def test_the_quiz_about_dice_is_about_plays_that_end_with_a_doubt():
    asked = [
        question
        for seed in range(9)
        for question in make_quiz(LiarsDice(), "player 1", Random(seed))
    ]
    assert {question.answer for question in asked} == {-1.0, 1.0}
    for question in asked:
        assert "chooses liar, how much do you get?" in str(question.text)
