"""Strategies of packages that fail or make no move are named in a sentence."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.players.strategies import ask_library_player


class Answering:
    """A strategy that answers, or fails, as it is told."""

    def __init__(self, answer):
        self.answer = answer

    def __str__(self):
        return "Odd"

    def strategy(self, opponent):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_package_strategy_that_raises_is_named_with_its_error():
    with pytest.raises(
        UsageError, match="the strategy Odd of the axelrod package failed: ValueError: lost"
    ):
        ask_library_player(Answering(ValueError("lost")), Answering("C"), ("C", "D"))


def test_a_package_strategy_that_never_moves_is_named_with_what_is_expected():
    with pytest.raises(UsageError, match="made the move None; expected one of C, D"):
        ask_library_player(Answering(None), Answering("C"), ("C", "D"))


def test_a_move_of_a_package_strategy_is_returned():
    assert ask_library_player(Answering("D"), Answering("C"), ("C", "D")) == "D"
