"""The texts games show to players."""

import re
from collections.abc import Sequence

from bestresponse.core.texts import Texts

__all__ = ["TEXTS", "drop_goal", "join_words"]

TEXTS = Texts(__name__)


def drop_goal(rules: str) -> str:
    """Return the rules without the sentence that sets a goal: what people aim at is what an
    experiment finds out.

    >>> drop_goal("Choose a number. Your goal is as many points as possible.")
    'Choose a number.'
    """
    return re.sub(r"\s*Your goal is [^.]*\.", "", rules).strip()


def join_words(parts: Sequence[str]) -> str:
    """Join parts of a sentence.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
