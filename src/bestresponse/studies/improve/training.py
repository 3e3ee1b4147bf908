"""Train a causal model of `transformers` on conversations, by the `Trainer` of that library.

All weights are trained, or a low-rank adapter of PEFT. Conversations stand one after the other in
one row where the model can be computed so, their layers are compiled one by one, and another
process makes the rows: each of these counts on a GPU. A killed training goes on from its last
checkpoint and ends with the same weights.
"""

from __future__ import annotations

import json
import math
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.models.students.causal import Causal, open_causal
from bestresponse.models.students.flat import APART, computed_by, is_flat, write_starts
from bestresponse.studies.improve.batches import (
    IGNORED,
    Batches,
    Place,
    Shape,
    TokenBatch,
    choose_shape,
    encode_examples,
)
from bestresponse.studies.improve.data import Data, choose_held_out, draw_pools
from bestresponse.studies.improve.measuring import measure_replies
from bestresponse.studies.improve.optimizers import list_layers, make_optimizer
from bestresponse.studies.improve.rehearsal import Rehearsal, Wanted, write_texts
from bestresponse.studies.improve.rows import TrainRow

Keep = Callable[[Sequence[TrainRow]], None]
"""Told all rows whenever there is a new one."""
_ENDLESS = 1_000_000_000  # steps of a training that only the clock ends
_PROGRESS = "progress.json"
_TEXTS = "rehearsal.npy"
_MOST_PIECES = 64  # a step of one example each, mostly
_WARM_UP = 100  # steps over which the learning rate rises
_LEAST_RATE = 0.01  # of the learning rate, so that the last steps still change something
_LEAST_SAVED = 30.0
"""Seconds between two checkpoints at least, unless the whole training is shorter."""
_DEARER = 20.0
"""Training between two measurements takes at least so many times as long as one of them."""
_LATEST = 0.5  # of the time that is kept for what comes after the last step, at most
_ORDERED = 50  # steps that are ordered before the clock waits for them
_TIMED = 1024
"""Tokens of a batch that is timed where there is no GPU, so that the answer takes seconds and not
minutes."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained. Either `seconds` or `steps` ends it, whatever comes first.

    Where there are `steps`, the learning rate follows them and not the clock, so that equal recipes
    give equal weights. `keep` is the share of every step that keeps the model as it was.
    """

    seconds: float
    steps: int
    rate: float
    batch_tokens: int
    seed: int
    device: str
    held_out: int = 128
    optimizer: str = "muon"
    keep: float = 0.1

    @property
    def saved_every(self) -> float:
        """Seconds between two checkpoints."""
        return max(_LEAST_SAVED, self.seconds / 10)

    @property
    def dtype(self) -> torch.dtype:
        """The numbers in which products are computed."""
        return torch.float32 if self.device == "cpu" else torch.bfloat16

    def compute(self) -> AbstractContextManager[Any]:
        """Compute products in half precision on a GPU, whatever the weights are kept in."""
        if self.device == "cpu":
            return nullcontext()
        half: AbstractContextManager[Any] = torch.autocast(self.device, torch.bfloat16)
        return half


@dataclass
class TrainingProgress:
    """How far a training is. Written with every checkpoint.

    `spent` holds the seconds of every part of the command, of which `begun` had passed before the
    first step; a held-out `question` took so long. A step is made in so many `pieces`.
    """

    step: int = 0
    pool: int = 0
    batch: int = 0
    tokens: int = 0
    pieces: int = 1
    begun: float = 0.0
    question: float = 0.0
    done: bool = False
    spent: dict[str, float] = field(default_factory=dict)
    rows: list[TrainRow] = field(default_factory=list)


class Clock:
    """How long a command has taken, over all its runs, and what the time went into."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._last = started
        self.part = "opening"
        self.spent: dict[str, float] = {}
        self._before = 0.0

    def resume(self, spent: Mapping[str, float]) -> None:
        """Add what runs before this one took."""
        for part, seconds in spent.items():
            self.spent[part] = self.spent.get(part, 0.0) + seconds
        self._before = sum(spent.values())

    def now(self) -> float:
        """Return the seconds of the command so far."""
        return self._before + time.monotonic() - self._started

    def begin(self, part: str) -> None:
        """Count what follows as another part."""
        now = time.monotonic()
        self.spent[self.part] = self.spent.get(self.part, 0.0) + now - self._last
        self._last = now
        self.part = part


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A training: of what, on what, how, and where it keeps its checkpoints.

    `after` says how long the command takes after the last step, where a question takes so long.
    """

    base: Path
    data: Data
    recipe: Recipe
    work: Path
    lora: int | None = None
    after: Callable[[float], float] = lambda question: 0.0

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.work / "checkpoints"


