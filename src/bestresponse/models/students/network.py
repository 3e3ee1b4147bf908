"""A transformer of the Llama or Qwen2 family in plain PyTorch.

It is read from a folder and written as safetensors; GGUF files are read and written by
`students.gguf_files`.

What is read is computed exactly as `transformers` computes it. A folder of anything else (other
kinds of layers, scaled positions, weights that nothing here would use) is refused by name.

Parameters are a dictionary of tensors in which the layers are stacked, so that one optimizer step
treats all layers at once. A folder holds `config.json`, `model.safetensors` and `tokenizer.json` as
the `transformers` package reads them.

Shapes: N layers, D width, H query heads and K key heads of size S, F hidden units, V tokens.

    embedding (V, D)      qkv (N, (H + 2 K) S, D)      gate_up (N, 2 F, D)      attention_norm (N,
                          D)
    norm (D,)             out (N, D, H S)              down (N, D, F)           feed_norm (N, D)

Qwen2 has biases as well, and a network may have an output matrix of its own:

    qkv_bias (N, (H + 2 K) S)                          head (V, D)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.core.json import JsonMapping

Parameters = dict[str, Tensor]
_LARGEST_CONFIG = 1_000_000
_MORE = 256
"""Tokens by which the room for keys and values of a reply grows."""
END = "<|im_end|>"
"""The token that ends a message (ChatML)."""
_HALVES = 2  # rotary embeddings turn the first half of a head's numbers against the second
_KEYS = {
    "layers": "num_hidden_layers",
    "width": "hidden_size",
    "heads": "num_attention_heads",
    "key_heads": "num_key_value_heads",
    "hidden": "intermediate_size",
    "vocabulary": "vocab_size",
    "epsilon": "rms_norm_eps",
    "positions": "max_position_embeddings",
}
"""The sizes of a network as `transformers` names them."""
_FAMILIES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}
_PLAIN = {
    "attention_bias": False,
    "mlp_bias": False,
    "use_sliding_window": False,
    "hidden_act": "silu",
    "pretraining_tp": 1,
    "quantization_config": None,
}
"""Settings of `transformers` that other values change what is computed."""
_EPSILON = 1e-6  # what `transformers` takes where a config does not say
_POSITIONS = 2048  # what `transformers` takes where a Llama's config does not say
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML: what `write_chat` writes, as `transformers` is told it."""


@dataclass(frozen=True)
class Architecture:
    """The sizes of a network, and which of two families it belongs to."""

    layers: int
    width: int
    heads: int
    key_heads: int
    hidden: int
    vocabulary: int
    rope_base: float = 100_000.0
    epsilon: float = 1e-5
    family: str = "llama"
    tied: bool = True
    positions: int = _POSITIONS

    @property
    def head(self) -> int:
        """The size of one head."""
        return self.width // self.heads

    @property
    def sections(self) -> dict[str, list[int]]:
        """The parts that the stacked matrices consist of, along their second axis."""
        keys = self.key_heads * self.head
        return {
            "qkv": [self.heads * self.head, keys, keys],
            "out": [self.width],
            "gate_up": [self.hidden, self.hidden],
            "down": [self.width],
        }

    def to_json(self) -> dict[str, object]:
        """Return the sizes as `transformers` names them."""
        fixed = {"architectures": [_FAMILIES[self.family]], "model_type": self.family}
        sizes = {key: getattr(self, name) for name, key in _KEYS.items()}
        return {
            **fixed,
            **sizes,
            "rope_theta": self.rope_base,
            "hidden_act": "silu",
            "tie_word_embeddings": self.tied,
            "torch_dtype": "bfloat16",
        }

    @classmethod
    def from_json(cls, data: JsonMapping) -> Architecture:
        """Read the sizes from a `config.json`.

        ModelUnavailable names what cannot be computed here.
        """
        family = data.get("model_type")
        if family not in _FAMILIES:
            known = " and ".join(_FAMILIES)
            raise ModelUnavailable(f"it is of the family {family!r}; supported are {known}")
        for name, expected in _PLAIN.items():
            value = data.get(name, expected)
            if value != expected:
                raise ModelUnavailable(f"its config.json has {name} = {value!r}, not supported")
        sizes = {name: data[key] for name, key in _KEYS.items() if key in data}
        sizes.setdefault("key_heads", data["num_attention_heads"])
        sizes.setdefault("epsilon", _EPSILON)
        made = cls(
            **sizes,
            rope_base=_read_rope(data),
            family=family,
            tied=data.get("tie_word_embeddings", False),
        )
        size = data.get("head_dim") or made.head
        if size * made.heads != made.width:
            raise ModelUnavailable(
                f"its heads have {size} numbers each, not hidden_size / num_attention_heads ="
                f" {made.head}"
            )
        return made


