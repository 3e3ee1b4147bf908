"""Built-in predicates about the text of atoms and strings, for the embedded engine. All text is bounded.

They answer, fail and raise as SWI-Prolog 9 does. Atoms, strings and numbers have a text; where a list of characters or
codes is taken for its text too, `[]` is the empty text, elsewhere `[]` has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.unify import Fault, undo, unify
from bestresponse.logic.language.reader import read_term
from bestresponse.logic.language.terms import (
    NIL,
    Atom,
    String,
    Term,
    Var,
    brief,
    deref,
    is_cell,
    items_of,
    list_of,
    write,
)
from bestresponse.logic.language.tokens import tokenize

if TYPE_CHECKING:
    from bestresponse.logic.embedded.machine import Machine

__all__ = ["DETERMINATE", "MULTIPLE"]

MAX_TEXT = 10_000
Arguments = list[Term]
Kind = type[Atom] | type[String]


class _Unspelt(Fault):
    """A term is no list of characters or codes; `partial` if that is only not known yet."""

    def __init__(self, message: str, partial: bool = False) -> None:
        super().__init__(message)
        self.partial = partial


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise LimitReached(f"A text became longer than {MAX_TEXT:,} characters.")
    return text


def _atomic(term: Term) -> str | None:
    """The text of an atom, string or number."""
    term = deref(term)
    if isinstance(term, str):
        return None if isinstance(term, Atom) and term == NIL else str(term)
    return write(term) if isinstance(term, int | float | Fraction) else None


def _spelt(term: Term) -> str:
    """The text of a string or of a list of characters or codes."""
    term = deref(term)
    if isinstance(term, String):
        return str(term)
    items, tail = items_of(term)
    characters = [_character(deref(item), isinstance(deref(items[0]), int)) for item in items]
    if isinstance(tail, Var):
        raise _Unspelt("arguments are not sufficiently instantiated: a list was expected", partial=True)
    if not (isinstance(tail, Atom) and tail == NIL):
        raise _Unspelt(f"a list was expected, {brief(term)} came")
    return "".join(characters)


def _character(item: Term, coded: bool) -> str:
    if isinstance(item, Var):
        raise _Unspelt("arguments are not sufficiently instantiated: a character was expected", partial=True)
    if coded and isinstance(item, int) and 0 <= item < 0x110000:
        return chr(item)
    if not coded and isinstance(item, Atom) and len(item) == 1:
        return str(item)
    raise _Unspelt(f"a character was expected, {brief(item)} came")


def _any(term: Term) -> str | None:
    """The text of a constant or of a list of characters or codes, if it has one."""
    text = _atomic(term)
    if text is not None:
        return text
    try:
        return _spelt(term)
    except _Unspelt:
        return None


def _required(term: Term) -> str:
    """The text of a constant or a list."""
    text = _atomic(term)
    return text if text is not None else _spelt(term)


def _constant(term: Term, free: bool = False) -> str | None:
    """The text of a constant, which it must be; `None` for a variable where that is allowed."""
    text = _atomic(term)
    if text is None and isinstance(deref(term), Var):
        if not free:
            raise Fault("arguments are not sufficiently instantiated: a text was expected")
    elif text is None:
        raise Fault(f"a text was expected, {brief(term)} came")
    return text


def _integer(term: Term) -> int | None:
    """An integer, which it must be unless it is a variable."""
    term = deref(term)
    if isinstance(term, int | Var):
        return term if isinstance(term, int) else None
    raise Fault(f"an integer was expected, {brief(term)} came")


def _number(text: str) -> Term | None:
    """The number a text is, with its sign and nothing else."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits in ("1.0Inf", "1.5NaN"):
        value: Term = float(digits[3:])
    else:
        tokens = tokenize(digits[:1000])
        if len(tokens) != 1 or tokens[0].kind != "number" or tokens[0].text != digits:
            return None
        try:
            value = read_term(f"{digits} .").term
        except ValueError:
            return None
    return -value if text[0] == "-" and isinstance(value, int | float | Fraction) else value


def _strict_number(text: str) -> Term:
    value = _number(text.lstrip())
    if value is None:
        raise Fault(f"{text[:60]!r} is not a number")
    return value


def _chars(text: str) -> Term:
    return list_of([Atom(c) for c in text])


def _codes(text: str) -> Term:
    return list_of([ord(c) for c in text])


def _known(machine: Machine, place: Term, value: Term) -> bool:
    """Unify and leave no trace of an attempt that fails."""
    mark = len(machine.trail)
    if unify(place, value, machine.trail):
        return True
    undo(machine.trail, mark)
    return False


