"""Solved games: every answer is certified, methods agree, and documents hold what the data hold."""

import json
import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_trees import random_tree

from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.document import as_document, drawable, picture_section
from bestresponse.analysis.solve.facts import mix_text, show_records, write_amount
from bestresponse.analysis.solve.solution import CFR_VARIANTS, OBJECTIVES, SolvedTree, Wish
from bestresponse.analysis.solve.solve import (
    exact_value,
    find_equilibria,
    solve_any_tree,
    solve_form,
    solve_loaded_game,
    solve_table,
)
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import LoadedGame, find_game
from bestresponse.report.document import Note
from bestresponse.report.page import render
from bestresponse.theory import (
    NormalForm,
    catalogue,
    load_tree,
    maximin,
    solve_tree,
    to_sequence_form,
    tree_names,
)
from bestresponse.theory.files.nfg import parse_nfg

LARGE = ("leduc-poker", "travelers-dilemma", "beauty-contest")
SMALL = [name for name in (*catalogue.names(), *tree_names()) if name not in LARGE]


def solved(name: str, wish: Wish | None = None):
    return solve_loaded_game(find_game(name), wish)


@pytest.mark.parametrize("name", SMALL)
def test_every_game_of_the_catalogue_is_solved_certified_and_told(name):
    game = find_game(name)
    answer = solve_loaded_game(game)
    data = as_data(game, answer)
    assert data["equilibria"]
    assert data["method"]
    assert data["regret"] <= (1e-3 if "CFR" in data["method"] else 1e-9)
    assert json.loads(json.dumps(data, allow_nan=False))["game"] == name
    document = as_document(game, answer)
    assert json.loads(document.to_json())["title"] == document.title
    assert name in render(document)


def draw_degenerate(seed: int) -> NormalForm:
    """Draw a table with ties for 1 to 5 players, of whom at most three have an undominated choice."""
    generator = np.random.default_rng(seed)
    players = int(generator.integers(1, 6))
    shape = tuple(generator.integers(1, 4, players)) if players < 3 else (2,) * players
    payoffs = generator.integers(0, 2, (players, *shape))
    for player in generator.permutation(players)[int(generator.integers(1, 4)) :]:
        payoffs[player] += 2 * np.indices(shape)[player]
    return NormalForm(payoffs)


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_degenerate_games_of_any_number_of_players_are_told(seed):
    game = LoadedGame("drawn", "file", draw_degenerate(seed))
    answer = solve_table(game.game)
    document = as_document(game, answer)
    assert json.loads(document.to_json())["title"] == "drawn"
    data = as_data(game, answer)
    for component in data["components"]:
        for subset in component["subsets"]:
            sides = zip(subset["players"], (subset["x"], subset["y"]), strict=False)
            for player, corners in sides:
                assert {len(corner) for corner in corners} == {len(data["actions"][player])}


def test_a_component_names_the_two_players_that_elimination_left():
    # A's first action is dominant; then C answers l by anything, and B answers d by anything.
    payoffs = np.zeros((3, 2, 2, 2))
    payoffs[0, 0] = 1.0
    payoffs[1, :, 0, 0] = 1.0
    payoffs[2, :, 1, 1] = 1.0
    names = ("A", "B", "C"), (("x", "y"), ("l", "r"), ("u", "d"))
    game = LoadedGame("rest", "file", NormalForm(payoffs, *names))
    answer = solve_table(game.game)
    (component,) = as_data(game, answer)["components"]
    assert [subset["players"] for subset in component["subsets"]] == [["B", "C"]] * 2
    text = as_document(game, answer).to_json()
    assert "B: {l} x C: {u; d}" in text
    assert "B: {l; r} x C: {d}" in text


