"""More than two players: pure equilibria, mixed ones by profiles of supports, one by tracing; each
with its certificate."""

from fractions import Fraction
from itertools import combinations, product
from math import inf, prod

import numpy as np
import pytest
from daily import share_out
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory import NormalForm, nash, nash_one, pure_nash, quantal_branch, regret
from bestresponse.theory.deadline import NEVER
from bestresponse.theory.equilibria.many_players import search
from bestresponse.theory.equilibria.many_players.certify import certify
from bestresponse.theory.equilibria.many_players.equations import scale_by_player, worst_regret
from bestresponse.theory.equilibria.many_players.subdivision import (
    guess_roots,
    make_systems,
    solve_systems,
)
from bestresponse.theory.equilibria.many_players.tracing import trace_to_equilibrium


def coordination(players: int) -> NormalForm:
    """Everybody earns 1 if all do the same, else 0."""
    same = np.zeros((2,) * players)
    same[(0,) * players] = same[(1,) * players] = 1.0
    return NormalForm(np.stack([same] * players))


def test_three_player_coordination_has_two_pure_and_one_mixed_equilibrium() -> None:
    result = nash(coordination(3), seconds=inf)
    assert [e.supports for e in result.equilibria] == [((0,),) * 3, ((1,),) * 3, ((0, 1),) * 3]
    assert result.equilibria[2].strategies[0] == pytest.approx([0.5, 0.5])
    assert result.complete
    assert [e.index for e in result.equilibria] == [1, 1, -1]
    assert result.regret < 1e-12


def test_the_irrational_equilibrium_of_the_volunteers_dilemma_is_found() -> None:
    # Volunteer's dilemma (Diekmann 1985): benefit 1 if somebody volunteers at cost c; all abstain
    # with probability c ** (1 / (n - 1)).
    volunteers = np.indices((2, 2, 2))
    helped = (volunteers.sum(axis=0) > 0).astype(float)
    payoffs = np.stack([helped - 0.5 * volunteers[i] for i in range(3)])
    result = nash(NormalForm(payoffs))
    mixed = [e for e in result.equilibria if all(len(s) == 2 for s in e.supports)]
    assert len(mixed) == 1
    assert mixed[0].strategies[0][0] == pytest.approx(np.sqrt(0.5))
    assert len(result.pure) == 3


def test_three_player_matching_pennies_is_uniform_and_found_by_tracing() -> None:
    # Jordan (1993): player 1 wants to match 2, 2 to match 3, 3 to differ from 1; the only
    # equilibrium is uniform.
    a, b, c = np.indices((2, 2, 2))
    game = NormalForm(np.stack([a == b, b == c, c != a]).astype(float))
    assert pure_nash(game) == ()
    assert nash_one(game).strategies[1] == pytest.approx([0.5, 0.5])
    assert [e.strategies[2].tolist() for e in nash(game).equilibria] == [pytest.approx([0.5, 0.5])]


def test_one_player_just_takes_its_best_actions() -> None:
    result = nash(NormalForm(np.array([[1.0, 3.0, 3.0]])))
    assert [e.supports for e in result.pure] == [((1,),), ((2,),)]


def test_dominated_actions_are_removed_before_the_search() -> None:
    given_by = np.indices((2, 2, 2))
    payoffs = np.stack([given_by.sum(axis=0) - 2.0 * given_by[i] for i in range(3)])
    result = nash(NormalForm(payoffs))
    assert [e.supports for e in result.equilibria] == [((0,), (0,), (0,))]
    assert result.method == "iterated elimination"
    assert result.complete


def test_a_game_too_large_for_mixed_equilibria_says_so() -> None:
    with pytest.raises(TooLarge, match=r"8x8x8x8x8x8x8 game has 2,097,152 cells"):
        nash(NormalForm(np.zeros((7, *(8,) * 7))))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**4))
def test_random_three_player_games_have_certified_equilibria_among_them_all_pure_ones(
    seed: int,
) -> None:
    game = NormalForm(np.random.default_rng(seed).random((3, 2, 2, 2)))
    result = nash(game)
    assert result.equilibria
    assert all(regret(game, e.strategies).max() < 1e-9 for e in result.equilibria)
    assert {tuple(s[0] for s in e.supports) for e in result.pure} == set(pure_nash(game))


