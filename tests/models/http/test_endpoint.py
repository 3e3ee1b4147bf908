"""The network adapters against real HTTP servers that misbehave."""

import json
import logging
import pickle
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import faulty
import pytest

from bestresponse.core.errors import (
    BadReply,
    MissingKey,
    ModelError,
    ModelUnavailable,
    Transient,
    UnknownModel,
)
from bestresponse.models import (
    Finish,
    HttpClients,
    Message,
    OpenAIModel,
    Request,
    Secret,
    Usage,
    ask,
)
from bestresponse.models.http import Endpoint
from bestresponse.models.http.endpoint import parse_retry_after
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.providers.reading import read_chat_reply
from bestresponse.models.wrappers.limits import Meter, Metered, Retried, RetryPolicy

KEY = "sk-very/secret+key-12345"
SCHEMA = '{"type":"object","properties":{"p":{"type":"number"}},"required":["p"],"additionalProperties":false}'
CHAT = Request(
    (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "Yes?"),
        Message("user", "Go"),
    )
)


@pytest.fixture(scope="module")
def client():
    with HttpClients() as client:
        yield client


@pytest.fixture
def openai(client):
    def make(server, **options):
        return OpenAIModel("m", client, Secret(KEY), base_url=f"{server.url}/v1", **options)

    return make


def post(client, server, **options):
    """Post an empty object to a server, without a model around it."""
    endpoint = Endpoint(client, server.url, "the server", Secret(KEY), "authorization", **options)
    return endpoint.post({}, lambda data: read_chat_reply(data, "the server"))


def test_openai_says_everything_and_reads_everything(openai):
    with faulty.serving(faulty.answer(faulty.GOOD)) as server:
        request = replace(
            CHAT,
            seed=5,
            replicate=0,
            top_p=0.9,
            stop=("\n",),
            schema=SCHEMA,
            logprobs=50,
            max_tokens=7,
        )
        reply = openai(server).complete(request)
    path, headers, body = server.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Go"},
        ],
        "max_tokens": 7,
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 5,
        "stop": ["\n"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": json.loads(SCHEMA)},
        },
        "logprobs": True,
        "top_logprobs": 20,
    }
    assert (reply.text, reply.finish, reply.provider_id) == ("A", Finish.STOP, "chatcmpl-1")
    assert reply.usage == Usage(12, 3, 4, 2)
    assert dict(reply.honoured) == {
        "temperature": 0.0,
        "seed": 5,
        "schema": "sent",
        "schema_violation": "the answer is not JSON",
    }


def test_openai_renames_and_drops_what_the_model_does_not_take_and_remembers_it(openai):
    def refuse(param):
        return faulty.answer(
            {
                "error": {
                    "message": f"Unsupported parameter: '{param}'",
                    "param": param,
                    "code": "unsupported_parameter",
                }
            },
            400,
        )

    with faulty.serving(
        refuse("max_tokens"), refuse("temperature"), faulty.answer(faulty.GOOD)
    ) as server:
        model = openai(server)
        reply = model.complete(ask("x"))
        model.complete(ask("y"))
    assert [sorted(body.keys() - {"model", "messages"}) for _, _, body in server.seen] == [
        ["max_tokens", "temperature"],
        ["max_completion_tokens", "temperature"],
        ["max_completion_tokens"],
        ["max_completion_tokens"],
    ]
    assert dict(reply.honoured) == {"temperature": None}


def test_a_complaint_about_a_value_is_not_taken_for_one_about_the_parameter(openai):
    message = "max_tokens is too large: 999999. This model supports at most 4096 completion tokens."
    refusal = faulty.answer({"error": {"message": message, "param": "max_tokens"}}, 400)
    with (
        faulty.serving(refusal) as server,
        pytest.raises(ModelError, match="max_tokens is too large"),
    ):
        openai(server).complete(ask("x"))
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("choice", "text", "finish"),
    [
        ({"message": {"content": "cut"}, "finish_reason": "length"}, "cut", Finish.LENGTH),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "", Finish.REFUSAL),
        (
            {"message": {"content": None, "refusal": "I won't."}, "finish_reason": "stop"},
            "I won't.",
            Finish.REFUSAL,
        ),
        ({"message": {"content": "x"}, "finish_reason": "tool_calls"}, "x", Finish.OTHER),
        ({"message": {"content": "x"}}, "x", Finish.OTHER),
    ],
)
def test_openai_finish_reasons(openai, choice, text, finish):
    with faulty.serving(faulty.answer({"choices": [choice]})) as server:
        reply = openai(server).complete(ask("x"))
    assert (reply.text, reply.finish, reply.usage) == (text, finish, Usage())