def train(plan: TrainingPlan, clock: Clock, keep: Keep) -> tuple[Causal, list[TrainRow]]:
    """Train until time or steps are spent, from the last checkpoint on.

    Returns the student, and what was reported on the way. Where memory runs out, a step is made in
    twice as many pieces.
    """
    progress = read_progress(find_checkpoint(plan.checkpoints))
    clock.resume(progress.spent)
    while True:
        last = find_checkpoint(plan.checkpoints)
        progress = replace(read_progress(last), pieces=progress.pieces)
        if last and (progress.done or clock.now() >= find_end(plan, progress)):
            return _join(plan, last), progress.rows
        try:
            session, trainer = make_trainer(plan, progress, clock, keep)
            with session.apart():
                trainer.train(resume_from_checkpoint=str(last) if last else None)
            continue
        except torch.OutOfMemoryError:
            progress.pieces *= 2
        if progress.pieces > _MOST_PIECES:
            raise UsageError("the model does not fit into the memory of this device: try `lora` 16")
        torch.cuda.empty_cache()


def make_trainer(
    plan: TrainingPlan, progress: TrainingProgress, clock: Clock, keep: Keep
) -> tuple[TrainingSession, Trainer]:
    """Open everything that a training needs, and return it with what trains."""
    session = TrainingSession.open(plan, progress, clock)
    trainer = _Trainer(session, _Watch(session, progress, clock, keep))
    trainer.remove_callback(PrinterCallback)
    return session, trainer


@dataclass(frozen=True, slots=True)
class TrainingSession:
    """What a training holds in memory: the student, the base beside it, and how batches look."""

    plan: TrainingPlan
    student: Causal
    base: Causal | None
    shape: Shape
    rehearsal: Rehearsal
    attention: str

    @classmethod
    def open(cls, plan: TrainingPlan, progress: TrainingProgress, clock: Clock) -> TrainingSession:
        """Open the base, let it write what is kept, and choose the shape of batches."""
        recipe = plan.recipe
        student = open_student(plan)
        tokens = recipe.batch_tokens // progress.pieces
        kept = _open_rehearsal(plan, student, tokens, clock)
        clock.begin("opening")
        flat = is_flat(student.model)
        attention = student.model.config._attn_implementation
        left = tokens - kept.rows * kept.texts.shape[1]
        shape = choose_shape(student, plan.data, left, flat=flat)
        base = None
        if plan.lora is not None:
            torch.manual_seed(recipe.seed)  # an adapter begins with random numbers
            adapt(student, plan.lora)
        elif kept.rows:
            base = open_causal(plan.base, recipe.device, recipe.dtype)
            base.model.requires_grad_(False)
        for part in student.model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        if recipe.device == "cuda" and flat:
            torch.set_float32_matmul_precision("high")
            for layer in list_layers(student.model):
                layer.compile(dynamic=False)
        return cls(plan, student, base, shape, kept, attention)

    def apart(self) -> AbstractContextManager[None]:
        """Compute conversations apart, where the model can."""
        if not self.shape.flat:
            return nullcontext()
        return computed_by(_unwrap(self.student.model), APART)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Compute the student as it is asked: without what is compiled for batches alone."""
        model = _unwrap(self.student.model)
        was_training = model.training
        model.eval()
        try:
            with (
                torch.compiler.set_stance("force_eager"),
                computed_by(model, self.attention),
                self.plan.recipe.compute(),
            ):
                yield
        finally:
            model.train(was_training)

    def find_loss(self, batch: TokenBatch) -> Tensor:
        """Return the mean loss of the tokens of answers, and how far the model is from its base."""
        scored = len(batch.scored)
        places = torch.cat([batch.scored, batch.kept_at])
        with self.plan.recipe.compute():
            scores = self._compute(batch, places)
            told = self._ask_base(batch.kept) if len(batch.kept) else None
        loss = F.cross_entropy(scores[:scored].float(), batch.targets, ignore_index=IGNORED)
        if told is None:
            return loss
        return loss + _find_divergence(scores[scored:], told)

    def _compute(self, batch: TokenBatch, places: Tensor) -> Tensor:
        """Return the scores of all tokens after some of a batch."""
        model = self.student.model
        if not self.shape.flat:
            scores: Tensor = model(batch.tokens, use_cache=False).logits
            return scores.flatten(0, 1)[places]
        row = model(
            batch.tokens,
            position_ids=batch.positions,
            use_cache=False,
            logits_to_keep=places,
            **write_starts(batch.starts, batch.longest if batch.starts.is_cuda else None),
        )
        first: Tensor = row.logits[0]
        return first

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def _ask_base(self, kept: Tensor) -> Tensor:
        """Return the scores of the base after every token of its texts but the last."""
        if self.base is not None:
            scores: Tensor = self.base.model(kept, use_cache=False).logits
            return scores[:, :-1].flatten(0, 1)
        adapted: Any = self.student.model
        with self.asking(), adapted.disable_adapter():
            scores = adapted(kept, use_cache=False).logits
            return scores[:, :-1].flatten(0, 1)


def _find_divergence(scores: Tensor, told: Tensor) -> Tensor:
    """Return the mean divergence of what the student says from what the base says."""
    said = scores.float().log_softmax(-1)
    wanted = told.float().log_softmax(-1)
    return F.kl_div(said, wanted, reduction="batchmean", log_target=True)


def open_student(plan: TrainingPlan) -> Causal:
    """Open what is trained: in full precision, or the base of an adapter in half."""
    dtype = torch.float32 if plan.lora is None else plan.recipe.dtype
    return open_causal(plan.base, plan.recipe.device, dtype)


def adapt(student: Causal, rank: int) -> None:
    """Put an adapter of a low rank (LoRA) beside all linear layers of a student."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    try:
        with warnings.catch_warnings():  # of PEFT about names of `transformers`, and of GPT-2
            warnings.simplefilter("ignore")
            student.model = get_peft_model(student.model, config)
    except ValueError as error:
        raise UsageError(
            f"PEFT has no adapter for a model of this kind ({error}): train all its weights,"
            " without `lora`"
        ) from None


