"""Any causal model of `transformers` in a local folder: asked in its format, and written again.

A model whose tokenizer has the tokens of ChatML is asked in plain ChatML, any other by its own chat
template. Nothing is downloaded, and no code of a model's folder is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging

from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.core.json import JsonMapping

# only the command line may write on the screen
logging.disable_progress_bar()
logging.set_verbosity_error()

Choose = Callable[[Tensor], Tensor]
"""Picks a token from the scores (batch, V) of all tokens."""
END = "<|im_end|>"
"""The token that ends a message (ChatML)."""
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML: what `write_chat` writes, as `transformers` is told it."""
_START = "<|im_start|>"
_MARK = "the answer of the assistant"
"""A text that no template writes of its own accord: what follows it ends a message."""
_UNLIMITED = 1 << 20  # positions of a model whose config names no limit
_LIMITS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
_LARGEST_CONFIG = 1_000_000


def write_chat(messages: Sequence[tuple[str, str]]) -> str:
    """Write messages as (role, content) in ChatML, up to where the assistant begins to speak.

    Control tokens in a message are broken up: they could end it and begin another.
    """
    turns = []
    for role, content in messages:
        turns.append(f"{_START}{role}\n{content.replace('<|', '< |')}{END}\n")
    return f"{''.join(turns)}{_START}assistant\n"


class Chat:
    """How a model is spoken to: its tokenizer and its chat format, without its weights."""

    def __init__(self, pretrained: PreTrainedTokenizerFast, positions: int) -> None:
        self.pretrained = pretrained
        self.positions = positions
        """How many tokens a conversation may have."""
        self.tokenizer: Tokenizer = pretrained.backend_tokenizer
        self._plain = None not in map(self.tokenizer.token_to_id, (_START, END))
        if self._plain:
            pretrained.chat_template = CHAT_TEMPLATE
        elif not pretrained.chat_template:
            raise ModelUnavailable(
                "its tokenizer has no chat template: choose a model that was tuned to chat, or"
                " write one as `chat_template` into its tokenizer_config.json"
            )
        self.end = self._find_end()
        """The token that ends a message."""
        if pretrained.pad_token_id is None:
            pretrained.pad_token = self.tokenizer.id_to_token(self.end)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; control tokens written out in it are read as such."""
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def write_chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """Write messages in the chat format of the model.

        The text ends where the assistant begins to speak.
        """
        if self._plain:
            return write_chat(messages)
        turns = [{"role": role, "content": self._disarm(content)} for role, content in messages]
        return self._render(turns, ends=False)

    def _find_end(self) -> int:
        """Return the token that ends an answer.

        This is the first control token that the template writes after one.
        """
        if self._plain:
            return int(self.pretrained.convert_tokens_to_ids(END))
        turns = [{"role": "user", "content": "A or B?"}, {"role": "assistant", "content": _MARK}]
        after = self._render(turns, ends=True).rpartition(_MARK)[2]
        control = set(self.pretrained.all_special_ids) | {
            number
            for number, token in self.pretrained.added_tokens_decoder.items()
            if token.special
        }
        tokens = self.encode(after)
        found = next((token for token in tokens if token in control), self.pretrained.eos_token_id)
        if found is None:
            raise ModelUnavailable("its tokenizer has no token that ends a message")
        return int(found)

    def _render(self, turns: Sequence[Mapping[str, str]], *, ends: bool) -> str:
        """Write messages by the template of the model.

        One that knows no system message gets it before the first question.
        """
        try:
            return self._apply(turns, ends)
        except Exception as error:  # noqa: BLE001 - templates raise what they like
            if len(turns) < 2 or turns[0]["role"] != "system":
                raise ModelUnavailable(f"its chat template fails: {error}") from None
        system, first, *rest = turns
        joined = {"role": "user", "content": f"{system['content']}\n\n{first['content']}"}
        return self._apply([joined, *rest], ends)

    def _apply(self, turns: Sequence[Mapping[str, str]], ends: bool) -> str:
        return str(
            self.pretrained.apply_chat_template(
                list(turns),
                tokenize=False,
                add_generation_prompt=not ends,
            )
        )

    def _disarm(self, content: str) -> str:
        """Break up control tokens in a message, which could otherwise end it and begin another."""
        for token in self.pretrained.all_special_tokens:
            content = content.replace(token, f"{token[:1]} {token[1:]}")
        return content


class Causal(Chat):
    """A causal model of `transformers` and how it is spoken to."""

    def __init__(self, model: PreTrainedModel, pretrained: PreTrainedTokenizerFast) -> None:
        limits = (getattr(model.config, name, None) for name in _LIMITS)
        super().__init__(pretrained, next((limit for limit in limits if limit), _UNLIMITED))
        self.model = model
        # what the base says here (sampling, punished repetitions) would count beside ours
        model.generation_config = GenerationConfig(
            eos_token_id=self.end,
            pad_token_id=self.end,
            do_sample=False,
            use_cache=True,
        )
        if getattr(model.config, "output_router_logits", False):
            # a loss of mixtures of experts, which `transformers` cannot compute while it writes
            model.config.output_router_logits = False

    @property
    def chat(self) -> Chat:
        """How it is spoken to, for another process."""
        return Chat(self.pretrained, self.positions)

    def continue_prompts(
        self,
        prompts: Sequence[Sequence[int]],
        most: int,
        choose: Choose | None = None,
    ) -> list[list[int]]:
        """Continue every prompt by at most `most` tokens, or up to the end of a message.

        The end of a message is marked by a token.
        """
        longest = max(map(len, prompts))
        room = min(most, self.positions - longest)
        if room < 1:
            raise ModelUnavailable(
                f"a question of {longest:,} tokens leaves no room for a reply: the model has"
                f" {self.positions:,} positions"
            )
        device = self.model.device
        rows = []
        seen = []
        for prompt in prompts:
            missing = longest - len(prompt)
            rows.append([self.end] * missing + list(prompt))
            seen.append([0] * missing + [1] * len(prompt))
        chosen = LogitsProcessorList([_Chosen(choose)] if choose else [])
        with torch.no_grad():
            written = self.model.generate(
                torch.tensor(rows, device=device),
                attention_mask=torch.tensor(seen, device=device),
                max_new_tokens=room,
                logits_processor=chosen,
            )
        replies: list[list[int]] = written[:, longest:].tolist()
        return [row[: row.index(self.end)] if self.end in row else row for row in replies]

    def weigh_tokens(self, texts: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token but the first, for every text.

        Each is given the tokens before it.
        """
        longest = max(map(len, texts))
        # Short texts are filled up on the right, where no other token sees it.
        filled = [[*text, *[self.end] * (longest - len(text))] for text in texts]
        with torch.no_grad():
            scores = self.model(torch.tensor(filled, device=self.model.device)).logits
        weighed: list[list[float]] = []
        for row, text in zip(scores, texts, strict=True):
            log_probabilities = row[: len(text) - 1].float().log_softmax(-1)
            following = torch.tensor(text[1:], device=row.device)
            weighed.append(log_probabilities.gather(1, following[:, None])[:, 0].tolist())
        return weighed

    def write(self, folder: Path) -> None:
        """Write the model in half precision, and its tokenizer."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="1000GB")
        self.pretrained.save_pretrained(folder)


class _Chosen(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Leave only the token that a function chooses."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return scores of which all but one are the least there is."""
        chosen = self._choose(scores)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)


