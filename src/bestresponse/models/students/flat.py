"""Conversations one after the other in one row of tokens, each of which sees itself alone.

Nothing is padded so, which trains several times faster than rows filled up to the longest. Not
every model can be computed so (some carry a state along the row, some attend in ways that the
kernel does not know): it is tried before it is used.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel

APART = "conversations"
"""The attention of this module, as `transformers` knows it."""
_LENGTHS = (24, 17)  # tokens of the conversations that are tried
_LONGEST_TRIED = 64
"""More than a conversation has, as in a training, where few are the longest."""
_EXACT = 1e-4
"""Largest relative difference where nothing but the order of sums differs."""
_HALF = 0.1
"""The same in half precision."""
_STRAY = 0.2
"""Share of these differences that others in the row may make."""


def _attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    cu_seq_lens_q: Tensor | None = None,
    max_length_q: int | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Let every conversation of a row attend to itself; (1, heads, tokens, size) each."""
    unknown = [
        name for name in ("softcap", "s_aux", "position_bias") if others.get(name) is not None
    ]
    if cu_seq_lens_q is None or unknown:
        raise NotImplementedError(f"attention to one conversation alone with {unknown}")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if max_length_q is None:
        attended = _attend_in_turn(query, key, value, cu_seq_lens_q, scale, sliding_window)
        return attended.transpose(1, 2), None
    groups = query.shape[1] // key.shape[1]
    q, k, v = (part[0].transpose(0, 1).to(torch.bfloat16) for part in (query, key, value))
    # The kernel divides by the root of the size, whatever a model wants.
    q = q * (scale * math.sqrt(q.shape[-1]))
    k, v = (part.repeat_interleave(groups, 1) for part in (k, v))
    before = -1 if sliding_window is None else sliding_window - 1
    attended = varlen_attn(
        q,
        k,
        v,
        cu_seq_lens_q,
        cu_seq_lens_q,
        max_length_q,
        max_length_q,
        window_size=(before, 0),
    )
    return attended[None], None


def _attend_in_turn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    starts: Tensor,
    scale: float,
    window: int | None,
) -> Tensor:
    """Attend to one conversation after the other, where there is no kernel for all at once."""
    attended: list[Tensor] = []
    for first, last in pairwise(starts.unique().tolist()):
        mask = None
        if window is not None and last - first > window:
            places = torch.arange(last - first, device=query.device)
            distance = places[:, None] - places[None]
            mask = (distance >= 0) & (distance < window)
        parts = (part[:, :, first:last] for part in (query, key, value))
        attended.append(
            F.scaled_dot_product_attention(
                *parts,
                attn_mask=mask,
                is_causal=mask is None,
                scale=scale,
                enable_gqa=True,
            )
        )
    return torch.cat(attended, 2)


def _make_no_mask(*arguments: Any, **options: Any) -> None:
    """Return no mask: where conversations begin says what they see."""


AttentionInterface.register(APART, _attend)
AttentionMaskInterface.register(APART, _make_no_mask)


@contextmanager
def computed_by(model: PreTrainedModel, attention: str) -> Iterator[None]:
    """Compute a model with an attention by name, such as `APART`."""
    before = model.config._attn_implementation
    if before == attention:
        yield
        return
    model.set_attn_implementation(attention)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def write_starts(starts: Tensor, longest: int | None) -> Mapping[str, Any]:
    """Return where conversations begin, by the names of `transformers`.

    `longest` must not be less than the longest of them has, or a kernel gives NaN; None computes
    without a kernel.
    """
    return {
        "cu_seq_lens_q": starts,
        "cu_seq_lens_k": starts,
        "max_length_q": longest,
        "max_length_k": longest,
    }


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def is_flat(model: PreTrainedModel) -> bool:
    """Say whether a model computes conversations in one row as it computes each alone."""
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return False
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        exact = model.dtype == torch.float32
        if not _is_same(model, None, _EXACT if exact else _HALF):
            return False
        if model.device.type != "cuda":
            return True
        with torch.autocast("cuda", torch.bfloat16):
            return _is_same(model, _LONGEST_TRIED, _HALF)
    except Exception:  # noqa: BLE001 - what a model cannot do it refuses as it likes
        return False
    finally:
        torch.set_float32_matmul_precision(before)


def _is_same(model: PreTrainedModel, longest: int | None, tolerance: float) -> bool:
    """Compare conversations in one row with each alone, and with others before it."""
    vocabulary = model.get_input_embeddings().num_embeddings
    drawn = torch.Generator().manual_seed(0)

    def draw(length: int) -> Tensor:
        return torch.randint(vocabulary, (1, length), generator=drawn).to(model.device)

    first, last = (draw(length) for length in _LENGTHS)
    alone = model(last, use_cache=False).logits
    size = last.shape[1]
    starts = torch.tensor([0, *accumulate(_LENGTHS)], dtype=torch.int32, device=model.device)
    places = torch.cat([torch.arange(length) for length in _LENGTHS])[None].to(model.device)
    rows: list[Tensor] = []
    with computed_by(model, APART):
        for before in (first, draw(_LENGTHS[0])):
            row = model(
                torch.cat([before, last], 1),
                position_ids=places,
                use_cache=False,
                **write_starts(starts, longest),
            )
            rows.append(row.logits[:, -size:])
    spread = (alone - alone.mean()).norm()
    strays = (rows[0] - rows[1]).norm() <= _STRAY * tolerance * spread
    return bool(strays and (rows[0] - alone).norm() <= tolerance * spread)