def test_openai_log_probabilities(openai):
    position = {
        "token": "A",
        "logprob": -0.1,
        "top_logprobs": [{"token": "B", "logprob": -3}, {"token": "A", "logprob": -0.1}],
    }
    alone = {"token": "!", "logprob": -0.5, "top_logprobs": []}
    choice = {
        "message": {"content": "A!"},
        "finish_reason": "stop",
        "logprobs": {"content": [position, alone]},
    }
    with faulty.serving(faulty.answer({"choices": [choice]})) as server:
        reply = openai(server).complete(replace(ask("x"), logprobs=2))
    assert reply.logprobs == ((("A", -0.1), ("B", -3.0)), (("!", -0.5),))


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        (b"<html>Welcome</html>", Transient, "breaks off: <html>Welcome</html>"),
        (b"", Transient, "breaks off: nothing"),
        (b'{"choices": [{"mess', Transient, "breaks off"),
        (b"\xff\xfe", Transient, "did not answer in JSON"),
        (b"[" * 100_000, BadReply, "did not answer in JSON"),
        (b"null", Transient, "without a proper `choices`"),
        (b'{"choices": []}', Transient, "with nothing in `choices`"),
        (b'{"choices": ["A"]}', BadReply, "without a proper `message`"),
        (b'{"choices": [{"message": {"content": 7}}]}', BadReply, "int as `content`"),
        (
            b'{"choices": [{"message": {"content": "A"}, "logprobs": {"content": [1]}}]}',
            BadReply,
            "`top_logprobs`",
        ),
        (b'{"error": "all is well"}', Transient, "without a proper `choices`"),
    ],
)
def test_a_server_that_lies_about_its_json_is_a_sentence(openai, body, error, says):
    with faulty.serving(faulty.answer(body)) as server, pytest.raises(error) as caught:
        openai(server).complete(ask("x"))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_lie_about_the_content_type_does_no_harm(openai):
    with faulty.serving(faulty.answer(faulty.GOOD, kind="text/html")) as server:
        assert openai(server).complete(ask("x")).text == "A"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ModelError),
        (401, MissingKey),
        (403, ModelError),
        (404, UnknownModel),
        (307, ModelError),
        (408, Transient),
        (429, Transient),
        (500, Transient),
        (503, Transient),
        (529, Transient),
    ],
)
def test_every_status_is_one_of_our_errors(openai, status, error):
    refusal = faulty.answer({"error": {"message": "the reason"}}, status)
    with faulty.serving(refusal) as server, pytest.raises(error) as caught:
        openai(server).complete(ask("x"))
    assert isinstance(caught.value, Transient) == (error is Transient)
    assert f"HTTP {status}" in str(caught.value)


def test_a_refused_key_names_its_variable(openai):
    refusal = faulty.answer({"error": {"message": "no"}}, 401)
    with (
        faulty.serving(refusal) as server,
        pytest.raises(MissingKey, match="check the key in OPENAI_API_KEY"),
    ):
        openai(server).complete(ask("x"))


def test_an_empty_purse_is_not_asked_again(openai):
    quota = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with (
        faulty.serving(faulty.answer(quota, 429)) as server,
        pytest.raises(ModelUnavailable) as caught,
    ):
        Retried(openai(server)).complete(ask("x"))
    assert not isinstance(caught.value, Transient)
    assert len(server.seen) == 1