def _read_rope(data: JsonMapping) -> float:
    """Return the base of rotary positions, which `transformers` 5 writes in another place.

    ModelUnavailable where positions are scaled.
    """
    for name in ("rope_parameters", "rope_scaling"):
        scaling = data.get(name) or {}
        kind = scaling.get("rope_type", scaling.get("type", "default"))
        if kind != "default":
            raise ModelUnavailable(f"its positions are scaled ({name} of the type {kind!r})")
    base = data.get("rope_theta", (data.get("rope_parameters") or {}).get("rope_theta", 10_000.0))
    return float(base)


@dataclass
class Network:
    """A network: its sizes, its parameters and its tokenizer."""

    sizes: Architecture
    parameters: Parameters
    tokenizer: Tokenizer

    def to(self, device: str, dtype: torch.dtype = torch.float32) -> Network:
        """Return the network on another device."""
        moved = {name: value.to(device, dtype) for name, value in self.parameters.items()}
        return Network(self.sizes, moved, self.tokenizer)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text.

        Control tokens that are written out in it are read as such.
        """
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    @property
    def scorer(self) -> Tensor:
        """The matrix that scores tokens: the embedding, unless there is one of its own."""
        return self.parameters.get("head", self.parameters["embedding"])

    @property
    def positions(self) -> int:
        """How many tokens a conversation may have."""
        return self.sizes.positions

    def write_chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """Write messages in ChatML, up to where the assistant begins to speak."""
        return write_chat(messages)

    def continue_prompts(
        self,
        prompts: Sequence[Sequence[int]],
        most: int,
        choose: Callable[[Tensor], Tensor] | None = None,
    ) -> list[list[int]]:
        """Continue every prompt; see the function of that name."""
        replies: list[list[int]] = continue_prompts(
            self,
            prompts,
            most,
            choose or _choose_likeliest,
        )
        return replies

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def weigh_tokens(self, texts: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token but the first, for every text.

        Each is given the tokens before it.
        """
        embedding = self.parameters["embedding"]
        tokens = fill_texts(texts, self.end).to(embedding.device)
        positions = torch.arange(tokens.shape[1], device=embedding.device)[None]

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return attend_causally(q, k, v)

        embedded = F.embedding(tokens, embedding)
        states = run_layers(self.sizes, self.parameters, embedded, positions, attend)
        return weigh_next(score_tokens(states, self.scorer), texts)

    @property
    def end(self) -> int:
        """The token that ends a message."""
        number = self.tokenizer.token_to_id(END)
        if number is None:
            raise ModelUnavailable(f"the tokenizer of this network has no token {END}")
        return number


def write_chat(messages: Sequence[tuple[str, str]]) -> str:
    """Write messages as (role, content) in ChatML, up to where the assistant begins to speak."""
    turns = "".join(f"<|im_start|>{role}\n{_disarm(content)}{END}\n" for role, content in messages)
    return f"{turns}<|im_start|>assistant\n"


def _disarm(content: str) -> str:
    """Break up control tokens in a message, which could otherwise end it and begin another."""
    return content.replace("<|", "< |")


