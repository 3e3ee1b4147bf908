"""Train a network on examples.

Training uses packed batches, Muon and AdamW, and checkpoints from which a killed run goes on.

A batch holds conversations one after the other, each of which sees itself alone; every batch is
filled up to one shape, so that on a GPU the kernels of a step are recorded once and played again.
Only the tokens of answers are scored. Matrices are trained by Muon (Jordan et al., "Muon: an
optimizer for hidden layers in neural networks", 2024), whose steps have equal singular values,
everything else by AdamW.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from bestresponse.core.errors import InvalidMove, StoreError, UsageError
from bestresponse.models.students.network import (
    Network,
    Parameters,
    attend_causally,
    finish_layer,
    project,
    run_layers,
    score_tokens,
)
from bestresponse.models.students.writing import Writer
from bestresponse.studies.improve.data import Data, choose_held_out, draw_pools
from bestresponse.studies.improve.rewards import score_reply
from bestresponse.studies.improve.rows import Conversation, Measures, TrainRow

Tokens = NDArray[np.int64]
IGNORED = -100  # the target that `cross_entropy` leaves out by default
_WORDS = 1024
"""Different tokens of a batch at most."""
_SPARE = 1.06
"""Room of a batch for more conversations and scored tokens than there are on average."""
_BLOCK = 128
"""Tokens that an attention kernel takes together."""
_NEWTON_SCHULZ = (
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
)
"""Coefficients of a quintic iteration towards the nearest orthogonal matrix (You Jiacheng, 2025, in
modded-nanogpt)."""
_MOMENTUM = 0.95
_ADAM_BETAS = (0.9, 0.95)
_WARM_UP = 100  # steps over which the learning rate rises
_LEAST_RATE = 0.01  # of the learning rate, so that the last steps still change something
_AHEAD = 16  # batches that are packed before they are wanted: the GPU does not wait for them
_ASKED = 256
"""Questions that are asked at once."""
_ROOM = 50
"""Tokens that a reply may have more than the longest answer."""
_LEAST_SAVED = 30.0
"""Seconds between two checkpoints at least, unless the whole training is shorter."""
_DEARER = 20.0
"""Training between two measurements takes at least so many times as long as one of them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape that batches are filled up to.

    It counts tokens, how many of them are scored, and conversations of some length.
    """

    tokens: int
    scored: int
    conversations: int
    longest: int


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """Conversations in one row of tokens.

    Token t is `words[tokens[t]]`, and `starts` holds the first places of the conversations and the
    end.

    After the tokens `scored` come `targets`; all are filled up, with targets that are ignored and
    empty conversations.
    """

    words: Tensor
    tokens: Tensor
    positions: Tensor
    starts: Tensor
    scored: Tensor
    targets: Tensor
    longest: int
    real: int

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """Everything that a device needs."""
        return self.words, self.tokens, self.positions, self.starts, self.scored, self.targets

    def to(self, device: str) -> PackedBatch:
        """Return the batch on another device."""
        return self._replace_parts(part.to(device) for part in self.parts)

    def pin_memory(self) -> PackedBatch:
        """Return the batch in memory from which a GPU reads while the processor goes on.

        Loaders call this.
        """
        return self._replace_parts(part.pin_memory() for part in self.parts)

    def _replace_parts(self, parts: Iterable[Tensor]) -> PackedBatch:
        words, tokens, positions, starts, scored, targets = parts
        return PackedBatch(
            words,
            tokens,
            positions=positions,
            starts=starts,
            scored=scored,
            targets=targets,
            longest=self.longest,
            real=self.real,
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained. Either `seconds` or `steps` ends it, whatever comes first.

    Where there are `steps`, the learning rate follows them and not the clock, so that equal recipes
    give equal weights.
    """

    seconds: float
    steps: int
    rate: float
    batch_tokens: int
    seed: int
    device: str
    held_out: int = 128

    @property
    def saved_every(self) -> float:
        """Seconds between two checkpoints."""
        return max(_LEAST_SAVED, self.seconds / 10)

    def find_share(self, step: int, seconds: float) -> float:
        """Return the share of the training that is done.

        It is the share of its steps if they are given, else of its time.
        """
        if self.steps:
            return step / self.steps
        return seconds / self.seconds if self.seconds else 0.0

    def is_over(self, step: int, seconds: float) -> bool:
        """Say whether time or steps are spent."""
        late = bool(self.seconds) and seconds >= self.seconds
        return late or self.find_share(step, seconds) >= 1

    @property
    def dtype(self) -> torch.dtype:
        """The numbers in which products are computed."""
        return torch.float32 if self.device == "cpu" else torch.bfloat16


