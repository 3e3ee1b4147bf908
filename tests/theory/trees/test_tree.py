"""Trees: building, checking, best responses, exact solutions, conversions."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_trees import random_tree

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.games.lookup import find_game
from bestresponse.theory.catalogue.trees import (
    centipede,
    kuhn_poker,
    leduc_poker,
    load_tree,
    tree_entry,
    tree_names,
)
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.perfection.subgame_perfect import subgame_perfect
from bestresponse.theory.trees.sequence_form import (
    counterfactual_values,
    nash_conv,
    policy_regrets,
    policy_value,
    to_sequence_form,
    tree_best_response,
)
from bestresponse.theory.trees.sequence_form_lp import solve_tree
from bestresponse.theory.trees.tree import (
    Chance,
    Leaf,
    Policy,
    Turn,
    build_tree,
    policy_from_table,
    uniform_policy,
)

TURN = "It is your turn. {}."
seeds = st.integers(0, 2**32 - 1)


def pennies():
    """Matching pennies: the second player does not see the first player's coin."""
    odd = {"H": Leaf([1, -1]), "T": Leaf([-1, 1])}, {"H": Leaf([-1, 1]), "T": Leaf([1, -1])}
    return build_tree(
        ["even", "odd"],
        Turn("even", "coin", {"H": Turn("odd", "o", odd[0]), "T": Turn("odd", "o", odd[1])}),
    )


def forgetful():
    """The second move is made without memory of the first."""
    second = {"c": Leaf([1]), "d": Leaf([0])}
    return build_tree(
        ["Al"],
        Turn("Al", "first", {"a": Turn("Al", "second", second), "b": Turn("Al", "second", second)}),
    )


class TestBuilding:
    def test_nodes_stand_in_preorder_with_their_branches(self):
        tree = pennies()
        assert tree.parent.tolist() == [-1, 0, 1, 1, 0, 4, 4]
        assert tree.move.tolist() == [-1, 0, 0, 1, 1, 0, 1]
        assert tree.infoset.tolist() == [0, 1, -1, -1, 1, -1, -1]
        assert tree.payoffs[:, 0].tolist() == [0, 0, 1, -1, 0, -1, 1]
        assert tree.children[0] == (1, 4)
        assert tree.path(5) == "T > H"

    def test_a_tree_cannot_be_changed(self):
        with pytest.raises(ValueError, match="read-only"):
            pennies().payoffs[2, 0] = 7

    @pytest.mark.parametrize(
        ("root", "message"),
        [
            (Leaf([1]), "at the root: expected 2 payoffs, got 1"),
            (Leaf([1, float("nan")]), "expected finite payoffs, got \\[1, nan\\]"),
            (Leaf([1, "2"]), "expected finite payoffs"),
            (Chance({}), "chance has no branch"),
            (
                Chance({"a": (0.5, Leaf([0, 0])), "b": (0.4, Leaf([0, 0]))}),
                "sum to 0.9; expected 1",
            ),
            (Chance({"a": (-0.5, Leaf([0, 0])), "b": (1.5, Leaf([0, 0]))}), "draws 'a' with -0.5"),
            (Turn("x", "i", {}), "x has no move"),
            (Turn("z", "i", {"a": Leaf([0, 0])}), "'z' moves; expected one of x, y"),
            (Turn("x", "i", {"a": 7}), "at a: expected a Leaf, Chance or Turn, got int"),
            (
                Turn(
                    "x",
                    "i",
                    {
                        "a": Turn("y", "j", {"l": Leaf([0, 0])}),
                        "b": Turn("y", "j", {"r": Leaf([0, 0])}),
                    },
                ),
                "at b: the information set 'j' of y offers r here and l before",
            ),
        ],
    )
    def test_a_wrong_description_is_refused_with_its_place(self, root, message):
        with pytest.raises(InvalidGame, match=message):
            build_tree(["x", "y"], root)

    def test_players_need_different_names(self):
        with pytest.raises(InvalidGame, match="different names"):
            build_tree(["x", "x"], Leaf([0, 0]))

    def test_an_endless_game_stops_at_the_limit_and_says_how_far_it_came(self):
        with pytest.raises(TooLarge, match="more than 1000 nodes: stopped after 500 at depth 500"):
            build_tree(
                ["x"], 0, lambda n: Turn("x", str(n), {"on": n + 1, "out": n + 1}), limit=1000
            )

    def test_one_node_with_too_many_moves_stops_before_they_are_expanded(self):
        with pytest.raises(TooLarge, match="stopped after 1 at depth 1 with 5000 more"):
            build_tree(["x"], Turn("x", "i", {str(k): None for k in range(5000)}), limit=1000)

    def test_equal_labels_of_different_information_sets_are_numbered(self):
        last = Turn("x", "2", {"a": Leaf([0])}, label="look")
        tree = build_tree(["x"], Turn("x", "1", {"a": last}, label="look"))
        assert [i.label for i in tree.infosets] == ["look", "look (2)"]


