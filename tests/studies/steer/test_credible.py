"""A policy that is worth following also where its equilibrium never leads."""

import pytest
from daily import share_out
from steering import dialogue, recorded

from bestresponse.core.errors import UsageError
from bestresponse.games.dialogue.domain import domain_names
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.solving import (
    find_credible_policy,
    find_guidance,
    find_losses,
    solve_dialogue,
)
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree, policy_from_table, uniform_policy


def entry_tree(out, share, fight):
    """The first stays out or comes in; the second then shares or fights."""
    second = Turn("second", "in", {"share": Leaf(share), "fight": Leaf(fight)})
    return build_tree(["first", "second"], Turn("first", "start", {"out": Leaf(out), "in": second}))


def policy(tree, out, share):
    table = {
        "first": {"start": {"out": out, "in": 1 - out}},
        "second": {"in": {"share": share, "fight": 1 - share}},
    }
    return policy_from_table(tree, table)


def test_credible_advice_carries_out_no_threat():
    # The second would rather see the first stay out, but once it is in, sharing earns 1 and
    # fighting 0.25.
    tree = entry_tree(out=(2, 5), share=(3, 1), fight=(0, 0.25))
    credible = find_credible_policy(policy(tree, 1.0, 0.0))
    assert credible.table() == {
        "first": {"start": {"out": 0, "in": 1}},
        "second": {"in": {"share": 1, "fight": 0}},
    }
    assert find_losses(credible).tolist() == [0, 0]
    # Fighting for sure loses 0.75 of the range from 0 to 5 there; staying out then earns 2 instead
    # of 0.
    assert find_losses(policy(tree, 1.0, 0.0)).tolist() == pytest.approx([0, 0.15])


def test_where_no_pure_reply_is_stable_credible_advice_mixes():
    # Matching pennies after a move that nobody sees: each side is played with probability 1/2.
    def guess(win):
        return Turn(
            "second", "blind", {"heads": Leaf((1 - win, win)), "tails": Leaf((win, 1 - win))}
        )

    tree = build_tree(
        ["first", "second"], Turn("first", "coin", {"heads": guess(1), "tails": guess(0)})
    )
    credible = find_credible_policy(uniform_policy(tree))
    assert credible.probabilities == pytest.approx([0.5] * 4, abs=1e-3)
    assert find_losses(credible).max() < 1e-3


def test_of_equally_good_replies_the_one_is_advised_that_lets_the_gain_grow():
    # The second is indifferent after "in"; if it is kind, the first comes in, which earns 3 from
    # the unguided (who share) instead of 2 by staying out.
    tree = entry_tree(out=(2, 0), share=(3, 1), fight=(0, 1))
    credible = find_credible_policy(policy(tree, 1.0, 1.0))
    assert credible.at("first", "start") == {"out": 0.0, "in": 1.0}
    assert credible.at("second", "in") == {"share": 1.0, "fight": 0.0}


@pytest.mark.parametrize(
    ("iterations", "out", "conv", "gain"),
    [
        # At first both are uniform. The first earns 1.75 and could have 2, the second 2.8125 and
        # could have 3. Among unguided (in, share: 3 and 1) the first then earns 2.5 and the second
        # 0.625: 0.5 and 0.375 less.
        (1, 1 / 2, 0.4375, -0.4375),
        # Out has a regret of 0.25, so it is played next, with twice the weight: (1/2 + 2) / 3. The
        # second is not reached any more and stays uniform. Regrets are (2 - 1.5) / 6 and (1 -
        # 0.625) / 6.
        (2, 5 / 6, 0.5 / 6 + 0.375 / 6, ((5 / 6) * -1 - 0.375) / 2),
        (1000, 1.0, 0.0, -0.6875),
    ],
)
def test_the_policy_of_cfr_is_that_of_its_iterations(iterations, out, conv, gain):
    tree = entry_tree(out=(2, 5), share=(3, 1), fight=(0, 0.25))
    solved = find_guidance(policy(tree, 0.0, 1.0), iterations, follow="cfr")
    assert solved.policy.at("first", "start")["out"] == pytest.approx(out, abs=1e-5)
    assert solved.policy.at("second", "in")["share"] == pytest.approx(0.5)
    assert (
        solved.metrics["nash_conv"]
        == solved.metrics["cfr_nash_conv"]
        == pytest.approx(conv, abs=1e-5)
    )
    assert solved.metrics["gain"] == solved.metrics["cfr_gain"] == pytest.approx(gain, abs=1e-5)
    # The credible policy is what the unguided do already, whatever CFR has learned.
    assert solved.policies["credible"].nash_conv == 0
    assert solved.policies["credible"].earned.gain == solved.metrics["credible_gain"] == 0


def test_sampled_regret_minimisation_comes_near_the_equilibrium_of_pennies():
    def guess(win):
        return Turn(
            "second", "blind", {"heads": Leaf((1 - win, win)), "tails": Leaf((win, 1 - win))}
        )

    tree = build_tree(
        ["first", "second"], Turn("first", "coin", {"heads": guess(1), "tails": guess(0)})
    )
    sampled = find_guidance(uniform_policy(tree), 4000, follow="cfr", variant="external-sampling")
    assert sampled.policy.probabilities == pytest.approx([0.5] * 4, abs=0.05)
    assert 0 < sampled.metrics["nash_conv"] < 0.05


def test_a_policy_that_is_not_worked_out_is_refused():
    tree = entry_tree(out=(2, 5), share=(3, 1), fight=(0, 0.25))
    with pytest.raises(
        UsageError, match="'nash' is not a policy that is computed; expected one of cfr, credible"
    ):
        find_guidance(policy(tree, 0.0, 1.0), follow="nash")


@pytest.mark.parametrize("seed", share_out(range(2)))
@pytest.mark.parametrize("name", domain_names())
def test_advice_is_credible_in_every_domain_and_gains_no_more_than_best_replies(name, seed):
    tree, *_ = recorded(dialogue(name, seed=seed), model=SimulatedSpeaker(seed))
    solved = solve_dialogue(tree, 300)
    rounding = 1e-4 * abs(solved.tree.payoffs).max()
    assert solved.losses.max() <= 0.01
    assert solved.metrics["nash_conv"] <= rounding
    assert solved.metrics["credible_gain"] <= solved.metrics["best_reply_gain"] + 1e-4