def read_folder(folder: Path) -> Network:
    """Read a network as `transformers` writes it.

    ModelUnavailable where the folder holds none that is computed exactly.
    """
    try:
        # Folders that Hugging Face keeps consist of links: what they lead to is looked at.
        config = read_text_file((folder / "config.json").resolve(), _LARGEST_CONFIG)
        sizes = Architecture.from_json(parse_json(config))
        values: Parameters = {}
        for path in sorted(folder.glob("*.safetensors")):
            values |= {name: value.float() for name, value in load_file(path).items()}
        if not values:
            raise ModelUnavailable("there is no file .safetensors in it")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        parameters = {name: _join(values, sizes, keys) for name, keys in _list_keys(sizes).items()}
        _check_nothing_is_left(values, sizes)
        _check_tokens(tokenizer, parameters["embedding"], sizes)
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{folder} cannot be read exactly: {error}") from None
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelUnavailable(
            f"{folder} holds no network of the Llama or Qwen2 family that can be read: {error}"
        ) from None
    except Exception as error:  # noqa: BLE001 - `tokenizers` raises plain exceptions
        raise ModelUnavailable(f"{folder}: its tokenizer cannot be read ({error})") from None
    return Network(sizes, parameters, tokenizer)


def _check_nothing_is_left(values: Parameters, sizes: Architecture) -> None:
    """Refuse weights that nothing here uses: the network would compute something else."""
    used = {
        key.format(layer)
        for keys in _list_keys(sizes).values()
        for key in keys
        for layer in range(sizes.layers)
    }
    left = sorted(name for name in values.keys() - used if not name.endswith("rotary_emb.inv_freq"))
    if sizes.tied:  # some folders hold the shared matrix twice
        left = [name for name in left if name != "lm_head.weight"]
    if left:
        raise ModelUnavailable(f"nothing here uses its weights {', '.join(left[:3])}")


def _check_tokens(tokenizer: Tokenizer, embedding: Tensor, sizes: Architecture) -> None:
    """Refuse a tokenizer of another model."""
    known = tokenizer.get_vocab_size()
    if len(embedding) != sizes.vocabulary or known > sizes.vocabulary:
        raise ModelUnavailable(
            f"its tokenizer has {known:,} tokens and its embedding {len(embedding):,} rows, where"
            f" config.json says {sizes.vocabulary:,}: they are of different models"
        )


def write_folder(network: Network, folder: Path) -> None:
    """Write a network in half precision, as a complete model of `transformers`."""
    folder.mkdir(parents=True, exist_ok=True)
    values: Parameters = {}
    for name, keys in _list_keys(network.sizes).items():
        value = network.parameters[name].detach().to("cpu", torch.bfloat16)
        if len(keys) == 1 and "{}" not in keys[0]:
            values[keys[0]] = value.contiguous()
            continue
        rows = network.sizes.sections.get(name.removesuffix("_bias"), [network.sizes.width])
        for layer in range(network.sizes.layers):
            parts = zip(keys, value[layer].split(rows), strict=True)
            values |= {key.format(layer): part.clone() for key, part in parts}
    weights = folder / "model.safetensors"
    save_file(values, weights, metadata={"format": "pt"})
    weights.chmod(0o644)
    about = {
        **network.sizes.to_json(),
        "eos_token_id": network.end,
        "pad_token_id": network.end,
    }  # where `generate` of transformers stops
    network.tokenizer.save(str(folder / "tokenizer.json"))
    loaded_as = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": END,
        "model_max_length": network.sizes.positions,
        "chat_template": CHAT_TEMPLATE,
    }
    generates = {"eos_token_id": network.end, "pad_token_id": network.end, "do_sample": False}
    for name, content in (
        ("config", about),
        ("tokenizer_config", loaded_as),
        ("generation_config", generates),
    ):
        text = json.dumps(content, indent=2) + "\n"
        (folder / f"{name}.json").write_text(text, "utf-8")


def _list_keys(sizes: Architecture) -> dict[str, tuple[str, ...]]:
    """Return the names that `transformers` gives to the parts of every parameter."""
    layer = "model.layers.{}."
    attention = f"{layer}self_attn."
    feed = f"{layer}mlp."
    keys = {
        "embedding": ("model.embed_tokens.weight",),
        "norm": ("model.norm.weight",),
        "attention_norm": (f"{layer}input_layernorm.weight",),
        "feed_norm": (f"{layer}post_attention_layernorm.weight",),
        "qkv": tuple(f"{attention}{part}_proj.weight" for part in "qkv"),
        "out": (f"{attention}o_proj.weight",),
        "gate_up": (f"{feed}gate_proj.weight", f"{feed}up_proj.weight"),
        "down": (f"{feed}down_proj.weight",),
    }
    if sizes.family == "qwen2":
        keys["qkv_bias"] = tuple(f"{attention}{part}_proj.bias" for part in "qkv")
    if not sizes.tied:
        keys["head"] = ("lm_head.weight",)
    return keys


