"""How well a model answers questions about games, measured as the benchmark measures replies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bestresponse.core.errors import InvalidMove
from bestresponse.models.students.causal import Causal
from bestresponse.studies.improve.batches import encode_examples
from bestresponse.studies.improve.rewards import score_reply
from bestresponse.studies.improve.rows import Conversation, Measures

_ASKED = 256
"""Questions that are asked at once."""
_ROOM = 50
"""Tokens that a reply may have more than the longest answer."""


def measure_replies(student: Causal, examples: Sequence[Conversation]) -> Measures:
    """Ask a model and measure its replies.

    Measures how many can be read, how many lose at most 0.01 and 0.05, and the mean loss.
    """
    lost = measure_losses(student, examples)
    read = list(filter(math.isfinite, lost))
    count = max(len(lost), 1)
    return {
        "asked": len(lost),
        "read": len(read) / count,
        "success": sum(value <= 0.01 for value in lost) / count,
        "near": sum(value <= 0.05 for value in lost) / count,
        "lost": sum(read) / len(read) if read else None,
    }


def measure_losses(student: Causal, examples: Sequence[Conversation]) -> list[float]:
    """Ask all questions, and return what each reply loses: infinity where it cannot be read."""
    lost: list[float] = []
    for start in range(0, len(examples), _ASKED):
        asked = examples[start : start + _ASKED]
        pairs = encode_examples(student, asked)
        longest = max(len(pair.answer) for pair in pairs) + _ROOM
        replies = student.continue_prompts([pair.asked for pair in pairs], longest)
        for example, tokens in zip(asked, replies, strict=True):
            try:
                score = score_reply(example["task"], student.tokenizer.decode(tokens))
                lost.append(1 - score)
            except InvalidMove:
                lost.append(math.inf)
    return lost
