"""What a game says of itself beyond its rules, and that the conformance kit finds what is not
true."""

from dataclasses import replace

import pytest

from bestresponse.core.ask import Amount, Choice, Form, Lottery
from bestresponse.core.capabilities import (
    KnownEquilibrium,
    NamedStrategies,
    Question,
    Wording,
    find_equilibrium_moves,
    find_known_equilibrium,
    measure_decision_cost,
    play_out_equilibrium,
)
from bestresponse.core.conformance import Broken, check_game
from bestresponse.core.game import NATURE, View, find_first_asks
from bestresponse.core.told import prose
from bestresponse.games.guessing.rules import Guessing
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.public_goods.rules import PublicGoods
from bestresponse.games.trust.rules import Trust
from bestresponse.games.ultimatum.rules import Ultimatum
from bestresponse.games.water.game import Water, water
from bestresponse.players.people.console import ConsolePlayer
from bestresponse.telling.render import word_rules, write_rules
from bestresponse.theory import NormalForm

ALL_FIVE = dict.fromkeys(PublicGoods().roles, 5)


class Plain:
    """The rules of a game, without what it says of its costs."""

    def __init__(self, game):
        self.game = game

    def __getattr__(self, name):
        if name == "measure_cost":
            raise AttributeError(name)
        return getattr(self.game, name)


@pytest.mark.parametrize(
    ("game", "state", "role", "action"),
    [
        (PublicGoods(rounds=2), (), "player 3", 7),
        (PublicGoods(rounds=2), (ALL_FIVE,), "player 1", dict.fromkeys(PublicGoods().roles[1:], 2)),
        (Guessing(rounds=2), (), "player 5", 40.0),
        (Trust(), (), "sender", 2),
        (Trust(), (4.0,), "receiver", 3.0),
        (Ultimatum(), (), "proposer", 1),
        (Ultimatum(), (1,), "responder", "reject"),
    ],
)
def test_the_cost_that_a_game_states_is_that_of_playing_on(game, state, role, action):
    stated = measure_decision_cost(game, state, role, action)
    assert stated > 0
    assert measure_decision_cost(Plain(game), state, role, action) == pytest.approx(stated)


def test_games_without_a_capability_are_not_taken_to_have_it():
    table = MatrixGame(NormalForm.zero_sum([[1, -1], [-1, 1]]))
    assert not isinstance(table, KnownEquilibrium | NamedStrategies | Wording)
    assert find_equilibrium_moves(table, table.start()) == {}
    assert measure_decision_cost(table, table.start(), table.roles[0], "A") is None


def test_the_first_asks_come_after_what_chance_draws():
    asks = find_first_asks(water())
    assert list(asks) == ["Alex", "Bob", "Cindy", "David", "Eric"]
    assert asks["Alex"] == Amount(0, 70, may_pass=True)


class Wrong(Trust):
    """Trust with one thing that is not true."""


class Illegal(Wrong):
    def choose_equilibrium(self, view, ask):
        return 11.0


class Dear(Wrong):
    def measure_cost(self, state, role, action):
        return 1.0


class Unnamed(Wrong):
    strategy_names = ("bold",)

    def make_strategy(self, name, role, seed):
        return None


class Endless(Wrong):
    def make_quiz(self, role, rng):
        return (Question("How much?", float("inf")),)


class Other(Water):
    def with_rounds(self, rounds):
        return replace(self, rules=replace(self.rules, residents=self.rules.residents[:2]))


@pytest.mark.parametrize(
    ("game", "promise"),
    [
        (
            Illegal(),
            "in its equilibrium sender plays what is not legal: 11 is not between 0 and 10",
        ),
        (Dear(), "sender pays 1.0 for playing the equilibrium"),
        (Unnamed(), "make_strategy\\(\\) does not know all of strategy_names for sender"),
        (Endless(), "a question to sender has no finite answer"),
        (Other(), "with_rounds\\(\\) changes the roles"),
    ],
)
def test_what_a_game_says_of_itself_is_checked(game, promise):
    with pytest.raises(Broken, match=promise):
        check_game(game)


def test_a_game_with_wording_is_asked_in_its_words_at_the_terminal():
    screen = []
    game = PublicGoods()
    person = ConsolePlayer(lambda prompt: "3", screen.append, game=game)
    view = game.view(game.start(), "player 1")
    assert person.decide(view, game.asks(game.start())["player 1"]).action == 3.0
    assert screen[-1] == "How many coins do you put into the common project?"
    assert (
        game.word_question(Form((("a", Amount(0, 1)),)))
        == "How many points do you give each of the others?"
    )
    assert (game.title, replace(game, punishment=False).title) == (
        "Public goods with punishment",
        "Public goods",
    )
    assert Ultimatum().word_question(Choice(("accept", "reject"))) == "Do you accept the offer?"


@pytest.mark.parametrize(
    ("answer", "typed", "right"),
    [
        (12.5, "12.5", True),
        (12.5, " 12,5 ", True),
        (12.5, "12.504", False),
        (12.5, "12", False),
        (1 / 3, "0.33", True),
        (1 / 3, "0,333", True),
        (1 / 3, "0.32", False),
        (2 / 3, "0.67", True),
        (0.125, "0.13", True),
        (0.125, "0.11", False),
        (7.0, "seven", False),
        (7.0, "", False),
    ],
)
def test_a_question_takes_its_answer_with_point_or_comma_and_two_decimals_of_a_longer_one(
    answer, typed, right
):
    assert Question("How much?", answer).accepts(typed) is right


def test_rules_for_people_are_those_of_models_without_an_aim():
    assert (
        word_rules(object(), View("player 1", prose("Put in what you like.")))
        == "Put in what you like."
    )
    game = PublicGoods()
    seen = game.view(game.start(), "player 1")
    told = write_rules(seen)
    aim = "\n\nYour aim is to make your own expected payoff as large as possible."
    assert told.endswith(aim)
    people = "You are player 1. You play with player 2, player 3 and player 4."
    models = "You are player 1 in a game played by player 1, player 2, player 3, player 4."
    assert told.startswith(models)
    assert word_rules(game, seen) == people + told.removesuffix(aim).removeprefix(models)


def test_whoever_is_not_asked_or_has_no_known_equilibrium_loses_nothing_that_is_known():
    assert measure_decision_cost(Trust(), (), "receiver", 3.0) is None
    assert find_known_equilibrium(MatrixGame(NormalForm.zero_sum([[1]]))) is None
    assert find_known_equilibrium(Trust()).payoffs == {"sender": 10, "receiver": 10}


class Drawn(Plain):
    """Trust in which chance decides what is returned of something."""

    def asks(self, state):
        return (
            {NATURE: Lottery.uniform((0, 1))}
            if len(state) == 1 and state[0]
            else self.game.asks(state)
        )


def test_what_chance_decides_later_is_not_played_out():
    assert play_out_equilibrium(Trust(), ()) == {"sender": 10, "receiver": 10}
    assert play_out_equilibrium(Drawn(Trust()), (2,)) is None
    assert measure_decision_cost(Drawn(Trust()), (), "sender", 2) is None
    assert find_equilibrium_moves(Drawn(Trust()), (2,)) == {}
