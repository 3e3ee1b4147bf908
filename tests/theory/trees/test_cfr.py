"""Counterfactual regret minimisation: published iterates, variants, engines, properties."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_trees import random_tree

from bestresponse.core.errors import UsageError
from bestresponse.theory.catalogue.trees import kuhn_poker, leduc_poker
from bestresponse.theory.engines import has_numba
from bestresponse.theory.trees.cfr import CfrState, cfr
from bestresponse.theory.trees.sequence_form import nash_conv, policy_value, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_tree
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree

seeds = st.integers(0, 2**32 - 1)
engines = pytest.mark.parametrize(
    "engine",
    [
        "numpy",
        pytest.param("numba", marks=pytest.mark.skipif(not has_numba(), reason="needs numba")),
    ],
)


def conv_after(result):
    return {point.iteration: point.nash_conv for point in result.checkpoints}


class TestPublishedIterates:
    """NashConv of the average policy on Kuhn poker as OpenSpiel's solvers report it."""

    @engines
    def test_cfr(self, engine):
        seen = conv_after(cfr(kuhn_poker(), 1000, "cfr", engine=engine))
        assert seen[10] == pytest.approx(0.13739759, abs=5e-9)
        assert seen[100] == pytest.approx(0.01645195, abs=5e-9)
        assert seen[1000] == pytest.approx(0.00187523, abs=5e-9)

    @engines
    def test_cfr_plus(self, engine):
        seen = conv_after(cfr(kuhn_poker(), 1000, "cfr+", engine=engine))
        assert seen[10] == pytest.approx(0.06537418, abs=5e-9)
        assert seen[100] == pytest.approx(0.00238881, abs=5e-9)
        assert seen[1000] == pytest.approx(0.00017473, abs=5e-9)

    def test_discounted_cfr(self):
        """OpenSpiel's DCFRSolver (alpha 1.5, beta 0, gamma 2) on Kuhn poker."""
        seen = conv_after(cfr(kuhn_poker(), 100, "dcfr", engine="numpy"))
        assert seen[10] == pytest.approx(0.0455575678515, abs=1e-9)
        assert seen[100] == pytest.approx(0.0033326839407, abs=1e-9)


class TestByHand:
    def test_two_iterations_of_a_single_choice(self):
        """Moves earn 0, 1, 3. Uniform play earns 4/3, gains -4/3, -1/3, 5/3: from then on the third
        move only."""
        tree = build_tree(["x"], Turn("x", "i", {"a": Leaf([0]), "b": Leaf([1]), "c": Leaf([3])}))
        assert cfr(tree, 1).policy.at("x", "i") == pytest.approx(
            {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}
        )
        assert cfr(tree, 2, "cfr").policy.at("x", "i") == pytest.approx(
            {"a": 1 / 6, "b": 1 / 6, "c": 2 / 3}
        )
        assert cfr(tree, 2, "cfr+").policy.at("x", "i") == pytest.approx(
            {"a": 1 / 9, "b": 1 / 9, "c": 7 / 9}
        )
        assert cfr(tree, 2, "dcfr").policy.at("x", "i") == pytest.approx(
            {"a": 1 / 15, "b": 1 / 15, "c": 13 / 15}
        )

    def test_a_tree_without_choices_has_its_value_and_no_regret(self):
        result = cfr(build_tree(["x"], Chance({"h": (0.25, Leaf([4])), "t": (0.75, Leaf([0]))})), 3)
        assert result.value == {"x": 1.0}
        assert result.nash_conv == 0


class TestVariants:
    @pytest.mark.parametrize("variant", ["cfr", "cfr+", "dcfr", "pcfr+"])
    def test_every_variant_finds_the_value_of_leduc_poker(self, variant):
        result = cfr(leduc_poker(), 300, variant, engine="numpy")
        assert result.nash_conv < 0.2
        assert abs(result.value["player 1"] + 0.085606424078) <= result.nash_conv
        assert nash_conv(leduc_poker(), result.policy) == pytest.approx(result.nash_conv, abs=1e-12)
        assert policy_value(leduc_poker(), result.policy) == pytest.approx(result.value, abs=1e-12)

    def test_prediction_pays_on_kuhn_poker(self):
        assert cfr(kuhn_poker(), 1000, "pcfr+", engine="numpy").nash_conv < 1e-6

    def test_three_players_come_with_a_certificate(self):
        result = cfr(kuhn_poker(3), 500, engine="numpy")
        assert result.nash_conv < 1e-3
        assert sum(result.value.values()) == pytest.approx(0, abs=1e-12)


class TestArguments:
    def test_checkpoints_are_powers_of_ten_and_the_last_iteration(self):
        assert [point.iteration for point in cfr(kuhn_poker(), 25).checkpoints] == [1, 10, 25]

    def test_a_short_run_does_not_load_the_compiled_loop_and_a_long_one_does(self, monkeypatch):
        # as where the loop is compiled already
        monkeypatch.setattr("bestresponse.theory.trees.cfr.count_loads", lambda *names: 1.0)
        assert cfr(kuhn_poker(), 10).engine == "numpy"
        long = cfr(kuhn_poker(), 45_000, "cfr+")
        assert long.engine == ("numba" if has_numba() else "numpy")
        assert long.nash_conv == pytest.approx(1.3435493e-05, abs=1e-11)  # OpenSpiel's after 45,000

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"iterations": 0}, "at least 1 iteration, got 0"),
            (
                {"variant": "cfr-"},
                "'cfr-' of CFR; expected one of cfr, cfr\\+, dcfr, pcfr\\+",
            ),
            ({"engine": "gpu"}, "engine: expected one of auto, numpy, numba, got 'gpu'"),
        ],
    )
    def test_arguments_that_make_no_sense_are_refused(self, arguments, message):
        with pytest.raises(UsageError, match=message):
            cfr(kuhn_poker(), **arguments)


class TestProperties:
    @settings(max_examples=25, deadline=None)
    @given(seeds)
    def test_nash_conv_falls_and_the_value_is_the_linear_program_s(self, seed):
        tree = random_tree(Random(seed), depth=5)
        result = cfr(tree, 400, engine="numpy")
        exact = solve_tree(tree).value["player 1"]
        assert 0 <= result.nash_conv <= max(0.7 * result.checkpoints[0].nash_conv, 1e-9)
        assert abs(result.value["player 1"] - exact) <= result.nash_conv + 1e-9

    @pytest.mark.skipif(not has_numba(), reason="needs numba")
    @settings(max_examples=25, deadline=None)
    @given(seeds, st.integers(1, 4), st.booleans())
    def test_both_engines_iterate_alike(self, seed, players, predictive):
        """Payoffs without ties: at a regret of exactly 0 the last bit decides what is played
        next."""
        form = to_sequence_form(random_tree(Random(seed), players, 5, zero_sum=False))
        form = replace(
            form, payoffs=form.payoffs + np.random.default_rng(seed).normal(size=form.payoffs.shape)
        )
        schedule = np.array([[1.0] * 5, [0.5] * 5, [1.0, 2.0, 3.0, 4.0, 5.0]])
        fast, plain = CfrState(form, "numba"), CfrState(form, "numpy")
        fast.run(schedule, predictive)
        plain.run(schedule, predictive)
        for plex, one, other in zip(form.plexes, fast.totals, plain.totals, strict=True):
            assert one[1:] == pytest.approx(other[1:], abs=1e-9)
            assert plex.plan(plex.normalise(one)) == pytest.approx(
                plex.plan(plex.normalise(other)), abs=1e-9
            )
