"""Games of 3 to 5 players with payoffs up to 2^60: what is listed as an equilibrium is one, checked
in fractions.

`python -m tests.theory.equilibria.test_wide_payoffs 1000` draws more of them than a test has time
for.
"""

import sys
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from bestresponse.core.errors import NotCertified
from bestresponse.theory import Equilibrium, NormalForm, find_dominated, nash, pure_nash

SHAPES = ((2, 2, 2), (3, 2, 2), (2, 2, 2, 2), (3, 3, 2), (2, 2, 2, 2, 2))
PAYOFFS = (
    range(10),
    (0, 1, 2, 10**10),
    (0, 1, 2**60, 2**60 + 1),
    (0, 1, -3, 10**13),
    (0.1, 1.1, 1e13, 0.7),
)
NEAR = Fraction(1, 10**6)
"""Of what a player's own moves differ by, where irrational probabilities are shown as floats."""


def draw_game(seed: int) -> NormalForm:
    rng = Random(seed)
    shape, payoffs = SHAPES[seed % len(SHAPES)], PAYOFFS[seed // len(SHAPES) % len(PAYOFFS)]
    numbers = [rng.choice(payoffs) for _ in range(len(shape) * prod(shape))]
    return NormalForm(np.array(numbers, dtype=object).reshape(len(shape), *shape).tolist())


def find_pure(game: NormalForm) -> set[tuple[int, ...]]:
    """Look at every cell and every deviation."""

    def stays(cell: tuple[int, ...], player: int) -> bool:
        others = ((*cell[:player], move, *cell[player + 1 :]) for move in range(game.shape[player]))
        return all(game.given[player][cell] >= game.given[player][other] for other in others)

    return {
        cell
        for cell in np.ndindex(*game.shape)
        if all(stays(cell, i) for i in range(game.num_players))
    }


def is_equilibrium(game: NormalForm, e: Equilibrium) -> bool:
    """Add up in fractions what every move earns, cell by cell."""
    mixes = e.exact or [
        [Fraction(p) / sum(map(Fraction, x.tolist())) for p in x.tolist()] for x in e.strategies
    ]
    for player, count in enumerate(game.shape):
        earned, differ = [Fraction(0)] * count, Fraction(0)
        for others in product(*(range(m) for i, m in enumerate(game.shape) if i != player)):
            cells = [(*others[:player], move, *others[player:]) for move in range(count)]
            chance = prod(
                mix[a]
                for i, (mix, a) in enumerate(zip(mixes, cells[0], strict=True))
                if i != player
            )
            payoffs = [Fraction(game.given[player][cell]) for cell in cells]
            earned = [total + chance * u for total, u in zip(earned, payoffs, strict=True)]
            differ += chance * (max(payoffs) - min(payoffs))
        regret = max(earned) - sum(u * p for u, p in zip(earned, mixes[player], strict=True))
        if regret > (0 if e.exact else NEAR * differ):
            return False
    return True


def find_wrong(seed: int, seconds: float = 2.0) -> list[str]:
    game = draw_game(seed)
    result = nash(game, seconds=seconds, engine="numpy")
    wrong = [f"{e} is no equilibrium" for e in result.equilibria if not is_equilibrium(game, e)]
    pure = {tuple(s[0] for s in e.supports) for e in result.pure}
    return wrong if pure == find_pure(game) else [*wrong, f"pure ones: {sorted(pure)}"]


def mark_seed(seed: int):
    """Leave to `make long` all but two kinds of payoffs for each shape, and five players, for whom
    it has no time."""
    daily = (seed // len(SHAPES) - seed) % len(PAYOFFS) in (0, 2)
    return pytest.param(seed, marks=() if daily else pytest.mark.soak)


@pytest.mark.parametrize(
    "seed", [mark_seed(s) for s in range(25) if SHAPES[s % len(SHAPES)] != (2, 2, 2, 2, 2)]
)
def test_everything_listed_is_an_equilibrium_and_no_pure_one_is_missing(seed):
    assert find_wrong(seed, seconds=0.5) == []


def test_floats_of_wide_range_keep_strictness_supports_and_undominated_actions():
    game = NormalForm.bimatrix([[1e13, 0.0], [0.0, 1.1]], [[1.1, 0.0], [0.0, 1e13]])
    result = nash(game)
    assert [(e.kind, e.strict, e.supports) for e in result.equilibria] == [
        ("pure", True, ((0,), (0,))),
        ("pure", True, ((1,), (1,))),
        ("mixed", False, ((0, 1), (0, 1))),
    ]
    assert find_dominated(game) == ()


def test_floats_that_differ_by_rounding_still_tie():
    tenths = NormalForm.bimatrix([[0.1 + 0.2, 0.0], [0.3, 0.7]], [[1.1, 0.0], [1.1, 0.0]])
    assert pure_nash(tenths) == ((0, 0), (1, 0))
    assert not any(e.strict for e in nash(tenths).equilibria)


if __name__ == "__main__":
    wrong, refused = 0, 0
    for number in range(int(sys.argv[1])):
        try:
            wrong += bool(find_wrong(number, seconds=0.5))
        except NotCertified:
            refused += 1
    print(f"{sys.argv[1]} games: {wrong} wrong, {refused} not certified")
