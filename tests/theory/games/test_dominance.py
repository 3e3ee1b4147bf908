"""Dominance, elimination, rationalizability, security levels: textbook games and what must hold for
all."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.theory import (
    NormalForm,
    find_dominated,
    iterated_elimination,
    maximin,
    nash,
    rationalizable,
    solve_zero_sum_game,
)

GAMES = st.integers(0, 10**6).map(
    lambda seed: NormalForm(
        np.random.default_rng(seed)
        .integers(0, 5, (2, 2 + seed % 3, 2 + seed // 3 % 3))
        .astype(float)
    )
)


def test_a_mixture_can_dominate_what_no_single_action_does() -> None:
    # Half of (4, 0) and half of (0, 4) earn 2 against either column, more than 1.
    game = NormalForm.bimatrix([[4, 0], [0, 4], [1, 1]], [[1, 1], [1, 1], [1, 1]])
    (found,) = find_dominated(game)
    assert (found.player, found.action, found.kind, found.pure) == (0, 2, "strict", False)
    assert found.dominator == pytest.approx([0.5, 0.5, 0])
    assert found.margin == pytest.approx(1)


def test_margins_of_fractions_and_of_very_large_payoffs_are_exact() -> None:
    thirds = [[Fraction(4, 3), 0], [0, Fraction(4, 3)], [Fraction(1, 3), Fraction(1, 3)]]
    (mixed,) = find_dominated(NormalForm.bimatrix(thirds, np.zeros((3, 2), dtype=int)))
    assert (mixed.action, mixed.margin) == (2, 1 / 3)
    (single,) = find_dominated(
        NormalForm.bimatrix([[2**60, 2**60], [2**60 + 2, 2**60 + 1]], [[0, 0], [0, 0]])
    )
    assert (single.action, single.kind, single.margin) == (0, "strict", 1.0)


def test_weak_dominance_by_one_action_and_by_a_mixture_only() -> None:
    one = NormalForm.bimatrix([[1, 1], [1, 0]], [[0, 0], [0, 0]])
    (found,) = find_dominated(one)
    assert (found.action, found.kind, found.pure) == (1, "weak", True)
    # (4, 0, 1) and (0, 4, 1) mixed earn (2, 2, 1), never less than (2, 2, 0); neither does so
    # alone.
    mix = NormalForm.bimatrix([[4, 0, 1], [0, 4, 1], [2, 2, 0]], np.zeros((3, 3)))
    (found,) = find_dominated(mix)
    assert (found.action, found.kind, found.pure) == (2, "weak", False)
    assert found.dominator == pytest.approx([0.5, 0.5, 0])


def test_duplicate_actions_do_not_dominate_each_other() -> None:
    assert find_dominated(NormalForm.bimatrix([[1, 2], [1, 2]], [[0, 0], [0, 0]])) == ()


def test_elimination_tells_its_steps_in_the_numbers_of_the_original_game() -> None:
    # Osborne and Rubinstein style: right is dominated by middle, then down by up, then left by
    # middle.
    game = NormalForm.bimatrix([[1, 1, 0], [0, 0, 2]], [[0, 2, 1], [3, 1, 0]])
    left = iterated_elimination(game)
    assert [(s.round, s.player, s.action, s.dominator) for s in left.steps] == [
        (1, 1, 2, ((1, 1.0),)),
        (2, 0, 1, ((0, 1.0),)),
        (3, 1, 0, ((1, 1.0),)),
    ]
    assert left.kept == ((0,), (1,))
    assert left.solved
    assert left.game.payoffs.ravel().tolist() == [1, 2]
    assert left.game.actions == (("a0",), ("a1",))


def test_weak_elimination_goes_further_than_strict() -> None:
    # The second row is as good as the first against the left column and worse against the right
    # one, which costs the column player nothing.
    game = NormalForm.bimatrix([[1, 1], [1, 0]], [[1, 1], [2, 1]])
    assert rationalizable(game) == ((0, 1), (0, 1))
    weak = iterated_elimination(game, strict=False)
    assert weak.kept == ((0,), (0,))
    assert {step.kind for step in weak.steps} == {"weak"}


def test_three_players_with_a_dominant_action_each_are_solved() -> None:
    # Public goods: giving costs 2 and brings 1 to each of three players.
    given_by = np.indices((2, 2, 2))
    payoffs = np.stack([given_by.sum(axis=0) - 2 * given_by[i] for i in range(3)]).astype(float)
    assert rationalizable(NormalForm(payoffs)) == ((0,), (0,), (0,))


def test_the_security_level_of_matching_pennies_needs_mixing() -> None:
    level = maximin(NormalForm.zero_sum([[1, -1], [-1, 1]]), 1)
    assert (level.value, level.pure_value) == (0, -1)
    assert level.strategy == pytest.approx([0.5, 0.5])


def test_an_unknown_player_is_named() -> None:
    with pytest.raises(UsageError, match="expected 0 to 1, got 2"):
        maximin(NormalForm.zero_sum([[1]]), 2)


@settings(max_examples=50, deadline=None)
@given(GAMES)
def test_no_equilibrium_uses_an_action_that_is_not_rationalizable(game: NormalForm) -> None:
    left = rationalizable(game)
    for e in nash(game).equilibria:
        for support, kept in zip(e.supports, left, strict=True):
            assert set(support) <= set(kept)


@settings(max_examples=50, deadline=None)
@given(GAMES)
def test_dominators_do_what_they_promise(game: NormalForm) -> None:
    for found in find_dominated(game):
        own = np.moveaxis(game.payoffs[found.player], found.player, 0)
        lead = found.dominator @ own - own[found.action]
        assert found.dominator.sum() == pytest.approx(1)
        if found.kind == "strict":
            assert lead.min() == pytest.approx(found.margin)
            assert found.margin > 0
        else:
            assert lead.min() > -1e-8
            assert lead.max() > 0


@settings(max_examples=30, deadline=None)
@given(GAMES)
def test_elimination_of_strictly_dominated_actions_keeps_every_equilibrium(
    game: NormalForm,
) -> None:
    left = iterated_elimination(game)
    full, small = nash(game), nash(left.game)
    assert len(full.equilibria) == len(small.equilibria)
    assert sorted(e.welfare for e in full.equilibria) == pytest.approx(
        sorted(e.welfare for e in small.equilibria)
    )


@settings(max_examples=30, deadline=None)
@given(GAMES)
def test_nobody_gets_less_than_its_security_level_in_equilibrium_and_zero_sum_gives_the_value(
    game: NormalForm,
) -> None:
    for player in (0, 1):
        level = maximin(game, player).value
        assert all(e.payoffs[player] >= level - 1e-9 for e in nash(game).equilibria)
    value = solve_zero_sum_game(game.payoffs[0]).value
    zero_sum = NormalForm.zero_sum(game.payoffs[0])
    assert all(e.payoffs == pytest.approx([value, -value]) for e in nash(zero_sum).equilibria)


def test_mixed_dominance_is_decided_exactly_for_whole_numbers_and_fractions() -> None:
    # Half of each of the first two rows earns n + 1 everywhere; the third row earns that, one less
    # or one more.
    n = 10**12
    rows = [[2 * n + 2, 0, n + 1], [0, 2 * n + 2, n + 1]]
    for third, kinds in (
        ([n, n, n], ["strict"]),
        ([n + 1, n + 1, n], ["weak"]),
        ([n + 1, n + 1, n + 1], []),
    ):
        found = find_dominated(NormalForm.bimatrix([*rows, third], np.zeros((3, 3), dtype=int)))
        assert [(d.action, d.kind) for d in found] == [(2, kind) for kind in kinds]
    third = Fraction(1, 3)
    thirds = NormalForm.bimatrix([[1, 0], [0, 1], [0, 0], [third, 2 * third]], [[0, 0]] * 4)
    assert [d.action for d in find_dominated(thirds)] == [2]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_exact_domination_agrees_with_floating_point_on_small_whole_payoffs(seed: int) -> None:
    payoffs = np.random.default_rng(seed).integers(0, 5, (2, 4, 3))
    exact = find_dominated(NormalForm(payoffs))
    rounded = find_dominated(NormalForm(payoffs + 0.3))
    assert [(d.player, d.action, d.kind) for d in exact] == [
        (d.player, d.action, d.kind) for d in rounded
    ]
    for d in exact:
        own = np.moveaxis(payoffs[d.player], d.player, 0)
        lead = d.dominator @ own - own[d.action]
        assert lead.min() == pytest.approx(d.margin)
        assert lead.max() > 0
