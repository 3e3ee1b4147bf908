"""Lemke and Howson's path: it ends at an equilibrium from every label, degenerate or not."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame, NotCertified
from bestresponse.theory import (
    NormalForm,
    lemke_howson,
    lemke_howson_all,
    nash,
    nash_one,
)
from bestresponse.theory.equilibria import lemke_howson as module

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


def test_large_games_are_solved_in_floating_point_and_checked() -> None:
    generator = np.random.default_rng(9)
    game = NormalForm.bimatrix(generator.random((40, 30)), generator.random((40, 30)))
    assert lemke_howson(game).regret < 1e-9


@settings(max_examples=60, deadline=None)
@given(GAMES)
def test_a_path_in_floats_takes_the_steps_of_the_path_in_whole_numbers(game: NormalForm) -> None:
    """Actions that nobody should play make a game large, and do not change where its paths lead."""
    rows, columns = game.shape
    padded = np.full((2, rows + 13, columns + 13), -99.0)
    padded[0, :, :columns] = -98.0
    padded[1, :rows, :] = -98.0
    padded[:, :rows, :columns] = game.payoffs
    large = NormalForm(padded)
    for label in range(rows):
        found = lemke_howson(large, label)
        exact = lemke_howson(game, label)
        assert found.exact is None
        assert found.strategies[0][:rows] == pytest.approx(exact.strategies[0], abs=1e-9)
        assert found.strategies[1][:columns] == pytest.approx(exact.strategies[1], abs=1e-9)


def test_an_unknown_label_is_named_with_the_labels_there_are() -> None:
    with pytest.raises(InvalidGame, match="2x3 game has labels 0 to 4, got 5"):
        lemke_howson(NormalForm.bimatrix(np.eye(2, 3), np.eye(2, 3)), 5)


def count_pivots(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    made: list[int] = []
    exchange = module.FloatTableau.exchange

    def count(self: module.FloatTableau, variable: int) -> int:
        made.append(variable)
        return exchange(self, variable)

    monkeypatch.setattr(module.FloatTableau, "exchange", count)
    return made


def draw_without_pure(size: int) -> NormalForm:
    return NormalForm(np.random.default_rng([size, 2]).random((2, size, size)))


def test_the_path_of_the_first_label_is_as_long_as_for_quantecon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """QuantEcon.py 0.11.4 says 44 and 1,464 iterations."""
    made = count_pivots(monkeypatch)
    for size, iterations in ((60, 44), (100, 1464)):
        made.clear()
        lemke_howson(draw_without_pure(size))
        assert len(made) == iterations


def test_one_equilibrium_is_looked_for_along_short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_pivots(monkeypatch)
    assert nash_one(draw_without_pure(100)).regret < 1e-12
    assert len(made) < 300


def test_a_path_that_is_too_long_names_what_follows_a_shorter_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MOST_PIVOTS", 10)
    with pytest.raises(NotCertified, match=r"label 3 did not end within 10 pivots; nash_one"):
        lemke_howson(draw_without_pure(101), 3)
