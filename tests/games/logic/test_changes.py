"""What changed from one game to the next is told in the words of the game."""

from bestresponse.formal.formalize.plan import library
from bestresponse.games.logic.game import describe_changes
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate

CARD = next(one.program for one in library() if one.name == "hidden_card")


def table(program):
    return validate(program, EmbeddedEngine()).table


def test_the_same_game_has_no_changes():
    assert describe_changes(table(CARD), table(CARD)) == ()


def test_a_card_that_is_seen_is_a_change_of_what_is_known():
    seen = CARD.replace(
        "sees(ines, Card,", "sees(jonas, Card, do(move(nature, Card), _S)).\nsees(ines, Card,"
    )
    assert describe_changes(table(CARD), table(seen)) == (
        "No more: After seeing double, jonas chooses fold or pay.",
        "New: After seeing queen, seeing double, jonas chooses fold or pay.",
        "New: After seeing king, seeing double, jonas chooses fold or pay.",
    )


def test_payoffs_chances_moves_and_players_are_told():
    other = CARD.replace(
        "wins(S, 1) :- holds(did(jonas, fold), S).", "wins(S, 3) :- holds(did(jonas, fold), S)."
    )
    changes = describe_changes(table(CARD), table(other))
    told = "If queen is drawn, ines chooses double, jonas chooses fold"
    assert changes[0] == f"{told}: ines gets 3 (before: 1), jonas gets -3 (before: -1)."
    assert len(changes) == 2
    odds = CARD.replace(
        "chance(move(nature, Card), 1/2, s0) :- member(Card, [queen, king]).",
        "chance(move(nature, queen), 1/3, s0).\nchance(move(nature, king), 2/3, s0).",
    )
    assert describe_changes(table(CARD), table(odds)) == (
        (
            "No more: First, it is drawn by lot: queen with probability 1/2, king with probability"
            " 1/2."
        ),
        "New: First, it is drawn by lot: queen with probability 1/3, king with probability 2/3.",
    )
    renamed = describe_changes(table(CARD), table(CARD.replace("jonas", "karl")))
    assert renamed[0] == "The players were ines, jonas and are now ines, karl."
