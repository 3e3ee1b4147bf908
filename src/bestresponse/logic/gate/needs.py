"""What a game needs: the predicates its rules and strategies lead to.

Programs come with predicates beside the game: one that prints all outcomes, one that asks for a move, one that ends the
session. Where such a predicate does what no game may do, it is left out and the game is none the worse for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set

from bestresponse.logic.language.predicates import GAME
from bestresponse.logic.language.terms import Atom, Struct, Term

__all__ = ["Needs"]

_ENTRANCES = frozenset({"finally/2", "select/4"})
_STRATEGY = "select/4"


class Needs:
    """Which predicates mention which, by name: a name that stands anywhere in a body may be called there."""

    def __init__(self, clauses: Iterable[tuple[str, Term]]) -> None:
        self._mentions: dict[str, set[str]] = defaultdict(set)
        for key, body in clauses:
            self._mentions[key] |= _find_names(body)
        by_name: dict[str, set[str]] = defaultdict(set)
        for key, mentioned in self._mentions.items():
            by_name[_cut_arity(key)] |= mentioned
        entered = _ENTRANCES & self._mentions.keys()
        everything = {_cut_arity(key) for key in self._mentions}
        self._needed = _follow(by_name, {_cut_arity(key) for key in GAME}) if entered else everything
        self._rules = self._find_rules(by_name) if "finally/2" in entered else set()

    def _find_rules(self, by_name: Mapping[str, Set[str]]) -> set[str]:
        """Find the names that the rules of the game lead to, without those only a strategy leads to."""
        rules = {**by_name, "select": set().union(*(self._mentions[key] for key in self._mentions if _is_rule(key)))}
        found = _follow(rules, {_cut_arity(key) for key in GAME} - {"select"})
        return _follow(by_name, found) if _STRATEGY in found else found

    def is_needed(self, key: str) -> bool:
        """Whether the game or its strategies may come to call this predicate; in a program that is neither, all are."""
        return _cut_arity(key) in self._needed

    def is_rule(self, key: str) -> bool:
        """Whether the rules of the game may come to call this predicate, and not only a strategy."""
        return key != _STRATEGY and _cut_arity(key) in self._rules

    def without(self, keys: Iterable[str]) -> frozenset[str]:
        """Return these predicates and all that cannot do without them."""
        mentioning: dict[str, list[str]] = defaultdict(list)
        for key, mentioned in self._mentions.items():
            for name in mentioned:
                mentioning[name].append(key)
        gone = set(keys)
        waiting = list(gone)
        while waiting:
            for key in mentioning.pop(_cut_arity(waiting.pop()), ()):
                if key not in gone:
                    gone.add(key)
                    waiting.append(key)
        return frozenset(gone)


def _is_rule(key: str) -> bool:
    return _cut_arity(key) == "select" and key != _STRATEGY


def _follow(mentions: Mapping[str, Set[str]], start: set[str]) -> set[str]:
    """Find every name that can be reached from the start."""
    found, waiting = set(start), list(start)
    while waiting:
        new = mentions.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _cut_arity(key: str) -> str:
    return key.rpartition("/")[0]


def _find_names(term: Term) -> set[str]:
    """Find every name in a term; a call of a strategy is found with its arity too."""
    found: set[str] = set()
    stack = [term]
    while stack:
        term = stack.pop()
        if isinstance(term, Struct):
            found.add(term.name)
            if term.name == "select" and len(term.args) == 4:
                found.add(_STRATEGY)
            stack.extend(term.args)
        elif isinstance(term, Atom):
            found.add(str(term))
    return found
