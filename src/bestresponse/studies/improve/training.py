"""Train a network on examples: packed batches, Muon and AdamW, checkpoints from which a killed run
goes on.

A batch holds conversations one after the other, each of which sees itself alone; every batch is
filled up to one shape, so that on a GPU the kernels of a step are recorded once and played again.
Only the tokens of answers are scored. Matrices are trained by Muon (Jordan et al., "Muon: an
optimizer for hidden layers in neural networks", 2024), whose steps have equal singular values,
everything else by AdamW.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from bestresponse.core.errors import InvalidMove, StoreError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.models.students.network import (
    Network,
    Parameters,
    attend_causally,
    continue_prompts,
    finish_layer,
    project,
    run_layers,
    score_tokens,
    write_chat,
)
from bestresponse.studies.improve.examples import score_reply
from bestresponse.studies.improve.export import read_manifest

Tokens = NDArray[np.int64]
_IGNORED = -100  # the target that `cross_entropy` leaves out by default
_WORDS = 1024
"""Different tokens of a batch at most."""
_SPARE = 1.06
"""Room of a batch for more conversations and scored tokens than there are on average."""
_POOL = 4096
"""Examples that are read and mixed together."""
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
_ROOM = 50
"""Tokens that a reply may have more than the longest answer."""
_HELD_OUT = 128
"""Questions that are asked on the way, of all folders together."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What batches are filled up to: tokens, of which so many are scored, of so many conversations
    of some length."""

    tokens: int
    scored: int
    conversations: int
    longest: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Conversations in one row of tokens: token t is `words[tokens[t]]`, `starts` are their first
    places and the end.

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

    def to(self, device: str) -> Batch:
        """Return the batch on another device."""
        return self._replace_parts(part.to(device) for part in self.parts)

    def pin_memory(self) -> Batch:
        """Return the batch in memory from which a GPU reads while the processor goes on; loaders
        call this."""
        return self._replace_parts(part.pin_memory() for part in self.parts)

    def _replace_parts(self, parts: Iterable[Tensor]) -> Batch:
        words, tokens, positions, starts, scored, targets = parts
        return Batch(words, tokens, positions, starts, scored, targets, self.longest, self.real)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained. Either `seconds` or `steps` ends it, whatever comes first."""

    seconds: float
    steps: int
    rate: float
    batch_tokens: int
    seed: int
    curriculum: float
    lora: int
    device: str

    @property
    def dtype(self) -> torch.dtype:
        """The numbers in which products are computed."""
        return torch.float32 if self.device == "cpu" else torch.bfloat16


@dataclass
class Progress:
    """How far a training is: so many batches of the pool are behind it; written with every
    checkpoint."""

    step: int = 0
    pool: int = 0
    batch: int = 0
    seconds: float = 0.0
    tokens: int = 0
    rows: list[JsonObject] = field(default_factory=list)


def list_shards(folders: Sequence[Path], split: str) -> list[Path]:
    """List the files of a split; more may come while they are read."""
    return sorted(path for folder in folders for path in folder.glob(f"{split}-*.*"))


def read_shard(path: Path) -> Iterator[JsonObject]:
    """Yield the examples of a file; StoreError where it is damaged."""
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            for row in parquet.read_table(path).to_pylist():
                yield {"messages": row["messages"], "task": json.loads(row["task"])}
            return
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}): remove it and export again") from None


def split_messages(example: JsonObject) -> tuple[str, str]:
    """Return what is asked, up to where the model speaks, and what it should say."""
    *asked, answer = ((message["role"], message["content"]) for message in example["messages"])
    return write_chat(asked), answer[1]


