"""Reading the terms SWI-Prolog writes with `quoted(true), ignore_ops(true)`.

These are in functional notation, without operators.

This is not a reader for programs: it understands exactly what that writer produces, in one pass and
without recursion. Commas only separate there (the atom is written in quotes), so they are passed
over like blanks. Constants and flat terms without variables, `move(p1,a)`, come again and again in
a table; each is built once and shared.
"""

import re
from fractions import Fraction
from functools import lru_cache

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.logic.language.terms import CONS, NIL, Atom, String, Struct, Term, Var
from bestresponse.logic.language.tokens import LETTERS

_NAME = r"""'(?:[^'\\]|\\.)*'|[^\d_\s()\[\]{},|"'`][^\s()\[\]{},|"'`]*"""
_NUMBER = r"-?\d+(?:r\d+)?"
_TOKEN = rf"""{_NUMBER}|(?:{_NAME})\(?|_\w*|"(?:[^"\\]|\\.)*"|\[\]|\{{\}}\(?|[()\[\]{{}}|]|[^\s,]"""
_PLAIN = r"(?:[a-z]\w*|'\w*'|-?\d+(?:r\d+)?)(?=[,)\]])"
_FLAT = rf"(?:(?:[a-z]\w*|-)\(|\[){_PLAIN}(?:,{_PLAIN})*[)\]]"
_TOKENS = re.compile(_TOKEN, re.DOTALL)
_TOKENS_OR_FLAT = re.compile(rf"{_FLAT}|{_TOKEN}", re.DOTALL)
_NUMBERS = re.compile(_NUMBER)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]+)\\|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]+)\\|(.))", re.DOTALL
)
_CLOSING = frozenset(")]}")
_OPENING = frozenset("[({")
_CONSTANTS: dict[str, Term] = {}
_MOST_CONSTANTS = 50_000
_MOST_DIGITS = 4_214  # as many as the embedded engine takes


def decode(text: str) -> Term:
    """Return the one term that `text` is."""
    return _decode(text, _TOKENS_OR_FLAT)


def _decode(text: str, tokens: re.Pattern[str]) -> Term:
    variables: dict[str, Var] = {}
    frames: list[tuple[str, list[Term]]] = []
    name = ""
    terms = list[Term]()
    for token in tokens.findall(text):
        constant = _CONSTANTS.get(token)
        if constant is not None:
            terms.append(constant)
        elif token[-1] == "(" or token in _OPENING:
            frames.append((name, terms))
            name = token
            terms = []
        elif token in _CLOSING:  # a longer token that ends in one is a flat term
            if not frames:
                raise LogicError("SWI-Prolog answered with a bracket too many.")
            term = _build(name, terms)
            name, terms = frames.pop()
            terms.append(term)
        elif token == "|":
            name = "[|"
        elif token[0] == "_":
            terms.append(variables.setdefault(token, Var(token)))
        else:
            if len(_CONSTANTS) >= _MOST_CONSTANTS:
                _CONSTANTS.clear()
            terms.append(_CONSTANTS.setdefault(token, _read_constant(token)))
    if frames or len(terms) != 1:
        raise LogicError(f"SWI-Prolog answered with something that is not a term: {text[:60]!r}")
    return terms[0]


def _build(name: str, terms: list[Term]) -> Term:
    """The term that a closing bracket ends.

    It began with `f(`, `[`, `[|` for a list with a tail, `{` or a bare `(`.
    """
    if name == "[" or name == "[|":
        result = NIL if name == "[" else terms.pop()
        for term in reversed(terms):
            result = Struct(CONS, (term, result))
        return result
    if name == "(":
        if len(terms) != 1:
            raise LogicError("SWI-Prolog answered with a bracket around several terms.")
        return terms[0]
    return Struct("{}" if name == "{" else _read_name(name[:-1]), tuple(terms))


def _read_constant(token: str) -> Term:
    """The constant or flat term a token stands for."""
    if len(token) > 2 and token[-1] in ")]":
        return _decode(token, _TOKENS)
    if _NUMBERS.fullmatch(token):
        if len(token) > _MOST_DIGITS:
            raise LimitReached(f"A number became too long (more than {_MOST_DIGITS:,} digits).")
        return Fraction(token.replace("r", "/")) if "r" in token else int(token)
    if token[0] == '"':
        return String(_unescape(token[1:-1]))
    return NIL if token == "[]" else Atom(_read_name(token))


@lru_cache(8192)
def _read_name(token: str) -> str:
    return _unescape(token[1:-1]) if token[0] == "'" and len(token) > 1 else token


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_read_escape, text) if "\\" in text else text


def _read_escape(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    return chr(int(match[4], 8)) if match[4] else LETTERS.get(match[5], match[5])
