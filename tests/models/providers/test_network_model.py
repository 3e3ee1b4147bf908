"""Schemas on servers that are strict about them, take only plain JSON, or take neither."""

import json
from dataclasses import replace

import faulty
import pytest

from bestresponse.core.errors import ModelError
from bestresponse.formal.claims.claim import claims_schema
from bestresponse.models import HttpClients, OpenAIModel, Secret, ask
from bestresponse.models.codec import request_to_json
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.schema import schema_text

FORM = {
    "type": "object",
    "properties": {"move": {"type": "string"}, "why": {"type": "string", "maxLength": 80}},
    "required": ["move"],
}
OPEN = {"type": "object", "properties": {}, "additionalProperties": {"type": "number"}}
REQUEST = replace(ask("Choose."), schema=schema_text(FORM))
IN_WORDS = (
    "Choose.\n\nAnswer with one JSON object and nothing else. It must follow this JSON schema:\n"
    + schema_text(FORM)
)


@pytest.fixture(scope="module")
def clients():
    with HttpClients() as clients:
        yield clients


def refuse(message, param=None):
    return faulty.answer({"error": {"message": message, "param": param}}, 400)


def formats(server):
    return [body.get("response_format", {}).get("type") for _, _, body in server.seen]


@pytest.mark.parametrize(
    "schema", [FORM, OPEN, claims_schema(), claims_schema(players=("A", "B"), actions=("L", "R"))]
)
def test_a_strict_server_takes_every_schema_the_first_time(clients, schema):
    with faulty.serving(faulty.keep_strict()) as server:
        OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(
            replace(ask("x"), schema=schema_text(schema))
        )
    assert formats(server) == ["json_schema"]


def test_a_schema_with_a_strict_form_is_sent_strictly(clients):
    with faulty.serving(faulty.keep_strict()) as server:
        OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(REQUEST)
    form = server.seen[0][2]["response_format"]["json_schema"]
    assert (form["strict"], form["schema"]["required"]) == (True, ["move", "why"])


def test_the_strict_server_refuses_what_openai_refuses(clients):
    form = {"name": "answer", "strict": True, "schema": FORM}
    with (
        faulty.serving(faulty.keep_strict()) as server,
        HttpClients() as clients,
        clients.borrow() as client,
    ):
        answer = client.post(
            server.url, json={"response_format": {"type": "json_schema", "json_schema": form}}
        )
    assert answer.status_code == 400
    assert "'additionalProperties' is required to be supplied and to be false" in answer.text


