"""Tiny random networks and tokenizers for trainings in miniature; needs the extra `train`."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from bestresponse.models.students import network as networks
from bestresponse.studies.improve.data import open_export


def list_texts(data):
    """List the conversations of an export as a network reads them."""
    folder = open_export(data)
    texts = []
    for name in folder.list_files("train"):
        for example in folder.read(name):
            *asked, answer = example["messages"]
            chat = networks.write_chat([(turn["role"], turn["content"]) for turn in asked])
            texts.append(chat + answer["content"])
    return texts


def make_tokenizer(texts, words=False, special=("<|im_start|>", networks.END)):
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


def list_shapes(sizes):
    """Return the shape of every parameter."""
    n, width = sizes.layers, sizes.width
    columns = {
        "qkv": width,
        "out": sizes.heads * sizes.head,
        "gate_up": width,
        "down": sizes.hidden,
    }
    matrices = {name: (n, sum(rows), columns[name]) for name, rows in sizes.sections.items()}
    norms = {"norm": (width,), "attention_norm": (n, width), "feed_norm": (n, width)}
    shapes = {"embedding": (sizes.vocabulary, width), **norms, **matrices}
    if sizes.family == "qwen2":
        shapes["qkv_bias"] = (n, sum(sizes.sections["qkv"]))
    if not sizes.tied:
        shapes["head"] = (sizes.vocabulary, width)
    return shapes


def make_network(sizes, tokenizer):
    """Make a network with random parameters."""
    rng = torch.Generator().manual_seed(0)
    parameters = {}
    for name, shape in list_shapes(sizes).items():
        scale = 0.02 if name == "embedding" else shape[-1] ** -0.5
        parameters[name] = (
            torch.ones(shape) if "norm" in name else torch.randn(shape, generator=rng) * scale
        )
    return networks.Network(sizes, parameters, tokenizer)


def make_sizes(tokenizer, **changes):
    """Return the sizes of a network of two layers."""
    values = {"layers": 2, "width": 64, "heads": 4, "key_heads": 2, "hidden": 128}
    return networks.Architecture(**values, vocabulary=tokenizer.get_vocab_size(), **changes)


def write_other(folder, tokenizer, family="GPT2Config", template=None, **options):
    """Write a tiny random model of another family by `transformers`."""
    import transformers

    sizes = {"GPT2Config": {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 1024}}
    torch.manual_seed(0)
    config = getattr(transformers, family)(
        vocab_size=tokenizer.get_vocab_size(), **{**sizes.get(family, {}), **options}
    )
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.save_pretrained(folder)
    special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=special[-1], chat_template=template
    ).save_pretrained(folder)
    return folder