@given(
    st.integers(1, 4).flatmap(
        lambda m: st.integers(1, 4).flatmap(
            lambda n: st.lists(
                st.lists(st.integers(-4, 4), min_size=n, max_size=n), min_size=m, max_size=m
            )
        )
    )
)
@settings(max_examples=40, deadline=None)
def test_the_value_of_a_matrix_is_the_same_by_every_method(matrix):
    game = NormalForm.zero_sum(matrix)
    answers = [
        solve_table(game, Wish(method))
        for method in ("auto", "enumeration", "lemke-howson", "zero-sum")
    ]
    assert [a.value.number for a in answers] == pytest.approx(
        [answers[0].value.number] * 4, abs=1e-9
    )
    for answer in answers:
        assert answer.nash.regret <= 1e-9
        assert answer.nash.equilibria[0].payoffs[0] == pytest.approx(answer.value.number, abs=1e-9)
        assert answer.security[0].value == pytest.approx(answer.value.number, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_methods_for_trees_agree_on_random_zero_sum_trees(seed):
    tree = random_tree(Random(seed), depth=4)
    values = [
        solve_any_tree(tree, Wish(method)).value.number
        for method in ("sequence-form", "normal-form", "cfr+")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert values[0] == pytest.approx(values[2], abs=2e-2)


def test_kuhn_poker_is_worth_exactly_minus_one_eighteenth():
    tree = load_tree("kuhn-poker")
    form = to_sequence_form(tree)
    assert exact_value(form, solve_tree(tree).policy) == Fraction(-1, 18)
    assert solved("kuhn-poker").value.exact == Fraction(-1, 18)


def test_security_levels_are_fractions_where_they_can_be_proved():
    battle = solved("battle-of-the-sexes")
    assert [level.exact[0] for level in battle.security] == [Fraction(2, 3), Fraction(2, 3)]
    assert battle.security[0].exact[1] == (Fraction(1, 3), Fraction(2, 3))
    assert maximin(NormalForm.zero_sum([[0.5, 0], [0, 1]]), 0).exact[0] == Fraction(1, 3)
    assert maximin(NormalForm.zero_sum([[0.1, 0], [0, 1]]), 0).exact is None


def test_an_answer_in_large_fractions_is_not_claimed_to_be_exact():
    # The value is 10006 * 10007 / 20013, a fraction with more digits than are guessed.
    assert maximin(NormalForm.zero_sum([[10006, 0], [0, 10007]]), 0).exact is None
    assert solve_table(NormalForm.zero_sum([[10006, 0], [0, 10007]])).value.exact == Fraction(
        10006 * 10007, 20013
    )


def test_a_policy_that_is_no_equilibrium_proves_nothing():
    from bestresponse.theory import uniform_policy

    tree = load_tree("kuhn-poker")
    assert exact_value(to_sequence_form(tree), uniform_policy(tree)) is None


def test_the_normal_form_of_kuhn_poker_has_the_same_value():
    answer = solved("kuhn-poker", Wish("normal-form"))
    assert answer.value.number == pytest.approx(-1 / 18)
    assert answer.table.game.shape == (27, 64)


def test_backward_induction_of_a_zero_sum_tree_gives_its_value():
    from bestresponse.theory import Leaf, Turn, build_tree

    second = {
        first: {move: Leaf([u, -u]) for move, u in zip("lr", ends, strict=True)}
        for first, ends in {"a": (3, 1), "b": (2, 4)}.items()
    }
    tree = build_tree(
        ["max", "min"],
        Turn("max", "top", {f: Turn("min", f, moves) for f, moves in second.items()}),
    )
    answer = solve_any_tree(tree)
    assert answer.value.number == 2
    assert answer.equilibria[0].policy.at("max", "top") == {"a": 0, "b": 1}


def test_many_ties_are_counted_not_listed():
    from bestresponse.theory import Leaf, Turn, build_tree

    def node(depth):
        if depth == 0:
            return Leaf([0])
        return Turn("only", f"d{next(counter)}", {"l": node(depth - 1), "r": node(depth - 1)})

    counter = iter(range(100))
    answer = solve_any_tree(build_tree(["only"], node(4)))
    assert answer.subgame_perfect.count == 2**15
    assert len(answer.equilibria) == 1
    assert "only the first of 32,768 subgame perfect equilibria" in answer.remarks[0]


@pytest.mark.parametrize("seed", range(20))
def test_zero_sum_games_have_no_price_of_anarchy_however_their_welfare_is_rounded(seed):
    answer = solve_table(NormalForm.zero_sum(np.random.default_rng(seed).normal(size=(3, 3))))
    assert answer.efficiency.worst_equilibrium == 0
    assert answer.efficiency.price_of_anarchy is None
    assert answer.efficiency.price_of_stability is None


def test_a_game_of_one_player_is_a_choice():
    answer = solve_table(NormalForm(np.array([[1.0, 3.0, 2.0]])))
    assert answer.nash.equilibria[0].supports == ((1,),)


def test_every_variant_of_cfr_and_every_objective_can_be_asked_for():
    from typing import get_args

    from bestresponse.theory.correlation.equilibria import Objective
    from bestresponse.theory.trees.cfr import Variant

    assert get_args(Variant) == CFR_VARIANTS
    assert get_args(Objective) == OBJECTIVES


def test_a_method_that_does_not_exist_is_refused_at_once():
    with pytest.raises(UsageError, match="there is no method 'guess'"):
        Wish("guess")


def test_large_general_games_fall_back_to_one_path():
    payoffs = np.random.default_rng(4).normal(size=(2, 40, 40))
    found = find_equilibria(NormalForm(payoffs), Wish())
    assert not found.complete
    assert found.method == "pure strategies and Lemke-Howson along a short path"
    assert found.regret < 1e-9


def test_a_registered_game_in_the_form_of_a_table_is_solved_as_one():
    from bestresponse.games.matrix.game import MatrixGame

    game = MatrixGame(NormalForm.zero_sum([[2, 0], [0, 1]], name="mine"))
    assert solve_loaded_game(LoadedGame("mine", "registered", game)).value.exact == Fraction(2, 3)


def test_small_trees_are_drawn_and_large_ones_are_not():
    tree = drawable(load_tree("entry-deterrence"))
    (figure,) = picture_section(tree).blocks
    assert b"entrant" in figure.image
    with pytest.raises(UsageError, match="leduc-poker cannot be drawn"):
        drawable(load_tree("leduc-poker"))


def test_numbers_are_short_and_fractions_stay_fractions():
    assert write_amount(-0.0) == "0"
    assert write_amount(1 / 3) == "0.333333"
    assert write_amount(0.1, "1/10") == "1/10"
    assert write_amount(0.123456, "123456/1000001") == "0.123456"


def test_long_mixtures_are_cut():
    assert mix_text({f"a{k}": 0.05 for k in range(20)}).endswith("0.05 a11 + 8 more actions")


def test_trees_carry_either_policies_or_a_table():
    answer = solved("kuhn-poker-3", Wish(iterations=10))
    assert isinstance(answer, SolvedTree)
    assert answer.table is None
    assert answer.cfr.iterations == 10
    assert "this is not close to an equilibrium" in " ".join(answer.remarks)


def test_every_answer_says_of_which_concept_all_equilibria_are_listed():
    def extent(game, method="auto"):
        answer = solve_form(game, Wish(method))
        data = as_data(LoadedGame("given", "file", game), answer)
        notes = [
            block.text
            for part in as_document(LoadedGame("given", "file", game), answer).sections
            for block in part.blocks
            if isinstance(block, Note) and block.text.startswith("Method")
        ]
        return (
            data["complete"],
            data["complete_for"],
            notes[0].split("; ", 1)[1].split(". Largest")[0],
        )

    battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    assert extent(battle) == (True, ["Nash", "pure Nash"], "all Nash equilibria")
    flat = NormalForm.bimatrix([[1, 1], [1, 1]], [[1, 1], [1, 1]])
    sets = "all extreme Nash equilibria, with the sets they span"
    assert extent(flat) == (True, ["extreme Nash", "pure Nash"], sets)
    pure = "all pure Nash equilibria; mixed equilibria were not searched"
    assert extent(battle, "pure") == (False, ["pure Nash"], pure)
    paths = "all pure Nash equilibria; there may be more mixed ones"
    assert extent(battle, "lemke-howson") == (False, ["pure Nash"], paths)
    entry = "all pure subgame perfect equilibria; other Nash equilibria were not searched"
    assert extent(load_tree("entry-deterrence")) == (False, ["pure subgame perfect"], entry)
    assert extent(load_tree("entry-deterrence"), "normal-form")[:2] == (
        True,
        ["extreme Nash", "pure Nash"],
    )
    assert extent(load_tree("kuhn-poker")) == (False, [], "not necessarily all equilibria")


def test_a_tree_solved_as_a_table_gives_policies_too():
    tree = load_tree("entry-deterrence")
    data = as_data(
        LoadedGame("entry", "catalogue", tree), solve_any_tree(tree, Wish("normal-form"))
    )
    assert data["equilibria"][0]["policy"]["entrant"]["market"] == {"out": 1.0, "in": 0.0}
    assert set(data["equilibria"][0]) >= {"strategies", "policy", "payoffs", "regret"}


def test_the_search_for_mixed_equilibria_of_several_players_ends_with_the_time_given():
    # In this one no action is dominated, so that elimination does not solve a part of it.
    game = NormalForm(np.random.default_rng(6).random((3, 3, 3, 3)))
    stopped = solve_table(game, Wish(seconds=0.0))
    assert not stopped.nash.mixed_searched
    assert stopped.nash.complete_for == ("pure Nash",)
    assert solve_table(game, Wish(seconds=math.inf)).nash.complete_for == ("Nash", "pure Nash")


def test_a_table_of_thousands_of_equal_actions_is_solved_without_comparing_each_with_each():
    names = " ".join(['"s"'] * 3000)
    game = parse_nfg(
        f'NFG 1 R "x" {{ "a" "b" }} {{ {{ {names} }} {{ "t" }} }}\n\n{"1 2 " * 3000}\n', "long"
    )
    solved = solve_table(game)
    assert [one.kind for one in solved.nash.equilibria] == ["pure"]
    assert solved.elimination is None
    assert (
        "dominance, efficiency and kind are left out above 20,000 cells or 200 actions"
        in solved.remarks
    )


def test_equilibria_that_look_alike_are_one_row_with_all_their_numbers():
    same = {"kind": "pure", "payoffs": {"a": 1.0, "b": 2.0}}
    table = show_records([same, same, {**same, "kind": "mixed"}, same], ["a", "b"], "Equilibria")
    assert table.rows == (("1-2, 4", "pure", "1, 2"), (3, "mixed", "1, 2"))
