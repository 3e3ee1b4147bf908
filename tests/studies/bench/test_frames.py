"""The frames of a benchmark: who lost what, compared with whom, and the plays in words, checked on
paper.

The first three games of seed 5, for the row player, are [[72, 85], [-16, -66]], where the opponent
plays the first column, [[75, 33], [-85, 88]], where both mix, and [[92, 48], [9, 34]], where it
plays the second.
"""

import pytest
import running

import bestresponse as br
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.differences import _list_pairs, list_differences
from bestresponse.studies.bench.frames import (
    _count_texts,
    _list_games,
)
from bestresponse.studies.bench.judging import judge_plays
from bestresponse.studies.bench.measure import (
    Asked,
    PlayMetrics,
    describe_asking,
    measure_baseline,
)
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.results import Results, list_versions, tabulate_versions
from bestresponse.studies.bench.study import bench

SPACE = "\N{NO-BREAK SPACE}"


def row(game, model="m", **figures):
    asked = {
        "spec": f"{model} {game}",
        "condition": "base",
        "game": game,
        "variant": "original",
        "model": model,
    }
    asked |= {
        "seat": "row",
        "asked_for": "mixed",
        "elicit": "mixed",
        "rows": 2,
        "cols": 2,
        "how": "",
        "status": "valid",
    }
    return {
        **dict.fromkeys([*Asked.__annotations__, *PlayMetrics.__annotations__]),
        **asked,
        **figures,
    }


def lost(game, gap, taken=None, **more):
    """The row of an answer that lost a share of the range to the opponent, and could have lost all
    of it."""
    worst = {"worst_normalised": 1.0, "worst_exploitability_normalised": 1.0}
    return row(
        game, **worst, nash_gap=gap, gap_normalised=gap, exploitability_normalised=taken, **more
    )


def gather(rows, models=("m",), games=3, **settings):
    return Results(
        Plan(BenchConfig(models, num_games=games, num_rows=2, num_cols=2, seed=5, **settings)),
        rows,
    )


@pytest.fixture
def played(tmp_path):
    """A run of three games: the first answered well, the second not at all, the third badly."""
    said = iter(["A", "no idea", "B"])
    config = BenchConfig("m", num_games=3, num_rows=2, num_cols=2, seed=5, elicit="pure")
    return running.run(
        bench, config, tmp_path, {"m": ScriptedModel(lambda request: next(said))}, workers=1
    )


def test_a_play_is_judged_by_what_a_best_response_takes_and_a_single_action_by_its_gap(played):
    plan = Plan(played.config)
    plays = sorted(played.folder.plays(), key=lambda play: play.data["game"])
    good, unread, bad = (dict(found.facts) for found in judge_plays(plan, plays))
    # Both mix so that the other does not care: 160 of 215 on the rows' difference, 88 - 33 of 215
    # on the columns'.
    assert unread == {
        "Optimal strategy": f"A{SPACE}0.805, B{SPACE}0.195",
        "The opponent plays": f"P{SPACE}0.256, Q{SPACE}0.744",
    }
    # Against the second column B earns 34 instead of 48, and at worst 9 instead of the value 48;
    # the range is 83.
    assert (bad["Gap / range"], bad["Exploitability / range"]) == ("0.169", "0.470")
    assert (good["Gap / range"], good["The opponent plays"]) == ("0.000", f"P{SPACE}1")
    losses = [found.loss for found in judge_plays(plan, plays)]
    assert losses == [0.0, None, pytest.approx(14 / 83)]


def test_replies_are_counted_by_how_they_were_read(played):
    assert played.frame("texts").rows == [
        {
            "kind": "unparseable",
            "text": "the reply holds no answer in the form that was asked for",
            "times": 1,
        }
    ]
    assert (played.frame("answers")[0]["valid"], played.frame("answers")[0]["unparseable"]) == (
        2,
        1,
    )
    assert played.answered == 2


def test_a_game_that_is_not_zero_sum_has_no_optimal_strategy(tmp_path):
    config = BenchConfig(
        "m", num_games=1, num_rows=2, num_cols=2, seed=5, elicit="pure", family="uniform"
    )
    ran = running.run(bench, config, tmp_path, {"m": ScriptedModel(lambda request: "")}, workers=1)
    (found,) = judge_plays(Plan(ran.config), list(ran.folder.plays()))
    assert [name for name, _ in found.facts] == ["The opponent plays"]


