"""What a network must do to be asked, measured and trained on: a chat into tokens, and more tokens.

Networks of the Llama and Qwen2 families are computed by `students.network`, everything else by
`transformers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import torch
from tokenizers import Tokenizer
from torch import Tensor

from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.extras import install_hint
from bestresponse.models.students.network import read_folder

if TYPE_CHECKING:
    from bestresponse.models.students.causal import Causal

Choose = Callable[[Tensor], Tensor]
"""Picks a token from the scores (batch, V) of all tokens."""


class Writer(Protocol):
    """A network that continues conversations."""

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts texts into tokens."""

    @property
    def end(self) -> int:
        """The token that ends a message."""

    @property
    def positions(self) -> int:
        """How many tokens a conversation may have."""

    def write_chat(self, messages: Sequence[tuple[str, str]]) -> str:
        """Write messages as (role, content), up to where the assistant begins to speak."""

    def continue_prompts(
        self,
        prompts: Sequence[Sequence[int]],
        most: int,
        choose: Choose | None = None,
    ) -> list[list[int]]:
        """Continue every prompt by at most `most` tokens, or up to the end of a message.

        The token that ends a message is left out. Without `choose`, the likeliest token is taken.
        """

    def weigh_tokens(self, texts: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token but the first, for every text.

        Each is given the tokens before it.
        """


def open_writer(folder: Path, device: str, dtype: torch.dtype) -> Writer:
    """Open a folder as `transformers` writes it, by the fastest way that computes it exactly."""
    try:
        network = read_folder(folder)
        network.end  # noqa: B018 - refused here where no token ends a message
    except ModelUnavailable as error:
        if not (folder / "config.json").is_file():
            raise
        return open_by_transformers(folder, device, dtype, why=str(error))
    return network.to(device, dtype)


def open_by_transformers(
    folder: Path,
    device: str,
    dtype: torch.dtype,
    *,
    why: str,
) -> Causal:
    """Open a folder by `transformers`; `why` says for what it is needed where it is missing."""
    if find_spec("transformers") is None:
        raise ModelUnavailable(f"{why}; `transformers` can open it: {install_hint('train')}")
    from bestresponse.models.students.causal import open_causal

    return open_causal(folder, device, dtype)
