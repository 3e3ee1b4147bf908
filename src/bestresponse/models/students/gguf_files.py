"""Networks of the Llama and Qwen2 families in GGUF files, as llama.cpp reads them.

Matrices are written in bfloat16, which is what a student's folder holds, so that nothing is
rounded. A tokenizer is written only where the one that is read back from the file cuts texts in the
same way: a GGUF file names the way in which texts are cut and does not hold it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, TokenType, dequantize
from gguf.quants import quantize
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor

from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.models.students.network import (
    CHAT_TEMPLATE,
    END,
    Architecture,
    Network,
    Parameters,
    read_folder,
)

_FAMILIES = ("llama", "qwen2")
_HALVES = 2  # rotary embeddings turn the first half of a head's numbers against the second
_POSITIONS = 2048  # where a file does not say
_PARTS = {
    "attention_norm": ("attn_norm.weight",),
    "feed_norm": ("ffn_norm.weight",),
    "qkv": ("attn_q.weight", "attn_k.weight", "attn_v.weight"),
    "out": ("attn_output.weight",),
    "gate_up": ("ffn_gate.weight", "ffn_up.weight"),
    "down": ("ffn_down.weight",),
}
"""The names of every parameter's parts in a layer."""
_BIASES = {"qkv_bias": ("attn_q.bias", "attn_k.bias", "attn_v.bias")}
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How the tokenizer of Qwen2 cuts a text before byte pairs are joined."""
_PROBE = (
    "Your possible actions: A, B.\n\n  The payoffs are -12.75, 0 and 1,000 %; they don't add up!"
    '\nANSWER: A: 0.333, B: 0.667\t{"claims": [1, 2]} Größe 3² \u6e38\u620f \U0001f3b2'
)
"""A text by which two tokenizers are compared."""


def read_gguf(path: Path) -> Network:
    """Read a GGUF file of the Llama or Qwen2 family; its quantised matrices are written out."""
    reader = GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    sizes = _read_sizes(path, fields)
    values = {}
    for tensor in reader.tensors:
        numbers = dequantize(tensor.data, tensor.tensor_type)
        values[tensor.name] = torch.from_numpy(np.array(numbers, np.float32))
    if "output.weight" not in values:
        tied = True
    else:
        tied = torch.equal(values["output.weight"], values["token_embd.weight"])
    sizes = replace(sizes, tied=tied)
    parameters: Parameters = {
        "embedding": values["token_embd.weight"],
        "norm": values["output_norm.weight"],
    }
    if not tied:
        parameters["head"] = values["output.weight"]
    for name, parts in _list_parts(sizes).items():
        layers = range(sizes.layers)
        parameters[name] = torch.stack([_join(values, layer, parts, sizes) for layer in layers])
    return Network(sizes, parameters, _read_tokenizer(path, fields))


def _read_sizes(path: Path, fields: Mapping[str, Any]) -> Architecture:
    kind = fields["general.architecture"]
    if kind not in _FAMILIES:
        raise ModelUnavailable(
            f"{path} is a model of the family {kind}; supported are {' and '.join(_FAMILIES)}"
        )
    if fields.get(f"{kind}.rope.scaling.type", "none") != "none":
        raise ModelUnavailable(f"{path} has scaled positions; such networks cannot be trained")
    return Architecture(
        layers=fields[f"{kind}.block_count"],
        width=fields[f"{kind}.embedding_length"],
        heads=fields[f"{kind}.attention.head_count"],
        key_heads=fields[f"{kind}.attention.head_count_kv"],
        hidden=fields[f"{kind}.feed_forward_length"],
        vocabulary=len(fields["tokenizer.ggml.tokens"]),
        rope_base=fields.get(f"{kind}.rope.freq_base", 10_000.0),
        epsilon=fields[f"{kind}.attention.layer_norm_rms_epsilon"],
        family=kind,
        positions=fields.get(f"{kind}.context_length", _POSITIONS),
    )


def _list_parts(sizes: Architecture) -> dict[str, tuple[str, ...]]:
    return _PARTS | _BIASES if sizes.family == "qwen2" else _PARTS


def _join(
    values: Mapping[str, Tensor],
    layer: int,
    parts: Sequence[str],
    sizes: Architecture,
) -> Tensor:
    """Join the parts of a parameter of a layer."""
    found: list[Tensor] = []
    for part in parts:
        value = values[f"blk.{layer}.{part}"]
        found.append(_part_halves(value, sizes) if _is_interleaved(part, sizes) else value)
    return torch.cat(found)


def _is_interleaved(part: str, sizes: Architecture) -> bool:
    """Say whether llama.cpp interleaves the two halves of every head.

    It does so for a Llama's queries and keys.
    """
    return sizes.family == "llama" and part in ("attn_q.weight", "attn_k.weight")


def _part_halves(matrix: Tensor, sizes: Architecture) -> Tensor:
    heads = matrix.reshape(-1, sizes.head // _HALVES, _HALVES, matrix.shape[-1])
    return heads.swapaxes(1, 2).reshape(matrix.shape)


def _interleave(matrix: Tensor, sizes: Architecture) -> Tensor:
    heads = matrix.reshape(-1, _HALVES, sizes.head // _HALVES, matrix.shape[-1])
    return heads.swapaxes(1, 2).reshape(matrix.shape)


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


_CUTS = ("smollm", "qwen2")
"""Ways in which texts are cut, as llama.cpp names them: every digit alone, or as Qwen2 does."""


def _read_tokenizer(path: Path, fields: Mapping[str, Any]) -> Tokenizer:
    cut = fields.get("tokenizer.ggml.pre", _CUTS[0])
    if cut not in _CUTS:
        raise ModelUnavailable(
            f"{path} cuts texts as {cut!r} does; supported are {' and '.join(_CUTS)}"
        )
    tokens = fields["tokenizer.ggml.tokens"]
    kinds = fields["tokenizer.ggml.token_type"]
    control = {
        token for token, kind in zip(tokens, kinds, strict=True) if kind == TokenType.CONTROL
    }
    return _Vocabulary(tokens, frozenset(control), fields["tokenizer.ggml.merges"]).build(cut)


def convert_folder(folder: Path, path: Path) -> None:
    """Write the student in a folder as a GGUF file."""
    write_gguf(read_folder(folder), path)


def write_gguf(network: Network, path: Path) -> None:
    """Write a network as a GGUF file, which is not there yet.

    Raises:
        UsageError: the tokenizer cannot be written so that a reader cuts texts in the same way.
    """
    sizes = network.sizes
    vocabulary = _list_vocabulary(network)
    cut = _find_cut(network.tokenizer, vocabulary)
    waiting = path.with_name(f".{path.name}")
    writer = GGUFWriter(waiting, sizes.family)
    writer.add_name(path.stem)
    writer.add_block_count(sizes.layers)
    writer.add_context_length(sizes.positions)
    writer.add_embedding_length(sizes.width)
    writer.add_feed_forward_length(sizes.hidden)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.key_heads)
    writer.add_rope_dimension_count(sizes.head)
    writer.add_rope_freq_base(sizes.rope_base)
    writer.add_layer_norm_rms_eps(sizes.epsilon)
    writer.add_vocab_size(sizes.vocabulary)
    writer.add_tokenizer_model("gpt2")  # byte pairs
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(vocabulary.tokens)
    types = []
    for token in vocabulary.tokens:
        is_control = token in vocabulary.control
        types.append(TokenType.CONTROL if is_control else TokenType.NORMAL)
    writer.add_token_types(types)
    writer.add_token_merges(vocabulary.merges)
    writer.add_eos_token_id(network.end)
    writer.add_pad_token_id(network.end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)
    for name, value in _list_tensors(network):
        _add_tensor(writer, name, value)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    waiting.replace(path)


def _list_vocabulary(network: Network) -> _Vocabulary:
    about = json.loads(network.tokenizer.to_str())
    if about["model"]["type"] != "BPE":
        raise UsageError(
            f"its tokenizer is of the kind {about['model']['type']}, and only byte pairs can be"
            " written: use convert_hf_to_gguf.py of llama.cpp"
        )
    known = network.tokenizer.get_vocab()
    names = {number: token for token, number in known.items()}
    tokens = [names.get(k, f"[PAD{k}]") for k in range(network.sizes.vocabulary)]
    control = frozenset(token["content"] for token in about["added_tokens"] if token["special"])
    merges = [
        merge if isinstance(merge, str) else " ".join(merge) for merge in about["model"]["merges"]
    ]
    return _Vocabulary(tokens, control, merges)


def _find_cut(tokenizer: Tokenizer, vocabulary: _Vocabulary) -> str:
    """Return the way in which a tokenizer cuts texts."""
    text = f"{_PROBE}{END}\n{_PROBE.upper()}"
    wanted = tokenizer.encode(text, add_special_tokens=False).ids
    for cut in _CUTS:
        if vocabulary.build(cut).encode(text, add_special_tokens=False).ids == wanted:
            return cut
    raise UsageError(
        f"its tokenizer cuts texts neither as {' nor as '.join(_CUTS)}: use convert_hf_to_gguf.py"
        " of llama.cpp"
    )


def _list_tensors(network: Network) -> Iterator[tuple[str, Tensor]]:
    """Yield every tensor by its name in a GGUF file."""
    sizes = network.sizes
    parameters = network.parameters
    yield "token_embd.weight", parameters["embedding"]
    yield "output_norm.weight", parameters["norm"]
    if not sizes.tied:
        yield "output.weight", parameters["head"]
    for name, parts in _list_parts(sizes).items():
        rows = sizes.sections.get(name.removesuffix("_bias"), [sizes.width])
        for layer in range(sizes.layers):
            values = parameters[name][layer].split(rows)
            for part, value in zip(parts, values, strict=True):
                written = _interleave(value, sizes) if _is_interleaved(part, sizes) else value
                yield f"blk.{layer}.{part}", written


def _add_tensor(writer: GGUFWriter, name: str, value: Tensor) -> None:
    """Add a tensor: matrices in half precision, norms and biases, which are small, in full."""
    numbers = value.detach().float().cpu().contiguous().numpy()
    if numbers.ndim == 1:
        writer.add_tensor(name, numbers)
        return
    kind = GGMLQuantizationType.BF16
    writer.add_tensor(name, quantize(numbers, kind), raw_dtype=kind)
