"""Games of the core compiled into trees."""

from dataclasses import dataclass

import pytest

from bestresponse.core.ask import Amount, Choice, Lottery, Words
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import NATURE, REFEREE, View
from bestresponse.theory.trees.cfr import cfr
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.perfection.subgame_perfect import subgame_perfect
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_tree


@dataclass(frozen=True)
class Rounds:
    """Rock, paper, scissors at the same time, `rounds` times; the sum counts. `told`: what a view
    tells of the past."""

    rounds: int = 1
    told: str = "all"
    name: str = "rps"
    version: int = 1
    roles: tuple[str, ...] = ("Ann", "Bob")

    def start(self):
        return ()

    def asks(self, state):
        return (
            {}
            if len(state) == self.rounds
            else {r: Choice(("R", "P", "S")) for r in ("Bob", "Ann")}
        )

    def view(self, state, role):
        facts = {"all": {"past": list(state)}, "round": {"round": len(state)}, "nothing": {}}[
            self.told
        ]
        return View(role, "Play.", f"round {len(state)}", facts)

    def apply(self, state, moves):
        return (*state, moves["Ann"] + moves["Bob"])

    def payoffs(self, state):
        won = sum(pair in ("RS", "SP", "PR") for pair in state)
        lost = sum(pair in ("SR", "PS", "RP") for pair in state)
        return {"Ann": won - lost, "Bob": lost - won}


@dataclass(frozen=True)
class Guess:
    """Nature hides a coin; Ann sees it or not, and names a number of coins."""

    ask: object = Amount(0, 2, whole=True)
    seen: bool = False
    asked: str = "Ann"
    name: str = "guess"
    version: int = 1
    roles: tuple[str, ...] = ("Ann",)

    def start(self):
        return ()

    def asks(self, state):
        return [{NATURE: Lottery(((0, 0.25), (1, 0.75)))}, {self.asked: self.ask}, {}][len(state)]

    def view(self, state, role):
        return View(role, "Guess.", "", {"coin": state[0]} if self.seen else {})

    def apply(self, state, moves):
        return (*state, *moves.values())

    def payoffs(self, state):
        return {"Ann": float(state[0] == state[1])}


class TestCompiling:
    def test_simultaneous_asks_become_successive_hidden_moves(self):
        tree = compile_game(Rounds())
        assert tree.players == ("Ann", "Bob")
        assert tree.num_nodes == 1 + 3 + 9
        assert [(i.player, i.moves) for i in tree.infosets] == [
            (0, ("R", "P", "S")),
            (1, ("R", "P", "S")),
        ]
        assert tree.payoffs[tree.leaves, 0].tolist() == [0, -1, 1, 1, 0, -1, -1, 1, 0]

    def test_policies_are_found_by_the_view_s_key(self):
        game = Rounds()
        policy = solve_tree(game).policy
        assert policy.at("Bob", game.view((), "Bob").key) == pytest.approx(
            {"R": 1 / 3, "P": 1 / 3, "S": 1 / 3}
        )
        assert policy.at("Bob", "round 0") == policy.at("Bob", game.view((), "Bob").key)

    def test_chance_and_whole_amounts_are_moves(self):
        tree = compile_game(Guess())
        assert tree.probability[[1, 5]].tolist() == [0.25, 0.75]
        assert tree.infosets[0].moves == ("0", "1", "2")
        assert cfr(tree, 200, "cfr+").value["Ann"] == pytest.approx(0.75, abs=1e-3)

    def test_passing_is_a_move_where_it_is_allowed(self):
        assert compile_game(Guess(Choice(("1",), may_pass=True))).infosets[0].moves == ("1", "pass")

    def test_what_a_view_shows_separates_information_sets(self):
        assert subgame_perfect(Guess(seen=True)).outcomes == ({"Ann": 1.0},)

    def test_solvers_take_games_directly(self):
        assert cfr(Rounds(2), 10).nash_conv == pytest.approx(0, abs=1e-12)


class TestRecall:
    def test_views_that_tell_the_past_give_perfect_recall(self):
        form = to_sequence_form(compile_game(Rounds(2)))
        assert [len(plex.infosets) for plex in form.plexes] == [1 + 9, 1 + 9]

    def test_views_that_leave_out_own_moves_are_refused_by_the_solvers(self):
        with pytest.raises(InvalidGame, match=r"no perfect recall: Ann .* 'round 1'"):
            to_sequence_form(compile_game(Rounds(2, told="round")))

    @pytest.mark.parametrize("told", ["round", "nothing"])
    def test_remembering_own_views_and_moves_gives_perfect_recall(self, told):
        tree = compile_game(Rounds(2, told=told), remember=True)
        assert len(to_sequence_form(tree).plexes[0].infosets) == 1 + 3
        assert solve_tree(tree).value["Ann"] == pytest.approx(0, abs=1e-9)
        assert "R | round 1" in [infoset.label for infoset in tree.infosets]


class TestRefusals:
    @pytest.mark.parametrize(
        ("ask", "message"),
        [
            (Words(), "asks Ann for Words, whose answers cannot be listed"),
            (Amount(0, 1), "asks Ann for an Amount between 0 and 1"),
        ],
    )
    def test_asks_without_a_list_of_answers(self, ask, message):
        with pytest.raises(InvalidGame, match=message):
            compile_game(Guess(ask))

    def test_a_referee_s_judgement_is_no_move_of_the_game(self):
        with pytest.raises(InvalidGame, match="asks 'referee' for Choice"):
            compile_game(Guess(Choice(("yes",)), asked=REFEREE))

    def test_payoffs_that_leave_out_a_role(self):
        with pytest.raises(InvalidGame, match="leave out 'Bob'"):
            compile_game(Guess(roles=("Ann", "Bob")))

    def test_a_game_too_large_to_list_stops_at_the_limit(self):
        with pytest.raises(TooLarge, match="more than 5000 nodes"):
            compile_game(Rounds(20), limit=5000)
        with pytest.raises(TooLarge, match="chooses among 1e\\+09 amounts"):
            compile_game(Guess(Amount(1, 10**9, whole=True)))