class TestPerfectRecall:
    def test_forgetting_an_own_move_is_refused_and_the_information_set_named(self):
        with pytest.raises(
            InvalidGame, match=r"no perfect recall: Al .* information set 'second' \(a; b\)"
        ):
            to_sequence_form(forgetful())

    def test_meeting_an_information_set_twice_on_one_path_is_refused(self):
        absent_minded = build_tree(
            ["Al"],
            Turn(
                "Al",
                "i",
                {"stay": Turn("Al", "i", {"stay": Leaf([1]), "go": Leaf([4])}), "go": Leaf([0])},
            ),
        )
        with pytest.raises(InvalidGame, match="information set 'i'"):
            to_sequence_form(absent_minded)


class TestPublishedValues:
    def test_kuhn_poker_is_worth_minus_one_eighteenth(self):
        solution = solve_tree(kuhn_poker())
        assert solution.value["player 1"] == pytest.approx(-1 / 18, abs=1e-12)
        assert solution.nash_conv == pytest.approx(0, abs=1e-12)

    def test_leduc_poker_has_its_published_value(self):
        assert solve_tree(leduc_poker()).value["player 1"] == pytest.approx(
            -0.085606424078, abs=1e-11
        )

    @pytest.mark.parametrize(
        ("tree", "expected"),
        [(kuhn_poker(), 11 / 12), (kuhn_poker(3), 2.0625), (leduc_poker(), 4.747222222222)],
        ids=["kuhn", "kuhn-3", "leduc"],
    )
    def test_nash_conv_of_uniform_play(self, tree, expected):
        assert nash_conv(tree, uniform_policy(tree)) == pytest.approx(expected, abs=1e-10)

    def test_kuhn_s_equilibrium_family_has_no_regret(self):
        """Kuhn 1950: bet K three times as often as J; call with Q at alpha + 1/3 (here alpha =
        1/4)."""
        sure, never = {"bet": 1.0}, {"pass": 1.0}
        first = {
            "J": {"bet": 1 / 4, "pass": 3 / 4},
            "Q": never,
            "K": {"bet": 3 / 4, "pass": 1 / 4},
            "J pb": never,
            "Q pb": {"bet": 1 / 4 + 1 / 3, "pass": 3 / 4 - 1 / 3},
            "K pb": sure,
        }
        second = {
            "J b": never,
            "Q b": {"bet": 1 / 3, "pass": 2 / 3},
            "K b": sure,
            "J p": {"bet": 1 / 3, "pass": 2 / 3},
            "Q p": never,
            "K p": sure,
        }
        policy = {"player 1": first, "player 2": second}
        assert nash_conv(kuhn_poker(), policy) == pytest.approx(0, abs=1e-12)
        assert policy_value(kuhn_poker(), policy)["player 2"] == pytest.approx(1 / 18)


class TestBestResponse:
    def test_the_best_response_to_a_policy_that_always_bets(self):
        """J folds (-1), Q calls and wins half the time (0 beats -1), K calls (2): a third of 1."""
        always = {
            "player 1": {i.label: {"bet": 1.0} for i in kuhn_poker().infosets if i.player == 0}
        }
        table = uniform_policy(kuhn_poker()).table() | always
        best = tree_best_response(kuhn_poker(), table, "player 2")
        assert [best.moves[label] for label in ("J b", "Q b", "K b")] == ["pass", "bet", "bet"]
        assert best.value == pytest.approx(1 / 3)

    def test_a_player_who_does_not_exist_is_refused(self):
        with pytest.raises(UsageError, match="'Bob' does not play"):
            tree_best_response(kuhn_poker(), uniform_policy(kuhn_poker()), "Bob")

    def test_regrets_of_one_sided_play_in_matching_pennies(self):
        policy = policy_from_table(
            pennies(), {"even": {"coin": {"H": 1}}, "odd": {"o": {"H": 0.5, "T": 0.5}}}
        )
        assert policy_regrets(pennies(), policy) == {"even": 0, "odd": 1}


