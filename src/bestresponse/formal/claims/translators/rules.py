"""A translator without a model: it reads the sentences of a text that its grammar accounts for word by word.

A text falls into blocks (a paragraph, an item of a list, a heading), and blocks into sentences. What stands before a
colon, or a heading above a list, may set the case that its sentences speak of. A sentence that speaks of amounts or
of solutions and that is not understood as a whole is told as unread, and so is everything behind words that may put
the rest of a paragraph into another game ("once B is removed", "suppose the game is repeated").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.english.reader import Context, SentenceReader, has_word
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.translation import (
    LONGEST_TEXT,
    MARK,
    Passage,
    Reading,
    Translation,
    clean,
    refuse_rest,
    split_blocks,
    split_sentences,
    take_stance,
)

_MOST_SENTENCES: Final = 500
"""Sentences of a text that are parsed, at some hundredths of a second each; the others are told as unread."""
_LONGEST_SENTENCE: Final = 600
_IF: Final = re.compile(r"\W*(?:\w+,?\s+)?(?:if|when)\b", re.IGNORECASE)
_FIRST: Final = re.compile(r"\b(?:I|me|my|mine)\b")
_SECOND: Final = re.compile(r"(?<!of )\b(?:you|your|yours)\b", re.IGNORECASE)
_THIRD: Final = re.compile(r"\b(?:they|them|their|he|she|him|her|other|opponent|partner|rival)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RulesTranslator:
    """Finds claims without a model; the yardstick that a model translator must beat."""

    name: str = "rules"

    def translate(self, text: str, subject: Subject) -> Translation:
        """Return the claims of a text, each once, and how every passage was read."""
        passages = list(_TextReader(subject, text[:LONGEST_TEXT]).read())
        claims: list[Claim | Malformed] = [claim for passage in passages for claim in passage.claims]
        if len(text) > LONGEST_TEXT:
            rest = refuse_rest(text)
            claims.append(rest)
            passages.append(Passage(LONGEST_TEXT, len(text), text[LONGEST_TEXT:][:200], (), Reading.UNREAD, rest.why))
        return Translation(tuple(dict.fromkeys(claims)), passages=tuple(passages))


class _Level(NamedTuple):
    """What a heading says of the deeper lines under it; no context where it may put them into another game."""

    depth: int
    context: Context | None


@dataclass
class _TextReader:
    """One text on its way to passages."""

    subject: Subject
    written: str
    levels: list[_Level] = field(default_factory=list)
    parsed: int = 0
    reduced: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        self.text = clean(self.written)
        sentences = [self.text[start:end] for start, end in split_sentences(self.text, 0, len(self.text))]
        speaks_to_them = len(self.subject.players) == 2 and any(
            _FIRST.search(one) and _SECOND.search(one) and not _THIRD.search(one) for one in sentences
        )
        self.alone = SentenceReader(self.subject, 0)
        self.addressed = SentenceReader(self.subject, 1) if speaks_to_them else self.alone

    def read(self) -> Iterator[Passage]:
        """Yield every sentence with its claims, or why there are none."""
        for start, end in split_blocks(self.written):
            yield from self._read_block(start, end)

    def _read_block(self, start: int, end: int) -> Iterator[Passage]:
        line = self.written[start:end].expandtabs(4)
        mark = MARK.match(self.written, start, end)
        begin = start if mark is None else mark.end()
        depth = 2 * (len(line) - len(line.lstrip(" "))) + (mark is not None)
        if mark is not None and mark["heading"]:
            depth = -1
        self.levels = [level for level in self.levels if level.depth < depth]
        context: Context | None = Context()
        for level in self.levels:
            context = None if level.context is None or context is None else context.add(level.context)
        for first, last in split_sentences(self.text, begin, end):
            said = " ".join(self.text[first:last].split())
            stance = take_stance(said, self.subject)
            claims: tuple[Claim, ...] = ()
            self.why = f"it has more than {_LONGEST_SENTENCE} characters"
            if context is None:
                self.why = "what stands before it may speak of another game"
            elif stance.asserted and len(said) <= _LONGEST_SENTENCE:
                claims, context = self._read_sentence(said.rstrip(" .!;"), context)
            self.reduced = self.reduced or has_word(said, "eliminations")
            reading = Reading.READ if claims else stance.reading
            why = self.why if reading is Reading.UNREAD else ""
            yield Passage(first, last, said.rstrip(" .!;"), claims, reading, why)
        if depth != 0 or context is None or self.text[begin:end].rstrip().endswith(":"):
            self.levels.append(_Level(depth, context))

    def _read_sentence(self, said: str, context: Context) -> tuple[tuple[Claim, ...], Context | None]:
        """Return the claims of a sentence, and the context of what follows: None where that may be another game."""
        if self.parsed >= _MOST_SENTENCES:
            self.why = f"{_MOST_SENTENCES} sentences stand before it"
            return (), context
        self.parsed += 1
        reader = self.alone if _THIRD.search(said) else self.addressed
        claims = self._claim(reader, said, context)
        self.why = "a choice was eliminated before" if self.reduced and reader.why == "" else reader.why
        if claims:
            return claims, context
        head, colon, rest = said.partition(":")
        heading = reader.read_heading(head) if colon or not _IF.match(said) else None
        if heading is not None:
            context = context.add(heading)
            return self._claim(reader, rest, context), context
        conditional = bool(colon) and (has_word(head, "conditions") or has_word(head, "shifts"))
        if colon and not conditional:
            claims = self._claim(reader, rest, context)
        return claims, None if not claims and (conditional or has_word(said, "shifts")) else context

    def _claim(self, reader: SentenceReader, said: str, context: Context) -> tuple[Claim, ...]:
        claims = reader.read(said, context)
        of_dominance = any(re.match("strictly_|weakly_|no_dominant", claim.form) for claim in claims)
        return () if self.reduced and of_dominance else claims
