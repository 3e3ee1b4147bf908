"""The statistics of the Nash gap, worked out by hand, and the two JSON files in the benchmark
document's own form."""

import json

import numpy as np
import pytest
import running

import bestresponse as br
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.measure import measure_strategies
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.result_files import list_answer_results, summarize, write_timestamp
from bestresponse.studies.bench.study import bench

EIGHT = [
    "num_games",
    "mean_nash_gap",
    "median_nash_gap",
    "std_nash_gap",
    "min_nash_gap",
    "max_nash_gap",
    "mean_llm_value",
    "mean_br_value",
]
COMPUTE = {metric.name: metric.compute for metric in METRICS}


def answer(game, gap, best, trial=0, strategy=(1.0, 0.0)):
    """An answer that lost `gap` where the best response earns `best`; None: it could not be
    read."""
    known = gap is not None
    return {
        "condition": "base",
        "variant": "original",
        "game": game,
        "seat": "row",
        "trial": trial,
        "strategy": list(strategy) if known else None,
        "nash_gap": gap,
        "br_value": best if known else None,
        "llm_value": best - gap if known else None,
        "gap_ratio": gap / abs(best) if known and best else None,
    }


# Gaps 0, 2, 4, 10: mean 4, median 3, squares of the deviations 16 + 4 + 0 + 36 = 56, 56 / 4 = 14.
FOUR = [answer(0, 0.0, 5.0), answer(1, 2.0, -3.0), answer(2, 4.0, 0.0), answer(3, 10.0, 2.0)]


def test_median_deviation_least_and_largest_gap_are_those_worked_out_by_hand():
    values = {name: COMPUTE[f"nash_gap_{name}"](FOUR) for name in ("median", "std", "min", "max")}
    assert values == {"median": 3.0, "std": pytest.approx(14**0.5), "min": 0.0, "max": 10.0}


def test_the_gap_ratio_is_a_ratio_of_sums_so_that_a_best_response_worth_nothing_does_no_harm():
    # Gaps 0 + 2 + 4 + 10 = 16 over |5| + |-3| + |0| + |2| = 10.
    assert COMPUTE["gap_ratio"](FOUR) == pytest.approx(1.6)
    assert COMPUTE["gap_ratio"]([answer(0, 4.0, 0.0)]) is None
    assert COMPUTE["gap_ratio"]([]) is None


def test_the_ratio_of_one_answer_is_none_where_the_best_response_earns_nothing():
    own = np.array([[[1.0, -1.0], [-1.0, 1.0]], [[4.0, 4.0], [1.0, 1.0]]])
    half, second = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    pennies, sure = measure_strategies(
        own, -own, np.stack([second, second]), np.stack([half, half])
    )
    assert (pennies["br_value"], pennies["gap_ratio"]) == (0.0, None)
    assert (sure["nash_gap"], sure["br_value"], sure["gap_ratio"]) == (3.0, 4.0, 0.75)


def test_unread_answers_are_counted_and_enter_no_statistic():
    rows = [*FOUR, answer(4, None, None)]
    assert summarize(rows) == {
        "num_games": 4,
        "mean_nash_gap": 4.0,
        "median_nash_gap": 3.0,
        "std_nash_gap": pytest.approx(14**0.5),
        "min_nash_gap": 0.0,
        "max_nash_gap": 10.0,
        "mean_llm_value": -3.0,
        "mean_br_value": 1.0,
        "gap_ratio": pytest.approx(1.6),
        "num_unread": 1,
    }
    assert summarize([answer(0, None, None)])["mean_nash_gap"] is None


def test_the_spread_within_and_between_games_is_that_worked_out_by_hand():
    # Game 0: gaps 1 and 3, variance 2 (n - 1); game 1: gaps 6 and 6. Pooled: (2 + 0) / (1 + 1) = 1.
    # Means 2 and 6.
    rows = [
        answer(0, 1.0, 5.0),
        answer(0, 3.0, 5.0, trial=1),
        answer(1, 6.0, 5.0),
        answer(1, 6.0, 5.0, trial=1),
    ]
    assert COMPUTE["gap_spread_within"](rows) == pytest.approx(1.0)
    assert COMPUTE["gap_spread_between"](rows) == pytest.approx(8**0.5)
    assert COMPUTE["gap_spread_within"](FOUR) is None
    assert COMPUTE["gap_spread_between"](FOUR) is None


def test_consistency_compares_the_answers_to_one_game():
    # Total variation 1 in game 0, 0.5 in game 1: 1 - (1 + 0.5) / 2.
    rows = [
        answer(0, 1.0, 5.0, strategy=(1, 0)),
        answer(0, 1.0, 5.0, trial=1, strategy=(0, 1)),
        answer(1, 1.0, 5.0, strategy=(1, 0)),
        answer(1, 1.0, 5.0, trial=1, strategy=(0.5, 0.5)),
    ]
    assert COMPUTE["consistency"](rows).estimate == pytest.approx(0.25)
    assert COMPUTE["consistency"](FOUR) is None


