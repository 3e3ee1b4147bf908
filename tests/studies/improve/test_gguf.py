"""GGUF files as weights: what is read is the model that was written."""

import shutil

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("gguf", reason="the extra `train` is not installed")

from gguf_writer import write_gguf  # noqa: E402
from tiny_networks import list_texts, make_tokenizer, write_model  # noqa: E402

import bestresponse as br  # noqa: E402
from bestresponse.core.errors import ModelUnavailable  # noqa: E402
from bestresponse.models.students import causal  # noqa: E402
from bestresponse.models.students.gguf_files import convert_gguf  # noqa: E402

KINDS = {
    "llama, tied": ("llama", {}),
    "llama, untied": ("llama", {"tie_word_embeddings": False}),
    "qwen2, tied": ("qwen2", {}),
    "qwen2, untied": ("qwen2", {"tie_word_embeddings": False}),
}


@pytest.fixture(scope="module")
def words(data):
    """A tokenizer that cuts texts as that of SmolLM2 does."""
    return make_tokenizer(list_texts(data), words=True)


def write_student(folder, tokenizer, kind="llama, tied"):
    """Write a model as a student is written, in half precision; biases are not 0."""
    family, options = KINDS[kind]
    write_model(folder / "base", tokenizer, family, **options)
    student = causal.open_causal(folder / "base", "cpu", torch.float32)
    drawn = torch.Generator().manual_seed(1)
    for name, value in student.model.named_parameters():
        if name.endswith("bias") or "norm" in name:
            value.data += torch.randn(value.shape, generator=drawn)
    student.write(folder / "student")
    return folder / "student"


@pytest.mark.parametrize("kind", KINDS)
def test_a_gguf_file_is_the_model_that_was_written(kind, words, tmp_path):
    write_gguf(write_student(tmp_path, words, kind), tmp_path / "student.gguf")
    convert_gguf(tmp_path / "student.gguf", tmp_path / "again")
    first, again = (
        causal.open_causal(tmp_path / name, "cpu", torch.float32) for name in ("student", "again")
    )
    chat = causal.write_chat([("user", "Your actions: A, B. It's -4.5 or 0.25!\nANSWER:")])
    assert again.encode(chat) == first.encode(chat)
    assert again.end == first.end
    weights = again.model.state_dict()
    for name, value in first.model.state_dict().items():
        assert torch.equal(weights[name], value), name
    prompt = first.encode(chat)
    assert first.continue_prompts([prompt], 12) == again.continue_prompts([prompt], 12)


def test_llama_cpp_opens_what_was_written(words, tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    from bestresponse.models.base import Message, Request
    from bestresponse.models.providers.local import LocalModel, LocalSettings
    from bestresponse.models.students.model import StudentModel

    write_gguf(write_student(tmp_path, words), tmp_path / "student.gguf")
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


def test_a_gguf_file_is_trained(data, words, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_gguf(write_student(tmp_path, words), tmp_path / "tiny.gguf")
    settings = {"steps": 1, "batch_tokens": 2048, "held_out": 1, "tests": 0, "keep": 0}
    br.train(
        tmp_path / "tiny.gguf",
        data=[str(data)],
        output=tmp_path / "trained",
        device="cpu",
        output_dir=tmp_path / "runs",
        **settings,
    )
    trained = causal.open_causal(tmp_path / "trained", "cpu", torch.float32)
    assert trained.model.config.num_hidden_layers == 2


def test_a_file_that_is_no_model_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "weights.gguf"
    path.write_bytes(b"these are no weights, whatever the name of the file says")
    with pytest.raises(ModelUnavailable, match="is no GGUF file that can be read"):
        convert_gguf(path, tmp_path / "folder")
    shutil.rmtree(tmp_path / "folder", ignore_errors=True)
