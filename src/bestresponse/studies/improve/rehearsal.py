"""What a model says before it is trained, so that a training can keep it so.

A training on games alone destroys everything else: 71.7 % right answers to general questions became
38.3 %, and the perplexity of prose 660,526. So the base is first asked to chat, to answer and to
write prose from the bundled beginnings of `rehearsal.toml`. A share of every step then consists of
these texts, on which the student is held to the probabilities of the base by their divergence (Li
and Hoiem, "Learning without Forgetting", 2016, with texts of the base instead of data).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bestresponse.core.files import read_toml
from bestresponse.models.students.causal import Causal
from bestresponse.studies.improve.batches import Tokens

LENGTH = 256
"""Tokens of a row of texts."""
_NARROWEST = 16
"""Tokens of a row at least: a shorter one is no text."""
_WRITTEN = 192
"""Tokens that the base writes after a beginning at most."""
_MOST = 4_000_000  # tokens of texts, more than a training reads several times
_TIMES = 8
"""How often a training reads each text, where its steps are counted."""
_OF_TIME = 0.05
"""Share of the time of a training that goes into writing, where only the clock ends it."""
_TEMPERATURE = 0.8  # at 1 the texts of a small model are no language any more after 100 tokens
_TOGETHER = {"cuda": 2048, "mps": 32, "cpu": 8}
"""How many texts are written at once, by device."""


@cache
def read_beginnings() -> tuple[tuple[str, str], ...]:
    """Return what the base is asked to go on with: its kind and its text."""
    written = read_toml(Path(__file__).with_name("rehearsal.toml"))
    return tuple((kind, text) for kind, texts in written.items() for text in texts)


def encode_beginnings(base: Causal) -> list[list[int]]:
    """Return the beginnings as tokens: chats in the chat format, everything else as it is."""
    encoded: list[list[int]] = []
    for kind, text in read_beginnings():
        written = base.write_chat([("user", text)]) if kind == "chats" else text
        encoded.append(base.encode(written)[-LENGTH // 2 :])
    return [tokens for tokens in encoded if tokens]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many tokens of texts are written, or for how many seconds."""

    tokens: int
    seconds: float | None

    @classmethod
    def choose(cls, share: float, seconds: float, steps: int, batch_tokens: int) -> Wanted:
        """Choose as many as a training needs: by its steps, or else by its time."""
        if steps:
            return cls(min(_MOST, int(share * steps * batch_tokens / _TIMES) + 1), None)
        return cls(_MOST, seconds * _OF_TIME)


def write_texts(base: Causal, wanted: Wanted, seed: int) -> Tokens:
    """Let the base write, and return its texts one after the other.

    Whatever was written together is kept, also where it took longer than there was time.
    """
    stream: list[int] = []
    began = time.monotonic()
    for texts in _write_for_ever(base, seed):
        for text in texts:
            stream += text
        late = wanted.seconds is not None and time.monotonic() - began > wanted.seconds
        if len(stream) >= LENGTH and (late or len(stream) >= wanted.tokens):
            break
    return np.array(stream, np.int64)


def _write_for_ever(base: Causal, seed: int) -> Iterator[list[list[int]]]:
    """Yield texts that the base wrote together; where memory runs out, fewer are."""
    device = base.model.device
    drawn = torch.Generator(device).manual_seed(seed)
    beginnings = encode_beginnings(base)
    if not beginnings:  # a tokenizer that does not know these words
        return
    rng = np.random.default_rng(seed)
    together = _TOGETHER[device.type]

    def choose(scores: Tensor) -> Tensor:
        chances = (scores.float() / _TEMPERATURE).softmax(-1)
        return torch.multinomial(chances, 1, generator=drawn)[:, 0]

    while True:
        chosen = [beginnings[k] for k in rng.integers(len(beginnings), size=together)]
        try:
            written = base.continue_prompts(chosen, _WRITTEN, choose)
        except torch.OutOfMemoryError:
            if together == 1:
                raise
            torch.cuda.empty_cache()
            together //= 2
            continue
        yield [
            [*beginning, *reply, base.end] for beginning, reply in zip(chosen, written, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Texts of the base in rows of equal length, of which every batch has some."""

    texts: Tokens
    rows: int

    @classmethod
    def make(cls, stream: Tokens, share: int, positions: int) -> Rehearsal:
        """Cut texts into rows that together have `share` tokens in every batch."""
        rows = -(-share // LENGTH)
        width = min(LENGTH, positions, share // max(rows, 1))
        if width < _NARROWEST or len(stream) < width:
            return cls(np.zeros((0, 0), np.int64), 0)
        count = len(stream) // width
        return cls(stream[: count * width].reshape(count, width), rows)

    def draw(self, rng: np.random.Generator) -> Tokens:
        """Return the rows of a batch."""
        if not self.rows:
            return self.texts
        return self.texts[rng.integers(len(self.texts), size=self.rows)]
