"""Keys of positions are proved on whole trees, and a key that forgets is found out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pytest

from bestresponse.core.conformance import Broken
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.games.breakthrough.rules import Breakthrough
from bestresponse.games.connect_four.rules import ConnectFour
from bestresponse.games.kit import check_game
from bestresponse.games.nim.rules import Nim
from bestresponse.games.pig.rules import Pig
from bestresponse.games.tic_tac_toe.rules import TicTacToe
from bestresponse.theory.positions.keys import prove_keys


@dataclass(frozen=True)
class ForgetfulNim(Nim):
    """Nim whose key forgets the last pile."""

    def find_key(self, position) -> Hashable:
        """Return too little."""
        return position[0], position[1][:-1]


@dataclass(frozen=True)
class SortedNim(Nim):
    """Nim whose key forgets the order of piles, which does not matter."""

    def find_key(self, position) -> Hashable:
        """Return the piles in order of size."""
        return position[0], tuple(sorted(position[1]))


@pytest.mark.parametrize(
    ("game", "histories"),
    [
        (Nim("1-2-3"), 447),
        (Nim("1-2-3", last_wins=False), 447),
        (SortedNim("1-2-3"), 447),
        (Breakthrough(rows=4, columns=2), 1761),
        (ConnectFour(columns=3, rows=3), 5248),
    ],
)
def test_keys_are_proved_on_whole_trees(game: Nim, histories: int) -> None:
    assert prove_keys(game) == histories


def test_keys_of_a_game_with_cycles_are_proved_for_some_moves() -> None:
    assert prove_keys(Pig(goal=4), depth=7) == 611


def test_a_key_that_forgets_what_matters_is_found_out() -> None:
    with pytest.raises(InvalidGame, match="so it hides something that matters"):
        prove_keys(ForgetfulNim("1-2"))
    with pytest.raises(Broken, match="so it hides something that matters"):
        check_game(ForgetfulNim("1-2"))


def test_a_tree_that_is_too_large_is_refused() -> None:
    with pytest.raises(TooLarge, match="more than 100 histories"):
        prove_keys(TicTacToe(), most=100)
