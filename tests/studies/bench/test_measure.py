import json
from dataclasses import replace

import numpy as np
import pytest
import running
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.classic import Benchmark, GamePromptFormatter, LLMInterface, generate_games, matrix_game
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games.drawn import draw, own_view
from bestresponse.studies.bench.general import compute_correlated_regret
from bestresponse.studies.bench.measure import _certainly_unique, measure, measure_strategies
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.rows import NO_FIGURES
from bestresponse.studies.bench.study import BenchStudy
from bestresponse.studies.bench.summary import PlayerSummary, make_baseline_rows, seed_summary
from bestresponse.theory import solve_zero_sum


def figures(own, x, y, other=None):
    own = np.asarray(own, dtype=float)
    other = -own if other is None else np.asarray(other, dtype=float)
    (row,) = measure_strategies(
        own[None], other[None], np.asarray(x, dtype=float)[None], np.asarray(y, dtype=float)[None]
    )
    return row


def test_the_figures_of_a_hand_worked_game():
    """[[0, 5], [4, 1]]: the column player mixes evenly, the value is 5/2, the row player plays (3/8, 5/8)."""
    row = figures([[0, 5], [4, 1]], [1, 0], [0.5, 0.5])
    assert (row["llm_value"], row["br_value"], row["nash_gap"]) == (2.5, 2.5, 0.0)
    assert (row["exploitability"], row["exploitability_normalised"], row["payoff_range"]) == (2.5, 0.5, 5.0)
    best = figures([[0, 5], [4, 1]], [3 / 8, 5 / 8], [0.5, 0.5])
    assert best["exploitability"] == pytest.approx(0, abs=1e-12)


def test_support_and_entropy_are_those_of_opponent_and_answer():
    """The opponent plays two of three columns; the answer (1/2, 1/4, 1/4) has 3/2 bits, a pure one none."""
    game = [[1, 0, 5], [0, 1, 5], [0, 0, 5]]
    mixed = figures(game, [0.5, 0.25, 0.25], [0.5, 0.5, 0])
    assert (mixed["support"], mixed["pure_equilibrium"], mixed["entropy"]) == (2, False, 1.5)
    pure = figures([[3, 2], [2, 1]], [1, 0], [0, 1])
    assert (pure["support"], pure["pure_equilibrium"], pure["entropy"]) == (1, True, 0.0)


def test_figures_are_shares_of_the_range_of_payoffs_also_where_it_is_small_and_0_where_there_is_none():
    small = figures([[0.5, 0], [0.25, 0.25]], [0, 1], [1, 0])
    assert (small["gap_normalised"], small["exploitability_normalised"]) == (0.5, 0.5)
    flat = figures([[1, 1], [1, 1]], [0, 1], [1, 0])
    assert (flat["gap_normalised"], flat["exploitability_normalised"], flat["payoff_range"]) == (0, 0, 0)


@pytest.mark.parametrize(("size", "gap"), [(1e6, 0.0), (1e-3, 1e-5)])
def test_what_counts_as_a_rounding_error_depends_on_the_size_of_the_payoffs(size, gap):
    """A gap of a ten-thousandth is below a billionth of a million, one of a hundred-thousandth is 1 % of 1/1000."""
    lost = {1e6: 1e-4, 1e-3: 1e-5}[size]
    found = figures([[size, size], [size - lost, size - lost]], [0, 1], [1, 0])
    assert found["nash_gap"] == pytest.approx(gap, rel=1e-9)
    assert found["exploitability"] == pytest.approx(gap, rel=1e-9)


def test_a_dominated_row_has_a_gap():
    """Row 2 gives 1 less than row 1 everywhere; the column player's equilibrium is the second column."""
    row = figures([[3, 2], [2, 1]], [0.25, 0.75], [0, 1])
    assert (row["llm_value"], row["br_value"], row["nash_gap"], row["gap_normalised"]) == (1.25, 2.0, 0.75, 0.375)


def test_where_the_opponent_has_many_optimal_strategies_the_widest_gap_is_told():
    """Every column mix with weight on the second below 1 is as good for the opponent against row 1."""
    row = figures([[0, 0], [0, -1]], [0, 1], [1, 0])
    assert (row["nash_gap"], row["gap_any_equilibrium"]) == (0.0, 1.0)
    raised = figures([[2, 2], [2, 1.5]], [0, 1], [1, 0])
    assert (raised["nash_gap"], raised["gap_any_equilibrium"], raised["value"]) == (0.0, 0.5, 2.0)


