"""Tiny random networks and tokenizers for trainings in miniature; needs the extra `train`."""

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from bestresponse.models.students import causal
from bestresponse.studies.improve.data import open_export


def list_texts(data):
    """List the conversations of an export as a network reads them."""
    folder = open_export(data)
    texts = []
    for name in folder.list_files("train"):
        for example in folder.read(name):
            *asked, answer = example["messages"]
            chat = causal.write_chat([(turn["role"], turn["content"]) for turn in asked])
            texts.append(chat + answer["content"])
    return texts


def make_tokenizer(texts, words=False, special=("<|im_start|>", causal.END)):
    """Train a tokenizer, without `words` one that has whole phrases of the texts as tokens."""
    tokenizer = Tokenizer(models.BPE())
    digits = pre_tokenizers.Digits(individual_digits=True)
    letters = pre_tokenizers.ByteLevel(False, use_regex=words)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        initial_alphabet=alphabet,
        special_tokens=list(special),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


FAMILIES = ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "gpt2", "qwen3_moe", "mamba")
_SIZES = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
    "pad_token_id": 0,
}
_OTHER_SIZES = {
    "gpt2": {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 1024},
    "mamba": {"hidden_size": 64, "num_hidden_layers": 2, "state_size": 8},
}
_MORE_SIZES = {
    "gemma3": {
        "sliding_window": 64,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "qwen3_moe": {
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "output_router_logits": True,  # as bases of mixtures of experts are often written
    },
}


def make_model(vocabulary, family="llama", **options):
    """Make a tiny random model of a family of `transformers`."""
    name = "gemma3_text" if family == "gemma3" else family
    sizes = _OTHER_SIZES.get(family) or {**_SIZES, **_MORE_SIZES.get(family, {})}
    config = transformers.AutoConfig.for_model(
        name, vocab_size=vocabulary, bos_token_id=0, eos_token_id=1, **{**sizes, **options}
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    return model.eval()


def write_model(folder, tokenizer, family="llama", template=None, **options):
    """Write a tiny random model and a tokenizer to a folder, as `transformers` does."""
    # some tokenizers of `transformers` add tokens of their own
    make_model(tokenizer.get_vocab_size() + 4, family, **options).save_pretrained(folder)
    special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=special[-1], chat_template=template
    ).save_pretrained(folder)
    return folder
