"""Lists of equilibria of three to five players that are called complete, attacked by a search that
shares no code with the solver."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from tests.oracles.equilibria_by_newton import find_missing, sum_of_indices

from bestresponse.theory import nash

SHAPES = [
    (2, 2, 2),
    (3, 2, 2),
    (3, 3, 2),
    (3, 3, 3),
    (2, 2, 2, 2),
    (4, 3, 2),
    (3, 2, 2, 2),
    (2, 2, 2, 2, 2),
]
KINDS = ("floats", "wide", "digits", "ties", "dominated", "coordination")


def draw(number: int) -> np.ndarray:
    """Draw the payoffs of the game with this number: shapes and kinds take turns."""
    shape = SHAPES[number % len(SHAPES)]
    kind = KINDS[number // len(SHAPES) % len(KINDS)]
    generator = np.random.default_rng([57, number])
    size = (len(shape), *shape)
    match kind:
        case "floats":
            return generator.random(size)
        case "wide":
            return generator.integers(-(10**6), 10**6, size)
        case "digits":
            return generator.integers(0, 10, size)
        case "ties":
            return generator.integers(0, 3, size)
        case "dominated":
            payoffs = generator.integers(0, 100, size)
            last = np.moveaxis(payoffs[-1], -1, 0)
            last[0] = last[1:].max(axis=0) + 1
            return payoffs
        case _:
            places = np.indices(shape)
            same = (places == places[0]).all(axis=0)
            return generator.integers(0, 20, size) + 50 * same


def largest_exact_gain(payoffs: np.ndarray, exact: tuple[tuple[Fraction, ...], ...]) -> Fraction:
    """Give the most a player could gain, cell by cell in fractions."""
    largest = Fraction(0)
    for player, table in enumerate(payoffs):
        earned = [Fraction(0)] * table.shape[player]
        for cell in product(*map(range, table.shape)):
            weight = prod(exact[k][a] for k, a in enumerate(cell) if k != player)
            if weight:
                earned[cell[player]] += weight * Fraction(table[cell].item())
        own = sum(p * u for p, u in zip(exact[player], earned, strict=True))
        largest = max(largest, max(earned) - own)
    return largest


def attack(numbers: range) -> dict[str, int]:
    """Look for a fault in the answers to games; count what was looked at."""
    counts = {"games": 0, "complete": 0, "indices": 0, "exact": 0}
    for number in numbers:
        payoffs = draw(number)
        result = nash(payoffs, seconds=20)
        counts["games"] += 1
        listed = [e.strategies for e in result]
        for e in result:
            if e.exact is not None:
                counts["exact"] += 1
                assert largest_exact_gain(payoffs, e.exact) == 0, number
        if "Nash" not in result.complete_for:
            continue
        counts["complete"] += 1
        missing = find_missing(payoffs, listed, seed=number)
        assert not missing, (number, missing[0])
        total = sum_of_indices(payoffs, listed)
        if total is not None:
            counts["indices"] += 1
            assert total == 1, number
    return counts


def test_no_equilibrium_is_missing_from_lists_that_are_called_complete() -> None:
    # Every kind, and shapes of three and four players.
    counts = attack(range(0, 48, 6))
    assert counts["games"] == 8
    assert counts["complete"] >= 4


@pytest.mark.soak
def test_no_equilibrium_is_missing_from_lists_of_every_shape_and_kind() -> None:
    counts = attack(range(3, 48, 6))
    assert counts["games"] == 8
    assert counts["complete"] >= 4


@pytest.mark.soak
@pytest.mark.parametrize("first", range(48, 1048, 50))
def test_no_equilibrium_is_missing_from_a_thousand_lists(first: int) -> None:
    """Fifty games per slice: `-k "[448]"` runs one."""
    counts = attack(range(first, first + 50))
    assert counts["games"] == 50
    assert counts["complete"] >= 25
