"""Where two trees differ: who moves, what is drawn, known and paid; and how the same game can be
built differently."""

import pytest
from games_for_logic import KUHN

from bestresponse.games.comparison import compare_games
from bestresponse.games.logic.game import LogicGame
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree


def hand(knows, wins):
    answer = Turn("Bob", "bet", {"fold": Leaf([1, -1]), "call": Leaf([wins, -wins])})
    return Turn("Ann", knows, {"pass": Leaf([-1, 1]), "bet": answer})


def poker(king=0.5, wins=2, seen=""):
    cards = {"king": (king, hand("king", wins)), "queen": (1 - king, hand("queen", -2))}
    if seen:
        cards["queen"] = (
            1 - king,
            Turn(
                "Ann",
                "queen",
                {
                    "pass": Leaf([-1, 1]),
                    "bet": Turn("Bob", seen, {"fold": Leaf([1, -1]), "call": Leaf([-2, 2])}),
                },
            ),
        )
    return build_tree(["Ann", "Bob"], Chance(cards))


def test_a_chance_game_equals_itself_and_its_copy_under_other_names():
    assert compare_games(poker(), poker()).relation == "equal"
    tree = LogicGame(validate(KUHN, EmbeddedEngine()).table).tree
    assert compare_games(tree, tree).relation == "equal"


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (
            poker(wins=3),
            (
                "after king > bet > call the payoffs are 2, -2 in the first game and 3, -3 in the"
                " second"
            ),
        ),
        (poker(king=0.25), "king has probability 0.5 in the first game and 0.25 in the second"),
        (
            poker(seen="bet with a queen"),
            (
                "Bob cannot tell apart king > bet and queen > bet in the first game, but can in the"
                " second"
            ),
        ),
    ],
)
def test_the_first_difference_is_told_with_its_place(other, sentence):
    found = compare_games(poker(), other)
    assert not found.same
    assert found.differences[0] == sentence


def test_another_mover_or_other_branches_are_told():
    first = build_tree(
        ["a", "b"],
        Turn(
            "a",
            "i",
            {"x": Leaf([1, 0]), "y": Turn("b", "j", {"u": Leaf([0, 1]), "v": Leaf([2, 2])})},
        ),
    )
    other = build_tree(
        ["a", "b"],
        Turn(
            "a",
            "i",
            {"x": Leaf([1, 0]), "y": Turn("a", "j", {"u": Leaf([0, 1]), "v": Leaf([2, 2])})},
        ),
    )
    assert compare_games(first, other).differences == (
        "after y b moves in the first game and a moves in the second",
    )
    short = build_tree(
        ["a", "b"], Turn("a", "i", {"x": Leaf([1, 0]), "y": Turn("b", "j", {"u": Leaf([0, 1])})})
    )
    assert compare_games(first, short).differences == (
        "after y the branches are u, v in the first game and u in the second",
    )


def test_an_order_of_moves_and_draws_that_changes_no_plan_gives_the_same_reduced_form_of_another_tree():
    def draw_last(first, second):
        return Chance({"good": (0.5, Leaf([first, 0])), "bad": (0.5, Leaf([second, 0]))})

    last = build_tree(["a", "b"], Turn("a", "i", {"stay": Leaf([1, 0]), "go": draw_last(4, 0)}))
    plain = build_tree(["a", "b"], Turn("a", "i", {"stay": Leaf([1, 0]), "go": Leaf([2, 0])}))
    found = compare_games(last, plain)
    assert found.verdict == "same reduced form, other tree"
    assert found.differences == (
        "after go chance moves in the first game and the game is over in the second",
    )


def centipede(rounds, prize=0.0, scale=1.0, names=("take", "pass")):
    """Two take turns; whoever takes ends the game. `prize` is added to what the first gets in the
    third round."""
    node = Leaf([rounds, rounds])
    for turn in reversed(range(rounds)):
        earned = [scale * (turn + 2 * (turn % 2 == 0) + (prize if turn == 2 else 0)), turn]
        node = Turn("ab"[turn % 2], str(turn), {names[0]: Leaf(earned), names[1]: node})
    return build_tree(["a", "b"], node)


def test_one_changed_end_is_the_one_that_is_told_whatever_the_names_and_the_scale():
    sentence = (
        "after pass > pass > take the payoffs are 4, 2 in the first game and {} in the second"
    )
    assert compare_games(centipede(6), centipede(6, 0.5)).differences == (
        sentence.format("4.5, 2"),
    )
    renamed = compare_games(
        centipede(6), centipede(6, 0.5, names=("stop", "go on")), any_names=True
    )
    assert renamed.differences == (sentence.format("4.5, 2"),)


def test_the_shortest_play_on_which_two_games_part_comes_first():
    """Both the end after two moves and what Bob knows after one are changed."""

    def play(seen, prize):
        after = [
            Turn("Bob", seen[k], {"l": Leaf([k, 0]), "r": Leaf([0, prize if k else 1])})
            for k in (0, 1)
        ]
        return build_tree(["Ann", "Bob"], Turn("Ann", "i", {"u": after[0], "d": after[1]}))

    found = compare_games(play("xy", 1), play("xx", 7))
    assert found.verdict == "different"
    assert (
        found.differences[0]
        == "Bob cannot tell apart u and d in the second game, but can in the first"
    )
    assert found.differences[1].startswith("after d > r the payoffs are 0, 1")
