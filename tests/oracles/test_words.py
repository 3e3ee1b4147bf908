"""The words complete, unique, strict, exact and certified, attacked by oracles that share no code.

A few games and trees are tried every day; `make long` tries thousands.
"""

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.equilibria_by_supports import find_all, list_best
from tests.oracles.perfection_by_grid import draw_tree, find_on_grid, is_perfect, is_spanned
from tests.support.assessments import find_faults
from tests.theory.trees.test_sequential import draw_tree as draw_assessed_tree

from bestresponse.core.errors import NotCertified
from bestresponse.theory import find_sequential, nash, solve_subgames

KINDS = ("wide", "digits", "thirds", "symmetric", "zero-sum")


def draw_bimatrix(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw payoffs as fractions; sizes and kinds take turns."""
    generator = np.random.default_rng([570, number])
    height, width = generator.integers(1, 5, 2)
    kind = KINDS[number % len(KINDS)]
    if kind == "symmetric":
        width = height
    top = 10 if kind == "digits" else 10**9
    row, col = generator.integers(-top, top, (2, height, width)).astype(object)
    if kind == "thirds":
        row = row * Fraction(1, 3)
    elif kind == "symmetric":
        col = row.T
    elif kind == "zero-sum":
        col = -row
    return row, col


def check_bimatrix(number: int) -> bool:
    """Compare one game; False where it is degenerate."""
    row, col = draw_bimatrix(number)
    first = [[Fraction(u) for u in line] for line in row.tolist()]
    second = [[Fraction(u) for u in line] for line in col.tolist()]
    expected = find_all(first, second)
    if expected is None:
        return False
    found = nash(row, col)
    assert found.complete, number
    if found.degenerate:
        # Also away from equilibria a mixture may have more best replies than actions, and unequal
        # supports are then possible; payoffs with nine digits do not tie by chance.
        assert KINDS[number % len(KINDS)] == "digits", number
        return False
    assert {tuple(e.exact) for e in found} == expected, number
    turned = [list(line) for line in zip(*second, strict=True)]
    for e in found:
        x, y = e.exact
        only_replies = len(list_best(first, y)) == len(list_best(turned, x)) == 1
        assert e.strict == only_replies, number
        assert e.regret == 0.0, number
    return True


def check_sequential(seed: int, players: int) -> bool:
    """Check one assessment; False where none could be proved."""
    tree = draw_assessed_tree(seed, players)
    try:
        found = find_sequential(tree)
    except NotCertified:
        return False
    assert find_faults(tree, found.exact, found.exact_beliefs) == [], seed
    return True


def check_perfect(seed: int) -> bool:
    """Check one list of subgame perfect equilibria; False where it is not called complete."""
    tree = draw_tree(seed)
    if len(tree.infosets) > 4:
        return False
    found = solve_subgames(tree, limit=500)
    listed = []
    for policy in found.policies:
        exact = [Fraction(p).limit_denominator(1000) for p in policy.probabilities.tolist()]
        listed.append(tuple(exact[1::2]))
    assert all(is_perfect(tree, policy) for policy in listed), seed
    if found.complete:
        assert [p for p in find_on_grid(tree) if not is_spanned(p, listed)] == [], seed
    return found.complete


def test_lists_of_two_players_are_those_of_all_supports():
    assert sum(check_bimatrix(number) for number in range(60)) >= 50


@pytest.mark.soak
def test_lists_of_two_players_are_those_of_all_supports_in_thousands_of_games():
    assert sum(check_bimatrix(number) for number in range(60, 5_060)) >= 4_000


@pytest.mark.soak
@pytest.mark.parametrize(("players", "least"), [(2, 600), (3, 590), (4, 590)])
def test_assessments_of_hundreds_of_trees_are_sequential(players, least):
    assert sum(check_sequential(seed, players) for seed in range(600)) >= least


@pytest.mark.soak
def test_perfect_equilibria_of_hundreds_of_trees_are_spanned():
    assert sum(check_perfect(seed) for seed in range(200, 2_200)) >= 200
