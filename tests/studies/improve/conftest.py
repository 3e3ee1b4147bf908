"""Data and a tiny random network for trainings in miniature, in environments with torch."""

from importlib.util import find_spec

import pytest

import bestresponse as br


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Several threads that wait for each other on a busy machine are slower than one."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Solved games of one size, asked in one way."""
    folder = tmp_path_factory.mktemp("data")
    br.export(
        folder,
        count=3000,
        sizes="2",
        rectangular=0,
        formats="table",
        themes="neutral",
        answers="direct",
        scale=9,
        varied=0,
    )
    return folder


@pytest.fixture(scope="session")
def tokenizer(data):
    """A tokenizer that has whole phrases of the questions as tokens."""
    pytest.importorskip("torch", reason="the extra `train` is not installed")
    pytest.importorskip("transformers", reason="the extra `train` is not installed")
    from tiny_networks import list_texts, make_tokenizer

    return make_tokenizer(list_texts(data))


@pytest.fixture(scope="session")
def base(tokenizer, tmp_path_factory):
    """A tiny random Llama."""
    from tiny_networks import write_model

    return write_model(tmp_path_factory.mktemp("base"), tokenizer)