class TestPolicies:
    def test_a_policy_can_be_read_by_label_and_as_a_table(self):
        policy = uniform_policy(pennies())
        assert policy.at("odd", "o") == {"H": 0.5, "T": 0.5}
        assert policy_from_table(pennies(), policy.table()).table() == policy.table()

    def test_an_information_set_that_does_not_exist_is_refused(self):
        with pytest.raises(InvalidGame, match="'odd' has no information set 'p'"):
            uniform_policy(pennies()).at("odd", "p")

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ({"even": {"coin": {"H": 1}}}, "odd has no probabilities at the information set 'o'"),
            ({"even": {"coin": {"X": 1}}}, "even has no move 'X' at 'coin'; expected H, T"),
            (
                {"even": {"coin": {"H": 0.4}}, "odd": {"o": {"H": 1}}},
                "sum to 1, got \\[0.4, 0.0\\]",
            ),
            ({"even": {"coin": {"H": 2, "T": -1}}, "odd": {"o": {"H": 1}}}, "even at 'coin'"),
        ],
    )
    def test_a_wrong_table_is_refused(self, table, message):
        with pytest.raises(InvalidGame, match=message):
            policy_from_table(pennies(), table)

    def test_a_policy_of_the_wrong_length_is_refused(self):
        with pytest.raises(InvalidGame, match="expected 4 probabilities"):
            Policy(pennies(), np.ones(3))


class TestSubgamePerfection:
    def test_the_centipede_is_taken_at_once(self):
        found = subgame_perfect(centipede())
        assert found.count == 1
        assert found.equilibria[0].payoffs == {"player 1": 0.4, "player 2": 0.1}
        assert set(found.equilibria[0].moves["player 2"].values()) == {"take"}

    def test_a_long_centipede_is_taken_at_once_however_large_its_end(self):
        assert subgame_perfect(centipede(400)).count == 1

    def test_a_tie_between_a_coin_and_its_mean_is_exact(self):
        """0.1 + 0.2 is not 0.3 in floats; a third of each is a tie with 0.1 all the same."""
        thirds = Chance(
            {"a": (1 / 3, Leaf([0.1])), "b": (1 / 3, Leaf([0.2])), "c": (1 / 3, Leaf([0]))}
        )
        assert (
            subgame_perfect(
                build_tree(["x"], Turn("x", "i", {"sure": Leaf([0.1]), "draw": thirds}))
            ).count
            == 2
        )

    def test_ultimatum_has_two_because_the_responder_is_indifferent_to_nothing(self):
        found = subgame_perfect(find_game("ultimatum").solvable())
        assert found.complete
        assert [
            e.moves["proposer"][TURN.format("Nothing has happened yet")] for e in found.equilibria
        ] == ["0", "1"]
        assert [
            e.moves["responder"][TURN.format("So far: the proposer offered 0 of 10")]
            for e in found.equilibria
        ] == ["accept", "reject"]

    def test_threats_that_are_not_carried_out_are_no_equilibria(self):
        assert subgame_perfect(load_tree("entry-deterrence")).outcomes == (
            {"entrant": 2.0, "incumbent": 2.0},
        )
        trust = find_game("trust").solvable()
        assert subgame_perfect(trust).outcomes == ({"sender": 10.0, "receiver": 10.0},)

    def test_too_many_equilibria_are_counted_and_the_first_is_given(self):
        indifferent = Turn(
            "x",
            "r",
            {str(k): Turn("x", f"i{k}", {"a": Leaf([0]), "b": Leaf([0])}) for k in range(12)},
        )
        found = subgame_perfect(build_tree(["x"], indifferent))
        assert found.count == 12 * 2**12
        assert not found.complete
        assert len(found.equilibria) == 1
        assert set(found.equilibria[0].moves["x"].values()) == {"0", "a"}

    def test_a_coin_between_ties_combines_them(self):
        """Each side of the coin has two equilibria that differ for the other player only: 2 x 2 of
        them."""
        tie = {"a": Leaf([0, 1]), "b": Leaf([0, 3])}
        coin = Chance({"h": (0.5, Turn("x", "h", tie)), "t": (0.5, Turn("x", "t", tie))})
        found = subgame_perfect(build_tree(["x", "y"], coin))
        assert found.count == len(found.equilibria) == 4
        assert [outcome["y"] for outcome in found.outcomes] == [3, 2, 1]

    def test_ties_that_combine_in_too_many_ways_are_refused(self):
        ties = {
            str(k): (1 / 20, Turn("x", str(k), {"a": Leaf([0, 0]), "b": Leaf([0, 2**k])}))
            for k in range(20)
        }
        with pytest.raises(
            TooLarge, match="the ties below the root combine in more than 100000 ways"
        ):
            subgame_perfect(build_tree(["x", "y"], Chance(ties)))

    def test_hidden_information_is_refused(self):
        with pytest.raises(InvalidGame, match="information set of 2 nodes \\('o' of odd\\)"):
            subgame_perfect(pennies())

    @settings(max_examples=40, deadline=None)
    @given(seeds)
    def test_every_listed_equilibrium_is_a_nash_equilibrium(self, seed):
        tree = random_tree(Random(seed), 3, 4, zero_sum=False, perfect_information=True)
        found = subgame_perfect(tree, limit=20)
        outcomes = [tuple(outcome.values()) for outcome in found.outcomes]
        assert len(found.equilibria) == (found.count if found.count <= 20 else 1)
        for equilibrium in found.equilibria[:5]:
            table = {
                p: {i: {m: 1.0} for i, m in moves.items()} for p, moves in equilibrium.moves.items()
            }
            assert nash_conv(tree, table) == pytest.approx(0, abs=1e-9)
            assert any(
                np.allclose(tuple(equilibrium.payoffs.values()), outcome) for outcome in outcomes
            )


