"""The recipe in miniature: a tiny network learns 2x2 games on a processor, goes on after a stop,
and is benched."""

import json
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `train` is not installed")

from killed_training import list_left_behind, read_weights, run_training  # noqa: E402
from tiny_networks import FAMILIES, write_model  # noqa: E402

import bestresponse as br  # noqa: E402
from bestresponse.core.errors import StoreError, UsageError  # noqa: E402
from bestresponse.models.students.causal import open_causal  # noqa: E402
from bestresponse.studies.improve import rehearsal, training  # noqa: E402
from bestresponse.studies.improve.data import open_data  # noqa: E402


@pytest.fixture(autouse=True)
def short_texts(monkeypatch):
    """Let the base write little before a training."""
    monkeypatch.setattr(rehearsal, "_WRITTEN", 8)
    monkeypatch.setattr(rehearsal, "LENGTH", 64)


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


def test_a_tiny_network_learns_fresh_games_and_is_opened_by_the_benchmark(data, base, tmp_path):
    student = tmp_path / "student"
    run = train(
        base,
        data,
        tmp_path,
        minutes=60,
        steps=500,
        learning_rate=0.02,
        batch_tokens=2048,
        held_out=128,
        tests=200,
        keep=0.0,
    )
    before, *_, after = run.frame("training")
    (test,) = run.frame("tests")
    assert before["near"] == 0
    assert test["near"] > 0.5
    assert after["step"] == 500
    assert json.loads((student / "student.json").read_text())["last"] == after
    page = run.path.joinpath("report.html").read_text("utf-8")
    assert "Games that were never trained on" in page
    assert "What the time went into" in page
    benched = br.bench(
        str(student),
        num_games=6,
        num_rows=2,
        num_cols=2,
        scale=9,
        plain=True,
        max_tokens=40,
        output_dir=tmp_path,
    )
    assert sum(row["strategy"] is not None for row in benched.frame("plays")) >= 4


def read_tensors(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_trained_whole(family, data, tokenizer, tmp_path):
    base = write_model(tmp_path / "base", tokenizer, family)
    run = train(base, data, tmp_path, steps=3, learning_rate=0.01)
    losses = [row["loss"] for row in run.frame("training")]
    assert losses[0] is None
    assert losses[-1] < 8
    after = read_tensors(tmp_path / "student")
    same = {
        name
        for name, value in read_tensors(base).items()
        if value.ndim == 2 and torch.equal(value.to(torch.bfloat16), after[name])
    }
    assert {name.rpartition(".")[2] for name in same} <= {"A_log"}  # too large to change so soon
    opened = open_causal(tmp_path / "student", "cpu", torch.float32)
    assert json.loads((tmp_path / "student" / "config.json").read_text())["model_type"] == (
        "gemma3_text" if family == "gemma3" else family
    )
    assert len(opened.continue_prompts([[5, 6, 7]], 4)) == 1


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "mamba"])
def test_every_family_is_trained_by_an_adapter(family, data, tokenizer, tmp_path):
    base = write_model(tmp_path / "base", tokenizer, family)
    train(base, data, tmp_path, steps=6, lora=2, learning_rate=0.5)
    before, after = read_tensors(base), read_tensors(tmp_path / "student")
    assert before.keys() == after.keys()
    changes = {
        name: (after[name].float() - value.float()).abs().max() for name, value in before.items()
    }
    changed = [name for name, change in changes.items() if change > 0.001]
    assert changed
    assert not any("embed" in name or "norm" in name for name in changed)
    # A change of rank 2, up to the rounding to half precision.
    name = next(name for name in changed if before[name].ndim == 2)
    values = torch.linalg.svdvals(after[name].float() - before[name].float())
    assert float(values[2]) < 0.05 * float(values[0])


def test_a_model_without_an_adapter_is_refused_in_a_sentence(data, tokenizer, tmp_path):
    base = write_model(tmp_path / "base", tokenizer, "mamba")
    with pytest.raises(UsageError, match="PEFT has no adapter for a model of this kind"):
        train(base, data, tmp_path, lora=2)


def test_what_is_kept_holds_a_student_nearer_to_its_base(data, base, tmp_path):
    texts = open_causal(base, "cpu", torch.float32)
    asked = torch.tensor([texts.encode("The old bridge over the river was")])
    with torch.no_grad():
        told = texts.model(asked).logits.log_softmax(-1)
    apart = {}
    for keep in (0.0, 0.3):
        train(base, data, tmp_path, f"kept-{keep}", steps=40, learning_rate=0.02, keep=keep)
        student = open_causal(tmp_path / f"kept-{keep}", "cpu", torch.float32)
        with torch.no_grad():
            said = student.model(asked).logits.log_softmax(-1)
        apart[keep] = (told.exp() * (told - said)).sum(-1).mean().item()
    assert apart[0.3] < 0.5 * apart[0.0]


