"""Cases of one test that `make test` tries in part and `make long` tries all."""

from collections.abc import Callable, Iterable

import pytest


def share_out(
    values: Iterable, *, parts: int = 3, part: int = 0, always: Callable = lambda value: False
) -> list:
    """List values for `parametrize`: every `parts`-th one from number `part` on, and those that are
    `always` tried, belong to `make test`; the others to `make long`.

    Tests of the same values take different parts, so that together they try every value each day.
    """
    return [
        pytest.param(
            value,
            marks=() if number % parts == part or always(value) else pytest.mark.soak,
        )
        for number, value in enumerate(values)
    ]
