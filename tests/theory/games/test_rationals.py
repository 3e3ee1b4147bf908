"""Payoffs that floats do not hold: ties, dominance and equilibria are those of the numbers that
were given."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import (
    NormalForm,
    find_dominated,
    format_nfg,
    lemke_howson,
    nash,
    parse_matrix_json,
    parse_nfg,
    pure_nash,
)

BIG = 2**60


def test_integers_beyond_floats_do_not_tie() -> None:
    row, col = [[BIG + 1, BIG], [BIG, BIG]], [[BIG + 1, BIG], [BIG + 1, BIG]]
    result = nash(row, col)
    assert result.method == "vertex enumeration, exact"
    assert [e.exact for e in result.equilibria] == [((1, 0), (1, 0))]
    assert result.equilibria[0].strict
    assert pure_nash((row, col)) == ((0, 0),)
    assert [(d.player, d.action, d.kind) for d in find_dominated((row, col))] == [
        (0, 1, "weak"),
        (1, 1, "strict"),
    ]


def test_a_payoff_ratio_of_ten_million_million_makes_no_false_equilibrium() -> None:
    game = parse_matrix_json(
        '{"row": [[10000000000000, 0], [0, 1]], "col": [[1, 0], [0, 10000000000000]]}'
    )
    assert [e.supports for e in nash(game).equilibria] == [
        ((0,), (0,)),
        ((1,), (1,)),
        ((0, 1), (0, 1)),
    ]
    assert [e.strict for e in nash(game).equilibria] == [True, True, False]
    assert pure_nash(game) == ((0, 0), (1, 1))
    assert find_dominated(game) == ()
    mixed = nash(game).equilibria[2]
    most, least = Fraction(10**13, 10**13 + 1), Fraction(1, 10**13 + 1)
    assert mixed.exact == ((most, least), (least, most))
    assert mixed.regret == 0.0


def test_denominators_of_any_length_are_kept_from_a_file() -> None:
    game = parse_nfg('NFG 1 R "" { "a" "b" } { 2 2 } 1/99991 0 0 1/100003 0 1/99989 1/99971 0')
    mixed = nash(game).equilibria[-1]
    assert mixed.exact is not None
    x, y = mixed.exact
    assert y[0] * Fraction(1, 99991) == y[1] * Fraction(1, 99971)
    assert x[1] * Fraction(1, 100003) == x[0] * Fraction(1, 99989)
    assert parse_nfg(format_nfg(game)).rationals.tolist() == game.rationals.tolist()


def test_decimals_are_tenths_and_floats_are_only_near_them() -> None:
    decimals = [[Decimal("0.1"), Decimal("0.3")], [Decimal("0.2"), Decimal("0")]]
    exact, near = nash(decimals, decimals), nash([[0.1, 0.3], [0.2, 0.0]], [[0.1, 0.3], [0.2, 0.0]])
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert exact.equilibria[-1].exact == ((half, half), (3 * quarter, quarter))
    assert [e.exact for e in near.equilibria] == [None, None, None]
    assert "exact" not in near.method


def test_exact_payoffs_do_not_outlive_a_change_of_the_floats() -> None:
    game = NormalForm.bimatrix([[Fraction(1, 3), 0]], [[0, 1]])
    assert game.is_exact
    assert game.rationals is not None
    changed = NormalForm(game.payoffs + 0.1, game.players, game.actions, "", game.rationals)
    assert changed.rationals is None
    assert not changed.is_exact


def test_lemke_howson_gives_fractions_only_where_payoffs_are_exact() -> None:
    third = Fraction(1, 3)
    row, col = [[0, third], [1, 0]], [[1, 0], [0, 1]]
    assert lemke_howson((row, col)).exact == (
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(1, 4), Fraction(3, 4)),
    )
    assert lemke_howson(([[0, 1 / 3], [1, 0]], col)).exact is None


def test_a_number_no_float_can_hold_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        InvalidGame, match=r"expected numbers that floats can hold, got one beyond 1\.8e308"
    ):
        nash([[10**400]], [[1]])
    with pytest.raises(InvalidGame, match="expected finite numbers"):
        parse_matrix_json("[[1e999999999, 1]]")


def test_whole_floats_and_halves_are_exact() -> None:
    assert NormalForm(np.array([[[2.5]], [[1.0]]])).is_exact
    assert not NormalForm(np.array([[[0.1]], [[1.0]]])).is_exact