def play(tmp_path, **settings):
    return br.bench(
        lambda prompt: "ANSWER: A", num_games=3, seed=1, output_dir=tmp_path, plain=True, **settings
    )


def test_a_run_leaves_one_pair_of_files_with_the_keys_of_the_document(tmp_path):
    run = play(tmp_path)
    (summary,) = run.path.glob("benchmark_summary_*.json")
    (results,) = run.path.glob("benchmark_results_*.json")
    stamp = write_timestamp(run.manifest.created)
    assert (summary.name, results.name) == (
        f"benchmark_summary_{stamp}.json",
        f"benchmark_results_{stamp}.json",
    )
    said = json.loads(summary.read_text())
    assert list(said)[:8] == EIGHT
    figures = run.summary()["metrics"][0]
    assert said["mean_nash_gap"] == pytest.approx(figures["nash_gap"]["estimate"])
    assert said["gap_ratio"] == figures["gap_ratio"]
    listed = json.loads(results.read_text())
    assert [result["game_id"] for result in listed] == [0, 1, 2]
    for result in listed:
        matrix, x = np.array(result["payoff_matrix"]), np.array(result["llm_strategy"])
        against = matrix @ result["nash_col"]
        assert result["nash_gap"] == pytest.approx(against.max() - x @ against)
        assert result["nash_value"] == pytest.approx(result["br_value"])
        assert np.array(result["nash_row"]) @ matrix @ result["nash_col"] == pytest.approx(
            result["nash_value"]
        )


def test_every_condition_of_a_suite_has_its_matrices_and_equilibria(tmp_path):
    """Half of the buckets hold games whose pure saddle point can be read off the matrix."""
    run = play(tmp_path, suite="buckets")
    answers = run.rows()
    # Three games as drawn, and three in each of 3 sizes x 3 ranges x 2 kinds.
    assert len(answers) == 3 + 3 * 18
    (results,) = run.path.glob("benchmark_results_*.json")
    listed = json.loads(results.read_text())
    (player,) = {row["player"] for row in run.frame("games") if row["hardness"] is not None}
    games = run.frame("games").select(player=player)
    assert len(listed) == len(games) == len(answers)
    for result, row in zip(listed, sorted(games, key=place_in_file), strict=True):
        assert (result["condition"], result["game_id"]) == (row["condition"], row["game"])
        matrix = np.array(result["payoff_matrix"])
        assert matrix.tolist() == row["row_payoffs"]
        assert (-matrix).tolist() == row["col_payoffs"]
        value = np.array(result["nash_row"]) @ matrix @ result["nash_col"]
        against, by = matrix @ result["nash_col"], result["nash_row"] @ matrix
        assert against.max() == pytest.approx(value)
        assert by.min() == pytest.approx(value)
        has_saddle = matrix.min(axis=1).max() == matrix.max(axis=0).min()
        if row["condition"] != "base":
            _, size, _, kind = row["condition"].split()
            assert (f"{row['rows']}x{row['cols']}", has_saddle) == (size, kind == "pure")
    (summary,) = run.path.glob("benchmark_summary_*.json")
    assert json.loads(summary.read_text())["num_games"] == 3


def place_in_file(row):
    return row["condition"], row["game"]


def list_files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_same_run_reported_again_or_resumed_keeps_one_pair(tmp_path):
    first = play(tmp_path)
    files = list_files(first.path)
    before = {name: (first.path / name).read_bytes() for name in files}
    play(tmp_path)
    br.load_run(first.path).publish()
    assert list_files(first.path) == files
    changed = {name for name in files if (first.path / name).read_bytes() != before[name]} - {
        "finished"
    }
    assert changed == set()


def test_every_player_and_way_of_asking_has_a_pair_of_its_own(tmp_path):
    run = play(tmp_path, elicit=["mixed", "pure"])
    names = sorted(path.name for path in run.path.glob("benchmark_summary_*.json"))
    assert len(names) == 2
    assert names[0].endswith("-mixed.json")
    assert names[1].endswith("-pure.json")


def test_an_answer_that_could_not_be_read_is_listed_with_nulls(tmp_path):
    config = BenchConfig("m", num_games=1, seed=1)
    ran = running.run(
        bench, config, tmp_path, {"m": ScriptedModel(lambda request: "no idea")}, workers=1
    )
    (result,) = list_answer_results(ran.rows(), Plan(config))
    assert (result["status"], result["llm_strategy"], result["nash_gap"]) == (
        "unparseable",
        None,
        None,
    )


@pytest.mark.parametrize("created", ["", "../../elsewhere", "2026"])
def test_a_manifest_without_a_time_gives_a_name_all_the_same(created):
    assert write_timestamp(created) == "00000000_000000"
