"""Train a model on the solver's answers, and report how its loss and its held-out games went."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.models.base import ModelsByName
from bestresponse.report.blocks import lines, table, text
from bestresponse.report.frames import Frame
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.settings import OF_CALLS, OF_PLAYS, RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, read_lines
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.studies.improve.contents import FoldersSetting, WeightsSetting
from bestresponse.studies.improve.rows import AbilityRow, TestRow, TimeRow, TrainRow

_PACKAGES = ("torch", "transformers", "accelerate", "peft")


@settings
class TrainingSettings(RunSettings):
    """How a model is trained, wherever it is."""

    steps: int | None = setting(
        default=None,
        ge=1,
        help="Stop training after this many steps, even if time is left.",
    )
    lora: int | None = setting(
        default=None,
        ge=1,
        le=1024,
        metavar="RANK",
        help=(
            "Train a low-rank adapter by PEFT and add it to the weights, instead of all weights."
        ),
    )
    learning_rate: float | None = setting(
        default=None,
        gt=0,
        lt=1,
        help=(
            "Highest learning rate. [default: 0.002 with Muon, 0.00002 with AdamW, 0.0002 with"
            " --lora]"
        ),
    )
    batch_tokens: int = setting(
        default=32_768,
        ge=512,
        le=4_194_304,
        help="Tokens per step.",
    )
    seed: int = setting(default=0, ge=0, help="Seed of games and of the order of examples.")
    device: Literal["auto", "cuda", "mps", "cpu"] = setting(
        default="auto",
        how=True,
        help="Device to train on.",
    )

    unused: ClassVar[frozenset[str]] = OF_PLAYS | OF_CALLS


@settings
class TrainConfig(TrainingSettings):
    """Train a model on examples from `bestresponse export sft`, and measure it on games that it has
    not seen.

    Any causal model of `transformers` can be trained: all weights, or an adapter (--lora). A share
    of every step (--keep) keeps what the model could do before.
    """

    model: WeightsSetting = setting(
        kw_only=False,
        argument=True,
        help=(
            "Weights: smollm2, a GGUF file, a folder as `transformers` writes it, or a name in the"
            " local cache of Hugging Face; nothing is downloaded from there."
        ),
    )
    data: FoldersSetting = setting(help="A folder of examples.")
    output: str | Path = setting(
        default="student",
        how=True,
        short="-o",
        metavar="FOLDER",
        help="Folder for the trained model.",
    )
    minutes: float = setting(
        default=20.0,
        gt=0,
        le=100_000,
        help="Time for the whole command, with all measurements.",
    )
    optimizer: Literal["muon", "adamw"] | None = setting(
        default=None,
        help="Muon for the matrices of all layers, or AdamW for everything. [default: muon, or"
        " adamw with --lora]",
    )
    keep: float = setting(
        default=0.1,
        ge=0,
        le=0.5,
        help="Share of every step that keeps what the model said before, in texts of its own.",
    )
    held_out: int = setting(
        default=128,
        ge=1,
        le=100_000,
        help="Held-out questions asked during training.",
    )
    tests: int = setting(
        default=200,
        ge=0,
        le=100_000,
        help="Questions of the test split at the end, per kind, size and format; 0: none.",
    )

    def __post_init__(self) -> None:
        if not self.data:
            raise SettingError("data", "expected at least one folder of examples")
        if self.lora is not None and self.optimizer == "muon":
            raise SettingError("optimizer", "adapters are trained by adamw: leave this out")


def run_training(
    config: TrainConfig,
    folder: RunFolder,
    models: ModelsByName,
    how: Execution,
) -> Outcome:
    """Train from the last checkpoint on, write the model, and measure it on the test split."""
    started = time.monotonic()
    check_packages()
    check_output(config)
    from bestresponse.studies.improve.making import train_student

    def tell(row: TrainRow) -> None:
        of_time = row["minutes"] / config.minutes
        of_steps = row["step"] / config.steps if config.steps else 0
        percent = min(100, round(100 * max(of_time, of_steps)))
        how.on_progress(Progress(100, 0, percent, 0))

    train_student(config, folder.path, tell, started)
    return Outcome(played=100)


def check_packages() -> None:
    """Refuse a training whose packages are missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise UsageError(f"training needs {', '.join(missing)}: {install_hint('train')}")


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
    raise SettingError("output", f"{output} holds {what}: choose another folder")


def read_measured(**kinds: type) -> Callable[[object, RunFolder], Measured]:
    """Return what reads frames from the files of their names; the first counts what was done."""

    def measure(config: object, folder: RunFolder) -> Measured:
        frames: dict[str, Frame[Any]] = {}
        for name, kind in kinds.items():
            path = folder.path / f"{name}.jsonl"
            frames[name] = Frame(kind, list(read_lines(path)) if path.exists() else [])
        return Measured(frames, len(frames[next(iter(kinds))]))

    return measure


train = Study(
    "train",
    TrainConfig,
    measure=read_measured(training=TrainRow, tests=TestRow, abilities=AbilityRow, time=TimeRow),
    title="Training {{ config.model }}",
    subtitle="{{ config.minutes }} minutes, seed {{ config.seed }}",
    command="train",
    unit="percent",
    tables=4,
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
        table("abilities", title="What it can do besides games"),
        table("training", title="The training"),
        table("time", title="What the time went into"),
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
        lines(
            "training",
            x="minutes",
            y="loss",
            caption="Mean loss of the tokens of answers.",
        ),
    ),
)
"""Train a model on the solver's answers."""