def test_games_are_compared_with_what_uniform_play_loses_in_them():
    rows = list(_list_games(gather([lost(0, 0.25, 0.5)], games=1)))
    # Uniform play earns (72 - 16) / 2 = 28 instead of 72; the range is 151.
    assert rows[0] == {
        "player": "m / mixed",
        "condition": "base",
        "game": 0,
        "seat": "row",
        "answers": 1,
        "nash_gap": 0.25,
        "gap_normalised": 0.25,
        "gap_spread": None,
        "exploitability_normalised": 0.5,
        "hardness": pytest.approx(44 / 151),
        "rows": 2,
        "cols": 2,
        "equilibrium": "pure",
        "value": 72,
        "row_payoffs": [[72, 85], [-16, -66]],
        "col_payoffs": [[-72, -85], [16, 66]],
        "row_equilibrium": [1, 0],
        "col_equilibrium": [1, 0],
    }
    uniform = next(found for found in rows if found["player"] == "uniform")
    assert (uniform["gap_normalised"], uniform["hardness"]) == (pytest.approx(44 / 151), None)
    assert list(_list_games(gather([]))) == []


def test_a_baseline_plays_the_games_that_models_played_in_both_seats():
    plan = Plan(BenchConfig("m", num_games=1, num_rows=2, num_cols=2, seed=5, seat=("row", "col")))
    first, second = measure_baseline(plan, "uniform", [0])
    # The second seat's payoffs are -72, -85 against the first row: 85 - 72 over two is lost by
    # mixing.
    assert (first["seat"], first["gap_normalised"]) == ("row", pytest.approx(44 / 151))
    assert (second["seat"], second["gap_normalised"]) == ("col", pytest.approx(6.5 / 151))
    assert (second["strategy"], second["model"], second["asked_for"]) == (
        [0.5, 0.5],
        "uniform",
        "baseline",
    )
    assert (second["status"], second["variant"], second["condition"]) == (
        "valid",
        "original",
        "base",
    )


def test_only_what_varies_is_named_in_how_a_player_was_asked():
    data = {"elicit": "pure", "format": "json", "theme": "neutral", "seat": 1}
    assert describe_asking(Plan(BenchConfig("m", elicit="pure", format="json")), data) == "pure"
    several = BenchConfig("m", elicit="pure", format=("table", "json"), seat=("row", "col"))
    assert describe_asking(Plan(several), data) == "pure, json, col"


def test_a_player_that_answered_some_games_is_measured_beside_baselines_on_the_same_ones():
    results = gather([lost(0, 0.5, 0.5), row(1), lost(2, 0.25, 0.5)])
    frame = tabulate_versions("same_games", results)
    assert {found["version"] for found in frame} == {"the 2 that m / mixed answered"}
    player, uniform = frame[0], frame.select(player="uniform")[0]
    assert (player["player"], player["asked"], player["answered"], player["actions"]) == (
        "m / mixed",
        2,
        2,
        2,
    )
    assert player["gap_normalised"].estimate == 0.375
    # On the games 0 and 2 uniform play loses 44 of 151 and (48 - 41) of 83.
    assert (uniform["asked"], uniform["gap_normalised"].estimate) == (
        2,
        pytest.approx((44 / 151 + 7 / 83) / 2),
    )
    single = tabulate_versions("same_games", gather([lost(0, 0.5), row(1)]))
    assert {found["version"] for found in single} == {"the 1 that m / mixed answered"}
    assert len(tabulate_versions("same_games", gather([lost(0, 0.5), lost(1, 0.5)]))) == 0
    assert len(tabulate_versions("same_games", gather([row(0), row(1)]))) == 0


def describe_versions(results):
    found = {}
    for version in list_versions(results):
        rows = [(r["condition"], r["variant"], r["rows"]) for r in version.rows]
        found.setdefault(version.frame, []).append((version.player, version.name, rows))
    return found


def test_the_sensitivity_suite_measures_every_setting_for_itself():
    results = gather([lost(0, 0.5), lost(0, 0.25, condition="payoffs x100")], suite="sensitivity")
    settings = {version: rows for _, version, rows in describe_versions(results)["settings"]}
    assert settings["base"] == [("base", "original", 2)]
    assert settings["payoffs x100"] == [("payoffs x100", "original", 2)]
    assert settings["temperature 1"] == []
    assert [found["version"] for found in tabulate_versions("settings", results)] == [
        "base",
        "payoffs x100",
    ]


