"""Translators find the claims of a text: by rules, or by a language model.

A text falls into blocks (a paragraph, an item of a list, a heading), and blocks into sentences;
which of these assert something is told by their words.

`RulesTranslator` reads the sentences that its grammar accounts for word by word. What stands before
a colon, or a heading above a list, may set the case that its sentences speak of. A sentence that
speaks of amounts or of solutions and that is not understood is told as unread, and so is everything
behind words that may put the rest of a paragraph into another game ("once B is removed", "suppose
the game is repeated"). Where the statement is understood and a reason, a comment or an aside is
not, although it has an amount or a term too, the sentence is partly read.

`ModelTranslator` gives the text to a model as material, in a fresh conversation; claims pass
through the grammar, as JSON, held to a schema where the model can be. Whatever it answers is only
ever parsed: it cannot state a verdict. Each sentence gets the claims that are quoted from it.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import NamedTuple, Protocol

from bestresponse.core.game import NATURE
from bestresponse.core.player import Call
from bestresponse.core.registry import Registry, check_members
from bestresponse.core.texts import quote_lines
from bestresponse.formal.claims.claim import (
    FORMS,
    NO_CLAIM,
    OF_TABLES,
    OF_TREES,
    Claim,
    FormSet,
    JsonAnswer,
    Malformed,
    QuotedClaim,
    claims_schema,
    counts_in,
    read_answer,
)
from bestresponse.formal.claims.english.reader import (
    Context,
    SentenceReader,
    Told,
    has_beginning,
    has_word,
)
from bestresponse.formal.claims.feedback import describe
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.quoting import QuoteCheck
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.texts import TEXTS
from bestresponse.models.base import Finish, Message, Model, Request
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.schema import schema_text

LONGEST_TEXT = 50_000
"""Characters of a reasoning that are read; what comes after is reported as unread."""


class Reading(StrEnum):
    """What became of a passage.

    read          claims were found in it, and nothing that says something of the game was left out
    partly read   claims were found in it, and a part that says something of the game was left out
    unread        it speaks of amounts or solutions, but no claim was found
    not asserted  a question, a doubt, a supposition or somebody else's opinion
    silent        it speaks of no amount and no solution
    set aside     all its claims are of forms that do not count in this review
    """

    READ = "read"
    PARTLY_READ = "partly read"
    UNREAD = "unread"
    NOT_ASSERTED = "not asserted"
    SILENT = "silent"
    SET_ASIDE = "set aside"


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table of a text: its place, what it claims, and how it was read.

    Its place is `text[start:end]`.

    `why` says why a sentence is unread, where the translator knows, and `left_out` the parts that
    were not read in one that is partly read.
    """

    start: int
    end: int
    text: str
    claims: tuple[Claim | Malformed, ...] = ()
    reading: Reading = Reading.READ
    why: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Translation:
    """The claims of a text, in order, each once.

    Its passages where the translator knows them; the calls it took.

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

    def translate(self, text: str, subject: Subject) -> Translation:
        """Find the claims that a text makes about the game."""


translators = Registry(
    "bestresponse.translators",
    "translator",
    {"rules": "bestresponse.formal.claims.translation:RulesTranslator"},
)
"""Classes, or functions without arguments, that return a `Translator`."""


def find_translator(name: str) -> Translator:
    """Return the translator of that name, perhaps one of an installed package."""
    translator: Translator = translators.make(name)
    check_members(translator, ("name", "translate"), translators.describe(name))
    return translator


MARK = re.compile(r"[ \t]*(?:[-*•+>]|\d{1,3}[.)]|[a-z][.)]|(?P<heading>#+))\s+")
"""What begins an item of a list or a heading."""
_SENTENCE_END = re.compile(
    r"(?<=[^\s.!?])(?<!\bvs)(?<!\bi\.e)(?<!\be\.g)(?<!\bcf)\s*[.!?](?=\s|$)|;(?=\s)|\n\s*\n",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^\W*(?:step \d+\W*|\d+\W*)?(?:(?!\b(?:is|are|has|have|gives?|gets?|dominates?|would|will"
    r"|can)\b)[A-Za-z,'() –—-]){0,60}:?$",
    re.IGNORECASE,
)
_NOT_ASSERTED = re.compile(
    r"\b(?:(?:ask|wonder|decide|know|see|question|unclear|unsure|consider|check|doubt|depend)\w*"
    r"(?: \w+)? whether|would have been|could have been|wonder\w* if|at first"
    r" (?:glance|sight|look)|naively|superficially"
    r"|(?:tempting|natural|easy|intuitive|common) to"
    r" (?:think|believe|say|assume|conclude|argue|suppose|guess)"
    r"|(?:one|you|some|many|people|others|someone|somebody|players|critics?)"
    r" (?:\w+ )?(?:might |may |could |would |will |can )?(?:also |even |well )?"
    r"(?:think|say|argue|believe|claim|assume|object|suppose|guess|suggest|ask|tell|assure)s?)\b"
    r"|\b(?:if|suppose|imagine|assuming|unless)\b[^,;]*\b(?:were|was|had been|happened to be|turned"
    r" out)\b[^,;]*"
    r"\b(?:dominant|dominated|equilibri\w*|optimal|best response|better|worse)\b",
    re.IGNORECASE,
)
# Signs that carry no meaning become a space and signs with a plain twin become that: every
# character keeps its place.
_SIGNS = str.maketrans('’‘−‑“”"*`_$€£', "''--         ")


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
    if plain.isprintable():
        return plain
    kept = []
    for sign in plain:
        is_kept = sign.isprintable() or sign in "\n\t"
        kept.append(sign if is_kept else " ")
    return "".join(kept)


def split_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each item of a list, heading or paragraph starts and ends.

    Lines of wrapped text are joined.
    """
    start = end = 0
    for line in text.splitlines(keepends=True):
        before = text[start:end].rstrip()
        # A line shorter than this does not end because the page does.
        is_full = len(before) > 60 and before[-1] not in ".:;!?|"
        goes_on = line.strip() and not MARK.match(line) and "|" not in line
        if not (is_full and goes_on):
            yield start, end
            start = end
        end += len(line)
    yield start, end


