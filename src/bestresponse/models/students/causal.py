"""Any causal model of `transformers` in a local folder.

It is asked in its own chat format, trained by TRL, and written as a folder again.

A model whose tokenizer has the tokens of ChatML is asked in plain ChatML, like the networks of
`students.network`, so that it makes no difference by which of the two a student is computed. Any
other model is asked by its own chat template. Nothing is downloaded, and no code of a model's
folder is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
from bestresponse.models.students.network import (
    CHAT_TEMPLATE,
    END,
    fill_texts,
    weigh_next,
    write_chat,
)
from bestresponse.models.students.writing import Choose

# only the command line may write on the screen
logging.disable_progress_bar()
logging.set_verbosity_error()

_START = "<|im_start|>"
_MARK = "the answer of the assistant"
"""A text that no template writes of its own accord: what follows it ends a message."""
_UNLIMITED = 1 << 20  # positions of a model whose config names no limit
_LIMITS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")


class Causal:
    """A causal model of `transformers` and its tokenizer."""

    def __init__(self, model: PreTrainedModel, pretrained: PreTrainedTokenizerFast) -> None:
        self.model = model
        self.pretrained = pretrained
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
        if pretrained.pad_token_id is None:
            pretrained.pad_token = self.tokenizer.id_to_token(self.end)
        # what the base says here (sampling, punished repetitions) would count beside ours
        model.generation_config = GenerationConfig(
            eos_token_id=self.end,
            pad_token_id=self.end,
            do_sample=False,
            use_cache=True,
        )

    @property
    def positions(self) -> int:
        """How many tokens a conversation may have."""
        limits = (getattr(self.model.config, name, None) for name in _LIMITS)
        return next((limit for limit in limits if limit), _UNLIMITED)

    def write_chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """Write messages in the chat format of the model.

        The text ends where the assistant begins to speak.
        """
        if self._plain:
            return write_chat(messages)
        turns = [{"role": role, "content": self._disarm(content)} for role, content in messages]
        return self._render(turns, ends=False)

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
        tokens = fill_texts(texts, self.end).to(self.model.device)
        with torch.no_grad():
            scores = self.model(tokens).logits
        return weigh_next(scores, texts)

    def write(self, folder: Path) -> None:
        """Write the model in half precision, and its tokenizer."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="1000GB")
        self.pretrained.save_pretrained(folder)

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
        tokens: list[int] = self.tokenizer.encode(after, add_special_tokens=False).ids
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


class _Chosen(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Leave only the token that a function chooses."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return scores of which all but one are the least there is."""
        chosen = self._choose(scores)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)


def open_causal(
    folder: Path,
    device: str,
    dtype: torch.dtype,
    **options: Any,
) -> Causal:
    """Open a model in a local folder; ModelUnavailable says why where that is not possible."""
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(f"there is no file .safetensors in {folder}")
    try:
        # Code in the folder is never run; without `trust_remote_code` a terminal would be asked.
        safely = {"local_files_only": True, "trust_remote_code": False}
        pretrained = AutoTokenizer.from_pretrained(folder, **safely)
        model = AutoModelForCausalLM.from_pretrained(
            folder,
            use_safetensors=True,
            dtype=dtype,
            **safely,
            **options,
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        first = str(error).partition("\n")[0]
        raise ModelUnavailable(f"`transformers` cannot open {folder}: {first}") from None
    if not isinstance(pretrained, PreTrainedTokenizerFast):
        raise ModelUnavailable(
            f"the tokenizer of {folder} has no file tokenizer.json, which is needed to train it"
        )
    if model.get_input_embeddings().num_embeddings < len(pretrained):
        raise ModelUnavailable(
            f"the tokenizer of {folder} has {len(pretrained):,} tokens and its embedding"
            f" {model.get_input_embeddings().num_embeddings:,} rows: they are of different models"
        )
    placed = model if "quantization_config" in options else model.to(device)
    try:
        return Causal(placed.eval(), pretrained)
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{folder} cannot be asked: {error}") from None
