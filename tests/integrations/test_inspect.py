"""The tasks for Inspect run with its scripted model, and its logs carry our measures."""

import math

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install 'bestresponse[inspect]'")

from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from bestresponse.integrations.inspect.tasks import nash_gap, verify


def scripted(*texts):
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def scores(task, tmp_path, *texts):
    [log] = run(task, model=scripted(*texts), log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success", log.error
    return [next(iter(sample.scores.values())) for sample in log.samples]


def test_the_gap_of_a_strategy_is_a_share_of_the_range_and_an_unread_answer_is_no_zero(tmp_path):
    read, unread = scores(nash_gap(num_games=2), tmp_path, 'I mix: {"a0": 1, "a1": 0, "a2": 0}', "no idea")
    assert 0 <= read.value <= 1
    assert read.metadata["gap"] >= 0
    assert math.isnan(unread.value)


def test_a_false_claim_scores_nothing_and_a_true_one_scores_one(tmp_path):
    texts = ["If I defect and you cooperate, I get 1.", "If I defect and you cooperate, I get 5."]
    assert [one.value for one in scores(verify(samples=2), tmp_path, *texts)] == [0.0, 1.0]
