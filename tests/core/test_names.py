"""Names that nobody could tell apart, or that belong to the game itself, are refused by place."""

import pytest

from bestresponse.core import Choice, View
from bestresponse.core.conformance import Broken, check_game
from bestresponse.core.errors import InvalidGame
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree


def make_table(players=("Ann", "Bob"), moves=("x", "y")):
    zeros = [[0, 0], [0, 0]]
    return NormalForm.bimatrix(zeros, zeros, players=players, actions=(moves, ("l", "r")))


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (make_table(players=("nature", "Bob")), "a player is named 'nature'; this name belongs"),
        (make_table(players=("Referee", "Bob")), "a player is named 'Referee'; this name belongs"),
        (make_table(players=("Ann", "ann")), "a player is named 'Ann' and another 'ann'"),
        (make_table(players=("Ann", " ")), "a player has an empty name"),
        (make_table(moves=("go", "GO")), "an action of Ann is named 'go' and another 'GO'"),
        (make_table(moves=("go", "")), "an action of Ann has an empty name"),
    ],
)
def test_a_table_with_names_that_cannot_be_told_apart_is_not_played(form, why):
    with pytest.raises(InvalidGame, match=why):
        MatrixGame(form)
    with pytest.raises(InvalidGame, match=why):
        RepeatedGame(form).view(RepeatedGame(form).start(), form.players[1])


def make_tree(moves=("l", "r"), draws=("h", "t")):
    bob = Turn("Bob", "b", {moves[0]: Leaf([1, 2]), moves[1]: Leaf([0, 1])})
    return build_tree(["Ann", "Bob"], Chance({draws[0]: (0.5, bob), draws[1]: (0.5, bob)}))


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        (make_tree(moves=("l", "L")), "a move of Bob at 'b' is named 'l' and another 'L'"),
        (make_tree(moves=("l", "")), "a move of Bob at 'b' has an empty name"),
        (make_tree(draws=("Up", "up")), "a draw of chance .node 0. is named 'Up' and another 'up'"),
        (make_tree(draws=("up", " ")), "a draw of chance .node 0. has an empty name"),
    ],
)
def test_a_tree_with_names_that_cannot_be_told_apart_is_not_played(tree, why):
    with pytest.raises(InvalidGame, match=why):
        TreeGame(tree)


class Shouting:
    name, version, roles = "shouting", 1, ("Ann",)

    def start(self):
        return ""

    def asks(self, state):
        return {} if state else {"Ann": Choice(("hey", "HEY"))}

    def view(self, state, role):
        return View(role)

    def apply(self, state, moves):
        return moves["Ann"]

    def payoffs(self, state):
        return {"Ann": 0.0}


def test_a_plug_in_with_such_options_does_not_pass_the_check():
    with pytest.raises(Broken, match="an option of Ann is named 'hey' and another 'HEY'"):
        check_game(Shouting())