def test_the_time_of_all_parts_is_that_of_the_command(data, base, tmp_path):
    rows = {row["part"]: row["minutes"] for row in train(base, data, tmp_path).frame("time")}
    assert set(rows) == {
        "opening",
        "abilities before",
        "rehearsal",
        "held-out questions",
        "steps",
        "checkpoints",
        "abilities after",
        "tests",
        "all",
    }
    whole = rows.pop("all")
    assert sum(rows.values()) == pytest.approx(whole)


def make_plan(seconds, after):
    recipe = training.Recipe(seconds, 0, 0.1, 1024, 0, "cpu")
    return training.TrainingPlan(base=None, data=None, recipe=recipe, work=None, after=after)


def test_steps_end_early_enough_for_the_measurements_after_them():
    progress = training.TrainingProgress(question=0.5)
    # 100 seconds, less 3 and 20 questions of half a second
    assert training.find_end(make_plan(100, lambda took: 3 + 20 * took), progress) == 87
    # measurements that take longer than half of the time do not displace the training
    assert training.find_end(make_plan(100, lambda took: 90.0), progress) == 50


def test_the_clock_adds_what_runs_before_took(monkeypatch):
    times = iter([10.0, 16.0, 20.0])
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(times)))
    clock = training.Clock(4.0)
    clock.resume({"opening": 1.0, "steps": 7.0})
    clock.begin("steps")
    assert clock.now() == 8 + 16 - 4
    clock.begin("end")
    assert clock.spent == {"opening": 1 + 10 - 4, "steps": 7 + 20 - 10}


def test_the_rate_rises_over_a_hundred_steps_and_falls_to_a_hundredth():
    # 1/100 at the first step, 50/100 x (1 - 49/200) at the 50th, 1 - 100/200 at the 101st, 1/200,
    # less than 1/100, at the last
    rates = [training.choose_rate(step, step / 200) for step in (0, 49, 100, 199)]
    assert rates == pytest.approx([0.01, 0.3775, 0.5, 0.01])


def test_the_rate_of_every_step_reaches_the_optimizer(data, base, tmp_path, monkeypatch):
    rates = []
    step = training.make_optimizer

    def watch(model, name, rate):
        optimizer = step(model, name, rate)
        make_step = optimizer.step

        def note(*arguments):
            rates.append([group["lr"] for group in optimizer.param_groups])
            return make_step(*arguments)

        optimizer.step = note
        return optimizer

    monkeypatch.setattr(training, "make_optimizer", watch)
    train(base, data, tmp_path, steps=4, learning_rate=0.5)
    # 0.5 x (step + 1) / 100 x the share that is left
    expected = [0.5 * 0.01, 0.5 * 0.02 * 0.75, 0.5 * 0.03 * 0.5, 0.5 * 0.04 * 0.25]
    assert [rate for first, second in rates for rate in {first, second}] == pytest.approx(expected)


