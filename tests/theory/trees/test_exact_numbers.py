"""Fractions, large integers and decimals of trees are kept as they were given, and ties are decided
by them."""

from decimal import Decimal
from fractions import Fraction

import pytest

from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.solve import solve_form, solve_loaded_game
from bestresponse.games.lookup import LoadedGame
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form, to_tree
from bestresponse.theory.trees.perfection.subgame_perfect import solve_subgames, subgame_perfect
from bestresponse.theory.trees.tree import Chance, Leaf, Number, Tree, Turn, build_tree

THIRD = Fraction(1, 3)


def choose(first: Number, second: Number) -> Tree:
    return build_tree(["p"], Turn("p", "start", {"left": Leaf([first]), "right": Leaf([second])}))


@pytest.mark.parametrize(
    ("first", "second", "best"),
    [
        (2**53, 2**53 + 1, 1),
        (Fraction(1, 3), Fraction(333333333333333333, 10**18), 1),
        (Decimal("0.3"), Fraction(3, 10), 2),
        (Decimal("0.1") + Decimal("0.2"), Decimal("0.3"), 2),
        (10**19 + 1, 10**19, 1),
    ],
)
def test_ties_are_decided_by_the_numbers_that_were_given(
    first: Number, second: Number, best: int
) -> None:
    tree = choose(first, second)
    assert subgame_perfect(tree).count == best
    assert len(solve_subgames(tree).policies) == best


def test_a_tree_with_a_decimal_float_is_not_exact_and_one_with_thirds_is() -> None:
    assert not choose(0.1, 1).is_exact
    assert choose(THIRD, 1).is_exact
    assert choose(0.5, 1).is_exact
    assert choose(THIRD, 1).rationals is not None
    assert choose(THIRD, 0.1).rationals is None


def test_a_file_of_fractions_is_written_as_it_was_read() -> None:
    text = (
        'EFG 2 R "" { "a" } c "" 1 "" { "x" 1/100003 "y" 100002/100003 } 0 t "" 1 "" { 1/997 } t ""'
        ' 2 "" { 0.1 }'
    )
    tree = parse_efg(text)
    assert tree.read_payoffs(1) == (Fraction(1, 997),)
    assert tree.read_probability(1) == Fraction(1, 100003)
    again = parse_efg(format_efg(tree))
    assert [again.read_payoffs(k) for k in (1, 2)] == [(Fraction(1, 997),), (Fraction(1, 10),)]


def test_probabilities_that_were_rounded_make_no_exact_tree() -> None:
    odds = Decimal("0.3333333333333")
    tree = build_tree(["p"], Chance({name: (odds, Leaf([1])) for name in "abc"}))
    assert not tree.is_exact


def test_the_reduced_normal_form_of_an_exact_tree_is_exact() -> None:
    game = NormalForm.bimatrix(
        [[Fraction(1, 997), 0], [0, Fraction(1, 3)]], [[1, 0], [0, 10**17 + 1]]
    )
    table = to_normal_form(to_tree(game))
    assert table.given.tolist() == game.given.tolist()
    assert nash(table).equilibria[-1].exact == nash(game).equilibria[-1].exact
    assert nash(table).method == "vertex enumeration, exact"


def test_the_value_of_a_tree_of_large_integers_is_exact() -> None:
    large = 10**19
    game = NormalForm.zero_sum([[large + 1, 0], [0, large + 1]])
    tree = to_tree(game)
    assert solve_form(tree).value.exact == Fraction(large + 1, 2)
    assert (
        as_data(LoadedGame("g", "file", tree), solve_form(tree))["value_exact"]
        == "10000000000000000001/2"
    )


def test_backward_induction_gives_payoffs_as_fractions() -> None:
    tree = build_tree(["p"], Chance({"a": (THIRD, Leaf([1])), "b": (1 - THIRD, choose_leaf())}))
    loaded = LoadedGame("g", "file", tree)
    assert as_data(loaded, solve_loaded_game(loaded))["equilibria"][0]["payoffs_exact"] == {
        "p": "1"
    }


def choose_leaf() -> Turn:
    return Turn("p", "later", {"left": Leaf([THIRD]), "right": Leaf([1])})


def test_floats_that_stand_for_nothing_exact_have_no_exact_value() -> None:
    tree = to_tree(NormalForm.zero_sum([[0.1, -0.7], [-0.3, 0.2]]))
    assert solve_form(tree).value.exact is None
