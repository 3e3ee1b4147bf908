"""Servers that mean harm: bombs, keys sent back, codes for the terminal, numbers that are none."""

import gzip
import json
import logging
import time
import traceback
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import quote

import faulty
import pytest

from bestresponse.core.errors import BadReply, ModelError, Transient, UsageError
from bestresponse.models import HttpClients, OpenAIModel, Secret, ask
from bestresponse.models.http import Endpoint, endpoint
from bestresponse.models.http.endpoint import read_body
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.reading import read_chat_reply

KEY = "sk-very/secret+key-12345"
SCHEMA = '{"properties":{"p":{"type":"number"}},"required":["p"],"type":"object"}'


@pytest.fixture(scope="module")
def clients():
    with HttpClients() as clients:
        yield clients


@pytest.fixture
def complete(clients):
    """Ask an OpenAI model behind a server that performs the act, and return the reply."""

    def run(act, request=None, key=KEY):
        with faulty.serving(act) as server:
            return OpenAIModel("m", clients, Secret(key), base_url=server.url).complete(
                request or ask("x")
            )

    return run


@pytest.mark.parametrize("encoding", ["br", "gzip", "gzip, gzip"])
def test_a_compressed_reply_is_refused_before_anything_is_expanded(complete, encoding):
    with pytest.raises(BadReply, match=f"compressed its reply as {encoding}, and was asked not to"):
        complete(faulty.answer(gzip.compress(b"{}"), headers=[("content-encoding", encoding)]))


def test_a_compression_that_is_not_admitted_stays_compressed(complete):
    with pytest.raises(Transient, match="did not answer in JSON"):
        complete(faulty.answer(gzip.compress(b"{}")))


@pytest.mark.parametrize("encoding", ["", "identity", "Identity "])
def test_every_name_of_the_encoding_that_was_asked_for_is_taken(complete, encoding):
    body = json.dumps(faulty.GOOD).encode()
    assert complete(faulty.answer(body, headers=[("content-encoding", encoding)])).text == "A"


def test_reading_ends_at_the_limit(clients):
    long = faulty.answer(b" " * 10_000_000)
    with (
        faulty.serving(long) as server,
        pytest.raises(BadReply, match=r"sent more than 0\.09537 MB for one reply"),
    ):
        Endpoint(clients, server.url, "it", Secret(KEY), "authorization", largest=100_000).post(
            {}, read_chat_reply
        )


def test_reading_never_holds_much_more_than_the_limit():
    pieces = (bytes(100_000) for _ in range(500))
    tracemalloc.start()
    with pytest.raises(BadReply):
        read_body(pieces, 1_000_000, "it")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000


@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY}\r\n", f"\t{KEY} "])
def test_white_space_around_a_key_is_removed(clients, key):
    with faulty.serving(faulty.answer(faulty.GOOD)) as server:
        OpenAIModel("m", clients, Secret(key), base_url=server.url).complete(ask("x"))
    assert server.seen[0][1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("key", "shown"), [("sk-a\nb", "U+000A"), ("sk-a\x1bb", "U+001B"), ("sk-aéb", "U+00E9")]
)
def test_a_key_with_characters_no_key_has_is_refused_without_showing_it(key, shown):
    with pytest.raises(UsageError) as caught:
        Secret(key, "OPENAI_API_KEY")
    assert (
        str(caught.value)
        == f"the API key in OPENAI_API_KEY contains {shown} at position 5, which no key contains:"
        " copy the key again"
    )


@pytest.mark.parametrize(
    "spell",
    [
        str,
        lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
        lambda key: key.replace("/", "\\/"),
    ],
    ids=["plain", "escaped", "slashes"],
)
def test_a_model_that_says_the_key_is_not_quoted(complete, spell):
    reply = complete(faulty.echo_the_key_in_a_reply(spell))
    assert (reply.text, reply.provider_id) == ("it is ***", "***")


def test_a_short_dummy_key_does_not_change_what_a_model_says(complete):
    assert complete(faulty.echo_the_key_in_a_reply(), key="EMPTY").text == "it is EMPTY"


