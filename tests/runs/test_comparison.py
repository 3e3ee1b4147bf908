"""Runs side by side: pairs by game, intervals of differences, and what is said about their
limits."""

import json
import math

import numpy as np
import pytest

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.report.stats.differences import paired_difference
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.comparison import _match_players, pair_games, subtract_intervals
from bestresponse.runs.study import GameValue

UNIFORM = "ANSWER: A: 1/3, B: 1/3, C: 1/3"
FIRST = "ANSWER: A: 1, B: 0, C: 0"


def value(game, number, part="row", most=1.0):
    return GameValue(("m", "mixed"), "gap", f"game {game}", part, number, most)


@pytest.fixture
def run(tmp_path):
    def make(answer, name="m", **settings):
        model = br.models.from_function(name, lambda prompt: answer)
        return br.bench(model, output_dir=tmp_path / name, **{"num_games": 6, **settings})

    return make


def test_values_are_paired_by_game_and_trials_of_a_game_are_averaged_first():
    # Differences 0.2, 0.0 and 0.4 (0.7 less the mean of 0.2 and 0.4): mean 0.2. Of 8 patterns of
    # signs 4 are as extreme: both differences keep their sign or both change it, twice for the 0.
    first = [value(1, 0.1), value(2, 0.2), value(3, 0.2), value(3, 0.4), value(9, 0.0)]
    second = [value(3, 0.7), value(2, 0.2), value(1, 0.3), value(8, 1.0)]
    compared = pair_games(first, second)
    assert compared.difference.estimate == pytest.approx(0.2)
    assert (compared.p_value, compared.difference.n) == (0.5, 3)
    # The mean over the standard deviation of 0.2, 0.0, 0.4, which is 0.2.
    assert compared.effect == pytest.approx(1.0)


def test_two_seats_of_a_game_are_one_game_and_one_common_game_is_no_comparison():
    first = [value(1, 0.1), value(1, 0.2, "col"), value(2, 0.5)]
    assert pair_games(first, [value(1, 0.0), value(1, 0.0, "col")]) is None
    both = pair_games(first, [value(1, 0.0), value(1, 0.0, "col"), value(2, 0.0)])
    assert (both.difference.n, both.n) == (2, 3)


def test_players_of_both_runs_are_compared_with_themselves_and_others_with_others():
    pairs = list(_match_players([("a",), ("b",)], [("b",), ("c",), ("d",)]))
    assert pairs == [(("b",), ("b",)), (("a",), ("c",)), (("a",), ("d",))]


def test_the_difference_of_independent_figures_adds_their_distances_as_squares():
    before = Interval(0.5, 0.2, 0.9, 0.95, "bca", 10)
    after = Interval(1.0, 0.7, 1.3, 0.95, "bca", 7)
    difference = subtract_intervals(after, before)
    # 0.5 - sqrt(0.3^2 + 0.4^2) = 0, and 0.5 + sqrt(0.3^2 + 0.3^2) = 0.924264.
    assert (difference.low, difference.high) == pytest.approx((0.0, 0.9242641))
    assert (difference.estimate, difference.n) == (0.5, 7)
    open_end = subtract_intervals(after, Interval(0.5, -math.inf, math.inf, 0.95, "none", 1))
    assert (open_end.low, open_end.high) == (-math.inf, math.inf)


def test_two_runs_on_the_same_games_are_compared_game_by_game(run):
    first, second = run(UNIFORM, "even"), run(FIRST, "first")
    comparison = br.compare_runs(first, second)
    assert comparison.notes == ()
    row = next(row for row in comparison.differences if row["metric"] == "nash_gap")
    lost = [[play["nash_gap"] for play in one.frame("plays")] for one in (first, second)]
    expected = np.mean(np.subtract(lost[1], lost[0]))
    assert row["difference"].estimate == pytest.approx(expected)
    assert (row["player"], row["against"]) == ("B: first, mixed", "A: even, mixed")
    assert row["games"] == 6
    tested = [row["metric"] for row in comparison.differences if row["tested"]]
    assert tested == ["exploitability_normalised", "gap_normalised"]
    adjusted = [row["p_adjusted"] for row in comparison.differences if row["tested"]]
    raw = [row["p"] for row in comparison.differences if row["tested"]]
    # Two tests: the smaller p is doubled, and the larger is no less than that.
    assert min(adjusted) == pytest.approx(min(1.0, 2 * min(raw)))
    assert max(adjusted) == pytest.approx(max(2 * min(raw), max(raw), min(adjusted)))
    assert all(row["p_adjusted"] is None for row in comparison.differences if not row["tested"])


