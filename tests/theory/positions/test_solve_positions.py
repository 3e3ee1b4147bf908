"""Values of graphs of positions, by hand and by an independent recursion."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.oracles.games_by_recursion import (
    value_breakthrough,
    value_marks,
    value_pig,
    wins_nim,
)

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import NATURE
from bestresponse.games.breakthrough.rules import Breakthrough
from bestresponse.games.connect_four.rules import ConnectFour
from bestresponse.games.nim.rules import Nim
from bestresponse.games.pig.rules import Pig
from bestresponse.games.tic_tac_toe.rules import TicTacToe
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.keys import check_keys
from bestresponse.theory.positions.solve import count_nodes, solve_positions


@dataclass(frozen=True)
class Drawn:
    """A game drawn as a graph: position -> who moves and where to, or what the end pays."""

    turns: dict
    ends: dict
    roles: tuple[str, ...] = ("Ann", "Bob")
    payoff_bounds: tuple[float, float] = (-2.0, 2.0)
    total: float | None = 0.0
    endless_result: tuple[float, ...] = (0.0, 0.0)
    name: str = "drawn"

    def find_position(self, state):
        return state

    def begin(self):
        return "start"

    def find_turn(self, position):
        if position in self.ends:
            return ToMove()
        role, moves, *chances = self.turns[position]
        return ToMove(role, tuple(moves), tuple(*chances))

    def advance(self, position, move):
        return self.turns[position][1][move]

    def find_key(self, position):
        return position

    def find_result(self, position):
        return self.ends[position]


def solve(game, **limits):
    return solve_positions(explore(game, **limits))


@pytest.mark.parametrize(
    ("game", "found"),
    [
        (TicTacToe(), value_marks(3, 3, 3, falls=False)),
        (ConnectFour(4, 3), value_marks(4, 3, 4, falls=True)),
        (Breakthrough(4, 3), value_breakthrough(3, 4)),
        (Breakthrough(5, 3), value_breakthrough(3, 5)),
    ],
    ids=str,
)
def test_values_and_sizes_are_those_of_a_plain_recursion(game, found):
    solved = solve(game)
    assert (solved.values[0, 0], solved.graph.num_decisions) == found
    assert (solved.bound, solved.certify(), len(solved.forks)) == (0, 0, 0)


def test_sizes_and_values_that_are_known():
    assert value_marks(3, 3, 3, falls=False) == (0, 4520)
    solved = solve(TicTacToe())
    assert (solved.graph.num_decisions, len(solved.graph.child)) == (4520, 16167)
    assert solve(Breakthrough(5, 3)).graph.num_decisions == 29_730
    assert solve(Nim()).graph.num_decisions == 750
    solved = solve(ConnectFour(4, 4))
    assert (solved.graph.num_decisions, solved.values[0].tolist()) == (134_289, [0, 0])


@pytest.mark.parametrize("last_wins", [True, False])
def test_nim_is_as_boutons_rule_says_at_every_position(last_wins):
    solved = solve(Nim("1-3-5", last_wins))
    for (mover, piles), number in solved.graph.known.items():
        if any(piles):
            wins = wins_nim(piles, last_wins)
            assert solved.values[number, mover] == (1 if wins else -1), piles


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_pig_is_what_value_iteration_finds(engine):
    if engine == "numba":
        pytest.importorskip("numba")
    solved = solve_positions(explore(Pig(10)), engine=engine)
    assert solved.values[0, 0] == pytest.approx(value_pig(10), abs=1e-8)
    assert 0 < solved.bound <= 1e-9
    assert solved.certify() <= 1e-9
    assert solved.regrets.min() >= -1e-9


def test_worths_are_named_by_the_moves_of_the_position():
    solved = solve(TicTacToe())
    worths = solved.list_worths(TicTacToe(), "XX.OO....")
    assert worths == {"c3": 1, "c2": 0, "a1": -1, "b1": -1, "c1": -1}


def test_a_cycle_without_chance_is_worth_what_endless_play_pays():
    """Ann goes on or takes -1, Bob goes back or gives 2 away: both like to go on for ever."""
    game = Drawn(
        {"start": ("Ann", {"on": "there", "stop": "low"}),
         "there": ("Bob", {"back": "start", "give": "high"})},
        {"low": (-1.0, 1.0), "high": (2.0, -2.0)},
    )  # fmt: skip
    assert (solve(game).values[0].tolist(), solve(game).bound) == ([0, 0], 0)
    worse = replace(game, endless_result=(-2.0, 2.0))
    assert solve(worse).values[0].tolist() == [-1, 1]
    better = replace(game, endless_result=(2.0, -2.0))
    assert solve(better).values[0].tolist() == [2, -2]


def test_whoever_can_force_more_than_endless_play_pays_does_so():
    """Two loops: Bob may leave his for 1, and would rather circle, which Ann need not let him."""
    game = Drawn(
        {"start": ("Ann", {"left": "loop", "right": "sure"}),
         "loop": ("Bob", {"back": "start", "leave": "one"})},
        {"one": (1.0, -1.0), "sure": (0.5, -0.5)},
    )  # fmt: skip
    assert solve(game).values[0].tolist() == [0.5, -0.5]


def test_what_a_cycle_with_chance_leaves_open_is_said():
    """Ann may circle for ever over a draw that changes nothing, or take 0.5."""
    game = Drawn(
        {"start": ("Ann", {"on": "draw", "stop": "half"}),
         "draw": (NATURE, {"a": "start", "b": "again"}, (0.5, 0.5)),
         "again": ("Ann", {"on": "start"})},
        {"half": (0.5, -0.5)},
    )  # fmt: skip
    solved = solve(game)
    assert (solved.low[0, 0], solved.high[0, 0]) == (0.5, 2)
    assert (solved.low[0, 1], solved.high[0, 1]) == (-2, -0.5)
    assert solved.bound == 0.75


def test_chance_leads_out_of_a_cycle():
    """Ann may try again: half of the tries win 1, a tenth lose 1. So she wins 5 in 6: 2/3."""
    game = Drawn(
        {"start": (NATURE, {"won": "won", "lost": "lost", "again": "start"}, (0.5, 0.1, 0.4))},
        {"won": (1.0, -1.0), "lost": (-1.0, 1.0)},
    )
    solved = solve(game)
    assert solved.values[0, 0] == pytest.approx(2 / 3, abs=1e-9)
    assert solved.bound <= 1e-9


def test_ties_that_matter_to_others_are_named():
    """Bob is indifferent, Ann is not: what going left is worth to her nobody can say."""
    game = Drawn(
        {"start": ("Ann", {"left": "bob", "right": "safe"}),
         "bob": ("Bob", {"nice": "good", "nasty": "bad"})},
        {"safe": (1.0, 1.0), "good": (2.0, 0.0), "bad": (0.0, 0.0)},
        total=None,
    )  # fmt: skip
    solved = solve(game)
    assert solved.forks.tolist() == [solved.graph.known["bob"]]


def test_three_players_are_solved_by_backward_induction():
    game = Drawn(
        {"start": ("Ann", {"l": "bob", "r": "cem"}),
         "bob": ("Bob", {"l": "1", "r": "2"}),
         "cem": ("Cem", {"l": "3", "r": "4"})},
        {"1": (0, 2, 1), "2": (2, 1, 0), "3": (1, 0, 0), "4": (2, 0, -1)},
        roles=("Ann", "Bob", "Cem"),
        total=None,
        endless_result=(0, 0, 0),
    )  # fmt: skip
    assert solve(game).values[0].tolist() == [1, 0, 0]


def test_a_cycle_of_a_game_without_a_constant_sum_is_refused():
    game = Drawn(
        {"start": ("Ann", {"on": "bob", "stop": "end"}), "bob": ("Bob", {"back": "start"})},
        {"end": (1.0, 1.0)},
        total=None,
    )
    with pytest.raises(InvalidGame, match="may return to a position"):
        solve(game)


def test_a_limit_leaves_bounds_and_says_how_many_positions_were_found():
    solved = solve(TicTacToe(), most=1000)
    assert not solved.graph.is_complete
    assert 1000 < len(solved.graph.owner) < 1020
    assert (solved.low[0].tolist(), solved.high[0].tolist()) == ([-1, -1], [1, 1])
    with pytest.raises(TooLarge, match=r"only 1,0.. positions were looked into"):
        solved.list_worths(TicTacToe(), TicTacToe().begin())
    assert not explore(ConnectFour(7, 6), deadline=Deadline.after(0.0)).is_complete


def test_bounds_of_an_incomplete_graph_hold_and_are_as_narrow_as_what_was_seen_allows():
    """Ann has 0.5 for sure; what was not looked into may be anything. At Bob's turn it may cost."""
    game = Drawn(
        {"start": ("Ann", {"sure": "half", "bob": "bob"}),
         "bob": ("Bob", {"low": "low", "far": "far"}),
         "far": ("Ann", {"x": "farther"}),
         "farther": ("Ann", {"x": "low"})},
        {"half": (0.5, -0.5), "low": (-1.0, 1.0)},
    )  # fmt: skip
    solved = solve(game, most=4)
    assert not solved.graph.is_complete
    assert (solved.low[0].tolist(), solved.high[0].tolist()) == ([0.5, -0.5], [0.5, -0.5])
    other = solve(replace(game, ends={"half": (0.5, -0.5), "low": (1.0, -1.0)}), most=4)
    assert (other.low[0].tolist(), other.high[0].tolist()) == ([0.5, -1], [1, -0.5])