def _unwrap(model: Any) -> Any:
    """Return the model of `transformers` beneath an adapter."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _open_rehearsal(plan: TrainingPlan, student: Causal, tokens: int, clock: Clock) -> Rehearsal:
    """Return what is kept; texts that were written before a kill are read again."""
    recipe = plan.recipe
    share = int(recipe.keep * tokens)
    path = plan.work / _TEXTS
    if share and not path.exists():
        clock.begin("rehearsal")
        wanted = Wanted.choose(recipe.keep, recipe.seconds, recipe.steps, recipe.batch_tokens)
        with recipe.compute():
            texts = write_texts(student, wanted, recipe.seed)
        waiting = path.with_name(f".{path.name}")
        with waiting.open("wb") as file:
            np.save(file, texts)
        waiting.replace(path)
    if not share:
        return Rehearsal.make(np.zeros(0, np.int64), 0, student.positions)
    return Rehearsal.make(np.load(path), share, student.positions)


def _join(plan: TrainingPlan, checkpoint: Path) -> Causal:
    """Return the student of a checkpoint as one model.

    An adapter is added to the weights it was trained on, in full precision.
    """
    if plan.lora is None:
        return open_causal(checkpoint, plan.recipe.device, torch.float32)
    from peft import PeftModel

    whole = open_causal(plan.base, plan.recipe.device, torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adapted: Any = PeftModel.from_pretrained(whole.model, str(checkpoint))
    merged = adapted.merge_and_unload()
    return Causal(merged, whole.pretrained)


class _Trainer(Trainer):  # type: ignore[misc, unused-ignore]
    """The trainer of `transformers`, with batches and a loss of our own."""

    def __init__(self, session: TrainingSession, watch: _Watch) -> None:
        recipe = session.plan.recipe
        self._session = session
        self._watch = watch
        arguments = TrainingArguments(
            output_dir=str(session.plan.checkpoints),
            max_steps=recipe.steps or _ENDLESS,
            gradient_accumulation_steps=watch.progress.pieces,
            learning_rate=recipe.rate,
            lr_scheduler_type="constant",  # `_Watch` sets the rate of every step
            max_grad_norm=1.0,
            use_cpu=recipe.device == "cpu",
            save_strategy="no",  # `_Watch` says when
            save_total_limit=2,
            logging_strategy="no",  # `_Watch` collects the losses
            logging_nan_inf_filter=False,  # which waits for every step
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            ignore_data_skip=True,  # batches begin where the checkpoint was
            seed=recipe.seed,
        )
        arguments._n_gpu = min(arguments.n_gpu, 1)  # one row cannot be shared out
        super().__init__(
            session.student.model,
            arguments,
            train_dataset=watch.batches,
            processing_class=session.student.pretrained,
            callbacks=[watch],
        )

    def get_train_dataloader(self) -> DataLoader[Mapping[str, Any]]:
        """Return batches as they are made."""
        return self._watch.batches.load(self._session.plan.recipe.device)

    def create_optimizer(self, model: object = None) -> torch.optim.Optimizer:
        """Make the optimizer of the recipe."""
        recipe = self._session.plan.recipe
        self.optimizer = make_optimizer(self.model, recipe.optimizer, recipe.rate)
        return self.optimizer

    def _prepare_inputs(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        device = self._session.plan.recipe.device
        return {
            name: value.to(device, non_blocking=True) if torch.is_tensor(value) else value
            for name, value in inputs.items()
        }

    def compute_loss(self, model: object, inputs: Mapping[str, Any], **others: Any) -> Tensor:
        """Return the loss of a batch, and count it."""
        batch = TokenBatch(**inputs)
        loss = self._session.find_loss(batch)
        self._watch.count(batch, loss.detach())
        return loss

    def _save_checkpoint(self, *arguments: Any, **options: Any) -> None:
        try:
            super()._save_checkpoint(*arguments, **options)
        except (OSError, RuntimeError) as error:
            # of a full disk torch says only that a position is not the one it expected
            raise StoreError(
                f"{self.args.output_dir} cannot be written; is the disk full? ({error})"
            ) from None

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        with _reading(resume_from_checkpoint):
            super()._load_from_checkpoint(resume_from_checkpoint, model)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        with _reading(checkpoint):
            super()._load_optimizer_and_scheduler(checkpoint)


@contextmanager
def _reading(checkpoint: str | None) -> Iterator[None]:
    """Say which checkpoint is damaged. A kill leaves none that is incomplete, but a disk may."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - readers of weights raise what they like
        raise StoreError(
            f"{checkpoint} is damaged and cannot be resumed from; delete it to train from the"
            f" one before, or from the start ({str(error).partition(chr(10))[0]})"
        ) from None


