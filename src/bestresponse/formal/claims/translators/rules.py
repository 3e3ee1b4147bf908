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
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, groupby
from typing import Final

from bestresponse.formal.claims.claim import FORMS, Claim, Malformed, Move
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.address import Address
from bestresponse.formal.claims.translators.grammar.sentence_reader import SentenceReader
from bestresponse.formal.claims.translators.guard import has_unread_words
from bestresponse.formal.claims.translators.passages import speaks
from bestresponse.formal.claims.translators.phrases.cases import Cases, read_comparisons
from bestresponse.formal.claims.translators.phrases.formulas import Formulas, rows_from_latex
from bestresponse.formal.claims.translators.phrases.moves import MoveReader
from bestresponse.formal.claims.translators.phrases.outcomes import Amounts, Choices
from bestresponse.formal.claims.translators.phrases.solutions import Solutions
from bestresponse.formal.claims.translators.phrases.tables import Tables, is_row
from bestresponse.formal.claims.translators.places import SENTENCE_END, Sentence, locate, split_sentences
from bestresponse.formal.claims.translators.stance import find_statement
from bestresponse.formal.claims.translators.translation import LONGEST_TEXT, Passage, Reading, Translation
from bestresponse.formal.claims.translators.words import CHOOSE, Words, reduce_sums, strip_markup

__all__ = ["RulesTranslator"]

_LONGEST_LINE: Final = 2_000
_INDENT: Final = re.compile(r"^(?P<space>[ \t]*)(?P<mark>(?:[-*•+]|\d+[.)]|[a-z][.)])\s+)?")
_CLAUSES: Final = re.compile(
    r";(?=\s|$)|(?:,\s*|\s+)(?:and|but|while|whereas|or|however,?)\s+(?=(?:if|when|should)\b)"
    r"|,?\s+but\s+|,\s*(?=(?:whereas|while|unless)\b)|,?\s+(?:because|since|as)\s+(?=(?:if|when)\b)"
)
_LEFT_ALONE: Final = re.compile(
    r"\b(?:not|never|neither|nor|cannot|without|unless|regardless|whatever|irrespective|no matter|either|instead of"
    r"|rather than|compared|versus|assuming|expected|average|probability|of the time|together|previous|mistaken"
    r"|incorrect|avoid\w*|minimi[sz]\w*|(?:they|he|she|player|opponent) (?:think|believe|expect|assume)s?)\b|n't\b",
    re.IGNORECASE,
)
_THAN: Final = re.compile(r"\bwhich (?:is|are)\b.*|\b(?:better|higher|more|less|lower|worse) than\b.*", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"\s*:\s*\(?(?P<one>-?\d{1,9}(?:\.\d{1,9})?)\s*[/,]\s*(?P<two>-?\d{1,9}(?:\.\d{1,9})?)\)?\s*$"
)
_CONDITION: Final = re.compile(r"\s*(?:if|when)\b", re.IGNORECASE)
_OF_THE_GAME: Final = ("highest_possible_individual_payoff", "lowest_possible_individual_payoff")
_DENIABLE: Final = frozenset(FORMS) - {"payoff", "higher", "lower", "equal", "expected_payoff", "total_payoff"}
"""What the answer "no" to a question denies; amounts in the question are left alone."""


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
        """Return the claims of a text, each once, and how every passage was read."""
        words = Words(subject)
        written = text[:LONGEST_TEXT].split("\n")
        cleaned = [strip_markup(line) for line in rows_from_latex(written)]
        reader = _Reader(words) if subject.table is not None else MoveReader(words)
        offsets = [0, *accumulate(len(line) + 1 for line in written)]
        passages = [_passage(one, written, cleaned, offsets, words) for one in reader.read(cleaned)]
        found = [claim for passage in passages for claim in passage.claims]
        if len(text) > LONGEST_TEXT:
            why = f"the text has {len(text):,} characters; the first {LONGEST_TEXT:,} were looked at"
            rest = text[LONGEST_TEXT : LONGEST_TEXT + _LONGEST_LINE]
            found.append(Malformed(rest[:40], why))
            passages.append(Passage(LONGEST_TEXT, len(text), rest, (), Reading.UNREAD))
        return Translation(tuple(dict.fromkeys(found)), passages=tuple(passages))


def _passage(one: Sentence, written: list[str], cleaned: list[str], offsets: list[int], words: Words) -> Passage:
    """Place a sentence in the text and say how it was read."""
    if one.last > one.first:
        start, end = offsets[one.first], offsets[one.last] + len(written[one.last])
        said = "\n".join(cleaned[one.first : one.last + 1])
    else:
        inside = locate(written[one.first], cleaned[one.first], one.start, one.end)
        start, end = (offsets[one.first] + place for place in inside)
        said = cleaned[one.first][one.start : one.end]
    said = said.strip().rstrip(".!?" if one.asserted else ".!").strip()
    if one.claims:
        reading = Reading.READ
    elif not speaks(said, words):
        reading = Reading.SILENT
    else:
        reading = Reading.UNREAD if one.asserted else Reading.NOT_ASSERTED
    return Passage(start, end, said[:_LONGEST_LINE], one.claims, reading)


def _take_side(said: str) -> str:
    """Read "we" as the reasoner's side where the sentence sets it against "they".

    >>> _take_side("We advertise, they hold back: 9/2")
    'I advertise, they hold back: 9/2'
    """
    if not re.search(r"\bthey\b(?! both| each)", said, re.I) or re.search(
        r"\bwe (?:both|each|all)\b|\bof us\b", said, re.I
    ):
        return said
    for ours, mine in (("we", "I"), ("us", "me"), ("our", "my")):
        said = re.sub(rf"\b{ours}\b", mine, said, flags=re.IGNORECASE)
    return said