@pytest.mark.parametrize("act", ["reset", "break_off"])
def test_a_broken_connection_may_be_tried_again(openai, act):
    with faulty.serving(getattr(faulty, act), faulty.answer(faulty.GOOD)) as server:
        model = openai(server)
        with pytest.raises(Transient, match="could not be reached, or broke off"):
            model.complete(ask("x"))
        assert model.complete(ask("x")).text == "A"


@pytest.mark.parametrize("act", ["stall", "drip", "drip_headers", "repeat_continue"])
def test_a_server_that_stalls_or_drips_is_given_up(openai, act):
    with (
        faulty.serving(getattr(faulty, act)) as server,
        pytest.raises(Transient, match=r"did not answer within 0\.3 s"),
    ):
        openai(server, timeout=0.3).complete(ask("x"))


def test_nobody_listening_is_a_sentence(openai, client):
    with faulty.serving(faulty.answer(faulty.GOOD)) as server:
        model = openai(server)
    with pytest.raises(Transient, match="could not be reached"):
        model.complete(ask("x"))
    with pytest.raises(ModelError, match="address of openai/m cannot be used"):
        OpenAIModel("m", client, Secret(KEY), base_url="gopher://host/v1").complete(ask("x"))


def test_retries_follow_the_server_through_all_of_it(openai):
    slept = []
    acts = [
        faulty.answer({}, 429, [("retry-after", "3")]),
        faulty.answer({}, 503, [("retry-after", "nonsense")]),
        faulty.reset,
        faulty.answer(b'{"choices": ['),
        faulty.answer(faulty.GOOD),
    ]
    with faulty.serving(*acts) as server:
        reply = Retried(openai(server), RetryPolicy(first=1.0), sleep=slept.append).complete(
            ask("x")
        )
    assert reply.text == "A"
    assert 3 <= slept[0] <= 3.3
    assert [1 <= slept[1] <= 2, 2 <= slept[2] <= 4, 4 <= slept[3] <= 8] == [True] * 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, expected):
    """784111777 is the example date of RFC 9110 in seconds since 1970."""
    assert parse_retry_after(value, now=784111740.0) == expected


@pytest.mark.parametrize("clock", [784111740.0, 784111740.0 - 3600, 784111740.0 + 86400])
def test_a_date_to_retry_after_counts_from_the_date_of_the_reply(client, clock):
    def refuse(handler):
        handler.send_response_only(429)
        handler.send_header("date", "Sun, 06 Nov 1994 08:49:00 GMT")
        handler.send_header("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")
        handler.send_header("content-length", "0")
        handler.end_headers()

    with (
        faulty.serving(refuse) as server,
        pytest.raises(Transient) as raised,
    ):
        post(client, server, clock=lambda: clock)
    assert raised.value.retry_after == 37.0


def test_the_key_is_nowhere(openai, client, caplog):
    caplog.set_level(logging.DEBUG)
    shown = []
    with faulty.serving(
        faulty.echo_the_key, faulty.reset, faulty.answer(KEY.encode()), faulty.answer(faulty.GOOD)
    ) as server:
        models = [openai(server), AnthropicModel("m", client, Secret(KEY), base_url=server.url)]
        models.append(GoogleModel("m", client, Secret(KEY), base_url=server.url))
        for model in models:
            for _ in range(4):
                try:
                    shown.append(repr(model.complete(ask("x"))))
                except ModelError as error:
                    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
                    shown += [str(error), repr(error), "".join(frames.format())]
            shown += [repr(model), json.dumps(dict(model.identity)), repr(vars(model))]
    assert len(server.seen) == 12
    assert all(KEY in json.dumps(headers) for _, headers, _ in server.seen)
    assert len(shown) > 20
    for text in [*shown, caplog.text, repr(Secret(KEY)), str(Secret(KEY)), f"{Secret(KEY)}"]:
        assert KEY not in text
        assert "very/secret" not in text
        assert "very%2Fsecret" not in text
    with pytest.raises(TypeError, match="never written down"):
        pickle.dumps(Secret(KEY))


def test_a_server_without_a_key_is_sent_none(client):
    with faulty.serving(faulty.answer(faulty.GOOD)) as server:
        OpenAIModel("m", client, Secret(""), base_url=server.url).complete(ask("x"))
    assert "authorization" not in {name.casefold() for name in server.seen[0][1]}


