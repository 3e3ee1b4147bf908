"""Themes of games, and how words are joined in what is asked about them."""

from collections.abc import Sequence


def join_words(parts: Sequence[str]) -> str:
    """Join parts of a sentence.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    if len(parts) < 2:
        return "".join(parts)
    *first, last = parts
    return f"{', '.join(first)} and {last}"
