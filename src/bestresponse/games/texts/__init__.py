"""Themes of games, and how words are joined in what is asked about them."""

from collections.abc import Sequence


def join_words(parts: Sequence[str]) -> str:
    """Join parts of a sentence.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
