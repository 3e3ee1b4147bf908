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
def base(data, tmp_path_factory):
    """A random network with a tokenizer that has whole phrases of the questions as tokens."""
    pytest.importorskip("torch", reason="the extra `train` is not installed")
    from tiny_networks import list_texts, make_network, make_sizes, make_tokenizer

    from bestresponse.models.students.network import write_folder

    tokenizer = make_tokenizer(list_texts(data))
    folder = tmp_path_factory.mktemp("base")
    write_folder(make_network(make_sizes(tokenizer), tokenizer), folder)
    return folder
