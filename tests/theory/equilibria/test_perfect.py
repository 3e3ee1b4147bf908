"""Trembling-hand perfection: textbook games, exactly and in floating point."""

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import NormalForm
from bestresponse.theory.equilibria.refinements import find_perfect

# Myerson (1978), section 2: (a1, b1) and (a2, b2) are equilibria, only the first is perfect.
MYERSON = ([[1, 0], [0, 0]], [[1, 0], [0, 0]])


@pytest.mark.parametrize("shift", [0, 0.3])
def test_only_the_undominated_equilibrium_of_myersons_first_game_is_perfect(shift):
    row, col = (np.array(own) + shift for own in MYERSON)
    found = find_perfect(NormalForm.bimatrix(row, col))
    assert [
        (e.supports, perfect) for e, perfect in zip(found.equilibria, found.perfect, strict=True)
    ] == [
        (((0,), (0,)), True),
        (((1,), (1,)), False),
    ]
    assert found.complete
    assert found.method.endswith(
        "undominated strategies, exact" if shift == 0 else "undominated strategies, to 1e-9"
    )


def test_adding_a_dominated_action_to_both_makes_the_second_equilibrium_perfect():
    # Myerson (1978), section 2: with a third action (a2, b2) is perfect, though not proper.
    row = [[1, 0, -9], [0, 0, -7], [-9, -7, -7]]
    found = find_perfect(NormalForm.bimatrix(row, np.array(row).T.tolist()))
    assert [
        (e.supports, perfect) for e, perfect in zip(found.equilibria, found.perfect, strict=True)
    ] == [
        (((0,), (0,)), True),
        (((1,), (1,)), True),
        (((2,), (2,)), False),
    ]


def test_completely_mixed_equilibria_are_perfect_and_three_players_are_refused():
    assert find_perfect(NormalForm.zero_sum([[1, -1], [-1, 1]])).perfect == (True,)
    with pytest.raises(InvalidGame, match="perfect equilibria: expected a game of two"):
        find_perfect(NormalForm(np.zeros((3, 2, 2, 2))))
