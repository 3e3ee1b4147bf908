"""Students as GGUF files: what is read back is the network that was written."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("gguf", reason="the extra `train` is not installed")

from tiny_networks import list_texts, make_network, make_sizes, make_tokenizer  # noqa: E402
from tokenizers import Tokenizer, models  # noqa: E402

from bestresponse.core.errors import UsageError  # noqa: E402
from bestresponse.models.students import network as networks  # noqa: E402
from bestresponse.models.students.gguf_files import read_gguf, write_gguf  # noqa: E402

SIZES = {
    "llama, tied": {},
    "llama, untied": {"tied": False},
    "qwen2, tied": {"family": "qwen2", "epsilon": 1e-6},
    "qwen2, untied": {"family": "qwen2", "tied": False, "rope_base": 1_000_000.0},
}


@pytest.fixture(scope="module")
def tokenizer(data):
    """A tokenizer that cuts texts as that of SmolLM2 does."""
    return make_tokenizer(list_texts(data), words=True)


@pytest.fixture(params=SIZES)
def student(request, tokenizer, tmp_path):
    """A network as it is read from a student's folder, in half precision."""
    sizes = make_sizes(tokenizer, **SIZES[request.param])
    networks.write_folder(make_network(sizes, tokenizer), tmp_path / "student")
    return networks.read_folder(tmp_path / "student")


def test_a_gguf_file_is_the_network_that_was_written(student, tmp_path):
    write_gguf(student, tmp_path / "student.gguf")
    read = read_gguf(tmp_path / "student.gguf")
    assert read.sizes.family == student.sizes.family
    assert read.sizes.positions == student.sizes.positions
    assert read.sizes.rope_base == student.sizes.rope_base
    assert read.sizes.epsilon == pytest.approx(student.sizes.epsilon)
    assert read.parameters.keys() == student.parameters.keys()
    for name, value in student.parameters.items():
        assert torch.equal(read.parameters[name], value), name


def test_a_gguf_file_gives_the_tokens_of_the_student(student, tmp_path):
    write_gguf(student, tmp_path / "student.gguf")
    read = read_gguf(tmp_path / "student.gguf")
    chat = networks.write_chat([("user", "Your actions: A, B. It's -4.5 or 0.25!\nANSWER:")])
    prompt = student.encode(chat)
    assert read.encode(chat) == prompt
    replies = [network.continue_prompts([prompt], 12) for network in (student, read)]
    assert replies[0] == replies[1]
    assert len(replies[0][0]) == 12
    assert read.end == student.end


def test_llama_cpp_opens_what_was_written(tokenizer, tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    from bestresponse.models.base import Message, Request
    from bestresponse.models.providers.local import LocalModel, LocalSettings
    from bestresponse.models.students.model import StudentModel

    network = make_network(make_sizes(tokenizer), tokenizer)
    networks.write_folder(network, tmp_path / "student")
    write_gguf(networks.read_folder(tmp_path / "student"), tmp_path / "student.gguf")
    request = Request((Message("user", "Your actions: A, B."),), max_tokens=6, temperature=0.0)
    replies = []
    for model in (
        StudentModel(tmp_path / "student", "cpu"),
        LocalModel(tmp_path / "student.gguf", LocalSettings()),
    ):
        replies.append(model.complete(request))
        model.close()
    assert replies[0].usage.prompt == replies[1].usage.prompt
    assert replies[0].text == replies[1].text


def test_a_tokenizer_that_llama_cpp_would_read_otherwise_is_refused(base, tmp_path):
    # whole phrases are tokens here, which llama.cpp would cut into words
    with pytest.raises(UsageError, match=r"neither as smollm nor as qwen2: use convert_hf_to_gguf"):
        write_gguf(networks.read_folder(base), tmp_path / "student.gguf")
    assert list(tmp_path.iterdir()) == []


def test_a_tokenizer_of_whole_words_is_refused(tokenizer, tmp_path):
    words = Tokenizer(models.WordLevel({"A": 0, networks.END: 1}, unk_token="A"))
    network = make_network(make_sizes(words), words)
    with pytest.raises(UsageError, match="of the kind WordLevel"):
        write_gguf(network, tmp_path / "student.gguf")
