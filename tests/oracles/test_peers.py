"""What Nashpy, QuantEcon.py, OpenSpiel and Gambit say of drawn games, kept as data, against our answers.

`peers/make_answers.py` made the files; `peers/versions.json` says who answered. Numbers of theirs
are floats, so that answers count as equal within 1e-6.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bestresponse.theory import (
    NormalForm,
    nash,
    nash_one,
    pure_nash,
    quantal_response,
    solve_zero_sum_game,
    to_normal_form,
)
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.files.nfg import format_nfg, parse_nfg
from bestresponse.theory.trees.sequence_form_lp import solve_tree

PEERS = Path(__file__).parent / "peers"


def read(name: str) -> Iterator[dict]:
    for line in (PEERS / name).read_text().splitlines():
        yield json.loads(line)


def as_rows(pairs: list[list[list[float]]]) -> list[np.ndarray]:
    return [np.concatenate([np.array(mix) for mix in pair]) for pair in pairs]


def is_among(point: np.ndarray, points: list[np.ndarray]) -> bool:
    return any(np.abs(point - other).max() < 1e-6 for other in points)


NASHPY_MISSES = {24, 124, 144, 189}
"""Games of three equilibria, by QuantEcon.py too, of which the support enumeration
of Nashpy 0.0.43 lists one; its vertex enumeration lists all."""


@pytest.mark.parametrize("peer", ["nashpy", "quantecon"])
def test_all_equilibria_that_others_list_are_listed_here_and_the_same_number(peer: str) -> None:
    compared = 0
    differ = set()
    for number, case in enumerate(read("tables.jsonl")):
        result = nash(case["row"], case["col"])
        # In a degenerate game others may list points that are not extreme, or only some.
        if case[peer] is None or result.degenerate:
            continue
        ours = as_rows([e.strategies for e in result])
        theirs = as_rows(case[peer])
        assert all(is_among(point, ours) for point in theirs), case
        if len(ours) != len(theirs):
            differ.add(number)
        compared += 1
    assert compared == {"nashpy": 175, "quantecon": 221}[peer]
    assert differ == (NASHPY_MISSES if peer == "nashpy" else set())


def test_no_equilibrium_of_a_degenerate_game_that_others_list_is_outside_our_components() -> None:
    compared = 0
    for case in read("tables.jsonl"):
        if case["quantecon"] is None:
            continue
        result = nash(case["row"], case["col"])
        if not result.degenerate:
            continue
        subsets = [subset for one in result.components for subset in one.subsets]
        rows = len(case["row"])
        for point in as_rows(case["quantecon"]):
            x, y = point[:rows], point[rows:]
            inside = any(is_mixture(x, s.x) and is_mixture(y, s.y) for s in subsets)
            assert inside, case
        compared += 1
    assert compared >= 30


def is_mixture(point: np.ndarray, corners: np.ndarray) -> bool:
    """Say whether a point is a convex combination of corners, by nonnegative least squares."""
    from scipy.optimize import nnls

    matrix = np.vstack([corners.T, np.ones(len(corners))])
    return bool(nnls(matrix, np.append(point, 1.0))[1] < 1e-6)


def test_values_of_zero_sum_games_are_those_of_openspiel() -> None:
    cases = list(read("zero_sum.jsonl"))
    assert len(cases) == 60
    for case in cases:
        value = solve_zero_sum_game(case["matrix"]).value
        assert value == pytest.approx(case["open_spiel"], abs=1e-5)


def test_trees_written_here_have_the_value_that_openspiel_finds_in_them() -> None:
    cases = [case for case in read("trees.jsonl") if case["written_by"] == "bestresponse"]
    assert len(cases) == 60
    for case in cases:
        tree = parse_efg(case["efg"])
        assert format_efg(tree) == case["efg"]
        first = tree.players[0]
        assert solve_tree(tree).value[first] == pytest.approx(case["open_spiel"], abs=1e-5)


def test_trees_that_openspiel_writes_are_read_with_their_values() -> None:
    cases = {c["name"]: c for c in read("trees.jsonl") if c["written_by"] == "open_spiel"}
    kuhn = parse_efg(cases["kuhn_poker"]["efg"])
    assert solve_tree(kuhn).value["Pl0"] == pytest.approx(-1 / 18)
    assert cases["kuhn_poker"]["open_spiel"] == pytest.approx(-1 / 18, abs=1e-6)
    three = parse_efg(cases["kuhn_poker(players=3)"]["efg"])
    assert three.num_players == 3
    assert len(three.infosets) == 48


def test_tables_go_to_openspiel_and_come_back_as_nfg() -> None:
    writers = set()
    for case in read("nfg.jsonl"):
        game = parse_nfg(case["nfg"])
        assert game.payoffs[0].tolist() == case["row"]
        assert game.payoffs[1].tolist() == case["col"]
        assert np.array_equal(parse_nfg(format_nfg(game)).payoffs, game.payoffs)
        writers.add(case["written_by"])
    assert writers == {"bestresponse", "open_spiel"}


def test_the_extreme_equilibria_of_two_players_are_those_of_gambit() -> None:
    cases = list(read("gambit_tables.jsonl"))
    assert len(cases) == 305
    for case in cases:
        ours = [[list(map(str, mix)) for mix in e.exact] for e in nash(case["row"], case["col"])]
        assert sorted(ours) == sorted(case["extreme"]), case


def list_games_of_several_players() -> Iterator[tuple[NormalForm, dict]]:
    """Give the games that Gambit answered, with its answers."""
    for case in read("gambit_many_players.jsonl"):
        yield NormalForm(np.array(case["payoffs"])), case


def test_pure_equilibria_and_quantal_responses_of_several_players_are_those_of_gambit() -> None:
    compared = 0
    for game, case in list_games_of_several_players():
        assert list(map(list, pure_nash(game))) == case["pure"]
        reply = quantal_response(game, case["precision"]).strategies
        theirs = np.concatenate(case["quantal_response"])
        assert np.concatenate(reply) == pytest.approx(theirs, abs=1e-6), case
        compared += 1
    assert compared == 148


@pytest.mark.parametrize("part", range(4))
def test_the_branch_of_logit_equilibria_ends_where_it_ends_for_gambit(part: int) -> None:
    cases = list(list_games_of_several_players())[part::4]
    assert len(cases) == 37
    for game, case in cases:
        end = nash_one(game, method="logit")
        assert end.regret < 1e-9
        # Gambit stops at a finite precision, 4e-4 from the end at worst.
        theirs = np.concatenate(case["logit"])
        assert np.concatenate(end.strategies) == pytest.approx(theirs, abs=1e-3), case


@pytest.mark.parametrize("part", range(4))
def test_trees_have_the_strategies_and_equilibria_that_gambit_finds_in_them(part: int) -> None:
    first, *cases = read("gambit_trees.jsonl")
    assert first["pygambit"] == "16.7.0"
    assert len(cases) == 94
    for case in cases[part::4]:
        tree = parse_efg(case["efg"])
        form = to_normal_form(tree)
        assert (tree.num_nodes, list(form.shape)) == (case["nodes"], case["shape"])
        assert len(pure_nash(form)) == case["pure"]
        if "extreme_payoffs" in case:
            paid = {tuple(map(str, e.exact_payoffs)) for e in nash(form)}
            assert sorted(map(list, paid)) == case["extreme_payoffs"], case
        if "value" in case:
            value = solve_tree(tree).value[tree.players[0]]
            assert value == pytest.approx(float(Fraction(case["value"])), abs=1e-9)


def test_gambit_answered_enough_about_trees() -> None:
    _, *cases = read("gambit_trees.jsonl")
    assert sum(case["pure"] for case in cases) == 895
    assert sum("extreme_payoffs" in case for case in cases) == 48
    assert sum("value" in case for case in cases) == 17