def nest(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {
            "type": "object",
            "properties": {"a": schema},
            "required": ["a"],
            "additionalProperties": False,
        }
    return schema


@pytest.mark.parametrize(
    ("levels", "asked"), [(9, ["json_schema"]), (10, ["json_schema", "json_object"])]
)
def test_a_schema_that_is_too_deep_for_strict_mode_is_asked_for_as_plain_json(
    clients, levels, asked
):
    with faulty.serving(faulty.keep_strict()) as server:
        OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(
            replace(ask("x"), schema=schema_text(nest(levels)))
        )
    assert formats(server) == asked


def test_a_schema_without_a_strict_form_is_sent_without_the_promise(clients):
    with faulty.serving(faulty.keep_strict(faulty.say('{"a": 1}'))) as server:
        reply = OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(
            replace(ask("x"), schema=schema_text(OPEN))
        )
    form = server.seen[0][2]["response_format"]["json_schema"]
    assert form == {"name": "answer", "strict": False, "schema": OPEN}
    assert reply.text == '{"a": 1}'


def test_a_reply_under_a_strict_schema_comes_back_in_the_form_that_was_asked_for(clients):
    with faulty.serving(faulty.answer(faulty.say('{"move": "A", "why": null}'))) as server:
        reply = OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(REQUEST)
    assert json.loads(reply.text) == {"move": "A"}


def test_a_server_without_schemas_is_asked_for_plain_json_and_not_for_a_schema_again(clients):
    acts = [
        refuse("This response_format type is unavailable now"),
        faulty.answer(faulty.say('```json\n{"move": "A"}\n```')),
    ]
    with faulty.serving(*acts) as server:
        model = OpenAIModel("m", clients, Secret(""), base_url=server.url)
        reply = model.complete(REQUEST)
        model.complete(replace(ask("y"), schema=schema_text(OPEN)))
    assert formats(server) == ["json_schema", "json_object", "json_object"]
    assert server.seen[1][2]["messages"] == [{"role": "user", "content": IN_WORDS}]
    assert reply.text == '{"move": "A"}'
    assert dict(reply.honoured)["schema"] == "json"


def test_a_schema_at_fault_is_remembered_and_others_are_still_sent(clients):
    acts = [
        refuse("Invalid schema for response_format 'answer': no", "response_format"),
        faulty.answer(faulty.GOOD),
    ]
    with faulty.serving(*acts) as server:
        model = OpenAIModel("m", clients, Secret(""), base_url=server.url)
        model.complete(REQUEST)
        model.complete(REQUEST)
        model.complete(replace(ask("y"), schema=schema_text(OPEN)))
    assert formats(server) == ["json_schema", "json_object", "json_object", "json_schema"]


def test_a_server_with_neither_is_asked_in_words(clients):
    acts = [
        refuse("response_format is not supported"),
        refuse("Unsupported: response_format", "response_format"),
        faulty.answer(faulty.say('Here: {"move": "B"}')),
    ]
    with faulty.serving(*acts) as server:
        reply = OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(REQUEST)
    assert formats(server) == ["json_schema", "json_object", None]
    assert (reply.text, dict(reply.honoured)["schema"]) == ('{"move": "B"}', "words")


def test_another_complaint_is_not_taken_for_one_about_the_schema(clients):
    with (
        faulty.serving(refuse("the context is too long")) as server,
        pytest.raises(ModelError, match="too long"),
    ):
        OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(REQUEST)
    assert len(server.seen) == 1


def test_anthropic_is_asked_in_words_where_it_refuses_the_tool(clients):
    acts = [
        refuse(
            "tools.0.custom.input_schema.properties: Property keys should match pattern"
            " '^[a-zA-Z0-9_.-]{1,64}$'"
        ),
        faulty.answer(
            {"content": [{"type": "text", "text": '{"move": "A"}'}], "stop_reason": "end_turn"}
        ),
    ]
    with faulty.serving(*acts) as server:
        reply = AnthropicModel("m", clients, Secret(""), base_url=server.url).complete(REQUEST)
    assert ["tools" in body for _, _, body in server.seen] == [True, False]
    assert server.seen[1][2]["messages"] == [{"role": "user", "content": IN_WORDS}]
    assert (reply.text, dict(reply.honoured)["schema"]) == ('{"move": "A"}', "words")


def test_google_goes_from_schema_to_json_to_words(clients):
    good = {
        "candidates": [{"content": {"parts": [{"text": '{"move": "A"}'}]}, "finishReason": "STOP"}]
    }
    acts = [
        refuse('Unknown name "responseJsonSchema" at generation_config'),
        refuse("JSON mode is not enabled for models/m"),
        faulty.answer(good),
    ]
    with faulty.serving(*acts) as server:
        reply = GoogleModel("m", clients, Secret(""), base_url=server.url).complete(REQUEST)
    settings = [
        sorted(body["generationConfig"].keys() & {"responseJsonSchema", "responseMimeType"})
        for _, _, body in server.seen
    ]
    assert settings == [["responseJsonSchema", "responseMimeType"], ["responseMimeType"], []]
    assert dict(reply.honoured)["schema"] == "words"


THOUGHTFUL = replace(ask("x"), max_tokens=500, effort="low")
ANTHROPIC_GOOD = {
    "content": [{"type": "thinking"}, {"type": "text", "text": "A"}],
    "stop_reason": "end_turn",
}
GOOGLE_GOOD = {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]}


def test_openai_is_sent_the_effort_and_a_budget_is_room_for_the_reply(clients):
    with faulty.serving(faulty.answer(faulty.say("A"))) as server:
        OpenAIModel("m", clients, Secret(""), base_url=server.url).complete(
            replace(THOUGHTFUL, reasoning_tokens=700)
        )
    body = server.seen[0][2]
    assert (body["reasoning_effort"], body["max_tokens"]) == ("low", 1200)


def test_anthropic_thinks_within_a_budget_at_its_own_temperature(clients):
    with faulty.serving(faulty.answer(ANTHROPIC_GOOD)) as server:
        reply = AnthropicModel("m", clients, Secret(""), base_url=server.url).complete(THOUGHTFUL)
    body = server.seen[0][2]
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert (body["max_tokens"], body["temperature"], reply.text) == (2548, 1.0, "A")


def test_google_is_sent_the_budget_and_minimal_effort_is_none(clients):
    with faulty.serving(faulty.answer(GOOGLE_GOOD), faulty.answer(GOOGLE_GOOD)) as server:
        model = GoogleModel("m", clients, Secret(""), base_url=server.url)
        model.complete(replace(THOUGHTFUL, reasoning_tokens=9000))
        model.complete(replace(THOUGHTFUL, effort="minimal"))
    sent = [body["generationConfig"] for _, _, body in server.seen]
    assert [(s["thinkingConfig"], s["maxOutputTokens"]) for s in sent] == [
        ({"thinkingBudget": 9000}, 9500),
        ({"thinkingBudget": 0}, 500),
    ]


def test_a_request_that_says_nothing_of_reasoning_has_the_key_it_always_had():
    assert not {"effort", "reasoning_tokens"} & set(request_to_json(ask("x")))
