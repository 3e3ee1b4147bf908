"""Tables of payoffs, from whatever holds numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import NormalForm

ROW, COL = [[3, 0], [5, 1]], [[3, 5], [0, 1]]


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float32, np.float64, object])
def test_matrices_of_any_kind_make_the_same_table(kind: type) -> None:
    game = NormalForm.bimatrix(np.array(ROW, dtype=kind), COL)
    assert game.payoffs.tolist() == [[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]
    assert game.rationals is None
    assert (game.players, game.actions) == (("row", "col"), (("a0", "a1"), ("a0", "a1")))


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64 + 1, -(2**53) - 1, Fraction(1, 3)])
def test_a_number_that_floats_do_not_hold_is_kept_beside_plain_ones(number: int | Fraction) -> None:
    for game in (
        NormalForm.bimatrix([[number, 0], [1.0, -1]], np.array(COL)),
        NormalForm.bimatrix(np.array(COL, dtype=float), [[number, 0], [1.0, -1]]),
    ):
        assert game.rationals is not None
        assert number in game.rationals.ravel().tolist()


def test_a_table_does_not_change_with_the_array_it_was_made_of() -> None:
    payoffs = np.zeros((2, 2, 2))
    game = NormalForm(payoffs)
    payoffs[0, 0, 0] = 1.0
    assert game.payoffs[0, 0, 0] == 0.0
    assert not game.payoffs.flags.writeable


@pytest.mark.parametrize(
    ("row", "col", "message"),
    [
        (
            [[1, float("nan")]],
            [[1, 2]],
            r"row payoffs: expected finite numbers, got nan at \[0, 1\]",
        ),
        (np.array([[1.0, np.inf]]), [[1, 2]], "row payoffs: expected finite numbers, got inf"),
        ([[1, 2]], [[1], [2]], r"expected two matrices of one shape, got \(1, 2\) and \(2, 1\)"),
        ([1, 2], [1, 2], r"expected two matrices of one shape, got \(2,\) and \(2,\)"),
        ([[1, 2], [3]], [[1, 2], [3, 4]], r"row payoffs: .* rows of different lengths \(1, 2\)"),
        ([["a", "b"]], [[1, 2]], "row payoffs: expected a number such as 3, -2.5 or 1/3, got 'a'"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "row payoffs: expected at least one number"),
        ([[1e200, 2]], [[1, 2]], "payoffs: expected none beyond 1e"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(row: object, col: object, message: str) -> None:
    with pytest.raises(InvalidGame, match=message):
        NormalForm.bimatrix(row, col)  # type: ignore[arg-type]


def test_a_number_is_no_table() -> None:
    with pytest.raises(
        InvalidGame, match="payoffs: expected a table for every player, got the number 5"
    ):
        NormalForm(5)  # type: ignore[arg-type]


def test_names_must_fit_the_table() -> None:
    with pytest.raises(
        InvalidGame, match="actions of row: expected 2 different names, got \\['a', 'a'\\]"
    ):
        NormalForm.bimatrix(ROW, COL, actions=(("a", "a"), ("a", "b")))


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (np.array([[1 + 1j, 0], [0, 1]]), "expected real numbers, got complex ones"),
        ([[1 + 1j, 0], [0, 1]], "expected real numbers, got complex ones"),
        (
            np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]]),
            "got a masked array; fill it first",
        ),
    ],
)
def test_arrays_of_which_floats_would_keep_a_part_are_refused(numbers, reason):
    with pytest.raises(InvalidGame, match=f"row payoffs: .*{reason}"):
        NormalForm.bimatrix(numbers, numbers)
    with pytest.raises(InvalidGame, match=reason):
        NormalForm(numbers)