@pytest.mark.parametrize("seed", range(5))
def test_tracing_ends_at_an_equilibrium(seed: int) -> None:
    payoffs = scale_by_player(NormalForm(np.random.default_rng(seed).random((3, 3, 3, 3))))
    found = trace_to_equilibrium(payoffs)
    assert found is not None
    assert worst_regret(payoffs, found) < 1e-9


def test_where_the_branch_gets_lost_the_search_finds_an_equilibrium(monkeypatch) -> None:
    # One wants to match the next, the next to differ: nobody's pure reply is stable.
    cells = np.indices((2, 2, 2))
    matches = [cells[0] == cells[1], cells[1] != cells[2], cells[2] == cells[0]]
    cycle = NormalForm(np.array(matches, dtype=float))
    assert pure_nash(cycle) == ()
    monkeypatch.setattr(search, "trace_to_equilibrium", lambda payoffs, deadline: None)
    assert [mix.tolist() for mix in nash_one(cycle).strategies] == [[0.5, 0.5]] * 3


def test_one_equilibrium_of_two_players_is_pure_where_it_can_be() -> None:
    assert nash_one(NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])).supports == (
        (0,),
        (0,),
    )
    assert nash_one(NormalForm.zero_sum([[1, -1], [-1, 1]])).supports == ((0, 1), (0, 1))


def equilibria_of_2x2x2(payoffs: np.ndarray) -> list[tuple[float, float, float]]:
    """The probabilities of every player's first action in all equilibria, in closed form.

    What player i's first action earns more is a + b y + c z + d y z in the others' probabilities y,
    z. Where all mix, two of the three equations give y and z as functions of x, and the third
    becomes quadratic.
    """
    found = [tuple(1.0 - a for a in cell) for cell in pure_nash(NormalForm(payoffs))]
    lead = []
    for i in range(3):
        t = np.moveaxis(payoffs[i], i, 0)
        g = (t[0] - t[1]).astype(float).tolist()
        lead.append(
            (g[1][1], g[0][1] - g[1][1], g[1][0] - g[1][1], g[0][0] - g[0][1] - g[1][0] + g[1][1])
        )

    def earns_more(i: int, y: float, z: float) -> float:
        a, b, c, d = lead[i]
        return a + b * y + c * z + d * y * z

    for i, (j, k) in enumerate([(1, 2), (0, 2), (0, 1)]):  # player i is pure, j and k mix
        for own in (0.0, 1.0):
            # the lead of j depends on (i, k) in their order, that of k on (i, j)
            (aj, bj, cj, dj), (ak, bk, ck, dk) = lead[j], lead[k]
            bj, cj = (bj, cj) if i < k else (cj, bj)
            bk, ck = (bk, ck) if i < j else (ck, bk)
            of_k, of_j = -(aj + bj * own) / (cj + dj * own), -(ak + bk * own) / (ck + dk * own)
            profile = [0.0, 0.0, 0.0]
            profile[i], profile[j], profile[k] = own, of_j, of_k
            gain = earns_more(i, of_j, of_k)
            if 0 < of_j < 1 and 0 < of_k < 1 and (gain > 0) == (own == 1.0):
                found.append(tuple(profile))
    (a1, b1, c1, d1), (a2, b2, c2, d2), (a3, b3, c3, d3) = lead
    # lead 1 (y, z) = 0 gives z = -(a1 + b1 y) / (c1 + d1 y); lead 3 (x, y) = 0 gives x = -(a3 + c3
    # y) / (b3 + d3 y)
    z, under_z = np.poly1d([-b1, -a1]), np.poly1d([d1, c1])
    x, under_x = np.poly1d([-c3, -a3]), np.poly1d([d3, b3])
    equation = a2 * under_x * under_z + b2 * x * under_z + c2 * z * under_x + d2 * x * z
    for y in equation.roots:
        if abs(y.imag) < 1e-9:
            mix = (x(y.real) / under_x(y.real), y.real, z(y.real) / under_z(y.real))
            if all(0 < p < 1 for p in mix):
                found.append(mix)
    return found


def test_all_equilibria_of_three_players_with_two_actions_are_those_of_an_independent_closed_form() -> (
    None
):
    for k in range(300):
        payoffs = np.random.default_rng([222, k]).integers(0, 10**6, (3, 2, 2, 2))
        result = nash(payoffs)
        found = sorted(tuple(float(x[0]) for x in e.strategies) for e in result.equilibria)
        assert result.complete
        assert np.array(found) == pytest.approx(
            np.array(sorted(equilibria_of_2x2x2(payoffs))), abs=1e-8
        )


