"""Before the game a quiz about its rules, after it what theory knows: for every game on the list."""

import random

import pytest

from bestresponse.core.ask import Amount, Choice, Form, Lottery, Mixture
from bestresponse.core.capabilities import Question
from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision
from bestresponse.report.document import Note, Paragraph, Table
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.games import list_offers, make_game
from bestresponse.web.sessions.quiz import find_mistakes, make_questions
from bestresponse.web.sessions.setup import GameChoice

GAMES = [GameChoice(offer.name) for offer in list_offers() if offer.kind != "dialogue"]


def any_answer(ask, rng):
    match ask:
        case Choice(options):
            return rng.choice(options)
        case Amount(low, high):
            return float(rng.randint(int(low), int(high)))
        case Lottery(chances):
            return rng.choices([outcome for outcome, _ in chances], [p for _, p in chances])[0]
        case Mixture(options):
            return tuple(1 / len(options) for _ in options)
        case Form(fields):
            return {name: any_answer(part, rng) for name, part in fields}


def played(choice, **given):
    """A finished play: `given` answers by role (spaces as underscores), anything else at random."""
    episode, rng = Episode(make_game(choice)), random.Random(3)
    scripts = {role.replace("_", " "): list(answers) for role, answers in given.items()}
    while pending := episode.pending:
        for role, ask in pending.items():
            answer = scripts[role].pop(0) if scripts.get(role) else any_answer(ask, rng)
            episode.submit(role, Decision(answer))
    return episode.record({})


def words(blocks):
    return " ".join(block.text for block in blocks if isinstance(block, Paragraph | Note))


def cells(blocks):
    return [row for block in blocks if isinstance(block, Table) for row in block.rows]


@pytest.mark.parametrize("choice", GAMES, ids=lambda choice: choice.name)
def test_every_game_on_the_list_asks_every_seat_something_and_the_right_answers_pass(choice):
    game = make_game(choice)
    for seat in range(len(game.roles)):
        quiz = make_questions(game, seat, 5)
        assert quiz
        assert quiz == make_questions(game, seat, 5)
        assert find_mistakes(quiz, [f"{question.answer:.2f}" for question in quiz]) == {}
        assert len(find_mistakes(quiz, [str(question.answer + 1) for question in quiz])) == len(quiz)


@pytest.mark.parametrize("choice", GAMES, ids=lambda choice: choice.name)
def test_every_game_on_the_list_ends_with_what_theory_knows(choice):
    blocks = describe_equilibria(choice, played(choice))
    known = "No equilibrium of this game is known" not in words(blocks)
    assert known != (choice.name in ("water", "survival-auction"))
    assert bool(cells(blocks)) == known


def test_questions_are_worked_out_by_the_rules():
    assert make_questions(make_game(GameChoice("trust-amounts")), 0, 1)[0] == Question(
        "If you send 6 and the receiver returns 11, how much do you have then?", 15.0
    )
    first, second = make_questions(make_game(GameChoice("public-goods-punishment")), 0, 1)
    assert first == Question(
        "In the first round you put in 20 and each of the others 10. How many coins do you have then?",
        1.6 * (20 + 3 * 10) / 4,
    )
    assert second.answer == first.answer - 1 - 3
    health = make_questions(make_game(GameChoice("water", rounds=5)), 0, 1)[1]
    assert health.text.startswith("You begin with 8 health points. If you get no water on the first day and none")
    assert health.answer == 8 - 1 - 2


def test_winning_an_auction_pays_by_its_price():
    (wins, loses), (second, _) = (
        make_questions(make_game(GameChoice(f"{price}-price-auction")), 0, 1) for price in ("first", "second")
    )
    assert (
        wins.text == "Your value is 65. If you bid 55 and bidder 2 bids 50 and bidder 3 bids 40, what is your payoff?"
    )
    assert (wins.answer, loses.answer, second.answer) == (65 - 55, 0, 65 - 50)


def test_a_play_of_a_table_stands_beside_its_equilibria():
    choice = GameChoice("chicken")
    blocks = describe_equilibria(choice, played(choice, row=["swerve"], col=["swerve"]))
    assert "This game has 3." in words(blocks)
    assert "no equilibrium: given what the others did, row could have gained 1 and col could have gained 1" in words(
        blocks
    )
    assert cells(blocks)[0] == ("what was played", "swerve", "swerve", "0", "0")
    assert cells(blocks)[-1] == (
        "equilibrium 3", "swerve 90 %, straight 10 %", "swerve 90 %, straight 10 %", "-0.1", "-0.1"
    )  # fmt: skip
    kept = describe_equilibria(choice, played(choice, row=["swerve"], col=["straight"]))
    assert "What was played is an equilibrium" in words(kept)


def test_a_repeated_dilemma_tells_what_every_round_cost():
    choice = GameChoice("prisoners-dilemma", rounds=3)
    record = played(choice, row=["defect"] * 3, col=["cooperate", "defect", "defect"])
    told = words(describe_equilibria(choice, record))
    assert "row in 0 of 3, col in 1 of 3" in told
    assert "the only subgame-perfect equilibrium of the whole game" in told


