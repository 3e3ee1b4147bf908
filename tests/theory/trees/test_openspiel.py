"""OpenSpiel's games as trees, where it is installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory.trees import memory, openspiel
from bestresponse.theory.trees.cfr import cfr
from bestresponse.theory.trees.openspiel import (
    SpielNode,
    SpielTree,
    load_openspiel,
    openspiel_is_installed,
)
from bestresponse.theory.trees.sequence_form import nash_conv
from bestresponse.theory.trees.sequence_form_lp import solve_tree
from bestresponse.theory.trees.tree import Tree, build_tree, uniform_policy


@dataclass
class CardState:
    """Speaks OpenSpiel's language: a card is dealt that player 2 does not see, then both move in
    turn until an end."""

    history: list[int] = field(default_factory=list)

    def current_player(self) -> int:
        if not self.history:
            return -1
        return -4 if self.is_terminal() else (len(self.history) - 1) % 2

    def is_terminal(self) -> bool:
        return len(self.history) == 8 or (len(self.history) > 1 and self.history[-1] == 2)

    def is_chance_node(self) -> bool:
        return not self.history

    def is_simultaneous_node(self) -> bool:
        return False

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 1 / 3), (2, 1 / 6)]

    def legal_actions(self) -> list[int]:
        return [0, 1, 2, 3] if len(self.history) % 3 else [1, 2, 3]

    def action_to_string(self, player: int, action: int) -> str:
        return f"card {action}" if player < 0 else f"move {action}"

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        return str(self.history if player == 0 else self.history[1:])

    def returns(self) -> list[float]:
        return [float(sum(self.history) - 7), float(7 - sum(self.history))]

    def child(self, action: int) -> CardState:
        return CardState([*self.history, action])

    def apply_action(self, action: int) -> None:
        self.history.append(action)


@dataclass(frozen=True)
class CardGame:
    def new_initial_state(self) -> CardState:
        return CardState()


def grow(game: Any, limit: int = 100_000) -> Tree:
    players = ("player 1", "player 2")
    unfolding = SpielTree(players, tells=True)
    return build_tree(players, SpielNode(game.new_initial_state()), unfolding.expand, limit=limit)


def test_positions_become_nodes_and_their_names_information_sets() -> None:
    tree = grow(CardGame())
    assert tree.num_nodes == 6343
    assert tree.is_exact
    assert [tree.read_probability(node) for node in tree.children[0]] == [
        Fraction(1, 2),
        Fraction(1, 3),
        Fraction(1, 6),
    ]
    assert tree.infosets[0].moves == ("move 0", "move 1", "move 2", "move 3")


def test_positions_that_wait_count_towards_the_limit() -> None:
    with pytest.raises(TooLarge, match="more than 3000 nodes: stopped after"):
        grow(CardGame(), 3000)


def test_memory_is_looked_at_while_a_tree_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0, 0, 2**60, 2**60, 2**60])
    monkeypatch.setattr(memory, "measure_resident", lambda: next(taken))
    with pytest.raises(TooLarge, match="MB after 2,048 nodes"):
        grow(CardGame(), 100_000)


class Stuck(CardState):
    """Leaves player 2 without a move."""

    def legal_actions(self) -> list[int]:
        return super().legal_actions() if len(self.history) < 2 else []

    def child(self, action: int) -> Stuck:
        return Stuck([*self.history, action])


class Fickle(CardState):
    """Lets what player 2 may do depend on the card it does not see."""

    def legal_actions(self) -> list[int]:
        return (
            [1, 2] if self.history[0] == 1 and len(self.history) == 2 else super().legal_actions()
        )

    def child(self, action: int) -> Fickle:
        return Fickle([*self.history, action])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (Stuck, "at card 0 > move 0: player 2 has no move; expected at least one"),
        (
            Fickle,
            (
                r"the information set '\[0\]' of player 2 offers .* here and .* before; expected"
                r" the same"
            ),
        ),
    ],
)
def test_positions_that_break_the_rules_of_trees_are_refused(
    state: type[CardState], message: str
) -> None:
    game = SimpleNamespace(new_initial_state=state)
    with pytest.raises(InvalidGame, match=message):
        grow(game)


needs_openspiel = pytest.mark.skipif(not openspiel_is_installed(), reason="needs OpenSpiel")


@needs_openspiel
class TestLoading:
    def test_leduc_poker_with_suits_has_936_information_sets_and_the_same_value(self):
        tree = load_openspiel("leduc_poker")
        assert (tree.num_nodes, len(tree.infosets)) == (9457, 936)
        assert nash_conv(tree, uniform_policy(tree)) == pytest.approx(4.747222222222)
        assert solve_tree(tree).value["player 1"] == pytest.approx(-0.085606424078, abs=1e-11)

    def test_three_players(self):
        tree = load_openspiel("kuhn_poker(players=3)")
        assert nash_conv(tree, uniform_policy(tree)) == pytest.approx(2.0625)

    def test_simultaneous_moves_are_hidden_from_each_other(self):
        tree = load_openspiel("matrix_rps")
        assert len(tree.infosets) == 2
        assert nash_conv(tree, uniform_policy(tree)) == pytest.approx(0)
        assert solve_tree(load_openspiel("goofspiel(num_cards=3)")).value[
            "player 1"
        ] == pytest.approx(0, abs=1e-9)

    def test_a_game_without_information_states_is_a_tree_in_which_nothing_is_hidden(self):
        tree = load_openspiel("pig(winscore=2,horizon=4)")
        assert tree.is_perfect_information
        assert tree.infosets[0].moves == ("roll", "stop")

    def test_a_game_object_can_be_given(self):
        import pyspiel

        assert load_openspiel(pyspiel.load_game("kuhn_poker")).num_nodes == 58

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("kuhn", "OpenSpiel has no game 'kuhn'. Did you mean kuhn_poker"),
            ("kuhn_poker(players=99)", "OpenSpiel cannot load"),
            ("mfg_crowd_modelling", "mean field game"),
        ],
    )
    def test_what_cannot_be_a_tree_is_refused(self, name, message):
        with pytest.raises(InvalidGame, match=message):
            load_openspiel(name)

    def test_large_games_stop_at_the_limit(self):
        with pytest.raises(TooLarge, match="more than 2000 nodes"):
            load_openspiel("tic_tac_toe", limit=2000)

    @pytest.mark.parametrize(
        ("variant", "solver"), [("cfr", "CFRSolver"), ("cfr+", "CFRPlusSolver")]
    )
    def test_the_iterates_are_those_of_its_own_solver(self, variant, solver):
        import pyspiel

        game = pyspiel.load_game("leduc_poker")
        theirs = getattr(pyspiel, solver)(game)
        for _ in range(10):
            theirs.evaluate_and_update_policy()
        ours = cfr(load_openspiel(game), 10, variant, engine="numpy")
        average = theirs.average_policy()
        assert ours.nash_conv == pytest.approx(pyspiel.nash_conv(game, average), abs=1e-10)
        for infoset in ours.policy.tree.infosets:
            expected = [p for _, p in average.get_state_policy(infoset.key)]
            assert list(
                ours.policy.at(f"player {infoset.player + 1}", infoset.key).values()
            ) == pytest.approx(expected)


def test_a_missing_installation_is_said(monkeypatch):
    monkeypatch.setattr(openspiel, "openspiel_is_installed", lambda: False)
    with pytest.raises(UsageError, match=r"pip install '\.\[openspiel\]'"):
        load_openspiel("kuhn_poker")
