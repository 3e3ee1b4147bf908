"""The 144 ordinal 2x2 games: how many there are, their names, their equilibria."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import catalogue
from bestresponse.theory.games.isomorphs import (
    PATTERNS,
    name_ordinal,
    ordinal_games,
    random_isomorph,
)
from bestresponse.theory.games.normal_form import NormalForm


def count_pure(game):
    row, col = game.payoffs
    return int(((row == row.max(axis=0)) & (col == col.max(axis=1, keepdims=True))).sum())


def test_of_the_144_games_108_have_one_18_two_and_18_no_pure_equilibrium():
    assert Counter(count_pure(one.game) for one in ordinal_games()) == {1: 108, 2: 18, 0: 18}


def test_of_the_78_games_57_have_one_12_two_and_9_no_pure_equilibrium():
    assert Counter(count_pure(one.game) for one in ordinal_games(up_to_exchange=True)) == {
        1: 57,
        2: 12,
        0: 9,
    }


def test_all_names_differ_and_twelve_games_are_symmetric():
    games = ordinal_games()
    assert len({one.name for one in games}) == 144
    assert [one.name for one in games if one.symmetric] == list(PATTERNS)


def test_no_two_of_the_144_are_the_same_up_to_rows_and_columns_and_all_576_are_covered():
    seen = Counter()
    for one in ordinal_games():
        for rows, cols in product(((0, 1), (1, 0)), repeat=2):
            seen[one.game.payoffs[np.ix_((0, 1), rows, cols)].tobytes()] += 1
    assert len(seen) == 576
    assert set(seen.values()) == {1}


def test_best_outcomes_lie_to_the_right_for_row_and_above_for_column():
    for one in ordinal_games():
        assert one.game.payoffs[0][:, 1].max() == 4
        assert one.game.payoffs[1][0].max() == 4


def test_every_pair_of_rankings_has_a_name():
    rankings = [np.reshape(ranks, (2, 2)) for ranks in permutations(range(4))]
    names = Counter(
        name_ordinal(NormalForm.bimatrix(row, col)).name for row in rankings for col in rankings
    )
    assert len(names) == 144
    assert set(names.values()) == {4}


@pytest.mark.parametrize(
    ("classic", "name"),
    [
        ("prisoners-dilemma", "prisoners-dilemma"),
        ("deadlock", "deadlock"),
        ("harmony", "harmony"),
        ("snowdrift", "chicken"),
        ("chicken", "chicken"),
        ("aumann-chicken", "chicken"),
        ("hawk-dove", "chicken"),
    ],
)
def test_the_classics_are_found_under_their_names(classic, name):
    assert name_ordinal(catalogue.load(classic)).name == name


def test_the_prisoners_dilemma_is_written_as_in_the_periodic_table():
    (game,) = (one.game for one in ordinal_games() if one.name == "prisoners-dilemma")
    assert game.payoffs.tolist() == [[[1, 3], [2, 4]], [[4, 3], [2, 1]]]


def test_neighbouring_patterns_of_a_layer_differ_by_one_swap_of_adjacent_ranks():
    symmetric = {one.row: one.game.payoffs[0] for one in ordinal_games() if one.symmetric}
    for layer in (tuple(PATTERNS)[:6], tuple(PATTERNS)[6:]):
        for here, there in zip(layer, (*layer[1:], layer[0]), strict=True):
            changed = symmetric[here] != symmetric[there]
            assert changed.sum() == 2
            assert abs(np.diff(symmetric[here][changed])) == 1


@given(st.integers(0, 143), st.integers(0, 2**32))
def test_a_disguised_game_keeps_its_name_up_to_the_exchange_of_players(k, seed):
    one = ordinal_games()[k]
    disguised = random_isomorph(seed, one.game)
    found = name_ordinal(disguised.game)
    assert (found.row, found.col) == (
        (one.row, one.col) if disguised.order == (0, 1) else (one.col, one.row)
    )


def test_ties_and_other_shapes_have_no_name():
    with pytest.raises(InvalidGame, match="row is indifferent between outcomes"):
        name_ordinal(catalogue.load("matching-pennies"))
    with pytest.raises(UsageError, match="only 2x2 games"):
        name_ordinal(catalogue.load("rock-paper-scissors"))
