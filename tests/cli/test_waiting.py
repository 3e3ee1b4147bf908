"""Waiting for a computation: its result, its error, and the end of the wait."""

import pytest

from bestresponse.cli.terminal import wait_for


def test_the_result_comes_back():
    assert wait_for(lambda: 2 + 3) == 5


def test_an_error_is_raised_where_the_result_was_wanted():
    def fail():
        raise ValueError("no such game")

    with pytest.raises(ValueError, match="no such game"):
        wait_for(fail)
