"""What is trained and what is kept of it: bases, data and students told apart by what they hold."""

import hashlib
import json
import shutil
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("transformers", reason="the extra `train` is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402
from tiny_networks import list_texts, make_tokenizer, write_model  # noqa: E402

import bestresponse as br  # noqa: E402
from bestresponse.core.errors import StoreError, UsageError  # noqa: E402
from bestresponse.models.students.causal import open_causal  # noqa: E402
from bestresponse.studies.improve import making, training  # noqa: E402
from bestresponse.studies.improve.study import TrainConfig  # noqa: E402


def make_config(examples, **settings):
    return TrainConfig("smollm2", data=(str(examples),), **settings)


def test_a_recipe_is_what_the_settings_say(data):
    config = make_config(
        data, minutes=2.5, steps=9, learning_rate=0.5, batch_tokens=1024, seed=7, held_out=3, keep=0
    )
    assert making.choose_recipe(config, "cuda") == training.Recipe(
        150.0, 9, 0.5, 1024, 7, "cuda", 3, "muon", 0
    )


@pytest.mark.parametrize(
    ("settings", "optimizer", "rate"),
    [
        ({}, "muon", 0.002),
        ({"optimizer": "adamw"}, "adamw", 0.00002),
        ({"lora": 8}, "adamw", 0.0002),
    ],
)
def test_optimizers_have_learning_rates_of_their_own(data, settings, optimizer, rate):
    recipe = making.choose_recipe(make_config(data, **settings), "cpu")
    assert (recipe.optimizer, recipe.rate) == (optimizer, rate)


def make_example(payoffs, shown_as="table", kind="matrix"):
    return {"task": json.dumps({"kind": kind, "payoffs": payoffs, "format": shown_as})}


def test_test_games_are_grouped_by_kind_size_and_format():
    zero = [[[1, -2], [-3, 4]], [[-1, 2], [3, -4]]]
    general = [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]
    wide = [[[3, 0, 1], [5, 1, 1]], [[3, 5, 1], [0, 1, 1]]]
    tests = [
        *[make_example(zero)] * 250,
        *[make_example(general)] * 3,
        *[make_example(general, "json")] * 2,
        make_example(wide),
        make_example(zero, kind="reply"),
        make_example(general, kind="story"),
    ]
    folder = SimpleNamespace(list_files=lambda split: [split], read=lambda name: iter(tests))
    groups = making.group_tests((folder,), 200)
    assert {name: len(examples) for name, examples in groups.items()} == {
        ("general-sum", "2x2", "json"): 2,
        ("general-sum", "2x2", "table"): 3,
        ("general-sum", "unequal", "table"): 1,
        ("replies", "2x2", "table"): 1,
        ("stories", "2x2", "table"): 1,
        ("zero-sum", "2x2", "table"): 200,
    }
    assert making.group_tests((folder,), 0) == {}


def test_a_base_that_does_not_fit_is_trained_without_general_questions(monkeypatch):
    def refuse(writer, when):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(making, "measure_abilities", refuse)
    with pytest.warns(UserWarning, match="was not measured before the training: out of memory"):
        assert making._measure_besides(lambda: None, "before") == []


def test_a_model_that_is_too_large_for_the_memory_is_refused(data, base, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "_find_memory", lambda device: 1_000_000)
    # 2 layers of 36,864 numbers (3 x 64 x 128, 2 x 64 x 64, 2 x 64 x 32) and an embedding of more
    # than 300 x 64, at 18 bytes each
    with pytest.raises(UsageError, match=r"takes about .* GB, and cpu has .* GB: set `lora` to 16"):
        train_shortly(base, data, tmp_path, "student", optimizer="adamw")


def test_quantised_weights_are_refused(data, base, tmp_path):
    shutil.copytree(base, tmp_path / "quantised")
    path = tmp_path / "quantised" / "config.json"
    config = json.loads(path.read_text()) | {"quantization_config": {"quant_method": "gptq"}}
    path.write_text(json.dumps(config))
    with pytest.raises(UsageError, match=r"are quantised \(gptq\), which cannot be trained"):
        train_shortly(tmp_path / "quantised", data, tmp_path, "student")


def test_without_a_gpu_it_is_said_how_long_it_would_take(data, base, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "choose_device", lambda: "cpu")
    speed = training.Speed(tokens=50.0, examples=10.0)
    monkeypatch.setattr(training, "measure_speed", lambda plan: speed)
    # 10 examples a second are 3,600 in 6 minutes; 2,880 are for training, 2 % each for the others
    with pytest.raises(
        UsageError,
        match=r"at about 50 tokens per second, 6 minutes would see 3,600 of the 2,\d\d\d examples,"
        r" and all of them would take 5 minutes.*`bestresponse export sft -o small --sizes 2",
    ):
        br.train(base, data=[str(data)], output=tmp_path / "s", minutes=6, output_dir=tmp_path)


def test_the_speed_of_a_processor_is_measured(data, base, tmp_path):
    from bestresponse.studies.improve.data import open_data

    recipe = training.Recipe(60, 1, 0.1, 1024, 0, "cpu")
    plan = training.TrainingPlan(
        base=base, data=open_data([str(data)]), recipe=recipe, work=tmp_path
    )
    speed = training.measure_speed(plan)
    assert speed.tokens > speed.examples > 0


def test_data_of_other_prompts_are_refused_with_both_hashes(data, base, tmp_path):
    other = tmp_path / "other"
    br.export(other, count=20, sizes="2", rectangular=0)
    manifest = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps(manifest | {"prompts": "0123456789abcdef"}))
    with pytest.raises(StoreError, match=f"0123456789abcdef.*{manifest['prompts']}"):
        br.train(base, data=[str(other)], output=tmp_path / "s", device="cpu", output_dir=tmp_path)


