"""Models of any family trained by TRL in miniature: all weights, an adapter, killed and resumed."""

import hashlib
import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from tiny_networks import list_texts, make_tokenizer, write_other  # noqa: E402

import bestresponse as br  # noqa: E402
from bestresponse.core.errors import ModelUnavailable, SettingError, UsageError  # noqa: E402
from bestresponse.models.base import Message, Request  # noqa: E402
from bestresponse.models.students.causal import open_causal  # noqa: E402
from bestresponse.models.students.model import StudentModel  # noqa: E402
from bestresponse.models.students.network import read_folder, write_chat  # noqa: E402
from bestresponse.models.students.writing import open_writer  # noqa: E402
from bestresponse.studies.improve import finetuning, making, study  # noqa: E402
from bestresponse.studies.improve.data import open_data  # noqa: E402
from bestresponse.studies.improve.training import IGNORED, Recipe, encode_examples  # noqa: E402

TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ raise_exception('no system messages') }}{% endif %}"
    "<turn>{{ message['role'] }}: {{ message['content'] }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant: {% endif %}"
)


@pytest.fixture(scope="module")
def other(data, tmp_path_factory):
    """A tiny GPT-2 with the tokens of ChatML."""
    tokenizer = make_tokenizer(list_texts(data))
    return write_other(tmp_path_factory.mktemp("other"), tokenizer)


@pytest.fixture(scope="module")
def templated(data, tmp_path_factory):
    """A tiny GPT-2 with a chat template of its own, which knows no system messages."""
    tokenizer = make_tokenizer(list_texts(data), special=("<turn>", "<end>"))
    return write_other(tmp_path_factory.mktemp("templated"), tokenizer, template=TEMPLATE)


def train(base, data, folder, name="student", **settings):
    """Train shortly on a processor, and return the run."""
    chosen = {"steps": 2, "batch_tokens": 1024, "held_out": 2, "tests": 0, **settings}
    return br.train(
        base,
        data=[str(data)],
        output=folder / name,
        device="cpu",
        output_dir=folder / "runs",
        **chosen,
    )


def hash_student(folder):
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_a_model_of_another_family_is_trained_by_trl_and_asked(other, data, tmp_path):
    run = train(other, data, tmp_path, steps=40, learning_rate=0.01, tests=4)
    first, *_, last = run.frame("training")
    assert first["step"] == 0
    assert last["step"] == 40
    # random weights guess one token in 1,500: ln(1500) = 7.3
    assert last["loss"] < 6
    assert [row["asked"] for row in run.frame("tests")] == [4]
    about = json.loads((tmp_path / "student" / "student.json").read_text())
    assert about["sha256"] == hash_student(tmp_path / "student")
    assert json.loads((tmp_path / "student" / "config.json").read_text())["model_type"] == "gpt2"
    model = br.open_model(str(tmp_path / "student"))
    reply = model.complete(Request((Message("user", "A or B?"),), max_tokens=5, temperature=0.0))
    model.close()
    assert 0 < reply.usage.completion <= 5
    assert model.identity["sha256"] == about["sha256"]


def test_an_adapter_changes_a_llama_which_stays_one(base, data, tmp_path):
    train(base, data, tmp_path, lora=4, steps=6, learning_rate=0.9)
    before = read_folder(base)
    after = read_folder(tmp_path / "student")
    assert after.sizes == before.sizes
    assert torch.equal(after.parameters["embedding"], before.parameters["embedding"])
    changes = after.parameters["qkv"] - before.parameters["qkv"]
    assert float(changes.abs().max()) > 0.001
    # A change of rank 4, up to the rounding to half precision.
    queries = changes[0][: before.sizes.sections["qkv"][0]]
    values = torch.linalg.svdvals(queries)
    assert float(values[4]) < 0.05 * float(values[0])


def test_an_adapter_of_a_gguf_file_is_trained_too(data, tmp_path):
    from tiny_networks import make_network, make_sizes

    from bestresponse.models.students.gguf_files import write_gguf

    tokenizer = make_tokenizer(list_texts(data), words=True)
    network = make_network(make_sizes(tokenizer), tokenizer)
    write_gguf(network, tmp_path / "tiny.gguf")
    train(tmp_path / "tiny.gguf", data, tmp_path, lora=2, steps=1)
    assert read_folder(tmp_path / "student").sizes.layers == 2


