"""Unification, copying and the standard order of terms for the embedded engine.

They are done in loops, never by recursion.

A variable does not unify with a term that it is part of, so no term is cyclic and no order of steps
matters. But terms that share their parts can be far larger than the memory they take. So after some
visits the loops here remember which parts they have seen, and count their visits: `allow_visits`
says how many the present thread may make.
"""

import threading
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key

from bestresponse.core.errors import LimitReached
from bestresponse.logic.language.terms import NIL, Atom, Number, String, Struct, Term, Var, deref

LONG = 1 << 62
"""Whole numbers from here on take more memory than the cell that holds them."""

# Looking at a small term is part of the step that does so, and is not counted.
_FREE_VISITS = 8
# Terms may share parts, so that a few of them are very many on paper; small ones are faster without
# remembering.
_REMEMBER_AFTER = 256
# Spelling is recursive: a call with a deeper argument is not looked up in a table.
_DEEPEST_SPELT = 20


class _Meter(threading.local):
    """How many terms the present thread may still visit."""

    left = float("inf")


_meter = _Meter()


def allow_visits(visits: int) -> None:
    """Set how many terms this thread may visit from now on."""
    _meter.left = visits


def _count(visits: int) -> None:
    _meter.left -= visits
    if _meter.left < 0:
        raise LimitReached("It compares terms that are too large.")


class Fault(Exception):
    """A goal cannot be run or an expression has no value.

    The text says why, `origin` (line, text) where.
    """

    origin: tuple[int, str] | None = None


def bind(variable: Var, term: Term, trail: list[Var]) -> bool:
    """Give a free variable its value; False where it would become part of itself."""
    if term.__class__ is Struct and not term.solid and _occurs(variable, term):
        return False
    variable.ref = term
    trail.append(variable)
    return True


def _occurs(variable: Var, struct: Struct) -> bool:
    stack = [struct]
    visits = 0
    seen = set[int]()
    while stack:
        struct = stack.pop()
        if visits > _REMEMBER_AFTER:
            if id(struct) in seen:
                continue
            seen.add(id(struct))
        for part in struct.args:
            if part.__class__ is Var:
                part = deref(part)
                if part is variable:
                    return True
            if part.__class__ is Struct and not part.solid:
                stack.append(part)
        visits += 1
        if visits > _FREE_VISITS:
            _count(1)
    return False


def unify(left: Term, right: Term, trail: list[Var]) -> bool:
    """Make two terms equal, noting every binding on the trail.

    On failure the caller undoes the trail.
    """
    left = deref(left)
    right = deref(right)
    if left.__class__ is not Struct or right.__class__ is not Struct:
        return _unify_simple(left, right, trail)
    stack: list[tuple[Term, Term]] = [(left, right)]
    visits = 0
    seen = set[tuple[int, int]]()
    while stack:
        a, b = stack.pop()
        a = deref(a)
        b = deref(b)
        if a is b:
            continue
        if a.__class__ is not Struct or b.__class__ is not Struct:
            if not _unify_simple(a, b, trail):
                return False
            continue
        visits += 1
        if visits > _REMEMBER_AFTER:
            if (id(a), id(b)) in seen:
                continue
            seen.add((id(a), id(b)))
        if a.name != b.name or len(a.args) != len(b.args):
            return False
        if visits > _FREE_VISITS:
            _count(1)
        stack.extend(zip(reversed(a.args), reversed(b.args), strict=True))
    return True


def _unify_simple(left: Term, right: Term, trail: list[Var]) -> bool:
    if left is right:
        return True
    if left.__class__ is Var:
        return bind(left, right, trail)
    if right.__class__ is Var:
        return bind(right, left, trail)
    return left.__class__ is right.__class__ and left == right


def undo(trail: list[Var], mark: int) -> None:
    """Free every variable bound since the trail had length `mark`."""
    while len(trail) > mark:
        trail.pop().ref = None


def count_number_words(number: Number) -> int:
    """Count the words of memory that a number takes."""
    return (number.numerator.bit_length() + number.denominator.bit_length()) // 64


