"""Policies of scripted models in games played in turn, whose exploitability is known exactly."""

import json
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import running

from bestresponse.analysis.theory import describe_theory
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.page import render
from bestresponse.runs.store.folder import Shard
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.policies import Arena, StatedPolicy
from bestresponse.studies.bench.study import bench, plan_questions
from bestresponse.theory.catalogue.trees import kuhn_poker
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_tree

# Kuhn poker's equilibria: player 1 bets J with probability a and K with 3a, and calls with Q with a
# + 1/3 (Kuhn 1950).
EQUILIBRIUM = {
    "J": "1/5",
    "Q": "0",
    "K": "3/5",
    "J pb": "0",
    "Q pb": "8/15",
    "K pb": "1",
    "J p": "1/3",
    "Q p": "0",
    "K p": "1",
    "J b": "0",
    "Q b": "1/3",
    "K b": "1",
}


def find_infoset(request):
    """Return the label of an information set of Kuhn poker: the card, and the moves so far."""
    told = request.messages[-1].content
    card = re.search(r"You hold the (\w)", told)[1].upper()
    moves = re.findall(r"chose (p|b)", told)
    return f"{card} {''.join(moves)}".strip()


def bet_with(chances):
    """A model that states the probability of betting by what it knows."""

    def script(request):
        bet = float(
            Fraction(chances[find_infoset(request)] if isinstance(chances, dict) else chances)
        )
        return json.dumps({"pass": 1 - bet, "bet": bet})

    return ScriptedModel(script)


def config(**changes):
    return BenchConfig(**{"model": "scripted", "game": "kuhn-poker", **changes})


def run(tmp_path, model, **changes):
    return running.run(bench, config(**changes), tmp_path, {"scripted": model})


def figures(ran, player="scripted", way="mixed"):
    (found,) = [
        f for f in ran.summary()["metrics"] if (f["player"], f["asked_for"]) == (player, way)
    ]
    return found


def seats(ran, player="scripted / mixed"):
    return {row["seat"]: row for row in ran.frame("seats").select(player=player)}


@pytest.mark.parametrize(
    ("bet", "nash_conv", "in_seats"),
    [
        ("1/2", "11/12", ("13/36", "5/9")),
        ("0", "2", ("17/18", "19/18")),
        ("1", "2/3", ("5/18", "7/18")),
        (EQUILIBRIUM, "0", ("0", "0")),
    ],
)
def test_exploitability_of_simple_policies_in_kuhn_poker_is_known_exactly(
    tmp_path, bet, nash_conv, in_seats
):
    ran = run(tmp_path, bet_with(bet))
    found = figures(ran)
    assert found["nash_conv"]["estimate"] == pytest.approx(float(Fraction(nash_conv)), abs=1e-9)
    assert found["exploitability"]["estimate"] == pytest.approx(
        float(Fraction(nash_conv)) / 2, abs=1e-9
    )
    assert [row["exploitability"] for row in seats(ran).values()] == pytest.approx(
        [float(Fraction(share)) for share in in_seats], abs=1e-9
    )


def test_a_single_stated_policy_has_no_interval_and_a_baseline_needs_none(tmp_path):
    ran = run(tmp_path, bet_with("1/2"))
    found = figures(ran)["nash_conv"]
    assert found["estimate"] == pytest.approx(11 / 12)
    assert (found["low"], found["high"], found["n"]) == (None, None, 1)
    assert figures(ran, "uniform", "baseline")["nash_conv"] == pytest.approx(11 / 12)


def test_the_interval_of_a_sampled_equilibrium_reaches_down_to_zero():
    tree = kuhn_poker()
    arena = Arena(to_sequence_form(tree), solve_tree(tree).policy)
    counts, row = {}, np.zeros(24)
    for index, infoset in enumerate(tree.infosets):
        bets = round(10 * float(Fraction(EQUILIBRIUM[infoset.label])))
        counts[index] = np.array(
            [bets if move == "bet" else 10 - bets for move in infoset.moves], dtype=float
        )
        row[2 * index : 2 * index + 2] = counts[index] / 10
    policy = StatedPolicy(arena, (0, 1), row, np.ones(12, dtype=bool), counts)
    found = policy.estimate("nash_conv")
    assert found.estimate > 0.02
    assert found.low == pytest.approx(0, abs=1e-6)
    assert arena.find_nearest(policy.policy).probabilities == pytest.approx(row, abs=0.05)


def test_losses_by_information_set_add_up_to_gap_and_regrets_to_nash_conv(tmp_path):
    ran = run(tmp_path, bet_with("1/2"))
    by_set = ran.frame("infosets")
    assert len(by_set) == 12
    in_seat_1 = sum(row["loss"] for row in by_set.select(seat="player 1"))
    assert in_seat_1 == pytest.approx(1 / 9)
    assert seats(ran)["player 1"]["gap"] == pytest.approx(1 / 9)
    assert sum(row["regret"] for row in by_set) == pytest.approx(11 / 12)
    assert [row["excess"] for row in by_set] == sorted(
        (row["excess"] for row in by_set), reverse=True
    )


