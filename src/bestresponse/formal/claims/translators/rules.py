"""A translator without a model: rules that find claims about a game in plain English.

It reads a text line by line. Headings and the lines above, by indentation, say under which choices a line speaks; each
clause of the line adds its own ("if they pick B") and states amounts ("I get 3"). A claim is made only where one
outcome and one amount are meant; clauses with negations, alternatives or comparisons of cases are left alone.
Sentences that speak of amounts or of solutions and from which nothing was read are told as unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final

from bestresponse.formal.claims.claim import Claim, Malformed, Move
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.address import Address
from bestresponse.formal.claims.translators.cases import Cases, comparisons
from bestresponse.formal.claims.translators.moves import MoveReader
from bestresponse.formal.claims.translators.outcomes import Amounts, Choices
from bestresponse.formal.claims.translators.solutions import Solutions
from bestresponse.formal.claims.translators.tables import Tables, is_row
from bestresponse.formal.claims.translators.translation import LONGEST_TEXT, Translation
from bestresponse.formal.claims.translators.words import CHOOSE, Words, plain

__all__ = ["RulesTranslator"]

_LONGEST_LINE: Final = 2_000
_INDENT: Final = re.compile(r"^(?P<space>[ \t]*)(?P<mark>(?:[-*•+]|\d+[.)]|[a-z][.)])\s+)?")
_SENTENCES: Final = re.compile(r"(?<=[^\s.!?])(?<!\bvs)[.!?](?=\s|$)", re.IGNORECASE)
_CLAUSES: Final = re.compile(
    r";(?=\s|$)|(?:,\s*|\s+)(?:and|but|while|whereas|or|however,?)\s+(?=(?:if|when|should)\b)"
    r"|,?\s+but\s+|,\s*(?=(?:whereas|while|unless)\b)|,?\s+(?:because|since|as)\s+(?=(?:if|when)\b)"
)
_LEFT_ALONE: Final = re.compile(
    r"\b(?:not|never|neither|nor|cannot|without|unless|regardless|whatever|irrespective|no matter|either|instead of"
    r"|rather than|compared|versus|assuming|expected|average|probability|previous|mistaken|incorrect"
    r"|avoid\w*|minimi[sz]\w*|(?:they|he|she|player|opponent) (?:think|believe|expect|assume)s?)\b|n't\b",
    re.IGNORECASE,
)
_THAN: Final = re.compile(r"\bwhich (?:is|are)\b.*|\b(?:better|higher|more|less|lower|worse) than\b.*", re.IGNORECASE)
_CONDITION: Final = re.compile(r"\s*(?:if|when)\b", re.IGNORECASE)
_SPEAKS: Final = re.compile(
    r"\b(?:best (?:response|reply)|dominan|dominat|equilibri|guarantee|(?:best|worst)[- ]case|maximin|minimax|pareto"
    r"|payoffs? (?:is|are)|safest|safer)",
    re.IGNORECASE,
)
_AMOUNT: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%])")


@dataclass(frozen=True, slots=True)
class _Level:
    """The choices a line speaks under, and how deep it stands."""

    depth: int
    chosen: dict[int, int]


@dataclass(frozen=True, slots=True)
class RulesTranslator:
    """Finds claims without a model; the yardstick that a model translator must beat."""

    name: str = "rules"

    def translate(self, text: str, subject: Subject) -> Translation:
        """The claims of a text, each once."""
        words = Words(subject)
        reader = _Reader(words) if subject.table is not None else MoveReader(words)
        found: list[Claim | Malformed] = []
        unread: list[str] = []
        for sentence, claims in reader.read(plain(text[:LONGEST_TEXT])):
            found += claims
            if not claims and _speaks(sentence, words):
                unread.append(sentence.strip())
        if len(text) > LONGEST_TEXT:
            why = f"the text has {len(text):,} characters; the first {LONGEST_TEXT:,} were looked at"
            found.append(Malformed(text[LONGEST_TEXT : LONGEST_TEXT + 40], why))
            unread.append(text[LONGEST_TEXT : LONGEST_TEXT + _LONGEST_LINE])
        return Translation(tuple(dict.fromkeys(found)), unread=tuple(unread))


def _speaks(sentence: str, words: Words) -> bool:
    """Whether a sentence has an amount, or a word of the theory beside an action or a player."""
    if words.numeric:
        sentence = re.sub(words.labels, "", sentence)
    return bool(_AMOUNT.search(sentence) or _SPEAKS.search(sentence))


class _Reader:
    """One text about a table on its way to claims."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.subject = words.subject
        self.choices = Choices(words)
        self.amounts = Amounts(words)
        self.tables = Tables(words, self.choices)
        self.solutions = Solutions(words, self.choices)
        self.cases = Cases(words)
        self.levels: list[_Level] = []
        self.address = Address((), 0)

    def read(self, text: str) -> Iterator[tuple[str, list[Claim]]]:
        """Every sentence with what it claims; a table counts as one."""
        self.address = Address(_SENTENCES.split(text), self.words.count)
        for table, lines in groupby(text.splitlines(), is_row):
            if table:
                rows = list(lines)
                yield "\n".join(rows), [self._payoff(*told) for told in self.tables.table(rows)]
                continue
            for part in (part for line in lines for part in _parts(line)):
                if len(part) > _LONGEST_LINE:
                    yield part[:_LONGEST_LINE], []
                elif part.strip():
                    yield from self._line(part)

    def _line(self, line: str) -> Iterator[tuple[str, list[Claim]]]:
        depth, line = _depth(line)
        self.levels = [level for level in self.levels if level.depth < depth]
        above = {who: action for level in self.levels for who, action in level.chosen.items()}
        heading = self._heading.match(line.strip(" :")) if len(line) < 80 else None
        top = self._own(heading["action"]) if heading is not None else {}
        own, paid = top, False
        for sentence in _SENTENCES.split(line):
            own = top
            said = self.address.told(sentence)
            claims = [self._payoff(*told) for told in self.tables.listed(said)]
            for clause in _CLAUSES.split(said):
                made, consistent = self.choices.made(_THAN.sub("", clause))
                own = own | made if consistent else own
                if consistent and (made or not _CONDITION.match(clause)):
                    claims += self._clause(clause, above | own)
                claims += comparisons(clause)
                paid = paid or self.amounts.payment.search(clause) is not None
            claims += self.solutions.claims(said)
            yield sentence, list(dict.fromkeys(claims))
        if line.rstrip().endswith(":") or heading is not None or (own and not paid):
            self.levels.append(_Level(depth, own))

    def _own(self, name: str) -> dict[int, int]:
        place = self.words.action(0, name)
        return {} if place is None else {0: place}

    def _clause(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        if _LEFT_ALONE.search(clause):
            return
        said = _THAN.sub("", clause)
        if len(chosen) == self.words.count:
            yield from self._payoffs(said, chosen)
            yield from self.solutions.together(clause, chosen)
        yield from self.cases.responses(clause, chosen)
        yield from self.cases.claims(said, chosen)

    def _payoffs(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        outcome = tuple(
            Move(self.subject.players[i], self.subject.actions[i][chosen[i]]) for i in reversed(range(self.words.count))
        )
        for who, value in self.amounts.stated(clause).items():
            yield Claim("payoff", (self.subject.players[who], value, outcome))

    def _payoff(self, actions: tuple[int, int], who: int, value: object) -> Claim:
        you, them = self.subject.players
        mine, theirs = (self.subject.actions[i][k] for i, k in enumerate(actions))
        return Claim("payoff", (self.subject.players[who], value, (Move(them, theirs), Move(you, mine))))  # type: ignore[arg-type]

    @cached_property
    def _heading(self) -> re.Pattern[str]:
        """A line that is about one choice of the reasoner's."""
        kind = r"(?:option|action|choice|strategy|if|when|case)\s*:?\s*"
        chosen = rf"(?:(?:I|you|if I|if you)?\s*{CHOOSE}\s+)"
        named = rf"(?:{kind})?{chosen}" if self.words.numeric else rf"(?:{kind})?{chosen}?"
        return self.words.compiled(rf"^\W*(?:\d+\.?\s*)?{named}(?P<action>{self.words.labels})\b[^.]{{0,40}}$")


def _parts(line: str) -> list[str]:
    """A line, or the sentences of a long one."""
    return [line] if len(line) <= _LONGEST_LINE else _SENTENCES.split(line)


def _depth(line: str) -> tuple[int, str]:
    """How deep a line stands, by its indentation, a list item deeper than plain text; and the line without its mark."""
    match = _INDENT.match(line)
    if match is None:
        return 0, line
    return 2 * len(match["space"].expandtabs(4)) + (1 if match["mark"] else 0), line[match.end() :]