class _Watch(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Sets the rate of every step, ends the training in time, and measures it.

    It also keeps how far the training is.
    """

    def __init__(
        self, session: TrainingSession, progress: TrainingProgress, clock: Clock, keep: Keep
    ) -> None:
        plan = session.plan
        self.progress = progress
        self.batches = Batches(
            session.student.chat,
            plan.data,
            session.shape,
            plan.recipe.seed,
            session.rehearsal.draw,
            Place(progress.pool, progress.batch),
        )
        self._session = session
        self._clock = clock
        self._keep = keep
        self._held_out = choose_held_out(plan.data, plan.recipe.seed, plan.recipe.held_out)
        self._losses: list[Tensor] = []
        self._pause = plan.recipe.saved_every
        self._saved = self._measured = clock.now()

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
            self.progress.begun = self._clock.now()
        self._clock.begin("steps")

    def on_step_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **others: Any,
    ) -> None:
        """Set the learning rate."""
        recipe = self._session.plan.recipe
        rate = recipe.rate * choose_rate(state.global_step, self._find_share(state.global_step))
        for group in others["optimizer"].param_groups:
            group["lr"] = rate

    def count(self, batch: TokenBatch, loss: Tensor) -> None:
        """Count a batch, without waiting for its loss."""
        self._losses.append(loss)
        self.progress.pool = batch.pool
        self.progress.batch = batch.number
        self.progress.tokens += batch.real

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **others: Any,
    ) -> None:
        """From time to time, and at the end, measure and save."""
        self.progress.step = state.global_step
        if state.global_step % _ORDERED == 0 and args.device.type == "cuda":
            # otherwise steps are only ordered, and the clock runs ahead of them
            torch.cuda.synchronize()
        now = self._clock.now()
        is_late = now >= find_end(self._session.plan, self.progress)
        over = is_late or self._find_share(state.global_step) >= 1
        self.progress.done = over
        if over or now - self._saved >= self._session.plan.recipe.saved_every:
            if over or now - self._measured >= self._pause:
                self._report()
            self._clock.begin("checkpoints")
            control.should_save = True
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
        self._clock.begin("steps")
        self._saved = self._clock.now()
        self.progress.spent = dict(self._clock.spent)
        folder = self._session.plan.checkpoints / f"checkpoint-{state.global_step}"
        waiting = folder / f".{_PROGRESS}"
        waiting.write_text(json.dumps(asdict(self.progress)), "utf-8")
        waiting.replace(folder / _PROGRESS)

    def _find_share(self, step: int) -> float:
        """Return the share of the training that is done: of its steps if given, else its time."""
        recipe = self._session.plan.recipe
        if recipe.steps:
            return step / recipe.steps
        begun = self.progress.begun
        end = find_end(self._session.plan, self.progress)
        return (self._clock.now() - begun) / max(end - begun, 1e-9)

    def _report(self) -> None:
        """Ask held-out questions, and report where the training is."""
        self._clock.begin("held-out questions")
        began = self._clock.now()
        loss = float(torch.stack(self._losses).mean()) if self._losses else None
        if loss is not None and not math.isfinite(loss):
            raise UsageError(
                f"the loss is no number any more after step {self.progress.step:,}: choose a lower"
                " `learning_rate`"
            )
        self._losses.clear()
        with self._session.asking():
            measured = measure_replies(self._session.student, self._held_out)
        row: TrainRow = {
            "minutes": began / 60,
            "step": self.progress.step,
            "loss": loss,
            "tokens_per_second": self.progress.tokens
            / max(self._clock.spent.get("steps", 0.0), 1e-9),
            **measured,
        }
        self.progress.rows.append(row)
        self._keep(self.progress.rows)
        self._measured = self._clock.now()
        took = self._measured - began
        self.progress.question = took / max(len(self._held_out), 1)
        self._pause = max(self._session.plan.recipe.saved_every, _DEARER * took)
        self._clock.begin("steps")


def find_end(plan: TrainingPlan, progress: TrainingProgress) -> float:
    """Return when the last step must be made, so that the command ends in time."""
    seconds = plan.recipe.seconds
    return max(seconds - plan.after(progress.question), seconds * (1 - _LATEST))


def choose_rate(step: int, done: float) -> float:
    """Return the share of the learning rate at a step, where a share of the training is done."""
    warm = min(1.0, (step + 1) / _WARM_UP)
    return warm * max(1 - done, _LEAST_RATE)


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
    with _reading(str(checkpoint)):
        return TrainingProgress(**json.loads((checkpoint / _PROGRESS).read_text("utf-8")))


@dataclass(frozen=True, slots=True)
class Speed:
    """How many tokens and how many examples are seen per second."""

    tokens: float
    examples: float


def measure_speed(plan: TrainingPlan) -> Speed:
    """Time the gradients of a small batch.

    What an optimizer adds to a step is as much for a small batch as for a large one, where it
    hardly counts.
    """
    student = open_student(plan)
    pairs = encode_examples(student, next(draw_pools(plan.data, 0, 0)))
    sizes = [pair.size for pair in pairs]
    tokens = max(_TIMED, min(sizes))
    shape = choose_shape(student, plan.data, tokens, flat=is_flat(student.model))
    nothing = Rehearsal.make(np.zeros(0, np.int64), 0, student.positions)
    attention = student.model.config._attn_implementation
    if plan.lora is not None:
        adapt(student, plan.lora)
    session = TrainingSession(plan, student, None, shape, nothing, attention)
    batches = Batches(student.chat, plan.data, shape, seed=0, kept=nothing.draw, place=Place())
    batch = TokenBatch(**next(iter(batches.load("cpu"))))
    with session.apart():
        for _ in range(2):  # the first takes longer, because nothing is prepared yet
            began = time.perf_counter()
            session.find_loss(batch).backward()
        rate = batch.real / (time.perf_counter() - began)
    return Speed(rate, rate * len(sizes) / sum(sizes))
