"""Two games are the same up to names, order and positive affine payoffs, or it is said where they
differ."""

import numpy as np
import pytest

from bestresponse.games.comparison import compare_games
from bestresponse.games.isomorphism import plain_name
from bestresponse.games.lookup import find_game
from bestresponse.games.statements import fold_draws
from bestresponse.games.trees.game import TreeGame
from bestresponse.telling.render import write_rules
from bestresponse.theory.files.efg import parse_efg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form

DILEMMA = NormalForm.bimatrix(
    [[3, 0], [5, 1]], [[3, 5], [0, 1]], players=("Ann", "Bob"), actions=(("C", "D"), ("C", "D"))
)


def test_a_game_equals_itself_whatever_the_order_of_its_names():
    turned = NormalForm.bimatrix(
        [[1, 5], [0, 3]], [[1, 0], [5, 3]], players=("bob", "ann"), actions=(("d", "c"), ("d", "c"))
    )
    found = compare_games(DILEMMA, turned)
    assert found.relation == "equal"
    assert found.players == {"Ann": "ann", "Bob": "bob"}
    assert found.actions["Ann"] == {"C": "c", "D": "d"}


def test_other_names_are_found():
    other = NormalForm.bimatrix(
        [[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(("talk", "silent"), ("talk", "silent"))
    )
    found = compare_games(DILEMMA, other)
    assert found.relation == "renamed"
    assert found.actions["Ann"] == {"C": "silent", "D": "talk"}


def test_names_that_all_players_share_become_the_same_names_for_all():
    # Both get 2 where they meet at the first place and 1 where they meet at the second; avoiding
    # each other is another game, although renaming the moves of one player alone would carry one to
    # the other.
    meet, avoid = [[2, 0], [0, 1]], [[0, 2], [1, 0]]
    told = NormalForm.bimatrix(meet, meet, actions=(("park", "quay"), ("park", "quay")))
    shared, apart = (("x", "y"), ("x", "y")), (("x", "y"), ("u", "v"))
    assert (
        compare_games(told, NormalForm.bimatrix(meet, meet, actions=shared)).relation == "renamed"
    )
    assert (
        compare_games(told, NormalForm.bimatrix(avoid, avoid, actions=shared)).relation
        == "different"
    )
    assert (
        compare_games(told, NormalForm.bimatrix(avoid, avoid, actions=apart)).relation == "renamed"
    )
    assert (
        compare_games(
            told, NormalForm.bimatrix(avoid, avoid, actions=shared), any_names=True
        ).relation
        == "renamed"
    )


@pytest.mark.parametrize("worst", [-1e6, -1e9, -1e12])
def test_one_huge_payoff_does_not_make_others_the_same(worst):
    # 3 where both cooperate and 4 for a traitor, or the other way round: a chicken is no stag hunt.
    chicken = NormalForm.bimatrix([[3, 0], [4, worst]], [[3, 4], [0, worst]])
    hunt = NormalForm.bimatrix([[4, 0], [3, worst]], [[4, 3], [0, worst]])
    assert compare_games(chicken, hunt).relation == "different"
    assert (
        compare_games(chicken, NormalForm.bimatrix(*(2 * chicken.payoffs + 1))).relation
        == "equivalent"
    )


@pytest.mark.parametrize("wealth", [1e3, 1e6, 1e9])
def test_what_everybody_has_anyway_does_not_make_payoffs_the_same(wealth):
    rich = NormalForm.bimatrix(*(DILEMMA.payoffs + wealth))
    # A traitor gets 4 instead of 5: the order of payoffs stays.
    meaner = NormalForm.bimatrix(*(np.array([[[3, 0], [4, 1]], [[3, 4], [0, 1]]]) + wealth))
    assert (compare_games(rich, rich).relation, compare_games(rich, meaner).relation) == (
        "equal",
        "ordinal",
    )


def test_positive_affine_payoffs_are_the_same_game_and_negative_ones_are_not():
    scaled = NormalForm.bimatrix(10 * DILEMMA.payoffs[0] - 7, 0.1 * DILEMMA.payoffs[1])
    assert compare_games(DILEMMA, scaled).relation == "equivalent"
    # Negated, both play for the smaller number; the best and the worst change places, and so do the
    # actions' ranks.
    negated = compare_games(DILEMMA, NormalForm.bimatrix(*(-DILEMMA.payoffs)))
    assert (negated.relation, negated.same) == ("ordinal", False)
    assert negated.actions["Ann"] == {"C": "a1", "D": "a0"}
    pennies = NormalForm.zero_sum([[1, -1], [-1, 1]])
    assert compare_games(DILEMMA, pennies).relation == "different"


def test_a_changed_cell_is_named():
    changed = NormalForm.bimatrix(
        [[3, 0], [5, 2]], [[3, 5], [0, 1]], players=DILEMMA.players, actions=DILEMMA.actions
    )
    found = compare_games(DILEMMA, changed)
    assert not found.same
    assert found.differences == (
        "after Ann: D, Bob: D the payoffs are 1, 1 in the first game and 2, 1 in the second",
    )


def test_other_sizes_are_told():
    found = compare_games(DILEMMA, find_game("rock-paper-scissors").solvable())
    assert found.differences == ("the first game has 2 x 2 actions, the second 3 x 3",)


@pytest.mark.parametrize("seed", range(5))
def test_a_shuffled_game_of_three_players_is_found_again(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, size=(3, 2, 3, 4)).astype(float)
    order = rng.permutation(3)
    second = first[order].transpose(0, *(order + 1))
    for axis in range(1, 4):
        second = np.take(second, rng.permutation(second.shape[axis]), axis=axis)
    assert compare_games(NormalForm(first), NormalForm(second), any_names=True).relation in (
        "renamed",
        "equal",
    )


def test_a_game_full_of_symmetries_is_matched_with_itself():
    identity = np.eye(7)
    turned = identity[np.random.default_rng(1).permutation(7)]
    first, second = NormalForm.bimatrix(identity, identity), NormalForm.bimatrix(turned, turned)
    found = compare_games(first, second, any_names=True)
    assert (found.same, found.relation) == (True, "renamed")
    assert not compare_games(first, second).same
    other = np.eye(7)
    other[0, 0] = 2
    assert not compare_games(first, NormalForm.bimatrix(other, other), any_names=True).same


def test_a_tree_is_the_same_game_as_its_table():
    tree = find_game("kuhn-poker").solvable()
    found = compare_games(tree, to_normal_form(tree))
    assert (found.relation, found.basis) == ("equal", "reduced normal forms")


@pytest.mark.parametrize("names", [("+1", "-1"), ("bid 1.5", "bid 15"), ("1/2", "12")])
def test_signs_that_belong_to_a_number_tell_moves_apart(names):
    # The second game is the first with its two moves exchanged, but not their names.
    dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(names, names))
    exchanged = NormalForm.bimatrix([[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(names, names))
    assert compare_games(dilemma, exchanged).verdict == "different"
    assert compare_games(dilemma, dilemma).verdict == "same tree"


@pytest.mark.parametrize("names", [("A", "A'"), ("a", "A"), ("up", "up!")])
def test_names_that_only_signs_or_case_tell_apart_are_compared_as_they_stand(names):
    dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(names, names))
    exchanged = NormalForm.bimatrix(
        [[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(names[::-1], names[::-1])
    )
    reordered = NormalForm.bimatrix(
        [[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(names[::-1], names[::-1])
    )
    different = compare_games(dilemma, exchanged)
    # (3, 3) and (1, 1) change places, and so do (0, 5) and (5, 0).
    assert (different.verdict, different.num_differences) == ("different", 4)
    assert compare_games(dilemma, reordered).verdict == "same tree"
    people = NormalForm.bimatrix([[3, 0], [5, 1]], [[1, 2], [3, 4]], players=names)
    others = NormalForm.bimatrix([[3, 0], [5, 1]], [[1, 2], [3, 4]], players=names[::-1])
    assert compare_games(people, others).verdict == "different"


@pytest.mark.parametrize(
    "names", [("Country A", "country_a", "country-a", "COUNTRY.A"), ("option-1", "Option_1")]
)
def test_other_signs_do_not_tell_names_apart(names):
    assert len({plain_name(name) for name in names}) == 1


def ann_chooses(before: str = "", between: str = ""):
    """Two moves of Ann, with draws before them and after the second."""
    tail = 't "" {} "" {{ {} }}'
    return parse_efg(
        'EFG 2 R "" { "Ann" "Bob" } '
        + before
        + ' p "" 1 1 "" { "x" "y" } 0 '
        + tail.format(1, "1, 0")
        + " "
        + between
        + " "
        + tail.format(2, "0, 1")
    )


SURE = 'c "" {} "" {{ "morning" 1 }} 0'


@pytest.mark.parametrize(
    ("before", "between"),
    [
        (SURE.format(1), ""),
        ("", SURE.format(1)),
        (SURE.format(1) + " " + SURE.format(2), SURE.format(3)),
    ],
)
def test_a_draw_with_one_outcome_changes_nothing(before, between):
    plain = ann_chooses()
    drawn = ann_chooses(before, between)
    for first, second in ((plain, drawn), (drawn, plain)):
        comparison = compare_games(first, second)
        assert (comparison.relation, comparison.verdict) == ("equal", "same tree")
    assert fold_draws(drawn).num_nodes == 3
    told = TreeGame(drawn)
    view = told.view(told.start(), "Ann")
    assert "morning" not in write_rules(view)
    assert "Ann" in told.asks(told.start())


def test_a_draw_with_two_outcomes_still_counts():
    coin = 'c "" 1 "" { "heads" 1/2 "tails" 1/2 } 0'
    again = 'p "" 1 1 "" 0 t "" 1 "" t "" 2 ""'
    plain = ann_chooses()
    text = f'EFG 2 R "" {{ "Ann" "Bob" }} {coin} p "" 1 1 "" {{ "x" "y" }} 0 '
    drawn = parse_efg(text + 't "" 1 "" { 1, 0 } t "" 2 "" { 0, 1 } ' + again)
    assert not compare_games(plain, drawn).same
