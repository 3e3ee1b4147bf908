"""What a game needs: the predicates its rules and strategies lead to.

Programs come with predicates beside the game: one that prints all outcomes, one that asks for a move, one that ends the
session. Where such a predicate does what no game may do, it is left out and the game is none the worse for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set

from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.predicates import GAME, GOAL_ARGUMENTS
from bestresponse.logic.language.terms import Atom, Struct, Term

__all__ = ["Needs"]

_STRATEGY = "select/4"
_ENTRANCES = frozenset({"finally/2", _STRATEGY})


class Needs:
    """Which predicates mention which, by name: a name that stands anywhere in a body may be called there.

    Only a strategy, `select/4`, is told from other predicates of its name, because it may draw by lot.
    """

    def __init__(self, clauses: Iterable[tuple[str, Term]]) -> None:
        self._mentions: dict[str, set[str]] = defaultdict(set)
        for key, body in clauses:
            self._mentions[key] |= _find_names(body)
        by_name: dict[str, set[str]] = defaultdict(set)
        for key, mentioned in self._mentions.items():
            by_name[_find_name(key)] |= mentioned
        entered = _ENTRANCES & self._mentions.keys()
        game = {_find_name(key) for key in GAME}
        self._needed = _follow(by_name, game) if entered else set(by_name)
        self._rules = _follow(by_name, game - {_STRATEGY}) if "finally/2" in entered else set()

    def is_needed(self, key: str) -> bool:
        """Whether the game or its strategies may come to call this predicate; in a program that is neither, all are."""
        return _find_name(key) in self._needed

    def is_rule(self, key: str) -> bool:
        """Whether the rules of the game may come to call this predicate, and not only a strategy."""
        return _find_name(key) in self._rules

    def without(self, keys: Iterable[str]) -> frozenset[str]:
        """Return these predicates and all that cannot do without them."""
        mentioning: dict[str, list[str]] = defaultdict(list)
        for key, mentioned in self._mentions.items():
            for name in mentioned:
                mentioning[name].append(key)
        gone = set(keys)
        waiting = list(gone)
        while waiting:
            for key in mentioning.pop(_find_name(waiting.pop()), ()):
                if key not in gone:
                    gone.add(key)
                    waiting.append(key)
        return frozenset(gone)


def _follow(mentions: Mapping[str, Set[str]], start: set[str]) -> set[str]:
    """Find every name that can be reached from the start."""
    found, waiting = set(start), list(start)
    while waiting:
        new = mentions.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _find_name(key: str) -> str:
    return key if key == _STRATEGY else key.rpartition("/")[0]


def _find_names(body: Term) -> set[str]:
    """Find every name in a term; of a goal to which arguments are added when it is called, the one it has then."""
    names: set[str] = set()
    stack = [(body, 0)]
    while stack:
        term, added = stack.pop()
        if isinstance(term, Atom | Struct):
            names.add(_find_name(indicator(term, added)))
        if isinstance(term, Struct):
            closures = GOAL_ARGUMENTS.get(indicator(term), {})
            stack += [(argument, closures.get(position, 0)) for position, argument in enumerate(term.args)]
    return names
