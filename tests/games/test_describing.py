"""A game in words: everything that somebody needs to check it, and no more than the first of many
ends."""

import pytest

from bestresponse.games.describing import describe_game
from bestresponse.games.lookup import find_game, game_names
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.catalogue.trees import load_tree
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
    assert blind[:4] == (
        "There are 2 players: seller and buyer.",
        "First, chance draws good (probability 1/3) or bad (probability 2/3).",
        "Then seller chooses polish or leave, not knowing what chance drew (good or bad).",
        (
            "Then buyer chooses buy or pass, at the same time as seller, not knowing what chance"
            " drew (good or bad)."
        ),
    )
    seen = tell(
        SECRET + "sees(seller, X, do(move(nature, X), _)). sees(buyer, M, do(move(seller, M), _))."
    )
    assert seen[2:4] == (
        "Then seller chooses polish or leave, knowing what chance drew.",
        (
            "Then buyer chooses buy or pass, knowing what seller chose, not knowing what chance"
            " drew (good or bad)."
        ),
    )


def test_of_many_ends_the_first_are_told_and_all_are_counted():
    square = NormalForm.bimatrix(
        [[float(10 * i + j) for j in range(10)] for i in range(9)], [[0.5] * 10] * 9
    )
    lines = describe_game(square, most=2)
    assert lines[-3:] == (
        "What each of them earns (the first 2 of 90):",
        "- If row chooses a0 and col chooses a0, row gets 0, col gets 0.5.",
        "- If row chooses a0 and col chooses a1, row gets 1, col gets 0.5.",
    )


def test_a_large_tree_is_told_by_its_first_ends_and_the_number_of_choices():
    wide = build_tree(["Ann"], Turn("Ann", "start", {f"m{k}": Leaf([k]) for k in range(2_001)}))
    assert describe_game(wide)[1:4] == (
        "First, Ann chooses one of 2,001 options, from m0 to m2000.",
        "What each of them earns (the first 20 of 2,001):",
        "- If Ann chooses m0, Ann gets 0.",
    )


def test_who_is_absent_minded_is_said_plainly():
    later = Turn("Ann", "crossing", {"on": Leaf([1]), "off": Leaf([4])})
    tree = build_tree(["Ann"], Turn("Ann", "crossing", {"on": later, "off": Leaf([0])}))
    assert (
        describe_game(tree)[1]
        == "Ann chooses on or off, not knowing which of these has happened: (nothing yet); (Ann"
        " chose on)."
    )


@pytest.mark.parametrize("name", game_names())
def test_every_game_that_comes_along_can_be_told(name):
    found = find_game(name)
    if isinstance(found.game, NormalForm | Tree):
        lines = describe_game(found.game)
        assert any("earns" in line or line.startswith("The payoffs: ") for line in lines)
        assert sum(line.startswith("- If ") for line in lines) <= 20


def write_sets(*seen: int) -> Tree:
    """A and B choose; then C and D choose, each of whom has seen the choice of A (0) or of B
    (1)."""

    def expand(done):
        match done:
            case ():
                return Turn("A", "a", {"x": ("x",), "y": ("y",)})
            case (_,):
                return Turn("B", "b", {"l": (*done, "l"), "r": (*done, "r")})
            case (_, _) | (_, _, _):
                player = "CD"[len(done) - 2]
                return Turn(
                    player, done[seen[len(done) - 2]], {"u": (*done, "u"), "d": (*done, "d")}
                )
        return Leaf([len({*done})] * 4)

    return build_tree(["A", "B", "C", "D"], (), expand)


def test_two_games_that_differ_in_who_knows_what_have_different_words():
    assert describe_game(write_sets(0, 1))[1:5] == (
        "First, A chooses x or y.",
        "First, B chooses l or r, at the same time as A.",
        "Then C chooses u or d, knowing what A chose, not knowing what B chose (l or r).",
        (
            "Then D chooses u or d, at the same time as C, knowing what B chose, not knowing what A"
            " chose (x or y)."
        ),
    )
    assert (
        describe_game(write_sets(1, 0))[3]
        == "Then C chooses u or d, knowing what B chose, not knowing what A chose (x or y)."
    )


def test_poker_is_told_in_four_sentences():
    assert describe_game(load_tree("kuhn-poker"))[1:5] == (
        (
            "First, chance draws JQ (probability 1/6), JK (probability 1/6), QJ (probability 1/6),"
            " QK (probability 1/6), KJ (probability 1/6) or KQ (probability 1/6)."
        ),
        (
            "Then player 1 chooses pass or bet, knowing whether chance drew (JQ or JK), (QJ or QK)"
            " or (KJ or KQ)."
        ),
        (
            "Then player 2 chooses pass or bet, knowing what player 1 chose and whether chance drew"
            " (JQ or KQ), (JK or QK) or (QJ or KJ)."
        ),
        (
            "After player 1 chose pass and player 2 chose bet, player 1 chooses pass or bet,"
            " knowing whether chance drew (JQ or JK), (QJ or QK) or (KJ or KQ)."
        ),
    )


def test_sets_that_are_no_product_are_told_by_what_may_have_happened():
    def expand(done):
        match done:
            case ():
                return Turn("A", "a", {"x": ("x",), "y": ("y",)})
            case (_,):
                return Turn("B", done[0], {"l": (*done, "l"), "r": (*done, "r")})
            case (_, _):
                same = str((done[0] == "x") == (done[1] == "l"))
                return Turn("C", same, {"u": (*done, "u"), "d": (*done, "d")})
        return Leaf([1, 2, 3])

    assert (
        describe_game(build_tree(["A", "B", "C"], (), expand))[3]
        == "Then C chooses u or d, not knowing which of these has happened: (A chose x and B chose"
        " l); (A chose y and B chose r)."
    )