def test_the_invariance_suite_measures_every_variant_beside_the_games_as_drawn():
    rows = [row(0, strategy=[1.0, 0.0]), row(0, strategy=[0.5, 0.5], variant="shifted")]
    results = gather(rows, suite="invariance")
    variants = {version: found for _, version, found in describe_versions(results)["variants"]}
    assert variants["shifted"] == [("base", "original", 2), ("base", "shifted", 2)]
    assert variants["scaled"] == [("base", "original", 2)]
    frame = tabulate_versions("variants", results)
    # (1, 0) and (1/2, 1/2) are half apart.
    assert {
        found["version"]: found["invariance"] and found["invariance"].estimate for found in frame
    }["shifted"] == 0.5
    assert list(frame.more) == ["invariance"]


def list_compared(results):
    return [(p.comparison, p.first.name, p.second.name) for p in _list_pairs(results)]


def test_players_are_compared_with_those_after_them_and_with_three_baselines():
    results = gather([lost(0, 0.5), lost(0, 0.5, model="n")], models=("m", "n"))
    assert list_compared(results) == [
        ("players", "m / mixed", "n / mixed"),
        ("players", "m / mixed", "uniform"),
        ("players", "m / mixed", "maximin"),
        ("players", "m / mixed", "equilibrium"),
        ("players", "n / mixed", "uniform"),
        ("players", "n / mixed", "maximin"),
        ("players", "n / mixed", "equilibrium"),
    ]


def test_a_verified_player_is_compared_with_itself_unverified_and_asked_again():
    models = ("verified:m", "again:m", "m")
    results = gather([lost(0, 0.5, model=model) for model in models], models=models)
    assert [pair for pair in list_compared(results) if pair[0] == "verified"] == [
        ("verified", "verified:m / mixed", "again:m / mixed"),
        ("verified", "verified:m / mixed", "m / mixed"),
        ("verified", "again:m / mixed", "m / mixed"),
    ]


def test_variants_are_compared_with_the_games_as_drawn_seat_by_seat():
    rows = [
        lost(0, 0.5),
        lost(0, 0.25, variant="swapped", seat="col"),
        lost(0, 0.75, variant="shifted"),
    ]
    pairs = {
        pair.first.name: pair
        for pair in _list_pairs(gather(rows, suite="invariance"))
        if pair.comparison == "variants"
    }
    (swapped,) = pairs["m / mixed, swapped"].first.rows
    (drawn,) = pairs["m / mixed, swapped"].second.rows
    against = pairs["m / mixed, swapped"].second.name
    assert (swapped["gap_normalised"], swapped["seat"], swapped["variant"]) == (
        0.25,
        "row",
        "original",
    )
    assert (against, drawn["gap_normalised"]) == ("m / mixed, as drawn", 0.5)
    assert pairs["m / mixed, shifted"].first.rows[0]["seat"] == "row"
    assert pairs["m / mixed, scaled"].first.rows == []


def test_shares_count_games_and_not_their_trials():
    def ask_again(game, loss):
        figures = {"gap_normalised": loss, "worst_normalised": 1.0, "equilibrium_distance": loss}
        return [row(game, trial=trial, **figures) for trial in range(8)]

    rows = [*ask_again(0, 0.0), *ask_again(1, 1.0)]
    figures = {metric.name: metric.compute(rows) for metric in METRICS}
    # Eight trials each of two games, one of which is always won: half of the answers, from which
    # Wilson's interval for 16 answers would conclude 0.28 to 0.72. Two games say next to nothing.
    for name in ("success_1", "success_5", "in_equilibrium"):
        assert (figures[name].estimate, figures[name].n, figures[name].method) == (
            0.5,
            2,
            "bounded",
        )
        assert figures[name].low < 0.05
        assert figures[name].high > 0.95
    once = {metric.name: metric.compute([rows[0], rows[8]]) for metric in METRICS}
    assert (once["success_1"].n, once["success_1"].method, once["in_equilibrium"].method) == (
        2,
        "wilson",
        "wilson",
    )


