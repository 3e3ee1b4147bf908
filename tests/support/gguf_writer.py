"""Write a folder of `transformers` as a GGUF file, as the converter of llama.cpp writes it."""

import json

import torch
from gguf import (
    MODEL_ARCH,
    GGMLQuantizationType,
    GGUFWriter,
    TokenType,
    get_tensor_name_map,
)
from gguf.quants import quantize

from bestresponse.models.students.causal import CHAT_TEMPLATE, open_causal

FAMILIES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2}
HALVES = 2  # rotary embeddings turn the first half of a head's numbers against the second


def write_gguf(folder, path, cut="smollm"):
    """Write a model whose tokenizer cuts texts in a way that llama.cpp names."""
    student = open_causal(folder, "cpu", torch.bfloat16)
    config = student.model.config
    about = json.loads(student.tokenizer.to_str())
    names = {number: token for token, number in student.tokenizer.get_vocab().items()}
    tokens = [names.get(k, f"[PAD{k}]") for k in range(config.vocab_size)]
    control = {token["content"] for token in about["added_tokens"] if token["special"]}
    kinds = [TokenType.CONTROL if token in control else TokenType.NORMAL for token in tokens]
    merges = about["model"]["merges"]
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer = GGUFWriter(path, config.model_type)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")  # byte pairs
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    writer.add_eos_token_id(student.end)
    writer.add_pad_token_id(student.end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(student.pretrained.chat_template or CHAT_TEMPLATE)
    for name, value in list_tensors(student.model):
        numbers = value.detach().float().contiguous().numpy()
        if numbers.ndim == 1:
            writer.add_tensor(name, numbers)
            continue
        half = GGMLQuantizationType.BF16
        writer.add_tensor(name, quantize(numbers, half), raw_dtype=half)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def list_tensors(model):
    """Yield every tensor by its name in a GGUF file, queries and keys in llama.cpp's order."""
    config = model.config
    names = get_tensor_name_map(FAMILIES[config.model_type], config.num_hidden_layers)
    for key, value in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        heads = 0
        if config.model_type == "llama" and ".q_proj." in key:
            heads = config.num_attention_heads
        elif config.model_type == "llama" and ".k_proj." in key:
            heads = config.num_key_value_heads
        if heads:
            halves = value.reshape(heads, HALVES, -1, *value.shape[1:])
            value = halves.swapaxes(1, 2).reshape(value.shape)
        yield names.get_name(key, try_suffixes=(".weight", ".bias")), value
