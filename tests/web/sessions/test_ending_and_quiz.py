"""Before the game a quiz about its rules, after it what theory knows: for every game on the
list."""

import re

import pytest
from daily import share_out
from played_games import cells, played, words

from bestresponse.core.capabilities import HasPositions, Question
from bestresponse.telling.language import load_language
from bestresponse.web.services.seat import describe_equilibria, find_mistakes, make_questions
from bestresponse.web.sessions.setup import GameChoice, list_offers, make_game
from bestresponse.web.texts import load_texts

ENGLISH = load_language("en")
ENGLISH_WORDS = {
    "the",
    "of",
    "equilibrium",
    "gets",
    "nobody",
    "everybody",
    "you",
    "your",
    "turn",
    "chose",
    "drew",
    "card",
}

OFFERS = [offer for offer in list_offers() if offer.kind != "dialogue"]
GAMES = [GameChoice(offer.name) for offer in OFFERS]
TABLES = {offer.name for offer in OFFERS if offer.kind == "table"}

ONLY_WHOLE_PLAYS = frozenset(
    [
        "barrels",
        "bluff",
        "boxes",
        "breakthrough",
        "connect-four",
        "couriers",
        "crates",
        "fifteen",
        "goofspiel",
        "lamps",
        "lanes",
        "liars-dice",
        "nim",
        "pig",
        "queues",
        "runners",
        "three-colours",
        "tic-tac-toe",
    ]
)
"""Boards, dice and cards: nobody is asked what a play would pay that is broken off, so some seats are
asked nothing."""


@pytest.mark.parametrize("choice", GAMES, ids=lambda choice: choice.name)
def test_every_game_on_the_list_asks_every_seat_something_and_the_right_answers_pass(choice):
    game = make_game(choice)
    for seat in range(len(game.roles)):
        quiz = make_questions(game, seat, 5)
        assert quiz or choice.name in ONLY_WHOLE_PLAYS
        assert quiz == make_questions(game, seat, 5)
        assert (
            find_mistakes(quiz, [f"{question.answer:.2f}" for question in quiz], load_texts("en"))
            == {}
        )
        assert len(
            find_mistakes(quiz, [str(question.answer + 1) for question in quiz], load_texts("en"))
        ) == len(quiz)


@pytest.mark.parametrize(
    "choice",
    share_out(GAMES, part=2, always=lambda choice: choice.name not in TABLES),
    ids=lambda choice: choice.name,
)
def test_every_game_on_the_list_ends_with_what_theory_knows(choice):
    record = played(choice)
    blocks = describe_equilibria(choice, record)
    known = "No equilibrium of this game is known" not in words(blocks)
    assert known != (choice.name in ("water", "survival-auction"))
    if not isinstance(make_game(choice), HasPositions):
        assert bool(cells(blocks)) == known
    german = describe_equilibria(choice, record, "de")
    shown = " ".join([words(german), *(str(cell) for row in cells(german) for cell in row)])
    assert set(re.findall(r"\w+", shown.lower())).isdisjoint(ENGLISH_WORDS)


def test_questions_are_worked_out_by_the_rules():
    sent = make_questions(make_game(GameChoice("trust")), 0, 1)[0]
    told = ENGLISH.tell(sent.text)
    assert told == "If you send 6 and the receiver returns 11, how much do you get?"
    assert sent.answer == 10 - 6 + 11
    first, second = make_questions(make_game(GameChoice("public-goods-punishment")), 0, 1)
    assert ENGLISH.tell(first.text) == (
        "In the first round you put in 20 and each of the others 10. How many coins do you have"
        " then?"
    )
    assert first.answer == 1.6 * (20 + 3 * 10) / 4
    assert second.answer == first.answer - 1 - 3
    health = make_questions(make_game(GameChoice("water", rounds=5)), 0, 1)[1]
    assert ENGLISH.tell(health.text).startswith(
        "You begin with 8 health points. If you get no water on the first day and none"
    )
    assert health.answer == 8 - 1 - 2


def test_winning_an_auction_pays_by_its_price():
    (wins, loses), (second, _) = (
        make_questions(make_game(GameChoice(f"{price}-price-auction")), 0, 1)
        for price in ("first", "second")
    )
    assert (
        ENGLISH.tell(wins.text)
        == "Your value is 65. If you bid 55, bidder 2 bids 50 and bidder 3 bids 40, what is your"
        " payoff?"
    )
    assert (wins.answer, loses.answer, second.answer) == (65 - 55, 0, 65 - 50)


def test_two_decimals_are_enough_where_there_are_more_and_no_others_pass():
    third, plain = Question("?", 1 / 3), Question("?", 0.25)
    assert [third.accepts(typed) for typed in ("0.33", "0,333", "1/3", "0.34")] == [
        True,
        True,
        False,
        False,
    ]
    assert [plain.accepts(typed) for typed in ("0.25", " .250 ", "0.253", "")] == [
        True,
        True,
        False,
        False,
    ]


def test_every_mistake_in_a_quiz_is_told_by_its_number():
    quiz = (Question("One?", 1.0), Question("Two?", 2.0), Question("Three?", 3.0))
    found = find_mistakes(quiz, ["1", "7", " "], load_texts("en"))
    assert list(found) == [1, 2]
    assert found[1] != found[2]