@dataclass
class TrainingProgress:
    """How far a training is: so many batches of the pool are behind it.

    Written with every checkpoint.

    Of the `seconds` that have passed `trained` were spent on steps, the rest on measuring.
    """

    step: int = 0
    pool: int = 0
    batch: int = 0
    seconds: float = 0.0
    trained: float = 0.0
    tokens: int = 0
    rows: list[TrainRow] = field(default_factory=list)


def split_messages(writer: Writer, example: Conversation) -> tuple[str, str]:
    """Return what is asked, up to where the model speaks, and what it should say."""
    *asked, answer = ((message["role"], message["content"]) for message in example["messages"])
    return writer.write_chat(asked), answer[1]


class Encoded(NamedTuple):
    """The tokens of a question and of its answer, and what is learnt of the answer.

    Its tokens are learnt, or `IGNORED` for those of a false start.
    """

    asked: list[int]
    answer: list[int]
    targets: list[int]

    @property
    def size(self) -> int:
        """The tokens of both together."""
        return len(self.asked) + len(self.answer)


def encode_examples(writer: Writer, examples: Sequence[Conversation]) -> list[Encoded]:
    """Return the tokens of every question and of its answer."""
    texts = [split_messages(writer, example) for example in examples]
    encode = writer.tokenizer.encode_batch_fast
    asked = encode([question for question, _ in texts], add_special_tokens=False)
    answered = encode([answer for _, answer in texts], add_special_tokens=False)
    pairs: list[Encoded] = []
    for example, question, answer, (_, text) in zip(examples, asked, answered, texts, strict=True):
        tokens = [*answer.ids, writer.end]
        first, last = example.get("unscored") or (0, 0)
        targets = tokens
        if last > first:
            targets = _hide(writer, text, tokens, range(first, last))
        pairs.append(Encoded(question.ids, tokens, targets))
    return pairs


def _hide(writer: Writer, text: str, tokens: list[int], hidden: range) -> list[int]:
    """Return the tokens of a text, without those that begin at hidden characters."""
    places = writer.tokenizer.encode(text, add_special_tokens=False).offsets
    kept = []
    for token, place in zip(tokens, places, strict=False):
        kept.append(IGNORED if place[0] in hidden else token)
    return [*kept, *tokens[len(kept) :]]