def open_causal(folder: Path, device: str, dtype: torch.dtype) -> Causal:
    """Open a model in a local folder; ModelUnavailable says why where that is not possible."""
    read_config(folder)
    try:
        # Code in the folder is never run; without `trust_remote_code` a terminal would be asked.
        safely = {"local_files_only": True, "trust_remote_code": False}
        pretrained = AutoTokenizer.from_pretrained(folder, **safely)
        model, found = AutoModelForCausalLM.from_pretrained(
            folder,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
            **safely,
        )
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - of a damaged folder it raises what it likes
        first = str(error).partition("\n")[0]
        raise ModelUnavailable(f"`transformers` cannot open {folder}: {first}") from None
    if not isinstance(pretrained, PreTrainedTokenizerFast):
        raise ModelUnavailable(
            f"the tokenizer of {folder} has no file tokenizer.json, which is needed to train it"
        )
    for what, keys in (
        ("has no weights for", found["missing_keys"]),
        ("holds weights that nothing uses:", found["unexpected_keys"]),
    ):
        if keys:  # `transformers` would make up the first and leave out the second
            raise ModelUnavailable(f"{folder} {what} {', '.join(sorted(keys)[:3])}")
    rows = model.get_input_embeddings().num_embeddings
    if rows < len(pretrained):
        raise ModelUnavailable(
            f"the tokenizer of {folder} has {len(pretrained):,} tokens and its embedding"
            f" {rows:,} rows: they are of different models"
        )
    try:
        return Causal(model.to(device).eval(), pretrained)
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{folder} cannot be asked: {error}") from None


def read_config(folder: Path) -> JsonMapping:
    """Return the `config.json` of a folder, before anything else is read there."""
    try:
        # Folders that Hugging Face keeps consist of links: what they lead to is looked at.
        config = parse_json(read_text_file((folder / "config.json").resolve(), _LARGEST_CONFIG))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelUnavailable(f"{folder} holds no model of `transformers`: {error}") from None
    if not isinstance(config, dict):
        raise ModelUnavailable(f"{folder} holds no model of `transformers`: see its config.json")
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(f"there is no file .safetensors in {folder}")
    return config
