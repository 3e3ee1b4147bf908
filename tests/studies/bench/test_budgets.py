"""Loss beside tokens: several efforts are several lines of one run."""

import pytest
import running

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench

PENNIES = br.NormalForm.zero_sum([[1, -1], [-1, 1]])
REPLIES = {
    "low": "ANSWER: A: 1, B: 0",
    "high": f"{'Even is safe. ' * 80}\nANSWER: A: 0.5, B: 0.5",
    "": f"{'Heads it is. ' * 20}\nANSWER: A: 1, B: 0",
}
"""Low: always one side, in few words. 64 tokens: the same in more. High: an even mix, in most."""


def answer(request):
    return REPLIES[request.effort or ""]


def play(folder, **settings):
    config = BenchConfig("m", [PENNIES] * 3, theme="neutral", style="line", **settings)
    return running.run(bench, config, folder, {"m": ScriptedModel(answer)})


def test_efforts_are_lines_of_one_run_with_a_pareto_front(tmp_path):
    run = play(tmp_path, effort=("low", "high", "64"))
    rows = run.frame("budgets").rows
    assert [(row["asked_for"], row["lost"].estimate, row["best"]) for row in rows] == [
        ("mixed, low", 0.5, True),
        ("mixed, 64", 0.5, False),
        ("mixed, high", 0.0, True),
    ]
    assert rows[0]["tokens"] < rows[1]["tokens"] < rows[2]["tokens"]
    assert {row["dollars"] for row in rows} == {None}
    data = [play.data for play in run.folder.plays()]
    assert {(one.get("effort"), one.get("reasoning_tokens")) for one in data} == {
        ("low", None),
        ("high", None),
        (None, 64),
    }
    assert [heads for heads in run.results.groups if heads[0] == "m"] == [
        ("m", "mixed, low"),
        ("m", "mixed, high"),
        ("m", "mixed, 64"),
    ]
    assert "Loss and budget" in [title for title, _ in run.report().tables]


def test_one_effort_is_no_curve_and_names_nothing(tmp_path):
    run = play(tmp_path, effort="low")
    assert [row["asked_for"] for row in run.rows()] == ["mixed"] * 3
    assert len(run.frame("budgets")) == 0


def test_efforts_are_lines_in_a_tree_too(tmp_path):
    config = BenchConfig("m", "kuhn-poker", elicit="pure", style="line", effort=("low", "high"))
    model = ScriptedModel(
        lambda request: {"low": "ANSWER: pass", "high": "ANSWER: bet"}[request.effort]
    )
    run = running.run(bench, config, tmp_path, {"m": model})
    conv = {heads[1]: figures["nash_conv"].estimate for heads, figures in run.metrics.groups[:2]}
    # Always passing has NashConv 2, always betting 2/3 (docs/measure/bench-trees.md).
    assert conv == {"pure, low": pytest.approx(2.0), "pure, high": pytest.approx(2 / 3)}


def test_an_effort_is_a_level_or_a_number_of_tokens():
    with pytest.raises(SettingError, match="effort: expected one of minimal, low, medium, high"):
        BenchConfig("m", effort="lots")
    with pytest.raises(SettingError, match="effort: a name occurs twice"):
        BenchConfig("m", effort=("low", "low"))
    assert BenchConfig("m", effort=("low", "9000")).paid_tokens == 4000 + 9000
