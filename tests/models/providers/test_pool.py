"""A local model in several processes, and the engine's own server spoken to as any other server."""

import math
import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from waiting import run_at_once

from bestresponse.core.errors import MissingKey, ModelError, ModelUnavailable, Transient, UsageError
from bestresponse.models import Finish, HttpClients, OpenAIModel, Secret, ask, choice_chances
from bestresponse.models.providers.local import LocalSettings
from bestresponse.models.providers.pool import LocalPool

pytestmark = pytest.mark.model

SMALL = LocalSettings(context=256)
HOT = replace(ask("Say a word.", max_tokens=5), temperature=1.0)


@pytest.fixture(scope="module")
def pool(smollm2_path):
    pool = LocalPool(smollm2_path, SMALL, processes=2, name="smollm2")
    yield pool
    pool.close()


def test_a_pool_answers_as_one_process_does(pool, smollm2):
    texts = {}

    def work(number):
        texts[number] = pool.complete(replace(HOT, replicate=number)).text

    run_at_once(*(partial(work, number) for number in range(4)))
    assert [texts[number] for number in range(4)] == [
        smollm2.complete(replace(HOT, replicate=number)).text for number in range(4)
    ]
    assert pool.identity == {**smollm2.identity, "context": 256}
    assert pool.abilities.concurrency == 2


def test_errors_of_a_process_arrive_as_they_are(pool):
    with pytest.raises(ModelError, match="smollm2 refused the request"):
        pool.complete(ask("word " * 300))
    with pytest.raises(UsageError, match="not JSON"):
        pool.complete(replace(HOT, schema="{"))
    assert pool.complete(HOT).text


def _find_workers():
    """Return the processes of pools that this process started, from the system's own list."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system has no /proc to find processes in")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == os.getpid() and b"providers.pool" in command:
            found.append(int(folder.name))
    return found


def test_a_process_that_dies_is_replaced(pool):
    workers = _find_workers()
    assert len(workers) == 2
    for process in workers:
        os.kill(process, signal.SIGKILL)
    with pytest.raises(Transient, match="ended unexpectedly"):
        pool.complete(HOT)
    with pytest.raises(Transient, match="ended unexpectedly"):
        pool.complete(HOT)
    assert pool.complete(HOT).finish in (Finish.LENGTH, Finish.STOP)


def test_what_cannot_be_loaded_is_said_at_once(tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF\x03\0\0\0")
    with pytest.raises(ModelUnavailable, match="could not load"):
        LocalPool(bad, SMALL, processes=1)
    with pytest.raises(UsageError, match="processes is 0"):
        LocalPool(bad, SMALL, processes=0)


def test_a_closed_pool_says_so(smollm2_path):
    pool = LocalPool(smollm2_path, SMALL, processes=1)
    pool.close()
    with pytest.raises(ModelUnavailable, match="was closed"):
        pool.complete(HOT)


@pytest.fixture(scope="module")
def llama_server(smollm2_path):
    """llama.cpp's own HTTP server, on a free port of the loopback interface, with a key."""
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2_path)
    params.n_ctx = 512
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = -1
    params.api_keys = ["the-key"]
    return xllamacpp.Server(params)


def test_the_adapter_speaks_with_a_real_server(llama_server, smollm2):
    with HttpClients() as client:
        url = f"{llama_server.listening_address}/v1"
        model = OpenAIModel("smollm2", client, Secret("the-key"), base_url=url)
        reply = model.complete(replace(ask("Say a word.", max_tokens=5), logprobs=3, seed=1))
        assert reply.text == smollm2.complete(ask("Say a word.", max_tokens=5)).text
        assert reply.usage.completion == len(reply.logprobs) <= 5
        assert reply.provider_id
        schema = '{"properties":{"row":{"enum":["A","B"]}},"required":["row"],"type":"object"}'
        assert '"row"' in model.complete(replace(ask("Pick."), schema=schema, max_tokens=30)).text
        chances = choice_chances(model, ask("Answer A or B."), ("A", "B"))
        assert sum(chances.probabilities) == pytest.approx(1)
        with pytest.raises(MissingKey, match="HTTP 401"):
            OpenAIModel("smollm2", client, Secret("wrong"), base_url=url).complete(ask("x"))
        with pytest.raises(ModelError, match="HTTP 400"):
            model.complete(ask("word " * 600))


def test_the_chances_of_the_letters_are_those_the_engine_samples_with(llama_server, smollm2):
    """The engine can report the probabilities after sampling, of all tokens or of those its grammar left over."""
    body = {
        "messages": [{"role": "user", "content": "Answer A, B or C."}],
        "max_tokens": 1,
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "grammar": 'root ::= "A" | "B" | "C"',
        "logprobs": True,
        "top_logprobs": 1000,
        "post_sampling_probs": True,
        "cache_prompt": False,
    }
    answer = llama_server.handle_chat_completions(body)
    left = {one["token"]: one["prob"] for one in answer["choices"][0]["logprobs"]["content"][0]["top_probs"]}
    chances = choice_chances(smollm2, ask("Answer A, B or C."), ("A", "B", "C"))
    bare = [math.exp(dict(chances.reply.logprobs[0])[letter]) for letter in "ABC"]
    total = sum(left[letter] for letter in "ABC")
    assert [weight / sum(bare) for weight in bare] == pytest.approx([left[one] / total for one in "ABC"], rel=1e-3)
    assert sum(chances.probabilities) == pytest.approx(1)
    assert sum(bare) <= chances.mass < 1


def test_nothing_of_the_engine_is_left_in_the_temporary_folder(tmp_path, smollm2_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    pool = LocalPool(smollm2_path, SMALL, processes=1)
    assert list(Path(tmp_path).iterdir()) == []
    pool.close()
