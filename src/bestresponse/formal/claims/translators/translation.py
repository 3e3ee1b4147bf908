"""What translators give: claims, and the sentences of the text as they were read.

A text is divided into sentences; which of them assert something is told by their words, and each gets the claims that
are quoted from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from bestresponse.core.player import Call
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.grammar import QuotedClaim
from bestresponse.formal.claims.subject import Subject

LONGEST_TEXT = 50_000
"""Characters of a reasoning that are read; what comes after is reported as unread."""


class Reading(StrEnum):
    """What became of a passage.

    read          claims were found in it
    unread        it speaks of amounts or solutions, but no claim was found
    not asserted  a question, a doubt, a supposition or somebody else's opinion
    silent        it speaks of no amount and no solution
    """

    READ = "read"
    UNREAD = "unread"
    NOT_ASSERTED = "not asserted"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table of a text: where it stands (`text[start:end]`), what it claims, how it was read.

    `why` says why a sentence is unread, where the translator knows.
    """

    start: int
    end: int
    text: str
    claims: tuple[Claim | Malformed, ...] = ()
    reading: Reading = Reading.READ
    why: str = ""


@dataclass(frozen=True, slots=True)
class Translation:
    """The claims of a text, in order, each once; its passages where the translator knows them; the calls it took.

    `cut_replies` counts replies of a model that broke off.
    """

    claims: tuple[Claim | Malformed, ...]
    calls: tuple[Call, ...] = ()
    passages: tuple[Passage, ...] | None = None
    cut_replies: int = 0


def refuse_rest(text: str) -> Malformed:
    """Say that a text is longer than what is looked at."""
    why = f"the text has {len(text):,} characters; the first {LONGEST_TEXT:,} were looked at"
    return Malformed(text[LONGEST_TEXT : LONGEST_TEXT + 40], why, "too long")


class Translator(Protocol):
    """Finds the claims of a text. A fresh conversation for every text: nothing is remembered."""

    @property
    def name(self) -> str:
        """The name of the translator."""
        ...

    def translate(self, text: str, subject: Subject) -> Translation:
        """Find the claims that a text makes about the game."""
        ...


MARK: Final = re.compile(r"[ \t]*(?:[-*•+>]|\d{1,3}[.)]|[a-z][.)]|(?P<heading>#+))\s+")
"""What begins an item of a list or a heading."""
_SENTENCE_END: Final = re.compile(
    r"(?<=[^\s.!?])(?<!\bvs)(?<!\bi\.e)(?<!\be\.g)(?<!\bcf)\s*[.!?](?=\s|$)|;(?=\s)|\n\s*\n", re.IGNORECASE
)
_SPEAKS: Final = re.compile(
    r"\b(?:best (?:response|reply)|dominan|dominat|equilibri|guarantee|(?:best|worst)[- ]case|maximin|minimax|pareto"
    r"|payoffs? (?:is|are)|safest|safer)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"^\W*(?:step \d+\W*|\d+\W*)?(?:(?!\b(?:is|are|has|have|gives?|gets?|dominates?|would|will"
    r"|can)\b)[A-Za-z,'() –—-]){0,60}:?$"
)
_AMOUNT: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%])")
_NOT_ASSERTED: Final = re.compile(
    r"\b(?:whether|would have been|could have been|wonder\w* if|at first (?:glance|sight|look)|naively|superficially"
    r"|(?:tempting|natural|easy|intuitive|common) to (?:think|believe|say|assume|conclude|argue|suppose|guess)"
    r"|(?:one|you|some|many|people|others|someone|somebody|players|critics?)"
    r" (?:\w+ )?(?:might |may |could |would |will |can )?(?:also |even |well )?"
    r"(?:think|say|argue|believe|claim|assume|object|suppose|guess|suggest|ask|tell|assure)s?)\b"
    r"|\b(?:if|suppose|imagine|assuming|unless)\b[^,;]*\b(?:were|was|had been|happened to be|turned out)\b[^,;]*"
    r"\b(?:dominant|dominated|equilibri\w*|optimal|best response|better|worse)\b",
    re.IGNORECASE,
)
# Signs that carry no meaning become a space and signs with a plain twin become that: every character keeps its place.
_SIGNS: Final = str.maketrans('’‘−‑“”"*`_$€£', "''--         ")


class Stance(NamedTuple):
    """Whether a sentence asserts something, and how it counts if nothing is read from it."""

    asserted: bool
    reading: Reading


def clean(text: str) -> str:
    """Return a text without markup, currency signs and control characters, of the same length.

    >>> clean("**I** get $3")
    '  I   get  3'
    """
    plain = re.sub(r"\\[$()\[\]]", "  ", text).translate(_SIGNS)
    return "".join(sign if sign.isprintable() or sign in "\n\t" else " " for sign in plain)


def split_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each item of a list, heading or paragraph starts and ends; lines of wrapped text are joined."""
    start = place = 0
    for line in text.splitlines(keepends=True):
        before = text[start:place].rstrip()
        # A line shorter than this does not end because the page does.
        wrapped = len(before) > 60 and before[-1] not in ".:;!?|" and not (MARK.match(line) or "|" in line)
        if not (wrapped and line.strip()):
            yield start, place
            start = place
        place += len(line)
    yield start, place


def split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence starts and ends, its full stop included.

    >>> list(split_sentences("I win. You lose?", 0, 16))
    [(0, 6), (7, 16)]
    """
    for match in (*_SENTENCE_END.finditer(text, start, end), None):
        last = end if match is None else match.end()
        said = text[start:last]
        if said.strip():
            yield start + len(said) - len(said.lstrip()), start + len(said.rstrip())
        start = last


def take_stance(sentence: str, subject: Subject) -> Stance:
    """Tell a question, a doubt, a supposition or somebody else's opinion from an assertion."""
    asserted = not (sentence.rstrip(" \"')*").endswith("?") or _NOT_ASSERTED.search(sentence))
    if not _speaks(sentence, subject):
        return Stance(asserted, Reading.SILENT)
    return Stance(asserted, Reading.UNREAD if asserted else Reading.NOT_ASSERTED)


def _speaks(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence has an amount, or a word of the theory beside something else than a heading's words."""
    names = [*subject.game.players, *(f"player {seat + 1}" for seat in subject.order)]
    names += [action for own in subject.actions for action in own if action[:1].isdigit()]
    bare = re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "", sentence, flags=re.IGNORECASE)
    return not _HEADING.match(bare) and bool(_AMOUNT.search(bare) or _SPEAKS.search(bare))


def find_passages(text: str, subject: Subject, rows: Iterable[QuotedClaim]) -> tuple[Passage, ...]:
    """Return the sentences of a text with the claims whose quotes stand in them."""
    quoted = [(_find(text, row.quote), row.claim) for row in rows if isinstance(row.claim, Claim)]
    passages = []
    plain = clean(text[:LONGEST_TEXT])
    sentences = (span for start, end in split_blocks(plain) for span in split_sentences(plain, start, end))
    for first, last in sentences:
        claims = tuple(claim for span, claim in quoted if span is not None and span[0] < last and span[1] > first)
        said = " ".join(plain[first:last].split())
        reading = Reading.READ if claims else take_stance(said, subject).reading
        passages.append(Passage(first, last, said, claims, reading))
    return tuple(passages)


def _find(text: str, quote: str) -> tuple[int, int] | None:
    """Return where a quote stands in the text, whatever its spaces and line breaks."""
    parts = quote.split()[:200]
    match = re.search(r"\s+".join(map(re.escape, parts)), text) if parts else None
    return None if match is None else match.span()