def test_a_tree_is_told_move_by_move():
    choice = GameChoice("centipede")
    blocks = describe_equilibria(choice, played(choice, player_1=["pass"], player_2=["take"]))
    assert cells(blocks) == [
        ("player 1", "move 1", "pass", "take"),
        ("player 2", "move 2", "take", "take"),
        ("earned here", 0.2, 0.8),
        ("in equilibrium, on average", 0.4, 0.1),
    ]


def test_rules_without_a_table_are_told_by_what_theory_knows():
    choice = GameChoice("ultimatum-amounts")
    blocks = describe_equilibria(choice, played(choice, proposer=[4.0], responder=["accept"]))
    assert "The responder accepts every offer, and therefore the proposer offers nothing." in words(blocks)
    assert cells(blocks) == [("earned here", 6.0, 4.0), ("in equilibrium", 10.0, 0.0)]
    auction = GameChoice("first-price-auction")
    bids = describe_equilibria(
        auction, played(auction, nature=[90, 30, 60], bidder_1=[50.0], bidder_2=[30.0], bidder_3=[10.0])
    )
    assert cells(bids) == [
        ("bidder 1", "Your value is 90.", "50", "60"),
        ("bidder 2", "Your value is 30.", "30", "20"),
        ("bidder 3", "Your value is 60.", "10", "40"),
    ]


def test_where_nothing_is_known_that_is_said():
    choice = GameChoice("water", rounds=1)
    (note,) = describe_equilibria(choice, played(choice))
    assert note.text.startswith("No equilibrium of this game is known")


def test_two_decimals_are_enough_where_there_are_more_and_no_others_pass():
    third, plain = Question("?", 1 / 3), Question("?", 0.25)
    assert [third.accepts(typed) for typed in ("0.33", "0,333", "1/3", "0.34")] == [True, True, False, False]
    assert [plain.accepts(typed) for typed in ("0.25", " .250 ", "0.253", "")] == [True, True, False, False]


def test_the_only_equilibrium_has_no_number():
    choice = GameChoice("prisoners-dilemma")
    blocks = describe_equilibria(choice, played(choice, row=["defect"], col=["cooperate"]))
    assert words(blocks) == (
        "In an equilibrium nobody gains by changing only their own choice. This game has exactly one. "
        "What was played is no equilibrium: given what the others did, col could have gained 1."
    )
    assert cells(blocks) == [
        ("what was played", "defect", "cooperate", "5", "0"),
        ("equilibrium", "defect", "defect", "1", "1"),
    ]


def test_probabilities_are_shown_in_percent():
    choice = GameChoice("matching-pennies", mixed=True)
    blocks = describe_equilibria(choice, played(choice, row=[(0.5, 0.5)], col=[(0.25, 0.75)]))
    assert "given what the others did, row could have gained 0.5." in words(blocks)
    assert cells(blocks) == [
        ("what was played", "50 %, 50 %", "25 %, 75 %", "0", "0"),
        ("equilibrium", "heads 50 %, tails 50 %", "heads 50 %, tails 50 %", "0", "0"),
    ]


def test_a_repeated_game_with_several_equilibria_is_told_of_one_round():
    choice = GameChoice("chicken", rounds=2)
    blocks = describe_equilibria(choice, played(choice, row=["swerve"] * 2, col=["swerve", "straight"]))
    assert "in that round: row in 1 of 2, col in 1 of 2." in words(blocks)
    assert words(blocks).endswith("is an equilibrium of the whole game; it can have many others.")
    assert [row[0] for row in cells(blocks)] == ["equilibrium 1", "equilibrium 2", "equilibrium 3"]


def test_what_would_be_better_for_all_stands_beside_the_equilibrium():
    choice = GameChoice("trust-amounts")
    blocks = describe_equilibria(choice, played(choice, sender=[5.0], receiver=[2.0]))
    assert words(blocks).startswith("Subgame-perfect equilibrium: The receiver returns nothing")
    assert "Together they would have most, 30, if everything was sent" in words(blocks)
    assert cells(blocks) == [
        ("earned here", 7.0, 13.0),
        ("in equilibrium", 10.0, 0.0),
        ("together at best", 15.0, 15.0),
    ]


def test_a_game_of_cards_is_told_by_what_was_known_and_its_value():
    choice = GameChoice("kuhn-poker")
    blocks = describe_equilibria(choice, played(choice))
    assert words(blocks) == "In an equilibrium nobody gains by changing only their own choice."
    assert cells(blocks)[-1] == ("in equilibrium, on average", pytest.approx(-1 / 18), pytest.approx(1 / 18))


def test_every_mistake_in_a_quiz_is_told_by_its_number():
    quiz = (Question("One?", 1.0), Question("Two?", 2.0), Question("Three?", 3.0))
    found = find_mistakes(quiz, ["1", "7", " "])
    assert list(found) == [1, 2]
    assert found[1] != found[2]
