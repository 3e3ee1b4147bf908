"""All equilibria of two-player games: textbook cases, degenerate sets worked by hand, properties of
random games."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory import NormalForm, extreme_equilibria, nash, nash_one, pure_nash, regret
from bestresponse.theory.engines import Engine, has_numba
from bestresponse.theory.equilibria.extremes import most_vertices

BATTLE = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
# von Stengel (1999), "New maximal numbers of equilibria in bimatrix games", Discrete &
# Computational Geometry 21.
SEVENTY_FIVE_ROW = [
    [9504, -660, 19976, -20526, 1776, -8976],
    [-111771, 31680, -130944, 168124, -8514, 52764],
    [397584, -113850, 451176, -586476, 29216, -178761],
    [171204, -45936, 208626, -263076, 14124, -84436],
    [1303104, -453420, 1227336, -1718376, 72336, -461736],
    [737154, -227040, 774576, -1039236, 48081, -300036],
]
SEVENTY_FIVE_COL = [
    [72336, 48081, 29216, 14124, 1776, -8514],
    [-461736, -300036, -178761, -84436, -8976, 52764],
    [1227336, 774576, 451176, 208626, 19976, -130944],
    [-1718376, -1039236, -586476, -263076, -20526, 168124],
    [1303104, 737154, 397584, 171204, 9504, -111771],
    [-453420, -227040, -113850, -45936, -660, 31680],
]


def payoff_matrices(largest: int = 3, size: int = 3) -> st.SearchStrategy[NormalForm]:
    """Integer games small enough to be degenerate most of the time."""

    def game(shape: tuple[int, int]) -> st.SearchStrategy[NormalForm]:
        m, n = shape
        cells = st.lists(st.integers(-largest, largest), min_size=2 * m * n, max_size=2 * m * n)
        return cells.map(lambda values: NormalForm(np.array(values, dtype=float).reshape(2, m, n)))

    return st.tuples(st.integers(1, size), st.integers(1, size)).flatmap(game)


@pytest.mark.parametrize("turned", [False, True])
def test_a_tie_against_a_dominated_action_makes_a_game_degenerate(turned: bool) -> None:
    # Against the first row, which is never a best reply, both columns earn 3.
    row, col = np.array([[1, 0], [3, 1]]), np.array([[3, 3], [0, 2]])
    result = nash(col.T, row.T) if turned else nash(row, col)
    assert result.degenerate
    assert (len(result), result.complete_for[-1]) == (1, "pure Nash")


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**-33, 1e-9 / 3, 1 / 7, 1e9 / 3])
def test_components_of_a_degenerate_game_do_not_depend_on_the_unit_of_payoffs(scale: float) -> None:
    row = np.array([[0, -1, 1, -2], [-1, 3, -1, 1], [0, 1, 0, -3], [3, 2, -3, -2]])
    col = np.array([[1, 0, -1, 3], [-3, -1, 3, 0], [-2, 3, 2, -1], [-3, 0, 3, -1]])
    result = nash(NormalForm.bimatrix(row * scale, col * scale))
    assert result.degenerate
    assert [(len(c.equilibria), c.index) for c in result.components] == [(1, 1), (2, 0)]


def test_payoffs_close_together_on_a_large_offset_are_taken_as_they_are() -> None:
    row = 1.0 + 1e-9 * np.array([[0.3, 1.7, 2.2], [1.1, 0.2, 0.9], [1.9, 2.1, -0.4]])
    col = 1.0 - 1e-9 * np.array([[0.1, 1.2, 1.4], [2.2, 0.7, 0.3], [0.6, 1.5, 1.8]])
    game = NormalForm.bimatrix(row, col)
    shifted = NormalForm.bimatrix(row - 1.0, col - 1.0)
    for e in nash(game).equilibria:
        assert regret(shifted, e.strategies).max() <= 1e-9 * 4e-9


def test_the_smallest_floats_are_payoffs_too() -> None:
    tiny = 5e-324
    result = nash(NormalForm.bimatrix([[2 * tiny, 0], [0, tiny]], [[tiny, 0], [0, 2 * tiny]]))
    assert [e.supports for e in result.equilibria] == [((0,), (0,)), ((1,), (1,)), ((0, 1), (0, 1))]


def test_battle_of_the_sexes_has_two_pure_and_one_mixed_equilibrium() -> None:
    result = nash(BATTLE)
    assert [e.kind for e in result.equilibria] == ["pure", "pure", "mixed"]
    assert [e.welfare for e in result.equilibria] == pytest.approx([3, 3, 4 / 3])
    assert result.equilibria[2].exact == (
        (Fraction(2, 3), Fraction(1, 3)),
        (Fraction(1, 3), Fraction(2, 3)),
    )
    assert [e.index for e in result.equilibria] == [1, 1, -1]
    assert [e.strict for e in result.equilibria] == [True, True, False]
    assert result.complete
    assert not result.degenerate


def test_prisoners_dilemma_has_only_defection_and_it_is_evolutionarily_stable() -> None:
    (only,) = nash(DILEMMA).equilibria
    assert only.supports == ((1,), (1,))
    assert only.payoffs.tolist() == [1, 1]
    assert only.evolutionarily_stable is True
    assert only.stability == "strict, evolutionarily stable, index +1"


def test_rock_paper_scissors_is_uniform_and_not_evolutionarily_stable() -> None:
    rps = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
    (only,) = nash(NormalForm.bimatrix(rps, np.transpose(rps))).equilibria
    assert only.exact == ((Fraction(1, 3),) * 3,) * 2
    assert only.evolutionarily_stable is False


def test_von_stengels_six_by_six_game_has_75_equilibria() -> None:
    result = nash(NormalForm.bimatrix(SEVENTY_FIVE_ROW, SEVENTY_FIVE_COL))
    assert len(result.equilibria) == 75
    assert sum(e.index or 0 for e in result.equilibria) == 1
    assert all(e.exact is not None for e in result.equilibria)


def test_a_constant_game_is_one_component_of_index_one() -> None:
    result = nash(NormalForm.bimatrix(np.zeros((2, 3)), np.ones((2, 3))))
    (component,) = result.components
    assert result.degenerate
    assert component.index == 1
    (subset,) = component.subsets
    assert (subset.x.tolist(), subset.y.tolist()) == (np.eye(2).tolist(), np.eye(3).tolist())


def test_a_segment_of_equilibria_is_one_component_with_its_two_ends() -> None:
    # Row 1 is a best reply while column 1 is played with at least 2/3; column is indifferent there.
    # The other rows and (1/3, 2/3) form an isolated equilibrium. (von Stengel 2002, Handbook of
    # Game Theory 3, section 2.6.)
    game = NormalForm.bimatrix([[3, 3], [2, 5], [0, 6]], [[3, 3], [2, 6], [3, 1]])
    segment, point = nash(game).components
    assert [e.exact for e in segment.equilibria] == [
        ((1, 0, 0), (1, 0)),
        ((1, 0, 0), (Fraction(2, 3), Fraction(1, 3))),
    ]
    assert segment.index == 0
    assert point.isolated
    assert point.equilibria[0].exact == (
        (0, Fraction(1, 3), Fraction(2, 3)),
        (Fraction(1, 3), Fraction(2, 3)),
    )
    assert point.equilibria[0].index == 1


def test_two_segments_meeting_in_a_corner_are_one_component_of_two_nash_subsets() -> None:
    # Both earn 1 in the first row and column and 0 or less elsewhere: any mix of columns against
    # row 1 keeps column indifferent, and the other way round; they meet at (1, 1).
    game = NormalForm.bimatrix([[1, 0], [1, -1]], [[1, 1], [0, -1]])
    (component,) = nash(game).components
    shapes = sorted((len(subset.x), len(subset.y)) for subset in component.subsets)
    assert shapes == [(1, 2), (2, 1)]
    assert component.index == 1


def test_decimal_payoffs_tie_as_they_read() -> None:
    tie = nash(NormalForm.bimatrix([[0.1 + 0.2, 0], [0.3, 0]], [[1, 0], [1, 0]]))
    assert tie.degenerate
    assert len(tie.components) == 1


def test_thirds_tie_as_they_read() -> None:
    # Against (1/2, 1/2) all three rows earn 1/3, so there is a whole segment of mixed equilibria.
    row = [[1 / 3, 1 / 3], [2 / 3, 0], [0, 2 / 3]]
    result = nash(NormalForm.bimatrix(row, [[0, 0], [0, 1], [1, 0]]))
    whole = nash(NormalForm.bimatrix(np.rint(3 * np.array(row)), [[0, 0], [0, 1], [1, 0]]))
    assert result.degenerate
    assert [[x.tolist() for x in e.strategies] for e in result.equilibria] == [
        [x.tolist() for x in e.strategies] for e in whole.equilibria
    ]
    assert (result.method, whole.method) == (
        "vertex enumeration, to 1e-12",
        "vertex enumeration, exact",
    )
    assert [e.exact for e in result.equilibria] == [None, None]


def test_one_action_each_is_a_game_too() -> None:
    (only,) = nash(NormalForm.bimatrix([[4]], [[-1]])).equilibria
    assert only.payoffs.tolist() == [4, -1]


def test_a_game_too_large_to_enumerate_says_how_large_and_what_to_do_instead() -> None:
    huge = NormalForm.bimatrix(np.eye(30), np.eye(30))
    with pytest.raises(TooLarge, match=r"30x30 game may have .* lemke_howson"):
        nash(huge)


def test_three_players_are_refused_by_the_bimatrix_enumeration() -> None:
    with pytest.raises(InvalidGame, match="two players, got one of 3"):
        extreme_equilibria(NormalForm(np.zeros((3, 2, 2, 2))))


def test_the_upper_bound_theorem_counts_vertices() -> None:
    assert most_vertices(3, 6) == 8  # the cube
    assert most_vertices(2, 7) == 7  # a polygon


@settings(max_examples=60, deadline=None)
@given(payoff_matrices())
def test_every_listed_equilibrium_has_no_regret_and_the_indices_add_up_to_one(
    game: NormalForm,
) -> None:
    result = nash(game)
    assert result.equilibria
    assert all(regret(game, e.strategies).max() < 1e-12 for e in result.equilibria)
    assert sum(component.index for component in result.components) == 1


@settings(max_examples=60, deadline=None)
@given(payoff_matrices())
def test_pure_equilibria_are_exactly_the_pure_ones_among_all(game: NormalForm) -> None:
    found = {tuple(support[0] for support in e.supports) for e in nash(game).pure}
    assert found == set(pure_nash(game))


@settings(max_examples=40, deadline=None)
@given(payoff_matrices(), st.integers(0, 99))
def test_relabelling_and_positive_affine_maps_keep_the_equilibria(
    game: NormalForm, seed: int
) -> None:
    m, n = game.shape
    generator = np.random.default_rng(seed)
    rows, columns = generator.permutation(m), generator.permutation(n)
    row, col = game.payoffs[:, rows][:, :, columns]
    mapped = NormalForm.bimatrix(3 * row + 5, 0.5 * col - 2)
    before = {
        _rounded(e.strategies[0][rows], e.strategies[1][columns]) for e in nash(game).equilibria
    }
    after = {_rounded(*e.strategies) for e in nash(mapped).equilibria}
    assert before == after


@settings(max_examples=30, deadline=None)
@given(payoff_matrices(largest=50, size=4))
def test_every_equilibrium_lies_in_some_reported_subset(game: NormalForm) -> None:
    result = nash(game)
    inside = {
        _rounded(x, y) for c in result.components for s in c.subsets for x in s.x for y in s.y
    }
    assert inside == {_rounded(*e.strategies) for e in result.equilibria}


def test_floating_point_and_integers_find_the_same_equilibria() -> None:
    pytest.importorskip("numba")
    generator = np.random.default_rng(3)
    for size in (2, 3, 4, 5, 6):
        for _ in range(15):
            game = NormalForm.bimatrix(
                generator.random((size, size)), generator.random((size, size + 1))[:, :size]
            )
            compiled, whole = (
                extreme_equilibria(game, engine="numba"),
                extreme_equilibria(game, exact=True),
            )
            assert (compiled.exact, whole.exact, whole.in_integers) == (False, False, True)
            places = [
                np.lexsort(np.hstack([found.x, found.y]).T.round(9)) for found in (compiled, whole)
            ]
            assert compiled.x[places[0]] == pytest.approx(whole.x[places[1]], abs=1e-12)
            assert compiled.y[places[0]] == pytest.approx(whole.y[places[1]], abs=1e-12)


def _rounded(*vectors: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(v) for v in np.round(vector, 9) + 0.0) for vector in vectors)


def test_payoffs_do_where_a_game_is_expected() -> None:
    row, col = [[3, 0], [5, 1]], [[3, 5], [0, 1]]
    for result in (nash(row, col), nash((row, col)), nash(np.array([row, col]))):
        assert [e.supports for e in result.equilibria] == [((1,), (1,))]
    assert nash_one(row, col).payoffs.tolist() == [1.0, 1.0]
    assert regret((row, col), [[1, 0], [1, 0]]).tolist() == [2.0, 2.0]
    with pytest.raises(InvalidGame, match="got a game and a matrix"):
        nash(NormalForm.bimatrix(row, col), col)


def test_nothing_but_strategies_is_computed_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    def count(*_: object) -> dict[tuple[int, int], int]:
        calls.append("indices")
        return {}

    monkeypatch.setattr("bestresponse.theory.equilibria.extremes.compute_indices", count)
    result = nash([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    assert [e.supports for e in result.equilibria] == [((0,), (0,)), ((1,), (1,)), ((0, 1), (0, 1))]
    assert calls == []
    assert len(result.components) == 3
    assert calls == ["indices"]


@pytest.mark.parametrize(
    "engine",
    [
        "numpy",
        pytest.param("numba", marks=pytest.mark.skipif(not has_numba(), reason="needs numba")),
    ],
)
def test_both_engines_list_equilibria_in_the_same_order(engine: Engine) -> None:
    generator = np.random.default_rng(8)
    for size in (3, 4):
        for _ in range(20):
            game = NormalForm(generator.integers(0, 4, (2, size, size)))
            listed = [
                [x.round(9).tolist() for x in e.strategies]
                for e in nash(game, engine=engine).equilibria
            ]
            sizes = [sum(p > 0 for mix in pair for p in mix) for pair in listed]
            assert sizes == sorted(sizes)
            assert listed == [
                [x.round(9).tolist() for x in e.strategies] for e in nash(game).equilibria
            ]


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="engine: expected one of auto, numpy, numba, got 'gpu'"):
        nash([[1]], [[1]], engine="gpu")  # type: ignore[arg-type]


def test_games_far_too_large_are_refused_in_a_short_sentence() -> None:
    with pytest.raises(
        TooLarge, match=r"a 1000x1000 game may have about 10\^\d+ vertices"
    ) as refused:
        nash(np.zeros((2, 1000, 1000)) + np.arange(1000))
    assert len(str(refused.value)) < 250


@pytest.mark.skipif(not has_numba(), reason="needs numba")
def test_a_game_is_not_refused_for_vertices_that_it_might_have_had() -> None:
    # The bound for 15x15 is 682,176 vertices; this game has fewer than an eighth of them.
    result = nash(np.random.default_rng([15, 1]).random((2, 15, 15)), engine="numba")
    assert len(result.equilibria) == 21
    assert result.regret <= 1e-12
    assert sum(e.index or 0 for e in result.equilibria) == 1


def test_the_walk_finds_the_vertices_that_whole_numbers_find_and_gives_up_near_ties() -> None:
    walk = pytest.importorskip("bestresponse.theory.equilibria.vertex_kernels")
    whole = pytest.importorskip("bestresponse.theory.equilibria.integer")
    generator = np.random.default_rng(6)
    clear = 0
    for rows, columns in ((1, 4), (4, 1), (3, 5), (5, 5), (6, 4)):
        for _ in range(10):
            matrix = generator.integers(1, 40, (rows, columns))
            count, masks = walk.walk_vertices(matrix / 40)
            if count >= 0:
                clear += 1
                known = sorted(vertex.basis for vertex in whole.vertices(matrix.tolist()))
                assert sorted(masks[:count]) == known
    assert clear > 20
    cube = np.array([[1.0, 0.25], [0.25, 1.0]])
    assert walk.walk_vertices(cube)[0] == 4
    assert walk.walk_vertices(np.array([[1.0, 0.5], [1.0, 0.25]]))[0] == walk.DOUBT


def test_evolutionary_stability_does_not_depend_on_how_much_mutants_differ() -> None:
    # All earn 0 against the first action. Against a mutant y of the others it earns y_1 + 10^10 y_2
    # > 0, and y earns 0.
    row = np.array([[0, 1, 10**10], [0, 0, 0], [0, 0, 0]])
    first = next(e for e in nash(row, row.T) if e.supports == ((0,), (0,)))
    assert first.evolutionarily_stable is True


@pytest.mark.parametrize("lead", [1e-6, 1e-9, 1e-11, 2e-12, 1e-15, 0.0])
def test_strict_means_the_same_of_an_equilibrium_as_of_a_pure_profile(lead: float) -> None:
    # The first action of the row player leads by so much where the column player plays its first.
    game = NormalForm.bimatrix([[1 + lead, 0], [1, 0.5]], [[1, 0], [0, 1]])
    strict = {
        tuple(support[0] for support in e.supports)
        for e in nash(game)
        if e.kind == "pure" and e.strict
    }
    assert strict == set(pure_nash(game, strict=True))
    assert ((0, 0) in strict) == (lead > 1e-12)


@pytest.mark.parametrize("lead", [1e-15, 1e-14])
def test_what_is_one_of_a_continuum_is_not_strict(lead: float) -> None:
    row = [[1, 0], [1 + lead, lead]]
    for e in nash(NormalForm.bimatrix(row, np.transpose(row))):
        assert not (e.strict and e.in_continuum), e.stability
