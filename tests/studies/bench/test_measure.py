"""What a play says about its player, and what all plays of a player say, worked out by hand."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import running
from hypothesis import given, settings, strategies as st

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games import draw_games, own_view
from bestresponse.studies.bench.measure import (
    Asked,
    PlayMetrics,
    measure_baseline,
    measure_plays,
    measure_strategies,
)
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.study import bench


def figures(own, x, y, other=None):
    own = np.asarray(own, dtype=float)
    other = -own if other is None else np.asarray(other, dtype=float)
    (row,) = measure_strategies(
        own[None], other[None], np.asarray(x, dtype=float)[None], np.asarray(y, dtype=float)[None]
    )
    return row


def test_the_figures_of_a_hand_worked_game():
    """[[0, 5], [4, 1]]: the column player mixes evenly, the value is 5/2, the row player plays
    (3/8, 5/8)."""
    row = figures([[0, 5], [4, 1]], [1, 0], [0.5, 0.5])
    assert (row["llm_value"], row["br_value"], row["nash_gap"]) == (2.5, 2.5, 0.0)
    assert (row["exploitability"], row["exploitability_normalised"], row["payoff_range"]) == (
        2.5,
        0.5,
        5.0,
    )
    best = figures([[0, 5], [4, 1]], [3 / 8, 5 / 8], [0.5, 0.5])
    assert best["exploitability"] == pytest.approx(0, abs=1e-12)


def test_each_game_of_a_batch_gets_the_figures_of_its_kind():
    """A of matching pennies pays -1 at worst, which is 1 below the value; A of a dilemma is
    dominated by 1."""
    pennies, dilemma = np.array([[1.0, -1], [-1, 1]]), np.array([[3.0, 0], [5, 1]])
    own, other = np.stack([pennies, dilemma]), np.stack([-pennies, dilemma.T])
    first, second = measure_strategies(
        own, other, np.array([[1.0, 0], [1, 0]]), np.array([[0.5, 0.5], [0, 1]])
    )
    assert (
        first["exploitability"],
        first["exploitability_normalised"],
        first["dominated_mass"],
    ) == (1.0, 0.5, None)
    assert (second["exploitability"], second["dominated_mass"], second["nash_gap"]) == (
        None,
        1.0,
        1.0,
    )


def test_figures_are_shares_of_the_range_of_payoffs_also_where_it_is_small_and_0_where_there_is_none():
    small = figures([[0.5, 0], [0.25, 0.25]], [0, 1], [1, 0])
    assert (small["gap_normalised"], small["exploitability_normalised"]) == (0.5, 0.5)
    flat = figures([[1, 1], [1, 1]], [0, 1], [1, 0])
    assert (flat["gap_normalised"], flat["exploitability_normalised"], flat["payoff_range"]) == (
        0,
        0,
        0,
    )


@pytest.mark.parametrize(("size", "gap"), [(1e6, 0.0), (1e-3, 1e-5)])
def test_what_counts_as_a_rounding_error_depends_on_the_size_of_the_payoffs(size, gap):
    """Floats near a million end at the tenth decimal, so that a gap of five billionths is nothing
    but rounding; one of a hundred-thousandth is 1 % of 1/1000."""
    lost = {1e6: 5e-9, 1e-3: 1e-5}[size]
    found = figures([[size, size], [size - lost, size - lost]], [0, 1], [1, 0])
    assert found["nash_gap"] == pytest.approx(gap, rel=1e-9)
    assert found["exploitability"] == pytest.approx(gap, rel=1e-9)


def test_a_dominated_row_has_a_gap():
    """Row 2 gives 1 less than row 1 everywhere; the column player's equilibrium is the second
    column."""
    row = figures([[3, 2], [2, 1]], [0.25, 0.75], [0, 1])
    assert (row["llm_value"], row["br_value"], row["nash_gap"], row["gap_normalised"]) == (
        1.25,
        2.0,
        0.75,
        0.375,
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_gap_and_exploitability_are_never_negative_and_zero_at_the_optimum(seed, rows, cols):
    drawn = draw_games(
        BenchConfig("m", num_games=5, num_rows=rows, num_cols=cols, seed=seed).source
    )
    own, other = drawn.payoffs[:, 0], drawn.payoffs[:, 1]
    rng = np.random.default_rng(seed)
    for x in (drawn.solved.row, rng.dirichlet(np.ones(rows), size=5)):
        for row in measure_strategies(own, other, x, drawn.solved.col):
            assert 0 <= row["nash_gap"] <= row["exploitability"] + 1e-9
    best = measure_strategies(own, other, drawn.solved.row, drawn.solved.col)
    assert max(row["exploitability"] for row in best) < 1e-9 * 200


def test_general_sum_games_are_measured_against_the_nearest_equilibrium():
    """Battle of the sexes: playing its second action is the second pure equilibrium."""
    row = figures([[2, 0], [0, 1]], [0, 1], [1, 0], [[1, 0], [0, 2]])
    assert (row["nash_gap"], row["equilibrium_distance"], row["gap_nearest"]) == (2.0, 0.0, 0.0)
    assert row["dominated_mass"] == 0
    assert row["exploitability"] is None


def test_a_zero_sum_game_is_measured_as_one_among_others_of_its_size():
    pennies = br.NormalForm.zero_sum([[1, -1], [-1, 1]])
    sexes = br.NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    config = BenchConfig("m", [pennies, sexes])

    def always_the_first(request):
        (actions,) = re.findall(r"ANSWER: (\S+): <p>, (\S+): <p>", request.messages[-1].content)
        return json.dumps(dict(zip(actions, (1.0, 0.0), strict=True)))

    play = bench.play(config, {"m": ScriptedModel(always_the_first)})
    plays = [
        StoredPlay(spec.id, spec.data, play(spec, [], lambda submission: None))
        for spec in bench.list_specs(config)
    ]
    zero_sum, general = (row for row, _ in measure_plays(Plan(config), plays))
    # The value is 0, and who always shows the same side loses 1 of a range of 2.
    assert (zero_sum["exploitability"], zero_sum["exploitability_normalised"]) == (1.0, 0.5)
    assert (zero_sum["dominated_mass"], zero_sum["equilibrium_distance"]) == (None, None)
    assert general["exploitability"] is None
    assert general["equilibrium_distance"] == 0.0


def test_dominated_actions_are_found_also_below_mixtures():
    """The third row is beaten by an even mix of the first two (2 against 1), by neither alone."""
    own = [[4, 0], [0, 4], [1, 1]]
    row = figures(own, [0.5, 0.0, 0.5], [0.5, 0.5], [[0, 0], [0, 0], [0, 0]])
    assert row["dominated_mass"] == 0.5


def test_the_seat_sees_its_own_actions_as_rows():
    payoffs = np.array([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]], dtype=float)
    own, other = own_view(payoffs, 1)
    assert own.tolist() == [[7, 10], [8, 11], [9, 12]]
    assert other.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_games_depend_on_seed_and_number_only_and_are_rounded_before_solving():
    few, many, others = (
        draw_games(BenchConfig("m", num_games=games, seed=seed).source).payoffs
        for games, seed in ((3, 5), (9, 5), (3, 6))
    )
    assert (few == many[:3]).all()
    assert (many == many.round()).all()
    assert np.abs(many).max() <= 100
    assert (others != few).any()


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"num_games": 0}, "num_games: expected a whole number from 1 to 1,000,000, got 0"),
        ({"num_rows": 13}, "num_rows: expected a whole number from 1 to 12, got 13"),
        ({"num_games": 2.5}, "num_games: expected a whole number from 1 to 1,000,000, got 2.5"),
        ({"family": "zerosum"}, "Did you mean zero-sum"),
        ({"suite": "all"}, "sensitivity, buckets, hard, got 'all'"),
        (
            {"elicit": "mix"},
            (
                "elicit: expected one of mixed, pure, sampled, logprobs, got 'mix'. Did you mean"
                " mixed?"
            ),
        ),
        (
            {"theme": "war"},
            "theme: expected one of neutral, numbers, market, patrol, football, got 'war'",
        ),
        ({"seat": "left"}, "seat: expected one of row, col, got 'left'"),
        ({"scale": 0.0}, "scale: expected a number above 0 and below 1,000,000,000,000"),
        ({"temperature": -1.0}, "temperature: expected a number from 0 to 5, got -1.0"),
        ({"model": ()}, "model: expected at least one model"),
        (
            {"suite": "invariance", "format": ("table", "json")},
            "format: this suite varies it; give a single value",
        ),
        ({"max_infosets": 3}, "max_infosets: this has no effect on games that are drawn"),
        ({"samples": 20}, "samples: this has no effect unless elicit has `sampled`"),
        ({"style": "letter"}, "style: a letter cannot state a mixed strategy"),
        ({"model": "verified:m", "style": "json"}, "style: json leaves no room for reasons"),
        ({"model": "again:m", "plain": True}, "plain: without reasons there is nothing to verify"),
        (
            {"elicit": "logprobs", "theme": "market"},
            "elicit: logprobs works only with the theme neutral",
        ),
        (
            {"elicit": "logprobs", "model": "verified:m"},
            "elicit: logprobs asks for no reasons that could be verified",
        ),
        ({"seats": "row"}, "bench has no setting 'seats'. Did you mean seat?"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_sentence(settings_, sentence):
    with pytest.raises(UsageError) as refused:
        BenchConfig(**{"model": "m", **settings_})
    assert sentence in str(refused.value)


def test_the_embedded_model_is_the_default_and_its_probabilities_are_read():
    assert (BenchConfig().model, BenchConfig().elicit) == (("smollm2",), ("logprobs",))
    assert BenchConfig("m").elicit == ("mixed",)


def measure_answers(tmp_path, *answers, **settings):
    """Play one game for each answer and return the rows in the order of the games."""
    config = BenchConfig("m", num_games=len(answers), **settings)
    said = iter(answers)
    ran = running.run(
        bench, config, tmp_path, {"m": ScriptedModel(lambda request: next(said))}, workers=1
    )
    return sorted(ran.rows(), key=lambda row: row["game"])


def test_a_row_says_what_was_asked_and_how_it_was_read(tmp_path):
    answered, refused = measure_answers(
        tmp_path, "A", "no idea", num_rows=2, num_cols=3, elicit="pure", seed=4
    )
    assert (answered["rows"], answered["cols"], answered["seat"], answered["status"]) == (
        2,
        3,
        "row",
        "valid",
    )
    assert (answered["strategy"], answered["attempts"], answered["claims"]) == (
        [1.0, 0.0],
        None,
        None,
    )
    assert (refused["status"], refused["strategy"], refused["nash_gap"]) == (
        "unparseable",
        None,
        None,
    )


def test_a_missing_answer_is_bounded_by_the_worst_one(tmp_path):
    """The game of seed 5 is [[72, 85], [-16, -66]]; the opponent plays the first column, the value
    is 72."""
    (missing,) = measure_answers(tmp_path, "no idea", num_rows=2, num_cols=2, seed=5)
    assert (missing["br_value"], missing["payoff_range"], missing["nash_gap"]) == (None, 151, None)
    assert missing["worst_normalised"] == (72 + 16) / 151
    assert missing["worst_exploitability_normalised"] == (72 + 66) / 151
    (second,) = measure_answers(
        tmp_path / "col", "no idea", num_rows=2, num_cols=2, seed=5, seat="col"
    )
    assert (second["seat"], second["worst_normalised"], second["nash_gap"]) == (
        "col",
        (85 - 72) / 151,
        None,
    )


def test_a_row_counts_the_claims_of_the_last_review_and_those_refuted_in_it(tmp_path):
    config = BenchConfig("m", num_games=1, elicit="pure")
    ran = running.run(bench, config, tmp_path, {"m": ScriptedModel(lambda request: "A")})
    (play,) = ran.folder.plays()
    answer, opponent = play.record.submissions
    verdicts = (["refuted"], ["proved", "refuted", "unknown"])
    reviews = tuple(
        {"claims": [{"verdict": verdict} for verdict in attempt]} for attempt in verdicts
    )
    reviewed = replace(answer, decision=replace(answer.decision, remarks=reviews))
    record = replace(play.record, submissions=(reviewed, opponent))
    ((row, _),) = measure_plays(Plan(config), [replace(play, record=record)])
    assert (row["attempts"], row["claims"], row["refuted"], row["refuted_first"]) == (2, 3, 1, 1)


def test_a_missing_answer_in_a_flat_game_can_have_cost_nothing(tmp_path):
    (missing,) = measure_answers(tmp_path, "no idea", num_rows=1, num_cols=1)
    assert missing["worst_normalised"] == 0
    assert missing["worst_exploitability_normalised"] == 0


def row(game, **figures):
    asked = {
        "spec": str(game),
        "condition": "base",
        "game": game,
        "variant": "original",
        "model": "m",
        "seat": "row",
    }
    return {
        **dict.fromkeys([*Asked.__annotations__, *PlayMetrics.__annotations__]),
        **asked,
        **figures,
    }


def compute(rows):
    """The figures of a player with these rows, by name."""
    return {metric.name: metric.compute(rows) for metric in METRICS}


def test_a_player_nobody_can_read_has_no_gap_but_bounds():
    found = compute([row(game, status="refused", worst_normalised=0.5) for game in range(4)])
    assert (found["nash_gap"], found["answered"], found["asked"]) == (None, 0, 4)
    assert (found["gap_at_least"], found["gap_at_most"]) == (0.0, 0.5)
    assert found["exploitability_at_least"] is None


def test_bounds_put_missing_answers_at_both_ends():
    """Two answers lost 0.1 and 0.3, two are missing and could have lost 0.6 and 1 at most."""
    seen = [
        row(game, gap_normalised=gap, worst_normalised=0.8) for game, gap in enumerate((0.1, 0.3))
    ]
    missing = [row(game, worst_normalised=worst) for game, worst in ((2, 0.6), (3, 1.0))]
    found = compute([*seen, *missing])
    assert (found["gap_at_least"], found["gap_at_most"]) == pytest.approx((0.4 / 4, 2.0 / 4))
    assert compute(seen)["gap_at_most"] is None


def test_success_is_the_share_of_answers_with_little_exploitability():
    values = [0.0, 0.01, 0.03, 0.2]
    known = {"gap_normalised": 0.0, "worst_exploitability_normalised": 1.0}
    found = compute(
        [row(g, **known, exploitability_normalised=value) for g, value in enumerate(values)]
    )
    assert found["success_1"].estimate == 0.5
    assert found["success_5"].estimate == 0.75
    assert (round(found["success_1"].low, 3), found["success_1"].n) == (0.15, 4)


def test_success_in_other_games_is_a_small_gap_to_the_opponent_met_and_not_to_some_equilibrium():
    """Every answer is part of an equilibrium but the last, yet two of four lose against the
    opponent they met."""
    met = [(0.0, 0.0), (0.01, 0.0), (0.04, 0.005), (0.6, 0.02)]
    rows = [
        row(game, gap_normalised=gap, worst_normalised=1.0, equilibrium_distance=distance)
        for game, (gap, distance) in enumerate(met)
    ]
    found = compute(rows)
    assert (found["success_1"].estimate, found["success_5"].estimate) == (0.5, 0.75)
    assert (found["in_equilibrium"].estimate, found["in_equilibrium"].n) == (0.75, 4)
    just_as_near = [row(0, equilibrium_distance=0.01), row(1, equilibrium_distance=0.0101)]
    assert compute(just_as_near)["in_equilibrium"].estimate == 0.5


def test_an_average_without_a_loss_has_an_upper_end_above_0_that_grows_with_what_could_be_lost():
    def upper(worst):
        games = [
            row(g, gap_normalised=0.0, worst_normalised=w, payoff_range=9.0)
            for g, w in enumerate(worst)
        ]
        return compute(games)["gap_normalised"]

    assert upper([0.2] * 8).low == 0.0
    assert upper([0.2] * 8).high == pytest.approx(
        0.2 * 0.2765, abs=0.005
    )  # 0.2765 is the 97.5 % point of Beta(1/2, 8)
    assert upper([0.2] * 7 + [0.8]).high == pytest.approx(4 * upper([0.2] * 8).high)


def test_the_games_needed_allow_for_one_game_that_is_lost():
    """0, 0 and a game that loses 1/2 deviate by 0.28868: (1.96 * 0.28868 / 0.02) ** 2 = 800 games,
    803 by t."""
    rows = [row(game, gap_normalised=0.0, worst_normalised=0.5) for game in range(2)]
    assert compute(rows)["games_needed"] == 803
    assert compute(rows[:1])["games_needed"] is None
    # Nothing can be lost in these games, so that their mean is known.
    assert (
        compute([row(game, gap_normalised=0.0, worst_normalised=0.0) for game in range(2)])[
            "games_needed"
        ]
        is None
    )


def test_means_are_over_games_as_drawn_and_games_are_resampled_whole():
    lost = {"worst_normalised": 0.5, "payoff_range": 10.0}
    rows = [
        row(0, nash_gap=2.0, llm_value=1.0, **lost),
        row(1, nash_gap=4.0, llm_value=2.0, **lost),
    ]
    told = {**row(1, nash_gap=100.0), "variant": "shifted"}
    found = compute([*rows, told])
    assert (found["nash_gap"].estimate, found["nash_gap"].n, found["llm_value"]) == (3.0, 2, 1.5)
    trials = [{**rows[0], "trial": number} for number in range(2)]
    assert compute(trials)["nash_gap"].n == 1


def test_invariance_is_1_less_the_mean_distance_to_the_answer_to_the_game_as_drawn():
    """(1, 0) and (1/2, 1/2) are half apart, equal answers not at all: 3/4 over both tellings, and
    1/2 in the worse one."""
    rows = [row(0, strategy=[1.0, 0.0]), row(1, strategy=[0.0, 1.0])]
    told = [
        {**row(0, strategy=[0.5, 0.5]), "variant": "permuted"},
        {**row(1, strategy=[0.0, 1.0]), "variant": "format"},
        {**row(2, strategy=[1.0, 0.0]), "variant": "format"},
    ]
    found = compute([*rows, *told])
    assert (found["invariance_mean"].estimate, found["invariance"].estimate) == (0.75, 0.5)
    assert found["invariance"].n == 1
    # Answers that never change may in a game not seen, whose share is below 3/4 in 97.4 % of draws
    # (Beta(1/2, 2)).
    same = compute([*rows, *({**answer, "variant": "scaled"} for answer in rows)])["invariance"]
    assert (same.estimate, same.high, same.n) == (1.0, 1.0, 2)
    assert same.low == pytest.approx(1 / 4, abs=0.05)
    assert compute(rows)["invariance"] is None


def test_wrong_reasoning_is_counted_by_plays():
    rows = [
        row(0, attempts=2, claims=3, refuted=0, refuted_first=2),
        row(1, attempts=1, refuted=1, refuted_first=1),
    ]
    found = compute(rows)
    assert (found["wrong_first"], found["wrong_last"], found["attempts"], found["refuted"]) == (
        2,
        1,
        1.5,
        0.5,
    )
    assert compute([row(0)])["wrong_first"] is None


def test_own_value_gap_and_best_response_of_a_row_are_over_the_same_plays(tmp_path):
    """Every third answer is missing; what is lost is the best response less the own value all the
    same."""
    said = iter(["A", "B", "hm"] * 4)
    ran = br.bench(
        lambda prompt: next(said),
        elicit="pure",
        num_games=12,
        seed=3,
        workers=1,
        output_dir=tmp_path,
    )
    player = ran.summary()["metrics"][0]
    assert player["answered"] == 8
    assert player["br_value"] - player["llm_value"] == pytest.approx(player["nash_gap"]["estimate"])
    read = [row for row in ran.rows() if row["nash_gap"] is not None]
    assert player["gap_ratio"] == pytest.approx(
        sum(row["nash_gap"] for row in read) / sum(abs(row["br_value"]) for row in read)
    )


@pytest.mark.parametrize("offset", [1e9, -1e9, 1e11])
def test_a_gap_is_none_the_less_for_what_everybody_gets(offset):
    """In [[5, 4], [4, 4]] the second row earns 4 against a fair coin, and the first 4.5."""
    own = np.array([[[5.0, 4.0], [4.0, 4.0]]]) + offset
    (found,) = measure_strategies(own, -own, np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]]))
    assert found["nash_gap"] == found["exploitability"] == found["gap_normalised"] == 0.5


def test_rounding_errors_are_no_gap():
    """The even mix of matching pennies with an error in the last digit."""
    off = np.nextafter(0.5, 1)
    found = figures([[100, -100], [-100, 100]], [off, 1 - off], [off, 1 - off])
    assert (found["nash_gap"], found["exploitability"]) == (0.0, 0.0)


def test_a_baseline_says_how_many_actions_its_seat_has_and_the_other():
    plan = Plan(BenchConfig("m", num_games=1, num_rows=2, num_cols=3, seat=("row", "col")))
    rows = measure_baseline(plan, "uniform", [0])
    assert [(r["rows"], r["cols"], len(r["strategy"])) for r in rows] == [(2, 3, 2), (3, 2, 3)]


def test_a_figure_without_an_interval_is_called_a_mean():
    help = {metric.name: metric.help for metric in METRICS}
    assert help["llm_value"] == "mean expected payoff"
    assert help["nash_gap"] == "best response minus own value, against an equilibrium opponent"


def test_the_equilibrium_baseline_plays_the_same_equilibrium_as_the_opponent():
    """The games of seed 22 have several equilibria: a best response to the opponent's has no gap in
    either seat."""
    plan = Plan(BenchConfig("m", num_games=10, seed=22, family="uniform", seat=("row", "col")))
    rows = measure_baseline(plan, "equilibrium", list(range(10)))
    assert [r["nash_gap"] for r in rows] == [0.0] * 20
    assert [r["seat"] for r in rows] == ["row"] * 10 + ["col"] * 10
