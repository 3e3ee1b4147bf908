"""Deals are read as data, worth what arithmetic says, and void where they contradict themselves."""

import json

import pytest
from steering import dialogue

from bestresponse.core.ask import Words
from bestresponse.core.errors import InvalidMove
from bestresponse.games.dialogue.deals import Issues, Moves, Option, Price, Trade, Verdict
from bestresponse.models.base import Finish, Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.speaker import DealReferee, ScoreReferee, read_ruling, read_value

NAMES = ("Ann", "Ben")
DAYS = Option(("Monday", "Tuesday"))
DAY_VALUES = ({"values": {"Monday": 7}}, {"values": {"Monday": 3, "Tuesday": 9}})
FRUIT = Trade(("apple", "kiwi"))
BASKETS = (
    {"endowment": {"apple": 2, "kiwi": 0}, "values": {"apple": 1, "kiwi": 5}},
    {"endowment": {"apple": 0, "kiwi": 3}, "values": {"apple": 4, "kiwi": 2}},
)

PRICE = Price(0, 100)
BARGAIN = ({"part": "buyer", "worth": 70}, {"part": "seller", "worth": 40})
JOB = Issues({"salary": ("low", "high"), "leave": ("short", "long")}, "candidate")
JOB_VALUES = (
    {"part": "employer", "values": {"low": 9, "high": 2, "short": 4, "long": 1}},
    {"part": "candidate", "values": {"low": 1, "high": 8, "short": 0, "long": 5}},
)
RPS = Moves(("rock", "paper", "scissors"), ((0, -1, 1), (1, 0, -1), (-1, 1, 0)))


def test_a_price_is_worth_its_distance_to_what_the_thing_is_worth_to_each():
    deal = PRICE.read(
        {"agreed": True, "price": 55}, NAMES, BARGAIN, [(0, "I pay 55."), (1, "Agreed.")]
    )
    assert PRICE.utilities(deal, BARGAIN) == (70 - 55, 55 - 40)
    assert PRICE.utilities(
        PRICE.read({"agreed": False, "price": None}, NAMES, BARGAIN), BARGAIN
    ) == (0, 0)


def test_issues_are_worth_the_sum_of_the_agreed_levels():
    deal = JOB.read(
        {"agreed": True, "terms": {"salary": "high", "leave": "Short"}}, NAMES, JOB_VALUES
    )
    assert JOB.utilities(deal, JOB_VALUES) == (2 + 4, 8 + 0)
    assert JOB.utilities(
        JOB.read({"agreed": False, "terms": {}}, NAMES, JOB_VALUES), JOB_VALUES
    ) == (0, 0)


def test_moves_are_worth_what_the_table_says_whatever_was_announced():
    said = [
        (0, "I will play rock."),
        (1, "I will play paper."),
        (0, "I play scissors."),
        (1, "I play paper."),
    ]
    deal = RPS.read({"moves": {"Ann": "scissors", "Ben": "paper"}}, NAMES, ({}, {}), said)
    assert RPS.utilities(deal, ({}, {})) == (1, -1)


@pytest.mark.parametrize(
    ("rules", "data", "said", "why"),
    [
        (PRICE, {"agreed": True, "price": 120}, [], "the price 120 is not from 0 to 100"),
        (
            PRICE,
            {"agreed": True, "price": 50},
            [(0, "150 or 5.50"), (1, "505")],
            "no message names that price",
        ),
        (PRICE, {"agreed": True, "price": "50"}, [], "the price is '50', expected a number"),
        (PRICE, {"agreed": True, "price": None}, [], "agreed, but 'price' is empty"),
        (
            JOB,
            {"agreed": True, "terms": {"salary": "high", "leave": None}},
            [],
            "leave is left open",
        ),
        (
            JOB,
            {"agreed": True, "terms": {"salary": "higher", "leave": "long"}},
            [],
            "is not one of low, high",
        ),
        (RPS, {"moves": {"Ann": "rock"}}, [], "the move of Ben is missing"),
        (
            RPS,
            {"moves": {"Ann": "rock", "Ben": "paper"}},
            [(0, "paper")],
            "Ann plays rock, but the note names paper",
        ),
        (
            RPS,
            {"moves": {"Ann": "rock", "Ben": "rock"}},
            [(0, "rock or paper")],
            "the note names rock and paper",
        ),
    ],
)
def test_a_ruling_that_breaks_the_rules_or_contradicts_the_talk_is_refused(rules, data, said, why):
    private = BARGAIN if rules is PRICE else JOB_VALUES if rules is JOB else ({}, {})
    with pytest.raises(InvalidMove, match=why):
        rules.read(data, NAMES, private, said)