def test_the_indices_of_all_equilibria_sum_to_one() -> None:
    for k in range(2):
        result = nash(
            np.random.default_rng([3, 3, 3, k]).random((3, 3, 3, 3)), engine="numpy", seconds=inf
        )
        assert result.complete
        assert sum(e.index for e in result.equilibria) == 1


@pytest.mark.parametrize("shape", [(3, 3, 3), (2, 2, 2, 2), (4, 3, 2)])
def test_guesses_find_the_mixed_equilibria_that_boxes_prove_to_be_all(shape) -> None:
    noise = np.random.default_rng([5, *shape]).random((len(shape), *shape))
    alike = [len(set(cell)) == 1 for cell in np.ndindex(*shape)]
    payoffs = scale_by_player(NormalForm(np.reshape(alike, shape) + noise / 9))
    found = 0
    for sizes in ((2,) * len(shape), shape):
        choices = [list(combinations(range(m), k)) for m, k in zip(shape, sizes, strict=True)]
        systems = make_systems(payoffs, list(product(*choices)))
        roots = solve_systems(systems, NEVER)
        assert roots.proved.all()
        guessed = [(k, root.round(6).tolist()) for k, root in guess_roots(systems, NEVER)]
        known = {(k, tuple(root.round(6))) for k, root in roots.found}
        assert sorted(guessed) == sorted((k, list(root)) for k, root in known)
        found += len(known)
    assert found >= 1


def test_systems_too_large_for_a_proof_are_guessed_and_not_called_complete() -> None:
    # Everybody earns 1 where all do the same: who does one of four things, all alike, is at 1/4.
    same = np.zeros((3, 4, 4, 4))
    same[:, range(4), range(4), range(4)] = 1
    (found,) = guess_roots(make_systems(same, [(tuple(range(4)),) * 3]), NEVER)
    assert found[1] == pytest.approx([0.25] * 9)
    result = nash(np.random.default_rng([4, 4, 3]).random((3, 4, 4, 3)), seconds=inf)
    assert result.method == "pure search, support enumeration with subdivision and guesses"
    assert not result.complete
    assert sum(e.index for e in result) == 1


def test_points_of_a_continuum_are_marked_and_only_isolated_equilibria_are_claimed_to_be_complete() -> (
    None
):
    # Two players are paid alike whatever they do, so every mixture of theirs is in some
    # equilibrium.
    game = np.zeros((3, 2, 2, 2))
    game[0, 0] = [[1, 0], [0, 1]]
    result = nash(game)
    assert result.degenerate
    assert not result.complete
    assert result.complete_for == ("isolated Nash", "pure Nash")
    assert all(e.in_continuum for e in result.equilibria)
    assert all(e.stability == "one of a continuum" for e in result.equilibria)
    regular = nash(np.random.default_rng(4).random((3, 2, 2, 2)))
    assert not any(e.in_continuum for e in regular.equilibria)
    assert not regular.degenerate


def test_a_curve_of_completely_mixed_equilibria_is_seen_with_its_ends() -> None:
    # Nau, Gomez Canovas and Hansen 2004, section 5: the third plays 1/4 and 2 x y = 3 (1 - x) (1 -
    # y), from (1, 0) to (0, 1); and at both ends the third may play its first action with anything
    # from 1/4 on.
    game = np.zeros((3, 2, 2, 2))
    game[0, 1, 0, 0] = game[1, 0, 1, 0] = game[2, 1, 1, 1] = 3
    game[2, 0, 0, 0], game[0, 0, 0, 1], game[1, 0, 0, 1] = 2, 1, 1
    continua = nash(game).continua
    assert [one.dimension for one in continua] == [1, 1, 1]
    x, y, z = (mix[0] for mix in continua[-1].inner)
    assert (z, 2 * x * y) == (pytest.approx(0.25), pytest.approx(3 * (1 - x) * (1 - y)))
    assert 0.2 < x < 0.8
    ends = sorted([[float(mix[0]) for mix in end] for end in continua[-1].ends])
    assert ends == [pytest.approx([0, 1, 0.25]), pytest.approx([1, 0, 0.25])]
    sides = [sorted(float(end[2][0]) for end in one.ends) for one in continua[:-1]]
    assert sides == [pytest.approx([0.25, 1])] * 2


