"""What a game needs: the predicates its rules and strategies lead to.

Programs come with predicates beside the game: one that prints all outcomes, one that asks for a move, one that ends the
session. Where such a predicate does what no game may do, it is left out and the game is none the worse for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bestresponse.logic.language.predicates import GAME
from bestresponse.logic.language.terms import Atom, Struct, Term

__all__ = ["Needs"]

_ENTRANCES = frozenset({"finally/2", "select/4"})


class Needs:
    """Which predicates mention which, by name: a name that stands anywhere in a body may be called there."""

    def __init__(self, clauses: Iterable[tuple[str, Term]]) -> None:
        self._mentions: dict[str, set[str]] = defaultdict(set)
        for key, body in clauses:
            self._mentions[key] |= _names(body)
        needed = _ENTRANCES & self._mentions.keys()
        self._needed = self._led_to() if needed else {_name(key) for key in self._mentions}

    def needed(self, key: str) -> bool:
        """Whether the game or its strategies may come to call this predicate; in a program that is neither, all are."""
        return _name(key) in self._needed

    def without(self, keys: Iterable[str]) -> frozenset[str]:
        """These predicates and all that cannot do without them."""
        gone = set(keys)
        while True:
            names = {_name(key) for key in gone}
            more = {key for key, mentioned in self._mentions.items() if key not in gone and mentioned & names}
            if not more:
                return frozenset(gone)
            gone |= more

    def _led_to(self) -> set[str]:
        found = {_name(key) for key in GAME}
        waiting = list(found)
        by_name: dict[str, set[str]] = defaultdict(set)
        for key, mentioned in self._mentions.items():
            by_name[_name(key)] |= mentioned
        while waiting:
            new = by_name[waiting.pop()] - found
            found |= new
            waiting += new
        return found


def _name(key: str) -> str:
    return key.rsplit("/", 1)[0]


def _names(term: Term) -> set[str]:
    """Every name in a term."""
    found: set[str] = set()
    stack = [term]
    while stack:
        term = stack.pop()
        if isinstance(term, Struct):
            found.add(term.name)
            stack.extend(term.args)
        elif isinstance(term, Atom):
            found.add(str(term))
    return found