def test_anthropic_says_everything_and_reads_everything(client):
    good = {
        "id": "msg_1",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "A"},
            {"type": "text", "text": "!"},
        ],
        "stop_reason": "max_tokens",
        "usage": {
            "input_tokens": 10,
            "output_tokens": 4,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 1,
        },
    }
    with faulty.serving(faulty.answer(good)) as server:
        model = AnthropicModel("claude-x", client, Secret(KEY), base_url=server.url)
        reply = model.complete(
            replace(CHAT, temperature=1.7, seed=3, stop=("END",), max_tokens=9, logprobs=2)
        )
    path, headers, body = server.seen[0]
    assert path == "/v1/messages"
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert body == {
        "model": "claude-x",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Go"},
        ],
        "max_tokens": 9,
        "temperature": 1.0,
        "stop_sequences": ["END"],
    }
    assert (reply.text, reply.finish, reply.provider_id) == ("A!", Finish.LENGTH, "msg_1")
    assert reply.usage == Usage(16, 4, 5, None)
    assert dict(reply.honoured) == {"temperature": 1.0, "seed": None, "logprobs": "left out"}


def test_anthropic_gives_schemas_through_a_tool(client):
    good = {
        "content": [{"type": "tool_use", "name": "answer", "input": {"p": 0.5}}],
        "stop_reason": "tool_use",
    }
    with faulty.serving(
        faulty.answer(good), faulty.answer({"content": [], "stop_reason": "tool_use"})
    ) as server:
        model = AnthropicModel("m", client, Secret(KEY), base_url=server.url)
        reply = model.complete(replace(ask("x"), schema=SCHEMA))
        with pytest.raises(BadReply, match="gave none"):
            model.complete(replace(ask("x"), schema=SCHEMA))
    assert (reply.text, reply.finish) == ('{"p":0.5}', Finish.STOP)
    assert server.seen[0][2]["tool_choice"] == {"type": "tool", "name": "answer"}
    assert server.seen[0][2]["tools"][0]["input_schema"] == json.loads(SCHEMA)


def test_anthropic_refusals_overload_and_lies(client):
    acts = [
        faulty.answer({"content": [], "stop_reason": "refusal"}),
        faulty.answer(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529
        ),
        faulty.answer({"content": "A"}),
        faulty.answer({"error": {"message": "temperature is deprecated for this model."}}, 400),
        faulty.answer({"content": [{"type": "text", "text": "A"}], "stop_reason": "end_turn"}),
    ]
    with faulty.serving(*acts) as server:
        model = AnthropicModel("m", client, Secret(KEY), base_url=server.url)
        assert model.complete(ask("x")).finish is Finish.REFUSAL
        with pytest.raises(Transient, match="HTTP 529: Overloaded"):
            model.complete(ask("x"))
        with pytest.raises(Transient, match="`content`"):
            model.complete(ask("x"))
        assert dict(model.complete(ask("x")).honoured) == {"temperature": None}
    assert "temperature" not in server.seen[-1][2]


