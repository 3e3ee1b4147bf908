"""Games keep what they are from one format to the next."""

import json
from fractions import Fraction

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.comparison import compare_games
from bestresponse.games.logic.tables import format_game
from bestresponse.games.lookup import FORMATS, LoadedGame, find_game
from bestresponse.theory.games.classification import has_constant_sum
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form, to_tree
from bestresponse.theory.trees.tree import Tree


@pytest.mark.parametrize("ending", [".nfg", ".efg", ".json", ".pl"])
@pytest.mark.parametrize("name", ["stag-hunt", "rock-paper-scissors", "kuhn-poker", "centipede"])
def test_a_game_written_and_read_is_the_same_game(name, ending):
    game = find_game(name).solvable()
    again = LoadedGame(
        "again", "file", FORMATS[ending].parse(format_game(game, ending), "text")
    ).solvable()
    found = compare_games(game, again)
    assert found.relation == "equal"
    turned_into_a_table = isinstance(game, Tree) and ending in (".nfg", ".json")
    assert (found.basis == "reduced normal forms") == turned_into_a_table


def test_tables_and_trees_are_written_the_same_again():
    for name, ending in (("stag-hunt", ".nfg"), ("stag-hunt", ".json"), ("kuhn-poker", ".efg")):
        text = format_game(find_game(name).solvable(), ending)
        assert format_game(FORMATS[ending].parse(text, "text"), ending) == text


@pytest.mark.parametrize("ending", [".nfg", ".json", ".pl"])
def test_an_exact_fraction_survives(ending):
    # As floats, a third and two thirds sum to another number than 1/4 and 3/4.
    game = NormalForm.bimatrix(
        [[Fraction(1, 3), Fraction(1, 4)]], [[Fraction(2, 3), Fraction(3, 4)]]
    )
    again = FORMATS[ending].parse(format_game(game, ending), "text")
    assert again.given.tolist() == game.given.tolist()
    assert has_constant_sum(again)


def test_json_has_numbers_where_decimals_are_exact_and_texts_where_they_are_not():
    game = NormalForm.bimatrix([[Fraction(1, 3), 0.25]], [[2, 1 / 3]])
    assert json.loads(format_game(game, ".json"))["tables"] == [[["1/3", 0.25]], [[2, "1/3"]]]


def test_the_tree_of_a_table_has_room_for_players_without_a_choice():
    # Before, between and after the moves of three players stand 1, 1, 1 and 2 nodes; with the
    # choice first 1, 2, 2, 2.
    assert to_tree(NormalForm(np.zeros((3, 1, 1, 2)))).num_nodes == 5
    assert to_tree(NormalForm(np.zeros((3, 2, 1, 1)))).num_nodes == 7


@pytest.mark.parametrize("ending", [".nfg", ".efg", ".json", ".pl"])
def test_what_is_next_to_nothing_and_what_floats_cannot_tell_apart_survives(ending):
    """A payoff of 1e-13 is not 0, and 10^18 + 1 is more than 10^18, although they are the same
    float."""
    for payoffs in ([1e-13, 2e-13], [10**18, 10**18 + 1]):
        game = NormalForm([[payoffs], [[1, 2]]])
        again = FORMATS[ending].parse(format_game(game, ending), "text")
        form = to_normal_form(again) if isinstance(again, Tree) else again
        assert [Fraction(u) for u in form.given[0].ravel()] == [Fraction(str(u)) for u in payoffs]


def test_the_tree_of_a_table_hides_every_choice():
    tree = to_tree(NormalForm(np.arange(24.0).reshape(3, 2, 2, 2)))
    assert (tree.num_nodes, len(tree.infosets)) == (15, 3)
    assert to_normal_form(tree).payoffs[0].ravel().tolist() == list(range(8))


def test_another_ending_is_refused():
    with pytest.raises(UsageError, match=r"written as \.nfg, \.efg, \.json, \.pl"):
        format_game(find_game("stag-hunt").solvable(), ".xls")
