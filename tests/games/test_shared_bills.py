"""Divide the dollar and the diner's dilemma, against a search through all answers."""

from itertools import product

import pytest

from bestresponse.games.diner.rules import Diner
from bestresponse.games.divide_dollar.rules import DivideDollar

FOUR = ("a", "b", "c", "d")


def list_equilibria(pay, options, count):
    """Every profile of pure answers from which nobody gains by leaving alone."""
    found = []
    for profile in product(options, repeat=count):
        usual = pay(profile)
        gains = [
            pay((*profile[:seat], other, *profile[seat + 1 :]))[seat] - usual[seat]
            for seat in range(count)
            for other in options
        ]
        if max(gains) <= 1e-12:
            found.append(profile)
    return found


def test_ten_share_a_hundred() -> None:
    game = DivideDollar()
    assert game.earn([10] * 10) == [10] * 10
    assert game.earn([10.5] * 10) == [0] * 10
    assert game.describe_equilibrium().payoffs == dict.fromkeys(game.roles, 10)


def test_three_share_a_hundred_without_rounding() -> None:
    game = DivideDollar(FOUR[:3])
    assert game.earn([game.equilibrium] * 3) == pytest.approx([100 / 3] * 3)


def test_equal_parts_are_the_only_equilibrium_that_uses_up_the_sum_and_is_symmetric() -> None:
    game = DivideDollar(FOUR[:3], total=6)
    found = list_equilibria(game.earn, range(7), 3)
    assert (2, 2, 2) in found
    same = [profile for profile in found if len(set(profile)) == 1]
    assert [profile for profile in same if sum(profile) <= 6] == [(2, 2, 2)]
    assert game.measure_cost((), "a", 3) == 2
    assert game.measure_cost((), "a", 1) == 1


@pytest.mark.parametrize(("joy", "ordered"), [(5, 2), (2, 0), (12, 2)])
def test_diners_order_what_is_dominant(joy: float, ordered: int) -> None:
    game = Diner(FOUR, courses=2, price=10, joy=joy)
    assert list_equilibria(game.earn, range(3), 4) == [(ordered,) * 4]
    assert game.equilibrium == ordered


def test_ten_diners_lose_five_each() -> None:
    game = Diner()
    summary = game.describe_equilibrium()
    assert summary.payoffs == dict.fromkeys(game.roles, -5)
    assert summary.better_payoffs == dict.fromkeys(game.roles, 0)
    assert game.measure_cost((), "player 1", 0) == pytest.approx(4)


@pytest.mark.parametrize(("count", "price", "joy"), [(3, 0.3, 0.1), (6, 0.6, 0.1), (2, 1, 0.5)])
def test_a_course_that_is_worth_its_own_part_exactly_is_not_dominant(
    count: int, price: float, joy: float
) -> None:
    game = Diner(tuple("abcdef"[:count]), price=price, joy=joy)
    assert game.describe_equilibrium() is None
