"""What a training is told to do and what is kept of it, with a network that learns nothing: no
torch is needed."""

import hashlib
import importlib
import json
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import bestresponse.models.students as students
import bestresponse.studies.improve as improve
from bestresponse.core.errors import SettingError, StoreError, UsageError
from bestresponse.runs.execution import Execution
from bestresponse.runs.settings import list_settings, read_extra
from bestresponse.runs.store.folder import Manifest, RunFolder
from bestresponse.studies.improve import study
from bestresponse.studies.improve.answers import hash_prompts
from bestresponse.studies.improve.data import open_export
from bestresponse.studies.improve.examples import Telling
from bestresponse.studies.improve.study import (
    TrainConfig,
    measure,
    run_training,
    train,
)


class OutOfMemoryError(Exception):
    """What torch raises."""


@dataclass(frozen=True)
class Recipe:
    """The settings of a training, in the order of the real one."""

    seconds: float
    steps: int
    rate: float
    batch_tokens: int
    seed: int
    device: str
    held_out: int
    dtype = "float32"


@dataclass(frozen=True)
class Opened:
    """A network, by how it was opened."""

    way: str
    name: str
    end: int = 0

    def to(self, device, dtype):
        return self


MAKING = "bestresponse.studies.improve.making"


def make_module(monkeypatch, name, **members):
    """Put a module in the place of one that needs torch."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)
    return module


class Training:
    """A training that keeps what it was told; `rows` are reported, and steps over `fits` tokens are
    too much."""

    def __init__(self):
        self.recipes, self.loaded, self.timed = [], [], []
        self.rows = [{"minutes": 1.0, "step": 3}]
        self.fits = 10**9
        self.encoded = [SimpleNamespace(size=5)]

    def make_trainer(self, network, recipe):
        self.recipes.append(recipe)
        trainer = SimpleNamespace(network=network, recipe=recipe, progress=SimpleNamespace(rows=[]))
        trainer.load = self.loaded.append
        trainer.find_gradients = self.timed.append
        trainer.finish = lambda: SimpleNamespace(to=lambda device, dtype: "student")
        return trainer

    def train(self, trainer, data, checkpoint, keep):
        if trainer.recipe.batch_tokens > self.fits:
            raise OutOfMemoryError
        for row in self.rows:
            trainer.progress.rows.append(row)
            keep(row)


@pytest.fixture
def training(monkeypatch):
    """Exchange torch and all that imports it."""
    fake = Training()
    emptied = []
    make_module(
        monkeypatch,
        "torch",
        OutOfMemoryError=OutOfMemoryError,
        cuda=SimpleNamespace(empty_cache=lambda: emptied.append(True)),
    )

    def write_folder(student, path):
        path.mkdir(exist_ok=True)
        (path / "model.safetensors").write_bytes(b"student")

    make_module(monkeypatch, f"{students.__name__}.model", choose_device=lambda: "cuda")
    make_module(
        monkeypatch,
        f"{students.__name__}.network",
        Network=object,
        write_folder=write_folder,
        read_folder=lambda path: Opened("folder", path.name),
    )
    make_module(
        monkeypatch,
        f"{students.__name__}.gguf_files",
        read_gguf=lambda path: Opened("gguf", path.name),
    )
    make_module(
        monkeypatch, f"{students.__name__}.writing", Writer=object, open_writer=lambda *given: given
    )

    make_module(
        monkeypatch,
        f"{improve.__name__}.abilities",
        measure_abilities=lambda writer, when: {
            "when": when,
            "asked": 60,
            "right": 0.5,
            "perplexity": 20.0,
        },
    )

    def draw_pools(data, seed, skipped):
        assert (seed, skipped) == (0, 0)
        yield list(range(40))

    def choose_shape(network, data, tokens):
        assert tokens == max(1024, *(pair.size for pair in fake.encoded))
        return "shape"

    def pack(network, pool, shape, rng):
        # All examples of the pool, packed by a generator of seed 0 into a first batch of 100
        # tokens: of a few short ones most of the batch would be filling, which takes time and is
        # not counted.
        assert (pool, shape, rng.random()) == (
            list(range(40)),
            "shape",
            np.random.default_rng(0).random(),
        )
        return [SimpleNamespace(real=100), SimpleNamespace(real=7)]

    module = make_module(
        monkeypatch,
        f"{improve.__name__}.training",
        Recipe=Recipe,
        Trainer=fake.make_trainer,
        train=fake.train,
        measure_replies=lambda student, examples: {"asked": len(examples)},
        choose_shape=choose_shape,
        pack=pack,
        encode_examples=lambda network, pool: fake.encoded * len(pool),
    )
    monkeypatch.setattr(improve, "training", module, raising=False)
    sys.modules.pop(MAKING, None)
    fake.making = importlib.import_module(MAKING)
    monkeypatch.setattr(fake.making, "draw_pools", draw_pools)
    yield fake
    sys.modules.pop(MAKING, None)  # others must not get the one that was made with fakes


@pytest.fixture
def examples(tmp_path):
    """A folder that says which prompts its examples were made for."""
    return write_examples(tmp_path / "examples")


def write_examples(folder, prompts=None, tests=(), **settings):
    """Write a folder as an export does, with some examples of the test split."""
    made = {
        "games": "zero-sum",
        "formats": ["table"],
        "themes": ["neutral"],
        "answers": "worked",
        "purpose": "sft",
        "trees": [],
        "sizes": "2",
        **settings,
    }
    kinds = {"stories": "story", "replies": "reply"}
    telling = Telling(worked=made["answers"] == "worked", kind=kinds.get(made["games"], "matrix"))
    folder.mkdir()
    files = {}
    for name, rows in (("train-0.jsonl", [{}]), ("test-0.jsonl", tests)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / name).write_text(text)
        files[name] = hashlib.sha256(text.encode()).hexdigest()
    manifest = {
        "format": 3,
        "settings": made,
        "prompts": prompts or hash_prompts(telling),
        "counts": {"train": 1},
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def run(tmp_path, data, seen=None, prepare=lambda path: None, **settings):
    """Train with the fake network; return the outcome, the run folder and what was measured."""
    number = sum(1 for _ in tmp_path.glob("student*"))
    options = {"output": tmp_path / f"student{number}", "device": "cuda", **settings}
    (tmp_path / "weights").mkdir(exist_ok=True)
    config = TrainConfig(str(tmp_path / "weights"), data=(str(data),), **options)
    seen = [] if seen is None else seen
    with RunFolder.open(tmp_path / "run", Manifest("run", "train", {})) as folder:
        prepare(folder.path)
        outcome = run_training(config, folder, {}, Execution(on_progress=seen.append))
    return SimpleNamespace(
        outcome=outcome, folder=folder, measured=measure(config, folder), config=config
    )


def test_a_training_is_told_seconds_steps_and_everything_else(tmp_path, training, examples):
    settings = {
        "minutes": 2.5,
        "learning_rate": 0.5,
        "batch_tokens": 1024,
        "seed": 7,
        "held_out": 3,
    }
    run(tmp_path, examples, steps=9, **settings)
    run(tmp_path, examples, **settings)
    assert training.recipes == [
        Recipe(150.0, 9, 0.5, 1024, 7, "cuda", 3),
        Recipe(150.0, 0, 0.5, 1024, 7, "cuda", 3),
    ]


def test_progress_is_the_larger_share_of_time_and_steps_in_percent(tmp_path, training, examples):
    training.rows = [
        {"minutes": 1.0, "step": 3},
        {"minutes": 5.0, "step": 4},
        {"minutes": 11.0, "step": 30},
    ]
    seen = []
    result = run(tmp_path, examples, seen, minutes=10, steps=20)
    # Of 10 minutes and 20 steps: 3/20 is more than 1/10, 5/10 is more than 4/20, and more than all
    # is 100.
    assert [(step.total, step.found, step.played, step.failed) for step in seen] == [
        (100, 0, 15, 0),
        (100, 0, 50, 0),
        (100, 0, 100, 0),
    ]
    assert (result.outcome.played, result.outcome.found) == (100, 0)
    seen.clear()
    run(tmp_path, examples, seen, minutes=10)
    assert [step.played for step in seen] == [10, 50, 100]


def test_a_training_goes_on_from_a_checkpoint_where_there_is_one(tmp_path, training, examples):
    run(tmp_path, examples)
    assert training.loaded == []
    run(tmp_path, examples, prepare=lambda path: (path / "checkpoint.pt").write_text(""))
    assert training.loaded == [tmp_path / "run" / "checkpoint.pt"]


def test_a_base_that_does_not_fit_is_trained_without_general_questions(
    tmp_path, training, examples, monkeypatch
):
    def refuse(writer, when):
        raise OutOfMemoryError

    run(tmp_path, examples)
    making = importlib.import_module(MAKING)
    monkeypatch.setattr(making, "measure_abilities", refuse)
    with pytest.warns(UserWarning, match="was not measured before the training: out of memory"):
        rows = making._measure_base(
            making.Base(Opened("gguf", "base")),
            SimpleNamespace(device="cuda", dtype="bfloat16"),
            tmp_path / "abilities.jsonl",
        )
    assert rows == []
    assert (tmp_path / "abilities.jsonl").read_text() == ""


def test_steps_are_halved_until_they_fit_into_memory(tmp_path, training, examples):
    training.fits = 2000
    with pytest.warns(UserWarning, match="going on with"):
        run(tmp_path, examples, batch_tokens=8192)
    assert [recipe.batch_tokens for recipe in training.recipes] == [8192, 4096, 2048, 1024]
    training.recipes.clear()
    training.fits = 0
    with (
        pytest.raises(UsageError, match="does not fit into the memory"),
        pytest.warns(UserWarning, match="out of memory: going on with 1,024 tokens per step"),
    ):
        run(tmp_path, examples, batch_tokens=2048)
    assert [recipe.batch_tokens for recipe in training.recipes] == [2048, 1024]
    training.recipes.clear()
    with pytest.raises(UsageError, match="does not fit into the memory"):
        run(tmp_path, examples, batch_tokens=2047)
    assert len(training.recipes) == 1


def test_without_a_gpu_it_is_said_how_many_examples_would_be_seen(
    tmp_path, training, examples, monkeypatch
):
    monkeypatch.setattr(training.making, "choose_device", lambda: "cpu")
    times = iter([10.0, 12.0])
    monkeypatch.setattr(training.making.time, "perf_counter", lambda: next(times))
    # 100 tokens in 2 seconds are 50 a second, 18,000 in 6 minutes; an example has 3 + 2 tokens, so
    # 3,600 of them.
    with pytest.raises(
        UsageError, match=r"at about 50 tokens per second, 6 minutes would see 3,600 examples"
    ):
        run(tmp_path, examples, device="auto", minutes=6)
    assert [batch.real for batch in training.timed] == [100]
    # A batch is as long as the longest example.
    training.encoded = [SimpleNamespace(size=1300)]
    times = iter([10.0, 12.0])
    with pytest.raises(UsageError, match="would see 14 examples"):  # 18,000 / 1,300
        run(tmp_path, examples, device="auto", minutes=6)
    # Whoever asks for the processor gets it.
    run(tmp_path, examples, device="cpu")
    assert training.recipes[-1].device == "cpu"


def test_the_device_that_is_there_is_chosen(tmp_path, training, examples):
    run(tmp_path, examples, device="auto")
    run(tmp_path, examples, device="mps")
    assert [recipe.device for recipe in training.recipes] == ["cuda", "mps"]


def test_training_without_torch_is_refused(tmp_path, examples, monkeypatch):
    monkeypatch.setattr(study, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="training needs torch"):
        run(tmp_path, examples)


def make_example(payoffs, shown_as="table", kind="matrix"):
    return {"task": json.dumps({"kind": kind, "payoffs": payoffs, "format": shown_as})}


def test_test_games_are_measured_by_kind_size_and_format(tmp_path, training):
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
    examples = write_examples(tmp_path / "made", tests=tests)
    rows = run(tmp_path, examples).measured.frames["tests"]
    assert len(run(tmp_path, examples, tests=0).measured.frames["tests"]) == 0
    assert [(row["kind"], row["size"], row["format"], row["asked"]) for row in rows] == [
        ("general-sum", "2x2", "json", 2),
        ("general-sum", "2x2", "table", 3),
        ("general-sum", "unequal", "table", 1),
        ("replies", "2x2", "table", 1),
        ("stories", "2x2", "table", 1),
        ("zero-sum", "2x2", "table", 200),
    ]


def test_what_a_student_is_made_of_stands_beside_its_weights(tmp_path, training, examples):
    training.rows = [{"minutes": 1.0, "step": 3}, {"minutes": 2.0, "step": 5}]
    result = run(tmp_path, examples)
    text = (tmp_path / "student0" / "student.json").read_text()
    about = json.loads(text)
    assert about["base"]["name"] == str(tmp_path / "weights")
    assert about["sha256"] == hashlib.sha256(b"student").hexdigest()
    assert about["settings"] == json.loads(json.dumps(result.config.to_json()))
    assert about["last"] == {"minutes": 2.0, "step": 5}
    assert [manifest["settings"]["games"] for manifest in about["examples"]] == ["zero-sum"]
    assert '\n  "base": ' in text
    assert result.measured.answered == 2
    assert [row["step"] for row in result.measured.frames["training"]] == [3, 5]


def test_a_run_without_any_row_is_measured_as_empty(tmp_path):
    measured = measure(None, SimpleNamespace(path=tmp_path))
    assert (measured.answered, len(measured.frames["training"]), len(measured.frames["tests"])) == (
        0,
        0,
        0,
    )


@pytest.mark.parametrize(
    "settings",
    [{}, {"answers": "direct"}, {"games": "stories"}, {"games": "replies"}],
    ids=lambda s: str(s),
)
def test_examples_of_the_prompts_of_today_are_taken(tmp_path, settings):
    assert open_export(write_examples(tmp_path / "made", **settings)).count == 1


def test_examples_of_other_prompts_are_refused(tmp_path):
    with pytest.raises(StoreError, match="was made for other prompts"):
        open_export(write_examples(tmp_path / "made", prompts="0123"))


def test_a_format_that_does_not_exist_is_refused_in_a_sentence(tmp_path):
    folder = write_examples(tmp_path / "made")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["settings"]["formats"] = ["tabl'"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(StoreError, match="which is no format or theme of today"):
        open_export(folder)


def test_a_folder_whose_files_are_not_those_of_its_manifest_is_refused(tmp_path):
    made = write_examples(tmp_path / "made")
    (made / "train-0.jsonl").write_text('{"other": 1}\n')
    with pytest.raises(StoreError, match="is not the file that was exported"):
        open_export(made)
    (made / "train-0.jsonl").unlink()
    with pytest.raises(StoreError, match="is missing: run the export again"):
        open_export(made)
    with pytest.raises(StoreError, match="exported with the purpose rl"):
        open_export(write_examples(tmp_path / "rl", purpose="rl"))


def test_a_manifest_names_no_file_outside_its_folder(tmp_path):
    made = write_examples(tmp_path / "made")
    manifest = json.loads((made / "manifest.json").read_text("utf-8"))
    manifest["files"] = {"../train-0.jsonl": manifest["files"]["train-0.jsonl"]}
    (made / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (made / "train-0.jsonl").rename(tmp_path / "train-0.jsonl")
    with pytest.raises(StoreError, match="not a file of this folder"):
        open_export(made)
    stopped = write_examples(tmp_path / "stopped")
    manifest = json.loads((stopped / "manifest.json").read_text())
    (stopped / "manifest.json").write_text(json.dumps(manifest | {"files": {}}))
    with pytest.raises(StoreError, match="is not complete"):
        open_export(stopped)


def test_a_network_is_a_folder_a_file_or_weights_by_name(tmp_path, training, monkeypatch):
    (tmp_path / "trained").mkdir()
    open_network = training.making.open_network
    assert open_network(str(tmp_path / "trained")) == Opened("folder", "trained")
    assert open_network(str(tmp_path / "small.gguf")) == Opened("gguf", "small.gguf")
    monkeypatch.setattr(training.making, "pull", lambda name, folder: folder / f"{name}.gguf")
    assert open_network("smollm2") == Opened("gguf", "smollm2.gguf")


def test_a_training_needs_data_and_shows_three_tables_and_a_hundred_percent():
    with pytest.raises(SettingError, match="at least one folder"):
        TrainConfig("smollm2", data=())
    with pytest.raises(UsageError, match="there are no weights at nowhere"):
        TrainConfig("nowhere", data=())
    assert train.count_tables(None) == 3
    assert train.count_plays(None) == 100


def test_where_a_student_is_written_and_trained_is_no_part_of_its_identity(examples):
    extra = {name: read_extra(field) for name, field in list_settings(TrainConfig).items()}
    assert extra["model"]["argument"]
    assert [name for name in ("output", "device", "seed", "minutes") if extra[name]["how"]] == [
        "output",
        "device",
    ]
    assert TrainConfig("smollm2", data=(str(examples),)).seed == 0
    with pytest.raises(UsageError):
        TrainConfig("smollm2", data=(str(examples),), seed=-1)
