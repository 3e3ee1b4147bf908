"""Weights of a GGUF file as a folder of `transformers`, which reads them.

Such a file names the way in which texts are cut into tokens and does not hold it: tokenizers are
read only where it is one that is known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader, TokenType
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from bestresponse.core.errors import ModelUnavailable
from bestresponse.models.students.causal import END

_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How the tokenizer of Qwen2 cuts a text before byte pairs are joined."""
_CUTS = ("smollm", "qwen2")
"""Ways in which texts are cut, as llama.cpp names them: every digit alone, or as Qwen2 does."""


def convert_gguf(path: Path, folder: Path) -> None:
    """Write a GGUF file as a folder of `transformers`; quantised matrices are written out."""
    try:
        fields = {name: field.contents() for name, field in GGUFReader(path).fields.items()}
        family = fields["general.architecture"]
        scaling = fields.get(f"{family}.rope.scaling.type", "none")
        tokenizer = _read_tokenizer(fields)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise ModelUnavailable(f"{path} is no GGUF file that can be read: {error}") from None
    if scaling != "none":
        raise ModelUnavailable(
            f"{path} has scaled positions ({scaling}), which are lost where it is read: take the"
            " model as a folder"
        )
    try:
        with redirect_stderr(StringIO()):  # it shows its progress whatever it is told
            model = AutoModelForCausalLM.from_pretrained(
                path.parent, gguf_file=path.name, dtype=torch.float32, local_files_only=True
            )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        first = str(error).partition("\n")[0]
        raise ModelUnavailable(f"`transformers` cannot read {path}: {first}") from None
    config = model.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # What was read says that it is quantised, and is refused where it is saved: its numbers are
    # written out all the same.
    written = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    written.load_state_dict(model.state_dict())
    written.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=END,
        chat_template=fields.get("tokenizer.chat_template"),
    ).save_pretrained(folder)


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The tokens of a tokenizer in order, which of them are control tokens, and what is joined."""

    tokens: list[str]
    control: frozenset[str]
    merges: list[str]

    def build(self, cut: str) -> Tokenizer:
        """Build a tokenizer of byte pairs that cuts texts in a way llama.cpp has a name for."""
        parted = (merge.partition(" ") for merge in self.merges)
        merges = [(first, second) for first, _, second in parted]
        numbers = {token: number for number, token in enumerate(self.tokens)}
        tokenizer = Tokenizer(models.BPE(numbers, merges))
        if cut == "qwen2":
            tokenizer.normalizer = normalizers.NFC()
            steps: list[pre_tokenizers.PreTokenizer] = [
                pre_tokenizers.Split(Regex(_QWEN2), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        else:
            steps = [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.add_special_tokens([token for token in self.tokens if token in self.control])
        return tokenizer


def _read_tokenizer(fields: Mapping[str, Any]) -> Tokenizer:
    cut = fields.get("tokenizer.ggml.pre", _CUTS[0])
    if fields["tokenizer.ggml.model"] != "gpt2" or cut not in _CUTS:  # byte pairs
        raise ValueError(f"it cuts texts as {cut!r} does; known are {' and '.join(_CUTS)}")
    tokens = fields["tokenizer.ggml.tokens"]
    kinds = fields["tokenizer.ggml.token_type"]
    control = {
        token for token, kind in zip(tokens, kinds, strict=True) if kind == TokenType.CONTROL
    }
    return _Vocabulary(tokens, frozenset(control), fields["tokenizer.ggml.merges"]).build(cut)