class TestNormalForm:
    def test_kuhn_poker_has_27_reduced_strategies_against_64(self):
        assert to_normal_form(kuhn_poker()).shape == (27, 64)

    def test_strategies_that_differ_only_where_they_never_come_are_one(self):
        form = to_normal_form(centipede(4))
        assert form.actions[0] == (
            "move 1: take",
            "move 1: pass; move 3: take",
            "move 1: pass; move 3: pass",
        )
        assert form.payoffs[0].tolist() == [[0.4, 0.4, 0.4], [0.2, 1.6, 1.6], [0.2, 0.8, 6.4]]

    def test_three_players_keep_their_axes(self):
        tree = build_tree(
            ["a", "b", "c"],
            Turn(
                "a",
                "a",
                {
                    "x": Turn("b", "b", {"x": Leaf([1, 2, 3]), "y": Leaf([4, 5, 6])}),
                    "y": Leaf([7, 8, 9]),
                },
            ),
        )
        form = to_normal_form(tree)
        assert form.shape == (2, 2, 1)
        assert form.payoffs[:, 0, 1, 0].tolist() == [4, 5, 6]
        assert form.payoffs[:, 1, 0, 0].tolist() == [7, 8, 9]

    def test_a_large_normal_form_is_refused_with_its_size(self):
        with pytest.raises(TooLarge, match="about 10\\^"):
            to_normal_form(leduc_poker())
        with pytest.raises(TooLarge, match="3456 payoffs \\(27 x 64 reduced strategies"):
            to_normal_form(kuhn_poker(), limit=1000)


class TestCatalogue:
    @pytest.mark.parametrize(
        ("make", "wrong"),
        [(kuhn_poker, 1), (kuhn_poker, 6), (centipede, 0)],
    )
    def test_sizes_that_make_no_game_are_refused(self, make, wrong):
        with pytest.raises(UsageError, match=f"got {wrong}"):
            make(wrong)

    def test_kuhn_poker_for_four_has_one_deck_of_five(self):
        tree = kuhn_poker(4)
        assert len(tree.children[0]) == 120
        assert {infoset.label[0] for infoset in tree.infosets} == set("9TJQK")
        assert tree.is_constant_sum

    def test_every_name_loads_a_tree_of_that_name_with_a_source(self):
        assert list(tree_names()) == sorted(tree_names())
        for name in tree_names():
            assert load_tree(name).name == name
            assert tree_entry(name).citation

    def test_an_unknown_name_is_answered_with_the_nearest(self):
        with pytest.raises(UsageError, match="did you mean 'leduc-poker'"):
            load_tree("leduc")


