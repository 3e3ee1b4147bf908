"""`report` of several runs, and the gate of a pipeline, as they are typed."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "ci"


@pytest.fixture
def played(bestresponse, tmp_path):
    def play(player, *words):
        folder = tmp_path / player
        arguments = ("bench", "--model", player, "--num-games", 5, "--output-dir", folder)
        done = bestresponse(*arguments, *words)
        return folder, done

    return play


def test_two_runs_are_compared_and_the_files_are_beside_the_first(bestresponse, played):
    (first, _), (second, _) = played("uniform"), played("maximin")
    done = bestresponse("report", first, second)
    assert done.returncode == 0
    assert "B: maximin, mixed" in done.stdout
    (folder,) = first.glob("comparison-*")
    assert (folder / "comparison.html").exists()
    data = json.loads(bestresponse("report", first, second, "--json").stdout)
    assert [row["players"] for row in data["runs"]] == ["uniform, mixed", "maximin, mixed"]


def test_a_bench_that_is_worse_than_its_baseline_exits_with_3_and_says_why(played, tmp_path):
    baseline, _ = played("equilibrium")
    file = tmp_path / "junit.xml"
    condition = "nash_gap - baseline > 0.01"
    folder, done = played("uniform", "--against", baseline, "--fail-if", condition, "--junit", file)
    assert done.returncode == 3
    assert "bestresponse: failed: uniform, mixed against equilibrium, mixed:" in done.stderr
    assert ElementTree.parse(file).find("testsuite").get("failures") == "1"
    assert len(list(folder.glob("bench-*/comparison.html"))) == 1


def test_a_recorded_run_is_checked_without_playing(bestresponse, played):
    folder, _ = played("uniform")
    passed = bestresponse("report", folder, "--fail-if", "success_5 < 0")
    assert (passed.returncode, "all checks passed" in passed.stderr) == (0, True)
    assert bestresponse("report", folder, "--fail-if", "success_5 >= 0").returncode == 3


@pytest.mark.parametrize("words", [(), ("--fail-if", "success_5 >= 0")])
def test_a_run_that_is_not_finished_is_reported_as_such_and_not_checked(
    bestresponse, played, words
):
    folder, _ = played("uniform")
    next(folder.glob("bench-*/finished")).unlink()
    done = bestresponse("report", folder, *words)
    assert done.returncode == 1
    assert "not everything was played; the same command plays what is missing" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--fail-if", "nash_gp > 1"), "there is no metric 'nash_gp'. Did you mean nash_gap?"),
        (("--fail-if", "nash_gap - baseline > 1"), "name one by `against`"),
        (("--junit", "x.xml"), "there is nothing to write without --fail-if CONDITION"),
        (("--against", "nowhere"), "there is no folder nowhere"),
    ],
)
def test_a_gate_that_cannot_work_is_refused_before_anything_is_played(played, words, sentence):
    folder, done = played("uniform", *words)
    assert (done.returncode, folder.exists()) == (2, False)
    assert sentence in done.stderr


def test_the_workflow_of_the_examples_names_options_and_metrics_that_exist(played):
    text = (EXAMPLES / "bestresponse.yml").read_text()
    conditions = [line.split('"')[1] for line in text.splitlines() if '--fail-if "' in line]
    assert conditions == [
        "low(nash_gap - baseline) > 0.01",
        "low(exploitability_normalised) > 0.5",
    ]
    baseline, _ = played("equilibrium")
    words = [word for condition in conditions for word in ("--fail-if", condition)]
    _, done = played("maximin", "--against", baseline, *words)
    assert done.returncode in (0, 3)


def test_the_help_of_compare_and_report_point_at_each_other(bestresponse):
    assert "use `compare`" in bestresponse("report", "--help").stdout
    assert "use `report RUN RUN`" in bestresponse("compare", "--help").stdout
