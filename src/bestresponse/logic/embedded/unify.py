"""Unification, copying and the standard order of terms, for the embedded engine: loops, never recursion.

There is no occurs check, as in every common Prolog, so a term may become cyclic, and terms that share their parts can
be far larger than the memory they take. Every long loop here therefore looks at the clock: `set_deadline` says how long
the present thread may go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cmp_to_key
from itertools import count
from math import copysign

from bestresponse.core.errors import LimitReached
from bestresponse.logic.language.terms import NIL, Atom, String, Struct, Term, Var, deref

__all__ = ["Fault", "age", "compare", "copy", "is_ground", "order_key", "set_deadline", "settle_ages", "undo", "unify"]

_FREE_VISITS = 8
_ages = count()
_LOOK_EVERY = 20_000


class _Meter(threading.local):
    """What the present thread has visited, and until when it may go on."""

    visits = 0
    look_at = _LOOK_EVERY
    deadline = float("inf")


_meter = _Meter()


def set_deadline(deadline: float) -> None:
    """Until when (on the monotonic clock) this thread may visit terms."""
    _meter.deadline = deadline


def _count(visits: int) -> None:
    _meter.visits += visits
    if _meter.visits > _meter.look_at:
        _meter.look_at = _meter.visits + _LOOK_EVERY
        if time.monotonic() > _meter.deadline:
            raise LimitReached("It did not finish in time: it compares terms that are too large.")


class Fault(Exception):
    """A goal cannot be run or an expression has no value; the text says why."""


def unify(left: Term, right: Term, trail: list[Var]) -> bool:
    """Make two terms equal, noting every binding on the trail; on failure the caller undoes the trail."""
    left, right = deref(left), deref(right)
    if left.__class__ is not Struct or right.__class__ is not Struct:
        return _unify_simple(left, right, trail)
    stack: list[tuple[Term, Term]] = [(left, right)]
    visits = 0
    while stack:
        a, b = stack.pop()
        a, b = deref(a), deref(b)
        if a is b:
            continue
        if a.__class__ is Var:
            a.ref = b
            trail.append(a)
        elif b.__class__ is Var:
            b.ref = a
            trail.append(b)
        elif a.__class__ is not b.__class__:
            return False
        elif isinstance(a, Struct):
            visits += 1
            if a.name != b.name or len(a.args) != len(b.args):  # type: ignore[union-attr]
                return False
            if visits > _FREE_VISITS:
                _count(1)
            stack.extend(zip(a.args, b.args, strict=True))  # type: ignore[union-attr]
        elif a != b:
            return False
    return True


def _unify_simple(left: Term, right: Term, trail: list[Var]) -> bool:
    if left is right:
        return True
    if left.__class__ is Var:
        left.ref = right
        trail.append(left)
        return True
    if right.__class__ is Var:
        right.ref = left
        trail.append(right)
        return True
    return left.__class__ is right.__class__ and left == right and (left != 0 or str(left) == str(right))


def undo(trail: list[Var], mark: int) -> None:
    """Free every variable bound since the trail had length `mark`."""
    while len(trail) > mark:
        trail.pop().ref = None


def copy(term: Term, charge: Callable[[int], None]) -> Term:
    """The term with fresh variables; ground parts are copied too, so that sharing cannot hide their size."""
    term = deref(term)
    if not isinstance(term, Struct):
        return Var() if isinstance(term, Var) else term
    charge(len(term.args) + 1)
    fresh: dict[int, Var] = {}
    done: list[list[Term]] = [[]]
    work: list[tuple[Struct, int]] = [(term, 0)]
    while work:
        struct, position = work.pop()
        collected = done[-1]
        arguments = struct.args
        while position < len(arguments):
            argument = deref(arguments[position])
            position += 1
            if isinstance(argument, Struct):
                charge(len(argument.args) + 1)
                work += [(struct, position), (argument, 0)]
                done.append([])
                break
            if isinstance(argument, Var):
                argument = fresh.setdefault(id(argument), argument.__class__())
            collected.append(argument)
        else:
            done.pop()
            finished = Struct(struct.name, tuple(collected))
            if not done:
                return finished
            done[-1].append(finished)
    raise AssertionError("a structure is always finished")


def is_ground(term: Term) -> bool:
    """Whether no variable is free in the term."""
    stack, visits = [term], 0
    while stack:
        term = deref(stack.pop())
        if isinstance(term, Var):
            return False
        if isinstance(term, Struct):
            visits += 1
            if visits > _FREE_VISITS:
                _count(1)
            stack.extend(term.args)
    return True


def compare(left: Term, right: Term) -> int:
    """-1, 0 or 1 in the standard order: variables, numbers, strings, [], atoms, structures (arity, name, arguments)."""
    stack: list[tuple[Term, Term]] = [(left, right)]
    while stack:
        a, b = stack.pop()
        a, b = deref(a), deref(b)
        if a is b:
            continue
        if isinstance(a, Struct) and isinstance(b, Struct):
            _count(1)
            if len(a.args) != len(b.args):
                return -1 if len(a.args) < len(b.args) else 1
            if a.name != b.name:
                return -1 if a.name < b.name else 1
            stack.extend(zip(reversed(a.args), reversed(b.args), strict=True))
            continue
        result = _compare_simple(a, b)
        if result:
            return result
    return 0


def _compare_simple(a: Term, b: Term) -> int:
    rank_a, rank_b = _rank(a), _rank(b)
    if rank_a != rank_b:
        return -1 if rank_a < rank_b else 1
    if isinstance(a, Var) and isinstance(b, Var):
        return -1 if age(a) < age(b) else 1
    if a == b:
        return _compare_types(a, b)
    return -1 if a < b else 1  # type: ignore[operator]


def age(variable: Var) -> int:
    """The place of a variable in the standard order: that in which variables were first looked at."""
    try:
        return variable.age
    except AttributeError:
        variable.age = next(_ages)
        return variable.age


def settle_ages(items: Iterable[Term]) -> None:
    """Let variables that are items, or arguments of items, come in this order, however they will be compared."""
    for item in map(deref, items):
        for part in (item, *(item.args if isinstance(item, Struct) else ())):
            part = deref(part)
            if isinstance(part, Var):
                age(part)


def _compare_types(a: Term, b: Term) -> int:
    if isinstance(a, float) and isinstance(b, float) and a == 0:
        return int(copysign(1.0, a)) - int(copysign(1.0, b)) >> 1
    if isinstance(a, float) is isinstance(b, float):
        return 0
    return -1 if isinstance(a, float) else 1


def _rank(term: Term) -> int:
    if isinstance(term, Var):
        return 0
    if isinstance(term, int | float | Fraction):
        return 1
    if isinstance(term, String):
        return 2
    if isinstance(term, Atom):
        return 4 if term != NIL else 3
    return 5


order_key = cmp_to_key(compare)
"""For `sorted`: the standard order of terms."""
