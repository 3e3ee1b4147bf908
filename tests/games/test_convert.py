"""Games keep what they are from one format to the next."""

from fractions import Fraction

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.comparison import compare_games
from bestresponse.games.logic.tables import format_game
from bestresponse.games.lookup import FORMATS, LoadedGame, find_game
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form, to_tree
from bestresponse.theory.trees.tree import Tree


@pytest.mark.parametrize("ending", [".nfg", ".efg", ".json", ".pl"])
@pytest.mark.parametrize("name", ["stag-hunt", "rock-paper-scissors", "kuhn-poker", "centipede"])
def test_a_game_written_and_read_is_the_same_game(name, ending):
    game = find_game(name).solvable()
    again = LoadedGame("again", "file", FORMATS[ending].parse(format_game(game, ending), "text")).solvable()
    found = compare_games(game, again)
    assert found.relation == "equal"
    turned_into_a_table = isinstance(game, Tree) and ending in (".nfg", ".json")
    assert (found.basis == "reduced normal forms") == turned_into_a_table


def test_tables_and_trees_are_written_the_same_again():
    for name, ending in (("stag-hunt", ".nfg"), ("stag-hunt", ".json"), ("kuhn-poker", ".efg")):
        text = format_game(find_game(name).solvable(), ending)
        assert format_game(FORMATS[ending].parse(text, "text"), ending) == text


def test_an_exact_fraction_survives_in_nfg():
    game = NormalForm.bimatrix([[Fraction(1, 3)]], [[2]])
    again = FORMATS[".nfg"].parse(format_game(game, ".nfg"), "text")
    assert again.given[0, 0, 0] == Fraction(1, 3)


def test_the_tree_of_a_table_hides_every_choice():
    tree = to_tree(NormalForm(np.arange(24.0).reshape(3, 2, 2, 2)))
    assert (tree.num_nodes, len(tree.infosets)) == (15, 3)
    assert to_normal_form(tree).payoffs[0].ravel().tolist() == list(range(8))


def test_another_ending_is_refused():
    with pytest.raises(UsageError, match=r"written as \.nfg, \.efg, \.json, \.pl"):
        format_game(find_game("stag-hunt").solvable(), ".xls")
