"""Rewritten games: strategies and payoffs find their way back, and solutions come along."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.theory import generators
from bestresponse.theory.games.isomorphs import random_isomorph, rewrite_game
from bestresponse.theory.games.normal_form import NormalForm

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
GAME = NormalForm(
    np.arange(12.0).reshape(2, 2, 3),
    players=("ann", "bob"),
    actions=(("up", "down"), ("left", "centre", "right")),
)


def expected(game, profile):
    values = game.payoffs
    for strategy in reversed(profile):
        values = values @ strategy
    return values


def random_profile(game, seed):
    rng = np.random.default_rng(seed)
    return tuple(rng.dirichlet(np.ones(m)) for m in game.shape)


@given(shape=SHAPES, seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_profile_carried_over_and_back_is_the_same_and_earns_the_same(shape, seed):
    game = generators.normal(seed, shape)
    rewritten, profile = random_isomorph(seed, game), random_profile(game, seed)
    carried = rewritten.carry(profile)
    for there_and_back, strategy in zip(rewritten.back(carried), profile, strict=True):
        assert (there_and_back == strategy).all()
    earned = expected(rewritten.game, carried)
    before = expected(game, profile)
    wanted = [
        before[old] * a + b
        for old, a, b in zip(rewritten.order, rewritten.scale, rewritten.shift, strict=True)
    ]
    assert earned == pytest.approx(wanted)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_only_equilibrium_stays_one(seed):
    game = generators.dominance_solvable(seed, (3, 4))
    row, col = game.payoffs
    places = np.argwhere((row == row.max(axis=0)) & (col == col.max(axis=1, keepdims=True)))
    profile = [np.eye(m)[a] for m, a in zip(game.shape, places[0], strict=True)]
    rewritten = random_isomorph(seed, game)
    at = tuple(int(strategy.argmax()) for strategy in rewritten.carry(profile))
    for i, own in enumerate(rewritten.game.payoffs):
        line = own[tuple(slice(None) if j == i else a for j, a in enumerate(at))]
        assert line.argmax() == at[i]


def test_permuted_actions_take_their_labels_along():
    rewritten = rewrite_game(GAME, actions=[[1, 0], [2, 0, 1]])
    assert rewritten.game.actions == (("down", "up"), ("right", "left", "centre"))
    assert rewritten.game.payoffs[0].tolist() == [[5, 3, 4], [2, 0, 1]]


def test_permuted_players_take_their_names_actions_and_payoffs_along():
    rewritten = rewrite_game(GAME, order=[1, 0])
    assert rewritten.game.players == ("bob", "ann")
    assert rewritten.game.shape == (3, 2)
    assert (rewritten.game.payoffs[0] == GAME.payoffs[1].T).all()


def test_payoffs_are_scaled_and_shifted_per_player():
    rewritten = rewrite_game(GAME, scale=(2, 0.5), shift=(1, -3))
    assert rewritten.game.payoffs[0, 1, 1] == 9
    assert rewritten.game.payoffs[1, 0, 0] == 0


def test_without_affine_maps_only_the_order_changes():
    rewritten = random_isomorph(3, GAME, affine=False)
    assert sorted(rewritten.game.payoffs.ravel()) == sorted(GAME.payoffs.ravel())
    assert rewritten.scale == (1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: rewrite_game(GAME, actions=[[0, 1]]), "for 2 players, got 1, 2 and 2"),
        (
            lambda: rewrite_game(GAME, actions=[[0, 0], [0, 1, 2]]),
            "actions of ann: expected an order of 0 to 1",
        ),
        (lambda: rewrite_game(GAME, order=[0, 2]), "order of 0 to 1"),
        (lambda: rewrite_game(GAME, scale=(1, 0)), "positive numbers"),
        (lambda: rewrite_game(GAME, scale=(1,), shift=(0, 0)), "for 2 players, got 2, 1 and 2"),
    ],
)
def test_maps_that_are_no_isomorphisms_are_refused(call, match):
    with pytest.raises(UsageError, match=match):
        call()


def test_swapped_actions_take_their_exact_payoffs_along() -> None:
    large = 2**53
    game = NormalForm.zero_sum([[large, large + 1]])
    swapped = rewrite_game(game, actions=[[0], [1, 0]]).game
    assert swapped.given[0].tolist() == [[large + 1, large]]
    turned = rewrite_game(game, order=[1, 0]).game
    assert turned.given[1].tolist() == [[large], [large + 1]]