def split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence starts and ends, its full stop included.

    >>> list(split_sentences("I win. You lose?", 0, 16))
    [(0, 6), (7, 16)]
    """
    for match in (*_SENTENCE_END.finditer(text, start, end), None):
        last = end if match is None else match.end()
        sentence = text[start:last]
        if sentence.strip():
            yield start + len(sentence) - len(sentence.lstrip()), start + len(sentence.rstrip())
        start = last


def take_stance(sentence: str, reader: SentenceReader) -> Stance:
    """Tell a question, a doubt, a supposition or somebody else's opinion from an assertion."""
    asserted = not (sentence.rstrip(" \"')*").endswith("?") or _NOT_ASSERTED.search(sentence))
    if not _speaks(sentence, reader):
        return Stance(asserted, Reading.SILENT)
    return Stance(asserted, Reading.UNREAD if asserted else Reading.NOT_ASSERTED)


def _speaks(sentence: str, reader: SentenceReader) -> bool:
    """Return whether a sentence says something of the game, and is no heading or announcement."""
    if _HEADING.match(reader.drop_names(sentence)):
        return False
    if has_beginning(sentence, "announcements") and not reader.names_moves_or_numbers(sentence):
        return False
    return reader.tells(sentence)


def find_passages(text: str, subject: Subject, rows: Iterable[QuotedClaim]) -> tuple[Passage, ...]:
    """Return the sentences of a text with the claims whose quotes are in them."""
    text = text[:LONGEST_TEXT]
    places: list[_QuotedPlace] = []
    for row in rows:
        if isinstance(row.claim, Claim):
            spans = _find(text, row.quote)
            places += [_QuotedPlace(start, end, row.claim) for start, end in spans]
    passages = []
    plain = clean(text)
    reader = SentenceReader(subject)
    check = QuoteCheck(subject)
    for first, last in _list_sentences(plain):
        near = [place for place in places if place.start < last and place.end > first]
        passage = _make_passage(plain, first, last, near, reader)
        spans = sorted({(max(first, one.start), min(last, one.end)) for one in near})
        quoted = " ; ".join(plain[start:end] for start, end in spans)
        made = {one.claim for one in near}
        unused = [f"the number {one}" for one in check.list_unused(quoted, made)]
        if unused:
            left = (*passage.left_out, *unused)
            passage = replace(passage, reading=Reading.PARTLY_READ, left_out=left)
        passages.append(passage)
    return tuple(passages)


