"""Keys of positions are proved on whole trees, and a key that forgets is found out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pytest

from bestresponse.core.conformance import Broken
from bestresponse.games.breakthrough.rules import Breakthrough
from bestresponse.games.connect_four.rules import ConnectFour
from bestresponse.games.kit import check_game
from bestresponse.games.nim.rules import Nim
from bestresponse.games.pig.rules import Pig


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


class Unfolding:
    """All plays of a game; equal futures have one number."""

    def __init__(self, game) -> None:
        self.game = game
        self.count = 0
        self.numbers: dict[object, int] = {}
        self.known: dict[object, int] = {}

    def number_future(self, position, depth: int | None) -> int:
        """Return the number of what follows a position within so many moves."""
        self.count += 1
        turn = self.game.find_turn(position)
        future: object = "open"
        if not turn.role:
            future = self.game.find_result(position)
        elif depth != 0:
            left = None if depth is None else depth - 1
            after = [self.game.advance(position, move) for move in turn.moves]
            numbers = [self.number_future(reached, left) for reached in after]
            chances = turn.chances or (1.0,) * len(numbers)
            future = turn.role, tuple(sorted(zip(numbers, chances, strict=True)))
        number = self.numbers.setdefault(future, len(self.numbers))
        key = self.game.find_key(position)
        assert self.known.setdefault((key, depth), number) == number, f"two futures of {key}"
        return number


def prove_keys(game, depth: int | None = None) -> int:
    """Unfold all plays and hold those that come to equal keys to equal futures; count them."""
    unfolding = Unfolding(game)
    unfolding.number_future(game.begin(), depth)
    return unfolding.count


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
    with pytest.raises(AssertionError, match="two futures of"):
        prove_keys(ForgetfulNim("1-2"))
    with pytest.raises(Broken, match="so it hides something that matters"):
        check_game(ForgetfulNim("1-2"))
