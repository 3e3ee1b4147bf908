"""Scripted models and the value types."""

from dataclasses import replace

import pytest

from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.models import Message, Reply, Request, ScriptedModel, ask
from bestresponse.models.base import effective_seed


def test_a_list_is_given_out_in_order_and_then_runs_out():
    model = ScriptedModel(["A", Reply("B", provider_id="mine")])
    assert model.complete(ask("one")).text == "A"
    assert model.complete(ask("two")).provider_id == "mine"
    with pytest.raises(ModelUnavailable, match="2 answers and was asked once more"):
        model.complete(ask("three"))
    assert [request.messages[0].content for request in model.asked] == ["one", "two", "three"]


def test_a_function_sees_the_request_and_words_are_counted_as_tokens():
    model = ScriptedModel(lambda request: request.messages[-1].content.upper())
    reply = model.complete(ask("two words", system="one"))
    assert reply.text == "TWO WORDS"
    assert (reply.usage.prompt, reply.usage.completion) == (3, 2)


def test_requests_are_values():
    assert ask("x") == Request((Message("user", "x"),))
    assert hash(ask("x")) == hash(ask("x"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"messages": ()}, "at least one message"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"temperature": -0.5}, "temperature is -0.5"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"schema": "{}", "choices": ("A",)}, "not for both"),
    ],
)
def test_an_impossible_request_is_refused_with_a_sentence(change, says):
    with pytest.raises(UsageError, match=says):
        replace(ask("x"), **change)


def test_replicates_have_different_seeds_and_replicate_zero_keeps_its_own():
    seeds = [effective_seed(replace(ask("x"), seed=7, replicate=n)) for n in range(1000)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 1000
    assert effective_seed(replace(ask("x"), replicate=3)) is None