def test_differences_are_over_all_games_that_both_answered_and_adjusted_within_their_family():
    gaps = [0.5, 0.25, 0.75, 0.5, 0.625]
    rows = [lost(game, gap) for game, gap in enumerate(gaps)]
    rows += [lost(game, gap - 0.25, model="n") for game, gap in enumerate(gaps[:4])]
    found = list(list_differences(gather(rows, models=("m", "n"), games=5)))
    (first,) = (d for d in found if d["against"] == "n / mixed")
    assert (first["comparison"], first["player"], first["by"]) == (
        "players",
        "m / mixed",
        "gap / range",
    )
    assert (first["difference"].estimate, first["games"], first["effect"]) == (0.25, 4, None)
    # All four games differ alike, 2 of 16 patterns of signs: 1/8. It is the only comparison of
    # models, and those with baselines are no part of its family.
    assert (first["p"], first["p_adjusted"]) == (0.125, 0.125)
    # The baselines lose less than m in all five games, 2 of 32 patterns.
    beside = [d for d in found if d["player"] == "m / mixed" and d["against"] != "n / mixed"]
    assert [(d["p"], d["p_adjusted"]) for d in beside] == [(0.0625, None)] * 3
    # Three models, three comparisons: the smallest p times three, then times two, never falling.
    third = [lost(game, gap - 0.125 * (-1) ** game, model="o") for game, gap in enumerate(gaps)]
    all_three = gather([*rows, *third], models=("m", "n", "o"), games=5)
    models = [d for d in list_differences(all_three) if d["p_adjusted"] is not None]
    assert [d["p"] for d in models] == [0.125, 1.0, 0.125]
    assert [d["p_adjusted"] for d in models] == [0.375, 1.0, 0.375]
    # Nobody's exploitability is known, so only gaps are compared; one common game is no comparison.
    assert {d["by"] for d in found} == {"gap / range"}
    alone = gather([lost(0, 0.5), lost(0, 0.25, model="n")], models=("m", "n"), games=1)
    assert list(list_differences(alone)) == []


def test_texts_are_counted_cut_to_120_characters_the_commonest_twenty():
    rows = [
        row(0, how="x" * 121, status="repaired"),
        row(1, how="x" * 120, status="repaired"),
        row(2),
    ]
    assert list(_count_texts(gather(rows))) == [{"kind": "repaired", "text": "x" * 120, "times": 2}]
    many = [row(number, how=f"reason {number}") for number in range(21)]
    assert len(list(_count_texts(gather(many)))) == 20


def test_figures_that_vary_by_game_are_bounded_by_the_most_that_a_game_allows():
    def upper(name, worst, **more):
        rows = [row(game, **{name: 0.0}, **worst) for game in range(8)]
        return next(metric for metric in METRICS if metric.name == name).compute(rows).high

    # 0.2765 is the 97.5 % point of Beta(1/2, 8), times what can be lost.
    share = 0.2765
    assert upper(
        "exploitability_normalised", {"worst_exploitability_normalised": 0.5}
    ) == pytest.approx(0.5 * share, abs=0.02)
    assert upper("nash_gap", {"worst_normalised": 0.5, "payoff_range": 10.0}) == pytest.approx(
        5 * share, abs=0.1
    )
    assert upper("gap_nearest", {"payoff_range": 10.0}) == pytest.approx(10 * share, abs=0.2)
    assert upper("security_loss", {"payoff_range": 10.0}) == pytest.approx(10 * share, abs=0.2)
    assert upper("equilibrium_distance", {}) == pytest.approx(share, abs=0.02)
    assert upper("dominated_mass", {}) == pytest.approx(share, abs=0.02)


def test_contamination_is_the_share_of_the_score_that_is_lost_when_games_are_retold():
    # Scores as drawn 0.9 and 0.7; retold 0.5 (the mean of 0.6 and 0.4) and 0.7, so that 0.4 of 1.6
    # are lost. What is shifted or scaled is no retelling, and game 2 was not answered as drawn.
    rows = [lost(0, 0.1), lost(1, 0.3)]
    rows += [
        lost(game, gap) | {"variant": variant}
        for game, gap, variant in (
            (0, 0.4, "permuted"),
            (0, 0.6, "disguised"),
            (1, 0.3, "relabelled"),
            (1, 1.0, "scaled"),
            (2, 1.0, "relabelled"),
        )
    ]
    (metric,) = (metric for metric in METRICS if metric.name == "contamination")
    found = metric.compute(rows)
    assert (found.estimate, found.n) == (pytest.approx(0.25), 2)
    assert (found.low, found.high) == (-1 / 0.8, 1.0)  # what two games rule out: nothing
    assert metric.compute(rows[:2]) is None
    # Who is told otherwise and answers alike loses nothing, but one game in which it does is not
    # ruled out.
    alike = [lost(game, 0.0) for game in range(20)]
    alike += [row | {"variant": "permuted"} for row in alike]
    same = metric.compute(alike)
    assert (same.estimate, same.high) == (0.0, pytest.approx(0.119, abs=5e-3))


def test_who_was_asked_is_no_baseline_too(tmp_path):
    run = br.bench("random", num_games=2, output_dir=tmp_path)
    players = run.frame("games").list_values("player")
    assert players[0] == "random / mixed"
    assert "random" not in players
    assert "uniform" in players
