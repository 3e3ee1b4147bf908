"""What is told when a game is over, word by word."""

import pytest
from played_games import cells, played, words

from bestresponse.formal.formalize.plan import library
from bestresponse.web.services.seat import describe_equilibria
from bestresponse.web.sessions.setup import GameChoice


def test_a_play_of_a_table_stands_beside_its_equilibria():
    choice = GameChoice("chicken")
    blocks = describe_equilibria(choice, played(choice, row=["swerve"], col=["swerve"]))
    assert "This game has 3." in words(blocks)
    assert (
        "no equilibrium: given what the others did, row could have gained 1 and col could have"
        " gained 1" in words(blocks)
    )
    assert cells(blocks)[0] == ("what was played", "swerve", "swerve", "0", "0")
    assert cells(blocks)[-1] == (
        "equilibrium 3",
        "swerve 90 %, straight 10 %",
        "swerve 90 %, straight 10 %",
        "-0.1",
        "-0.1",
    )
    kept = describe_equilibria(choice, played(choice, row=["swerve"], col=["straight"]))
    assert "What was played is an equilibrium" in words(kept)


def test_a_repeated_dilemma_of_people_tells_its_equilibrium_and_no_cost_that_nobody_knows():
    choice = GameChoice("prisoners-dilemma", rounds=3)
    record = played(choice, row=["defect"] * 3, col=["cooperate", "defect", "defect"])
    told = words(describe_equilibria(choice, record))
    assert told == (
        "In an equilibrium nobody gains by changing only their own choice. This game has exactly"
        " one. As the number of rounds is known, playing this in every round is the only"
        " subgame-perfect equilibrium of the whole game."
    )


def test_a_tree_is_told_move_by_move():
    choice = GameChoice("centipede")
    blocks = describe_equilibria(choice, played(choice, player_1=["pass"], player_2=["take"]))
    assert words(blocks).endswith("knowing that everybody who moves later does the same.")
    assert cells(blocks) == [
        ("player 1", "It is your turn. Nothing has happened yet.", "pass", "take"),
        ("player 2", "It is your turn. So far: player 1 chose pass.", "take", "take"),
        ("earned here", "0.2", "0.8"),
        ("in equilibrium, on average", "0.4", "0.1"),
    ]


def test_rules_without_a_table_are_told_by_what_theory_knows():
    choice = GameChoice("ultimatum")
    blocks = describe_equilibria(choice, played(choice, proposer=[4.0], responder=["accept"]))
    assert "The responder accepts every offer, and therefore the proposer offers nothing." in words(
        blocks
    )
    assert cells(blocks) == [("earned here", "6", "4"), ("in equilibrium", "10", "0")]
    auction = GameChoice("first-price-auction")
    bids = describe_equilibria(
        auction,
        played(auction, nature=[90, 30, 60], bidder_1=[50.0], bidder_2=[30.0], bidder_3=[10.0]),
    )
    assert cells(bids) == [
        ("bidder 1", "Your value is 90.", "50", "60"),
        ("bidder 2", "Your value is 30.", "30", "20"),
        ("bidder 3", "Your value is 60.", "10", "40"),
    ]


def test_where_nothing_is_known_that_is_said():
    choice = GameChoice("water", rounds=1)
    record = played(choice)
    (note,) = describe_equilibria(choice, record)
    assert note.text.startswith("No equilibrium of this game is known: it lasts for days")
    (note,) = describe_equilibria(GameChoice("dialogue:meeting"), record)
    assert (
        note.text
        == "No equilibrium of this game is known here: it has no payoff table and no tree that is"
        " small enough."
    )


def test_the_only_equilibrium_has_no_number():
    choice = GameChoice("prisoners-dilemma")
    blocks = describe_equilibria(choice, played(choice, row=["defect"], col=["cooperate"]))
    assert (
        words(blocks)
        == "In an equilibrium nobody gains by changing only their own choice. This game has exactly"
        " one. What was played is no equilibrium: given what the others did, col could have"
        " gained 1."
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
    blocks = describe_equilibria(
        choice, played(choice, row=["swerve"] * 2, col=["swerve", "straight"])
    )
    assert words(blocks).endswith("is an equilibrium of the whole game; it can have many others.")
    assert [row[0] for row in cells(blocks)] == ["equilibrium 1", "equilibrium 2", "equilibrium 3"]


def test_what_would_be_better_for_all_stands_beside_the_equilibrium():
    choice = GameChoice("trust")
    blocks = describe_equilibria(choice, played(choice, sender=[5.0], receiver=[2.0]))
    assert words(blocks).startswith("Subgame-perfect equilibrium: The receiver returns nothing")
    assert "Together they would have most, 40, if everything was sent" in words(blocks)
    assert cells(blocks) == [
        ("earned here", "7", "23"),
        ("in equilibrium", "10", "10"),
        ("together at best", "20", "20"),
    ]


def test_a_game_of_cards_is_told_by_what_was_known_and_its_value():
    choice = GameChoice("kuhn-poker")
    blocks = describe_equilibria(choice, played(choice))
    assert words(blocks) == "In an equilibrium nobody gains by changing only their own choice."
    assert cells(blocks)[-1] == (
        "in equilibrium, on average",
        "-0.05556",
        "0.05556",
    )


def test_corners_of_infinitely_many_equilibria_are_shown_as_such():
    choice = GameChoice("bismarck-sea")
    blocks = describe_equilibria(choice, played(choice))
    assert "This game has infinitely many; these of their corners are shown." in words(blocks)
    assert [row[0] for row in cells(blocks)] == [
        "what was played",
        "equilibrium 1",
        "equilibrium 2",
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("colonel-blotto", "Here is one; there may be more."),
        ("minimum-effort", "Here are 8; there may be more."),
    ],
)
def test_where_not_every_equilibrium_was_found_that_is_said(name, told):
    choice = GameChoice(name)
    assert told in words(describe_equilibria(choice, played(choice)))


def test_one_of_several_equilibria_of_a_game_with_secrets_is_shown():
    program = next(one.program for one in library() if one.name == "used_car")
    choice = GameChoice("used-car", program)
    assert (
        words(describe_equilibria(choice, played(choice)))
        == "In an equilibrium nobody gains by changing only their own choice. This game has 4 or"
        " more; here is one."
    )


def test_one_of_several_perfect_equilibria_is_shown():
    program = next(one.program for one in library() if one.name == "two_offers")
    choice = GameChoice("two-offers", program)
    told = words(describe_equilibria(choice, played(choice)))
    assert told.startswith(
        "In a subgame-perfect equilibrium whoever moves does what is best for them"
    )
    assert told.endswith("This game has 138, as some moves are equally good; here is one.")


def test_the_equilibrium_is_told_in_the_language_of_the_page():
    choice = GameChoice("chicken")
    record = played(choice, row=["swerve"], col=["swerve"])
    blocks = describe_equilibria(choice, record, "de")
    assert "Dieses Spiel hat 3." in words(blocks)
    assert cells(blocks)[-1] == (
        "Gleichgewicht 3",
        "ausweichen 90 %; geradeaus 10 %",
        "ausweichen 90 %; geradeaus 10 %",
        "-0,1",
        "-0,1",
    )
    trust = GameChoice("trust")
    blocks = describe_equilibria(trust, played(trust, sender=[5], receiver=[2]), "de")
    assert words(blocks).startswith("Teilspielperfektes Gleichgewicht: Wer empfängt, gibt nichts")
    assert cells(blocks) == [
        ("hier verdient", "7", "23"),
        ("im Gleichgewicht", "10", "10"),
        ("gemeinsam bestenfalls", "20", "20"),
    ]
