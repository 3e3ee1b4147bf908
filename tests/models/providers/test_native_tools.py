"""Tools offered and called in the own form of Anthropic and of Google, against a real server."""

import json
from dataclasses import replace

import faulty
import pytest

from bestresponse.core.errors import BadReply
from bestresponse.models import HttpClients, Secret, ask
from bestresponse.models.base import ToolUse
from bestresponse.models.codec import reply_from_json, reply_to_json
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.schema import schema_text
from bestresponse.models.wrappers.tools import Tooled, make_tool

FORM = {"type": "object", "properties": {"move": {"type": "string"}}, "required": ["move"]}
HELD = replace(ask("Choose."), schema=schema_text(FORM))


def price(day: int) -> float:
    """Return what water cost on a day."""
    return 30.0 + day


def answer(text: str) -> str:
    """Return the text, whose name is that of the tool that gives answers."""
    return text


PARAMETERS = {
    "type": "object",
    "properties": {"day": {"type": "integer"}},
    "required": ["day"],
}


@pytest.fixture(scope="module")
def clients():
    with HttpClients() as clients:
        yield clients


def refuse(message):
    return faulty.answer({"error": {"message": message}}, 400)


def claude_calls(name, arguments):
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}
    return faulty.answer(
        {
            "content": [{"type": "text", "text": "I look it up."}, block],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
    )


def claude_says(text):
    return faulty.answer(
        {
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 120, "output_tokens": 3},
        }
    )


def gemini_parts(*parts):
    candidate = {"content": {"parts": list(parts)}, "finishReason": "STOP"}
    return faulty.answer(
        {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10},
        }
    )


def gemini_calls(name, arguments):
    return gemini_parts({"functionCall": {"name": name, "args": arguments}})


def complete(kind, clients, acts, request=None, offered=(price,), **more):
    with faulty.serving(*acts) as server:
        model = kind("m", clients, Secret(""), base_url=server.url)
        tooled = Tooled(model, tuple(make_tool(tool) for tool in offered), **more)
        reply = tooled.complete(request or ask("What did it cost?"))
    return reply, [body for _, _, body in server.seen]


def test_anthropic_is_offered_tools_and_their_calls_are_carried_out_and_recorded(clients):
    reply, sent = complete(
        AnthropicModel, clients, [claude_calls("price", {"day": 2}), claude_says("32")]
    )
    assert sent[0]["tools"] == [
        {
            "name": "price",
            "description": "Return what water cost on a day.",
            "input_schema": PARAMETERS,
        }
    ]
    assert sent[0]["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "32.0" in sent[1]["messages"][-1]["content"]
    assert reply.text == "32"
    assert reply.tools == (ToolUse("price", '{"day":2}', "32.0"),)
    assert (reply.usage.prompt, reply.usage.completion) == (220, 13)
    assert dict(reply.honoured)["tools"] == "offered"
    assert reply_from_json(json.loads(json.dumps(reply_to_json(reply)))) == reply


def test_anthropic_may_call_a_tool_or_give_an_answer_that_keeps_to_a_schema(clients):
    acts = [claude_calls("price", {"day": 2}), claude_calls("answer", {"move": "A"})]
    reply, sent = complete(AnthropicModel, clients, acts, HELD)
    assert [tool["name"] for tool in sent[0]["tools"]] == ["price", "answer"]
    assert sent[0]["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    assert reply.text == '{"move":"A"}'
    assert [use.name for use in reply.tools] == ["price"]
    assert dict(reply.honoured)["schema"] == "tool"


def test_anthropic_without_calls_left_must_answer_by_the_schema(clients):
    acts = [claude_calls("price", {"day": 2}), claude_calls("answer", {"move": "A"})]
    reply, sent = complete(AnthropicModel, clients, acts, HELD, limit=1)
    assert sent[1]["tool_choice"] == {"type": "tool", "name": "answer"}
    assert [tool["name"] for tool in sent[1]["tools"]] == ["answer"]
    assert reply.text == '{"move":"A"}'


def test_a_tool_called_answer_is_not_taken_for_the_answer(clients):
    acts = [claude_calls("answer", {"text": "hm"}), claude_calls("final_answer", {"move": "A"})]
    reply, sent = complete(AnthropicModel, clients, acts, HELD, offered=(answer,))
    assert [tool["name"] for tool in sent[0]["tools"]] == ["answer", "final_answer"]
    assert reply.text == '{"move":"A"}'
    assert reply.tools == (ToolUse("answer", '{"text":"hm"}', "hm"),)


def test_an_anthropic_model_that_takes_no_tools_hears_of_them_in_words(clients):
    acts = [
        refuse("tools: Extra inputs are not permitted"),
        claude_says('TOOL price {"day": 3}'),
        claude_says("33"),
    ]
    reply, sent = complete(AnthropicModel, clients, acts)
    assert ["tools" in body for body in sent] == [True, False, False]
    assert "tool_choice" not in sent[1]
    assert reply.tools == (ToolUse("price", '{"day": 3}', "33.0"),)
    assert reply.text == "33"


def test_google_is_offered_functions_and_their_calls_are_carried_out_and_recorded(clients):
    acts = [gemini_calls("price", {"day": 2}), gemini_parts({"text": "32"})]
    reply, sent = complete(GoogleModel, clients, acts)
    assert sent[0]["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "price",
                    "description": "Return what water cost on a day.",
                    "parametersJsonSchema": PARAMETERS,
                }
            ]
        }
    ]
    assert "tools" not in sent[0]["generationConfig"]
    assert "32.0" in sent[1]["contents"][-1]["parts"][0]["text"]
    assert reply.text == "32"
    assert reply.tools == (ToolUse("price", '{"day":2}', "32.0"),)
    assert (reply.usage.prompt, reply.usage.completion) == (200, 20)


