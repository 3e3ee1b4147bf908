"""Train any causal model of `transformers` with TRL's trainer.

Either all its weights or a low-rank adapter of PEFT are trained.

TRL gets tokens, not texts: questions and answers are cut as the model is asked later, and what is
not learnt is masked, so that a student is trained on exactly what it will see.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Features, IterableDataset, List, Value
from peft import LoraConfig, PeftModel
from transformers import (
    BitsAndBytesConfig,
    PrinterCallback,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from trl import SFTConfig, SFTTrainer

from bestresponse.core.errors import UsageError
from bestresponse.models.students.causal import Causal, open_causal
from bestresponse.studies.improve.data import Data, choose_held_out, draw_pools
from bestresponse.studies.improve.rows import TrainRow
from bestresponse.studies.improve.training import (
    IGNORED,
    Encoded,
    Recipe,
    Stopwatch,
    TrainingProgress,
    choose_pause,
    choose_rate,
    encode_examples,
    report_progress,
)

Keep = Callable[[Sequence[TrainRow]], None]
"""Told all rows whenever there is a new one."""
_ENDLESS = 1_000_000_000  # steps of a training that only the clock ends
_PROGRESS = "progress.json"
_MOST_PIECES = 64  # a step of one example each, mostly
_FEATURES = Features({"input_ids": List(Value("int64")), "labels": List(Value("int64"))})


@dataclass(frozen=True, slots=True)
class Adapter:
    """A low-rank change of all linear layers (LoRA).

    With `four_bit` the rest is kept in four bits (QLoRA).
    """

    rank: int
    four_bit: bool = False


@dataclass(frozen=True, slots=True)
class Finetuning:
    """A training by TRL: of what, on what, how, and where it keeps its checkpoints."""

    base: Path
    data: Data
    recipe: Recipe
    checkpoints: Path
    adapter: Adapter | None = None


@dataclass(frozen=True, slots=True)
class Finetuned:
    """A student, and what was reported on the way."""

    student: Causal
    rows: list[TrainRow]


def finetune(plan: Finetuning, keep: Keep) -> Finetuned:
    """Train until time or steps are spent, from the last checkpoint on.

    Where memory runs out, a step is cut into twice as many pieces.
    """
    pieces = 1
    while True:
        last = find_checkpoint(plan.checkpoints)
        progress = read_progress(last)
        if plan.recipe.is_over(progress.step, progress.seconds):
            return Finetuned(_join(plan, last or plan.base), progress.rows)
        try:
            _train(plan, _Attempt(pieces, last, progress), keep)
            continue
        except torch.OutOfMemoryError:
            pieces *= 2
            if pieces > _MOST_PIECES:
                raise UsageError(
                    "the model does not fit into the memory of this device: try `lora` 16"
                ) from None
        torch.cuda.empty_cache()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """From which checkpoint on to train, and in how many pieces a step is made."""

    pieces: int
    checkpoint: Path | None
    progress: TrainingProgress


def _train(plan: Finetuning, attempt: _Attempt, keep: Keep) -> None:
    student = _open(plan)
    watch = _Watch(plan, student, attempt.progress, keep)
    trainer = SFTTrainer(
        student.model,
        _configure(plan, _count_examples(plan, student, attempt.pieces), attempt.pieces),
        train_dataset=IterableDataset.from_generator(_Rows(plan, student), features=_FEATURES),
        processing_class=student.pretrained,
        callbacks=[watch],
        peft_config=_choose_peft(plan.adapter),
    )
    trainer.remove_callback(PrinterCallback)
    student.model = trainer.model
    last = attempt.checkpoint
    trainer.train(resume_from_checkpoint=str(last) if last else None)


def _configure(plan: Finetuning, examples: int, pieces: int) -> SFTConfig:
    recipe = plan.recipe
    with warnings.catch_warnings():
        # the newest transformers has another name for checkpointing than TRL
        warnings.simplefilter("ignore", FutureWarning)
        return SFTConfig(
            output_dir=str(plan.checkpoints),
            max_steps=recipe.steps or _ENDLESS,
            per_device_train_batch_size=examples,
            gradient_accumulation_steps=pieces,
            learning_rate=recipe.rate,
            lr_scheduler_type="constant",  # `_Watch` sets the rate of every step
            max_grad_norm=1.0,
            weight_decay=0.0,
            adam_beta2=0.95,
            max_length=None,
            bf16=recipe.device == "cuda",
            use_cpu=recipe.device == "cpu",
            gradient_checkpointing=recipe.device == "cuda",
            dataloader_pin_memory=recipe.device == "cuda",
            save_strategy="no",  # `_Watch` says when
            save_total_limit=2,
            logging_steps=1,  # `_Watch` collects the losses
            include_num_input_tokens_seen="non_padding",
            report_to="none",
            disable_tqdm=True,
            seed=recipe.seed,
        )


def _count_examples(plan: Finetuning, student: Causal, pieces: int) -> int:
    """Return how many examples make a piece of a step.

    A step then has about as many tokens as it may have.
    """
    recipe = plan.recipe
    pool = encode_examples(student, next(draw_pools(plan.data, recipe.seed, 0)))
    fitting = [pair.size for pair in pool if _fits(pair, student, recipe)]
    if not fitting:
        raise UsageError(
            f"no example fits into {min(recipe.batch_tokens, student.positions):,} tokens: the"
            f" shortest has {min(pair.size for pair in pool):,}"
        )
    return max(1, recipe.batch_tokens * len(fitting) // sum(fitting) // pieces)


def _open(plan: Finetuning) -> Causal:
    device = plan.recipe.device
    if plan.adapter is None:
        return open_causal(plan.base, device, torch.float32)
    if not plan.adapter.four_bit:
        return open_causal(plan.base, device, plan.recipe.dtype)
    stored = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=plan.recipe.dtype,
    )
    return open_causal(plan.base, device, plan.recipe.dtype, quantization_config=stored)


def _choose_peft(adapter: Adapter | None) -> LoraConfig | None:
    if adapter is None:
        return None
    return LoraConfig(
        r=adapter.rank,
        lora_alpha=2 * adapter.rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _join(plan: Finetuning, checkpoint: Path) -> Causal:
    """Return the student of a checkpoint as one model.

    An adapter is added to the weights it was trained on, in full precision.
    """
    if plan.adapter is None:
        return open_causal(checkpoint, plan.recipe.device, torch.float32)
    whole = open_causal(plan.base, plan.recipe.device, torch.float32)
    merged: Any = PeftModel.from_pretrained(whole.model, str(checkpoint)).merge_and_unload()
    return Causal(merged, whole.pretrained)


def _fits(pair: Encoded, student: Causal, recipe: Recipe) -> bool:
    return pair.size <= min(recipe.batch_tokens, student.positions)


class _Rows:
    """Tokens and what is learnt of them, for ever; examples that do not fit are left out."""

    def __init__(self, plan: Finetuning, student: Causal) -> None:
        self.plan = plan
        self.student = student

    def __call__(self) -> Iterator[dict[str, list[int]]]:
        recipe = self.plan.recipe
        for number, pool in enumerate(draw_pools(self.plan.data, recipe.seed, 0)):
            pairs = encode_examples(self.student, pool)
            for k in np.random.default_rng([recipe.seed, number]).permutation(len(pairs)):
                asked, answer, targets = pairs[k]
                if _fits(pairs[k], self.student, recipe):
                    yield {
                        "input_ids": asked + answer,
                        "labels": [IGNORED] * len(asked) + targets,
                    }

    def __getstate__(self) -> int:
        """Return what `datasets` hashes instead of the whole model."""
        return self.plan.recipe.seed


class _Watch(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Sets the rate of every step, ends the training in time, and measures it.

    It also keeps how far the training is.
    """

    def __init__(
        self,
        plan: Finetuning,
        student: Causal,
        progress: TrainingProgress,
        keep: Keep,
    ) -> None:
        self._plan = plan
        self._student = student
        self._progress = progress
        self._keep = keep
        self._held_out = choose_held_out(plan.data, plan.recipe.seed, plan.recipe.held_out)
        self._losses: list[float] = []
        self._clock = Stopwatch(progress)
        self._pause = plan.recipe.saved_every
        self._saved = self._measured = self._clock.now()

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **others: Any,
    ) -> None:
        """Measure the base, unless the training goes on."""
        if not state.global_step:
            self._report()
        self._clock.begin_steps()

    def on_step_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **others: Any,
    ) -> None:
        """Set the learning rate."""
        recipe = self._plan.recipe
        done = recipe.find_share(state.global_step, self._clock.now())
        for group in others["optimizer"].param_groups:
            group["lr"] = recipe.rate * choose_rate(state.global_step, done)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **others: Any,
    ) -> None:
        """Collect the loss of a step; from time to time, and at the end, measure and save."""
        if "loss" not in others["logs"]:
            return
        self._losses.append(float(others["logs"]["loss"]))
        self._progress.step = state.global_step
        self._progress.tokens = int(state.num_input_tokens_seen)
        recipe = self._plan.recipe
        now = self._clock.now()
        over = recipe.is_over(state.global_step, now)
        if over or now - self._saved >= recipe.saved_every:
            self._clock.end_steps()
            if over or now - self._measured >= self._pause:
                self._report()
            control.should_save = True
            self._saved = self._clock.now()
            self._clock.begin_steps()
        if over:
            control.should_training_stop = True

    def on_save(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **others: Any,
    ) -> None:
        """Write how far the training is: a checkpoint without it is not complete."""
        folder = self._plan.checkpoints / f"checkpoint-{state.global_step}"
        waiting = folder / f".{_PROGRESS}"
        waiting.write_text(json.dumps(asdict(self._progress)), "utf-8")
        waiting.replace(folder / _PROGRESS)

    def _report(self) -> None:
        loss = sum(self._losses) / len(self._losses) if self._losses else None
        model = self._student.model
        training = model.training
        model.eval()
        took = report_progress(
            self._progress,
            self._student,
            self._held_out,
            loss,
            on_row=lambda row: self._keep(self._progress.rows),
        )
        model.train(training)
        self._losses.clear()
        self._pause = choose_pause(self._plan.recipe.saved_every, took)
        self._measured = self._clock.now()


def find_checkpoint(folder: Path) -> Path | None:
    """Return the last complete checkpoint; those that a kill left incomplete are removed."""
    complete: list[tuple[int, Path]] = []
    for path in folder.glob("checkpoint-*"):
        number = path.name.removeprefix("checkpoint-")
        if number.isdecimal() and (path / _PROGRESS).is_file():
            complete.append((int(number), path))
        else:
            shutil.rmtree(path)
    return max(complete)[1] if complete else None


def read_progress(checkpoint: Path | None) -> TrainingProgress:
    """Return how far a training was at a checkpoint."""
    if checkpoint is None:
        return TrainingProgress()
    return TrainingProgress(**json.loads((checkpoint / _PROGRESS).read_text("utf-8")))
