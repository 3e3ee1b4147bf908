"""Figures of policies in games played in turn that have no sentence of their own elsewhere:
intervals, means, pictures.

Payoffs of Kuhn poker go from -2 to 2, so that each of two players can lose 4.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import running

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.document import Figure
from bestresponse.studies.bench import decision_report
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.policies import Arena, StatedPolicy
from bestresponse.studies.bench.study import bench
from bestresponse.theory.catalogue.trees import kuhn_poker
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_tree

PLAYER = "scripted / mixed"


def answer(bet, line=""):
    chance = float(Fraction(bet))
    return line or json.dumps({"pass": 1 - chance, "bet": chance})


def run(tmp_path, script, **changes):
    config = BenchConfig(**{"model": "scripted", "game": "kuhn-poker", **changes})
    return running.run(bench, config, tmp_path, {"scripted": ScriptedModel(script)})


def find_figures(ran, player="scripted", way="mixed"):
    return next(dict(figures) for heads, figures in ran.metrics.groups if heads == (player, way))


def test_a_mean_over_policies_reaches_up_to_what_a_policy_can_lose(tmp_path):
    # Always betting has an exploitability of 1/3 and a NashConv of 2/3. Two such policies leave
    # half a policy unseen, whose share is below 3/4 in 97.4 % of all draws: (3 sqrt(x) - x sqrt(x))
    # / 2 is the distribution of Beta(1/2, 2). The upper end is therefore about a quarter of what
    # was seen and 3/4 of the most.
    figures = find_figures(run(tmp_path, lambda request: answer("1"), num_games=2))
    # The most: with a lower card a player loses 2 at worst and with a higher one 1, by folding to
    # a bet, -3/2 on average, which is 13/9 below the value of -1/18 of the first and 14/9 below
    # that of the second.
    most = {"nash_conv": 3.0, "exploitability": 1.5, "exploitability_normalised": 1.5 / 4}
    for name, limit in most.items():
        interval = figures[name]
        assert interval.high == pytest.approx(
            interval.estimate / 4 + 3 / 4 * limit, abs=0.05 * limit
        ), name
        assert interval.low == pytest.approx(interval.estimate / 4, abs=0.02 * limit), name
        assert (interval.n, interval.method) == (2, "bounded")
    assert figures["exploitability_normalised"].estimate == pytest.approx(1 / 3 / 4)
    assert figures["nash_conv"].estimate == pytest.approx(2 / 3)
    assert (figures["policies"], figures["complete"], figures["known"]) == (2, 2, 1.0)


def test_the_most_that_one_seat_loses_is_what_its_worst_policy_loses(tmp_path):
    # The incumbent gets 2 where it shares with an entrant and 0 where it fights, but 5 without
    # entry. In equilibrium there is entry, so that 2 is the most to lose, and not 5.
    fight = {"game": "entry-deterrence", "num_games": 2, "seat": "incumbent"}
    figures = find_figures(
        run(tmp_path, lambda request: json.dumps({"share": 0.0, "fight": 1.0}), **fight)
    )
    assert figures["nash_gap"].estimate == 2.0
    assert figures["nash_gap"].high == pytest.approx(2.0)
    assert figures["nash_gap"].low == pytest.approx(2 / 4, abs=0.1)
    assert figures["gap_normalised"].estimate == pytest.approx(2 / 5)


QUEEN_AND_BET = "You hold the queen. So far: player 1 chose bet."


def test_incomplete_policies_enter_no_mean_but_the_share_of_known_sets(tmp_path):
    """The second of two policies says nothing at one of twelve information sets."""

    def script(request):
        unknown = request.replicate == 1 and QUEEN_AND_BET in request.messages[-1].content
        return answer("1/2", "I fold." if unknown else "")

    ran = run(tmp_path, script, num_games=2)
    figures = find_figures(ran)
    assert (figures["policies"], figures["complete"]) == (2, 1)
    assert figures["known"] == pytest.approx((1 + 11 / 12) / 2)
    # The only complete policy does not tell how policies of this model vary.
    conv = figures["nash_conv"]
    assert conv.estimate == pytest.approx(11 / 12)
    assert (conv.low, conv.high, conv.method, conv.n) == (-math.inf, math.inf, "none", 1)
    # Bounds are over both: with 11/24 of a range of 4 for the first, the mean of all four seats lies around it.
    assert figures["exploitability_at_least"] < 11 / 96 < figures["exploitability_at_most"]
    assert ran.answered == 23
    # Where one of the policies is silent, the other speaks for the player; its losses are not known
    # then.
    (row,) = [
        row for row in ran.frame("infosets") if (row["seat"], row["infoset"]) == ("player 2", "Q b")
    ]
    assert (row["mixture"], row["policy"], row["loss"]) == ([0.5, 0.5], "pass 0.5, bet 0.5", None)


def test_complete_policies_have_no_bounds(tmp_path):
    figures = find_figures(run(tmp_path, lambda request: answer("1/2")))
    assert [
        figures[f"{name}_{side}"]
        for name in ("exploitability", "gap")
        for side in ("at_least", "at_most")
    ] == [None] * 4


def test_an_answer_is_written_in_the_order_of_the_game_and_adds_up_to_1(tmp_path):
    # The second policy is offered the moves in the other order. Answers may miss a sum of 1 by a
    # millionth.
    ran = run(tmp_path, lambda request: json.dumps({"bet": 0.25, "pass": 0.7500009}), num_games=2)
    rows = ran.frame("plays").rows
    assert {tuple(row["moves"]) for row in rows} == {("pass", "bet")}
    for row in rows:
        assert row["strategy"] == pytest.approx([0.75, 0.25], abs=1e-6)
        assert sum(row["strategy"]) == pytest.approx(1, abs=1e-12)
    assert [(row["policy"], row["sample"]) for row in rows] == [(0, 0)] * 12 + [(1, 0)] * 12


def test_answers_are_listed_by_information_set_and_sample(tmp_path):
    ran = run(
        tmp_path,
        lambda request: json.dumps({"answer": "bet"}),
        elicit="sampled",
        samples=2,
        seat="player 1",
    )
    rows = ran.frame("plays").rows
    assert [row["sample"] for row in rows] == [0, 1] * 6
    assert [row["infoset"] for row in rows] == [
        label for label in ("J", "J pb", "Q", "Q pb", "K", "K pb") for _ in range(2)
    ]
    assert {(tuple(row["strategy"]), row["temperature"], row["asked_for"]) for row in rows} == {
        ((0.0, 1.0), 1.0, "sampled")
    }
    (game,) = ran.frame("game")
    assert (game["decisions"], game["asked"], game["positions"]) == (6, 6, None)


def test_information_sets_are_listed_by_what_they_lose(tmp_path):
    # With one seat alone nothing is known of regrets; what always passes loses at four sets of
    # player 2.
    rows = run(tmp_path, lambda request: answer("0"), seat="player 2").frame("infosets").rows
    ranked = [(row["excess"], row["regret"], row["loss"]) for row in rows]
    assert {regret for _, regret, _ in ranked} == {None}
    assert [(-excess, -loss) for excess, _, loss in ranked] == sorted(
        (-excess, -loss) for excess, _, loss in ranked
    )
    assert ranked[0][0] > 0


def test_information_sets_of_which_less_is_known_come_after_those_that_lose(tmp_path):
    def script(request):
        return answer("1/2", "I fold." if QUEEN_AND_BET in request.messages[-1].content else "")

    rows = run(tmp_path, script).frame("infosets").rows
    # Player 2 is silent at one set, so that only player 1 has an exploitability that could go; what
    # player 2 loses against the equilibrium is known at the others.
    assert (rows[0]["seat"], rows[0]["excess"] > 0) == ("player 1", True)
    others = [row for row in rows if row["seat"] == "player 2"]
    assert {row["excess"] for row in others} == {None}
    losses = [row["loss"] or 0.0 for row in others]
    assert losses[0] > 0
    assert losses == sorted(losses, reverse=True)
    assert next(row["loss"] for row in others if row["infoset"] == "Q b") is None


def test_a_seat_earns_its_best_response_less_its_gap(tmp_path):
    # Against the equilibrium player 1 earns -1/18 at best; the coin loses 1/9 of that.
    ran = run(tmp_path, lambda request: answer("1/2"))
    (row,) = ran.frame("seats").select(player=PLAYER, seat="player 1")
    assert (row["value"], row["gap"], row["earns"]) == pytest.approx(
        (-1 / 18, 1 / 9, -1 / 18 - 1 / 9)
    )
    assert ran.frame("seats").list_values("player") == [
        PLAYER,
        "uniform",
        "first",
        "last",
        "level-1",
        "level-2",
        "equilibrium",
    ]


def draw(tmp_path, monkeypatch, script, **changes):
    """The overlays of the trees of a report, and its figures."""
    overlays = []
    monkeypatch.setattr(
        decision_report, "draw_tree", lambda tree, overlay: overlays.append(overlay) or b"<svg >"
    )
    shown = decision_report.draw_policies(run(tmp_path, script, **changes))
    return overlays, shown


def test_a_picture_shows_the_chance_of_every_move_and_losses_as_shares_of_the_largest(
    tmp_path, monkeypatch
):
    """Player 1 bets with one half, player 2 always passes; only the set with the most excess has a
    circle of 1."""

    def script(request):
        return answer("0" if "You are player 2" in request.messages[-1].content else "1/2")

    (overlay,), shown = draw(tmp_path, monkeypatch, script)
    tree = kuhn_poker()
    rows = {(row["seat"], row["infoset"]): row for row in run(tmp_path, script).frame("infosets")}
    assert set(overlay.chances) == set(np.flatnonzero(tree.infoset[tree.parent] >= 0)) - {0}
    for node, chance in overlay.chances.items():
        infoset = tree.infosets[tree.infoset[tree.parent[node]]]
        by_move = [0.5, 0.5] if tree.players[infoset.player] == "player 1" else [1.0, 0.0]
        assert chance == by_move[tree.move[node]]
    most = max(row["excess"] for row in rows.values())
    assert max(overlay.weights.values()) == 1.0
    for k, weight in overlay.weights.items():
        infoset = tree.infosets[k]
        assert weight == pytest.approx(
            rows[tree.players[infoset.player], infoset.label]["excess"] / most
        )
    assert overlay.nodes == set()
    (figure,) = shown.blocks
    assert isinstance(figure, Figure)
    assert "the more exploitability goes once" in figure.caption
    assert "Only the ways" not in figure.caption
    assert figure.alt == f"Tree of the game with the policy of {PLAYER}"


def test_a_picture_without_a_loss_has_no_circles(tmp_path, monkeypatch):
    (overlay,), _ = draw(
        tmp_path, monkeypatch, lambda request: json.dumps({"take": 1, "pass": 0}), game="centipede"
    )
    # In a general sum there is no exploitability: regrets are shown, all of them 0.
    assert set(overlay.weights.values()) == {0.0}
    # The first of nine positions is the start, to which no move leads.
    assert set(overlay.chances) == set(range(1, 9))


def test_of_a_large_tree_only_the_ways_to_the_largest_losses_are_drawn(tmp_path, monkeypatch):
    tree = kuhn_poker()
    losses = dict.fromkeys(range(12), 0.0)
    king, called = (tree.infoset_index["player 1", label] for label in ("K", "K pb"))
    losses |= {called: 0.5, king: 0.25}
    assert decision_report._choose_nodes(tree, losses) == set()
    monkeypatch.setattr(decision_report, "MOST_ENDS", 30)  # Kuhn poker has 30 ends
    assert decision_report._choose_nodes(tree, losses) == set()
    monkeypatch.setattr(decision_report, "MOST_ENDS", 29)
    monkeypatch.setattr(decision_report, "_MOST_DRAWN", 1)
    # From the first position of the set: its two moves, the position itself, the bet, the pass, the
    # deal, the start.
    position = int(np.flatnonzero(tree.infoset == called)[0])
    bet = int(tree.parent[position])
    deal = int(tree.parent[bet])
    assert decision_report._choose_nodes(tree, losses) == {
        *tree.children[position],
        position,
        bet,
        deal,
        0,
    }
    monkeypatch.setattr(decision_report, "_MOST_DRAWN", 2)
    # The king's first position lies on that way; its other move, to bet at once, is new.
    first = int(np.flatnonzero(tree.infoset == king)[0])
    assert first == deal
    both = decision_report._choose_nodes(tree, losses)
    assert both == {*tree.children[position], position, *tree.children[deal], deal, 0}
    overlays, shown = draw(tmp_path, monkeypatch, lambda request: answer("1/2"))
    assert 0 < len(overlays[0].nodes) < 55
    assert "Only the ways to the largest are drawn." in shown.blocks[0].caption


def test_the_eight_largest_losses_are_drawn(monkeypatch):
    monkeypatch.setattr(decision_report, "MOST_ENDS", 29)
    tree = kuhn_poker()
    nodes = decision_report._choose_nodes(tree, {k: float(k) for k in range(12)})
    firsts = [int(np.flatnonzero(tree.infoset == k)[0]) for k in range(12)]
    # Both moves lead on from the sets 4 to 11; of others there is what leads to these, if anything.
    whole = [k for k, node in enumerate(firsts) if nodes.issuperset(tree.children[node])]
    assert whole == list(range(4, 12))


def test_replies_are_listed_up_to_2000_characters(tmp_path):
    rows = run(tmp_path, lambda request: "x" * 2001).frame("plays").rows
    assert {len(row["reply"]) for row in rows} == {2000}


def test_a_command_prints_figures_and_seats():
    assert bench.count_tables(BenchConfig("m", "kuhn-poker")) == 2


def test_nothing_is_drawn_where_nothing_was_answered(tmp_path, monkeypatch):
    overlays, shown = draw(tmp_path, monkeypatch, lambda request: "I fold.")
    assert (overlays, shown) == ([], None)


def make_coin(equilibrium, draws):
    """The policy that tosses a coin at every set, as if sampled; `draws` are NashConvs of samples
    by their way."""
    tree = kuhn_poker()
    arena = Arena(to_sequence_form(tree), equilibrium)
    counts = {k: np.array([5.0, 5.0]) for k in range(12)} | {3: np.array([2.0, 2.0])}
    policy = StatedPolicy(arena, (0, 1), np.full(24, 0.5), np.ones(12, dtype=bool), counts)
    policy._drawn.update({way: {"nash_conv": np.array(figures)} for way, figures in draws.items()})
    return policy


def test_the_ends_of_a_sampled_figure_are_percentiles_or_their_mirror_images():
    # NashConv is 11/12. Of 401 even steps from 0.8 to 1.2 the ends of the middle 95 % are 0.81 and
    # 1.19; mirrored at the figure they are 22/12 - 1.19 and 22/12 - 0.81. Without an equilibrium
    # nothing else is known.
    above = make_coin(None, {0.0: np.linspace(0.8, 1.2, 401)}).estimate("nash_conv")
    assert (above.low, above.estimate, above.high) == pytest.approx((22 / 12 - 1.19, 11 / 12, 1.19))
    assert (above.n, above.method, above.level) == (4, "sampled moves", 0.95)
    below = make_coin(None, {0.0: np.linspace(0.2, 0.6, 401)}).estimate("nash_conv")
    assert (below.low, below.high) == pytest.approx((0.21, 22 / 12 - 0.21))
    wide = make_coin(None, {0.0: np.linspace(0.0, 4.0, 401)}).estimate("nash_conv")
    assert (wide.low, wide.high) == pytest.approx((0.0, 3.9))


@pytest.mark.parametrize(
    ("plausible", "way"), [((1.0,), 1.0), ((0.5,), 0.5), ((0.5, 0.75), 0.75), ((), 0.0)]
)
def test_the_lower_end_goes_as_far_to_the_equilibrium_as_samples_like_this_one_are_plausible(
    plausible, way
):
    """Samples as bad as this one come often on the ways that are plausible, never on others."""
    equilibrium = solve_tree(kuhn_poker()).policy
    ways = {k / 16: [2.0 if k / 16 in plausible else 0.0] for k in range(1, 17)}
    policy = make_coin(equilibrium, {**ways, 0.0: [2.0] * 400})
    reached = (1 - way) * policy.row + way * policy.nearest
    expected = StatedPolicy(policy.arena, (0, 1), reached, policy.known).metrics["nash_conv"]
    assert policy._bound_below("nash_conv", 11 / 12) == pytest.approx(expected, abs=1e-9)


def test_a_sample_is_plausible_where_one_in_forty_is_as_bad():
    equilibrium = solve_tree(kuhn_poker()).policy
    for as_bad, expected in ((25, 0.0), (24, 11 / 12)):
        # of 1,000 samples of the equilibrium itself; none on the way to it
        draws = {k / 16: [0.0] for k in range(1, 16)} | {
            1.0: [11 / 12] * as_bad + [0.0] * (1000 - as_bad)
        }
        assert make_coin(equilibrium, draws)._bound_below("nash_conv", 11 / 12) == pytest.approx(
            expected, abs=1e-9
        )


def test_figures_below_a_billionth_of_the_largest_payoff_are_rounding_errors():
    arena = Arena(to_sequence_form(kuhn_poker()))  # payoffs up to 2
    assert [arena.clean(figure) for figure in (-0.5, 1.5e-9, 2.5e-9)] == [0.0, 0.0, 2.5e-9]
