"""Words about games whose payoffs nearly tie never contradict each other."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from bestresponse.theory import (
    NormalForm,
    classify,
    find_dominated,
    iterated_elimination,
    nash,
    pure_nash,
    rationalizable,
)

SMALLEST = st.integers(8, 17).map(lambda digits: 10.0**-digits)


@st.composite
def nearly_tied(draw: st.DrawFn) -> NormalForm:
    """Small whole payoffs, each off by a few times some power of ten, at some scale."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    count = 2 * rows * columns
    whole = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    off = draw(st.lists(st.integers(-3, 3), min_size=count, max_size=count))
    payoffs = np.array(whole) + draw(SMALLEST) * np.array(off)
    if rows == columns and draw(st.booleans()):
        payoffs[count // 2 :] = payoffs[: count // 2].reshape(rows, rows).T.ravel()
    return NormalForm(draw(st.sampled_from([1.0, 0.1, 1e6])) * payoffs.reshape(2, rows, columns))


SEEN = NormalForm.bimatrix([[0, 0, 0]], [[0, -1e-17, 3e-17]])
"""A game in which a number is so small that 1 less it is 1."""


@settings(max_examples=150, deadline=None)
@given(nearly_tied())
@example(SEEN)
def test_what_is_strict_degenerate_and_pure_is_so_everywhere(game: NormalForm) -> None:
    result = nash(game)
    cells = {tuple(a for (a,) in e.supports): e for e in result.pure}
    assert set(cells) == set(pure_nash(game))
    assert {cell for cell, e in cells.items() if e.strict} == set(pure_nash(game, strict=True))
    for e in result.equilibria:
        if e.strict:
            assert (e.in_continuum, e.index) == (False, 1)
            assert e.evolutionarily_stable is not False
    if not result.degenerate:
        assert len(result.equilibria) % 2 == 1
        assert not any(e.in_continuum for e in result.equilibria)
        assert all(e.strict for e in cells.values())


@settings(max_examples=150, deadline=None)
@given(nearly_tied())
def test_what_dominance_removes_no_equilibrium_plays(game: NormalForm) -> None:
    result = nash(game)
    left = rationalizable(game)
    for e in result.equilibria:
        for support, kept in zip(e.supports, left, strict=True):
            assert set(support) <= set(kept)
    if iterated_elimination(game).solved:
        (only,) = result.equilibria
        assert only.supports == left
        assert only.strict
    strictly = {(d.player, d.action) for d in find_dominated(game, strict=True)}
    assert strictly <= {(d.player, d.action) for d in find_dominated(game)}


@settings(max_examples=150, deadline=None)
@given(nearly_tied())
def test_kinds_of_games_agree_with_their_equilibria(game: NormalForm) -> None:
    kind = classify(game)
    pure = pure_nash(game)
    if kind.potential is not None or kind.dominance_solvable:
        assert pure
    if kind.potential is not None:
        assert kind.finite_improvement
    if kind.zero_sum:
        assert kind.constant_sum
    if kind.finite_improvement:
        assert pure
    if kind.coordination:
        assert len(pure_nash(game, strict=True)) == game.shape[0]


@pytest.mark.parametrize("lead", [1e-13, 1e-10, 1e-7])
def test_a_lead_of_13_digits_counts_in_every_word(lead: float) -> None:
    dilemma = NormalForm.bimatrix([[1, 0], [1 + lead, lead]], [[1, 1 + lead], [0, lead]])
    (only,) = nash(dilemma).equilibria
    assert only.stability == "strict, evolutionarily stable, index +1"
    assert rationalizable(dilemma) == ((1,), (1,))
    assert classify(dilemma).dominance_solvable


def test_a_lead_of_15_digits_is_rounding_in_every_word() -> None:
    lead = 1e-15
    dilemma = NormalForm.bimatrix([[1, 0], [1 + lead, lead]], [[1, 1 + lead], [0, lead]])
    assert {e.stability for e in nash(dilemma).equilibria} == {"one of a continuum"}
    assert rationalizable(dilemma) == ((0, 1), (0, 1))
    assert pure_nash(dilemma, strict=True) == ()
    assert classify(dilemma).dominance_solvable is False


def test_a_part_of_a_game_ties_where_the_whole_game_does() -> None:
    # Beside payoffs of 10^6, a lead of 10^-10 is rounding; without them it would count.
    lead = 1e-10
    row = [[1 + lead, 0.3], [1.0, 0.3 - lead], [-1e6 / 3, -1e6 / 7]]
    game = NormalForm.bimatrix(row, [[0, 0], [0, 0], [0, 0]])
    part = game.restrict(((0, 1), (0, 1)))
    assert rationalizable(game) == ((0, 1), (0, 1))
    assert rationalizable(part) == ((0, 1), (0, 1))
    assert rationalizable(NormalForm(part.payoffs)) == ((0,), (0, 1))
