"""The reader: Prolog text into clauses with their places, all syntax errors at once.

Operators are the standard ones (ISO/IEC 13211-1, section 6.3.4.4, and SWI-Prolog's additions); a program cannot change
them. Each bracket is one call and operators wait on a stack, so a long conjunction or sum nests no calls, and nothing
deeper than `MAX_NESTING` brackets is read. After an error reading goes on behind the next full stop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.terms import NIL, Atom, String, Struct, Term, Var, list_of
from bestresponse.logic.language.tokens import (
    MAX_CHARACTERS,
    Places,
    Token,
    hidden_character,
    number_of,
    tokenize,
    unquote,
)

__all__ = ["Clause", "Reading", "read", "read_term"]

MAX_NESTING = 100
MAX_ATOM = 1_000
MAX_ERRORS = 50

_PREFIX = {
    ":-": (1200, 1199), "?-": (1200, 1199), "dynamic": (1150, 1149), "discontiguous": (1150, 1149),
    "initialization": (1150, 1149), "multifile": (1150, 1149), "table": (1150, 1149),
    "\\+": (900, 900), "-": (200, 200), "+": (200, 200), "\\": (200, 200), "?": (500, 500),
}  # fmt: skip
_INFIX: dict[str, tuple[int, int, int]] = {}
for _priority, _kind, _names in (
    (1200, "xfx", ":- --> =>"), (1100, "xfy", "; |"), (1050, "xfy", "-> *->"), (1000, "xfy", ","),
    (990, "xfx", ":="), (700, "xfx", "= \\= == \\== @< @> @=< @>= =.. is =:= =\\= < > =< >= =@= \\=@= as >:< :<"),
    (500, "yfx", "+ - /\\ \\/ xor"), (400, "yfx", "* / // mod rem div rdiv divmod << >> tdiv"),
    (200, "xfx", "**"), (200, "xfy", "^ :"),
):  # fmt: skip
    for _name in _names.split():
        _INFIX[_name] = (
            _priority,
            _priority if _kind[0] == "y" else _priority - 1,
            _priority if _kind[2] == "y" else _priority - 1,
        )
_CLOSING = frozenset(")]}")
_AFTER = frozenset(",)]|")
_ALONE = frozenset({"variable", "number", "name", "quoted", "string"})
_HINTS = {
    "‘": "use the plain quote '", "’": "use the plain quote '",
    "“": 'use the plain quote "', "”": 'use the plain quote "',
    "'": "the quote is not closed on this line", '"': "the quote is not closed on this line",
    "`": "remove the Markdown fence around the program", "−": "use the plain minus -", "–": "use the plain minus -",
    "→": "write ->", "←": "write :-", "¬": "write \\+", "∧": "write a comma", "≥": "write >=", "≤": "write =<",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause as read: its term, where it starts, its text and how often each named variable occurs in it."""

    term: Term
    line: int
    column: int
    text: str
    variables: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Every clause that could be read, and every reason why others could not."""

    clauses: tuple[Clause, ...]
    diagnostics: tuple[Diagnostic, ...]


class _SyntaxFault(Exception):
    """A clause cannot be read; says where and why."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


