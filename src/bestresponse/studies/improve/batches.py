"""From conversations to batches: what is asked and learnt as tokens, cut into rows of equal size.

A model that computes conversations apart in one row (`students.flat`) gets one row of tokens per
batch, filled up to one shape, so that its layers are compiled once. Any other gets conversations of
about equal length one below the other. In both, only the tokens of answers are scored. At the end
of every batch stand texts of the base (`improve.rehearsal`), on which the model is kept as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import DataLoader, IterableDataset

from bestresponse.core.errors import UsageError
from bestresponse.models.students.causal import Chat
from bestresponse.studies.improve.data import Data, draw_pools
from bestresponse.studies.improve.rows import Conversation

Tokens = NDArray[np.int64]
IGNORED = -100  # the target that `cross_entropy` leaves out by default
_SPARE = 1.06
"""Room of a batch for more conversations and scored tokens than there are on average."""
_BLOCK = 128
"""Tokens that an attention kernel takes together."""
_LONGER = 2
"""How many times the longest conversation of the first pool another may have."""
_AHEAD = 16  # batches that are packed before they are wanted: the GPU does not wait for them


class Encoded(NamedTuple):
    """The tokens of a question and of its answer."""

    asked: list[int]
    answer: list[int]

    @property
    def size(self) -> int:
        """The tokens of both together."""
        return len(self.asked) + len(self.answer)


def split_messages(chat: Chat, example: Conversation) -> tuple[str, str]:
    """Return what is asked, up to where the model speaks, and what it should say."""
    *asked, answer = ((message["role"], message["content"]) for message in example["messages"])
    return chat.write_chat(asked), answer[1]


def encode_examples(chat: Chat, examples: Sequence[Conversation]) -> list[Encoded]:
    """Return the tokens of every question and of its answer."""
    texts = [split_messages(chat, example) for example in examples]
    encode = chat.tokenizer.encode_batch_fast
    asked = encode([question for question, _ in texts], add_special_tokens=False)
    answered = encode([answer for _, answer in texts], add_special_tokens=False)
    return [
        Encoded(question.ids, [*answer.ids, chat.end])
        for question, answer in zip(asked, answered, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of batches.

    It counts tokens, how many of them are scored, conversations, and the tokens of one of them at
    most. Without `flat`, conversations stand one below the other.
    """

    tokens: int
    scored: int
    conversations: int
    longest: int
    flat: bool


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Tokens (rows, length) and their positions in their conversations.

    `starts` holds the first places of conversations in one row, and the end. After the tokens at
    the places `scored`, counted through all rows, come `targets`. `kept` holds texts of the base,
    which are in the batch at the places `kept_at`, but for the last token of each.

    It is one of many: number `number` of the pool `pool`, with `real` tokens of conversations.
    """

    tokens: Any
    positions: Any
    starts: Any
    longest: int
    scored: Any
    targets: Any
    kept: Any
    kept_at: Any
    real: int
    pool: int = 0
    number: int = 0

    def to_json(self) -> Mapping[str, Any]:
        """Return everything by name, as loaders and `transformers` take it."""
        return {name: getattr(self, name) for name in self.__slots__}


def choose_shape(chat: Chat, data: Data, tokens: int, *, flat: bool) -> Shape:
    """Choose the shape of batches with so many tokens.

    Neither short nor long conversations should leave much of them empty.
    """
    limit = min(tokens, chat.positions)
    pairs = encode_examples(chat, next(draw_pools(data, 0, 0)))
    fitting = [pair for pair in pairs if pair.size <= limit]
    if not fitting:
        raise UsageError(
            f"no example fits into {limit:,} tokens: the shortest has"
            f" {min(pair.size for pair in pairs):,}"
        )
    lengths = [pair.size for pair in fitting]
    total = sum(lengths)
    answers = [len(pair.answer) for pair in fitting]
    if not flat:
        return Shape(tokens, tokens, tokens, limit, flat)
    return Shape(
        tokens,
        min(tokens, max(int(tokens * sum(answers) / total * _SPARE) + 1, *answers)),
        int(tokens * len(fitting) / total * _SPARE) + 1,
        min(limit, -(-_LONGER * max(lengths) // _BLOCK) * _BLOCK),
        flat,
    )


def pack(pairs: Sequence[Encoded], shape: Shape, rng: np.random.Generator) -> list[list[Encoded]]:
    """Cut a pool into full batches in a random order.

    What is left over makes a batch only where there is no other.
    """
    order = [pairs[k] for k in rng.permutation(len(pairs))]
    if not shape.flat:  # those of about equal length come together, so that little is filled up
        order.sort(key=lambda pair: pair.size)
    groups: list[list[Encoded]] = []
    waiting: list[Encoded] = []
    used = scored = 0
    for pair in order:
        if pair.size > min(shape.longest, shape.tokens) or len(pair.answer) > shape.scored:
            continue
        # In order of length the newest is the longest, and all are filled up to it.
        taken = used + pair.size if shape.flat else pair.size * (len(waiting) + 1)
        is_full = taken > shape.tokens or scored + len(pair.answer) > shape.scored
        if is_full or len(waiting) == shape.conversations:
            groups.append(waiting)
            waiting = []
            used = 0
            scored = 0
        waiting.append(pair)
        used += pair.size
        scored += len(pair.answer)
    if waiting and not groups:
        return [waiting]
    if not shape.flat:
        groups = [groups[k] for k in rng.permutation(len(groups))]
    return groups


def fill(group: Sequence[Encoded], shape: Shape, kept: Tokens) -> TokenBatch:
    """Make a batch of conversations and of texts of the base (rows, length)."""
    make = _fill_row if shape.flat else _fill_rows
    return make(group, shape, kept)


def _fill_row(group: Sequence[Encoded], shape: Shape, kept: Tokens) -> TokenBatch:
    length = shape.tokens + kept.size
    tokens, positions = np.zeros((2, 1, length), np.int64)
    scored = np.zeros(shape.scored, np.int64)
    targets = np.full(shape.scored, IGNORED, np.int64)
    sizes = [pair.size for pair in group]
    start = first = 0
    for pair in group:
        last = first + len(pair.answer)
        end = start + pair.size
        tokens[0, start:end] = pair.asked + pair.answer
        positions[0, start:end] = np.arange(pair.size)
        scored[first:last] = np.arange(end - len(pair.answer), end) - 1
        targets[first:last] = pair.answer
        start, first = end, last
    # What is left is filled up by conversations that no kernel finds too long.
    left = shape.tokens - start
    sizes += [shape.longest] * (left // shape.longest) + [left % shape.longest]
    sizes += [0] * (shape.conversations + -(-shape.tokens // shape.longest) + 1 - len(sizes))
    rows, width = kept.shape
    tokens[0, shape.tokens :] = kept.reshape(-1)
    positions[0, shape.tokens :] = np.tile(np.arange(width), rows)
    places = shape.tokens + np.arange(kept.size).reshape(kept.shape)
    return TokenBatch(
        tokens,
        positions,
        starts=np.array([0, *accumulate([*sizes, *[width] * rows])], np.int32),
        longest=max(shape.longest, width),
        scored=scored,
        targets=targets,
        kept=kept,
        kept_at=places[:, :-1].reshape(-1),
        real=start,
    )


def _fill_rows(group: Sequence[Encoded], shape: Shape, kept: Tokens) -> TokenBatch:
    rows, width = kept.shape
    length = max([pair.size for pair in group] + [width] * bool(rows))
    tokens = np.zeros((len(group) + rows, length), np.int64)
    tokens[len(group) :, :width] = kept
    scored: list[int] = []
    targets: list[int] = []
    for k, pair in enumerate(group):
        tokens[k, : pair.size] = pair.asked + pair.answer
        end = k * length + pair.size - 1
        scored += range(end - len(pair.answer), end)
        targets += pair.answer
    places = np.arange(tokens.size).reshape(tokens.shape)[len(group) :, :width]
    return TokenBatch(
        tokens,
        np.tile(np.arange(length), (len(tokens), 1)),
        starts=np.zeros(0, np.int32),
        longest=length,
        scored=np.array(scored, np.int64),
        targets=np.array(targets, np.int64),
        kept=kept,
        kept_at=places[:, :-1].reshape(-1),
        real=sum(pair.size for pair in group),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the data a training is: so many batches of a pool are behind it."""

    pool: int = 0
    batch: int = 0