class TestProperties:
    @settings(max_examples=40, deadline=None)
    @given(seeds)
    def test_solution_of_a_random_zero_sum_tree(self, seed):
        """No regret at the solution, regret at least 0 elsewhere, and the value of the normal
        form."""
        tree = random_tree(Random(seed), depth=4)
        solution = solve_tree(tree)
        assert nash_conv(tree, solution.policy) == pytest.approx(0, abs=1e-8)
        assert nash_conv(tree, uniform_policy(tree)) >= 0
        try:
            form = to_normal_form(tree, limit=200_000)
        except TooLarge:
            return
        assert solution.value["player 1"] == pytest.approx(matrix_value(form.payoffs[0]), abs=1e-8)

    @settings(max_examples=40, deadline=None)
    @given(seeds, st.integers(2, 4))
    def test_a_best_response_earns_what_it_says(self, seed, players):
        tree = random_tree(Random(seed), players, 4, zero_sum=False)
        table = uniform_policy(tree).table()
        best = tree_best_response(tree, table, "player 1")
        table["player 1"] = {label: {move: 1.0} for label, move in best.moves.items()}
        assert policy_value(tree, table)["player 1"] == pytest.approx(best.value, abs=1e-9)

    @settings(max_examples=30, deadline=None)
    @given(seeds)
    def test_expected_payoffs_are_those_of_walking_the_tree(self, seed):
        tree = random_tree(Random(seed), 3, 4, zero_sum=False)
        values = tree.payoffs.copy()
        for node in range(tree.num_nodes - 1, -1, -1):
            below = list(tree.children[node])
            if below:
                chance = (
                    tree.probability[below]
                    if tree.owner[node] == -1
                    else np.full(len(below), 1 / len(below))
                )
                values[node] = chance @ values[below]
        assert list(policy_value(tree, uniform_policy(tree)).values()) == pytest.approx(
            values[0].tolist(), abs=1e-9
        )


def matrix_value(matrix):
    """The value of a zero-sum matrix game by scipy, independent of this library."""
    from scipy.optimize import linprog

    rows, columns = matrix.shape
    goal = np.append(np.zeros(rows), -1.0)
    below = np.hstack([-matrix.T, np.ones((columns, 1))])
    found = linprog(
        goal,
        below,
        np.zeros(columns),
        [[1.0] * rows + [0.0]],
        [1.0],
        [(0, None)] * rows + [(None, None)],
    )
    return -found.fun


def test_counterfactual_values_weigh_a_move_by_how_likely_the_others_let_it_come():
    tree = kuhn_poker()
    values = counterfactual_values(tree, uniform_policy(tree))
    by_label = {tree.infosets[index].label: row.tolist() for index, row in values.items()}
    # The second player holds the king in a third of all deals and is bet to in half of these: 2 for
    # a call, -1 else.
    assert by_label["K b"] == pytest.approx([-1 / 6, 1 / 3])
    # The first player holds the jack and passed: it loses 1 by folding to a bet, 2 by calling.
    assert by_label["J pb"] == pytest.approx([-1 / 6, -1 / 3])


@pytest.mark.parametrize(
    ("payoffs", "constant"),
    [
        ([[3e-10, 3e-10], [0.0, 5e-10]], False),  # sums of 6e-10 and 5e-10
        ([[10**9, 0], [0, 10**9 + 1]], False),  # whole numbers are what they are
        ([[0.1 + 0.2, 0.7], [0.4, 0.6]], True),  # 1.0 but for rounding
    ],
)
def test_a_constant_sum_is_told_from_another_whatever_the_unit_of_payoffs(payoffs, constant):
    left, right = map(Leaf, payoffs)
    assert (
        build_tree(["a", "b"], Turn("a", "choice", {"left": left, "right": right})).is_constant_sum
        is constant
    )
