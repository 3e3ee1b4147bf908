"""Providers of Inspect AI, through its own scripted provider."""

import sys
from dataclasses import replace

import pytest

from bestresponse.core.errors import ModelError, ModelUnavailable, UnknownModel
from bestresponse.models import Finish, ModelSettings, Usage, ask, open_model
from bestresponse.models.providers.inspect import InspectModel


@pytest.fixture
def inspect_ai():
    return pytest.importorskip("inspect_ai.model", reason="Inspect AI is not installed: pip install '.[inspect]'")


def test_without_inspect_the_user_is_told_how_to_get_it(tmp_path, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("bestresponse.models.providers.inspect.version", absent)
    with pytest.raises(ModelUnavailable, match=r"pip install '\.\[inspect\]'"):
        open_model("inspect/mockllm/model", ModelSettings(tmp_path))


def test_it_answers_through_inspect(inspect_ai):
    output = inspect_ai.ModelOutput.from_content("mockllm/model", "Row A", stop_reason="max_tokens")
    output.usage = inspect_ai.ModelUsage(
        input_tokens=10, output_tokens=4, total_tokens=14, input_tokens_cache_read=3, reasoning_tokens=2
    )
    top = [inspect_ai.TopLogprob(token="A", logprob=-0.1), inspect_ai.TopLogprob(token="B", logprob=-3.0)]
    position = inspect_ai.Logprob(token="A", logprob=-0.1, top_logprobs=top)
    output.choices[0].logprobs = inspect_ai.Logprobs(content=[position])
    model = InspectModel("mockllm/model", arguments={"custom_outputs": [output]})
    schema = '{"properties":{"row":{"enum":["A"]}},"required":["row"],"type":"object"}'
    reply = model.complete(replace(ask("Which?", system="Be brief."), seed=4, logprobs=2, schema=schema))
    assert (reply.text, reply.finish) == ("Row A", Finish.LENGTH)
    assert reply.usage == Usage(13, 4, 3, 2)
    assert reply.logprobs == ((("A", -0.1), ("B", -3.0)),)
    violation = {"schema_violation": "the answer is not JSON"}
    assert dict(reply.honoured) == {"temperature": 0.0, "seed": 4, "schema": "sent"} | violation
    assert model.id == "inspect/mockllm/model"
    model.close()


def test_the_answers_are_not_taken_from_a_cache_of_inspect(inspect_ai):
    outputs = [inspect_ai.ModelOutput.from_content("mockllm/model", text) for text in ("one", "two")]
    for output in outputs:
        output.usage = inspect_ai.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = InspectModel("mockllm/model", arguments={"custom_outputs": outputs})
    assert [model.complete(ask("same")).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ModelError, match="inspect/mockllm/model failed"):
        model.complete(ask("same"))
    model.close()


def test_a_provider_inspect_does_not_know_is_a_sentence(inspect_ai):
    with pytest.raises(UnknownModel, match="Inspect AI knows no model 'nonsense/x'"):
        InspectModel("nonsense/x")
    assert "inspect_ai" in sys.modules