def test_exploitability_is_put_down_to_the_set_that_no_equilibrium_goes_with(tmp_path):
    # With a = 1/4 the queen should call with 7/12. Calling with 2/5 only, player 1 loses (7/12 -
    # 2/5) * (3 - 1) / 6 to an opponent who bets every jack and king.
    stated = EQUILIBRIUM | {"J": "1/4", "K": "3/4", "Q pb": "2/5"}
    ran = run(tmp_path, bet_with(stated))
    rows = {(row["seat"], row["infoset"]): row for row in ran.frame("infosets")}
    assert rows["player 1", "Q pb"]["excess"] == pytest.approx(11 / 180, abs=1e-6)
    assert rows["player 1", "Q pb"]["equilibrium"] == "pass 0.417, bet 0.583"
    assert rows["player 1", "J"]["equilibrium"] == "pass 0.75, bet 0.25"
    assert [key for key, row in rows.items() if row["excess"]] == [("player 1", "Q pb")]
    assert ran.frame("infosets")[0]["infoset"] == "Q pb"


def test_the_queen_that_calls_half_of_the_time_loses_nothing_against_the_equilibrium(tmp_path):
    ran = run(tmp_path, bet_with("1/2"))
    rows = {(row["seat"], row["infoset"]): row for row in ran.frame("infosets")}
    assert rows["player 2", "Q b"]["loss"] == 0
    assert rows["player 2", "K p"]["loss"] > 0
    assert rows["player 2", "K p"]["equilibrium"] == "pass 0, bet 1"


def test_a_player_that_was_asked_for_is_not_listed_twice(tmp_path):
    ran = running.run(bench, config(model=("uniform", "equilibrium")), tmp_path, {})
    names = [one["player"] for one in ran.summary()["metrics"]]
    assert sorted(names) == sorted(set(names))
    assert names[:3] == ["uniform", "equilibrium", "first"]


def test_the_equilibrium_earns_the_value_and_so_does_the_baseline(tmp_path):
    ran = run(tmp_path, bet_with(EQUILIBRIUM))
    assert seats(ran)["player 1"]["value"] == pytest.approx(-1 / 18)
    assert seats(ran)["player 1"]["earns"] == pytest.approx(-1 / 18)
    assert figures(ran, "equilibrium", "baseline")["exploitability"] == pytest.approx(0, abs=1e-9)
    assert figures(ran, "first", "baseline")["nash_conv"] == pytest.approx(2)


def test_sampled_moves_become_frequencies_with_an_interval_and_moves_are_offered_in_turn(tmp_path):
    asked = []

    def script(request):
        offered = re.search(r"<action> is one of (.*)\.", request.messages[-1].content)[1]
        asked.append((find_infoset(request), offered))
        return json.dumps({"answer": "bet" if request.replicate % 4 == 0 else "pass"})

    ran = run(tmp_path, ScriptedModel(script), elicit="sampled", samples=8)
    assert ran.frame("infosets")[0]["mixture"] == [0.75, 0.25]
    found = figures(ran, way="sampled")["nash_conv"]
    assert found["low"] < found["estimate"] < found["high"]
    assert sum(one == ("K pb", "bet, pass") for one in asked) == 4


def test_several_policies_have_an_interval_over_policies(tmp_path):
    def script(request):
        return json.dumps(
            {"pass": 1.0, "bet": 0.0} if request.replicate else {"pass": 0.0, "bet": 1.0}
        )

    found = figures(run(tmp_path, ScriptedModel(script), num_games=2))["nash_conv"]
    assert found["estimate"] == pytest.approx((2 + 2 / 3) / 2)
    # Two policies say little: the ends lie beyond both of them, and within the 4 that each of two
    # players can lose.
    assert 0 < found["low"] < 2 / 3
    assert 2 < found["high"] < 8
    assert found["n"] == 2


def test_a_chosen_subset_gives_bounds_that_hold_the_true_figure(tmp_path):
    ran = run(tmp_path, bet_with("1/2"), max_infosets=8)
    found = figures(ran)
    assert found["exploitability"] is None
    assert found["known"] == pytest.approx(8 / 12)
    assert found["exploitability_at_least"] < 11 / 96 < found["exploitability_at_most"]
    assert found["gap_at_least"] <= found["gap_at_most"]
    assert "Only 8 of 12 information sets" in render(ran.report())