def _deny(claim: Claim, said: str) -> Claim:
    """Deny a claim in its weaker sense: that something is not dominant denies strict dominance."""
    if claim.form.startswith("weakly_") and "weakly" not in said.lower():
        claim = Claim(claim.form.replace("weakly_", "strictly_"), claim.args)
    return claim.negate()


class _Reader:
    """One text about a table on its way to claims."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.subject = words.subject
        self.choices = Choices(words)
        self.amounts = Amounts(words)
        self.tables = Tables(words, self.choices)
        self.formulas = Formulas(words)
        self.solutions = Solutions(words, self.choices)
        self.cases = Cases(words)
        self.grammar = SentenceReader(words) if words.count == 2 and not words.numeric else None
        self.levels: list[_Level] = []
        self.address = Address((), 0)

    def read(self, lines: list[str]) -> Iterator[Sentence]:
        """Read every sentence; a table counts as one."""
        self.address = Address(SENTENCE_END.split("\n".join(lines)), self.words.count)
        for table, group in groupby(range(len(lines)), lambda number: is_row(lines[number])):
            numbers = list(group)
            if table:
                rows = [lines[number] for number in numbers]
                claims = tuple(self._payoff(*told) for told in self.tables.read_table(rows))
                yield Sentence(numbers[0], numbers[-1], 0, len(rows[-1]), claims)
                continue
            for number in numbers:
                if lines[number].strip():
                    yield from self._line(number, lines[number])

    def _line(self, number: int, line: str) -> Iterator[Sentence]:
        depth, begin = _depth(line)
        self.levels = [level for level in self.levels if level.depth < depth]
        above = {who: action for level in self.levels for who, action in level.chosen.items()}
        heading = self._heading.match(line[begin:].strip(" :")) if len(line) < 80 + begin else None
        top = self._own(heading["action"]) if heading is not None else {}
        if self.grammar is not None:
            self.grammar.begin_line(above | top)
        own, paid = top, False
        spans = list(split_sentences(line, begin))
        for place, (start, end) in enumerate(spans):
            if end - start > _LONGEST_LINE:
                yield Sentence(number, number, start, start + _LONGEST_LINE, ())
                continue
            after = line[slice(*spans[place + 1])] if place + 1 < len(spans) else ""
            statement = find_statement(line[start:end], after)
            said = _take_side(self.address.rewrite(statement.text.rstrip(" .!?")))
            said = reduce_sums(self.words.spell_out(said))
            if not said.strip() and self.grammar is not None:
                self.grammar.pass_over(line[start:end])
            claims, own, pays = self._sentence(said, above, top)
            paid = paid or pays
            if has_unread_words(said):
                claims = []
            if statement.denied:
                claims = [_deny(claim, said) for claim in claims if claim.form in _DENIABLE]
            yield Sentence(number, number, start, end, tuple(dict.fromkeys(claims)), bool(said.strip()))
        if line.rstrip().endswith(":") or heading is not None or (own and not paid):
            self.levels.append(_Level(depth, own))

    def _sentence(
        self, said: str, above: dict[int, int], top: dict[int, int]
    ) -> tuple[list[Claim], dict[int, int], bool]:
        """What a sentence claims, which choices it speaks under, and whether it states an amount."""
        own, paid = top, False
        claims = [self._payoff(*told) for told in (*self.tables.read_list(said), *self.formulas.read(said))]
        for clause in _CLAUSES.split(said):
            made, consistent = self.choices.read_choices(_THAN.sub("", clause))
            own = own | made if consistent else own
            if consistent and (made or not _CONDITION.match(clause)):
                claims += self._clause(clause, above | own)
            claims += read_comparisons(clause)
            paid = paid or self.amounts.payment.search(clause) is not None
        claims += self._pair(said)
        whole = self.solutions.read(said)
        if self.grammar is not None:
            under = self.grammar.speaks_of_an_action
            whole = (one for one in whole if not (under and one.form in _OF_THE_GAME))
            claims += [*whole, *self.grammar.read(said)]
        else:
            claims += whole
        return claims, own, paid

    def _pair(self, said: str) -> Iterator[Claim]:
        """I advertise, they hold back: 9/2."""
        match = _PAIR.search(said)
        if match is None or self.words.count != 2 or _LEFT_ALONE.search(said):
            return
        chosen, consistent = self.choices.read_choices(said[: match.start()])
        if consistent and len(chosen) == 2 and self.words.clear(match["one"], match["two"]):
            for who, amount in enumerate((match["one"], match["two"])):
                yield self._payoff((chosen[0], chosen[1]), who, Fraction(amount))

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
        yield from self.cases.read_responses(clause, chosen)
        yield from self.cases.read(said, chosen)

    def _payoffs(self, clause: str, chosen: dict[int, int]) -> Iterator[Claim]:
        outcome = tuple(
            Move(self.subject.players[i], self.subject.actions[i][chosen[i]]) for i in reversed(range(self.words.count))
        )
        for who, value in self.amounts.read_amounts(clause).items():
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


def _depth(line: str) -> tuple[int, int]:
    """How deep a line stands, by its indentation, a list item deeper than plain text; and where its words begin."""
    match = _INDENT.match(line)
    if match is None:
        return 0, 0
    return 2 * len(match["space"].expandtabs(4)) + (1 if match["mark"] else 0), match.end()