def test_a_square_of_equilibria_has_two_dimensions() -> None:
    # Only the first player's choice matters, and the first is paid for its first action by nobody
    # else's.
    game = np.zeros((3, 2, 2, 2))
    game[0, 0] = 1
    assert max(one.dimension for one in nash(game).continua) == 2


def test_without_time_the_answer_says_what_was_not_searched() -> None:
    a, b, c = np.indices((3, 3, 3))
    pennies = NormalForm(np.stack([a == b, b == c, c != a]).astype(float))
    result = nash(pennies, seconds=0.0)
    assert not result.complete
    assert not result.mixed_searched
    assert result.method == "pure search, logit tracing"
    assert result.equilibria[0].strategies[0] == pytest.approx([1 / 3] * 3)


def test_all_equilibria_of_a_game_with_hundreds_of_supports_are_found() -> None:
    result = nash(np.random.default_rng([3, 0]).random((3, 5, 3, 2)), engine="numpy", seconds=inf)
    assert result.complete
    assert result.method == "pure search, support enumeration with subdivision"
    assert any(e.kind == "mixed" for e in result.equilibria)
    assert result.regret <= 1e-9


def test_one_equilibrium_can_be_asked_for_by_method() -> None:
    game = NormalForm(np.random.default_rng(3).random((3, 3, 3, 3)))
    assert nash_one(game, method="logit").regret < 1e-9
    with pytest.raises(UsageError, match="expected one of auto, logit, got 'magic'"):
        nash_one(game, method="magic")
    with pytest.raises(UsageError, match="is for more than two players"):
        nash_one([[1, 0], [0, 1]], [[1, 0], [0, 1]], method="logit")


def test_closed_form_gives_fractions_where_roots_are_rational() -> None:
    cells = np.array([[[1, 0], [0, 0]], [[0, 0], [0, 4]]])
    result = nash(np.stack([cells] * 3))
    assert result.method == "closed form, exact"
    assert result.complete
    third, rest = Fraction(1, 3), Fraction(2, 3)
    assert result.equilibria[-1].exact == ((rest, third),) * 3


def test_of_a_strict_equilibrium_and_a_continuum_only_the_strict_one_is_not_marked() -> None:
    # Everybody earns 1 where all play the second action, else 0: two who play the first leave the
    # third no gain.
    game = np.zeros((3, 2, 2, 2))
    game[:, 1, 1, 1] = 1
    result = nash(game)
    assert result.complete_for == ("isolated Nash", "pure Nash")
    assert [e.supports for e in result.equilibria if not e.in_continuum] == [((1,), (1,), (1,))]


def exact_gains(game: NormalForm, exact: tuple[tuple[Fraction, ...], ...]) -> list[Fraction]:
    """What every player could gain, cell by cell in fractions."""
    gains = []
    for player, actions in enumerate(game.shape):
        earned = [Fraction(0)] * actions
        for cell in np.ndindex(*game.shape):
            others = [exact[j][a] for j, a in enumerate(cell) if j != player]
            earned[cell[player]] += prod(others) * Fraction(game.given[player][cell])
        gains.append(max(earned) - sum(p * u for p, u in zip(exact[player], earned, strict=True)))
    return gains


def test_a_loss_of_one_beside_payoffs_of_ten_billion_makes_no_equilibrium() -> None:
    big = 10**10
    cells = """
        2 0 0 B   0 1 0 0   0 0 0 B   1 0 0 B   0 2 2 0   2 1 0 1   2 2 0 2   B 0 1 2
        2 B 0 2   1 2 1 1   0 1 2 B   1 1 2 2   1 B 2 B   B B 2 2   0 2 B 0   B 1 B 2
    """
    numbers = [big if word == "B" else int(word) for word in cells.split()]
    payoffs = np.array(numbers, dtype=object).reshape(2, 2, 2, 2, 4).transpose(4, 3, 2, 1, 0)
    game = NormalForm(payoffs)
    assert pure_nash(game) == ((1, 0, 1, 1),)
    for cell in np.ndindex(2, 2, 2, 2):
        certified = certify(game, tuple(np.eye(2)[a] for a in cell))
        assert (certified is not None) == (cell == (1, 0, 1, 1))


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ((0, 1, 2, 10**10), (2, 2, 2, 2)),
        ((0, 1, 2**60, 2**60 + 1), (3, 2, 2)),
        ((0, 1, -3, 10**13), (3, 2, 2)),
    ],
)
def test_whatever_the_range_of_exact_payoffs_what_is_listed_is_an_equilibrium(
    values, shape
) -> None:
    drawn = np.random.default_rng([0, *shape]).integers(0, 4, (len(shape), *shape))
    game = NormalForm(np.array(values, dtype=object)[drawn])
    result = nash(game, engine="numpy", seconds=2)
    assert {tuple(s[0] for s in e.supports) for e in result.pure} == set(pure_nash(game))
    for e in result.equilibria:
        if e.exact is None:
            assert regret(game, e.strategies).max() <= 1e-15 * np.ptp(game.payoffs)
        else:
            assert exact_gains(game, e.exact) == [0] * len(shape)


