"""Addresses are kept in runs and reports: one that may hold a key is refused, and never quoted."""

import pytest
from typer.testing import CliRunner

from bestresponse.cli.app import app
from bestresponse.core.errors import BestResponseError, UsageError

SECRET = "hunter2-PASSWORD-99"
BASES = [
    f"http://bob:{SECRET}@127.0.0.1:9/v1",
    f"http://{SECRET}@127.0.0.1:9/v1",
    f"http://127.0.0.1:9/v1?api-key={SECRET}",
    f"http://127.0.0.1:9/v1#{SECRET}",
    f"http://bob:{SECRET}@[::1/v1",
]
MODELS = [
    f"http://bob:{SECRET}@127.0.0.1:9/v1#m",
    f"http://bob:{SECRET}@127.0.0.1:9/v1",
    f"http://127.0.0.1:9/v1?key={SECRET}#m",
    f"http://127.0.0.1:9/v1#m?key={SECRET}",
    f"http://127.0.0.1:9/v1#m&key={SECRET}",
    f"mine=http://bob:{SECRET}@127.0.0.1:9/v1#m",
]


def bench(model, folder):
    command = ["bench", "-m", model, "--num-games", "1", "--output-dir", str(folder)]
    return CliRunner().invoke(app, command)


@pytest.mark.parametrize("base", BASES)
def test_a_key_in_the_base_url_is_refused_and_written_nowhere(base, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijk0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", base)
    refuse(bench("openai/gpt-4o", tmp_path), tmp_path)


@pytest.mark.parametrize("model", MODELS)
def test_a_key_in_the_address_of_a_model_is_refused_and_written_nowhere(model, tmp_path):
    refuse(bench(model, tmp_path), tmp_path)


def refuse(result, folder):
    assert isinstance(result.exception, UsageError)
    assert SECRET not in f"{result.exception} {result.output} {result.stderr}"
    for file in folder.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("proxy", [f"foo://bob:{SECRET}@127.0.0.1:9", f"http://b:{SECRET}@h:x"])
def test_a_proxy_that_cannot_be_used_is_a_sentence_without_its_password(
    proxy, tmp_path, monkeypatch
):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("http_proxy", proxy)
    result = bench("http://example.invalid/v1#m", tmp_path)
    assert isinstance(result.exception, BestResponseError | SystemExit), result.exception
    assert SECRET not in f"{result.exception} {result.output} {result.stderr}"
    assert "cannot be used" in f"{result.exception} {result.stderr}"
