"""A local model in processes of a run, and the engine's own server spoken to as any other
server."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import bestresponse as br
from bestresponse.core.errors import MissingKey, ModelError
from bestresponse.models import HttpClients, OpenAIModel, Secret, ask, choice_chances
from bestresponse.models.providers.local import LocalModel, LocalSettings
from bestresponse.runs.execution import Job
from bestresponse.runs.executors.processes import Processes, lend_workers
from bestresponse.runs.inputs import NamedModel
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study

pytestmark = pytest.mark.model


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
    """The engine can report the probabilities after sampling, of all tokens or of those its grammar
    left over."""
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
    left = {
        one["token"]: one["prob"]
        for one in answer["choices"][0]["logprobs"]["content"][0]["top_probs"]
    }
    chances = choice_chances(smollm2, ask("Answer A, B or C."), ("A", "B", "C"))
    bare = [math.exp(dict(chances.reply.logprobs[0])[letter]) for letter in "ABC"]
    total = sum(left[letter] for letter in "ABC")
    assert [weight / sum(bare) for weight in bare] == pytest.approx(
        [left[one] / total for one in "ABC"], rel=1e-3
    )
    assert sum(chances.probabilities) == pytest.approx(1)
    assert sum(bare) <= chances.mass < 1


def test_nothing_of_the_engine_is_left_in_the_temporary_folder(tmp_path, smollm2_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = LocalModel(smollm2_path, LocalSettings(context=256))
    assert list(Path(tmp_path).iterdir()) == []
    model.close()


@pytest.mark.soak  # two servers of a model; one copy in a worker is tested below
def test_models_in_two_processes_answer_as_one_does(smollm2_path, tmp_path):
    games = {"num_games": 2, "num_rows": 2, "num_cols": 2, "seed": 3, "elicit": "logprobs"}
    one, two = (
        br.bench(str(smollm2_path), **games, processes=count, output_dir=tmp_path / str(count))
        for count in (1, 2)
    )
    assert one.answered == 2
    assert two.rows() == one.rows()


def test_a_copy_of_a_model_in_a_worker_answers_as_the_model_does(smollm2_path, tmp_path):
    name = NamedModel(str(smollm2_path))
    question = ask("Say one word.", max_tokens=5)
    config = BenchConfig(model=(name,), num_games=1)
    with open_models((name,), tmp_path, ModelLimits(2, cache="off")) as opened:
        model = opened.models[name]
        with lend_workers(Processes(1), Job(bench_study, config, opened.models, 2, opened.shared)):
            assert opened.shared.call_elsewhere is not None
            elsewhere = model.complete(question)
        assert opened.shared.call_elsewhere is None
        assert model.complete(question).text == elsewhere.text