def _exploded(parts: Callable[[str], Term], number: bool) -> Callable[[Machine, Arguments], bool]:
    """An atom or number and the list of its characters or codes."""
    join = _strict_number if number else Atom

    def relate(machine: Machine, arguments: Arguments) -> bool:
        whole = deref(arguments[0])
        if isinstance(whole, Var):
            return unify(whole, join(_bounded(_spelt(arguments[1]))), machine.trail)
        text = _atomic(whole)
        if text is None or (number and isinstance(whole, str)):
            raise Fault(f"{'a number' if number else 'an atom'} was expected, {brief(whole)} came")
        machine.charge(3 * len(text))
        if _known(machine, arguments[1], parts(text)):
            return True
        try:
            other = join(_spelt(arguments[1]))
        except _Unspelt as lack:
            if lack.partial:
                return False
            raise
        return unify(whole, other, machine.trail)

    return relate


def _string_parts(parts: Callable[[str], Term]) -> Callable[[Machine, Arguments], bool]:
    """A text and the list of its characters or codes; what has any text will do for either."""

    def relate(machine: Machine, arguments: Arguments) -> bool:
        text = _any(arguments[0])
        if text is not None:
            machine.charge(3 * len(text))
            return _known(machine, arguments[1], parts(text)) or _any(arguments[1]) == text
        other = String(_bounded(_spelt(arguments[1])))
        if isinstance(deref(arguments[0]), Var):
            return unify(arguments[0], other, machine.trail)
        try:
            return _spelt(arguments[0]) == other
        except _Unspelt as lack:
            if lack.partial:
                return False
            raise

    return relate


def _length(machine: Machine, arguments: Arguments) -> bool:
    length = len(_required(arguments[0]))
    wanted = _integer(arguments[1])
    return unify(arguments[1], length, machine.trail) if wanted is None else wanted == length


def _char_code(machine: Machine, arguments: Arguments) -> bool:
    character, code = deref(arguments[0]), _integer(arguments[1])
    if not isinstance(character, Var) and not (isinstance(character, Atom) and len(character) == 1):
        raise Fault(f"a character was expected, {brief(character)} came")
    if code is not None and (not 0 <= code < 0x110000 or 0xD800 <= code <= 0xDFFF):
        raise Fault(f"there is no character with the code {code}")
    if isinstance(character, Var):
        if code is None:
            raise Fault("arguments are not sufficiently instantiated: a character or its code must be known")
        return unify(character, Atom(chr(code)), machine.trail)
    return unify(arguments[1], ord(str(character)), machine.trail)


def _atom_number(machine: Machine, arguments: Arguments) -> bool:
    text, number = deref(arguments[0]), deref(arguments[1])
    if isinstance(text, str) and not (isinstance(text, Atom) and text == NIL):
        value = _number(str(text))
        return value is not None and unify(number, value, machine.trail)
    if isinstance(number, Var):
        raise Fault(f"an atom was expected, {brief(text)} came")
    if not isinstance(number, int | float | Fraction):
        raise Fault(f"a number was expected, {brief(number)} came")
    return unify(text, Atom(write(number)), machine.trail)


def _number_string(machine: Machine, arguments: Arguments) -> bool:
    number = deref(arguments[0])
    if not isinstance(number, Var | int | float | Fraction):
        raise Fault(f"a number was expected, {brief(number)} came")
    if not isinstance(number, Var) and _known(machine, arguments[1], String(write(number))):
        return True
    try:
        value = _number(_spelt(arguments[1]))
    except _Unspelt as lack:
        if lack.partial and not isinstance(number, Var):
            return False
        raise
    return value is not None and unify(number, value, machine.trail)


def _atom_string(machine: Machine, arguments: Arguments) -> bool:
    text = _any(arguments[0])
    if text is not None:
        place = deref(arguments[1])
        return unify(place, String(text), machine.trail) if isinstance(place, Var) else _any(place) == text
    text = _any(arguments[1])
    if text is None:
        raise Fault(f"a text was expected, {brief(arguments[0])} and {brief(arguments[1])} came")
    return unify(arguments[0], Atom(text), machine.trail)


def _changed(change: Callable[[str], str], kind: Kind) -> Callable[[Machine, Arguments], bool]:
    def relate(machine: Machine, arguments: Arguments) -> bool:
        text = change(_constant(arguments[0]) or "")
        known = _constant(arguments[1], free=True)
        return unify(arguments[1], kind(text), machine.trail) if known is None else known == text

    return relate


def _concat(kind: Kind) -> Callable[[Machine, Arguments], Iterator[bool] | bool]:
    def concat(machine: Machine, arguments: Arguments) -> Iterator[bool] | bool:
        first, second, whole = (_constant(argument, free=True) for argument in arguments)
        if first is not None and second is not None:
            joined = _bounded(first + second)
            return unify(arguments[2], kind(joined), machine.trail) if whole is None else whole == joined
        if whole is None:
            raise Fault("arguments are not sufficiently instantiated: a text was expected")
        return _splits(machine, arguments, whole, kind)

    return concat


