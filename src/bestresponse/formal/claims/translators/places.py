"""Find where a sentence of the cleaned text stands in the text as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from bestresponse.formal.claims.claim import Claim

__all__ = ["SENTENCE_END", "Sentence", "locate", "split_sentences"]

SENTENCE_END: Final = re.compile(r"(?<=[^\s.!?])(?<!\bvs)(?<!\bi\.e)(?<!\be\.g)(?<!\bcf)[.!?](?=\s|$)", re.IGNORECASE)

_WORD: Final = re.compile(r"\S+")
_LETTERS: Final = re.compile(r"[^\w().,-]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it was read: its lines, where it stands in the cleaned line, and what it claims.

    `asserted` is false for a question, a doubt, a supposition or somebody else's opinion.
    """

    first: int
    last: int
    start: int
    end: int
    claims: tuple[Claim, ...]
    asserted: bool = True


def split_sentences(line: str, begin: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a line starts and ends, its full stop included.

    >>> list(split_sentences("I win. You lose?"))
    [(0, 6), (6, 16)]
    """
    start = begin
    for match in SENTENCE_END.finditer(line, begin):
        yield start, match.end()
        start = match.end()
    if line[start:].strip():
        yield start, len(line)


def locate(line: str, cleaned: str, start: int, end: int) -> tuple[int, int]:
    """Return where `cleaned[start:end]` stands in `line`, of which `cleaned` is a version without markup.

    >>> line = "- **I** get 3. Then *you* get 5."
    >>> line.__getitem__(slice(*locate(line, "- I get 3. Then you get 5.", 11, 26)))
    'Then *you* get 5.'
    """
    if line == cleaned:
        return start, end
    written, plain = list(_WORD.finditer(line)), list(_WORD.finditer(cleaned))
    inside = [place for place, word in enumerate(plain) if word.end() > start and word.start() < end]
    if not inside or not written:
        return 0, len(line)
    match = SequenceMatcher(None, [_bare(word) for word in written], [_bare(word) for word in plain], autojunk=False)
    pairs = {block.b + step: block.a + step for block in match.get_matching_blocks() for step in range(block.size)}
    first = next((pairs[place] for place in inside if place in pairs), None)
    last = next((pairs[place] for place in reversed(inside) if place in pairs), None)
    if first is None or last is None:
        return 0, len(line)
    return written[first].start(), written[last].end()


def _bare(word: re.Match[str]) -> str:
    return _LETTERS.sub("", word.group()).casefold()
