"""The texts games show to players."""

import re

from bestresponse.core.texts import Texts

__all__ = ["TEXTS", "drop_goal"]

TEXTS = Texts(__name__)


def drop_goal(rules: str) -> str:
    """Return the rules without the sentence that sets a goal: what people aim at is what an experiment finds out.

    >>> drop_goal("Choose a number. Your goal is as many points as possible.")
    'Choose a number.'
    """
    return re.sub(r"\s*Your goal is [^.]*\.", "", rules).strip()
