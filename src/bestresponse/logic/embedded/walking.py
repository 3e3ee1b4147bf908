"""What `solver_language` does again and again while it walks through a game, in Python: the same answers, sooner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING

from bestresponse.logic.embedded.tables import spell
from bestresponse.logic.embedded.unify import Fault, compare, undo, unify
from bestresponse.logic.language.terms import NIL, Atom, Struct, Term, Var, deref, items_of, list_of

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["WALKING", "WALKING_MULTIPLE"]

Arguments = list[Term]
_DRAWN = 20
"""How many combinations are followed before a game is refused for their number."""


def _enter(machine: Machine, arguments: Arguments) -> bool:
    """Unify with the situation as the object by which answers about it are kept."""
    situation = arguments[0]
    if machine.situations is not None:
        situation = machine.situations.enter(situation, machine.work)
    return unify(arguments[1], situation, machine.trail)


def _count_position(machine: Machine, arguments: Arguments) -> bool:
    machine.work.count_position()
    return True


def _count_end(machine: Machine, arguments: Arguments) -> bool:
    machine.work.count_end()
    return True


def _find_all(machine: Machine, arguments: Arguments) -> bool:
    machine.work.find_all()
    return True


def _find_options(machine: Machine, arguments: Arguments) -> bool:
    """Find the different moves of a player in a list of `Mover-Move`."""
    pairs = _read_pairs(machine, arguments[1])
    who = deref(arguments[0])
    plain = who.__class__ is Atom
    own = [m for mover, m in pairs if (mover == who if plain and mover.__class__ is Atom else not compare(mover, who))]
    return _give(machine, arguments[2], _drop_copies(own))


def _find_mover_beside(machine: Machine, arguments: Arguments) -> bool:
    """Find the first mover in a list of `Mover-Move` who is not in a list of movers."""
    known = items_of(arguments[0])[0]
    movers = _drop_copies([mover for mover, _ in _read_pairs(machine, arguments[1])])
    other = next((mover for mover in movers if all(compare(mover, one) for one in known)), None)
    return other is not None and unify(arguments[2], other, machine.trail)


def _find_other_movers(machine: Machine, arguments: Arguments) -> bool:
    """Find who moves beside the first, and the forms of all moves; no forms where a move has no arguments."""
    pairs = _read_pairs(machine, arguments[0])
    movers = _drop_copies([mover for mover, _ in pairs])[1:]
    if movers:
        _expect_combinations(machine, pairs, arguments[1])
    forms = dict.fromkeys((move.name, len(move.args)) for _, move in pairs if isinstance(move, Struct))
    plain = any(not isinstance(move, Struct) for _, move in pairs)
    shown = [] if plain else [Struct(name, tuple(Var() for _ in range(size))) for name, size in reversed(forms)]
    return _give(machine, arguments[2], movers) and _give(machine, arguments[3], list(shown))


def _expect_combinations(machine: Machine, pairs: list[tuple[Term, Term]], situation: Term) -> None:
    """Stop a game that will have too many ends, where they can be foreseen: the combinations of simultaneous moves.

    A move may end the play before the others have moved; then there are fewer ends. So some combinations are drawn and
    followed: if fewer than half of all came to their last move, one of the drawn ones would most likely not, and
    nothing is foreseen. What is not foreseen is refused when it has been counted.
    """
    options: dict[object, dict[object, Term]] = {}
    variables: list[Var] = []
    try:
        for mover, move in pairs:
            options.setdefault(spell(mover, variables), {})[spell(move, variables)] = move
    except RecursionError:
        return
    sure = prod(map(len, options.values())) // 2
    if variables or not machine.work.exceeds_ends(sure):
        return
    *earlier, _ = (list(moves.values()) for moves in options.values())
    source = random.Random(0)
    with suppress(Fault):
        if not any(_ends_early(machine, earlier, situation, source) for _ in range(_DRAWN)):
            machine.work.expect_ends(sure)


def _ends_early(machine: Machine, options: list[list[Term]], situation: Term, source: random.Random) -> bool:
    """Make one move of each player and say whether the play ends on the way."""
    for moves in options:
        situation = Struct("do", (source.choice(moves), situation))
        inner = machine.nest()
        inner.below = machine.below + machine.used
        ended = any(True for _ in inner.run_predicate("final/1", [situation]))
        undo(inner.trail, 0)
        if ended:
            return True
    return False


def _read_pairs(machine: Machine, term: Term) -> list[tuple[Term, Term]]:
    items = [deref(item) for item in items_of(term)[0]]
    machine.spend(2 * len(items))
    return [(deref(item.args[0]), deref(item.args[1])) for item in items if isinstance(item, Struct)]


def _drop_copies(terms: list[Term]) -> list[Term]:
    """Keep the first of identical terms; a variable is identical to itself only."""
    variables: list[Var] = []
    found: dict[object, Term] = {}
    try:
        for term in terms:
            found.setdefault(spell(term, variables), term)
        return list(found.values())
    except RecursionError:
        return [term for i, term in enumerate(terms) if all(compare(term, other) for other in terms[:i])]


def _give(machine: Machine, place: Term, items: list[Term]) -> bool:
    machine.charge(3 * len(items))
    return unify(place, list_of(items) if items else NIL, machine.trail)


def _choose(machine: Machine, arguments: Arguments) -> Iterator[bool]:
    """Unify with one item of a list after the other."""
    trail = machine.trail
    for item in items_of(arguments[1])[0]:
        mark = len(trail)
        machine.spend(1)
        if unify(arguments[0], item, trail):
            yield True
        undo(trail, mark)


WALKING: dict[str, Callable[[Machine, Arguments], bool]] = {
    "known situation/2": _enter,
    "count position/0": _count_position,
    "count end/0": _count_end,
    "all found/0": _find_all,
    "mover beside/3": _find_mover_beside,
    "options of/3": _find_options,
    "other movers/4": _find_other_movers,
}
WALKING_MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {"one of/2": _choose}
