"""Read sentences about one game.

Words become terminals, and the grammar accounts for all of them, or nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from lark.lexer import Lexer
from lark.parser_frontends import ParsingFrontend

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.english.clauses import (
    Parting,
    split_comment,
    split_rest,
)
from bestresponse.formal.claims.english.meaning import Meaning
from bestresponse.formal.claims.english.parts import Case, Impossible
from bestresponse.formal.claims.english.vocabulary import (
    UnknownWord,
    Vocabulary,
    load_english,
    split_words,
)
from bestresponse.formal.claims.subject import Subject

MOST_WORDS = 60
"""Words of a sentence that is looked at: the time to parse grows with the cube of their number in
the worst case."""

_MOST_PARTINGS = 12
"""Places where a sentence may fall into a statement and a comment; the parser is asked several
times about each."""
_PEOPLE = ("PLAYER", "POSSESSIVE", "THEY", "WE", "EVERYBODY", "OTHERS")


class _Ready(Lexer):
    """Hands the parser terminals that are found already."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, data: Iterable[Token]) -> Iterator[Token]:  # type: ignore[override]
        yield from data


@cache
def _load_parser() -> Lark:
    return Lark(
        load_english().grammar,
        parser="earley",
        lexer=_Ready,
        ambiguity="explicit",
        start=["start", "heading"],
    )


@lru_cache(maxsize=1024)
def _focus_parser(kinds: frozenset[str]) -> ParsingFrontend:
    """Return the parser without the rules that need a terminal which a sentence does not have.

    Earley's parser tries every rule at almost every word; of some 750 rules a sentence can use
    about a tenth.
    """
    whole = _load_parser()
    usable = set(kinds)
    needs = {id(rule): {symbol.name for symbol in rule.expansion} for rule in whole.rules}
    fitting: set[int] = set()
    grows = True
    while grows:
        before = len(usable)
        for rule in whole.rules:
            if needs[id(rule)] <= usable:
                usable.add(rule.origin.name)
                fitting.add(id(rule))
        grows = len(usable) > before
    frontend = copy(whole.parser)
    frontend.parser = copy(frontend.parser)
    predictions = {}
    for part, known in frontend.parser.predictions.items():
        predictions[part] = [rule for rule in known if id(rule) in fitting]
    frontend.parser.predictions = predictions
    return frontend


@lru_cache(maxsize=4096)
def _parse(kinds: tuple[str, ...], start: str) -> Tree[Token] | None:
    """Return the parts of a sentence, whose words are numbered, by the terminals of these words."""
    try:
        tokens = [Token(kind, str(number)) for number, kind in enumerate(kinds)]
        tree: Tree[Token] = _focus_parser(frozenset(kinds)).parse(tokens, start)
        return tree
    except UnexpectedInput:
        return None


class Context(NamedTuple):
    """The case that headings set, and whether they speak of everybody at once.

    If they do, "they" may be everybody.
    """

    case: Case = Case()
    together: bool = False

    def add(self, inner: Context) -> Context:
        """Return the context under a further heading."""
        choices = dict(self.case) | dict(inner.case)
        return Context(Case(choices.items()), self.together or inner.together)


class Told(NamedTuple):
    """What a sentence claims, and its clauses about the game that were not understood."""

    claims: tuple[Claim, ...] = ()
    left_out: tuple[str, ...] = ()


