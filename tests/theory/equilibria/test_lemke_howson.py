"""Lemke and Howson's path: it ends at an equilibrium from every label, alone and in batches,
degenerate or not."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import (
    NormalForm,
    lemke_howson,
    lemke_howson_all,
    lemke_howson_batch,
    nash,
    nash_one_batch,
    regret,
)

GAMES = st.integers(0, 10**6).map(
    lambda seed: NormalForm(
        np.random.default_rng(seed)
        .integers(-2, 3, (2, 1 + seed % 4, 1 + seed // 4 % 4))
        .astype(float)
    )
)


@settings(max_examples=80, deadline=None)
@given(GAMES)
def test_every_label_leads_to_one_of_all_equilibria(game: NormalForm) -> None:
    listed = {tuple(np.round(np.concatenate(e.strategies), 9)) for e in nash(game).equilibria}
    for label in range(sum(game.shape)):
        found = lemke_howson(game, label)
        assert found.exact is not None
        assert found.regret < 1e-12
        assert tuple(np.round(np.concatenate(found.strategies), 9)) in listed


def test_from_all_labels_battle_of_the_sexes_gives_its_two_pure_equilibria() -> None:
    battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    assert [e.supports for e in lemke_howson_all(battle)] == [((0,), (0,)), ((1,), (1,))]


@pytest.mark.parametrize("label", [0, 3, 4, 6])
def test_a_batch_agrees_with_one_game_at_a_time(label: int) -> None:
    generator = np.random.default_rng(5)
    row, col = generator.random((30, 4, 3)), generator.random((30, 4, 3))
    batch = lemke_howson_batch(row, col, label)
    for g in range(30):
        alone = lemke_howson(NormalForm.bimatrix(row[g], col[g]), label)
        assert batch.x[g] == pytest.approx(alone.strategies[0], abs=1e-9)
        assert batch.y[g] == pytest.approx(alone.strategies[1], abs=1e-9)
    assert batch.regret.max() < 1e-12


@pytest.mark.parametrize("compiled", [True, False])
def test_batches_of_degenerate_games_of_any_scale_are_certified(compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    games = 3000 if compiled else 40
    generator = np.random.default_rng(6)
    scale = 10.0 ** generator.integers(-6, 7, (games, 1, 1))
    row = generator.integers(-1, 2, (games, 3, 4)) * scale + 7
    col = generator.integers(-1, 2, (games, 3, 4)) * scale - 3
    batch = nash_one_batch(row, col)
    assert batch.regret.max() <= 1e-9
    for g in range(25):
        game = NormalForm.bimatrix(row[g], col[g])
        relative = regret(game, (batch.x[g], batch.y[g])) / np.maximum(
            np.ptp(game.payoffs, axis=(1, 2)), 1e-300
        )
        assert relative.max() < 1e-8


def test_one_equilibrium_is_the_first_pure_one_where_there_is_one() -> None:
    pennies, coordination = [[1, -1], [-1, 1]], [[1, 0], [0, 2]]
    batch = nash_one_batch([pennies, coordination], [np.negative(pennies), coordination])
    assert batch.x.round(12).tolist() == [[0.5, 0.5], [1, 0]]
    assert batch.y.round(12).tolist() == [[0.5, 0.5], [1, 0]]


def test_large_games_are_solved_in_floating_point_and_checked() -> None:
    generator = np.random.default_rng(9)
    game = NormalForm.bimatrix(generator.random((40, 30)), generator.random((40, 30)))
    assert lemke_howson(game).regret < 1e-9


@pytest.mark.parametrize("shape", [(60, 60), (25, 70)])
def test_without_compiled_loops_a_large_game_takes_the_same_path(shape: tuple[int, int]) -> None:
    pytest.importorskip("numba")
    row, col = np.random.default_rng(3).random((2, 1, *shape))
    plain = lemke_howson_batch(row, col, 2, engine="numpy")
    compiled = lemke_howson_batch(row, col, 2, engine="numba")
    assert not plain.exact[0]
    assert plain.pivots.tolist() == compiled.pivots.tolist()
    assert plain.x == pytest.approx(compiled.x, abs=1e-9)
    assert plain.regret[0] < 1e-12


@settings(max_examples=60, deadline=None)
@given(GAMES)
def test_a_path_in_floats_takes_the_pivots_of_the_path_in_whole_numbers(game: NormalForm) -> None:
    for label in range(sum(game.shape)):
        batch = lemke_howson_batch(*game.payoffs[:, None], label, engine="numpy")
        exact = lemke_howson(game, label)
        assert not batch.exact[0]
        assert batch.x[0] == pytest.approx(exact.strategies[0], abs=1e-9)
        assert batch.y[0] == pytest.approx(exact.strategies[1], abs=1e-9)


def test_an_unknown_label_is_named_with_the_labels_there_are() -> None:
    with pytest.raises(InvalidGame, match="2x3 game has labels 0 to 4, got 5"):
        lemke_howson(NormalForm.bimatrix(np.eye(2, 3), np.eye(2, 3)), 5)


def test_a_batch_of_mismatched_shapes_is_refused() -> None:
    with pytest.raises(InvalidGame, match=r"one shape \(games, rows, columns\)"):
        lemke_howson_batch(np.zeros((2, 3, 3)), np.zeros((2, 3, 2)))