def test_an_agreed_day_is_worth_its_value_to_each_and_nothing_where_somebody_is_not_free():
    deal = DAYS.read({"agreed": True, "choice": "monday"}, NAMES, DAY_VALUES)
    assert DAYS.utilities(deal, DAY_VALUES) == (7, 3)
    deal = DAYS.read({"agreed": True, "choice": "Tuesday"}, NAMES, DAY_VALUES)
    assert DAYS.utilities(deal, DAY_VALUES) == (0, 9)
    deal = DAYS.read({"agreed": False, "choice": None}, NAMES, DAY_VALUES)
    assert DAYS.utilities(deal, DAY_VALUES) == (0, 0)


def test_a_trade_is_worth_what_comes_in_minus_what_goes_out():
    # Ann gives 2 apples (worth 1 each to her, 4 to Ben) for 1 kiwi (worth 5 to her, 2 to Ben).
    deal = FRUIT.read(
        {"agreed": True, "gives": {"Ann": {"apple": 2}, "Ben": {"kiwi": 1}}}, NAMES, BASKETS
    )
    assert FRUIT.utilities(deal, BASKETS) == (5 - 2, 8 - 2)


def test_a_verdict_gives_one_to_the_winner_and_halves_where_undecided():
    assert Verdict().utilities(Verdict().read({"winner": "Ben"}, NAMES, ()), ({}, {})) == (0, 1)
    assert Verdict().utilities(Verdict().read({"winner": "tie"}, NAMES, ()), ({}, {})) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("rules", "data", "why"),
    [
        (
            DAYS,
            {"agreed": True, "choice": None},
            "contradicts itself: agreed, but 'choice' is empty",
        ),
        (DAYS, {"agreed": False, "choice": "Monday"}, "contradicts itself: not agreed, but"),
        (DAYS, {"agreed": True, "choice": "Sunday"}, "'Sunday' is not one of Monday, Tuesday"),
        (DAYS, {"choice": "Monday"}, "'agreed' is None"),
        (
            FRUIT,
            {"agreed": True, "gives": {"Ann": {"kiwi": 1}, "Ben": {}}},
            "Ann gives 1 x kiwi but owns 0",
        ),
        (FRUIT, {"agreed": True, "gives": {"Cleo": {"kiwi": 1}}}, "only Ann and Ben trade"),
        (FRUIT, {"agreed": True, "gives": {"Ann": {"apple": -1}}}, "expected a whole number"),
        (Verdict(), {"winner": "Zoe"}, "'Zoe' is not one of Ann, Ben, tie"),
    ],
)
def test_a_ruling_that_cannot_be_is_refused(rules, data, why):
    with pytest.raises(InvalidMove, match=why):
        rules.read(data, NAMES, BASKETS if rules is FRUIT else DAY_VALUES)


def test_a_referee_that_gives_two_rulings_contradicts_itself():
    with pytest.raises(InvalidMove, match="two different rulings"):
        read_ruling(Reply('{"agreed": false} or rather {"agreed": true}'))
    assert read_ruling(Reply('Here: {"agreed": false}')) == (
        {"agreed": False},
        "text around the JSON object",
    )
    with pytest.raises(InvalidMove) as cut:
        read_ruling(Reply('{"agreed": tr', Finish.LENGTH))
    assert cut.value.kind == "truncated"


def test_a_score_is_the_number_of_the_last_value_line():
    assert read_value("Value: 3\nNo, wait.\nValue: 12.5", 0, 20) == 12.5
    with pytest.raises(InvalidMove, match="not between 0 and 20"):
        read_value("Value: 25", 0, 20)
    with pytest.raises(InvalidMove, match="no line"):
        read_value("It is worth seven.", 0, 20)


def test_an_unreadable_score_is_void_and_says_whose_it_is():
    game = dialogue()
    model = ScriptedModel(["They agreed.", "Value: 4", "no idea"])
    state = game.start()
    decision = ScoreReferee(model, game.domain).decide(game.view(state, "referee"), Words())
    assert decision.action is None
    assert decision.reading.status == "unparseable"
    assert decision.reading.how.startswith(game.names[1])


def test_a_ruling_keeps_the_judges_reasons():
    game = dialogue("debate")
    reply = json.dumps({"reasons": "clearer", "winner": game.names[0]})
    decision = DealReferee(ScriptedModel([reply]), game.domain).decide(
        game.view(game.start(), "referee"), Words()
    )
    assert decision.reasoning == "clearer"
    assert json.loads(decision.action)["winner"] == 0