class Killed(BaseException):
    """What ends a training in the middle."""


def test_a_killed_training_goes_on_from_its_checkpoint(other, data, tmp_path, monkeypatch):
    straight = train(other, data, tmp_path, "straight", steps=6, seed=3)
    # Another seed of nothing but the run's identity: the same run must be found again after a kill.
    monkeypatch.setattr(Recipe, "saved_every", 0.0)
    on_log = finetuning._Watch.on_log

    def log_or_die(watch, args, state, control, **others):
        if state.global_step == 4:
            raise Killed
        on_log(watch, args, state, control, **others)

    shutil.rmtree(tmp_path / "runs")
    monkeypatch.setattr(finetuning._Watch, "on_log", log_or_die)
    with pytest.raises(Killed):
        train(other, data, tmp_path, "resumed", steps=6, seed=3)
    assert not (tmp_path / "resumed").exists()
    monkeypatch.setattr(finetuning._Watch, "on_log", on_log)
    # A checkpoint that was being written when the kill came is not used.
    (folder,) = (tmp_path / "runs").glob("*/checkpoints")
    (folder / "checkpoint-5").mkdir()
    run = train(other, data, tmp_path, "resumed", steps=6, seed=3)
    steps = [row["step"] for row in run.frame("training")]
    assert steps[0] == 0
    assert steps[-1] == 6
    assert steps == sorted(set(steps))
    assert hash_student(tmp_path / "resumed") == hash_student(tmp_path / "straight")
    assert straight.frame("training")[-1]["step"] == 6


def test_only_what_is_learnt_of_an_answer_is_a_label(other, data):
    student = open_causal(other, "cpu", torch.float32)
    plan = finetuning.Finetuning(
        base=other,
        data=open_data([str(data)]),
        recipe=Recipe(60, 1, 0.1, 1024, 0, "cpu"),
        checkpoints=other,
    )
    row = next(finetuning._Rows(plan, student)())
    learnt = [label for label in row["labels"] if label != IGNORED]
    text = student.tokenizer.decode(row["input_ids"], skip_special_tokens=False)
    answer = student.tokenizer.decode(learnt, skip_special_tokens=False)
    assert text.endswith(f"<|im_start|>assistant\n{answer}")
    assert answer.startswith("ANSWER:")
    assert learnt[-1] == student.end


def test_a_model_with_a_template_of_its_own_is_asked_by_it(templated):
    student = open_writer(templated, "cpu", torch.float32)
    asked = student.write_chat([("system", "Be brief."), ("user", "A<end> or B?")])
    # Where a template knows no system message it comes before the question; control tokens in what
    # somebody says do not end it.
    assert asked == "<turn>user: Be brief.\n\nA< end> or B?<end>\n<turn>assistant: "
    assert student.tokenizer.id_to_token(student.end) == "<end>"


def test_a_template_of_its_own_is_trained_and_kept(templated, data, tmp_path):
    train(templated, data, tmp_path, steps=1)
    student = open_writer(tmp_path / "student", "cpu", torch.float32)
    assert student.write_chat([("user", "A?")]) == "<turn>user: A?<end>\n<turn>assistant: "


def test_a_base_without_a_chat_template_is_refused(data, tmp_path):
    tokenizer = make_tokenizer(list_texts(data), special=("<end>",))
    write_other(tmp_path / "plain", tokenizer)
    with pytest.raises(ModelUnavailable, match="has no chat template: choose a model"):
        train(tmp_path / "plain", data, tmp_path)


def test_replies_together_are_those_alone(other):
    student = open_causal(other, "cpu", torch.float32)
    prompts = [
        student.tokenizer.encode(text, add_special_tokens=False).ids
        for text in ("Your possible actions: A, B.", "A", "The payoffs are 3 and -4.")
    ]
    together = student.continue_prompts(prompts, 6)
    assert together == [student.continue_prompts([prompt], 6)[0] for prompt in prompts]


