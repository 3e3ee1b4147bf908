"""The local engine, on the real embedded model."""

import json
import os
import socket
import tempfile
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from waiting import run_at_once

from bestresponse.core.errors import ModelError, ModelUnavailable, UnknownModel, UsageError
from bestresponse.models import Finish, ask
from bestresponse.models.providers.local import LocalModel, LocalSettings, check_gguf

pytestmark = pytest.mark.model

SHORT = ask("Say a word.", system="Be brief.", max_tokens=6)


def _own_listeners(family):
    """Sockets of this process that accept connections, found through its open descriptors
    (Linux)."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            one = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        with one:
            if one.family == family and one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                found.append(one.getsockname())
    return found


def test_it_answers_and_says_what_it_did(smollm2):
    reply = smollm2.complete(SHORT)
    assert reply.text
    assert reply.finish in (Finish.STOP, Finish.LENGTH)
    assert 1 <= reply.usage.completion <= 6
    assert dict(reply.honoured) == {"seed": 0, "temperature": 0.0, "repeatable": True}
    assert reply.latency > 0


def test_its_identity_holds_the_hash_of_the_file_and_the_settings_of_the_engine(smollm2):
    identity = smollm2.identity
    assert identity["sha256"] == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert (identity["threads"], identity["slots"], identity["prompt_cache"]) == (1, 1, False)
    assert identity["engine"].startswith("xllamacpp ")


def test_equal_requests_get_equal_replies_whatever_is_asked_in_between_and_at_the_same_time(
    smollm2,
):
    hot = replace(SHORT, temperature=1.0, seed=5)
    first = smollm2.complete(hot).text
    smollm2.complete(ask("Something else entirely.", max_tokens=2))
    texts = []
    run_at_once(*[lambda: texts.append(smollm2.complete(hot).text)] * 3)
    assert texts == [first] * 3


def test_replicates_differ_even_without_a_seed(smollm2):
    hot = replace(SHORT, temperature=1.5)
    replies = [smollm2.complete(replace(hot, replicate=number)) for number in range(4)]
    assert [dict(reply.honoured)["seed"] for reply in replies] == [0, 1, 2, 3]
    assert len({reply.text for reply in replies}) > 1


def test_choices_are_enforced_whatever_characters_they_hold(smollm2):
    odd = ('say "hi"', "back\\slash", "zwölf\n")
    reply = smollm2.complete(replace(SHORT, choices=odd, max_tokens=20))
    assert reply.text in odd
    assert dict(reply.honoured)["choices"] == "grammar"


def test_a_schema_gives_json_of_that_shape(smollm2):
    schema = '{"additionalProperties":false,"properties":{"row":{"enum":["A","B"]}},"required":["row"],"type":"object"}'
    reply = smollm2.complete(replace(SHORT, schema=schema, max_tokens=30))
    assert json.loads(reply.text)["row"] in ("A", "B")


def test_log_probabilities_are_given_for_every_token_likeliest_first(smollm2):
    reply = smollm2.complete(replace(SHORT, logprobs=3, max_tokens=2))
    assert [len(position) for position in reply.logprobs] == [3] * reply.usage.completion
    for position in reply.logprobs:
        chances = [chance for _, chance in position]
        assert chances == sorted(chances, reverse=True)
        assert all(chance <= 0 for chance in chances)


def test_a_prompt_longer_than_the_context_is_a_sentence(smollm2):
    with pytest.raises(ModelError, match=r"smollm2 refused the request: .*4096"):
        smollm2.complete(ask("word " * 5000))


def test_a_schema_that_is_none_is_a_sentence(smollm2):
    with pytest.raises(UsageError, match="not JSON"):
        smollm2.complete(replace(SHORT, schema="{"))
    with pytest.raises(ModelError, match="refused the request"):
        smollm2.complete(replace(SHORT, schema='{"type":"nonsense"}'))


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at open sockets the Linux way"
)
def test_the_engine_cannot_be_reached_from_outside(smollm2):
    smollm2.complete(SHORT)
    assert _own_listeners(socket.AF_INET) == []
    assert _own_listeners(socket.AF_INET6) == []
    assert [Path(path).exists() for path in _own_listeners(socket.AF_UNIX)] == [False]


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at open sockets the Linux way"
)
def test_where_no_socket_file_is_possible_the_listener_demands_a_key_nobody_has(
    smollm2_path, tmp_path, monkeypatch
):
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    model = LocalModel(smollm2_path, LocalSettings(context=256))
    ((host, port),) = _own_listeners(socket.AF_INET)
    assert host == "127.0.0.1"
    body = {"messages": [{"role": "user", "content": "hello"}]}
    answer = httpx.post(f"http://{host}:{port}/v1/chat/completions", json=body)
    assert answer.status_code == 401
    model.close()
    assert _own_listeners(socket.AF_INET) == []


def test_a_file_that_is_no_gguf_is_refused_before_the_engine_sees_it(tmp_path):
    page = tmp_path / "model.gguf"
    page.write_text("<html>not found</html>")
    with pytest.raises(
        ModelUnavailable, match=r"is not a GGUF file: it begins with b'<htm' instead of b'GGUF'"
    ):
        LocalModel(page)
    with pytest.raises(UnknownModel, match=r"there is no model file .*absent"):
        LocalModel(tmp_path / "absent.gguf")
    page.write_bytes(b"GGUF\x63\0\0\0")
    with pytest.raises(ModelUnavailable, match="version 99"):
        check_gguf(page)
    page.write_bytes(b"GGUF")
    with pytest.raises(ModelUnavailable, match="nothing after its first word"):
        check_gguf(page)


def test_half_a_gguf_is_a_sentence(tmp_path, smollm2_path):
    half = tmp_path / "half.gguf"
    half.write_bytes(smollm2_path.read_bytes()[:5_000_000])
    with pytest.raises(
        ModelUnavailable, match=r"could not load .*half\.gguf: the file is damaged or incomplete"
    ):
        LocalModel(half)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(UsageError, match="threads is 0"):
        LocalSettings(threads=0)
    assert not LocalSettings(slots=2).repeatable
    assert not LocalSettings(prompt_cache=True).repeatable


def test_a_model_may_be_closed_before_its_first_call_and_says_so(smollm2_path):
    for _ in range(3):
        model = LocalModel(smollm2_path, LocalSettings(context=256))
        model.close()
    with pytest.raises(ModelUnavailable, match="was closed"):
        model.complete(SHORT)