class Batches(IterableDataset[Mapping[str, Any]]):  # type: ignore[misc, unused-ignore]
    """Batches for ever, from a place on."""

    def __init__(
        self,
        chat: Chat,
        data: Data,
        shape: Shape,
        seed: int,
        kept: Callable[[np.random.Generator], Tokens],
        place: Place,
    ) -> None:
        self.chat = chat
        self.data = data
        self.shape = shape
        self.seed = seed
        self.kept = kept
        self.place = place

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        first = self.place.pool
        for pool, examples in enumerate(draw_pools(self.data, self.seed, first), first):
            pairs = encode_examples(self.chat, examples)
            groups = pack(pairs, self.shape, np.random.default_rng([self.seed, pool]))
            done = self.place.batch if pool == first else 0
            for number, group in enumerate(groups[done:], done + 1):
                rng = np.random.default_rng([self.seed, pool, number])
                batch = fill(group, self.shape, self.kept(rng))
                yield {**batch.to_json(), "pool": pool, "number": number}

    def load(self, device: str) -> DataLoader[Mapping[str, Any]]:
        """Return a loader of batches.

        With a GPU, another process makes the batches, so that this one only orders the work.
        """
        if device == "cpu":
            return DataLoader(self, batch_size=None)
        # To copy from memory that is not pinned, CUDA waits until everything ordered before is
        # done.
        return DataLoader(
            self,
            batch_size=None,
            num_workers=1,
            prefetch_factor=_AHEAD,
            multiprocessing_context="spawn",
            pin_memory=device == "cuda",
        )
