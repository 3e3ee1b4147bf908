"""Terms of a logic program, and the writer of canonical text.

A term is a variable, an atom, a string, a number (`int` or `fractions.Fraction`) or a structure of
a name and at least one argument (ISO/IEC 13211-1, section 7.1). Lists are structures named "[|]"
that end in the atom "[]". `write` gives text without operators, `f(X, 'a b', [1, 2])`, which every
reader of Prolog understands in one way only.

Atoms and strings are subclasses of `str` and structures have slots: an engine makes millions of
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache


class Atom(str):
    """A constant symbol."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Atom({str.__repr__(self)})"


class String(str):
    """Text in double quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"String({str.__repr__(self)})"


class Var:
    """A logic variable.

    `ref` is what it is bound to, `None` while it is free; `age` is given when it is compared.
    """

    __slots__ = ("age", "name", "ref")
    age: int

    def __init__(self, name: str = "_") -> None:
        self.name = name
        self.ref: Term | None = None

    def __repr__(self) -> str:
        return f"Var({self.name!r})"


class Struct:
    """A name applied to one or more arguments.

    `solid` is set where no variable, free or bound, is known to be in it.

    A solid structure never changes, so it is shared instead of copied, and nobody has to look into
    it for variables.
    """

    __slots__ = ("args", "name", "solid")

    def __init__(self, name: str, args: tuple[Term, ...], solid: bool = False) -> None:
        self.name = name
        self.args = args
        self.solid = solid

    def __repr__(self) -> str:
        return f"Struct({write(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and same(self, other)

    def __hash__(self) -> int:
        return hash((self.name, len(self.args)))


Number = int | Fraction
Term = Atom | String | Var | Struct | int | Fraction

NIL = Atom("[]")
CONS = "[|]"

_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_SOLO = frozenset({"[]", "!", "{}"})
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"}


def deref(term: Term) -> Term:
    """What a variable is bound to at the end of its chain, or the term itself."""
    while term.__class__ is Var:
        ref = term.ref
        if ref is None:
            return term
        term = ref
    return term


def list_of(items: Iterable[Term], tail: Term = NIL) -> Term:
    """The list of `items`, ending in `tail`."""
    solid = tail.solid if isinstance(tail, Struct) else tail.__class__ is not Var
    for item in reversed(tuple(items)):
        solid = solid and (item.solid if item.__class__ is Struct else item.__class__ is not Var)
        tail = Struct(CONS, (item, tail), solid)
    return tail


def items_of(term: Term) -> tuple[list[Term], Term]:
    """The items of a list and what it ends in: `NIL` when it is a proper list."""
    items: list[Term] = []
    term = deref(term)
    while term.__class__ is Struct and term.name == CONS and len(term.args) == 2:
        item, term = term.args
        items.append(item)
        if term.__class__ is Var:
            term = deref(term)
    return items, term


def goals_of(term: Term, name: str) -> list[Term]:
    """The goals that are joined by commas or semicolons."""
    goals: list[Term] = []
    while isinstance(term, Struct) and term.name == name and len(term.args) == 2:
        goals.append(term.args[0])
        term = term.args[1]
    return [*goals, term]


def same(left: Term, right: Term) -> bool:
    """Whether two terms are identical.

    They have equal types, names and arguments, and the same free variables.
    """
    stack: list[tuple[Term, Term]] = [(left, right)]
    while stack:
        a, b = stack.pop()
        a = deref(a)
        b = deref(b)
        if a is b:
            continue
        if a.__class__ is not b.__class__ or a.__class__ is Var:
            return False
        if isinstance(a, Struct) and isinstance(b, Struct):
            if a.name != b.name or len(a.args) != len(b.args):
                return False
            stack.extend(zip(a.args, b.args, strict=True))
        elif a != b:
            return False
    return True


def walk_terms(*terms: Term) -> Iterator[Term]:
    """Yield terms and all their parts, the last ones first."""
    stack = [*terms]
    while stack:
        term = stack.pop()
        yield term
        if isinstance(term, Struct):
            stack.extend(term.args)


def variables_of(term: Term) -> list[Var]:
    """The free variables of a term, each once, from left to right."""
    variables: dict[int, Var] = {}
    stack = [term]
    while stack:
        term = deref(stack.pop())
        if isinstance(term, Var):
            variables.setdefault(id(term), term)
        elif isinstance(term, Struct):
            stack.extend(reversed(term.args))
    return list(variables.values())


def write(term: Term) -> str:
    """Canonical text of a term.

    Atoms are quoted, notation is functional, lists are in brackets, and variables are numbered as
    they appear.
    """
    return "".join(_pieces(term, None))


def brief(term: Term, length: int = 60) -> str:
    """The start of the canonical text, for messages; ends even where the term does not."""
    text = "".join(_pieces(term, length))
    return text if len(text) <= length else text[:length] + "..."


def _pieces(term: Term, most: int | None) -> list[str]:
    """The text in pieces, all of them or a few more than `most`.

    Plain strings on the stack are punctuation.
    """
    numbers: dict[int, int] = {}
    pieces: list[str] = []
    stack: list[Term | str] = [term]
    while stack and (most is None or len(pieces) <= most):
        top = stack.pop()
        if top.__class__ is str:
            pieces.append(top)
        elif top.__class__ is Atom:
            pieces.append(_atom(top))
        elif top.__class__ is Struct:
            pieces.append(_flat(top, numbers) or _opened(top, stack))
        elif top.__class__ is not Var:
            pieces.append(_constant(top))  # type: ignore[arg-type]
        elif top.ref is not None:
            stack.append(deref(top))
        else:
            pieces.append(f"_{numbers.setdefault(id(top), len(numbers) + 1)}")
    return pieces


def _flat(term: Struct, numbers: dict[int, int]) -> str:
    """Write a structure of names, whole numbers and free variables at once, as most are.

    Returns an empty result if it is none.
    """
    texts = []
    for argument in term.args:
        if argument.__class__ is Var and argument.ref is None:
            texts.append(f"_{numbers.setdefault(id(argument), len(numbers) + 1)}")
        elif argument.__class__ is Atom:
            texts.append(_atom(argument))
        elif argument.__class__ is int:
            texts.append(str(argument))
        else:
            return ""
    return f"{_functor(term.name)}{','.join(texts)})" if term.name != CONS else ""


def _opened(term: Struct, stack: list[Term | str]) -> str:
    """How a structure or list begins; what is inside goes on the stack, last things first."""
    if term.name == CONS and len(term.args) == 2:
        items, tail = items_of(term)
        stack.append("]")
        if not (tail.__class__ is Atom and tail == NIL):
            stack += (tail, "|")
        opening = "["
    else:
        items = term.args  # type: ignore[assignment]
        opening = _functor(term.name)
        stack.append(")")
    for item in items[:0:-1]:
        stack += (item, ",")
    stack.append(items[0])
    return opening


def _constant(term: Term) -> str:
    if isinstance(term, String):
        return '"' + _escape(term).replace("\\'", "'").replace('"', '\\"') + '"'
    if isinstance(term, Fraction):
        return f"{term.numerator}r{term.denominator}"
    return str(term)


@lru_cache(4096)
def _atom(name: str) -> str:
    return str(name) if _PLAIN.match(name) or name in _SOLO else f"'{_escape(name)}'"


@lru_cache(4096)
def _functor(name: str) -> str:
    return f"{name}(" if _PLAIN.match(name) else f"'{_escape(name)}'("


def _escape(text: str) -> str:
    return "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\x{ord(c):x}\\") for c in text)
