"""Read one sentence at a time by the clause grammar, handing conditions on from sentence to sentence of a line."""

from __future__ import annotations

import re
from dataclasses import replace

from bestresponse.formal.claims.claim import FORMS, Argument, Claim, Move, Sort
from bestresponse.formal.claims.translators.grammar.clauses import Clauses, Scope, Segment, is_unsure, segments
from bestresponse.formal.claims.translators.grammar.concepts import Concepts
from bestresponse.formal.claims.translators.grammar.extremes import Extremes, Thread
from bestresponse.formal.claims.translators.grammar.responses import Responses
from bestresponse.formal.claims.translators.grammar.rows import Rows
from bestresponse.formal.claims.translators.grammar.tokens import Lexer, Token, encode
from bestresponse.formal.claims.translators.words import Words

__all__ = ["SentenceReader"]

_IT = re.compile(
    r"\b(it) (?=(?:also |always |only |strictly |weakly )?(?:gives?|yields?|pays?|earns?|brings?|guarantees?"
    r"|dominates?)\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:(?:proof|reason|note|here)\W+)?(?:and |but |so |since |because |that is,? )?", re.IGNORECASE
)

_SAME_FOR = re.compile(
    r"\bby symmetry\b.*\b(?:also|too|likewise|the same)\b"
    r"|\b(?:the )?same (?:\w+ ){0,2}?(?:holds?|goes|applies|is true|reasoning|logic|argument)\b.*\b(?:for|to|of)\b"
    r"|^\W*(?:likewise|similarly),? for\b|\band (?:likewise|similarly|vice versa)\b",
    re.IGNORECASE,
)
_OF_ONE = frozenset({"strictly_dominant", "weakly_dominant", "strictly_dominates", "weakly_dominates"}) | {
    "strictly_dominated",
    "no_dominant_choice",
    "best_response",
    "better_response",
}


def _swap(value: Argument, names: dict[str, str]) -> Argument:
    """Exchange the players in a chain of moves; anything else stays as it is."""
    if isinstance(value, tuple) and all(isinstance(one, Move) for one in value):
        return tuple(Move(names[one.who], one.action) for one in value if isinstance(one, Move))
    return value


class SentenceReader:
    """Reads sentences about a game of two players whose actions are not called by numbers."""

    def __init__(self, words: Words) -> None:
        self.lexer = Lexer(words)
        self.clauses = Clauses(words)
        self.extremes = Extremes(words, self.clauses)
        self.concepts = Concepts(words, self.clauses)
        self.responses = Responses(words, self.clauses)
        self.rows = Rows(words, self.clauses)
        self._line = Scope()
        self._last = Scope()
        self._topic = ""
        self._said: list[Claim] = []

    def begin_line(self, chosen: dict[int, int]) -> None:
        """Start a line that stands under these choices."""
        self._line = Scope(dict(chosen))
        self._last = Scope(mix=self._last.mix)
        self._topic = ""

    @property
    def speaks_of_an_action(self) -> bool:
        """Whether the sentence before was about one action of the reasoner's, so that the next may be, too."""
        return set(self._last.chosen) == {0} or set(self._line.chosen) == {0}

    def read(self, sentence: str) -> list[Claim]:
        """Return what a sentence claims."""
        sentence, meant = self._resolve(sentence)
        tokens = self.lexer.read(sentence)
        if re.fullmatch(r"_{0,3}a:?", encode(tokens)):
            self._line = self.clauses.heading(tokens, self._line)
            return []
        scope = self._scope(tokens, again=meant)
        self._topic = self._find_topic(tokens) or self._topic
        claims: list[Claim] = []
        thread = Thread(closed=self.speaks_of_an_action)
        doubtful = is_unsure(sentence) and "think" in sentence
        for segment in segments(tokens, sentence):
            rows, rest = self.rows.read(segment, scope)
            found, after = self.clauses.read(replace(segment, code=rest), scope)
            ends, thread = self.extremes.read(segment, scope, thread)
            thread = replace(thread, closed=thread.closed or "a" in segment.code)
            claims += [*([] if doubtful else [*rows, *found]), *ends, *self.concepts.read(segment, after)]
            claims += self.responses.read(segment, after)
            scope = self.responses.narrow(segment, after)
        if tokens:
            claims += self.concepts.read_mixture(Segment(tokens, encode(tokens), sentence))
        if not claims and "n" not in encode(tokens) and scope != self._line:
            self._line = scope
        self._line = replace(self._line, outcome=scope.outcome)
        self._last = scope
        claims += self._mirror(sentence, claims or self._said)
        self._said = claims
        return list(dict.fromkeys(claims))

    def _mirror(self, sentence: str, said: list[Claim]) -> list[Claim]:
        """Say again of the other player what was said, where "by symmetry" or "the same holds for them" asks for it."""
        words = self.clauses.words
        if not words.alike or _SAME_FOR.search(sentence) is None or "!" in encode(self.lexer.read(sentence)):
            return []
        you, them = words.subject.players
        swapped = {you: them, them: you}
        found = []
        for claim in said:
            sorts = [sort for _, sort in FORMS[claim.form].parameters]
            if claim.form in _OF_ONE and Sort.WHO in sorts:
                who = sorts.index(Sort.WHO)
                args = [
                    swapped[str(one)] if place == who else _swap(one, swapped) for place, one in enumerate(claim.args)
                ]
                found.append(Claim(claim.form, tuple(args), claim.negated))
        return [one for one in found if one not in said]

    def pass_over(self, sentence: str) -> None:
        """Remember the choices that a sentence names without claiming anything, for "in that case"."""
        for segment in segments(self.lexer.read(sentence), sentence):
            self._last = self.clauses.conditions(segment, self._line)

    def _resolve(self, sentence: str) -> tuple[str, bool]:
        """Put the action that is meant in the place of "it", and "an equilibrium" in that of "one".

        Meant is the only action named before in the sentence or, where it opens the sentence, the one that the sentence
        before was about; the second result says whether it is that, so that the same conditions hold.
        """
        if re.search(r"equilibri", sentence, re.IGNORECASE):
            sentence = re.sub(r"\bis not one\b", "is not an equilibrium", sentence)
        pronoun = _IT.search(sentence)
        if pronoun is None:
            return sentence, False
        opens = _OPENING.fullmatch(sentence[: pronoun.start()]) is not None
        named = {str(token.value) for token in self.lexer.read(sentence[: pronoun.start()]) if token.kind == "a"}
        meant = self._topic if opens else named.pop() if len(named) == 1 else ""
        if not meant:
            return sentence, False
        return f"{sentence[: pronoun.start(1)]}{meant}{sentence[pronoun.end(1) :]}", opens

    def _find_topic(self, tokens: list[Token]) -> str:
        """Return the action that a sentence begins with, as what it is about; "" where it begins otherwise."""
        match = re.match(r"_?:?(a)(?=[=vkDGsq!?])", encode(tokens))
        return str(tokens[match.start(1)].value) if match is not None else ""

    def _scope(self, tokens: list[Token], again: bool = False) -> Scope:
        """The conditions a sentence starts under: those of its line, or of the sentence it refers back to."""
        code = encode(tokens)
        scope = self._line
        if "Y" in code or again:
            scope = replace(self._last, chosen=scope.chosen | self._last.chosen)
        if "U" in code:
            return replace(scope, mix=self.clauses.uniform())
        return replace(scope, mix=self._last.mix) if "b" in code and not scope.mix else scope