def test_runs_on_other_games_are_compared_by_their_means_and_it_is_said(run):
    comparison = br.compare_runs(run(UNIFORM), run(UNIFORM, seed=5))
    (note,) = comparison.notes
    assert note.startswith("Runs A and B share no games: differences are those of their means")
    row = comparison.differences[0]
    assert (row["p"], row["games"], row["difference"].method) == (None, None, "two intervals")
    assert comparison.settings == ("seed",)
    assert [row["setting_seed"] for row in comparison.conditions] == ["0", "5"]


def test_runs_that_share_some_games_are_compared_on_these(run):
    comparison = br.compare_runs(run(UNIFORM), run(FIRST, "f", num_games=9))
    assert comparison.notes == (
        "Runs A and B share 6 of 6 and 9 games; differences are over these.",
    )
    assert {row["games"] for row in comparison.differences if row["metric"] == "nash_gap"} == {6}


def test_other_prompts_versions_and_unfinished_runs_are_said(run, tmp_path):
    first, second = run(UNIFORM), run(FIRST, "f")
    file = second.path / "manifest.json"
    manifest = json.loads(file.read_text())
    prompt = next(iter(manifest["prompts"]))
    manifest["prompts"][prompt] = "0"
    manifest["environment"]["packages"]["bestresponse"] = "9.9"
    file.write_text(json.dumps(manifest))
    (second.path / "finished").unlink()
    notes = br.compare_runs(first.path, second.path).notes
    assert notes == (
        "Run B is not finished; its metrics are those of 6 answers.",
        "Runs A and B were made by different versions of bestresponse, 0.1.0 and 9.9.",
        f"Runs A and B were asked with different prompts: {prompt}.",
    )


def test_a_tree_beside_tables_has_no_figure_of_tables_and_other_studies_are_said(run, tmp_path):
    tree = br.bench("uniform", "kuhn-poker", output_dir=tmp_path / "tree")
    tables, of_tree = br.compare_runs(run(UNIFORM), tree).metrics.rows
    # NashConv of uniform play in Kuhn poker is 11/12: 11/24 for each seat, of a range of 4.
    assert of_tree["exploitability_normalised"].estimate == pytest.approx(11 / 96)
    assert tables["success_1"].estimate == 0
    assert of_tree["success_1"] is None
    played = br.simulate(
        "stag-hunt",
        seat={"row": "random", "col": "random"},
        repeats=3,
        output_dir=tmp_path / "played",
    )
    notes = br.compare_runs(run(UNIFORM), played).notes
    assert notes[0].startswith("Runs A and B are of different studies, bench and simulate;")


def test_plays_of_the_same_number_are_pairs_in_simulations(tmp_path):
    runs = [
        br.simulate(
            "stag-hunt",
            seat={"row": "always:stag", "col": other},
            repeats=4,
            output_dir=tmp_path / other.replace(":", "-"),
        )
        for other in ("always:stag", "always:hare")
    ]
    comparison = br.compare_runs(*runs)
    row = next(row for row in comparison.differences if row["player"] == "B: row, always:stag")
    # The stag hunter gets 4 beside another and 0 beside one who hunts hares, in each of four plays.
    assert (row["difference"].estimate, row["games"], row["p"]) == (-4.0, 4, 2 / 16)


def test_one_run_and_the_same_run_twice_are_refused(run):
    only = run(UNIFORM)
    with pytest.raises(UsageError, match="a comparison needs two runs or more, got 1"):
        br.compare_runs(only)
    with pytest.raises(UsageError, match="is given twice; name different runs"):
        br.compare_runs(only, only.path)


def test_a_comparison_is_a_page_and_files(run, tmp_path):
    comparison = br.compare_runs(run(UNIFORM, "even"), run(FIRST, "<b>first"))
    written = comparison.publish(tmp_path / "out")
    assert [path.name for path in written] == [
        "comparison.html",
        "comparison.json",
        "comparison_runs.csv",
        "comparison_metrics.csv",
        "comparison_differences.csv",
    ]
    page = written[0].read_text()
    assert "B: &lt;b&gt;first, mixed" in page
    data = json.loads(written[1].read_text())
    assert [row["run"] for row in data["metrics"]] == ["A", "B"]
    titles = [section.title for section in comparison.report().sections]
    assert titles == ["The runs", "Metrics", "Differences", "Other differences"]
    assert "even" in comparison._repr_html_()


def test_intervals_of_paired_differences_hold_the_truth():
    # Two players who share how hard a game is: what each loses is that times a beta variable. The
    # truth is (2/5 - 1/3) * E[hard] = 1/15 * 1/2.
    rng = np.random.default_rng(7)
    trials, held = 200, 0
    for _ in range(trials):
        hard = rng.uniform(size=25)
        first = hard * rng.beta(1, 2, size=25)
        second = hard * rng.beta(2, 3, size=25)
        found = paired_difference(second, first, rng=rng, bounds=(-hard, hard), flips=399)
        held += found.difference.contains(1 / 30)
    assert held >= 0.93 * trials
