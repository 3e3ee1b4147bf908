"""Rules for games played move by move: "if I pass, she will take", "if I take, I get 4"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from bestresponse.formal.claims.claim import Claim, Move
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translator_words import BOTH, Words

__all__ = ["MoveReader"]

_LONGEST: Final = 1_000
_SENTENCES: Final = re.compile(r"(?<=[a-z)\d])[.!?;](?=\s|$)|\n", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"\b(?:if|after|once|when|suppose)\b(?P<before>[^,]*(?:,? and [^,]*)?),\s*(?:then )?(?P<then>.*)$", re.IGNORECASE
)
_NOT: Final = re.compile(r"\b(?:not|never|might|may|could|perhaps|or|unless)\b|n't\b", re.IGNORECASE)


class MoveReader:
    """Reads one text about a tree: a condition of moves in order, then a move that will follow or an amount."""

    def __init__(self, words: Words, subject: Subject) -> None:
        self.words = words
        self.subject = subject

    def read(self, text: str) -> Iterator[Claim]:
        for sentence in _SENTENCES.split(text):
            found = _CONDITION.search(sentence) if sentence and len(sentence) <= _LONGEST else None
            if found is not None and not _NOT.search(sentence):
                yield from self._claims(found["before"], found["then"])

    def _claims(self, before: str, then: str) -> Iterator[Claim]:
        chain = tuple(self._moves(before))
        follows = tuple(self._moves(then))
        if not chain:
            return
        if len(follows) == 1 and re.search(r"\bwill\b|'ll\b", then):
            yield Claim("will_play", (follows[0].who, follows[0].action, chain))
        elif not follows:
            for match in self.words.payment.finditer(then):
                who = self.words.who(match)
                if who is not None and who != BOTH:
                    yield Claim("payoff", (self.subject.players[who], Fraction(match["number"]), chain))

    def _moves(self, text: str) -> Iterator[Move]:
        for match in self.words.choice.finditer(text):
            who = self.words.who(match)
            if who is None or who == BOTH:
                continue
            label = self.words.action(match)
            own = self.subject.actions[who]
            known = [action for action in own if action.casefold() == label.casefold()]
            if known:
                yield Move(self.subject.players[who], known[0])