class SentenceReader:
    """Reads single sentences about one game. `you` is the player whom they call so."""

    def __init__(self, subject: Subject, you: int = 0) -> None:
        self.words = Vocabulary(subject, you)
        self.alone = False
        """Whether no sentence before named a move."""
        self.why = ""
        """Why the sentence before was not read; empty where it was."""

    def read(self, sentence: str, context: Context | None = None) -> Told:
        """Return what a sentence claims.

        Returns nothing where a word of it is left over or two readings differ.

        A reason, a comment or an aside is read as a statement of its own. Where that fails it may
        be left over if no word in it could change what is stated; if it says something of the game,
        it is told as left out.
        """
        context = context or Context()
        claims = self._claim(sentence, context)
        why = self.why = "" if claims else self.why or "its words fit no statement of the grammar"
        if claims:
            return Told(claims)
        found: list[Told] = []
        for parting in islice(split_comment(sentence), _MOST_PARTINGS):
            claims = self._claim(parting.statement, context)
            before = sentence.endswith(parting.statement)
            told = self._read_rest(parting, claims, before=before) if claims else None
            if told is not None:
                found.append(told)
        self.why = "" if found else why
        return min(found, key=lambda told: len(" ".join(told.left_out)), default=Told())

    def drop_names(self, sentence: str) -> str:
        """Return a sentence without the names of the players."""
        game = self.words.subject.game
        names = [*game.players, *(f"player {seat + 1}" for seat in range(game.num_players))]
        pattern = "|".join(map(re.escape, names))
        return re.sub(rf"\b(?:{pattern})\b", "", sentence, flags=re.IGNORECASE)

    def names_moves_or_numbers(self, sentence: str) -> bool:
        """Return whether a sentence names a move or a number."""
        tokens = self.words.find_known(sentence)
        return any(token.type in ("MOVE", "NUMBER", "SHARE") for token in tokens)

    def may_name_move(self, sentence: str) -> bool:
        """Return whether a word of a sentence may be one of the name of a move."""
        words = split_words(sentence)
        known = {word for phrase in self.words.forms for word in phrase}
        return not known.isdisjoint({*words, *map(str.lower, words)})

    def tells(self, clause: str) -> bool:
        """Return whether a clause says something of the game.

        It does with a number, with a word of payoffs, comparisons or theory (`tells` in
        `words.toml`), and with a move beside somebody else: what others choose decides what a
        choice pays.
        """
        stems = tuple(_list_unread("tells"))
        for word in split_words(clause.lower()):
            if word.startswith(stems) or re.search(r"\d", word):
                return True
        tokens = list(self.words.find_known(clause))
        people = [token for token in tokens if token.type in _PEOPLE]
        names_others = any(person != "0" for person in people)
        kinds = {token.type for token in tokens}
        return bool(kinds & {"NUMBER", "SHARE"}) or (names_others and "MOVE" in kinds)

    def _compares_amounts(self, clause: str) -> bool:
        """Return whether a clause compares with an amount: that can be false by itself."""
        words = split_words(clause.lower())
        compares = any(word.startswith(tuple(_list_unread("compares"))) for word in words)
        return compares and any(token.type == "NUMBER" for token in self.words.find_known(clause))

    def _read_rest(
        self,
        parting: Parting,
        claims: tuple[Claim, ...],
        *,
        before: bool,
    ) -> Told | None:
        """Read what is next to a statement; None where it may change what is stated."""
        rest = self._fill_amount(parting)
        lead = parting.statement.partition(",")[0]
        heading = self.read_heading(lead) if parting.link == "so" else None
        contexts = (Context(), heading or Context())
        more = self._read_clause(rest, claims, contexts)
        left = []
        for clause in [] if more else split_rest(parting.rest):
            read = self._read_clause(clause, claims, contexts)
            more += read
            if not read:
                left.append(clause)
        # "Namely when the other sets Low" says where the statement holds; it puts no condition on
        # it.
        may_hedge = parting.link != "namely"
        for rest in left:
            if may_hedge and has_word(rest, "hedges"):
                return None
            if self._compares_amounts(rest):
                return None
            if before and has_word(rest, "shifts"):
                return None
        return Told((*claims, *more), tuple(filter(self.tells, left)))

    def _fill_amount(self, parting: Parting) -> str:
        """Return "which is more than 1" as a statement about the only amount before it."""
        tokens = self.words.find_known(parting.statement)
        amounts = [token for token in tokens if token.type == "NUMBER"]
        compares = parting.link == "which" and " than " in parting.rest
        return f"{amounts[0]} {parting.rest}" if compares and len(amounts) == 1 else parting.rest

    def _read_clause(
        self,
        clause: str,
        claims: tuple[Claim, ...],
        contexts: tuple[Context, ...],
    ) -> tuple[Claim, ...]:
        """Return what a clause claims by itself; nothing where readings differ."""
        if _is_unilateral(clause, claims):
            return ()
        readings = {}
        for context in contexts:
            read = self._claim(clause, context)
            if read:
                readings[frozenset(read)] = read
        return _take_only(readings)

    def read_heading(self, line: str) -> Context | None:
        """Return the context that the words before a colon set; None where they set none."""
        tokens = self._find_tokens(line)
        meanings = self._find_meanings(tokens, "heading", Case())
        cases = list(dict.fromkeys(meanings))
        return Context(cases[0], _is_together(tokens)) if len(cases) == 1 else None

    def _claim(self, sentence: str, context: Context) -> tuple[Claim, ...]:
        tokens = self._find_tokens(sentence)
        # "If both cooperate, they get 3" may speak of both or of the other one, unless "I" stands
        # beside it.
        kinds = {token.type if token.type != "PLAYER" else token for token in tokens}
        if "THEY" in kinds and "0" not in kinds and (context.together or _is_together(tokens)):
            self.why = 'it is not clear who "they" are'
            return ()
        meanings = self._find_meanings(tokens, "start", context.case)
        readings = {frozenset(claims): claims for claims in reversed(meanings)}
        if len(readings) > 1:
            self.why = "it can be understood in different ways"
        return _take_only(readings)

    def _find_tokens(self, sentence: str) -> list[Token]:
        """Return the terminals of a sentence; none where it has unknown words or too many."""
        self.why = ""
        try:
            tokens = self.words.read(sentence)
        except UnknownWord as word:
            self.why = f"the word {str(word)!r:.40} is not known, or not clear"
            return []
        if len(tokens) > MOST_WORDS:
            self.why = f"it has more than {MOST_WORDS} words"
            return []
        return tokens

    def _find_meanings(
        self,
        tokens: list[Token],
        start: str,
        context: Case,
    ) -> list[Any]:
        kinds = tuple(token.type for token in tokens)
        tree = _parse(kinds, start) if tokens else None
        if tree is None:
            return []
        self.why = "it does not say enough, or nothing that can be meant in this game"
        try:
            return Meaning(self.words, tokens, context, alone=self.alone).find_meanings(tree)
        except Impossible as reason:
            self.why = str(reason)
            return []


