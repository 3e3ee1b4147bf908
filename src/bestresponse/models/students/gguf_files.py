"""GGUF files: weights are read by `transformers`, students are written as llama.cpp reads them.

Matrices are written in bfloat16, which is what a student's folder holds, so that nothing is
rounded. A GGUF file names the way in which texts are cut into tokens and does not hold it:
tokenizers are read and written only where it is one that is known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from gguf import (
    MODEL_ARCH,
    GGMLQuantizationType,
    GGUFReader,
    GGUFWriter,
    TokenType,
    get_tensor_name_map,
)
from gguf.quants import quantize
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.models.students.causal import CHAT_TEMPLATE, END, Causal, open_causal

_FAMILIES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2}
"""The families that are written."""
_HALVES = 2  # rotary embeddings turn the first half of a head's numbers against the second
_PLAIN = {
    "hidden_act": ("silu",),
    "use_sliding_window": (None, False),
    "attention_bias": (None, False),
    "mlp_bias": (None, False),
}
"""Settings of a model that can be written, with the values that a GGUF file can say."""
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How the tokenizer of Qwen2 cuts a text before byte pairs are joined."""
_CUTS = ("smollm", "qwen2")
"""Ways in which texts are cut, as llama.cpp names them: every digit alone, or as Qwen2 does."""
_PROBE = (
    "Your possible actions: A, B.\n\n  The payoffs are -12.75, 0 and 1,000 %; they don't add up!"
    '\nANSWER: A: 0.333, B: 0.667\t{"claims": [1, 2]} Größe 3² \u6e38\u620f \U0001f3b2'
)
"""A text by which two tokenizers are compared."""


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


def convert_folder(folder: Path, path: Path) -> None:
    """Write the student in a folder as a GGUF file, which is not there yet.

    Raises:
        UsageError: a reader of the file would compute something else or cut texts otherwise.
    """
    student = open_causal(folder, "cpu", torch.bfloat16)
    config = student.model.config
    _check_family(config)
    vocabulary = _list_vocabulary(student)
    cut = _find_cut(student.tokenizer, vocabulary)
    waiting = path.with_name(f".{path.name}")
    writer = GGUFWriter(waiting, config.model_type)
    writer.add_name(path.stem)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")  # byte pairs
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(vocabulary.tokens)
    types = []
    for token in vocabulary.tokens:
        is_control = token in vocabulary.control
        types.append(TokenType.CONTROL if is_control else TokenType.NORMAL)
    writer.add_token_types(types)
    writer.add_token_merges(vocabulary.merges)
    writer.add_eos_token_id(student.end)
    writer.add_pad_token_id(student.end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(student.pretrained.chat_template or CHAT_TEMPLATE)
    for name, value in _list_tensors(student):
        _add_tensor(writer, name, value)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    waiting.replace(path)


def _check_family(config: Any) -> None:
    kind = config.model_type
    rope = getattr(config, "rope_parameters", None) or {}
    found = ""
    if kind not in _FAMILIES:
        found = f"it is of the family {kind}"
    elif rope.get("rope_type", "default") != "default":
        found = f"its positions are scaled ({rope['rope_type']})"
    for name, known in _PLAIN.items():
        value = getattr(config, name, None)
        if kind in _FAMILIES and value not in known:
            found = f"its config.json has {name} = {value!r}"
    if found:
        raise UsageError(
            f"{found}; only plain models of the families {', '.join(_FAMILIES)} are written here:"
            " use convert_hf_to_gguf.py of llama.cpp"
        )


def _list_vocabulary(student: Causal) -> _Vocabulary:
    about = json.loads(student.tokenizer.to_str())
    if about["model"]["type"] != "BPE":
        raise UsageError(
            f"its tokenizer is of the kind {about['model']['type']}, and only byte pairs can be"
            " written: use convert_hf_to_gguf.py of llama.cpp"
        )
    names = {number: token for token, number in student.tokenizer.get_vocab().items()}
    tokens = [names.get(k, f"[PAD{k}]") for k in range(student.model.config.vocab_size)]
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


def _list_tensors(student: Causal) -> Iterator[tuple[str, Tensor]]:
    """Yield every tensor by its name in a GGUF file."""
    config = student.model.config
    names = get_tensor_name_map(_FAMILIES[config.model_type], config.num_hidden_layers)
    for key, value in student.model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        name = names.get_name(key, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise UsageError(f"a GGUF file has no place for its weights {key}")
        heads = 0
        if ".q_proj." in key:
            heads = config.num_attention_heads
        elif ".k_proj." in key:
            heads = config.num_key_value_heads
        if heads and config.model_type == "llama":
            yield name, _interleave(value, heads)
            continue
        yield name, value


def _interleave(value: Tensor, heads: int) -> Tensor:
    """Interleave the two halves of every head, as llama.cpp wants a Llama's queries and keys."""
    halves = value.reshape(heads, _HALVES, -1, *value.shape[1:])
    return halves.swapaxes(1, 2).reshape(value.shape)


def _add_tensor(writer: GGUFWriter, name: str, value: Tensor) -> None:
    """Add a tensor: matrices in half precision, norms and biases, which are small, in full."""
    numbers = value.detach().float().cpu().contiguous().numpy()
    if numbers.ndim == 1:
        writer.add_tensor(name, numbers)
        return
    kind = GGMLQuantizationType.BF16
    writer.add_tensor(name, quantize(numbers, kind), raw_dtype=kind)
