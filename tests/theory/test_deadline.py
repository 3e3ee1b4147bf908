"""Every solver that can take long ends when its time is used up, and says so."""

from math import inf, nan
from threading import Event

import numpy as np
import pytest

from bestresponse import theory
from bestresponse.core.errors import NotCertified, UsageError
from bestresponse.theory.catalogue import load_tree
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.equilibria.extremes import _Compiled

PENNIES = ([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
A, B, C = np.indices((2, 2, 2))
SHIFTED = np.stack([A == B, B == C, C != A]).astype(float)
"""The first wants to match the second, who wants to match the third, who wants to differ from the
first: no equilibrium is pure."""

SEARCHES = {
    "find_sequential": lambda s: theory.find_sequential(load_tree("kuhn-poker"), seconds=s),
    "solve_subgames": lambda s: theory.solve_subgames(load_tree("entry-deterrence"), seconds=s),
    "subgame_perfect": lambda s: theory.subgame_perfect(load_tree("entry-deterrence"), seconds=s),
    "solve_tree": lambda s: theory.solve_tree(load_tree("kuhn-poker"), seconds=s),
    "solve_general_tree": lambda s: theory.solve_general_tree(load_tree("kuhn-poker"), seconds=s),
    "stackelberg of a tree": lambda s: theory.stackelberg(load_tree("kuhn-poker"), seconds=s),
    "agent_quantal_branch": lambda s: theory.agent_quantal_branch(
        load_tree("entry-deterrence"), 1.0, seconds=s
    ),
    "nash of two players": lambda s: theory.nash(*PENNIES, engine="numpy", seconds=s),
    "nash_one of two players": lambda s: theory.nash_one(*PENNIES, seconds=s),
    "nash_one of three players": lambda s: theory.nash_one(SHIFTED, seconds=s),
    "lemke_howson": lambda s: theory.lemke_howson(PENNIES, seconds=s),
    "lemke_howson_all": lambda s: theory.lemke_howson_all(PENNIES, seconds=s),
    "find_perfect": lambda s: theory.find_perfect(PENNIES, seconds=s),
    "correlated": lambda s: theory.correlated(PENNIES, seconds=s),
    "stackelberg": lambda s: theory.stackelberg(PENNIES, seconds=s),
    "stackelberg of three players": lambda s: theory.stackelberg(SHIFTED, seconds=s),
    "quantal_branch": lambda s: theory.quantal_branch(PENNIES, 1.0, seconds=s),
    "quantal_response": lambda s: theory.quantal_response(PENNIES, 1.0, seconds=s),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_without_time_says_that_it_had_too_little(name):
    with pytest.raises(NotCertified, match=r"within 0 s.*allow more seconds"):
        SEARCHES[name](0.0)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_with_any_amount_of_time_finds_something(name):
    assert SEARCHES[name](inf)


def test_a_compiled_enumeration_is_left_alone_when_the_time_is_used_up():
    stopped = Event()

    def work(payoffs):
        stopped.wait(60)
        return 1, 1, True, False, 0.0, payoffs

    compiled = _Compiled(work, is_long=True)
    with pytest.raises(NotCertified, match=r"all vertices .* within 0.01 s; allow more seconds"):
        compiled.enumerate(np.zeros((2, 1, 1)), Deadline.after(0.01))
    stopped.set()
    assert compiled.enumerate(np.zeros((2, 1, 1)), NEVER)[0] == 1


def test_two_players_left_by_elimination_get_an_equilibrium_without_time():
    # The third player's second action is worth 1 more, always; the others play matching pennies.
    row, col = np.array(PENNIES)
    third = np.broadcast_to([0, 1], (2, 2, 2))
    game = np.stack([np.stack([u, u], axis=-1) for u in (row, col)] + [third])
    hasty = theory.nash(game, seconds=0.0, engine="numpy")
    assert not hasty.complete
    assert [x.tolist() for x in hasty[0].strategies] == [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]]
    assert theory.nash(game, engine="numpy").complete


def test_a_deadline_counts_down_to_0_and_can_be_moved():
    over = Deadline(seconds=5.0, stop=0.0)
    assert (over.is_over, over.left) == (True, 0.0)
    assert over.extend(inf) == Deadline(5.0, inf)
    assert not NEVER.is_over
    with pytest.raises(NotCertified, match="the value could not be found within 5 s; allow more"):
        over.check("the value")


@pytest.mark.parametrize("seconds", [-1.0, nan])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(UsageError, match="seconds: expected a number of at least 0, got"):
        theory.nash(*PENNIES, seconds=seconds)