def test_json_that_breaks_off_inside_the_key_shows_nothing_of_it(complete):
    with pytest.raises(Transient) as caught:
        complete(faulty.break_off_in_the_key)
    assert (
        str(caught.value)
        == 'openai/m did not answer in JSON, or in JSON that breaks off: {"echo": "***'
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the key very/secret+key-123 is wrong", "the key *** is wrong"),
        ("see sk-very%2Fsecret%2Bkey-12345", "see ***"),
        (
            "in capitals: SK-VERY/SECRET+KEY-12345, less a character: k-very/secret+key-1234",
            "in capitals: ***, less a character: ***",
        ),
        ("another one: sk-proj-abcdef123", "another one: ***"),
        ("seven of it: y/secre", "seven of it: y/secre"),
        ("nothing of it, and a \0", r"nothing of it, and a \x00"),
    ],
)
def test_pieces_of_a_key_and_what_looks_like_one_are_removed_from_errors(text, shown):
    assert Secret(KEY).quote(text) == shown


def test_a_letter_whose_lower_case_is_longer_does_not_shift_what_is_removed():
    assert Secret(KEY).redact(f"\u0130 {KEY.upper()}!") == "\u0130 ***!"


SPELLINGS = {
    "whole": str,
    "lower": str.lower,
    "upper": str.upper,
    "less the last": lambda key: key[:-1],
    "less the first": lambda key: key[1:],
    "in an address": lambda key: quote(key, safe=""),
    "twice": lambda key: f"{key}, {key}",
}


def _send_raw(template):
    """Send bytes that need not be HTTP, with the key in the place of `{}`."""

    def make(key):
        def act(handler):
            handler.wfile.write(template.replace("{}", key).encode())
            handler.close_connection = True

        return act

    return make


def _say_with(change):
    """Send a good reply in which `change` has put the key somewhere."""
    return lambda key: faulty.answer({**faulty.GOOD, **change(key)})


PLACES = {
    "reason phrase": _send_raw("HTTP/1.1 200 {}\r\ncontent-length: 2\r\n\r\n{}"),
    "reason phrase of an error": _send_raw("HTTP/1.1 500 {}\r\ncontent-length: 0\r\n\r\n"),
    "status line": _send_raw("HTTP/1.1 {} OK\r\n\r\n"),
    "version": _send_raw("{} 200 OK\r\n\r\n"),
    "header line": _send_raw("HTTP/1.1 200 OK\r\n{}\r\n\r\n"),
    "header name": _send_raw("HTTP/1.1 200 OK\r\n{}: 1\r\n\r\n"),
    "length": _send_raw("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n"),
    "chunk": _send_raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}\r\n"),
    "transfer encoding": _send_raw("HTTP/1.1 200 OK\r\ntransfer-encoding: {}\r\n\r\n"),
    "nothing but the key": _send_raw("{}"),
    **{
        f"header {name} of {status}": lambda key, name=name, status=status: faulty.answer(
            b"{}", status, [(name, key)]
        )
        for name in (
            "content-encoding",
            "retry-after",
            "location",
            "www-authenticate",
            "content-type",
            "x-other",
        )
        for status in (200, 307, 401, 429)
    },
    **{
        f"{kind} of {status}": lambda key, template=template, status=status: faulty.answer(
            template.replace("KEY", key).encode(), status
        )
        for kind, template in {
            "text": "KEY",
            "page": "<html>KEY</html>",
            "message": '{"error": {"message": "KEY", "param": "KEY", "code": "KEY"}}',
            "name": '{"error": {"KEY": {"KEY": ["KEY"]}}}',
            "broken JSON": '{"error": {"message": "KEY',
            "list": '["KEY"]',
        }.items()
        for status in (200, 400, 401, 404, 500)
    },
    "id": _say_with(lambda key: {"id": key}),
    "content": _say_with(lambda key: faulty.say(key)),
    "usage": _say_with(lambda key: {"usage": {key: key}}),
    "choice": _say_with(lambda key: {"choices": [key]}),
    "finish": _say_with(
        lambda key: {"choices": [{"message": {"content": "A"}, "finish_reason": key}]}
    ),
    "refusal": _say_with(lambda key: {"choices": [{"message": {"refusal": key}}]}),
    "token": _say_with(
        lambda key: {
            "choices": [
                {
                    "message": {"content": "A"},
                    "logprobs": {"content": [{"top_logprobs": [{"token": key, "logprob": 5}]}]},
                }
            ]
        }
    ),
}