def test_google_is_told_a_schema_in_words_while_it_may_call_functions(clients):
    acts = [gemini_calls("price", {"day": 2}), gemini_parts({"text": '{"move": "A"}'})]
    reply, sent = complete(GoogleModel, clients, acts, HELD)
    assert "responseMimeType" not in sent[0]["generationConfig"]
    assert "must follow this JSON schema" in sent[0]["contents"][-1]["parts"][0]["text"]
    assert dict(reply.honoured)["schema"] == "words"
    assert json.loads(reply.text) == {"move": "A"}


def test_google_is_held_to_the_schema_once_no_call_is_left(clients):
    acts = [gemini_calls("price", {"day": 2}), gemini_parts({"text": '{"move": "A"}'})]
    _, sent = complete(GoogleModel, clients, acts, HELD, limit=1)
    assert sent[1]["generationConfig"]["responseMimeType"] == "application/json"
    assert "tools" not in sent[1]


def test_google_leaves_choices_out_while_it_may_call_functions(clients):
    request = replace(ask("A or B?"), choices=("A", "B"))
    reply, sent = complete(GoogleModel, clients, [gemini_parts({"text": "A"})], request)
    assert "responseSchema" not in sent[0]["generationConfig"]
    assert dict(reply.honoured)["choices"] == "left out"


def test_a_google_model_without_functions_hears_of_tools_in_words(clients):
    acts = [
        refuse("Function calling is not enabled for models/m"),
        gemini_parts({"text": 'TOOL price {"day": 3}'}),
        gemini_parts({"text": "33"}),
    ]
    reply, sent = complete(GoogleModel, clients, acts)
    assert ["tools" in body for body in sent] == [True, False, False]
    assert reply.tools == (ToolUse("price", '{"day": 3}', "33.0"),)


@pytest.mark.parametrize(
    ("kind", "act"),
    [
        (GoogleModel, gemini_parts({"functionCall": "price"})),
        (GoogleModel, gemini_parts({"functionCall": {"name": "price", "args": [2]}})),
        (AnthropicModel, claude_calls(None, {"day": 2})),
        (AnthropicModel, claude_calls("price", "2")),
    ],
)
def test_a_call_that_is_none_is_a_bad_reply(clients, kind, act):
    with pytest.raises(BadReply, match="answered without a proper"):
        complete(kind, clients, [act] * 5)
