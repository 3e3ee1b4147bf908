"""Reading the terms SWI-Prolog writes with `quoted(true), ignore_ops(true)`: functional notation, no operators.

This is not a reader for programs: it understands exactly what that writer produces, in one pass and without recursion.
Commas only separate there (the atom is written in quotes), so they are passed over like blanks. Constants and flat
terms without variables, `move(p1,a)`, come again and again in a table; each is built once and shared. The rows of a
table are cut into their parts at the commas.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.logic.language.terms import CONS, NIL, Atom, String, Struct, Term, Var

__all__ = ["decode"]

_NAME: Final = r"""'(?:[^'\\]|\\.)*'|[^\d_\s()\[\]{},|"'`][^\s()\[\]{},|"'`]*"""
_NUMBER: Final = r"-?\d+(?:r\d+)?"
_TOKEN: Final = rf"""{_NUMBER}|(?:{_NAME})\(?|_\w*|"(?:[^"\\]|\\.)*"|\[\]|\{{\}}\(?|[()\[\]{{}}|]|[^\s,]"""
_PLAIN: Final = r"(?:[a-z]\w*|'\w*'|-?\d+(?:r\d+)?)(?=[,)\]])"
_FLAT: Final = rf"(?:(?:[a-z]\w*|-)\(|\[){_PLAIN}(?:,{_PLAIN})*[)\]]"
_NESTED: Final = rf"[a-z]\w*\((?:{_PLAIN}|{_FLAT})(?:,(?:{_PLAIN}|{_FLAT}))*\)"
_CALL: Final = rf"(?:[a-z]\w*|-)\({_PLAIN}(?:,{_PLAIN})*\)"
_CALLS: Final = rf"\[{_CALL}(?:,{_CALL})*\]"
_ROW: Final = rf"-\(\[{_CALLS}(?:,{_CALLS})*\],{_CALLS}\)"
_TOKENS: Final = re.compile(_TOKEN, re.DOTALL)
_CHUNKS: Final = re.compile(rf"{_ROW}|{_CALLS}|{_NESTED}|{_FLAT}|{_TOKEN}", re.DOTALL)
_NUMBERS: Final = re.compile(_NUMBER)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]+)\\|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]+)\\|(.))", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "s": " "}
_CLOSING: Final = frozenset(")]}")
_OPENING: Final = frozenset("[({")
_CONSTANTS: Final[dict[str, Term]] = {}
_CALLED: Final[dict[str, Term]] = {}
_MOST_CONSTANTS: Final = 50_000
_MOST_DIGITS: Final = 4_214  # as many as the embedded engine takes


def decode(text: str) -> Term:
    """Return the one term that `text` is."""
    return _decoded(text, _CHUNKS)


def _decoded(text: str, tokens: re.Pattern[str]) -> Term:
    variables: dict[str, Var] = {}
    frames: list[tuple[str, list[Term]]] = []
    name, terms = "", list[Term]()
    for token in tokens.findall(text):
        constant = _CONSTANTS.get(token)
        if constant is not None:
            terms.append(constant)
        elif token[-1] == "(" or token in _OPENING:
            frames.append((name, terms))
            name, terms = token, []
        elif token in _CLOSING:  # a longer token that ends in one is a flat term
            if not frames:
                raise LogicError("SWI-Prolog answered with a bracket too many.")
            term = _built(name, terms)
            name, terms = frames.pop()
            terms.append(term)
        elif token == "|":
            name = "[|"
        elif token[0] == "[" and token[-2] == ")":
            terms.append(_listed(token[1:-2]))
        elif token[-3:] == ")])":
            terms.append(_row(token))
        elif token[0] == "_":
            terms.append(variables.setdefault(token, Var(token)))
        else:
            terms.append(_remembered(token))
    if frames or len(terms) != 1:
        raise LogicError(f"SWI-Prolog answered with something that is not a term: {text[:60]!r}")
    return terms[0]


def _built(name: str, terms: list[Term]) -> Term:
    """The term that a closing bracket ends: `f(`, `[`, `[|` for a list with a tail, `{` or a bare `(`."""
    if name == "[" or name == "[|":
        result = NIL if name == "[" else terms.pop()
        for term in reversed(terms):
            result = Struct(CONS, (term, result))
        return result
    if name == "(":
        if len(terms) != 1:
            raise LogicError("SWI-Prolog answered with a bracket around several terms.")
        return terms[0]
    return Struct("{}" if name == "{" else _functor(name), tuple(terms))


def _listed(calls: str) -> Term:
    """The list of flat terms a text stands for, `move(p1,a),move(p2,b` without its last bracket; its items are shared,
    itself it is rare."""
    result: Term = NIL
    for call in reversed(calls.split("),")):
        result = Struct(CONS, (_CALLED.get(call) or _called(call), result))
    return result


def _row(token: str) -> Term:
    """A row of a table, `-([[move(p1,a),move(p2,b)]],[-(p1,3),-(p2,0)])`."""
    blocks, goals = token[4:-3].rsplit(")]],[", 1)
    made: Term = NIL
    for block in reversed(blocks.split(")],[")):
        made = Struct(CONS, (_listed(block), made))
    return Struct("-", (made, _listed(goals)))


def _called(call: str) -> Term:
    if len(_CALLED) >= _MOST_CONSTANTS:
        _CALLED.clear()
    return _CALLED.setdefault(call, _decoded(f"{call})", _TOKENS))


@lru_cache(8192)
def _functor(token: str) -> str:
    return _name(token[:-1])


def _remembered(token: str) -> Term:
    """The constant or flat term a token stands for."""
    if len(_CONSTANTS) >= _MOST_CONSTANTS:
        _CONSTANTS.clear()
    return _CONSTANTS.setdefault(token, _constant(token))


def _constant(token: str) -> Term:
    if len(token) > 2 and token[-1] in ")]":
        return _decoded(token, _TOKENS)
    if _NUMBERS.fullmatch(token):
        return _number(token)
    if token[0] == '"':
        return String(_unescaped(token[1:-1]))
    return NIL if token == "[]" else Atom(_name(token))


def _number(token: str) -> Term:
    if len(token) > _MOST_DIGITS:
        raise LimitReached(f"A number became too long (more than {_MOST_DIGITS:,} digits).")
    if "r" in token:
        return Fraction(token.replace("r", "/"))
    return int(token)


def _name(token: str) -> str:
    return _unescaped(token[1:-1]) if token[0] == "'" and len(token) > 1 else token


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    if match[4]:
        return chr(int(match[4], 8))
    return _LETTERS.get(match[5], match[5])