def _collect_texts(model):
    """Return everything that a call shows: the reply, or the error with the variables of its
    frames."""
    try:
        return [repr(model.complete(replace(ask("x"), logprobs=1)))]
    except ModelError as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        return [str(error), repr(vars(error)), "".join(frames.format())]


@pytest.mark.parametrize("place", PLACES)
def test_a_key_that_a_server_echoes_is_never_quoted(clients, caplog, place):
    caplog.set_level(logging.DEBUG)
    key = "sk-Very/Secret+Key-0123456789abcdefXYZ"
    pieces = [key[start : start + 12].lower() for start in range(len(key) - 11)]
    pieces += [quote(piece, safe="").lower() for piece in pieces]
    with faulty.serving(*(PLACES[place](spell(key)) for spell in SPELLINGS.values())) as server:
        model = OpenAIModel("m", clients, Secret(key), base_url=server.url)
        texts = [text for _ in SPELLINGS for text in _collect_texts(model)]
    for text in [*texts, caplog.text]:
        assert [piece for piece in pieces if piece in text.lower()] == []


def test_a_complaint_holds_no_key_either(clients):
    def refuse(handler):
        escaped = "".join(f"\\u{ord(one):04x}" for one in KEY)
        faulty.answer(f'{{"error": {{"message": "no", "detail": "{escaped}"}}}}'.encode(), 400)(
            handler
        )

    with faulty.serving(refuse) as server, pytest.raises(ModelError) as caught:
        OpenAIModel("m", clients, Secret(KEY), base_url=server.url).complete(ask("x"))
    assert vars(caught.value) == {"parameter": None}


def test_an_error_of_nothing_but_pieces_of_the_key_takes_little_memory(complete):
    echo = faulty.answer(KEY[:-1].encode() * 50_000, 400)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=r"answered HTTP 400: \*\*\*$"):
            complete(echo)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


def test_codes_for_the_terminal_are_written_out(complete):
    message = "\x1b]0;owned\x07\x1b[31mred\u202e\x9b2J"
    with pytest.raises(ModelError) as caught:
        complete(faulty.answer({"error": {"message": message}}, 400))
    assert (
        str(caught.value) == r"openai/m answered HTTP 400: \x1b]0;owned\x07\x1b[31mred\u202e\x9b2J"
    )


def _with_logprob(value):
    position = {"token": "A", "logprob": 0, "top_logprobs": [{"token": "A", "logprob": value}]}
    choice = {
        "message": {"content": "A"},
        "finish_reason": "stop",
        "logprobs": {"content": [position]},
    }
    return faulty.answer({"choices": [choice]})


@pytest.mark.parametrize("value", [10**400, 1e300, 5, float("inf"), -(10**400), -1e305])
def test_a_log_probability_that_is_none_is_a_sentence(complete, value):
    with pytest.raises(
        BadReply, match=r"openai/m gave a token a log-probability (above 0|below the range)"
    ):
        complete(_with_logprob(value), replace(ask("x"), logprobs=1))


@pytest.mark.parametrize(
    ("value", "read"), [(1e-7, ((("A", 0.0),),)), (-9999.0, ((("A", -9999.0),),)), (None, ((),))]
)
def test_rounded_tiny_and_missing_log_probabilities_are_taken(complete, value, read):
    assert complete(_with_logprob(value), replace(ask("x"), logprobs=1)).logprobs == read


@pytest.mark.parametrize("tokens", [10**4200, 10**12])
def test_an_absurd_number_of_tokens_is_a_sentence(complete, tokens):
    body = json.dumps({**faulty.GOOD, "usage": {"prompt_tokens": tokens}}).encode()
    with pytest.raises(BadReply, match="`prompt_tokens` of one reply is more than 1,000,000,000"):
        complete(faulty.answer(body))


