"""Clauses beside a statement: reasons, comments and asides."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_BEHIND = re.compile(
    r",?\s+as well$|,?\s+(?:because|since|as|although|though|which|making|so|namely)\s+|:\s+"
    r"|,\s+(?:where|in which|with|by)\s+|,?\s+and possibly\s+|,?\s+and\s+(?=it\s)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\W*(?:\w+,?\s+)?(?:because|since)\s+", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\(([^()\d]*)\)")


class Parting(NamedTuple):
    """A statement, what else its sentence says, and the word between them."""

    statement: str
    rest: str
    link: str = ""


def split_comment(sentence: str) -> Iterator[Parting]:
    """Yield a statement and what else its sentence says, for every place where they may part.

    >>> list(split_comment("R is best, because I like red"))
    [Parting(statement='R is best', rest='I like red', link='because')]
    """
    for match in _BEHIND.finditer(sentence):
        link = match.group().strip(" ,:").lower()
        yield Parting(sentence[: match.start()], sentence[match.end() :], link)
        if link == "so":
            # "Paper beats rock, so I get 1": what follows may be the statement.
            yield Parting(sentence[match.end() :], sentence[: match.start()])
    before = _BEFORE.match(sentence)
    for comma in reversed(list(re.finditer(r",\s", sentence))):
        if before is not None and comma.start() > before.end():
            yield Parting(sentence[comma.end() :], sentence[before.end() : comma.start()])
    for aside in _ASIDE.finditer(sentence):
        yield Parting(sentence[: aside.start()] + sentence[aside.end() :], aside[1])


def split_rest(rest: str) -> list[str]:
    """Return the clauses of what else a sentence says.

    >>> split_rest("I like red, which is warm")
    ['I like red', 'is warm']
    """
    return _BEHIND.split(rest)
