"""Reading the terms SWI-Prolog writes with `quoted(true), ignore_ops(true)`: functional notation, no operators.

This is not a reader for programs: it understands exactly what that writer produces, in one pass and without recursion.
"""

import re
from fractions import Fraction
from typing import Final

from bestresponse.core.errors import LogicError

from .terms import NIL, Atom, String, Struct, Term, Var, list_of

__all__ = ["decode"]

_TOKEN: Final = re.compile(
    r"""(?P<open>(?:'(?:[^'\\]|\\.)*'|[a-z]\w*|[^\w\s()\[\]{},|"'`]+|\[\]|\{\}|!)\()
      | (?P<number>-?\d+(?:r\d+|\.\d+(?:Inf|NaN|e[+-]?\d+)?)?)
      | (?P<variable>_\w*)
      | (?P<nil>\[\]|\{\})
      | (?P<mark>[()\[\]{},|])
      | (?P<name>[a-z]\w*|!|;)
      | (?P<quoted>'(?:[^'\\]|\\.)*')
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<symbols>[^\w\s()\[\]{},|"'`]+)
      | (?P<word>\w+)
      | (?P<space>\s+)""",
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]+)\\|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]+)\\|(.))", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "0": "\0"}


def decode(text: str) -> Term:
    """Return the one term that `text` is."""
    variables: dict[str, Var] = {}
    frames: list[_Frame] = [_Frame(None)]
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise LogicError(f"SWI-Prolog answered with something that is no term: {text[position : position + 40]!r}")
        kind, token = match.lastgroup, match.group()
        if kind == "open":
            frames.append(_Frame(_name(token[:-1])))
        elif kind == "mark":
            _mark(token, frames)
        elif kind != "space":
            frames[-1].terms.append(_constant(kind, token, variables))
        position = match.end()
    if len(frames) != 1 or len(frames[0].terms) != 1:
        raise LogicError(f"SWI-Prolog answered with half a term: {text[:40]!r}")
    return frames[0].terms[0]


class _Frame:
    """A term being read: a structure (its name), a list (`[`), a bracket (`(`), braces or the whole (`None`)."""

    __slots__ = ("has_tail", "name", "opened", "terms")

    def __init__(self, name: str | None, opened: str = "") -> None:
        self.name = name
        self.opened = opened
        self.terms: list[Term] = []
        self.has_tail = False

    def finished(self) -> Term:
        if self.opened == "[":
            return list_of(self.terms[:-1], self.terms[-1]) if self.has_tail else list_of(self.terms)
        if self.opened == "{":
            return Struct("{}", tuple(self.terms))
        if self.opened == "(" or self.name is None:
            return self.terms[0]
        return Struct(self.name, tuple(self.terms))


def _mark(token: str, frames: list[_Frame]) -> None:
    if token in "[({":
        frames.append(_Frame(None, token))
    elif token == "|":
        frames[-1].has_tail = True
    elif token in "])}":
        done = frames.pop()
        if not frames:
            raise LogicError("SWI-Prolog answered with a bracket too many")
        frames[-1].terms.append(done.finished())


def _constant(kind: str | None, token: str, variables: dict[str, Var]) -> Term:
    if kind == "number":
        return _number(token)
    if kind == "variable":
        return variables.setdefault(token, Var(token))
    if kind == "nil":
        return NIL if token == "[]" else Atom("{}")
    if kind == "string":
        return String(_unescaped(token[1:-1]))
    return Atom(_name(token))


def _number(token: str) -> Term:
    if "r" in token:
        return Fraction(token.replace("r", "/"))
    if token.endswith("Inf"):
        return float("-inf") if token.startswith("-") else float("inf")
    if token.endswith("NaN"):
        return float("nan")
    return float(token) if "." in token else int(token)


def _name(token: str) -> str:
    return _unescaped(token[1:-1]) if token[0] == "'" else token


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    if match[4] and match[4] != "0":
        return chr(int(match[4], 8))
    return _LETTERS.get(match[5] or "0", match[5] or "\0") if match[5] != "\n" else ""
