"""A game in words: everything that somebody needs to check it, and no more than the first of many
ends."""

import pytest

from bestresponse.games.lookup import find_game, game_names
from bestresponse.games.words import describe_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Leaf, Tree, Turn, build_tree

SECRET = """
initial(s0). initially(player(seller), s0). initially(player(buyer), s0).
chance(move(nature, good), 1/3, s0). chance(move(nature, bad), 2/3, s0).
effect(is(X), move(nature, X), _). effect(control(seller), move(nature, _), _).
effect(did(P, M), move(P, M), _) :- member(P, [seller, buyer]). effect(control(buyer), move(seller, _), _).
abnormal(control(P), move(P, _), _).
legal(move(seller, M), S) :- holds(control(seller), S), member(M, [polish, leave]).
legal(move(buyer, M), S) :- holds(control(buyer), S), member(M, [buy, pass]).
final(S) :- holds(did(buyer, _), S).
finally(goal(P, 1), _) :- member(P, [seller, buyer]).
"""


def tell(program):
    report = validate(program, EmbeddedEngine())
    assert report.ok, report.errors
    return describe_game(report.table)


def test_a_draw_and_a_move_that_nobody_learns_of_are_mentioned():
    blind = tell(SECRET + "sees(seller, tick, do(move(buyer, _), _)).")
    assert blind[:7] == (
        "There are 2 players: seller and buyer.",
        "Players know only their own moves and what they are shown.",
        "First, it is drawn by lot: good with probability 1/3, bad with probability 2/3.",
        "First, seller chooses polish or leave.",
        "First, buyer chooses buy or pass.",
        "First, what seller chooses (polish or leave) is learned by nobody who chooses later.",
        "What is drawn (good or bad) is learned by nobody who chooses later.",
    )
    seen = tell(
        SECRET + "sees(seller, X, do(move(nature, X), _)). sees(buyer, M, do(move(seller, M), _))."
    )
    assert not any("learned by nobody" in line for line in seen)
    assert "After seeing polish, buyer chooses buy or pass." in seen


def test_of_many_ends_the_first_are_told_and_all_are_counted():
    square = NormalForm.bimatrix(
        [[float(10 * i + j) for j in range(10)] for i in range(9)], [[0.5] * 10] * 9
    )
    lines = describe_game(square, most=2)
    assert lines[-3:] == (
        "What each of them earns (the first 2 of 90):",
        "- If row chooses a0, col chooses a0: row gets 0, col gets 1/2.",
        "- If row chooses a0, col chooses a1: row gets 1, col gets 1/2.",
    )


def test_a_large_tree_is_told_by_its_first_ends_and_the_number_of_choices():
    wide = build_tree(["Ann"], Turn("Ann", "start", {f"m{k}": Leaf([k]) for k in range(2_001)}))
    assert describe_game(wide)[1:4] == (
        "Ann chooses at 1 information sets.",
        "What each of them earns (the first 20 of 2,001):",
        "- If Ann chooses m0: Ann gets 0.",
    )


def test_who_is_absent_minded_is_said_plainly():
    later = Turn("Ann", "crossing", {"on": Leaf([1]), "off": Leaf([4])})
    tree = build_tree(["Ann"], Turn("Ann", "crossing", {"on": later, "off": Leaf([0])}))
    assert "a player comes twice to what it cannot tell apart" in describe_game(tree)[1]


@pytest.mark.parametrize("name", game_names())
def test_every_game_that_comes_along_can_be_told(name):
    found = find_game(name)
    if isinstance(found.game, NormalForm | Tree):
        lines = describe_game(found.game)
        assert "earns" in "".join(lines)
        assert sum(line.startswith("- If ") for line in lines) <= 20
