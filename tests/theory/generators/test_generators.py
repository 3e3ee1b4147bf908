"""Random games: what each family promises, and that game k depends only on (seed, k)."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory import generators
from bestresponse.theory.games.isomorphs import name_ordinal, ordinal_games
from bestresponse.theory.generators import divisions, families, generate
from bestresponse.theory.seeds import as_generator, stream, streams

SEEDS = st.integers(0, 2**64)
SHAPELESS = ("blotto", "ordinal")
SHAPED = [name for name in families() if name not in SHAPELESS]


def sizes(name):
    return {} if name in SHAPELESS else {"shape": (3, 3)}


def equilibria(game):
    """All equilibria of a non-degenerate bimatrix game, by trying every pair of supports of equal
    size."""
    row, col = game.payoffs
    found = []
    for size in range(1, min(game.shape) + 1):
        for rows in combinations(range(game.shape[0]), size):
            for cols in combinations(range(game.shape[1]), size):
                x = indifferent(col[np.ix_(rows, cols)].T, rows, game.shape[0])
                y = indifferent(row[np.ix_(rows, cols)], cols, game.shape[1])
                if x is not None and y is not None and is_equilibrium(game, x, y):
                    found.append((x, y))
    return found


def indifferent(payoffs, support, actions):
    size = len(support)
    system = np.block([[payoffs, -np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
    if abs(np.linalg.det(system)) < 1e-12:
        return None
    weights = np.linalg.solve(system, np.append(np.zeros(size), 1.0))[:size]
    if (weights < 1e-9).any():
        return None
    strategy = np.zeros(actions)
    strategy[list(support)] = weights
    return strategy


def is_equilibrium(game, x, y):
    row, col = game.payoffs
    return (row @ y).max() - x @ row @ y < 1e-9 and (x @ col).max() - x @ col @ y < 1e-9


def survivors(payoffs):
    """What iterated elimination of actions strictly dominated by other actions leaves."""
    alive = [list(range(m)) for m in payoffs.shape[1:]]
    shrinking = True
    while shrinking:
        shrinking = False
        for i in range(len(alive)):
            rest = np.moveaxis(payoffs[i][np.ix_(*alive)], i, 0).reshape(len(alive[i]), -1)
            keep = [
                a
                for a, line in zip(alive[i], rest, strict=True)
                if not (rest > line).all(axis=1).any()
            ]
            shrinking |= len(keep) < len(alive[i])
            alive[i] = keep
    return alive


@pytest.mark.parametrize("name", families())
def test_game_k_does_not_depend_on_how_many_games_are_drawn(name):
    few, many = generate(name, 3, seed=11, **sizes(name)), generate(name, 9, seed=11, **sizes(name))
    assert (few.payoffs == many.payoffs[:3]).all()


@pytest.mark.parametrize("name", families())
def test_a_game_of_a_batch_is_the_family_function_on_its_own_stream(name):
    alone = getattr(generators, name.replace("-", "_"))(stream(5, 2), **sizes(name))
    assert (generate(name, 3, seed=5, **sizes(name))[2].payoffs == alone.payoffs).all()


@pytest.mark.parametrize("name", [name for name in families() if name not in ("blotto", "integer")])
def test_other_seeds_and_other_places_give_other_games(name):
    here, there = generate(name, 2, seed=1, **sizes(name)), generate(name, 2, seed=2, **sizes(name))
    assert not (here.payoffs[0] == here.payoffs[1]).all()
    assert not (here.payoffs[0] == there.payoffs[0]).all()


def test_a_seed_fixes_the_numbers_for_good():
    assert generate("integer", 1, (2, 2), seed=2026).payoffs[0].tolist() == [
        [[-9, -7], [-2, -10]],
        [[-4, 6], [-9, -1]],
    ]


def test_an_integer_seed_is_stream_zero_and_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(1)
    assert as_generator(rng) is rng
    assert as_generator(9).random() == stream(9, 0).random()


def test_streams_are_the_single_streams_in_order():
    assert [rng.random() for rng in streams(4, 5)] == [stream(4, k).random() for k in range(5)]


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7"])
def test_a_seed_must_be_a_whole_number(seed):
    with pytest.raises(UsageError, match="seed: expected an integer >= 0"):
        stream(seed, 0)


@given(seed=SEEDS, shape=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
@settings(max_examples=40, deadline=None)
def test_uniform_payoffs_stay_in_their_range_for_any_number_of_players(seed, shape):
    payoffs = generators.uniform(seed, shape, low=-3, high=5).payoffs
    assert payoffs.shape == (len(shape), *shape)
    assert payoffs.min() >= -3
    assert payoffs.max() <= 5


def test_uniform_integer_and_normal_payoffs_have_the_moments_of_their_distributions():
    uniform = generate("uniform", 4000, (3, 3), seed=1).payoffs
    assert uniform.mean() == pytest.approx(0.5, abs=0.005)
    assert uniform.var() == pytest.approx(1 / 12, abs=0.002)
    whole = generate("integer", 4000, (3, 3), seed=1, low=0, high=4).payoffs
    assert sorted(set(whole.ravel())) == [0, 1, 2, 3, 4]
    assert whole.mean() == pytest.approx(2, abs=0.03)
    normal = generate("normal", 4000, (3, 3), seed=1, mean=10, deviation=2).payoffs
    assert normal.mean() == pytest.approx(10, abs=0.05)
    assert normal.std() == pytest.approx(2, abs=0.05)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_zero_sum_payoffs_cancel(seed):
    payoffs = generators.zero_sum(seed, (3, 5), low=-9, high=9, whole=True).payoffs
    assert (payoffs.sum(axis=0) == 0).all()
    assert (payoffs == payoffs.round()).all()


def test_common_interest_pays_everybody_the_same():
    payoffs = generators.common_interest(3, (2, 3, 4)).payoffs
    assert (payoffs == payoffs[0]).all()


@pytest.mark.parametrize("name", ["potential", "congestion", "common-interest", "public-goods"])
@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_in_a_potential_game_deviations_around_any_square_sum_to_zero(name, seed):
    payoffs = generate(name, 1, (3, 3, 3), seed=seed).payoffs[0]
    for i, j in combinations(range(3), 2):
        mine = np.diff(np.diff(payoffs[i], axis=i), axis=j)
        theirs = np.diff(np.diff(payoffs[j], axis=j), axis=i)
        assert mine == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", ["symmetric", "congestion", "public-goods"])
@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_in_a_symmetric_game_exchanging_players_exchanges_payoffs(name, seed):
    payoffs = generate(name, 1, (3, 3, 3), seed=seed).payoffs[0]
    for order in permutations(range(3)):
        moved = payoffs[list(order)].transpose(0, *(1 + np.array(order)))
        assert moved == pytest.approx(payoffs)


@given(seed=SEEDS, shape=st.sampled_from([(2, 2), (3, 4), (5, 2), (3, 3, 2), (1, 4)]))
@settings(max_examples=40, deadline=None)
def test_dominance_solvable_games_reduce_to_one_profile(seed, shape):
    payoffs = generators.dominance_solvable(seed, shape).payoffs
    assert [len(actions) for actions in survivors(payoffs)] == [1] * len(shape)
    assert payoffs.min() == pytest.approx(0)
    assert payoffs.max() == pytest.approx(1)


@given(seed=SEEDS, size=st.integers(2, 4), opposed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_fully_mixed_game_has_one_equilibrium_and_it_uses_every_action(seed, size, opposed):
    game = generators.fully_mixed(seed, (size, size), zero_sum=opposed)
    ((x, y),) = equilibria(game)
    assert min(x.min(), y.min()) >= 0.3 / size - 1e-6
    assert ((game.payoffs.sum(axis=0) == 0).all()) == opposed


@given(seed=SEEDS, support=st.integers(1, 3), shape=st.sampled_from([(3, 3), (4, 3), (3, 5)]))
@settings(max_examples=40, deadline=None)
def test_a_game_of_given_support_has_one_equilibrium_of_that_support(seed, support, shape):
    ((x, y),) = equilibria(generators.given_support(seed, shape, support=support))
    assert ((x > 0).sum(), (y > 0).sum()) == (support, support)


@given(
    seed=SEEDS,
    shape=st.sampled_from([(2, 2), (3, 3), (2, 4), (2, 2, 2), (3, 2, 2)]),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_the_number_of_pure_equilibria_is_the_one_asked_for(seed, shape, data):
    most = 2 if len(shape) == 3 else min(shape)
    number = data.draw(st.integers(0, most))
    payoffs = generators.pure_equilibria(seed, shape, number=number).payoffs
    best = [own == own.max(axis=i, keepdims=True) for i, own in enumerate(payoffs)]
    assert np.logical_and.reduce(best).sum() == number


@pytest.mark.parametrize(("shape", "number"), [((3, 3), 4), ((1, 3), 0), ((2, 2), -1)])
def test_an_impossible_number_of_pure_equilibria_is_refused(shape, number):
    with pytest.raises(UsageError, match="pure equilibria, got"):
        generators.pure_equilibria(1, shape, number=number)


@given(seed=SEEDS, size=st.integers(3, 8))
@settings(max_examples=30, deadline=None)
def test_cyclic_games_are_zero_sum_symmetric_and_solved_by_uniform_play(seed, size):
    row, col = generators.cyclic(seed, (size, size)).payoffs
    assert (row == -col).all()
    assert (row == col.T).all()
    assert row @ np.full(size, 1 / size) == pytest.approx(np.zeros(size), abs=1e-12)
    assert (np.sign(row).sum(axis=1) == 0).all()
    assert (row[0, 1 : (size - 1) // 2 + 1] > 0).all()


def test_blotto_is_decided_field_by_field():
    game = generators.blotto(1, troops=(2, 1), fields=2)
    assert divisions(2, 2).tolist() == [[0, 2], [1, 1], [2, 0]]
    assert game.payoffs[0].tolist() == [[1, 0], [1, 1], [0, 1]]
    assert (game.payoffs.sum(axis=0) == 0).all()


def test_blotto_has_as_many_actions_as_there_are_divisions():
    assert generators.blotto(1, troops=(5, 4), fields=3, tilt=0.5).shape == (21, 15)


def test_congestion_costs_grow_with_the_number_on_a_resource():
    payoffs = generators.congestion(6, (2, 2, 2)).payoffs
    assert payoffs[0, 0, 1, 1] > payoffs[0, 0, 0, 1] > payoffs[0, 0, 0, 0]


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_public_goods_are_a_dilemma(seed):
    payoffs = generators.public_goods(seed, (3, 3, 3)).payoffs
    assert (np.diff(payoffs[0], axis=0) < 0).all()
    assert payoffs[0, 2, 2, 2] > payoffs[0, 0, 0, 0]


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.3, 0.9])
def test_covariant_payoffs_have_the_correlation_asked_for(rho):
    payoffs = generate("covariant", 3000, (3, 3, 3), seed=4, rho=rho).payoffs
    found = np.corrcoef(np.moveaxis(payoffs, 1, 0).reshape(3, -1))
    assert found == pytest.approx(np.where(np.eye(3) > 0, 1.0, rho), abs=0.02)
    assert payoffs.std() == pytest.approx(1, abs=0.02)


def test_full_correlation_is_common_interest_and_full_opposition_zero_sum():
    same, opposed = (generators.covariant(2, (3, 3), rho=rho).payoffs for rho in (1.0, -1.0))
    assert same[0] == pytest.approx(same[1])
    assert opposed[0] == pytest.approx(-opposed[1])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: generate("zerosum", 1, (2, 2)), "did you mean 'zero-sum'"),
        (lambda: generate("uniform", 0, (2, 2)), "at least 1 game"),
        (lambda: generate("uniform", 1, (2, 0)), "number of actions of each player"),
        (
            lambda: generate("uniform", 1, (2, 2), rho=1),
            "'uniform' takes shape, low, high; got rho",
        ),
        (lambda: generate("blotto", 1, (2, 2)), "got shape"),
        (lambda: generators.zero_sum(1, (2, 2, 2)), "2 players, got 3"),
        (lambda: generators.symmetric(1, (2, 3)), "same number of actions"),
        (lambda: generators.covariant(1, (2, 2, 2), rho=-0.9), "from -0.5 to 1, got -0.9"),
        (lambda: generators.uniform(1, (2, 2), low=1, high=1), "low < high"),
        (lambda: generators.normal(1, (2, 2), deviation=0), "above 0"),
        (lambda: generators.given_support(1, (3, 2), support=3), "1 to 2 actions"),
        (lambda: generators.public_goods(1, (2, 2), multiplier=3), "strictly from 1 to 2"),
        (lambda: generators.cyclic(1, (2, 2)), "at least 3"),
        (lambda: generators.cyclic(1, (3, 3), stakes=(0, 1)), "0 < low"),
        (lambda: generators.blotto(1, troops=(-1, 3)), "troops >= 0"),
    ],
)
def test_bad_arguments_say_what_was_expected(call, match):
    with pytest.raises(UsageError, match=match):
        call()


def test_a_game_that_would_not_fit_is_refused_before_memory_goes():
    with pytest.raises(TooLarge, match="payoffs; at most"):
        generators.uniform(1, (100,) * 6)
    with pytest.raises(TooLarge, match="payoffs; at most"):
        generators.blotto(1, troops=(100, 100), fields=6)


def test_a_batch_counts_from_the_end_and_iterates():
    batch = generate("zero-sum", 4, (2, 3), seed=1)
    assert (batch[-1].payoffs == batch[3].payoffs).all()
    assert [game.name for game in batch] == [f"zero-sum 1/{k}" for k in range(4)]
    assert (batch.row == batch.payoffs[:, 0]).all()
    with pytest.raises(IndexError):
        batch[4]


def test_ordinal_games_are_drawn_evenly_and_have_the_names_of_their_patterns():
    names = [name_ordinal(game).name for game in generate("ordinal", 1500, seed=3)]
    drawn = Counter(names)
    assert set(drawn) == {one.name for one in ordinal_games()}
    assert max(drawn.values()) < 1500 / 144 * 2.2
