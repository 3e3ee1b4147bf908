"""Scripted models and the value types."""

import pytest

from bestresponse.core.errors import ModelUnavailable
from bestresponse.models import Message, Reply, Request, ScriptedModel, ask, canonical, effective_seed


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


def test_canonical_text_does_not_depend_on_the_order_of_keys():
    assert canonical({"b": [1, 2.5], "a": "ü"}) == '{"a":"ü","b":[1,2.5]}' == canonical({"a": "ü", "b": [1, 2.5]})
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"a": float("nan")})


def test_replicates_have_different_seeds_and_replicate_zero_keeps_its_own():
    seeds = [effective_seed(Request((), seed=7, replicate=n)) for n in range(1000)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 1000
    assert effective_seed(Request((), replicate=3)) is None