def test_what_the_fast_way_and_transformers_compute_is_the_same(base):
    fast = open_writer(base, "cpu", torch.float32)
    slow = open_causal(base, "cpu", torch.float32)
    chat = [("system", "Be brief."), ("user", "Your possible actions: A, B.")]
    assert fast.write_chat(chat) == slow.write_chat(chat) == write_chat(chat)
    prompt = fast.tokenizer.encode(fast.write_chat(chat), add_special_tokens=False).ids
    assert fast.continue_prompts([prompt], 8) == slow.continue_prompts([prompt], 8)
    texts = [prompt, prompt[:3]]
    for weights, others in zip(fast.weigh_tokens(texts), slow.weigh_tokens(texts), strict=True):
        assert weights == pytest.approx(others, abs=1e-5)
    assert [len(weights) for weights in fast.weigh_tokens(texts)] == [len(prompt) - 1, 2]
    assert fast.weigh_tokens(texts)[1] == pytest.approx(fast.weigh_tokens([prompt])[0][:2])
    assert fast.end == slow.end


def test_a_reply_is_drawn_by_the_seed_of_its_request(other):
    model = StudentModel(other, "cpu")
    request = Request((Message("user", "A or B?"),), max_tokens=6, temperature=1.0, seed=1)
    replies = [model.complete(request).text for _ in range(2)]
    model.close()
    assert replies[0] == replies[1]


def test_a_question_that_is_too_long_is_refused_in_a_sentence(other):
    student = open_causal(other, "cpu", torch.float32)
    with pytest.raises(ModelUnavailable, match="leaves no room for a reply: the model has 1,024"):
        student.continue_prompts([[1] * 1024], 5)


def test_examples_longer_than_the_model_are_refused_where_nothing_is_left(data, tmp_path):
    write_other(tmp_path / "short", make_tokenizer(list_texts(data)), n_positions=16)
    with pytest.raises(UsageError, match="no example fits into 16 tokens: the shortest has"):
        train(tmp_path / "short", data, tmp_path, held_out=1)


def test_memory_that_runs_out_cuts_a_step_into_pieces(other, data, tmp_path, monkeypatch):
    pieces = []
    make = finetuning.SFTTrainer.training_step

    def step(trainer, model, inputs, *rest):
        pieces.append(trainer.args.gradient_accumulation_steps)
        if inputs["input_ids"].shape[0] > 2:
            raise torch.OutOfMemoryError("out of memory")
        return make(trainer, model, inputs, *rest)

    monkeypatch.setattr(finetuning.SFTTrainer, "training_step", step)
    train(other, data, tmp_path, steps=1)
    assert pieces[0] == 1
    assert pieces[-1] > 1
    assert (tmp_path / "student" / "model.safetensors").is_file()


def test_names_in_the_local_cache_of_hugging_face_are_found(other, data, tmp_path, monkeypatch):
    snapshot = tmp_path / "hub" / "models--tiny--gpt" / "snapshots" / ("a" * 40)
    shutil.copytree(other, snapshot)
    refs = tmp_path / "hub" / "models--tiny--gpt" / "refs"
    refs.mkdir()
    (refs / "main").write_text("a" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    train("tiny/gpt", data, tmp_path, steps=1)
    about = json.loads((tmp_path / "student" / "student.json").read_text())
    assert about["base"]["name"] == "tiny/gpt"
    with pytest.raises(UsageError, match="there are no weights at tiny/absent"):
        train("tiny/absent", data, tmp_path)


def test_four_bits_need_an_adapter_and_bitsandbytes(other, data, tmp_path, monkeypatch):
    with pytest.raises(SettingError, match="set `lora` to its rank"):
        train(other, data, tmp_path, four_bit=True)
    monkeypatch.setattr(study, "find_spec", lambda name: None if "bits" in name else object())
    with pytest.raises(UsageError, match="four_bit: needs the package bitsandbytes"):
        train(other, data, tmp_path, four_bit=True, lora=4)


def test_a_missing_trl_is_named(other, data, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "find_spec", lambda name: None if name == "trl" else object())
    with pytest.raises(UsageError, match=r"family 'gpt2'.* TRL can train it, which needs trl: pip"):
        train(other, data, tmp_path)


def test_encoded_examples_of_both_ways_are_the_same(base, data):
    pool = [
        row
        for _, row in zip(
            range(3), open_data([str(data)]).folders[0].read("validation-00000.jsonl"), strict=False
        )
    ]
    fast = open_writer(base, "cpu", torch.float32)
    slow = open_causal(base, "cpu", torch.float32)
    assert encode_examples(fast, pool) == encode_examples(slow, pool)