def train_shortly(base, data, folder, name, **settings):
    """Train two steps and return the student's folder."""
    student = folder / name
    br.train(
        base,
        data=[str(data)],
        output=student,
        **{"steps": 2, "batch_tokens": 1024, "held_out": 1, "tests": 0, "keep": 0, **settings},
        device="cpu",
        output_dir=folder / "runs",
    )
    return student


def hash_student(folder):
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_weights_that_changed_under_the_same_name_give_another_student(data, base, tmp_path):
    copied = tmp_path / "base"
    shutil.copytree(base, copied)
    first = train_shortly(copied, data, tmp_path, "first")
    path = copied / "model.safetensors"
    weights = load_file(path)
    weights["model.norm.weight"] *= 1.5
    save_file(weights, path, {"format": "pt"})
    second = train_shortly(copied, data, tmp_path, "second")
    assert hash_student(first) != hash_student(second)


def test_names_in_the_local_cache_of_hugging_face_are_found(base, data, tmp_path, monkeypatch):
    snapshot = tmp_path / "hub" / "models--tiny--llama" / "snapshots" / ("a" * 40)
    shutil.copytree(base, snapshot)
    refs = tmp_path / "hub" / "models--tiny--llama" / "refs"
    refs.mkdir()
    (refs / "main").write_text("a" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    student = train_shortly("tiny/llama", data, tmp_path, "student", steps=1)
    about = json.loads((student / "student.json").read_text())
    assert about["base"]["name"] == "tiny/llama"
    with pytest.raises(UsageError, match="there are no weights at tiny/absent"):
        train_shortly("tiny/absent", data, tmp_path, "other")


def test_a_template_of_its_own_is_trained_and_kept(data, tmp_path):
    template = (
        "{% for message in messages %}<turn>{{ message['role'] }}: {{ message['content'] }}<end>\n"
        "{% endfor %}{% if add_generation_prompt %}<turn>assistant: {% endif %}"
    )
    tokenizer = make_tokenizer(list_texts(data), special=("<turn>", "<end>"))
    base = write_model(tmp_path / "base", tokenizer, "gpt2", template=template)
    student = open_causal(train_shortly(base, data, tmp_path, "student"), "cpu", torch.float32)
    assert student.write_chat([("user", "A?")]) == "<turn>user: A?<end>\n<turn>assistant: "


def test_the_smallest_share_of_progress_is_shown(data, base, tmp_path):
    # of 20 minutes and 4 steps: every step is a quarter
    seen = []
    from bestresponse.runs.execution import Execution
    from bestresponse.runs.store.folder import Manifest, RunFolder
    from bestresponse.studies.improve.study import run_training

    config = TrainConfig(
        base,
        data=(str(data),),
        steps=4,
        batch_tokens=1024,
        held_out=1,
        tests=0,
        keep=0,
        device="cpu",
        output=tmp_path / "student",
    )
    with RunFolder.open(tmp_path / "run", Manifest("run", "train", {})) as folder:
        outcome = run_training(config, folder, {}, Execution(on_progress=seen.append))
    assert [step.played for step in seen][-1] == outcome.played == 100


def test_data_that_changed_under_the_same_name_give_another_student(base, tmp_path):
    data = tmp_path / "data"
    br.export(data, count=60, sizes="2", rectangular=0, formats="short")
    first = train_shortly(base, data, tmp_path, "first")
    shutil.rmtree(data)
    br.export(data, count=60, sizes="3", rectangular=0, formats="short")
    with pytest.raises(UsageError, match="holds a student of other data"):
        train_shortly(base, data, tmp_path, "first")
    second = train_shortly(base, data, tmp_path, "second")
    assert hash_student(first) != hash_student(second)
    about = json.loads((second / "student.json").read_text())
    assert about["examples"][0]["settings"]["sizes"] == "3"
    assert about["sha256"] == hash_student(second)


def test_something_else_in_the_output_folder_is_left_alone(data, base, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("the only copy")
    with pytest.raises(UsageError, match="taken holds something else"):
        train_shortly(base, data, tmp_path, "taken")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["thesis.txt"]


FAMILIES = {
    "llama, tied": ("LlamaConfig", {"tie_word_embeddings": True}),
    "llama, untied": ("LlamaConfig", {"tie_word_embeddings": False}),
    "qwen2, tied": ("Qwen2Config", {"tie_word_embeddings": True}),
    "qwen2, untied": ("Qwen2Config", {"tie_word_embeddings": False, "rms_norm_eps": 1e-5}),
}