def test_google_says_everything_and_reads_everything(client):
    candidates = [{"token": "A", "logProbability": -0.2}, {"token": "B", "logProbability": -2}]
    good = {
        "responseId": "r1",
        "candidates": [
            {
                "content": {"parts": [{"text": "hm", "thought": True}, {"text": "A"}]},
                "finishReason": "STOP",
                "logprobsResult": {"topCandidates": [{"candidates": candidates}]},
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 9,
            "candidatesTokenCount": 1,
            "thoughtsTokenCount": 30,
            "cachedContentTokenCount": 2,
        },
    }
    with faulty.serving(faulty.answer(good)) as server:
        model = GoogleModel("gemini-x", client, Secret(KEY), base_url=server.url)
        reply = model.complete(replace(CHAT, seed=3, choices=("A", "B"), logprobs=2, max_tokens=9))
    path, headers, body = server.seen[0]
    assert path == "/models/gemini-x:generateContent"
    assert headers["x-goog-api-key"] == KEY
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Yes?"}]},
            {"role": "user", "parts": [{"text": "Go"}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 9,
            "temperature": 0.0,
            "seed": 3,
            "responseMimeType": "text/x.enum",
            "responseSchema": {"type": "STRING", "enum": ["A", "B"]},
            "responseLogprobs": True,
            "logprobs": 2,
        },
    }
    assert (reply.text, reply.finish, reply.provider_id) == ("A", Finish.STOP, "r1")
    assert reply.usage == Usage(9, 31, 2, 30)
    assert reply.logprobs == ((("A", -0.2), ("B", -2.0)),)


def test_google_refusals_and_lies(client):
    acts = [
        faulty.answer({"promptFeedback": {"blockReason": "SAFETY"}}),
        faulty.answer({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}),
        faulty.answer(
            {"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]}
        ),
        faulty.answer({"candidates": [{"finishReason": ["STOP"]}]}),
        faulty.answer({"candidates": []}),
        faulty.answer([]),
        faulty.answer({"error": {"message": "Logprobs is not enabled for models/m"}}, 400),
        faulty.answer(
            {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]}
        ),
    ]
    with faulty.serving(*acts) as server:
        model = GoogleModel("m", client, Secret(KEY), base_url=server.url)
        finishes = [model.complete(ask("x")).finish for _ in range(4)]
        assert finishes == [Finish.REFUSAL, Finish.REFUSAL, Finish.LENGTH, Finish.OTHER]
        with pytest.raises(Transient, match="nothing in `candidates`"):
            model.complete(ask("x"))
        with pytest.raises(BadReply, match="list instead of an object"):
            model.complete(ask("x"))
        reply = model.complete(replace(ask("x"), logprobs=2, schema=SCHEMA))
    assert dict(reply.honoured) == {
        "temperature": 0.0,
        "schema": "sent",
        "logprobs": "left out",
        "schema_violation": "the answer is not JSON",
    }
    assert server.seen[-1][2]["generationConfig"]["responseJsonSchema"] == json.loads(SCHEMA)


def test_a_reply_without_end_is_cut(client):
    with (
        faulty.serving(faulty.answer(b" " * 5000)) as server,
        pytest.raises(BadReply, match="sent more than"),
    ):
        post(client, server, largest=1000)


def test_connections_are_kept_open_and_used_again():
    with faulty.serving(faulty.answer(faulty.GOOD)) as server, HttpClients() as clients:
        model = OpenAIModel("m", clients, Secret(""), base_url=server.url)
        for _ in range(5):
            model.complete(ask("x"))
        assert server.connections == 1


def test_many_calls_at_once_all_arrive():
    with (
        faulty.serving(faulty.slow(0.05)) as server,
        HttpClients() as clients,
        ThreadPoolExecutor(32) as threads,
    ):
        model = OpenAIModel("m", clients, Secret(""), base_url=server.url)
        replies = list(threads.map(model.complete, [ask(f"{number}") for number in range(96)]))
    assert [reply.text for reply in replies] == ["A"] * 96
    assert sorted(int(body["messages"][0]["content"]) for _, _, body in server.seen) == list(
        range(96)
    )
    assert server.connections <= 32


def test_latency_is_measured(openai):
    with faulty.serving(faulty.slow(0.05)) as server:
        assert openai(server).complete(ask("x")).latency >= 0.05


@pytest.mark.parametrize(
    "body", [b"", b"<html>busy</html>", b'{"choices": [{"mess', b"\x00\xff", b'{"error": "busy"}']
)
def test_an_answer_that_is_no_json_is_asked_for_again_and_metered(openai, body):
    meter = Meter()
    acts = [faulty.answer(body), faulty.answer(faulty.GOOD)]
    with faulty.serving(*acts) as server:
        model = Retried(Metered(openai(server), meter), sleep=lambda seconds: None)
        assert model.complete(ask("x", max_tokens=50)).text == "A"
    # What may be billed: 1 byte of prompt, 64 for the frame, 16 for the message, 50 of reply.
    assert (meter.spent.calls, meter.spent.tokens) == (2, 131 + 12 + 3)