def test_equal_steps_give_equal_weights_and_another_seed_others(data, base, tmp_path):
    weights = []
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        train(base, data, tmp_path / name, steps=3, seed=seed, learning_rate=0.01)
        weights.append((tmp_path / name / "student" / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


@pytest.fixture(scope="module")
def unbroken(data, base, tmp_path_factory):
    """The folder of a training that nothing stopped."""
    folder = tmp_path_factory.mktemp("unbroken")
    assert run_training("none-0", base=base, data=data, folder=folder) == 0
    return folder


@pytest.mark.parametrize("point", ["half-2", "step-5", "weights-1"])
def test_a_training_that_is_killed_ends_with_the_weights_of_an_unbroken_one(
    point, data, base, unbroken, tmp_path
):
    assert run_training(point, base=base, data=data, folder=tmp_path) == -signal.SIGKILL
    assert not (tmp_path / "student").exists()
    assert run_training("none-0", base=base, data=data, folder=tmp_path) == 0
    assert read_weights(tmp_path) == read_weights(unbroken)
    assert list_left_behind(tmp_path) == []


class Killed(BaseException):
    """What ends a training in the middle."""


@pytest.mark.parametrize("settings", [{}, {"lora": 2}], ids=["whole", "adapter"])
def test_a_killed_training_goes_on_from_its_checkpoint(settings, data, base, tmp_path, monkeypatch):
    chosen = {"steps": 6, "learning_rate": 0.01, **settings}
    train(base, data, tmp_path / "straight", **chosen)
    monkeypatch.setattr(training.Recipe, "saved_every", 0.0)
    find_loss = training.TrainingSession.find_loss
    made = []

    def find_or_die(session, batch):
        made.append(batch.number)
        if len(made) == 5:
            raise Killed
        return find_loss(session, batch)

    monkeypatch.setattr(training.TrainingSession, "find_loss", find_or_die)
    with pytest.raises(Killed):
        train(base, data, tmp_path, **chosen)
    run = train(base, data, tmp_path, **chosen)
    assert made == [1, 2, 3, 4, 5, 5, 6]
    steps = [row["step"] for row in run.frame("training")]
    assert steps[0] == 0
    assert steps[-1] == 6
    assert steps == sorted(set(steps))
    assert read_weights(tmp_path) == read_weights(tmp_path / "straight")


def test_a_damaged_checkpoint_is_named(data, base, tmp_path, monkeypatch):
    find_loss = training.TrainingSession.find_loss
    made = []

    def find_or_die(session, batch):
        made.append(batch.number)
        if len(made) == 3:
            raise Killed
        return find_loss(session, batch)

    monkeypatch.setattr(training.Recipe, "saved_every", 0.0)
    monkeypatch.setattr(training.TrainingSession, "find_loss", find_or_die)
    with pytest.raises(Killed):
        train(base, data, tmp_path, steps=4)
    (last,) = (tmp_path / "runs").glob("*/checkpoints/checkpoint-2")
    for name in ("model.safetensors", "optimizer.pt", "progress.json"):
        whole = (last / name).read_bytes()
        (last / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(StoreError, match=r"checkpoint-2 is damaged .* delete it to train"):
            train(base, data, tmp_path, steps=4)
        (last / name).write_bytes(whole)


def test_a_checkpoint_that_cannot_be_written_is_a_sentence(data, base, tmp_path, monkeypatch):
    def save_half(state, path, **more):
        raise RuntimeError("unexpected pos 2880 vs 2774")  # as torch says it where a disk is full

    monkeypatch.setattr(torch, "save", save_half)
    with pytest.raises(StoreError, match="is the disk full"):
        train(base, data, tmp_path)


def test_memory_that_runs_out_cuts_a_step_into_pieces(data, base, tmp_path, monkeypatch):
    find_loss = training.TrainingSession.find_loss
    sizes = []

    def find(session, batch):
        sizes.append(batch.tokens.numel())
        if batch.tokens.numel() > 1200:
            raise torch.OutOfMemoryError("out of memory")
        return find_loss(session, batch)

    monkeypatch.setattr(training.TrainingSession, "find_loss", find)
    run = train(base, data, tmp_path, steps=2, batch_tokens=2048, keep=0.0)
    # the whole step does not fit, and then two steps of two halves each
    assert sizes == [2048, 1024, 1024, 1024, 1024]
    assert run.frame("training")[-1]["step"] == 2


def test_a_model_that_never_fits_is_refused(data, base, tmp_path, monkeypatch):
    def find(session, batch):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(training.TrainingSession, "find_loss", find)
    with pytest.raises(UsageError, match="does not fit into the memory of this device: try `lora`"):
        train(base, data, tmp_path, batch_tokens=16_384, keep=0.0)


def test_a_loss_that_is_no_number_ends_a_training(data, base, tmp_path, monkeypatch):
    find_loss = training.TrainingSession.find_loss

    def find_none(session, batch):
        return find_loss(session, batch) * float("nan")

    monkeypatch.setattr(training.TrainingSession, "find_loss", find_none)
    with pytest.raises(UsageError, match="no number any more after step 2: choose a lower"):
        train(base, data, tmp_path)
    assert not (tmp_path / "student").exists()


def test_where_a_clock_ends_it_a_training_ends_in_time(data, base, tmp_path, monkeypatch):
    opened = open_data([str(data)])
    ticks = iter(range(0, 10**6, 5))
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    monkeypatch.setattr(training, "measure_replies", lambda *arguments: {})
    recipe = training.Recipe(600, 0, 0.01, 1024, 0, "cpu", held_out=2, keep=0.0)
    plan = training.TrainingPlan(
        base=Path(base), data=opened, recipe=recipe, work=tmp_path, after=lambda question: 100.0
    )
    clock = training.Clock(0.0)
    _, rows = training.train(plan, clock, lambda rows: None)
    # The last step is made at 500 s; what comes after it took some looks at the clock more.
    assert 500 / 60 <= rows[-1]["minutes"] < 560 / 60
    assert rows[-1]["step"] > 5