@pytest.mark.parametrize(
    ("depth", "error", "says"),
    [
        (99, Transient, "without a proper `choices`"),
        (100_000, BadReply, "did not answer in JSON"),
    ],
)
def test_json_nested_absurdly_deep_is_a_sentence(complete, depth, error, says):
    with pytest.raises(error, match=says):
        complete(faulty.answer(b'{"a":' + b"[" * depth + b"]" * depth + b"}"))


@pytest.mark.parametrize("value", [b"[]", b"{}", b"0"])
def test_json_of_very_many_values_is_refused_before_it_is_parsed(complete, value):
    act = faulty.answer(b'{"x": [' + b",".join([value] * 2_000_000) + b"]}")
    tracemalloc.start()
    try:
        with pytest.raises(
            BadReply, match="openai/m sent JSON of more than 500,000 values for one reply"
        ):
            complete(act)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000


def test_a_very_long_reply_is_in_ascii(complete):
    act = faulty.answer(b'{"x": "' + b"a" * 8_400_000 + "\U0001f600".encode() + b'"}')
    with pytest.raises(BadReply, match="openai/m sent more than 8 MB beyond ASCII for one reply"):
        complete(act)


def fill_object(name, values):
    return (
        b'{"y": "\\u0041", "x": {'
        + b",".join(b'"%s%d":1.5' % (name, n) for n in range(values))
        + b"}}"
    )


FILLED_REPLIES = {
    "many objects": lambda part: b'{"x": [' + b'{"a":1},' * (249_990 // part) + b"1]}",
    "a wide text": lambda part: (
        b'{"x": ["' + b"a" * (8_000_000 // part) + "\U0001f600".encode() + b'"]}'
    ),
    "a text that an escape makes wide": lambda part: (
        b'{"x": ["' + b"a" * (16_000_000 // part) + b'\\ud83d\\ude00"]}'
    ),
    "many names": lambda part: fill_object(b"", 499_990 // part),
    "many wide names": lambda part: fill_object("\U0001f600".encode(), 480_000 // part),
}
"""Replies that take as much memory as they can, at one part of the sizes that are allowed."""


@pytest.mark.parametrize("filled", FILLED_REPLIES)
@pytest.mark.parametrize(
    "part", [8, pytest.param(1, marks=pytest.mark.soak)], ids=["an eighth", "full size"]
)
def test_a_reply_takes_no_more_memory_than_eight_times_its_limit(filled, part, monkeypatch):
    # By a power of two, since the tables of Python grow by doubling.
    monkeypatch.setattr(endpoint, "_MOST_VALUES", endpoint._MOST_VALUES // part)
    server = Endpoint(
        HttpClients(),
        "http://localhost",
        "the server",
        Secret(KEY),
        "authorization",
        largest=endpoint._LARGEST // part,
    )
    body = FILLED_REPLIES[filled](part)
    assert len(body) <= server.largest
    tracemalloc.start()
    try:
        server._parse(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(body) + peak < 8 * server.largest, f"{peak / 2**20:.0f} MB"


def test_the_time_that_parsing_takes_belongs_to_the_call(clients, monkeypatch):
    def parse_slowly(answer):
        time.sleep(0.6)
        return json.loads(answer)

    monkeypatch.setattr(endpoint, "json", SimpleNamespace(dumps=json.dumps, loads=parse_slowly))
    with (
        faulty.serving(faulty.answer(faulty.GOOD)) as server,
        pytest.raises(Transient, match=r"within 0\.5 s"),
    ):
        OpenAIModel("m", clients, Secret(KEY), base_url=server.url, timeout=0.5).complete(ask("x"))


def test_a_structured_answer_with_a_number_json_does_not_have_is_a_sentence(clients):
    body = b'{"content": [{"type": "tool_use", "input": {"p": NaN}}], "stop_reason": "tool_use"}'
    with (
        faulty.serving(faulty.answer(body)) as server,
        pytest.raises(BadReply, match="a number that JSON does not"),
    ):
        AnthropicModel("m", clients, Secret(KEY), base_url=server.url).complete(
            replace(ask("x"), schema=SCHEMA)
        )