def choose_shape(network: Network, data: Data, tokens: int) -> Shape:
    """Choose the shape that batches are filled up to.

    Neither short nor long conversations should leave much of them empty.
    """
    pairs = encode_examples(network, next(draw_pools(data, 0, 0)))
    lengths = [pair.size for pair in pairs]
    if min(lengths) > tokens:
        raise UsageError(
            f"no example fits into {tokens:,} tokens a step: the shortest has {min(lengths):,}"
        )
    total = sum(lengths)
    answers = [len(pair.answer) for pair in pairs]
    return Shape(
        tokens,
        min(tokens, max(int(tokens * sum(answers) / total * _SPARE) + 1, *answers)),
        int(tokens * len(pairs) / total * _SPARE) + 1,
        -(-max(lengths) // _BLOCK) * _BLOCK,
    )


def pack(
    network: Network,
    pool: Sequence[Conversation],
    shape: Shape,
    rng: np.random.Generator,
) -> list[PackedBatch]:
    """Cut a pool into full batches in a random order.

    What is left over makes a batch only where there is no other.
    """
    pairs = encode_examples(network, pool)
    batches: list[PackedBatch] = []
    waiting: list[Encoded] = []
    words: set[int] = set()
    used = scored = 0
    for k in rng.permutation(len(pairs)):
        asked, answer, _ = pairs[k]
        size = len(asked) + len(answer)
        new = {*asked, *answer}
        if size > shape.tokens or len(answer) > shape.scored or len(new) >= _WORDS:
            continue
        full = used + size > shape.tokens or scored + len(answer) > shape.scored
        if full or len(words | new) >= _WORDS or len(waiting) == shape.conversations:
            batches.append(_fill(waiting, shape))
            waiting = []
            words = set()
            used = 0
            scored = 0
        waiting.append(pairs[k])
        words |= new
        used = used + size
        scored = scored + len(answer)
    return batches or [_fill(waiting, shape)] if waiting else batches


def _fill(pairs: Sequence[Encoded], shape: Shape) -> PackedBatch:
    tokens, positions = np.zeros((2, shape.tokens), np.int64)
    scored = np.zeros(shape.scored, np.int64)
    targets = np.full(shape.scored, IGNORED, np.int64)
    # After the last conversation come some that fill up the tokens, none of them longer than
    # kernels expect, and then empty ones.
    starts = np.full(
        shape.conversations + -(-shape.tokens // shape.longest) + 1,
        shape.tokens,
        np.int32,
    )
    starts[0] = start = first = 0
    longest = 1
    for number, (asked, answer, learnt) in enumerate(pairs, 1):
        middle = start + len(asked)
        end = start + len(asked) + len(answer)
        tokens[start:end] = asked + answer
        positions[start:end] = np.arange(end - start)
        scored[first : first + len(answer)] = np.arange(middle - 1, end - 1)
        targets[first : first + len(answer)] = learnt
        longest = max(longest, end - start)
        starts[number] = start = end
        first += len(answer)
    filled = np.arange(start + shape.longest, shape.tokens, shape.longest)
    starts[len(pairs) + 1 : len(pairs) + 1 + len(filled)] = filled
    words, indices = np.unique(tokens, return_inverse=True)
    return PackedBatch(
        torch.from_numpy(np.pad(words, (0, _WORDS - len(words)))),
        torch.from_numpy(indices.reshape(-1)),
        positions=torch.from_numpy(positions),
        starts=torch.from_numpy(starts),
        scored=torch.from_numpy(scored),
        targets=torch.from_numpy(targets),
        longest=max(longest, shape.longest),
        real=start,
    )


class Trainer:
    """The moving parts of a training: parameters, optimizer state, and progress."""

    def __init__(self, network: Network, recipe: Recipe) -> None:
        self.recipe = recipe
        copied = {
            name: value.detach().clone()
            for name, value in network.to(recipe.device).parameters.items()
        }
        self.network = Network(network.sizes, copied, network.tokenizer)
        self.parameters = {
            name: value.requires_grad_() for name, value in self.network.parameters.items()
        }
        self.matrices = {
            name: value for name, value in self.parameters.items() if name in network.sizes.sections
        }
        self.momenta = {name: torch.zeros_like(value) for name, value in self.matrices.items()}
        rest = [value for name, value in self.parameters.items() if name not in self.matrices]
        self.adam = torch.optim.AdamW(
            rest,
            lr=recipe.rate,
            betas=_ADAM_BETAS,
            weight_decay=0.0,
        )
        self.trained = list(self.parameters.values())
        self.steps: tuple[Any, Any] = (project, finish_layer)
        self.score: Callable[..., Tensor] = _score_answers
        if recipe.device == "cuda":
            self.steps = tuple(
                torch.compile(step, dynamic=False)
                for step in (_project_for_all_heads, finish_layer)
            )
            self.score = torch.compile(_score_answers, dynamic=False)
        self.recorded: _Recorded | None = None
        self.progress = TrainingProgress()

    def current(self) -> Parameters:
        """Return the parameters as they are used: in half precision on a GPU."""
        now = {
            name: value.to(self.recipe.dtype)
            for name, value in self.parameters.items()
            if "norm" not in name
        }
        return now | {name: value for name, value in self.parameters.items() if "norm" in name}

    def compute_loss(self, batch: PackedBatch) -> Tensor:
        """Return the mean loss of the tokens of answers of a batch on the device."""
        now = self.current()
        # As a product, since adding up the gradients of a few words that come thousands of times is
        # slow.
        one_hot = batch.tokens[:, None] == torch.arange(len(batch.words), device=self.recipe.device)
        x = one_hot.to(self.recipe.dtype) @ now["embedding"][batch.words]

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return _attend_apart(q, k, v, batch)

        states = run_layers(
            self.network.sizes,
            now,
            x=x,
            positions=batch.positions,
            attend=attend,
            steps=self.steps,
        )
        scorer = now.get("head", now["embedding"])
        return self.score(states.index_select(0, batch.scored), scorer, batch.targets)

    def find_gradients(self, batch: PackedBatch) -> Tensor:
        """Compute the gradients of the loss of a batch on the device, and return the loss."""
        for value in self.trained:
            value.grad = None
        loss = self.compute_loss(batch)
        loss.backward()
        return loss.detach()

    def step(self, batch: PackedBatch, rate: float) -> Tensor:
        """Make one step and return the loss before it."""
        if self.recipe.device == "cuda" and self.recorded is None:
            self.recorded = _Recorded(self, batch)
        if self.recorded is not None and batch.longest <= self.recorded.batch.longest:
            loss = self.recorded.play(batch)
        else:
            loss = self.find_gradients(batch.to(self.recipe.device))
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        with torch.no_grad():
            for name, value in self.matrices.items():
                gradient = value.grad
                momentum = self.momenta[name]
                assert gradient is not None
                momentum.lerp_(gradient, 1 - _MOMENTUM)
                ahead = gradient.lerp(momentum, _MOMENTUM)
                rows = self.network.sizes.sections[name]
                for part, change in zip(value.split(rows, 1), ahead.split(rows, 1), strict=True):
                    # A step of AdamW has entries of about this size, so both share one learning
                    # rate.
                    scale = 0.2 * math.sqrt(max(change.shape[-2:]))
                    part.add_(
                        orthogonalise(change, self.recipe.dtype).to(part.dtype), alpha=-rate * scale
                    )
        return loss

    def save(self, path: Path) -> None:
        """Write a checkpoint; it appears complete or not at all."""
        state = {
            "parameters": self.network.parameters,
            "momenta": self.momenta,
            "adam": self.adam.state_dict(),
            "progress": vars(self.progress),
        }
        waiting = path.with_name(f".{path.name}")
        try:
            torch.save(state, waiting)
        except (
            RuntimeError
        ) as error:  # of a full disk torch says only that a position is not the one it expected
            raise StoreError(f"{path} cannot be written; is the disk full? ({error})") from None
        waiting.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        state: Any = _read_checkpoint(path, self.recipe.device)
        with torch.no_grad():
            for mine, kept in ((self.parameters, "parameters"), (self.momenta, "momenta")):
                for name, value in mine.items():
                    value.copy_(state[kept][name])
        self.adam.load_state_dict(state["adam"])
        self.progress = TrainingProgress(**state["progress"])

    def finish(self) -> Network:
        """Return the trained network."""
        trained = {name: value.detach().float() for name, value in self.parameters.items()}
        return Network(self.network.sizes, trained, self.network.tokenizer)


def _read_checkpoint(path: Path, device: str) -> Mapping[str, object]:
    """Read a checkpoint. A kill leaves none that is incomplete, but a disk may."""
    try:
        state: Mapping[str, object] = torch.load(path, map_location=device, weights_only=True)
        return state
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, EOFError, UnpicklingError) as error:
        raise StoreError(
            f"{path} is damaged and cannot be resumed from; delete it to train from the start"
        ) from error


class _Recorded:
    """The kernels that find gradients, recorded for batches of one shape.

    Launching them one by one takes longer.
    """

    def __init__(self, trainer: Trainer, batch: PackedBatch) -> None:
        self.batch = batch.to("cuda")
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(
                3
            ):  # functions are compiled and memory is found before anything is recorded
                trainer.find_gradients(self.batch)
        torch.cuda.current_stream().wait_stream(beside)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = trainer.find_gradients(self.batch)
        self.gradients = [(value, value.grad) for value in trainer.trained]

    def play(self, batch: PackedBatch) -> Tensor:
        """Find the gradients of another batch, and return its loss."""
        for mine, part in zip(self.batch.parts, batch.parts, strict=True):
            mine.copy_(part, non_blocking=True)
        self.graph.replay()
        for value, gradient in self.gradients:
            value.grad = gradient
        return self.loss.clone()


def _attend_apart(q: Tensor, k: Tensor, v: Tensor, batch: PackedBatch) -> Tensor:
    """Let every conversation of a batch attend to itself."""
    starts = batch.starts
    if q.device.type != "cuda":
        ends = pairwise(starts.unique().tolist())
        return torch.cat(
            [attend_causally(q[None, a:b], k[None, a:b], v[None, a:b])[0] for a, b in ends]
        )
    from torch.nn.attention.varlen import varlen_attn

    before = (-1, 0)  # as far back as there is, and nothing ahead
    return varlen_attn(
        q,
        k,
        v,
        starts,
        starts,
        batch.longest,
        batch.longest,
        window_size=before,
    ).flatten(1)


def _project_for_all_heads(*arguments: Any) -> tuple[Tensor, ...]:
    """Return as many keys and values as queries.

    The attention of conversations of unequal length needs them so.
    """
    q, k, v = project(*arguments)
    return q, *(part.repeat_interleave(q.shape[-2] // part.shape[-2], -2) for part in (k, v))


def _score_answers(states: Tensor, embedding: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(score_tokens(states, embedding), targets, ignore_index=IGNORED)


def orthogonalise(matrices: Tensor, dtype: torch.dtype) -> Tensor:
    """Return matrices with about the same singular vectors and singular values near 1.

    They have shape (N, rows, columns).
    """
    wide = matrices.to(dtype)
    tall = wide.shape[-2] > wide.shape[-1]
    wide = wide.mT if tall else wide
    wide = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for a, b, c in _NEWTON_SCHULZ:
        square = wide @ wide.mT
        wide = torch.baddbmm(
            wide,
            torch.baddbmm(square, square, square, beta=b, alpha=c),
            wide,
            beta=a,
        )
    return wide.mT if tall else wide


def train(
    trainer: Trainer,
    data: Data,
    checkpoint: Path,
    on_row: Callable[[TrainRow], None],
) -> None:
    """Train until time or steps are spent.

    About ten times on the way, keep a checkpoint, measure and report a row.

    All of it counts as time. Measurements that take long are made less often.
    """
    recipe = trainer.recipe
    progress = trainer.progress
    every = recipe.saved_every
    held_out = choose_held_out(data, recipe.seed, recipe.held_out)
    losses: list[Tensor] = []
    clock = Stopwatch(progress)
    pause = every

    def report() -> float:
        mean = float(torch.stack(losses).mean()) if losses else None
        student = trainer.finish().to(recipe.device, recipe.dtype)
        return report_progress(progress, student, held_out, mean, on_row)

    if not progress.step:
        pause = choose_pause(every, report())
    batches = Batches(trainer, data)
    saved = measured = clock.now()
    clock.begin_steps()
    for number, batch in batches.load():
        now = clock.now()
        if recipe.is_over(progress.step, now):
            break
        done = recipe.find_share(progress.step, now)
        if number != progress.pool:
            progress.pool = number
            progress.batch = 0
        if clock.now() - saved >= every:
            clock.end_steps()
            trainer.save(checkpoint)
            if clock.now() - measured >= pause:
                pause = choose_pause(every, report())
                losses = []
                trainer.save(checkpoint)
                measured = clock.now()
            saved = clock.now()
            clock.begin_steps()
        losses.append(trainer.step(batch, recipe.rate * choose_rate(progress.step, done)))
        progress.step += 1
        progress.batch += 1
        progress.tokens += batch.real
        if progress.step % 50 == 0 and recipe.device == "cuda":
            # otherwise steps are only ordered, and the clock runs ahead of them
            torch.cuda.synchronize()
    if losses:  # a training that was over before is not measured again
        clock.end_steps()
        trainer.save(checkpoint)
        report()
        trainer.save(checkpoint)


class Stopwatch:
    """How long a training has taken, over all its parts, and how much of that went into steps."""

    def __init__(self, progress: TrainingProgress) -> None:
        self._progress = progress
        self._began = time.monotonic() - progress.seconds
        self._steps = time.monotonic()

    def now(self) -> float:
        """Return the seconds since the training began."""
        return time.monotonic() - self._began

    def begin_steps(self) -> None:
        """Count what follows as steps."""
        self._steps = time.monotonic()

    def end_steps(self) -> None:
        """Add the steps since they were begun to the progress, which is kept next."""
        self._progress.trained += time.monotonic() - self._steps
        self._progress.seconds = self.now()


class Batches(IterableDataset[tuple[int, PackedBatch]]):  # type: ignore[misc, unused-ignore]
    """Batches for ever, each with the number of its pool."""

    def __init__(self, trainer: Trainer, data: Data) -> None:
        network = trainer.network
        self.network = Network(
            network.sizes,
            {},
            network.tokenizer,
        )  # parameters stay where they are trained
        self.recipe = trainer.recipe
        self.data = data
        self.first = trainer.progress.pool
        self.skipped = trainer.progress.batch
        self.shape = choose_shape(network, data, self.recipe.batch_tokens)

    def __iter__(self) -> Iterator[tuple[int, PackedBatch]]:
        pools = draw_pools(self.data, self.recipe.seed, self.first)
        for number, pool in enumerate(pools, self.first):
            rng = np.random.default_rng([self.recipe.seed, number])
            batches = pack(self.network, pool, self.shape, rng)
            for batch in batches[self.skipped if number == self.first else 0 :]:
                yield number, batch

    def load(self) -> DataLoader[tuple[int, PackedBatch]]:
        """Return a loader of batches.

        With a GPU, another process makes the batches, so that this one only orders the work.
        """
        if self.recipe.device == "cpu":
            return DataLoader(self, batch_size=None)
        # To copy from memory that is not pinned, CUDA waits until everything ordered before is
        # done.
        return DataLoader(
            self,
            batch_size=None,
            num_workers=1,
            prefetch_factor=_AHEAD,
            multiprocessing_context="spawn",
            pin_memory=self.recipe.device == "cuda",
        )


def choose_pause(every: float, took: float) -> float:
    """Return the seconds until the next measurement, where the last one took so long."""
    return max(every, _DEARER * took)


def choose_rate(step: int, done: float) -> float:
    """Return the share of the learning rate at a step, where a share of the training is done."""
    warm = min(1.0, (step + 1) / _WARM_UP)
    return warm * max(1 - done, _LEAST_RATE)


def report_progress(
    progress: TrainingProgress,
    writer: Writer,
    held_out: Sequence[Conversation],
    loss: float | None,
    on_row: Callable[[TrainRow], None],
) -> float:
    """Measure held-out questions and report where the training is; return how long that took."""
    began = time.monotonic()
    measured = measure_replies(writer, held_out)
    row: TrainRow = {
        "minutes": progress.seconds / 60,
        "step": progress.step,
        "loss": loss,
        "tokens_per_second": progress.tokens / max(progress.trained, 1e-9),
        **measured,
    }
    progress.rows.append(row)
    on_row(row)
    return time.monotonic() - began


def measure_replies(writer: Writer, examples: Sequence[Conversation]) -> Measures:
    """Ask a network and measure its replies.

    Measures how many can be read, how many lose at most 0.01 and 0.05, and the mean loss.
    """
    lost = measure_losses(writer, examples)
    read = [value for value in lost if value < math.inf]
    count = max(len(lost), 1)
    return {
        "asked": len(lost),
        "read": len(read) / count,
        "success": sum(value <= 0.01 for value in lost) / count,
        "near": sum(value <= 0.05 for value in lost) / count,
        "lost": sum(read) / len(read) if read else None,
    }


def measure_losses(writer: Writer, examples: Sequence[Conversation]) -> list[float]:
    """Ask all questions, and return what each reply loses: infinity where it cannot be read."""
    lost: list[float] = []
    for start in range(0, len(examples), _ASKED):
        lost += _measure_together(writer, examples[start : start + _ASKED])
    return lost


def _measure_together(writer: Writer, examples: Sequence[Conversation]) -> list[float]:
    pairs = encode_examples(writer, examples)
    longest = max(len(pair.answer) for pair in pairs) + _ROOM
    replies = writer.continue_prompts([pair.asked for pair in pairs], longest)
    lost: list[float] = []
    for example, tokens in zip(examples, replies, strict=True):
        try:
            score = score_reply(example["task"] or "", writer.tokenizer.decode(tokens))
            lost.append(1 - score)
        except InvalidMove:
            lost.append(math.inf)
    return lost
