"""Proper equilibria: textbook games, and the definition held against random ones."""

from fractions import Fraction

import numpy as np
import pytest

from bestresponse.analysis.answers import ask_game
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.games.lookup import find_game
from bestresponse.theory import NormalForm, find_perfect, find_proper


def test_a_perfect_equilibrium_that_costly_mistakes_support_is_not_proper() -> None:
    # Myerson 1978, table 2: (middle, middle) is perfect, only (top, left) is proper.
    table = [[1, 0, -9], [0, 0, -7], [-9, -7, -7]]
    game = NormalForm.bimatrix(table, table)
    perfect = find_perfect(game)
    assert [
        e.supports for e, kept in zip(perfect.equilibria, perfect.perfect, strict=True) if kept
    ] == [
        ((0,), (0,)),
        ((1,), (1,)),
    ]
    found = find_proper(game)
    assert found.equilibrium.supports == ((0,), (0,))
    assert found.equilibrium.exact == ((1, 0, 0), (1, 0, 0))
    assert found.proved


def test_the_only_equilibrium_is_proper_and_mixed() -> None:
    found = find_proper(NormalForm.zero_sum([[3, -1], [-2, 1]]))
    assert found.equilibrium.exact == (
        (Fraction(3, 7), Fraction(4, 7)),
        (Fraction(2, 7), Fraction(5, 7)),
    )


@pytest.mark.parametrize("seed", range(15))
def test_dearer_mistakes_are_rarer_and_the_limit_is_a_perfect_equilibrium(seed: int) -> None:
    payoffs = np.random.default_rng([12, seed]).integers(0, 4, (2, 3, 4))
    found = find_proper(NormalForm(payoffs))
    assert found.equilibrium.regret == 0
    x, y = found.trembling
    for own, other, table in ((x, y, payoffs[0].tolist()), (y, x, payoffs[1].T.tolist())):
        earned = [sum(u * q for u, q in zip(line, other, strict=True)) for line in table]
        for a, b in np.ndindex(len(own), len(own)):
            assert earned[a] >= earned[b] or own[a] <= own[b] * Fraction(1, 10**9)


def test_it_can_be_asked_for_by_name_of_a_tree_too() -> None:
    answer = ask_game(find_game("entry-deterrence"), concept="proper").to_json()
    assert answer["payoffs"] == {"entrant": 2.0, "incumbent": 2.0}


def test_three_players_and_too_many_actions_are_refused() -> None:
    with pytest.raises(InvalidGame, match="proper equilibria: expected a game of two players"):
        find_proper(np.zeros((3, 2, 2, 2)))
    with pytest.raises(TooLarge, match="11x11"):
        find_proper(np.zeros((2, 11, 11)))


def test_the_limit_is_proved_even_where_it_is_no_simple_fraction() -> None:
    found = find_proper(NormalForm.zero_sum([[100003, -1], [-2, 99991]]))
    assert found.proved
    assert found.equilibrium.exact == (
        (Fraction(99993, 199997), Fraction(100004, 199997)),
        (Fraction(99992, 199997), Fraction(100005, 199997)),
    )


def test_a_proof_that_would_take_long_is_not_claimed() -> None:
    # Each of five actions beats two others.
    table = [[10**140 * (0, 1, 1, -1, -1)[(i - j) % 5] for j in range(5)] for i in range(5)]
    found = find_proper(NormalForm.bimatrix(table, [[-u for u in row] for row in table]))
    assert not found.proved
    assert found.mistakes == 1e-9
    assert found.equilibrium.exact == ((Fraction(1, 5),) * 5,) * 2
