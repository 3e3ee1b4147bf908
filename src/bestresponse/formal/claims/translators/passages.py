"""Divide a text into passages, and give each the claims that were quoted from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.grammar_json import QuotedClaim
from bestresponse.formal.claims.translators.places import split_sentences
from bestresponse.formal.claims.translators.stance import find_statement
from bestresponse.formal.claims.translators.translation import LONGEST_TEXT, Passage, Reading
from bestresponse.formal.claims.translators.words import Words, strip_markup

__all__ = ["find_passages", "speaks"]

_SPEAKS: Final = re.compile(
    r"\b(?:best (?:response|reply)|dominan|dominat|equilibri|guarantee|(?:best|worst)[- ]case|maximin|minimax|pareto"
    r"|payoffs? (?:is|are)|safest|safer)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"^\W*(?:step \d+\W*|\d+\W*)?(?:(?!\b(?:is|are|has|have|gives?|gets?|dominates?|would|will"
    r"|can)\b)[A-Za-z,'() -]){0,60}:?$"
)
_AMOUNT: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%])")


def find_passages(text: str, words: Words, rows: Iterable[QuotedClaim]) -> tuple[Passage, ...]:
    """Return the sentences of a text with the claims whose quotes stand in them."""
    quoted = [(_find(text, row.quote), row.claim) for row in rows if isinstance(row.claim, Claim)]
    found = []
    offset = 0
    for line in text[:LONGEST_TEXT].split("\n"):
        for start, end in split_sentences(line):
            first, last = offset + start, offset + end
            claims = tuple(claim for span, claim in quoted if span is not None and span[0] < last and span[1] > first)
            said = strip_markup(line[start:end]).strip()
            found.append(Passage(first, last, said, claims, _reading(said, claims, words)))
        offset += len(line) + 1
    return tuple(found)


def _reading(said: str, claims: tuple[Claim, ...], words: Words) -> Reading:
    if claims:
        return Reading.READ
    if not speaks(said, words):
        return Reading.SILENT
    return Reading.UNREAD if find_statement(said).text else Reading.NOT_ASSERTED


def _find(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in the text, whatever its spaces and line breaks."""
    parts = quote.split()[:200]
    match = re.search(r"\s+".join(map(re.escape, parts)), text) if parts else None
    return None if match is None else match.span()


def speaks(sentence: str, words: Words) -> bool:
    """Whether a sentence has an amount, or a word of the theory beside something else than a heading's words."""
    named = re.sub(rf"(?:{'|'.join(map(re.escape, words.people))})", "", sentence, flags=re.IGNORECASE)
    if words.numeric:
        named = re.sub(words.labels, "", named)
    if _HEADING.match(named):
        return False
    return bool(_AMOUNT.search(named) or _SPEAKS.search(named))