def draw_pools(
    folders: Sequence[Path], seed: int, first: int, reach: Callable[[], float]
) -> Iterator[list[JsonObject]]:
    """Yield pools of examples, for ever, in an order fixed by the seed, from the number `first` on.

    Every pool has something of every folder, in proportion to what is written there, so that
    nothing that was learnt is forgotten again. `reach` says which size is the largest that is
    trained on now (a curriculum); larger games are left out, unless all are larger.
    """
    written = {folder: read_manifest(folder)["counts"]["train"] for folder in folders}
    parts = [
        (
            _draw_examples(folder, np.random.default_rng([seed, number])),
            -(-count * _POOL // sum(written.values())),
        )
        for number, (folder, count) in enumerate(written.items())
        if count
    ]
    if not parts:
        raise UsageError(f"there are no examples to train on in {', '.join(map(str, folders))}")
    for number in itertools.count():
        pool = [example for examples, count in parts for example in islice(examples, count)]
        if number >= first:
            largest = max(reach(), min(map(_size, pool)))
            yield [example for example in pool if _size(example) <= largest]


def _draw_examples(folder: Path, rng: np.random.Generator) -> Iterator[JsonObject]:
    """Yield the examples of a folder, file by file, for ever; more files may come, and those read
    least come first."""
    reads = Counter[Path]()
    while paths := list_shards([folder], "train"):
        least = min(reads[path] for path in paths)
        fresh = [path for path in paths if reads[path] == least]
        path = fresh[int(rng.integers(len(fresh)))]
        reads[path] += 1
        yield from read_shard(path)
    raise UsageError(f"the examples of {folder} are not there yet, or have gone")


def choose_held_out(folders: Sequence[Path], seed: int) -> list[JsonObject]:
    """Return questions of the validation split, about as many of every folder."""
    chosen: list[JsonObject] = []
    for folder in folders:
        examples = [
            example
            for path in list_shards([folder], "validation")[:1]
            for example in read_shard(path)
        ]
        order = np.random.default_rng([seed, 7]).permutation(len(examples))[
            : -(-_HELD_OUT // len(folders))
        ]
        chosen += [examples[k] for k in order]
    return chosen


def _size(example: JsonObject) -> float:
    """The longer side of a matrix game; games played in turn belong to every stage."""
    payoffs = example["task"].get("payoffs")
    return 0.0 if payoffs is None else max(len(payoffs[0]), len(payoffs[0][0]))


def encode_examples(
    network: Network, examples: Sequence[JsonObject]
) -> list[tuple[list[int], list[int]]]:
    """Return the tokens of every question and of its answer."""
    texts = [split_messages(example) for example in examples]
    encode = network.tokenizer.encode_batch_fast
    asked = encode([question for question, _ in texts], add_special_tokens=False)
    answered = encode([answer for _, answer in texts], add_special_tokens=False)
    return [(q.ids, [*a.ids, network.end]) for q, a in zip(asked, answered, strict=True)]


def choose_shape(network: Network, folders: Sequence[Path], tokens: int) -> Shape:
    """Choose what batches are filled up to, so that neither short nor long conversations leave much
    of them empty."""
    pairs = encode_examples(network, next(draw_pools(folders, 0, 0, lambda: math.inf)))
    lengths = [len(asked) + len(answer) for asked, answer in pairs]
    if min(lengths) > tokens:
        raise UsageError(
            f"no example fits into {tokens:,} tokens a step: the shortest has {min(lengths):,}"
        )
    total = sum(lengths)
    answers = [len(answer) for _, answer in pairs]
    return Shape(
        tokens,
        min(tokens, max(int(tokens * sum(answers) / total * _SPARE) + 1, *answers)),
        int(tokens * len(pairs) / total * _SPARE) + 1,
        -(-max(lengths) // _BLOCK) * _BLOCK,
    )


def pack(
    network: Network, pool: Sequence[JsonObject], shape: Shape, rng: np.random.Generator
) -> list[Batch]:
    """Cut a pool into full batches in a random order; what is left over makes a batch only where
    there is no other."""
    pairs = encode_examples(network, pool)
    batches, waiting, words = [], list[tuple[list[int], list[int]]](), set[int]()
    used = scored = 0
    for k in rng.permutation(len(pairs)):
        asked, answer = pairs[k]
        size, new = len(asked) + len(answer), {*asked, *answer}
        if size > shape.tokens or len(answer) > shape.scored or len(new) >= _WORDS:
            continue
        full = used + size > shape.tokens or scored + len(answer) > shape.scored
        if full or len(words | new) >= _WORDS or len(waiting) == shape.conversations:
            batches.append(_fill(waiting, shape))
            waiting, words, used, scored = [], set(), 0, 0
        waiting.append((asked, answer))
        words |= new
        used, scored = used + size, scored + len(answer)
    return batches or [_fill(waiting, shape)] if waiting else batches


def _fill(pairs: Sequence[tuple[list[int], list[int]]], shape: Shape) -> Batch:
    tokens, positions = np.zeros((2, shape.tokens), np.int64)
    scored = np.zeros(shape.scored, np.int64)
    targets = np.full(shape.scored, _IGNORED, np.int64)
    # After the last conversation come some that fill up the tokens, none of them longer than
    # kernels expect, and then empty ones.
    starts = np.full(
        shape.conversations + -(-shape.tokens // shape.longest) + 1, shape.tokens, np.int32
    )
    starts[0] = start = first = 0
    longest = 1
    for number, (asked, answer) in enumerate(pairs, 1):
        middle, end = start + len(asked), start + len(asked) + len(answer)
        tokens[start:end] = asked + answer
        positions[start:end] = np.arange(end - start)
        scored[first : first + len(answer)] = np.arange(middle - 1, end - 1)
        targets[first : first + len(answer)] = answer
        longest = max(longest, end - start)
        starts[number] = start = end
        first += len(answer)
    filled = np.arange(start + shape.longest, shape.tokens, shape.longest)
    starts[len(pairs) + 1 : len(pairs) + 1 + len(filled)] = filled
    words, indices = np.unique(tokens, return_inverse=True)
    return Batch(
        torch.from_numpy(np.pad(words, (0, _WORDS - len(words)))),
        torch.from_numpy(indices.reshape(-1)),
        torch.from_numpy(positions),
        torch.from_numpy(starts),
        torch.from_numpy(scored),
        torch.from_numpy(targets),
        max(longest, shape.longest),
        start,
    )


class Trainer:
    """The moving parts of a training: parameters, what the optimizers remember, and how far it
    is."""

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
        self.factors = _make_factors(self.network, recipe)
        trained = self.factors or self.parameters
        for value in self.parameters.values() if self.factors else ():
            value.requires_grad_(False)
        self.matrices = {
            name: value for name, value in trained.items() if name in network.sizes.sections
        }
        self.momenta = {name: torch.zeros_like(value) for name, value in self.matrices.items()}
        rest = [value for name, value in trained.items() if name not in self.matrices]
        self.adam = torch.optim.AdamW(rest, lr=recipe.rate, betas=_ADAM_BETAS, weight_decay=0.0)
        self.trained = list(trained.values())
        self.steps: tuple[Any, Any] = (project, finish_layer)
        self.score: Callable[..., Tensor] = _score_answers
        if recipe.device == "cuda":
            self.steps = tuple(
                torch.compile(step, dynamic=False)
                for step in (_project_for_all_heads, finish_layer)
            )
            self.score = torch.compile(_score_answers, dynamic=False)
        self.recorded: _Recorded | None = None
        self.progress = Progress()

    def current(self) -> Parameters:
        """Return the parameters as they are used: in half precision on a GPU, with low-rank changes
        added."""
        now = {
            name: value.to(self.recipe.dtype)
            for name, value in self.parameters.items()
            if "norm" not in name
        }
        now |= {name: value for name, value in self.parameters.items() if "norm" in name}
        for name in self.network.sizes.sections if self.factors else ():
            change = self.factors[f"{name}.up"] @ self.factors[f"{name}.down"]
            now[name] = now[name] + change.to(self.recipe.dtype)
        return now

    def compute_loss(self, batch: Batch) -> Tensor:
        """Return the mean loss of the tokens of answers of a batch on the device."""
        now = self.current()
        # As a product, since adding up the gradients of a few words that come thousands of times is
        # slow.
        one_hot = batch.tokens[:, None] == torch.arange(len(batch.words), device=self.recipe.device)
        x = one_hot.to(self.recipe.dtype) @ now["embedding"][batch.words]

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return _attend_apart(q, k, v, batch)

        states = run_layers(self.network.sizes, now, x, batch.positions, attend, self.steps)
        return self.score(states.index_select(0, batch.scored), now["embedding"], batch.targets)

    def find_gradients(self, batch: Batch) -> Tensor:
        """Compute the gradients of the loss of a batch on the device, and return the loss."""
        for value in self.trained:
            value.grad = None
        loss = self.compute_loss(batch)
        loss.backward()
        return loss.detach()

    def step(self, batch: Batch, rate: float) -> Tensor:
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
                gradient, momentum = value.grad, self.momenta[name]
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
            "factors": self.factors,
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
        state: Any = torch.load(path, map_location=self.recipe.device, weights_only=True)
        with torch.no_grad():
            for mine, kept in (
                (self.parameters, "parameters"),
                (self.factors, "factors"),
                (self.momenta, "momenta"),
            ):
                for name, value in mine.items():
                    value.copy_(state[kept][name])
        self.adam.load_state_dict(state["adam"])
        self.progress = Progress(**state["progress"])

    def finish(self) -> Network:
        """Return the trained network."""
        trained = self.current() if self.factors else self.parameters
        merged = {name: value.detach().float() for name, value in trained.items()}
        return Network(self.network.sizes, merged, self.network.tokenizer)


class _Recorded:
    """The kernels that find gradients, recorded for batches of one shape: to order them one by one
    takes longer."""

    def __init__(self, trainer: Trainer, batch: Batch) -> None:
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

    def play(self, batch: Batch) -> Tensor:
        """Find the gradients of another batch, and return its loss."""
        for mine, part in zip(self.batch.parts, batch.parts, strict=True):
            mine.copy_(part, non_blocking=True)
        self.graph.replay()
        for value, gradient in self.gradients:
            value.grad = gradient
        return self.loss.clone()


def _attend_apart(q: Tensor, k: Tensor, v: Tensor, batch: Batch) -> Tensor:
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
        q, k, v, starts, starts, batch.longest, batch.longest, window_size=before
    ).flatten(1)


def _project_for_all_heads(*arguments: Any) -> tuple[Tensor, ...]:
    """Return as many keys and values as queries, as the attention of conversations of unequal
    length needs them."""
    q, k, v = project(*arguments)
    return q, *(part.repeat_interleave(q.shape[-2] // part.shape[-2], -2) for part in (k, v))


def _score_answers(states: Tensor, embedding: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(score_tokens(states, embedding), targets, ignore_index=_IGNORED)


def _make_factors(network: Network, recipe: Recipe) -> Parameters:
    """Make the low-rank changes of all matrices (LoRA, Hu et al. 2021), which begin as nothing."""
    factors: Parameters = {}
    if recipe.lora:
        rng = torch.Generator().manual_seed(recipe.seed)
        for name in network.sizes.sections:
            layers, rows, columns = network.parameters[name].shape
            down = torch.randn((layers, recipe.lora, columns), generator=rng) / math.sqrt(columns)
            factors[f"{name}.down"] = down.to(recipe.device).requires_grad_()
            factors[f"{name}.up"] = torch.zeros(
                (layers, rows, recipe.lora), device=recipe.device
            ).requires_grad_()
    return factors


def orthogonalise(matrices: Tensor, dtype: torch.dtype) -> Tensor:
    """Return matrices (N, rows, columns) with about the same singular vectors, and singular values
    near 1."""
    wide = matrices.to(dtype)
    tall = wide.shape[-2] > wide.shape[-1]
    wide = wide.mT if tall else wide
    wide = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for a, b, c in _NEWTON_SCHULZ:
        square = wide @ wide.mT
        wide = torch.baddbmm(
            wide, torch.baddbmm(square, square, square, beta=b, alpha=c), wide, beta=a
        )
    return wide.mT if tall else wide


def train(
    trainer: Trainer,
    folders: Sequence[Path],
    checkpoint: Path,
    on_row: Callable[[JsonObject], None],
) -> None:
    """Train until time or steps are spent; ten times on the way, measure, report a row and keep a
    checkpoint."""
    recipe, progress = trainer.recipe, trainer.progress
    every = max(30.0, recipe.seconds / 10)
    held_out = choose_held_out(folders, recipe.seed)
    losses = list[Tensor]()
    if not progress.step:
        _report(trainer, held_out, losses, on_row)
    largest = max(map(_size, held_out), default=0.0)
    batches = Batches(trainer, folders, largest)
    began = time.monotonic() - progress.seconds

    def share() -> float:
        spent = (time.monotonic() - began) / recipe.seconds if recipe.seconds else 0.0
        return max(spent, progress.step / recipe.steps if recipe.steps else 0.0)

    batches.spent.fill_(share())
    for number, batch in batches.load():
        spent = share()
        batches.spent.fill_(spent)
        if spent >= 1:
            break
        if number != progress.pool:
            progress.pool, progress.batch = number, 0
        if time.monotonic() - began - progress.seconds >= every:
            progress.seconds = time.monotonic() - began
            _report(trainer, held_out, losses, on_row)
            began = time.monotonic() - progress.seconds  # measuring is not training
            trainer.save(checkpoint)
            losses = []
        warm = min(1.0, (progress.step + 1) / _WARM_UP)
        losses.append(trainer.step(batch, recipe.rate * warm * max(1 - spent, _LEAST_RATE)))
        progress.step += 1
        progress.batch += 1
        progress.tokens += batch.real
        if progress.step % 50 == 0 and recipe.device == "cuda":
            # otherwise steps are only ordered, and the clock runs ahead of them
            torch.cuda.synchronize()
    if losses:  # a training that was over before is not measured again
        progress.seconds = time.monotonic() - began
        _report(trainer, held_out, losses, on_row)
        trainer.save(checkpoint)


class Batches(IterableDataset[tuple[int, Batch]]):  # type: ignore[misc, unused-ignore]
    """Batches for ever, each with the number of its pool; `spent` is the share of the training that
    is over."""

    def __init__(self, trainer: Trainer, folders: Sequence[Path], largest: float) -> None:
        network = trainer.network
        self.network = Network(
            network.sizes, {}, network.tokenizer
        )  # parameters stay where they are trained
        self.recipe, self.folders, self.largest = trainer.recipe, folders, largest
        self.first, self.skipped = trainer.progress.pool, trainer.progress.batch
        self.shape = choose_shape(network, folders, self.recipe.batch_tokens)
        self.spent = torch.zeros(1).share_memory_()

    def reach(self) -> float:
        """Return the largest size that is trained on now."""
        growth = self.recipe.curriculum
        spent = float(self.spent)
        return 2 + spent / growth * (self.largest + 2) if spent < growth else math.inf

    def __iter__(self) -> Iterator[tuple[int, Batch]]:
        pools = draw_pools(self.folders, self.recipe.seed, self.first, self.reach)
        for number, pool in enumerate(pools, self.first):
            rng = np.random.default_rng([self.recipe.seed, number])
            batches = pack(self.network, pool, self.shape, rng)
            for batch in batches[self.skipped if number == self.first else 0 :]:
                yield number, batch

    def load(self) -> DataLoader[tuple[int, Batch]]:
        """Return a loader; beside a GPU another process makes batches, so that this one only orders
        the work."""
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


def _report(
    trainer: Trainer,
    held_out: Sequence[JsonObject],
    losses: Sequence[Tensor],
    on_row: Callable[[JsonObject], None],
) -> None:
    """Measure held-out questions and report where the training is."""
    progress = trainer.progress
    measured = measure_replies(trainer.finish(), held_out, trainer.recipe)
    row: JsonObject = {
        "minutes": progress.seconds / 60,
        "step": progress.step,
        "loss": float(torch.stack(list(losses)).mean()) if losses else None,
        "tokens_per_second": progress.tokens / max(progress.seconds, 1e-9),
        **measured,
    }
    progress.rows.append(row)
    on_row(row)


def measure_replies(network: Network, examples: Sequence[JsonObject], recipe: Recipe) -> JsonObject:
    """Ask a network and measure its replies: how many can be read, lose at most 0.01 and 0.05, and
    lose on average."""
    asked = network.to(recipe.device, recipe.dtype)
    lost: list[float] = []
    for start in range(0, len(examples), 256):
        part = examples[start : start + 256]
        pairs = encode_examples(network, part)
        longest = max(len(answer) for _, answer in pairs) + _ROOM
        for example, tokens in zip(
            part, continue_prompts(asked, [tokens for tokens, _ in pairs], longest), strict=True
        ):
            try:
                lost.append(1 - score_reply(example["task"], network.tokenizer.decode(tokens)))
            except InvalidMove:
                lost.append(math.inf)
    read = [value for value in lost if value < math.inf]
    count = max(len(lost), 1)
    return {
        "asked": len(lost),
        "read": len(read) / count,
        "success": sum(value <= 0.01 for value in lost) / count,
        "near": sum(value <= 0.05 for value in lost) / count,
        "lost": sum(read) / len(read) if read else None,
    }