def test_gap_bounds_are_those_of_the_best_and_the_worst_completion():
    plan = plan_questions(config())
    arena = Arena(plan.form, describe_theory(plan.game).policies[0])
    tree = plan.tree
    known = np.array([one.label in ("J", "Q", "K") or one.player == 1 for one in tree.infosets])
    row = np.full(24, 0.5)
    free = [k for k, one in enumerate(tree.infosets) if not known[k]]
    gaps, taken = [], []
    for choice in product((0, 1), repeat=len(free)):
        pure = row.copy()
        for k, move in zip(free, choice, strict=True):
            pure[tree.first_move[k] : tree.first_move[k] + 2] = np.eye(2)[move]
        plan_1 = arena.form.plexes[0].plan(
            np.concatenate([[1.0], pure[arena.form.plexes[0].moves]])
        )
        gaps.append(arena.bests[0] - arena.worths[0] @ plan_1)
        taken.append(arena.measure_exploitability(0, plan_1))
    policy = StatedPolicy(arena, (0, 1), row, known)
    assert policy.bound_gap(0) == pytest.approx((min(gaps), max(gaps)))
    least, most = policy.bound_exploitability(0)
    assert 0 < least <= min(taken)
    assert max(taken) <= most


def test_an_unreadable_answer_makes_its_policy_incomplete_and_nothing_is_made_up(tmp_path):
    def script(request):
        return (
            "I fold." if find_infoset(request) == "Q b" else json.dumps({"pass": 0.5, "bet": 0.5})
        )

    ran = run(tmp_path, ScriptedModel(script))
    found = figures(ran)
    assert found["nash_conv"] is None
    assert found["exploitability_at_least"] < 11 / 96 < found["exploitability_at_most"]
    (read,) = ran.frame("answers")
    assert (read["valid"], read["unparseable"]) == (11, 1)
    (row,) = [row for row in ran.rows() if row["infoset"] == "Q b"]
    assert (row["status"], row["strategy"]) == ("unparseable", None)
    (unknown,) = ran.frame("infosets").select(infoset="Q b")
    assert (unknown["mixture"], unknown["loss"]) == (None, None)


def test_one_seat_alone_has_exploitability_but_no_nash_conv(tmp_path):
    found = figures(run(tmp_path, bet_with("0"), seat="player 2"))
    assert found["nash_conv"] is None
    assert found["exploitability"]["estimate"] == pytest.approx(19 / 18)


def test_a_game_of_three_who_choose_at_once_is_measured_seat_by_seat(tmp_path):
    # Who volunteers gets 1; who waits gets 2 if somebody volunteers, else 0. If all toss coins,
    # waiting earns 2 * 3/4 and the coin 5/4: each gains 1/4 by waiting. In the equilibrium that was
    # found player 1 volunteers, so that it loses 1/2 by its coin, and so does each of the others,
    # who had better wait.
    def toss(request):
        return json.dumps({"volunteer": 0.5, "wait": 0.5})

    ran = run(tmp_path, ScriptedModel(toss), game="volunteers-dilemma", seed=9)
    assert figures(ran)["nash_conv"]["estimate"] == pytest.approx(3 / 4)
    assert [row["gap"] for row in seats(ran).values()] == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    assert ran.frame("infosets")[0]["equilibrium"] == "volunteer 1, wait 0"
    one = run(tmp_path, ScriptedModel(toss), game="volunteers-dilemma", seat="player 2")
    assert list(seats(one)) == ["player 2"]
    assert seats(one)["player 2"]["earns"] == pytest.approx(3 / 2)


def test_a_general_sum_tree_has_gaps_and_nash_conv_but_no_exploitability(tmp_path):
    def script(request):
        return json.dumps({"take": 1.0, "pass": 0.0})

    found = figures(run(tmp_path, ScriptedModel(script), game="centipede"))
    assert found["nash_conv"]["estimate"] == 0
    assert found["nash_gap"]["estimate"] == 0
    assert found["exploitability"] is None


def test_a_run_goes_on_is_replayed_and_merges_from_shards(tmp_path):
    whole = run(tmp_path / "whole", bet_with("1/2"))
    assert whole.replay().same == 12
    model = bet_with("1/2")
    again = running.run(bench, config(), tmp_path / "whole", {"scripted": model})
    assert (again.outcome.found, len(model.asked)) == (12, 0)
    parts = [
        running.run(
            bench, config(), tmp_path / name, {"scripted": bet_with("1/2")}, shard=Shard(k, 2)
        )
        for k, name in ((1, "one"), (2, "two"))
    ]
    assert sum(part.outcome.played for part in parts) == 12


def test_the_estimate_counts_every_question_and_attempt():
    found = bench.estimate(config(elicit=("mixed", "sampled"), samples=5, attempts=2, num_games=3))
    assert found.plays == 12 * 3 * 6
    assert found.total_calls == 12 * 3 * 6 * 2
    assert bench.estimate(config(max_infosets=4)).what == "4 of 12 information sets of kuhn-poker"


def test_settings_survive_being_written_down():
    settings = config(max_infosets=3, seat="player 1")
    assert BenchConfig.from_json(json.loads(json.dumps(settings.to_json()))) == settings
    assert (config().seat, config().num_games) == (("player 1", "player 2"), 1)


def test_the_report_draws_the_tree_and_lists_every_answer(tmp_path):
    page = render(run(tmp_path, bet_with("1/2")).report())
    assert "Tree of the game with the policy of scripted" in page
    for title in (
        "How far from optimal",
        "Seat by seat",
        "Where policies lose",
        "Every answer",
    ):
        assert title in page