def _list_sentences(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a text start and end."""
    for start, end in split_blocks(plain):
        yield from split_sentences(plain, start, end)


class _QuotedPlace(NamedTuple):
    """Where the quote of a claim is in a text."""

    start: int
    end: int
    claim: Claim


def _make_passage(
    text: str,
    first: int,
    last: int,
    near: list[_QuotedPlace],
    reader: SentenceReader,
) -> Passage:
    """Return a sentence with the claims whose quotes are in it, and what no quote covers."""
    sentence = " ".join(text[first:last].split())
    if not near:
        reading = take_stance(sentence, reader).reading
        return Passage(first, last, sentence, (), reading)
    claims = tuple(dict.fromkeys(place.claim for place in near))
    unquoted = _find_unquoted(
        text,
        first,
        last,
        [(place.start, place.end) for place in near],
    )
    left_out = tuple(part for part in unquoted if _speaks(part, reader))
    reading = Reading.PARTLY_READ if left_out else Reading.READ
    return Passage(first, last, sentence, claims, reading, left_out=left_out)


def _find_unquoted(
    text: str,
    first: int,
    last: int,
    spans: Iterable[tuple[int, int]],
) -> Iterator[str]:
    """Yield the parts of a sentence that no quote covers.

    >>> list(_find_unquoted("R is best, since it pays 7.", 0, 27, [(0, 9)]))
    ['since it pays 7']
    """
    for start, end in (*sorted(spans), (last, last)):
        words = text[first:start].split()
        part = " ".join(words).strip(" ,.;:!")
        if part:
            yield part
        first = max(first, end)


def _find(text: str, quote: str) -> list[tuple[int, int]]:
    """Return where a quote is in the text, whatever its spaces, case and marks.

    Dots may stand for words left out.

    >>> _find("If I choose **B**, then it’s 3.", "if I choose B ... it's 3")
    [(0, 30)]
    """
    # Two parts, not far apart: more would let a quote of single letters search for minutes.
    patterns = []
    for part in re.split(r"\.{3,}|…", quote)[:2]:
        signs = [re.escape(sign) for sign in part if sign.isalnum()]
        if signs:
            patterns.append(r"[\W_]*".join(signs[:1000]))
    if not patterns:
        return []
    whole = re.compile(".{0,300}?".join(patterns), re.IGNORECASE | re.DOTALL)
    return [match.span() for match in whole.finditer(text)]


def keep_said(rows: Iterable[QuotedClaim], text: str, subject: Subject) -> Iterator[QuotedClaim]:
    """Yield what a translator answered, as no claim where its quote does not say it.

    What the rules read in the sentence of the quote is said; else its words are compared.
    """
    text = clean(text[:LONGEST_TEXT])
    sentences = list(_list_sentences(text))
    check = QuoteCheck(subject)
    rows = list(rows)
    for row in rows:
        if isinstance(row.claim, Claim):
            with suppress(Ungrounded):
                check.beside.add(ground(row.claim, subject).claim)
    for row in rows:
        if not isinstance(row.claim, Claim) or row.claim.form == NO_CLAIM:
            yield row
            continue
        places = _find(text, row.quote)
        why = "these words do not occur in the text" if row.quote else "it quotes no words"
        kind = "claim not in its quote" if places else "quote not in the text"
        for place in places:
            why = _find_fault(row.claim, text, place, sentences, check)
            if not why:
                break
        yield QuotedClaim(Malformed(row.quote[:80], why, kind)) if why else row


def _find_fault(
    claim: Claim,
    text: str,
    quote: tuple[int, int],
    sentences: list[tuple[int, int]],
    check: QuoteCheck,
) -> str:
    """Return why the sentences of a quote do not say a claim; "" if they do."""
    try:
        meant = ground(claim, check.subject).claim
    except Ungrounded:
        return ""  # It has no verdict, for a reason that says more.
    begin, stop = quote
    touched = []
    for number, (start, end) in enumerate(sentences):
        if start < stop and end > begin:
            touched.append(number)
    if not touched:
        return "these words do not occur in the text"
    first, last = sentences[touched[0]][0], sentences[touched[-1]][1]
    earlier = [text[start:end] for start, end in sentences[: touched[0]]]
    headings = [one for one in earlier if one.rstrip().endswith(":") or one.startswith("#")]
    before = " ; ".join((*headings[-1:], *earlier[-1:]))
    clause = re.split(r"[,;:]", text[first:begin])[-1] + text[begin:stop]
    why = check.find_fault(meant, text[first:last], clause, before)
    if not why:
        return ""
    read = RulesTranslator().translate(text[first:last], check.subject).claims
    grounded = []
    for one in read:
        if isinstance(one, Claim):
            grounded.append(ground(one, check.subject).claim)
    return "" if meant in grounded else why


_MOST_SENTENCES = 500
"""Sentences of a text that are parsed, at some hundredths of a second each; the others are told as
unread."""
_LONGEST_SENTENCE = 600
_IF = re.compile(r"\W*(?:\w+,?\s+)?(?:if|when)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|me|my|mine)\b")
_SECOND = re.compile(r"(?<!of )\b(?:you|your|yours)\b", re.IGNORECASE)
_THIRD = re.compile(
    r"\b(?:they|them|their|he|she|him|her|other|opponent|partner|rival)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RulesTranslator:
    """Finds claims without a model; the yardstick that a model translator must beat."""

    name: str = "rules"

    def translate(self, text: str, subject: Subject) -> Translation:
        """Return the claims of a text, each once, and how every passage was read."""
        reader = _TextReader(subject, text[:LONGEST_TEXT])
        passages = list(reader.read())
        claims: list[Claim | Malformed] = []
        for passage in passages:
            claims += passage.claims
        if len(text) > LONGEST_TEXT:
            rest = refuse_rest(text)
            claims.append(rest)
            passages.append(
                Passage(
                    LONGEST_TEXT,
                    len(text),
                    text=text[LONGEST_TEXT : LONGEST_TEXT + 200],
                    claims=(),
                    reading=Reading.UNREAD,
                    why=rest.why,
                )
            )
        return Translation(tuple(dict.fromkeys(claims)), passages=tuple(passages))


class _Level(NamedTuple):
    """What a heading says of the deeper lines under it.

    No context where it may put them into another game.
    """

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
    names_moves: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        self.text = clean(self.written)
        self.alone = SentenceReader(self.subject, 0)
        self.addressed = self.alone
        if len(self.subject.players) == 2 and self._speaks_to_opponent():
            self.addressed = SentenceReader(self.subject, 1)

    def _speaks_to_opponent(self) -> bool:
        """Return whether some sentence says both "I" and "you", and nothing of a third person."""
        for start, end in split_sentences(self.text, 0, len(self.text)):
            sentence = self.text[start:end]
            is_dialogue = _FIRST.search(sentence) and _SECOND.search(sentence)
            if is_dialogue and not _THIRD.search(sentence):
                return True
        return False

    def read(self) -> Iterator[Passage]:
        """Yield every sentence with its claims, or why there are none."""
        for start, end in split_blocks(self.written):
            yield from self._read_block(start, end)

    def _read_block(self, start: int, end: int) -> Iterator[Passage]:
        line = self.written[start:end].expandtabs(4)
        mark = MARK.match(self.written, start, end)
        begin = start if mark is None else mark.end()
        indent = len(line) - len(line.lstrip(" "))
        depth = 2 * indent + (mark is not None)
        if mark is not None and mark["heading"]:
            depth = -1
        self.levels = [level for level in self.levels if level.depth < depth]
        context = self._join_contexts()
        for first, last in split_sentences(self.text, begin, end):
            sentence = " ".join(self.text[first:last].split())
            stance = take_stance(sentence, self.alone)
            self.names_moves = self.names_moves or self.alone.may_name_move(sentence)
            told = Told()
            self.why = f"it has more than {_LONGEST_SENTENCE} characters"
            if context is None:
                self.why = "what stands before it may speak of another game"
            elif stance.asserted and len(sentence) <= _LONGEST_SENTENCE:
                told, context = self._read_sentence(sentence.rstrip(" .!;"), context)
            self.reduced = self.reduced or has_word(sentence, "eliminations")
            reading = stance.reading
            if told.claims:
                reading = Reading.PARTLY_READ if told.left_out else Reading.READ
            why = self.why if reading is Reading.UNREAD else ""
            yield Passage(
                first,
                last,
                text=sentence.rstrip(" .!;"),
                claims=told.claims,
                reading=reading,
                why=why,
                left_out=told.left_out,
            )
        announces = self.text[begin:end].rstrip().endswith(":")
        if depth != 0 or context is None or announces:
            self.levels.append(_Level(depth, context))

    def _join_contexts(self) -> Context | None:
        """Return what all headings above say together; None where one may lead to another game."""
        joined = Context()
        for level in self.levels:
            if level.context is None:
                return None
            joined = joined.add(level.context)
        return joined

    def _read_sentence(self, sentence: str, context: Context) -> tuple[Told, Context | None]:
        """Return the claims of a sentence and the context of what follows.

        The context is None if what follows may be about another game.
        """
        if self.parsed >= _MOST_SENTENCES:
            self.why = f"{_MOST_SENTENCES} sentences stand before it"
            return Told(), context
        self.parsed += 1
        reader = self.alone if _THIRD.search(sentence) else self.addressed
        reader.alone = not self.names_moves
        told = self._claim(reader, sentence, context)
        self.why = reader.why
        if self.reduced and self.why == "":
            self.why = "a choice was eliminated before"
        if told.claims:
            return told, context
        head, colon, rest = sentence.partition(":")
        heading = reader.read_heading(head) if colon or not _IF.match(sentence) else None
        if heading is not None:
            context = context.add(heading)
            return self._claim(reader, rest, context), context
        conditional = bool(colon) and (has_word(head, "conditions") or has_word(head, "shifts"))
        if colon and not (conditional or has_word(head, "opinions")):
            told = self._claim(reader, rest, context)
            if told.claims and reader.tells(head) and not _HEADING.match(head):
                told = Told(told.claims, (head, *told.left_out))
        if not told.claims and (conditional or has_word(sentence, "shifts")):
            return told, None
        return told, context

    def _claim(self, reader: SentenceReader, sentence: str, context: Context) -> Told:
        told = reader.read(sentence, context)
        of_dominance = any(
            re.match("strictly_|weakly_|no_dominant", claim.form) for claim in told.claims
        )
        return Told() if self.reduced and of_dominance else told


_MOST_REPLIES = 3
TRANSLATION_TOKENS = 4096
"""Tokens that a model may write in one reply of a translation."""


@dataclass(frozen=True, slots=True)
class ModelTranslator:
    """Asks a model for the claims of a text.

    A reply that is cut off is kept as far as it goes and gone on with. Only those of `forms` are
    offered.
    """

    model: Model
    max_tokens: int = TRANSLATION_TOKENS
    temperature: float | None = 0.0
    seed: int | None = None
    forms: FormSet = "all"

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.id

    def translate(self, text: str, subject: Subject) -> Translation:
        """Return the claims the model finds.

        An answer in no known form is a `Malformed`, never an error.
        """
        rows: list[QuotedClaim] = []
        calls: list[Call] = []
        cut = 0
        prompt = write_translation_prompt(text, subject, self.forms)
        messages: tuple[Message, ...] = (
            Message("system", TEXTS.text("system")),
            Message("user", prompt),
        )
        schema = _write_schema(subject, self.forms) if self.model.abilities.schema else None
        for number in range(1, _MOST_REPLIES + 1):
            request = Request(
                messages,
                max_tokens=self.max_tokens,
                temperature=self.temperature,
                seed=self.seed,
                schema=schema,
            )
            reply = self.model.complete(request)
            calls.append(Call(self.model.id, request_to_json(request), reply_to_json(reply)))
            answer = read_answer(reply.text)
            has_claims = any(isinstance(row.claim, Claim) for row in answer.rows)
            if reply.finish is Finish.LENGTH and not has_claims:
                answer = JsonAnswer((), complete=False, kept='{"claims": []}')
            rows += answer.rows
            if answer.complete:
                break
            cut += 1
            if number == _MOST_REPLIES:
                why = f"the reply was cut off {number} times; claims are missing"
                rows.append(QuotedClaim(Malformed("...", why, "cut off")))
            messages = (
                *messages,
                Message("assistant", answer.kept),
                Message("user", TEXTS.text("continue")),
            )
        rows = list(keep_said(rows, text, subject))
        claims = [row.claim for row in rows if row.claim != Claim(NO_CLAIM)]
        if len(text) > LONGEST_TEXT:
            claims.append(refuse_rest(text))
        made = [row for row in rows if isinstance(row.claim, Claim)]
        is_quoted = rows and all(row.quote for row in made)
        passages = find_passages(text, subject, rows) if is_quoted else None
        return Translation(tuple(dict.fromkeys(claims)), tuple(calls), passages, cut)


def forms_for(subject: Subject, forms: FormSet) -> tuple[str, ...]:
    """The forms of a set that can be claimed of a game."""
    empty = (form for form in FORMS if form not in OF_TABLES and form not in OF_TREES)
    known = (*(OF_TABLES if subject.tree is None else OF_TREES), *empty)
    return tuple(form for form in known if counts_in(form, forms))


def _write_schema(subject: Subject, forms: FormSet) -> str:
    """Return the JSON schema of an answer about a game."""
    players = subject.players
    moves = tuple(dict.fromkeys(chain.from_iterable(subject.actions)))
    if subject.tree is not None:
        # Moves of a tree may be nature's, whose names are not among the players' actions.
        players = (*players, NATURE)
        moves = ()
    return schema_text(claims_schema(forms_for(subject, forms), players, moves))


def write_translation_prompt(text: str, subject: Subject, offered: FormSet = "all") -> str:
    """Return what a model is asked in order to find the claims of a text."""
    actions = []
    for player, moves in zip(subject.players, subject.actions, strict=True):
        actions.append(f"- {player}: {', '.join(moves)}")
    forms = []
    for name in forms_for(subject, offered):
        if name != NO_CLAIM:
            form = FORMS[name]
            arguments = ", ".join(f"{name} ({sort.value})" for name, sort in form.parameters)
            forms.append(f"- {form.name}: {arguments}. Meaning: {describe(form)}")
    return TEXTS.fill(
        "translate_json",
        people="\n".join(_people(subject)),
        actions="\n".join(actions),
        forms="\n".join(forms),
        text=quote_lines(text[:LONGEST_TEXT]),
    )


def _people(subject: Subject) -> Iterator[str]:
    """Which words of a text mean which player."""
    two = len(subject.order) == 2
    for number, seat in enumerate(subject.order):
        player = subject.players[number]
        names = [subject.game.players[seat], f"Player {seat + 1}"]
        if two:
            names.append(("the row player", "the column player")[seat])
        words = [name for name in dict.fromkeys(names) if name and name != player]
        if number == 0:
            words = ["I", "me", "my", *words]
        if number == 1 and two:
            words += ["they", "he", "she", "the other player", "the opponent"]
        writer = "the writer of the text, " if number == 0 else ""
        yield f"- {player}: {writer}also called {', '.join(words)}"
    yield "- we, both, each, everybody: all players; write one claim for each."
