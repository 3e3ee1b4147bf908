"""The double oracle: values of matrices and trees, bounds on the way, and what the command line
does with it."""

import signal
import threading

import numpy as np
import pytest
from waiting import hear_interrupts

from bestresponse.analysis.solve.solution import Wish
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.cli.terminal import wait_for
from bestresponse.core.errors import Interrupted, InvalidGame, UsageError
from bestresponse.theory import NormalForm, load_tree, solve_zero_sum_game
from bestresponse.theory.trees.normal_form import to_tree
from bestresponse.theory.zero_sum.double_oracle import ValueBounds, search_tree


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_has_the_value_of_the_simplex(seed: int) -> None:
    matrix = np.random.default_rng([3, seed]).random((40, 30))
    found = solve_form(NormalForm.zero_sum(matrix), Wish("double-oracle")).nash
    assert found.equilibria[0].payoffs[0] == pytest.approx(
        solve_zero_sum_game(matrix).value, abs=1e-8
    )
    assert found.regret <= 1e-9
    assert found.method.startswith("double oracle, ")


def test_bounds_hold_the_value_at_every_step_and_only_get_better() -> None:
    matrix = np.random.default_rng(8).random((60, 60))
    value = solve_zero_sum_game(matrix).value
    seen: list[ValueBounds] = []
    search_tree(to_tree(NormalForm.zero_sum(matrix)), report=seen.append)
    assert all(one.low - 1e-9 <= value <= one.high + 1e-9 for one in seen)
    widths = [one.high - one.low for one in seen]
    assert widths == sorted(widths, reverse=True)


def test_kuhn_poker_has_its_published_value() -> None:
    found = search_tree(load_tree("kuhn-poker"))
    assert found.value["player 1"] == pytest.approx(-1 / 18, abs=1e-9)
    assert found.nash_conv <= 1e-8


def test_a_tree_that_is_not_zero_sum_is_refused() -> None:
    with pytest.raises(InvalidGame, match="zero-sum"):
        search_tree(load_tree("centipede"))
    with pytest.raises(UsageError, match="double-oracle"):
        solve_form(NormalForm.bimatrix([[1, 0], [0, 1]], [[1, 0], [0, 1]]), Wish("double-oracle"))


def test_it_can_be_asked_for_by_method() -> None:
    kuhn = solve_form(load_tree("kuhn-poker"), Wish("double-oracle"))
    assert kuhn.value.number == pytest.approx(-1 / 18)
    assert not kuhn.remarks
    rough = solve_form(load_tree("kuhn-poker"), Wish("double-oracle", iterations=2))
    assert "bounds are still" in rough.remarks[0]
    table = solve_form(NormalForm.zero_sum([[3, -1], [-2, 1]]), Wish("double-oracle"))
    assert table.nash.equilibria[0].payoffs[0] == pytest.approx(1 / 7)


def test_a_long_solve_says_how_far_it_is() -> None:
    said: list[str] = []
    solve_form(load_tree("kuhn-poker"), Wish("cfr+", iterations=100, report=said.append))
    assert said[-1].endswith("after 100 of 100 iterations")


def test_an_interrupted_solve_says_what_is_known() -> None:
    known: list[str] = []
    never = threading.Event()

    def solve() -> None:
        known.append("the value lies between 0 and 1 after 3 steps")
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        never.wait(60)

    expected = pytest.raises(
        Interrupted, match="so far the value lies between 0 and 1 after 3 steps"
    )
    with hear_interrupts(), expected:
        wait_for(solve, progress=known)
    never.set()


def test_leduc_poker_has_its_published_value_through_part_of_its_sequences() -> None:
    # -0.085606424078: OpenSpiel's sequence-form linear program.
    seen: list[ValueBounds] = []
    found = search_tree(load_tree("leduc-poker"), report=seen.append)
    assert found.value["player 1"] == pytest.approx(-0.085606424078, abs=1e-8)
    assert found.nash_conv <= 1e-7
    assert len(seen) < 150