def copy(term: Term, charge: Callable[[int], None], shared: bool = False) -> Term:
    """Copy a term with fresh variables.

    Parts that are `shared` stay so, or else cannot hide the size of the whole.

    Numbers are not copied but charged by their size: what is copied outlives the work that made it.
    """
    term = deref(term)
    if term.__class__ is not Struct:
        return _copy_simple(term, charge)
    if shared and term.solid:
        return term
    charge(len(term.args) + 1)
    fresh: dict[int, Var] = {}
    copied: dict[int, Struct] = {}
    done: list[list[Term]] = [[]]
    work: list[tuple[Struct, int, int]] = [(term, 0, 0)]
    unknown = 0
    while work:
        struct, position, before = work.pop()
        collected = done[-1]
        arguments = struct.args
        size = len(arguments)
        while position < size:
            argument = arguments[position]
            position += 1
            if argument.__class__ is Var:
                argument = deref(argument)
                if argument.__class__ is Var:
                    unknown += 1
                    argument = fresh.setdefault(id(argument), Var())
            if argument.__class__ is Struct:
                if shared:
                    known = argument if argument.solid else copied.get(id(argument))
                    if known is not None:
                        unknown += not known.solid
                        collected.append(known)
                        continue
                charge(len(argument.args) + 1)
                work += [(struct, position, before), (argument, 0, unknown)]
                done.append([])
                break
            if argument.__class__ is Fraction or (
                argument.__class__ is int and not -LONG < argument < LONG
            ):
                charge(count_number_words(argument))
            collected.append(argument)
        else:
            done.pop()
            finished = Struct(struct.name, tuple(collected), unknown == before)
            if shared:
                copied[id(struct)] = finished
            if not done:
                return finished
            done[-1].append(finished)
    raise AssertionError("a structure is always finished")


def _copy_simple(term: Term, charge: Callable[[int], None]) -> Term:
    """Copy a term that is no structure.

    A variable becomes a fresh one, and a large number is charged.
    """
    if isinstance(term, Var):
        return Var()
    if isinstance(term, Fraction) or (isinstance(term, int) and not -LONG < term < LONG):
        charge(count_number_words(term))
    return term


def is_ground(term: Term) -> bool:
    """Whether no variable is free in the term."""
    stack = [term]
    visits = 0
    seen = set[int]()
    while stack:
        term = deref(stack.pop())
        if isinstance(term, Var):
            return False
        if isinstance(term, Struct) and not term.solid:
            visits += 1
            if visits > _REMEMBER_AFTER:
                if id(term) in seen:
                    continue
                seen.add(id(term))
            if visits > _FREE_VISITS:
                _count(1)
            stack.extend(term.args)
    return True


def compare_terms(left: Term, right: Term) -> int:
    """-1, 0 or 1 in the standard order of terms.

    The order is numbers, strings, [], atoms, structures (arity, name, arguments).

    Variables are equal to themselves only; they have no order.
    """
    stack: list[tuple[Term, Term]] = [(left, right)]
    visits = 0
    seen = set[tuple[int, int]]()
    while stack:
        a, b = stack.pop()
        a = deref(a)
        b = deref(b)
        if a is b:
            continue
        if isinstance(a, Struct) and isinstance(b, Struct):
            _count(1)
            visits += 1
            if visits > _REMEMBER_AFTER:
                if (id(a), id(b)) in seen:
                    continue
                seen.add((id(a), id(b)))
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
    rank_a = _rank(a)
    rank_b = _rank(b)
    if rank_a != rank_b:
        return -1 if rank_a < rank_b else 1
    if rank_a == 0:
        return -1
    if a == b:
        return 0
    return -1 if a < b else 1  # type: ignore[operator]


def _rank(term: Term) -> int:
    if isinstance(term, Var):
        return 0
    if isinstance(term, int | Fraction):
        return 1
    if isinstance(term, String):
        return 2
    if isinstance(term, Atom):
        return 4 if term != NIL else 3
    return 5


def spell(term: Term, variables: list[Var], depth: int = 0) -> object:
    """Return a value that is equal for terms that are the same up to variable names."""
    term = deref(term)
    kind = term.__class__
    if kind is Atom or kind is int:
        return term
    if isinstance(term, Var):
        for number, variable in enumerate(variables):
            if variable is term:
                return (number,)
        variables.append(term)
        return (len(variables) - 1,)
    if isinstance(term, Struct):
        if depth > _DEEPEST_SPELT:
            raise RecursionError
        return (term.name, *[spell(part, variables, depth + 1) for part in term.args])
    return (None, str(term)) if kind is String else term


order_key = cmp_to_key(compare_terms)
"""For `sorted`: the standard order of terms."""
