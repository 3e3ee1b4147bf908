"""What `solver_language` does again and again while it walks through a game, in Python: the same answers, sooner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING

from bestresponse.logic.embedded.tables import spell
from bestresponse.logic.embedded.unify import compare, undo, unify
from bestresponse.logic.language.terms import NIL, Struct, Term, Var, deref, items_of, list_of

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["WALKING", "WALKING_MULTIPLE"]

Arguments = list[Term]


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
    own = [move for mover, move in pairs if compare(mover, arguments[0]) == 0]
    return _give(machine, arguments[2], _drop_copies(own))


def _find_other_movers(machine: Machine, arguments: Arguments) -> bool:
    """Find who moves beside the first, and the forms of all moves; no forms where a move has no arguments."""
    pairs = _read_pairs(machine, arguments[0])
    movers = _drop_copies([mover for mover, _ in pairs])[1:]
    if movers:
        machine.work.expect_ends(_count_combinations(pairs))
    forms = dict.fromkeys((move.name, len(move.args)) for _, move in pairs if isinstance(move, Struct))
    plain = any(not isinstance(move, Struct) for _, move in pairs)
    shown = [] if plain else [Struct(name, tuple(Var() for _ in range(size))) for name, size in reversed(forms)]
    return _give(machine, arguments[1], movers) and _give(machine, arguments[2], list(shown))


def _count_combinations(pairs: list[tuple[Term, Term]]) -> int:
    """Count the combinations of moves that are made at the same time; each of them leads to an end at least."""
    options: dict[object, set[object]] = {}
    variables: list[Var] = []
    try:
        for mover, move in pairs:
            options.setdefault(spell(mover, variables), set()).add(spell(move, variables))
    except RecursionError:
        return 1
    return prod(map(len, options.values()))


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
    "options of/3": _find_options,
    "other movers/3": _find_other_movers,
}
WALKING_MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {"one of/2": _choose}