def _join(values: Mapping[str, Tensor], sizes: Architecture, keys: tuple[str, ...]) -> Tensor:
    if "{}" not in keys[0]:
        return values[keys[0]]
    layers = []
    for layer in range(sizes.layers):
        parts = [values[key.format(layer)] for key in keys]
        layers.append(torch.cat(parts))
    return torch.stack(layers)


def _normalise(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    wide = x.float()
    mean_square = wide.square().mean(-1, keepdim=True)
    scaled = wide * torch.rsqrt(mean_square + epsilon)
    return (scaled * weight).to(x.dtype)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn queries or keys by the angles of their positions."""
    wide = x.float()
    first, second = wide.chunk(_HALVES, -1)
    return (wide * cos + torch.cat([-second, first], -1) * sin).to(x.dtype)


def make_angles(positions: Tensor, sizes: Architecture) -> tuple[Tensor, Tensor]:
    """Return cosines and sines of rotary positions, with an axis for the heads."""
    steps = torch.arange(0, sizes.head, 2, device=positions.device).float() / sizes.head
    angles = positions.float().unsqueeze(-1) * sizes.rope_base**-steps
    angles = torch.cat([angles, angles], -1).unsqueeze(-2)
    return angles.cos(), angles.sin()


def project(
    x: Tensor,
    norm: Tensor,
    qkv: Tensor,
    bias: Tensor | None,
    cos: Tensor,
    sin: Tensor,
    sizes: Architecture,
) -> tuple[Tensor, ...]:
    """Return queries, keys and values, (..., heads, size)."""
    rows = sizes.sections["qkv"]
    q, k, v = F.linear(_normalise(x, norm, sizes.epsilon), qkv, bias).split(rows, -1)
    q, k, v = (part.unflatten(-1, (-1, sizes.head)) for part in (q, k, v))
    return _rotate(q, cos, sin), _rotate(k, cos, sin), v


def finish_layer(
    x: Tensor,
    attended: Tensor,
    out: Tensor,
    norm: Tensor,
    gate_up: Tensor,
    down: Tensor,
    epsilon: float,
) -> Tensor:
    """Add what was attended to, and the feed-forward part of a layer."""
    x = x + F.linear(attended, out)
    gate, up = F.linear(_normalise(x, norm, epsilon), gate_up).chunk(2, -1)
    return x + F.linear(F.silu(gate) * up, down)


Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""From a layer and its queries, keys and values to what was attended to, heads joined."""


def run_layers(
    sizes: Architecture,
    parameters: Parameters,
    x: Tensor,
    positions: Tensor,
    attend: Attention,
    steps: tuple[Callable[..., tuple[Tensor, Tensor, Tensor]], Callable[..., Tensor]] = (
        project,
        finish_layer,
    ),
) -> Tensor:
    """Return the last states of embedded tokens.

    `steps` are `project` and `finish_layer`, perhaps compiled.
    """
    cos, sin = make_angles(positions, sizes)
    project_step, finish_step = steps
    biases = parameters["qkv_bias"].unbind(0) if "qkv_bias" in parameters else None
    for layer, (attention_norm, qkv, out, feed_norm, gate_up, down) in enumerate(
        list_layers(parameters)
    ):
        bias = None if biases is None else biases[layer]
        q, k, v = project_step(x, attention_norm, qkv, bias, cos, sin, sizes)
        x = finish_step(
            x,
            attend(layer, q, k, v),
            out,
            feed_norm,
            gate_up,
            down,
            sizes.epsilon,
        )
    return _normalise(x, parameters["norm"], sizes.epsilon)


def list_layers(parameters: Parameters) -> Iterator[tuple[Tensor, ...]]:
    """Yield the parameters of every layer, in the order in which `run_layers` uses them."""
    names = ("attention_norm", "qkv", "out", "feed_norm", "gate_up", "down")
    return zip(*(parameters[name].unbind(0) for name in names), strict=True)


def score_tokens(states: Tensor, scorer: Tensor) -> Tensor:
    """Return the scores of all tokens after each state."""
    return F.linear(states, scorer).float()


def fill_texts(texts: Sequence[Sequence[int]], filler: int) -> Tensor:
    """Return the tokens of texts, (batch, length).

    Short ones are filled up on the right, where no other token sees it.
    """
    longest = max(map(len, texts))
    return torch.tensor([[*text, *[filler] * (longest - len(text))] for text in texts])


def weigh_next(scores: Tensor, texts: Sequence[Sequence[int]]) -> list[list[float]]:
    """Return the log-probability of each token but the first.

    It is computed from the scores (batch, length, V) of all tokens.
    """
    weighed: list[list[float]] = []
    for row, text in zip(scores, texts, strict=True):
        log_probabilities = row[: len(text) - 1].float().log_softmax(-1)
        following = torch.tensor(text[1:], device=row.device)
        chosen = log_probabilities.gather(1, following[:, None])
        weighed.append(chosen[:, 0].tolist())
    return weighed


def attend_causally(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """Attend to what came before; (batch, length, heads, size) to (batch, length, width)."""
    q, k, v = (part.transpose(1, 2) for part in (q, k, v))
    attended = F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        is_causal=mask is None,
        enable_gqa=True,
    )
    return attended.transpose(1, 2).flatten(2)


def _choose_likeliest(scores: Tensor) -> Tensor:
    return scores.argmax(-1)


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def continue_prompts(
    network: Network,
    prompts: Sequence[Sequence[int]],
    most: int,
    choose: Callable[[Tensor], Tensor] = _choose_likeliest,
) -> list[list[int]]:
    """Continue every prompt by at most `most` tokens, or up to the end of a message.

    The token that ends a message is left out.

    Prompts of unequal length are filled up on the left. `choose` picks a token from the scores
    (batch, V).
    """
    sizes = network.sizes
    parameters = network.parameters
    embedding = parameters["embedding"]
    device = embedding.device
    longest = max(map(len, prompts))
    missing = torch.tensor([longest - len(prompt) for prompt in prompts], device=device)
    rows = []
    for prompt in prompts:
        filler = [network.end] * (longest - len(prompt))
        rows.append(filler + list(prompt))
    tokens = torch.tensor(rows, device=device)
    shape = (sizes.layers, 2, len(rows), longest, sizes.key_heads, sizes.head)
    kept = torch.zeros(shape, device=device, dtype=embedding.dtype)
    slots = torch.arange(longest + most, device=device)
    ended = torch.zeros(len(rows), dtype=torch.bool, device=device)
    replies: list[Tensor] = []
    done = 0
    while True:
        now = slots[done : done + tokens.shape[1]]
        if done + len(now) > kept.shape[3]:  # most replies are far shorter than they may be
            kept = torch.cat([kept, kept.new_zeros((*shape[:3], _MORE, *shape[4:]))], 3)
        seen = slots[: done + len(now)]
        is_past = seen <= now[:, None]
        is_told = seen >= missing[:, None, None]
        is_itself = seen == now[:, None]
        # A filler sees itself: a row of nothing is no number.
        mask = (is_past & is_told) | is_itself

        def attend(
            layer: int,
            q: Tensor,
            k: Tensor,
            v: Tensor,
            now: Tensor = now,
            mask: Tensor = mask,
            kept: Tensor = kept,
        ) -> Tensor:
            kept[layer, 0, :, now] = k
            kept[layer, 1, :, now] = v
            k = kept[layer, 0, :, : mask.shape[-1]]
            v = kept[layer, 1, :, : mask.shape[-1]]
            return attend_causally(q, k, v, mask[:, None])

        positions = (now - missing[:, None]).clamp(min=0)
        states = run_layers(
            sizes,
            parameters,
            F.embedding(tokens, embedding),
            positions,
            attend,
        )
        done += len(now)
        chosen = choose(score_tokens(states[:, -1], network.scorer))
        ended |= chosen == network.end
        replies.append(torch.where(ended, network.end, chosen))
        if len(replies) == most or bool(ended.all()):
            break
        tokens = replies[-1][:, None]
    written: list[list[int]] = torch.stack(replies, 1).tolist()
    return [row[: row.index(network.end)] if network.end in row else row for row in written]