def test_a_limit_of_a_game_without_a_constant_sum_gives_no_bound():
    with pytest.raises(TooLarge, match=r"more than 1,0.. positions"):
        solve(_Unbounded(), most=1000)


class _Unbounded(TicTacToe):
    total = None


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"ends": {"end": (3.0, -3.0)}}, "expected payoffs from -2 to 2"),
        ({"ends": {"end": (1.0, 1.0)}}, "expected 0 in every play"),
        ({"ends": {"end": (1.0,)}}, "expected one for each of Ann, Bob"),
        ({"turns": {"start": ("Cem", {"on": "end"})}}, "expected one of Ann, Bob"),
        ({"turns": {"start": ("Ann", {})}}, "has no move"),
    ],
)
def test_a_game_that_breaks_a_promise_is_refused(change, what):
    game = Drawn({"start": ("Ann", {"on": "end"})}, {"end": (1.0, -1.0)})
    with pytest.raises(InvalidGame, match=what):
        solve(replace(game, **change))


def test_a_key_that_hides_something_is_found_out():
    class Forgetful(Nim):
        def find_key(self, position):
            return max(position[1])

    assert check_keys(Nim()) > 500
    with pytest.raises(InvalidGame, match="hides something that matters"):
        check_keys(Forgetful())


def test_a_payoff_is_value_and_luck_and_what_both_lost():
    """Payoff = value + luck - what player 1 lost + what player 2 lost, in every single play."""
    game = Pig(10)
    solved = solve(game)
    rng = np.random.default_rng(3)
    for _ in range(50):
        position = game.begin()
        luck = 0.0
        lost = dict.fromkeys(game.roles, 0.0)
        while (turn := game.find_turn(position)).role:
            move = str(rng.choice(turn.moves))
            after = game.advance(position, move)
            numbers = [solved.graph.known[p] for p in (position, after)]
            gained = solved.values[numbers[1], 0] - solved.values[numbers[0], 0]
            if turn.role == NATURE:
                luck += gained
            else:
                worths = solved.list_worths(game, position)
                lost[turn.role] += max(worths.values()) - worths[move]
            position = after
        expected = solved.values[0, 0] + luck - lost["player 1"] + lost["player 2"]
        assert game.find_result(position)[0] == pytest.approx(expected, abs=1e-7)


def count_by_hand(game, position):
    turn = game.find_turn(position)
    after = [game.advance(position, move) for move in turn.moves]
    return 1 + sum(count_by_hand(game, each) for each in after)


def test_the_nodes_of_the_tree_are_counted_without_a_tree():
    assert count_nodes(explore(TicTacToe())) == 549_946
    assert count_nodes(explore(Nim("1-2-3"))) == count_by_hand(Nim("1-2-3"), Nim("1-2-3").begin())
    assert count_nodes(explore(Pig(goal=5))) == np.inf
