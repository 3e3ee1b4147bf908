"""Rules for games played move by move: "if I pass, she will take", "if I take, I get 4", "she will take if I pass"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from bestresponse.formal.claims.claim import Claim, Move
from bestresponse.formal.claims.translators.address import Address
from bestresponse.formal.claims.translators.guard import has_unread_words
from bestresponse.formal.claims.translators.phrases.outcomes import Amounts, Choices
from bestresponse.formal.claims.translators.places import Sentence
from bestresponse.formal.claims.translators.stance import find_statement
from bestresponse.formal.claims.translators.words import Words

__all__ = ["MoveReader"]

_LONGEST: Final = 1_000
_SENTENCES: Final = re.compile(r"(?<=[a-z)\d])[.!?;](?=\s|$)|\n", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"\b(?:if|after|once|when|suppose)\b(?P<before>[^,]*(?:,? and [^,]*)?),\s*(?:then )?(?P<then>.*)$", re.IGNORECASE
)
_NOT: Final = re.compile(r"\b(?:not|never|might|may|could|perhaps|or|unless)\b|n't\b", re.IGNORECASE)
_AFTERWARDS: Final = re.compile(
    r"^(?P<then>[^,]*\b(?:will|would)\b[^,]*?)\s+(?:if|after|once|when)\s+(?P<before>[^,]*)$", re.IGNORECASE
)
_AHEAD: Final = re.compile(
    r"^\W*(?:so |thus |hence |therefore,? )?"
    r"(?:by backward induction|looking ahead|in the subgame[- ]perfect equilibrium),?\s+(?P<then>[^,]*)$",
    re.IGNORECASE,
)
_WHOSE: Final = re.compile(r"\b(my|your|their|his|her)(?= (?:only |unique )?(?:best|optimal)\b)", re.IGNORECASE)
_WHO: Final = {"my": "I", "your": "you", "their": "they", "his": "he", "her": "she"}
_BEST: Final = re.compile(
    r"(?:'s?)?\s+(?:only |unique )?(?:best|optimal) (?:response|reply|answer|move|choice|option)\s+(?:is|would be)\s+"
    r"(?:to\s+)?(?:choose |play |pick |take )?",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(r"\b(?:can|should|ought|wants?|hopes?|wish(?:es)?|able|free|if)\b|\d", re.IGNORECASE)
_FORETOLD: Final = re.compile(r"\b(?:will|would|going to)\b", re.IGNORECASE)
_RESULT: Final = re.compile(r",\s*|\s+(?:and|so)\s+", re.IGNORECASE)
_REASON: Final = re.compile(r",?\s+(?:because|since|as)\s+.*", re.IGNORECASE)
_COMPARED: Final = re.compile(
    r"\b(?:than|instead|rather|compared|versus|while|whereas|but|more|less|better|worse|at (?:least|most)|expected"
    r"|average|which|would have)\b",
    re.IGNORECASE,
)


def _split(line: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _SENTENCES.finditer(line):
        yield start, match.end()
        start = match.end()
    if line[start:].strip():
        yield start, len(line)


class MoveReader:
    """Reads one text about a tree: a condition of moves in order, then a move that will follow, an amount, or both.

    "If I pass, she takes, I get 2" may only suppose that she takes; that she does is claimed where it is foretold.
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        self.subject = words.subject
        self.amounts = Amounts(words)
        self.moves = Choices(words)

    def read(self, lines: list[str]) -> Iterator[Sentence]:
        """Read every sentence."""
        address = Address(_SENTENCES.split("\n".join(lines)), self.words.count)
        for number, line in enumerate(lines):
            for start, end in _split(line):
                statement = find_statement(line[start:end])
                said = address.rewrite(statement.text.rstrip(" .!?;"))
                readable = 0 < len(said) <= _LONGEST and not (_NOT.search(said) or has_unread_words(said))
                found = (_CONDITION.search(said) or _AFTERWARDS.search(said)) if readable else None
                claims = tuple(self._claims(found["before"], found["then"])) if found else ()
                if readable and found is None and (ahead := _AHEAD.search(said)) is not None:
                    claims = tuple(self._foretell(ahead["then"]))
                yield Sentence(number, number, start, end, claims, bool(said.strip()))

    def _claims(self, before: str, then: str) -> Iterator[Claim]:
        chain = tuple(self._moves(before))
        then = _BEST.sub(" chooses ", _WHOSE.sub(lambda found: _WHO[found[1].lower()], _REASON.sub("", then)))
        follows = tuple(self._moves(then))
        if not chain or len(follows) > 1:
            return
        if not follows:
            yield from self._paid(then, chain)
            return
        head, *rest = _RESULT.split(then, maxsplit=1)
        if _OPEN.search(self._people.sub("", head)) or not tuple(self._moves(head)):
            return
        if not rest or _FORETOLD.search(head):
            yield Claim("will_play", (follows[0].who, follows[0].action, chain))
        if rest and not _COMPARED.search(rest[0]):
            yield from self._paid(rest[0], (*chain, follows[0]))

    def _foretell(self, then: str) -> Iterator[Claim]:
        """By backward induction I enter; by backward induction I get 2."""
        moves = tuple(self._moves(then))
        if len(moves) == 1 and not _OPEN.search(self._people.sub("", then)):
            yield Claim("will_play", (*moves[0], ()))
        elif not moves and not _COMPARED.search(then):
            for who, value in self.amounts.read_amounts(then).items():
                yield Claim("continuation_payoff", (self.subject.players[who], value, ()))

    def _paid(self, text: str, chain: tuple[Move, ...]) -> Iterator[Claim]:
        for who, value in self.amounts.read_amounts(text).items():
            yield Claim("payoff", (self.subject.players[who], value, chain))

    @cached_property
    def _people(self) -> re.Pattern[str]:
        """Names of players, whose numbers are no amounts."""
        return self.words.compiled(rf"\b(?:{'|'.join(map(re.escape, self.words.people))})\b")

    def _moves(self, text: str) -> Iterator[Move]:
        for whom, label in self.moves.read_moves(text):
            place = self.words.action(whom[0], label) if len(whom) == 1 else None
            if place is not None:
                yield Move(self.subject.players[whom[0]], self.subject.actions[whom[0]][place])
