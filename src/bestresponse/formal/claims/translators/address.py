"""Whom a text calls `you`: the reasoner, or the other player where the reasoner says `I` and speaks to `you`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["Address"]

_FIRST: Final = re.compile(r"\b(?:I|me|my|mine)\b")
_SECOND: Final = re.compile(r"(?<!of )\b(you|your|yours)\b", re.IGNORECASE)
_THIRD: Final = re.compile(r"\b(?:they|them|their|he|she|him|her|other|opponent|partner|rival)\b", re.IGNORECASE)
_THEY: Final = {"you": "they", "your": "their", "yours": "theirs"}


class Address:
    """Found out from all sentences of a text about a game of two; then every sentence is put into the third person."""

    def __init__(self, sentences: Iterable[str], players: int) -> None:
        self.to_them = players == 2 and any(
            _FIRST.search(one) and _SECOND.search(one) and not _THIRD.search(one) for one in sentences
        )

    def rewrite(self, sentence: str) -> str:
        """Return the sentence with `they` for a `you` that means the other player.

        >>> Address(["If I pass, you take."], 2).rewrite("Then you get 3.")
        'Then they get 3.'
        >>> Address(["If you pass, they take."], 2).rewrite("Then you get 3.")
        'Then you get 3.'
        """
        if not self.to_them or _THIRD.search(sentence):
            return sentence
        return _SECOND.sub(lambda found: _THEY[found.group().lower()], sentence)