def test_a_candidate_next_to_an_equilibrium_is_moved_to_it_and_one_that_is_none_is_refused() -> (
    None
):
    a, b, c = np.indices((2, 2, 2))
    game = NormalForm(np.stack([a == b, b == c, 3 * (c != a)]).astype(int))
    near = (np.array([0.5 + 1e-8, 0.5 - 1e-8]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    assert certify(game, near).exact == ((Fraction(1, 2), Fraction(1, 2)),) * 3
    assert certify(game, (np.array([1.0, 0.0]),) * 3) is None
    assert certify(NormalForm(game.payoffs * 0.1), (np.array([1.0, 0.0]),) * 3) is None


def test_a_probability_of_one_in_ten_billion_is_a_mixed_equilibrium_and_not_a_pure_one() -> None:
    # Player 2 is indifferent where 1 plays a1 with 10^-13; player 1 mixes as matching pennies, 3
    # does nothing.
    big = 10**13
    row, col = [[1, 0], [0, 1]], [[0, 1], [big, 1]]
    payoffs = np.zeros((3, 2, 2, 2), dtype=object)
    payoffs[0, :, :, 0] = payoffs[0, :, :, 1] = row
    payoffs[1, :, :, 0] = payoffs[1, :, :, 1] = col
    payoffs[2, :, :, 0] = 1
    candidate = (np.array([1 - 1e-13, 1e-13]), np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    exact = certify(NormalForm(payoffs), candidate).exact
    assert exact == (
        (1 - Fraction(1, big), Fraction(1, big)),
        (Fraction(1, 2), Fraction(1, 2)),
        (1, 0),
    )


@pytest.mark.parametrize("seed", range(30))
def test_degenerate_games_list_no_false_equilibrium_and_all_pure_ones(seed: int) -> None:
    payoffs = np.random.default_rng([7, seed]).integers(0, 3, (3, 2, 2, 2))
    result = nash(payoffs)
    assert result.regret <= 1e-12
    assert {tuple(s[0] for s in e.supports) for e in result.pure} == set(
        pure_nash(NormalForm(payoffs))
    )
    if result.complete:
        assert not any(e.in_continuum for e in result.equilibria)


def test_the_rounding_of_a_point_of_a_continuum_is_no_other_equilibrium():
    # The third player is indifferent, whatever it does: numbers some units in the last place from
    # 1/2 stand for 1/2.
    pure, rounded = np.eye(2)[0], np.array([0.5 - 2**-53, 0.5 + 2**-53])
    certified = certify(NormalForm(np.zeros((3, 2, 2, 2))), (pure, pure, rounded))
    assert certified is not None
    assert certified.exact == ((1, 0), (1, 0), (Fraction(1, 2), Fraction(1, 2)))


def test_the_curves_that_equilibria_lie_on_are_followed_for_no_longer_than_there_is_time() -> None:
    # Nobody ever earns anything, so all twelve cells are equilibria, on curves that lead from one
    # to the other.
    game = NormalForm(np.zeros((3, 3, 2, 2)))
    assert nash(game, seconds=1).continua
    hasty = nash(game, seconds=0)
    assert {e.supports for e in hasty.equilibria if e.kind == "pure"} == {
        ((a,), (b,), (c,)) for a in range(3) for b in range(2) for c in range(2)
    }
    assert hasty.continua == ()
    assert not hasty.complete


def dominant_third(row: list[list[int]], col: list[list[int]]) -> NormalForm:
    """A two-player game beside a third player whose second action is worth 1 more, always.

    Where the third plays its first, everything is different for the others.
    """
    payoffs = np.zeros((3, len(row), len(row[0]), 2), dtype=int)
    payoffs[0, :, :, 1] = row
    payoffs[1, :, :, 1] = col
    payoffs[0, :, :, 0] = -np.array(row)
    payoffs[1, :, :, 0] = 7
    payoffs[2, :, :, 1] = 1
    return NormalForm(payoffs)


def test_where_one_of_three_players_has_a_dominant_action_the_two_others_game_is_solved() -> None:
    # Chicken: by hand, each mixes where the other gains nothing, 2/3 * 0 + 1/3 * 7 = 2/3 * 2 + 1/3.
    result = nash(dominant_third([[0, 7], [2, 6]], [[0, 2], [7, 6]]))
    third, rest = Fraction(1, 3), Fraction(2, 3)
    assert result.complete
    assert result.complete_for == ("Nash", "pure Nash")
    assert [e.exact for e in result] == [
        ((1, 0), (0, 1), (0, 1)),
        ((0, 1), (1, 0), (0, 1)),
        ((third, rest), (third, rest), (0, 1)),
    ]
    assert [e.index for e in result] == [1, 1, -1]
    assert result[2].exact_payoffs == (Fraction(14, 3), Fraction(14, 3), 1)
    assert result.regret == 0


def test_a_game_that_dominance_solves_gives_its_equilibrium_as_fractions() -> None:
    given_by = np.indices((2, 2, 2))
    payoffs = np.stack([given_by.sum(axis=0) - 2 * given_by[i] for i in range(3)])
    (only,) = nash(payoffs)
    assert only.exact == ((1, 0), (1, 0), (1, 0))
    assert only.exact_payoffs == (0, 0, 0)
    assert only.strict


def test_the_components_of_the_two_players_left_are_those_of_the_game() -> None:
    # The column player's actions are worth the same to it where the row player plays its first,
    # which the row player likes best against the first: one segment, from (1, 0) to (1/2, 1/2).
    result = nash(dominant_third([[2, 0], [1, 1]], [[3, 3], [3, 0]]))
    assert result.complete
    assert result.complete_for == ("extreme Nash", "pure Nash")
    assert [e.exact[1] for e in result] == [(1, 0), (Fraction(1, 2), Fraction(1, 2))]
    assert all(e.in_continuum for e in result)
    (component,) = result.components
    assert component.equilibria == result.equilibria
    (line,) = result.continua
    assert line.dimension == 1
    assert [end[1].tolist() for end in line.ends] == [[1.0, 0.0], [0.5, 0.5]]


def test_of_one_player_who_is_left_every_mixture_is_an_equilibrium() -> None:
    payoffs = np.zeros((3, 2, 2, 2), dtype=int)
    payoffs[0, 1] = payoffs[1, :, 1] = 1  # the third earns nothing, whatever happens
    result = nash(payoffs)
    assert result.complete
    assert [e.exact for e in result] == [((0, 1), (0, 1), (1, 0)), ((0, 1), (0, 1), (0, 1))]
    assert [one.dimension for one in result.continua] == [1]


@pytest.mark.parametrize("shape", [(3, 3, 3), (2, 2, 2, 2), (4, 3, 2), (2, 2, 2, 2, 2)])
def test_games_of_several_players_are_solved_completely_and_say_by_what(shape) -> None:
    payoffs = np.random.default_rng([11, *shape]).integers(0, 10**6, (len(shape), *shape))
    result = nash(payoffs, seconds=inf)
    assert result.complete
    assert result.method == "pure search, support enumeration with subdivision"
    assert sum(e.index for e in result) == 1


@pytest.mark.parametrize("drawn", share_out([(201, (3, 2, 2), 3), (94, (3, 3, 3), 2)], parts=2))
def test_a_branch_in_flat_corners_ends_where_it_leads(drawn) -> None:
    seed, shape, top = drawn
    # Ties make these branches too flat to be followed to precision 10^7; at 10^3 they are near their ends.
    payoffs = np.random.default_rng(seed).integers(0, top, (3, *shape))
    end = nash_one(payoffs, method="logit")
    assert end.regret < 1e-9
    near = quantal_branch(payoffs, 1e3 / (top - 1)).final.strategies
    assert np.concatenate(end.strategies) == pytest.approx(np.concatenate(near), abs=2e-2)