def has_word(sentence: str, kind: str) -> bool:
    """Return whether a sentence has a word or phrase of a list under "unread" in `words.toml`."""
    words = f" {' '.join(split_words(sentence.lower()))} "
    return any(f" {phrase} " in words for phrase in _list_unread(kind))


def _is_unilateral(clause: str, claims: tuple[Claim, ...]) -> bool:
    """Return whether a reason may speak of what each would get alone, by leaving an outcome.

    "(R, R) is an equilibrium because each of us would get 0 by choosing B" says nothing of (B, B).
    """
    of_outcomes = {claim.form for claim in claims} <= {"equilibrium", "pareto_optimal"}
    return of_outcomes and re.search(r"\bby\b", clause, re.IGNORECASE) is not None


def has_beginning(sentence: str, kind: str) -> bool:
    """Return whether a sentence begins with a phrase of a list under "unread" in `words.toml`."""
    words = f"{' '.join(split_words(sentence.lower()))} "
    return any(words.startswith(f"{phrase} ") for phrase in _list_unread(kind))


def _list_unread(kind: str) -> list[str]:
    """Return a list under "unread" in `words.toml`."""
    phrases: list[str] = load_english().lists["unread"][kind]
    return phrases


def _take_only(readings: dict[frozenset[Claim], tuple[Claim, ...]]) -> tuple[Claim, ...]:
    """Return the claims of the only reading there is; none where there are several."""
    return next(iter(readings.values())) if len(readings) == 1 else ()


def _is_together(tokens: list[Token]) -> bool:
    """Return whether a sentence speaks of everybody at once."""
    for token in tokens:
        if token.type in ("EVERYBODY", "WE") or token in ("both", "each", "mutual"):
            return True
    return False
