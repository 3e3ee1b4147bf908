"""Built-in predicates about the text of atoms and strings, for the embedded engine. All text is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from bestresponse.core.errors import LimitReached
from bestresponse.logic.builtins_terms import proper_list
from bestresponse.logic.reader import read_term
from bestresponse.logic.terms import NIL, Atom, String, Term, Var, deref, items_of, list_of, write
from bestresponse.logic.unify import Fault, undo, unify

if TYPE_CHECKING:
    from bestresponse.logic.machine import Machine

__all__ = ["DETERMINATE", "MULTIPLE"]

MAX_TEXT = 10_000
Arguments = list[Term]


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise LimitReached(f"A text became longer than {MAX_TEXT:,} characters.")
    return text


def _text(term: Term) -> str | None:
    """The text of a constant, or of a list of characters or codes; `None` for what has no text yet."""
    term = deref(term)
    if isinstance(term, str):
        return str(term)
    if isinstance(term, int | float | Fraction):
        return write(term)
    if isinstance(term, Var):
        return None
    items, tail = items_of(term)
    if items and isinstance(tail, Atom) and tail == NIL:
        return _characters([deref(item) for item in items])
    return None


def _characters(items: list[Term]) -> str | None:
    if all(isinstance(item, Atom) and len(item) == 1 for item in items):
        return "".join(map(str, items))
    if all(isinstance(item, int) and 0 < item < 0x110000 for item in items):
        return "".join(chr(item) for item in items if isinstance(item, int))
    return None


def _required(term: Term) -> str:
    text = _text(term)
    if text is None:
        raise Fault("arguments are not sufficiently instantiated: a text was expected")
    return text


def _number(text: str) -> Term | None:
    digits = text[1:] if text[:1] == "+" else text
    if digits != digits.strip():
        return None
    try:
        value = read_term(digits).term
    except ValueError:
        return None
    return value if isinstance(value, int | float | Fraction) else None


def _chars(text: str) -> Term:
    return list_of([Atom(c) for c in text])


def _codes(text: str) -> Term:
    return list_of([ord(c) for c in text])


def _exploded(parts: Callable[[str], Term], join: Callable[[str], Term]) -> Callable[[Machine, Arguments], bool]:
    """A predicate that relates a constant with the list of its characters or codes."""

    def relate(machine: Machine, arguments: Arguments) -> bool:
        if not isinstance(deref(arguments[0]), Var):
            text = _required(arguments[0])
            machine.charge(3 * len(text))
            return unify(arguments[1], parts(text), machine.trail)
        known = deref(arguments[1])
        items = [] if isinstance(known, String) else proper_list(known, machine)
        text = str(known) if isinstance(known, String) else _required(list_of(items)) if items else ""
        return unify(arguments[0], join(_bounded(text)), machine.trail)

    return relate


def _strict_number(text: str) -> Term:
    value = _number(text)
    if value is None:
        raise Fault(f"{text[:60]!r} is not a number")
    return value


def _length(machine: Machine, arguments: Arguments) -> bool:
    return unify(arguments[1], len(_required(arguments[0])), machine.trail)


def _char_code(machine: Machine, arguments: Arguments) -> bool:
    code = deref(arguments[1])
    if isinstance(code, int) and 0 < code < 0x110000 and not 0xD800 <= code <= 0xDFFF:
        return unify(arguments[0], Atom(chr(code)), machine.trail)
    text = _required(arguments[0])
    return len(text) == 1 and unify(code, ord(text), machine.trail)


def _as_number(kind: type[Atom] | type[String]) -> Callable[[Machine, Arguments], bool]:
    def relate(machine: Machine, arguments: Arguments) -> bool:
        text = _text(arguments[0])
        if text is None:
            return unify(arguments[0], kind(_required(arguments[1])), machine.trail)
        value = _number(text)
        return value is not None and unify(arguments[1], value, machine.trail)

    return relate


def _converted(first: type[Atom] | type[String], second: type[Atom] | type[String]) -> Callable[..., bool]:
    def convert(machine: Machine, arguments: Arguments) -> bool:
        text = _text(arguments[0])
        if text is not None:
            return unify(arguments[1], second(text), machine.trail)
        return unify(arguments[0], first(_required(arguments[1])), machine.trail)

    return convert


def _changed(change: Callable[[str], str]) -> Callable[[Machine, Arguments], bool]:
    return lambda machine, arguments: unify(arguments[1], Atom(change(_required(arguments[0]))), machine.trail)


def _concat(kind: type[Atom] | type[String]) -> Callable[[Machine, Arguments], Iterator[bool] | bool]:
    def concat(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
        first, second = _text(arguments[0]), _text(arguments[1])
        if first is not None and second is not None:
            return unify(arguments[2], kind(_bounded(first + second)), machine.trail)
        return _splits(machine, arguments, _required(arguments[2]), kind)

    return concat


def _splits(machine: Machine, arguments: Arguments, whole: str, kind: type[Atom] | type[String]) -> Iterator[bool]:
    mark = len(machine.trail)
    first, second = _text(arguments[0]), _text(arguments[1])
    for cut in range(len(whole) + 1):
        left, right = whole[:cut], whole[cut:]
        if first in (None, left) and second in (None, right):
            fits = first is not None or unify(arguments[0], kind(left), machine.trail)
            if fits and (second is not None or unify(arguments[1], kind(right), machine.trail)):
                yield True
        undo(machine.trail, mark)


def _sub_atom(machine: Machine, arguments: Arguments) -> Iterator[bool]:
    text, wanted = _required(arguments[0]), _text(arguments[4])
    mark = len(machine.trail)
    for start, end in _spans(text, wanted):
        values: tuple[Term, ...] = (start, end - start, len(text) - end, Atom(text[start:end]))
        if all(unify(place, value, machine.trail) for place, value in zip(arguments[1:], values, strict=True)):
            yield True
        else:
            machine.charge(1)
        undo(machine.trail, mark)


def _spans(text: str, wanted: str | None) -> Iterator[tuple[int, int]]:
    """Where parts of a text begin and end: all of them, or those equal to the one wanted."""
    for start in range(len(text) + 1):
        if wanted is None:
            yield from ((start, end) for end in range(start, len(text) + 1))
        elif text.startswith(wanted, start):
            yield start, start + len(wanted)


def _join(machine: Machine, arguments: Arguments) -> bool:
    between = _required(arguments[1]) if len(arguments) == 3 else ""
    whole = arguments[-1]
    items, tail = items_of(arguments[0])
    texts = [_text(item) for item in items]
    if isinstance(tail, Atom) and all(text is not None for text in texts):
        machine.charge(len(items))
        joined = _bounded(between.join(text for text in texts if text is not None))
        return unify(whole, Atom(joined), machine.trail)
    if not between:
        raise Fault("atomic_list_concat needs a separator to split a text")
    parts = _required(whole).split(between)
    return unify(arguments[0], list_of([Atom(part) for part in parts]), machine.trail)


DETERMINATE: dict[str, Callable[[Machine, Arguments], bool]] = {
    "atom_length/2": _length,
    "string_length/2": _length,
    "atom_chars/2": _exploded(_chars, Atom),
    "atom_codes/2": _exploded(_codes, Atom),
    "string_chars/2": _exploded(_chars, String),
    "string_codes/2": _exploded(_codes, String),
    "number_codes/2": _exploded(_codes, _strict_number),
    "number_chars/2": _exploded(_chars, _strict_number),
    "char_code/2": _char_code,
    "atom_number/2": _as_number(Atom),
    "number_string/2": lambda machine, arguments: _as_number(String)(machine, [arguments[1], arguments[0]]),
    "atom_string/2": _converted(Atom, String),
    "string_to_atom/2": _converted(String, Atom),
    "upcase_atom/2": _changed(str.upper),
    "downcase_atom/2": _changed(str.lower),
    "atomic_list_concat/2": _join,
    "atomic_list_concat/3": _join,
}
"""Predicates with at most one answer."""

MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {
    "atom_concat/3": _concat(Atom),
    "string_concat/3": _concat(String),
    "sub_atom/5": _sub_atom,
}
"""Predicates with many answers."""
