"""OpenSpiel's games as trees, where it is installed."""

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory.trees import openspiel
from bestresponse.theory.trees.build import build_tree
from bestresponse.theory.trees.cfr import cfr
from bestresponse.theory.trees.openspiel import load_openspiel, openspiel_is_installed
from bestresponse.theory.trees.policy import uniform_policy
from bestresponse.theory.trees.response import nash_conv
from bestresponse.theory.trees.sequence_form_lp import solve_tree

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
        assert solve_tree(load_openspiel("goofspiel(num_cards=3)")).value["player 1"] == pytest.approx(0, abs=1e-9)

    @pytest.mark.parametrize(
        "name", ["kuhn_poker(players=3)", "leduc_poker", "tiny_hanabi", "liars_dice(dice_sides=3)", "pig(winscore=4)"]
    )
    def test_the_short_way_gives_the_same_tree(self, name):
        import pyspiel

        game = pyspiel.load_game(name)
        loader = openspiel._Loader(game, tuple(f"player {i + 1}" for i in range(game.num_players())))
        assert loader.is_sequential
        grown = build_tree(loader.players, (game.new_initial_state(), ()), loader.expand, name=str(game))
        short = load_openspiel(name)
        assert short.infosets == grown.infosets
        assert short.branch_labels == grown.branch_labels
        for rows in ("parent", "move", "owner", "infoset", "probability", "payoffs"):
            assert np.array_equal(getattr(short, rows), getattr(grown, rows))

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

    @pytest.mark.parametrize(("variant", "solver"), [("cfr", "CFRSolver"), ("cfr+", "CFRPlusSolver")])
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
            assert list(ours.policy.at(f"player {infoset.player + 1}", infoset.key).values()) == pytest.approx(expected)


def test_a_missing_installation_is_said(monkeypatch):
    monkeypatch.setattr(openspiel, "openspiel_is_installed", lambda: False)
    with pytest.raises(UsageError, match="install the extra 'openspiel'"):
        load_openspiel("kuhn_poker")