def test_uniqueness_is_claimed_only_where_it_holds():
    games = np.array([[[1, -1], [-1, 1]], [[0, 0], [0, -1]], [[1, 1], [1, 1]], [[2, 3], [1, 0]]], dtype=float)
    solution = solve_zero_sum(games)
    assert _certainly_unique(games, solution.col, solution.values).tolist() == [True, False, False, True]
    tiny = solve_zero_sum(games * 1e-12)
    assert _certainly_unique(games * 1e-12, tiny.col, tiny.values).tolist() == [True, False, False, True]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_gap_and_exploitability_are_never_negative_and_zero_at_the_optimum(seed, rows, cols):
    drawn = draw(BenchConfig(num_games=5, num_rows=rows, num_cols=cols, seed=seed))
    own, other = drawn.payoffs[:, 0], drawn.payoffs[:, 1]
    rng = np.random.default_rng(seed)
    for x in (drawn.solved.row, rng.dirichlet(np.ones(rows), size=5)):
        for row in measure_strategies(own, other, x, drawn.solved.col):
            assert 0 <= row["nash_gap"] <= row["exploitability"] + 1e-9
            assert row["nash_gap"] <= row["gap_any_equilibrium"] <= row["exploitability"] + 1e-6
    best = measure_strategies(own, other, drawn.solved.row, drawn.solved.col)
    assert max(row["exploitability"] for row in best) < 1e-9 * 200


def test_general_sum_games_are_measured_against_the_nearest_equilibrium():
    """Battle of the sexes: playing its second action is the second pure equilibrium."""
    row = figures([[2, 0], [0, 1]], [0, 1], [1, 0], [[1, 0], [0, 2]])
    assert (row["nash_gap"], row["equilibrium_distance"], row["gap_nearest"]) == (2.0, 0.0, 0.0)
    assert row["dominated_mass"] == 0
    assert row["exploitability"] is None


def test_dominated_actions_are_found_also_below_mixtures():
    """The third row is beaten by an even mix of the first two (2 against 1), by neither alone."""
    own = [[4, 0], [0, 4], [1, 1]]
    row = figures(own, [0.5, 0.0, 0.5], [0.5, 0.5], [[0, 0], [0, 0], [0, 0]])
    assert row["dominated_mass"] == 0.5


def test_compute_correlated_regret_a_product_is_the_larger_swap_gain():
    """Prisoner's dilemma, both cooperate: each would gain 5 - 3 by defecting."""
    payoffs = np.array([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], dtype=float)
    assert compute_correlated_regret(payoffs, np.array([1.0, 0]), np.array([1.0, 0])) == 2.0
    assert compute_correlated_regret(payoffs, np.array([0, 1.0]), np.array([0, 1.0])) == 0.0


