"""A policy that is worth following also where its equilibrium never leads."""

import numpy as np
import pytest
from steering import dialogue, recorded

from bestresponse.games.dialogue.domain import domain_names
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.studies.steer.best_equilibrium import find_best_equilibrium
from bestresponse.studies.steer.refining import refine_policy
from bestresponse.studies.steer.solving import solve_dialogue
from bestresponse.theory.trees.policy import policy_from_table
from bestresponse.theory.trees.sequence_form import nash_conv, plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree


def entry_tree(out, share, fight):
    """The first stays out or comes in; the second then shares or fights."""
    second = Turn("second", "in", {"share": Leaf(share), "fight": Leaf(fight)})
    return build_tree(["first", "second"], Turn("first", "start", {"out": Leaf(out), "in": second}))


def policy(tree, out, share):
    table = {"first": {"start": {"out": out, "in": 1 - out}}, "second": {"in": {"share": share, "fight": 1 - share}}}
    return policy_from_table(tree, table)


def test_off_the_path_the_policy_replies_best_to_unguided_partners():
    tree = entry_tree(out=(2, 0), share=(1, 3), fight=(0, 1))
    refined = refine_policy(policy(tree, 1.0, 0.5), policy(tree, 0.0, 0.5))
    assert refined.policy.at("second", "in")["share"] == pytest.approx(1.0)
    assert refined.policy.at("first", "start")["out"] == pytest.approx(1.0)
    assert refined.nash_conv == pytest.approx(0.0, abs=1e-9)
    # The second earns 3 of 3; the first gets 2 by staying out, whatever the unguided second does.
    assert refined.attainable == pytest.approx((2.0, 3.0), abs=1e-4)
    assert refined.best_responses == (2.0, 3.0)


def test_a_threat_is_kept_as_far_as_the_equilibrium_needs_it():
    # Out is only worth 2 > 3 s to the first as long as the second shares with s <= 2/3.
    tree = entry_tree(out=(2, 5), share=(3, 1), fight=(0, 0.25))
    refined = refine_policy(policy(tree, 1.0, 0.0), policy(tree, 0.0, 0.5))
    assert refined.policy.at("second", "in")["share"] == pytest.approx(2 / 3, abs=1e-4)
    assert refined.nash_conv == pytest.approx(0.0, abs=1e-4)
    assert refined.attainable[1] == pytest.approx(2 / 3 * 1 + 1 / 3 * 0.25, abs=1e-4)
    assert refined.best_responses[1] == 1.0


@pytest.mark.parametrize(("wanted", "plan"), [("in", (0.0, 1.0)), ("out", (1.0, 0.0))])
def test_the_best_of_all_equilibria_is_found_whichever_is_wanted(wanted, plan):
    # Both (in, share) and (out, fight) are equilibria.
    form = to_sequence_form(entry_tree(out=(2, 5), share=(3, 1), fight=(0, 0.25)))
    goals = [np.array([0.0, wanted == "out", wanted == "in"]), np.zeros(3)]
    plans = find_best_equilibrium(form, goals)
    assert plans[0][1:] == pytest.approx(plan)
    assert plan_regrets(form, plans).sum() == pytest.approx(0.0, abs=1e-9)


def test_what_a_players_own_plan_never_reaches_is_filled_in_too():
    later = Turn("first", "later", {"bad": Leaf((0, 0)), "good": Leaf((1, 0))})
    tree = build_tree(["first", "second"], Turn("first", "start", {"stop": Leaf((2, 0)), "go": later}))
    uniform = {"first": {"start": {"stop": 1.0}, "later": {"bad": 0.5, "good": 0.5}}, "second": {}}
    start = policy_from_table(tree, uniform)
    assert refine_policy(start, start).policy.at("first", "later") == {"bad": 0.0, "good": 1.0}


@pytest.mark.parametrize("name", domain_names())
def test_guidance_gains_what_is_attainable_in_every_domain(name):
    gained = attainable = 0.0
    for seed in range(3):
        solved = solve_dialogue(recorded(dialogue(name, seed=seed), model=SimulatedSpeaker(seed))[0], 300)
        assert nash_conv(solved.tree, solved.policy) <= solved.cfr.nash_conv + 1e-4 * abs(solved.tree.payoffs).max()
        gained, attainable = gained + solved.gain, attainable + solved.attainable_gain
        assert solved.attainable_gain <= solved.best_response_gain + 1e-9
    assert gained >= 0.98 * attainable > 0