def read(source: str) -> Reading:
    """All clauses of a program and all its syntax errors."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = f"%{text}" if text.startswith("#!") else text
    if len(text) > MAX_CHARACTERS:
        message = f"the program has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read"
        return Reading((), (_diagnostic(0, 0, "", message, "", "size"),))
    places = Places(text)
    hidden = hidden_character(text)
    if hidden is not None:
        message = f"control or invisible character U+{ord(text[hidden]):04X}"
        line, column = places.at(hidden)
        return Reading((), (_diagnostic(line, column, "", message, "remove it", "character"),))
    return _read_all(text, places)


def read_term(source: str) -> Clause:
    """The single term of a text, its full stop optional; `ValueError` says why there is none."""
    stripped = source.strip()
    reading = read(stripped if stripped.endswith(".") else stripped + " .")
    if reading.diagnostics:
        raise ValueError(str(reading.diagnostics[0]))
    if len(reading.clauses) != 1:
        raise ValueError(f"one term was expected, {len(reading.clauses)} came")
    return reading.clauses[0]


def _read_all(text: str, places: Places) -> Reading:
    tokens = tokenize(text)
    clauses: list[Clause] = []
    diagnostics: list[Diagnostic] = []
    start = 0
    ends = [index for index, token in enumerate(tokens) if token.kind == "end"]
    for stop in (*ends, len(tokens)):
        if start >= len(tokens) or len(diagnostics) >= MAX_ERRORS:
            break
        line, column = places.at(tokens[start].start)
        parser = _Parser(tokens, start, stop, places)
        try:
            term = parser.clause()
            end = tokens[stop].start + 1
            counts = tuple((name, parser.counts[name]) for name in parser.counts)
            clauses.append(Clause(term, line, column, text[tokens[start].start : end], counts))
        except _SyntaxFault as fault:
            line, column = places.at(fault.offset)
            diagnostics.append(_diagnostic(line, column, places.line(line), fault.message, fault.hint, "syntax"))
        start = stop + 1
    return Reading(tuple(clauses), tuple(diagnostics))


def _diagnostic(line: int, column: int, source_line: str, message: str, hint: str, code: str) -> Diagnostic:
    return Diagnostic(Stage.READER, Severity.ERROR, line, column, source_line, message, hint, code)


class _Operator(NamedTuple):
    name: str
    priority: int
    right: int
    infix: bool


@dataclass(slots=True)
class _Parser:
    """Reads the tokens `[position, stop)` as one clause."""

    tokens: list[Token]
    position: int
    stop: int
    places: Places
    variables: dict[str, Var] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    nesting: int = 0

    def clause(self) -> Term:
        """The one term of the clause, followed by nothing."""
        term = self.expression(1200)
        token = self.peek()
        if token is not None:
            raise self.unexpected(token, "an operator or the end of the clause")
        if self.stop == len(self.tokens):
            last = self.tokens[-1]
            raise _SyntaxFault(last.start, "the clause is not ended", "end it with a full stop and a space or new line")
        return term

    def peek(self) -> Token | None:
        return self.tokens[self.position] if self.position < self.stop else None

    def unexpected(self, token: Token, expected: str) -> _SyntaxFault:
        if token.kind == "open_comment":
            return _SyntaxFault(token.start, "the comment /* is never closed", "close it with */")
        if token.kind == "illegal":
            return _SyntaxFault(token.start, f"illegal character {token.text[0]!r}", _HINTS.get(token.text[0], ""))
        return _SyntaxFault(token.start, f"{expected} was expected before {token.text[:40]!r}", self.hint(token))

    def hint(self, token: Token) -> str:
        previous = self.tokens[self.position - 1] if self.position else token
        if token.text in (":-", "-->") and token.kind == "symbol":
            return "a bracket is not closed before it, or the clause above lacks its full stop"
        if token.text == "." or token.text.startswith("."):
            return "a full stop that ends a clause is followed by a space or a new line"
        if token.text == "(" and previous.kind == "variable":
            return f"a variable cannot be called; write {previous.text.lower()}(...)"
        if token.text == "(" and previous.kind == "name":
            return f"no space between a name and its bracket: write {previous.text}(...)"
        line = self.places.at(previous.start)[0]
        if token.kind in ("name", "quoted", "variable") and self.places.at(token.start)[0] > line:
            return f"is a full stop or comma missing at the end of line {line}?"
        return ""

    def ended(self, expected: str) -> _SyntaxFault:
        if self.stop == len(self.tokens):
            last = self.tokens[-1]
            message = f"the program ends inside a clause; {expected} was expected"
            return _SyntaxFault(last.start, message, "finish the clause")
        return _SyntaxFault(self.tokens[self.stop].start, f"the clause ends too early; {expected} was expected")

    def expect(self, closing: str) -> None:
        token = self.peek()
        if token is None:
            raise self.ended(repr(closing))
        if token.kind != "punctuation" or token.text != closing:
            raise self.unexpected(token, f"{closing!r} or an operator")
        self.position += 1

    def expression(self, limit: int) -> Term:
        """A term whose operators bind at least as tightly as `limit`."""
        if self.stands_alone(limit):
            return self.primary(self.tokens[self.position])
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise _SyntaxFault(self.tokens[self.position - 1].start, f"more than {MAX_NESTING} brackets are open")
        operands: list[Term] = []
        operators: list[_Operator] = []
        while True:
            self.operand(operands, operators, limit)
            token = self.peek()
            infix = self.infix(token, limit)
            if token is None or infix is None:
                break
            self.push_infix(token, infix, operands, operators)
        while operators:
            _reduce(operands, operators)
        self.nesting -= 1
        return operands[0]

    def stands_alone(self, limit: int) -> bool:
        """Whether the next token is a whole argument or item: most are."""
        following = self.position + 1
        if limit != 999 or following >= self.stop or self.nesting >= MAX_NESTING:
            return False
        token = self.tokens[following]
        return token.kind == "punctuation" and token.text in _AFTER and self.tokens[self.position].kind in _ALONE

    def infix(self, token: Token | None, limit: int) -> tuple[int, int, int] | None:
        if token is None or token.kind not in ("symbol", "name", "punctuation"):
            return None
        infix = _INFIX.get(token.text)
        return infix if infix is not None and infix[0] <= limit else None

    def push_infix(
        self, token: Token, infix: tuple[int, int, int], operands: list[Term], operators: list[_Operator]
    ) -> None:
        priority, left, right = infix
        while operators and operators[-1].priority <= left:
            _reduce(operands, operators)
        if operators and priority > operators[-1].right:
            message = f"{token.text!r} cannot follow {operators[-1].name!r} here"
            raise _SyntaxFault(token.start, message, "put brackets around one of the two parts")
        self.position += 1
        operators.append(_Operator(";" if token.text == "|" else token.text, priority, right, True))

    def operand(self, operands: list[Term], operators: list[_Operator], limit: int) -> None:
        """Prefix operators onto their stack, then one operand."""
        while True:
            token = self.peek()
            if token is None:
                raise self.ended("a term")
            if token.kind not in ("symbol", "name") or token.functional or not self.is_prefix(token, limit):
                operands.append(self.primary(token))
                return
            self.position += 1
            priority, right = _PREFIX[token.text]
            if operators:
                priority = min(priority, operators[-1].right)
            operators.append(_Operator(token.text, priority, right, False))

    def is_prefix(self, token: Token, limit: int) -> bool:
        prefix = _PREFIX.get(token.text)
        following = self.tokens[self.position + 1] if self.position + 1 < self.stop else None
        if prefix is None or following is None or prefix[0] > limit:
            return False
        if token.text == "-" and following.kind == "number" and not following.spaced:
            return False
        if following.kind == "punctuation":
            return following.text in "([{"
        if following.kind in ("symbol", "name") and following.text in _INFIX:
            return following.functional or following.text in _PREFIX
        return True

    def primary(self, token: Token) -> Term:
        """A number, variable, atom, string, compound or bracketed term."""
        self.position += 1
        match token.kind:
            case "variable":
                return self.variable(token)
            case "number":
                return _number(token)
            case "name" | "symbol" | "quoted":
                return self.named(token)
            case "string":
                return String(_bounded(token))
            case "punctuation" if token.text in "([{":
                return self.bracketed(token)
            case _:
                self.position -= 1
                raise self.unexpected(token, "a term")

    def variable(self, token: Token) -> Term:
        if token.functional:
            hint = f"names start with a lower-case letter: {token.text[0].lower()}{token.text[1:]}(...)"
            raise _SyntaxFault(token.start, f"the variable {token.text} is used as the name of a predicate", hint)
        if token.text == "_":
            return Var("_")
        self.counts[token.text] = self.counts.get(token.text, 0) + 1
        return self.variables.setdefault(token.text, Var(token.text))

    def named(self, token: Token) -> Term:
        name = _bounded(token) if token.kind == "quoted" else token.text
        if token.kind == "quoted" and name == "[]":
            raise _SyntaxFault(
                token.start, "the name '[]' would be taken for the empty list", "write [] or another name"
            )
        if token.kind == "name" and name[0] > "z" and name[0].isupper():
            return self.variable(token)
        if len(name) > MAX_ATOM:
            raise _SyntaxFault(token.start, f"a name of {len(name):,} characters; at most {MAX_ATOM:,} are read")
        if token.functional:
            self.position += 1
            return Struct(name, tuple(self.arguments(")")))
        following = self.peek()
        if token.kind == "symbol" and name == "-" and following and following.kind == "number" and not following.spaced:
            self.position += 1
            return -_number(following)
        return Atom(name)

    def arguments(self, closing: str) -> list[Term]:
        terms = [self.expression(999)]
        while (token := self.peek()) is not None and token.kind == "punctuation" and token.text == ",":
            self.position += 1
            terms.append(self.expression(999))
        if closing == ")":
            self.expect(closing)
        return terms

    def bracketed(self, opening: Token) -> Term:
        following = self.peek()
        if following is not None and following.text in _CLOSING and following.kind == "punctuation":
            self.position += 1
            pair = opening.text + following.text
            if pair not in ("[]", "{}"):
                raise _SyntaxFault(following.start, f"{following.text!r} closes nothing here")
            return Atom(pair)
        if opening.text == "[":
            return self.list()
        term = self.expression(1200)
        self.expect(")" if opening.text == "(" else "}")
        return term if opening.text == "(" else Struct("{}", (term,))

    def list(self) -> Term:
        terms = self.arguments("]")
        tail: Term = NIL
        token = self.peek()
        if token is not None and token.kind == "punctuation" and token.text == "|":
            self.position += 1
            tail = self.expression(999)
        self.expect("]")
        return list_of(terms, tail)


def _reduce(operands: list[Term], operators: list[_Operator]) -> None:
    operator = operators.pop()
    right = operands.pop()
    operands.append(Struct(operator.name, (operands.pop(), right) if operator.infix else (right,)))


def _bounded(token: Token) -> str:
    if len(token.text) > MAX_ATOM + 2:
        raise _SyntaxFault(token.start, f"quoted text of {len(token.text):,} characters; at most {MAX_ATOM:,} are read")
    try:
        return unquote(token.text)
    except ValueError as error:
        raise _SyntaxFault(token.start, str(error)) from error


def _number(token: Token) -> int | Fraction:
    try:
        return number_of(token.text)
    except ValueError as error:
        raise _SyntaxFault(token.start, str(error)) from None