def test_the_seat_sees_its_own_actions_as_rows():
    payoffs = np.array([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]], dtype=float)
    own, other = own_view(payoffs, 1)
    assert own.tolist() == [[7, 10], [8, 11], [9, 12]]
    assert other.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_games_depend_on_seed_and_number_only_and_are_rounded_before_solving():
    few, many = draw(BenchConfig(num_games=3, seed=5)), draw(BenchConfig(num_games=9, seed=5))
    assert (few.payoffs == many.payoffs[:3]).all()
    assert (many.payoffs == many.payoffs.round()).all()
    assert np.abs(many.payoffs).max() <= 100
    assert (draw(BenchConfig(num_games=3, seed=6)).payoffs != few.payoffs).any()


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"num_games": 0}, "--num-games 0"),
        ({"num_rows": 13}, "--num-rows 13: expected a whole number from 1 to 12"),
        ({"num_games": 2.5}, "--num-games 2.5: expected a whole number from 1 to"),
        ({"family": "zerosum"}, "Did you mean zero-sum"),
        ({"suite": "all"}, "standard, invariance, sensitivity, generalisation"),
        ({"elicit": ("mix",)}, "Did you mean mixed"),
        ({"themes": ("war",)}, "no theme named 'war'"),
        ({"scale": 0.0}, "--scale 0"),
        ({"temperature": -1.0}, "--temperature -1"),
        ({"models": ()}, "no model"),
        ({"suite": "invariance", "formats": ("table", "json")}, "varies format"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_sentence(settings_, sentence):
    with pytest.raises(UsageError, match=sentence):
        BenchConfig(**settings_)


class Fixed(LLMInterface):
    def __init__(self, answer):
        self.answer = answer

    def query(self, game):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_classic_interface_takes_indices_labels_and_distributions():
    game = matrix_game([[3, 2], [2, 1]])
    for answer, gap in ((0, 0.0), (1, 1.0), ("B", 1.0), ([0.5, 0.5], 0.5), (np.array([0.0, 1.0]), 1.0)):
        results, summary = Benchmark(Fixed(answer)).evaluate_games([game, game])
        assert [r["nash_gap"] for r in results] == [gap, gap]
        assert (summary["num_games"], summary["mean_nash_gap"], summary["max_nash_gap"]) == (2, gap, gap)


@pytest.mark.parametrize(
    "answer", [2, -1, "Z", [0.5], [0.9, 0.9], [float("nan"), 1], None, {"A": 1}, InvalidMove("no")]
)
def test_the_classic_interface_makes_nothing_up(answer):
    results, summary = Benchmark(Fixed(answer)).evaluate_games([matrix_game([[3, 2], [2, 1]])])
    assert results[0]["nash_gap"] is None
    assert (summary["num_games"], summary["num_answered"], summary["mean_nash_gap"]) == (1, 0, None)


def test_the_classic_summary_has_the_original_keys_and_prompts_show_the_game():
    games = generate_games(4, seed=42)
    results, summary = Benchmark(Fixed([1 / 3] * 3)).evaluate_games(games)
    assert {
        "num_games", "mean_nash_gap", "median_nash_gap", "std_nash_gap", "min_nash_gap", "max_nash_gap",
        "mean_llm_value", "mean_br_value", "gap_ratio",
    } <= set(summary)  # fmt: skip
    gaps = [r["br_value"] - r["llm_value"] for r in results]
    assert summary["mean_nash_gap"] == pytest.approx(np.mean(gaps))
    assert summary["std_nash_gap"] == pytest.approx(np.std(gaps))
    assert str(int(games[0].payoff_matrix[0][0])) in GamePromptFormatter.format_game_as_text(games[0])


def measure_answers(tmp_path, *answers, **settings):
    """Play one game for each answer and return the rows in the order of the games."""
    config = BenchConfig(models=("m",), num_games=len(answers), **settings)
    said = iter(answers)
    ran = running.run(BenchStudy(), config, tmp_path, {"m": ScriptedModel(lambda request: next(said))}, workers=1)
    return sorted(ran.rows(), key=lambda row: row["game"])


def test_a_row_says_what_was_asked_and_how_it_was_read(tmp_path):
    answered, refused = measure_answers(tmp_path, "A", "no idea", num_rows=2, num_cols=3, elicit=("pure",), seed=4)
    assert (answered["rows"], answered["cols"], answered["seat"], answered["status"]) == (2, 3, "row", "valid")
    assert (answered["strategy"], answered["attempts"], answered["claims"]) == ([1.0, 0.0], None, None)
    assert (refused["status"], refused["strategy"], refused["nash_gap"]) == ("unparseable", None, None)


def test_a_missing_answer_is_bounded_by_the_worst_one(tmp_path):
    """The game of seed 5 is [[72, 85], [-16, -66]]; the opponent plays the first column, the value is 72."""
    (missing,) = measure_answers(tmp_path, "no idea", num_rows=2, num_cols=2, seed=5)
    assert (missing["br_value"], missing["payoff_range"], missing["nash_gap"]) == (72, 151, None)
    assert (missing["worst_gap"], missing["worst_normalised"]) == (72 + 16, 88 / 151)
    assert missing["worst_exploitability_normalised"] == (72 + 66) / 151
    (second,) = measure_answers(tmp_path / "col", "no idea", num_rows=2, num_cols=2, seed=5, seats=("col",))
    assert (second["seat"], second["br_value"], second["worst_gap"], second["nash_gap"]) == ("col", -72, 85 - 72, None)


def test_a_row_counts_the_claims_of_the_last_review_and_those_refuted_in_it(tmp_path):
    config = BenchConfig(models=("m",), num_games=1, elicit=("pure",))
    ran = running.run(BenchStudy(), config, tmp_path, {"m": ScriptedModel(lambda request: "A")})
    (play,) = ran.folder.plays()
    answer, opponent = play.record.submissions
    reviews = ({"claims": [("p", "refuted")]}, {"claims": [("q", "proved"), ("r", "refuted"), ("s", "unknown")]})
    reviewed = replace(answer, decision=replace(answer.decision, remarks=reviews))
    record = replace(play.record, submissions=(reviewed, opponent))
    (row,) = measure(Plan(config), [replace(play, record=record)])
    assert (row["attempts"], row["claims"], row["refuted"]) == (2, 3, 1)


def test_a_missing_answer_in_a_flat_game_can_have_cost_nothing(tmp_path):
    (missing,) = measure_answers(tmp_path, "no idea", num_rows=1, num_cols=1)
    assert (missing["worst_gap"], missing["worst_normalised"]) == (0, 0)
    assert missing["worst_exploitability_normalised"] == 0


def row(game, **figures):
    asked = {"spec": str(game), "condition": "base", "game": game, "variant": "original", "model": "m", "seat": "row"}
    read = {"elicit": "mixed", "status": "valid", "strategy": None, "attempts": None, "claims": None, "refuted": None}
    return {**asked, **read, **NO_FIGURES, **figures}


def test_a_player_nobody_can_read_has_no_gap_but_bounds():
    rows = tuple(row(g, status="refused", worst_normalised=0.5) for g in range(4))
    summary = PlayerSummary("mute", "mixed", rows)
    assert (summary.get_interval("nash_gap"), summary.answered, summary.asked) == (None, 0, 4)
    bounds = summary.bound("gap_normalised")
    assert (bounds.low, bounds.high) == (0.0, 0.5)
    assert summary.bound("exploitability_normalised") is None
    assert seed_summary(rows)["mean_nash_gap"] is None


def test_success_is_the_share_of_answers_with_little_exploitability():
    values = [0.0, 0.01, 0.03, 0.2]
    rows = tuple(row(g, nash_gap=0.0, exploitability_normalised=value) for g, value in enumerate(values))
    summary = PlayerSummary("m", "mixed", rows)
    assert summary.get_interval("success_1").estimate == 0.5
    assert summary.get_interval("success_5").estimate == 0.75
    assert (round(summary.get_interval("success_1").low, 3), summary.get_interval("success_1").n) == (0.15, 4)


def test_rounding_errors_are_no_gap():
    """The even mix of matching pennies with an error in the last digit."""
    off = np.nextafter(0.5, 1)
    found = figures([[100, -100], [-100, 100]], [off, 1 - off], [off, 1 - off])
    assert (found["nash_gap"], found["exploitability"]) == (0.0, 0.0)


def test_the_equilibrium_baseline_plays_the_same_equilibrium_as_the_opponent():
    """The games of seed 22 have several equilibria: a best response to the opponent's has no gap in either seat."""
    drawn = draw(BenchConfig(num_games=10, seed=22, family="uniform"))
    rows = make_baseline_rows(drawn, ("row", "col"), range(10), 0)["equilibrium"]
    assert [r["nash_gap"] for r in rows] == [0.0] * 20


@pytest.mark.parametrize("mix", [(1.0, 0.0, 0.0), (0.5, 0.25, 0.25)])
def test_the_classic_interface_gives_the_figures_of_the_study(mix, tmp_path):
    """The same strategy on the same games, once returned by `query` and once answered in words to the study."""
    results, summary = Benchmark(Fixed(mix)).evaluate_games(generate_games(6, seed=9))
    said = json.dumps(dict(zip("ABC", mix, strict=True)))
    config = BenchConfig(models=("m",), num_games=6, seed=9)
    ran = running.run(BenchStudy(), config, tmp_path, {"m": ScriptedModel(lambda request: said)})
    assert [row["strategy"] for row in ran.rows()] == [list(mix)] * 6
    for result, row in zip(results, ran.rows(), strict=True):
        assert {name: result[name] for name in NO_FIGURES} == {name: row[name] for name in NO_FIGURES}
    assert {name: ran.summary()[name] for name in summary} == summary