def _splits(machine: Machine, arguments: Arguments, whole: str, kind: Kind) -> Iterator[bool]:
    mark = len(machine.trail)
    first, second = _atomic(arguments[0]), _atomic(arguments[1])
    for cut in range(len(whole) + 1):
        left, right = whole[:cut], whole[cut:]
        if first in (None, left) and second in (None, right):
            fits = first is not None or unify(arguments[0], kind(left), machine.trail)
            if fits and (second is not None or unify(arguments[1], kind(right), machine.trail)):
                yield True
        undo(machine.trail, mark)


def _part(kind: Kind) -> Callable[[Machine, Arguments], Iterator[bool]]:
    def part(machine: Machine, arguments: Arguments) -> Iterator[bool]:
        text = _constant(arguments[0]) or ""
        wanted = _constant(arguments[4], free=True)
        if any((_integer(place) or 0) < 0 for place in arguments[1:4]):
            raise Fault("a length that is not negative was expected")
        return _parts(machine, arguments, text, wanted, kind)

    return part


def _parts(machine: Machine, arguments: Arguments, text: str, wanted: str | None, kind: Kind) -> Iterator[bool]:
    mark = len(machine.trail)
    places = arguments[1:4] if wanted is not None else arguments[1:]
    for start, end in _spans(text, wanted):
        values: tuple[Term, ...] = (start, end - start, len(text) - end, kind(text[start:end]))
        if all(unify(place, value, machine.trail) for place, value in zip(places, values, strict=False)):
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
    between = (_constant(arguments[1]) or "") if len(arguments) == 3 else ""
    whole = arguments[-1]
    items, tail = items_of(arguments[0])
    texts = [_constant(item, free=True) for item in items]
    if not isinstance(tail, Var) and not (isinstance(tail, Atom) and tail == NIL):
        raise Fault(f"a list was expected, {brief(arguments[0])} came")
    known = [text for text in texts if text is not None]
    if isinstance(tail, Atom) and len(known) == len(texts):
        machine.charge(len(items))
        joined, given = _bounded(between.join(known)), _atomic(whole)
        return given == joined if given is not None else unify(whole, Atom(joined), machine.trail)
    if len(arguments) == 2 or isinstance(deref(whole), Var):
        raise Fault("arguments are not sufficiently instantiated: a text was expected")
    text = _constant(whole) or ""
    if not between:
        raise Fault("atomic_list_concat needs a separator to split a text")
    return unify(arguments[0], list_of([Atom(part) for part in text.split(between)]), machine.trail)


def _split(machine: Machine, arguments: Arguments) -> bool:
    text, separators, padding = (_spelling(argument) for argument in arguments[:3])
    place = deref(arguments[3])
    if not isinstance(place, Var) and place != NIL and not is_cell(place):
        raise Fault(f"a list was expected, {brief(place)} came")
    machine.charge(3 * len(text))
    text, start, parts = text.strip(padding) if padding else text, 0, list[Term]()
    while True:
        while start < len(text) and text[start] in padding:
            start += 1
        end = next((place for place in range(start, len(text)) if text[place] in separators), len(text))
        parts.append(String(text[start:end].rstrip(padding) if padding else text[start:end]))
        if end == len(text):
            return unify(arguments[3], list_of(parts), machine.trail)
        start = end + 1


def _spelling(term: Term) -> str:
    """The text of an atom, a string or a list of characters; numbers have none here."""
    return str(deref(term)) if _atomic(term) is not None and isinstance(deref(term), str) else _spelt(term)


DETERMINATE: dict[str, Callable[[Machine, Arguments], bool]] = {
    "atom_length/2": _length,
    "string_length/2": _length,
    "atom_chars/2": _exploded(_chars, number=False),
    "atom_codes/2": _exploded(_codes, number=False),
    "number_chars/2": _exploded(_chars, number=True),
    "number_codes/2": _exploded(_codes, number=True),
    "string_chars/2": _string_parts(_chars),
    "string_codes/2": _string_parts(_codes),
    "char_code/2": _char_code,
    "atom_number/2": _atom_number,
    "number_string/2": _number_string,
    "atom_string/2": _atom_string,
    "string_to_atom/2": lambda machine, arguments: _atom_string(machine, arguments[::-1]),
    "upcase_atom/2": _changed(str.upper, Atom),
    "downcase_atom/2": _changed(str.lower, Atom),
    "string_upper/2": _changed(str.upper, String),
    "string_lower/2": _changed(str.lower, String),
    "split_string/4": _split,
    "atomic_list_concat/2": _join,
    "atomic_list_concat/3": _join,
}
"""Predicates with at most one answer."""

MULTIPLE: dict[str, Callable[[Machine, Arguments], Iterator[bool] | bool]] = {
    "atom_concat/3": _concat(Atom),
    "string_concat/3": _concat(String),
    "sub_atom/5": _part(Atom),
    "sub_string/5": _part(String),
}
"""Predicates with many answers."""
