"""The reader: Prolog text into clauses with their places, all syntax errors at once.

After an error reading goes on behind the next full stop. Operators are the standard ones (ISO/IEC
13211-1, section 6.3.4.4, and SWI-Prolog's additions); a program cannot change them. Each bracket is
one call and operators wait on a stack, so a long conjunction or sum nests no calls, and nothing
deeper than `MAX_NESTING` brackets is read.
"""

from dataclasses import dataclass
from typing import NamedTuple

from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.terms import NIL, Atom, Number, String, Struct, Term, Var, list_of
from bestresponse.logic.language.tokens import (
    END,
    HIDDEN,
    MAX_CHARACTERS,
    Positions,
    is_quoted,
    number_of,
    tokenize,
    unquote,
)

MAX_ERRORS = 50
MAX_NESTING = 100
MAX_ATOM = 1_000


class _Operator(NamedTuple):
    """An operator that waits for what stands right of it."""

    name: str
    priority: int
    right: int
    infix: bool


_PREFIX = {
    ":-": (1200, 1199),
    "?-": (1200, 1199),
    "dynamic": (1150, 1149),
    "discontiguous": (1150, 1149),
    "initialization": (1150, 1149),
    "multifile": (1150, 1149),
    "table": (1150, 1149),
    "\\+": (900, 900),
    "-": (200, 200),
    "+": (200, 200),
    "\\": (200, 200),
    "?": (500, 500),
}
_INFIX: dict[str, tuple[int, int, _Operator]] = {}
"""The priority of an operator, the highest one of what stands left of it, and itself."""
for _priority, _kind, _names in (
    (1200, "xfx", ":- --> =>"),
    (1100, "xfy", "; |"),
    (1050, "xfy", "-> *->"),
    (1000, "xfy", ","),
    (990, "xfx", ":="),
    (700, "xfx", "= \\= == \\== @< @> @=< @>= =.. is =:= =\\= < > =< >= =@= \\=@= as >:< :<"),
    (500, "yfx", "+ - /\\ \\/ xor"),
    (400, "yfx", "* / // mod rem div rdiv divmod << >> tdiv"),
    (200, "xfx", "**"),
    (200, "xfy", "^ :"),
):
    for _name in _names.split():
        _left, _right = (_priority - (side == "x") for side in (_kind[0], _kind[2]))
        _INFIX[_name] = (
            _priority,
            _left,
            _Operator(";" if _name == "|" else _name, _priority, _right, True),
        )
_CLOSING = frozenset({")", "]", "}"})
_AFTER = frozenset({",", ")", "]", "|"})
"""What stands after a whole argument or item."""
_LEGAL = frozenset("_()[]{},|!;+-*/\\^<>=~:.?@#&$")
"""What a token may start with besides letters, digits and quotes."""
_HINTS = {
    "‘": "use the plain quote '",
    "’": "use the plain quote '",
    "“": 'use the plain quote "',
    "”": 'use the plain quote "',
    "'": "the quote is not closed on this line",
    '"': "the quote is not closed on this line",
    "`": "remove the Markdown fence around the program",
    "−": "use the plain minus -",
    "–": "use the plain minus -",
    "→": "write ->",
    "←": "write :-",
    "¬": "write \\+",
    "∧": "write a comma",
    "≥": "write >=",
    "≤": "write =<",
}


class Clause(NamedTuple):
    """One clause as read: its term, start, text and counts of named variables.

    The count of a variable is how often it occurs in the clause.
    """

    term: Term
    line: int
    column: int
    text: str
    variables: tuple[tuple[str, int], ...] = ()

    @property
    def parts(self) -> tuple[Term, Term]:
        """The head and the body, which is `true` for a fact."""
        if isinstance(self.term, Struct) and self.term.name == ":-" and len(self.term.args) == 2:
            return self.term.args[0], self.term.args[1]
        return self.term, Atom("true")


@dataclass(frozen=True, slots=True)
class ReadClauses:
    """Every clause that could be read, and every reason why others could not."""

    clauses: tuple[Clause, ...]
    diagnostics: tuple[Diagnostic, ...]


def read(source: str) -> ReadClauses:
    """All clauses of a program and all its syntax errors."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = f"%{text}" if text.startswith("#!") else text
    if len(text) > MAX_CHARACTERS:
        message = f"the program has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read"
        return ReadClauses(
            (), (_diagnostic(0, 0, source_line="", message=message, hint="", code="size"),)
        )
    positions = Positions(text)
    hidden = HIDDEN.search(text)
    if hidden is not None:
        message = f"control or invisible character U+{ord(hidden[0]):04X}"
        line, column = positions.at(hidden.start())
        return ReadClauses(
            (),
            (
                _diagnostic(
                    line,
                    column,
                    source_line="",
                    message=message,
                    hint="remove it",
                    code="character",
                ),
            ),
        )
    return _read_all(text, positions)


def read_term(source: str) -> Clause:
    """The single term of a text, its full stop optional; `ValueError` says why there is none."""
    stripped = source.strip()
    reading = read(stripped if stripped.endswith(".") else stripped + " .")
    if reading.diagnostics:
        raise ValueError(str(reading.diagnostics[0]))
    if len(reading.clauses) != 1:
        raise ValueError(f"one term was expected, {len(reading.clauses)} came")
    return reading.clauses[0]


def _read_all(text: str, positions: Positions) -> ReadClauses:
    clauses: list[Clause] = []
    diagnostics: list[Diagnostic] = []
    parser = _Parser(text, positions)
    while parser.position < parser.last and len(diagnostics) < MAX_ERRORS:
        start = parser.start
        try:
            term = parser.clause()
            line, column = positions.at(start)
            counts = tuple(parser.counts.items())
            clauses.append(Clause(term, line, column, text[start : parser.start + 1], counts))
        except _SyntaxFault as fault:
            line, column = positions.at(fault.offset)
            diagnostics.append(
                _diagnostic(
                    line,
                    column,
                    source_line=positions.line(line),
                    message=fault.message,
                    hint=fault.hint,
                    code="syntax",
                )
            )
        parser.skip()
    return ReadClauses(tuple(clauses), tuple(diagnostics))


def _diagnostic(
    line: int,
    column: int,
    source_line: str,
    message: str,
    hint: str,
    code: str,
) -> Diagnostic:
    return Diagnostic(
        Stage.READER,
        Severity.ERROR,
        line=line,
        column=column,
        source_line=source_line,
        message=message,
        hint=hint,
        code=code,
    )


class _SyntaxFault(Exception):
    """A clause cannot be read; says where and why."""

    def __init__(self, offset: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


class _Parser:
    """Reads the tokens of a text, clause by clause.

    `END` stands behind the last token too, at the place `last`.

    `known` holds the constants met so far and the variables of the clause, `functors` the names of
    compound terms: most tokens come again.
    """

    __slots__ = (
        "counts",
        "functors",
        "known",
        "last",
        "nesting",
        "position",
        "positions",
        "starts",
        "tokens",
    )

    def __init__(self, text: str, positions: Positions) -> None:
        self.tokens, self.starts = tokenize(text)
        self.positions = positions
        self.last = len(self.tokens)
        self.tokens += (END, END)
        self.position = self.nesting = 0
        self.known: dict[str, Term] = {}
        self.functors: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    @property
    def start(self) -> int:
        """Where the token at hand starts, or the last one."""
        return self.starts[min(self.position, self.last - 1)]

    def clause(self) -> Term:
        """Read the one term of a clause, up to its full stop."""
        term = self.expression(1200)
        if self.tokens[self.position] is not END:
            raise self.unexpected("an operator or the end of the clause")
        if self.position == self.last:
            hint = "end it with a full stop and a space or new line"
            raise self.fault("the clause is not ended", hint)
        return term

    def skip(self) -> None:
        """Go on behind the end of the clause, whose variables are forgotten."""
        self.position = self.tokens.index(END, self.position) + 1
        self.nesting = 0
        for name in self.counts:
            del self.known[name]
        self.counts = {}

    def fault(self, message: str, hint: str = "") -> _SyntaxFault:
        """Return what is wrong with the token at hand."""
        return _SyntaxFault(self.start, message, hint)

    def unexpected(self, expected: str) -> _SyntaxFault:
        """Return that something else was expected than the token at hand."""
        token = self.tokens[self.position]
        if token is END and self.position == self.last:
            return self.fault(
                f"the program ends inside a clause; {expected} was expected", "finish the clause"
            )
        if token is END:
            return self.fault(f"the clause ends too early; {expected} was expected")
        if token.startswith("/*"):
            return self.fault("the comment /* is never closed", "close it with */")
        if _is_illegal(token):
            return self.fault(f"illegal character {token[0]!r}", _HINTS.get(token[0], ""))
        shown = token if token == "(" or _is_number(token) else token.removesuffix("(")
        return self.fault(f"{expected} was expected before {shown[:40]!r}", self.hint(token))

    def hint(self, token: str) -> str:
        """Return what may be the reason for an unexpected token."""
        previous = self.tokens[self.position - 1] if self.position else token
        if token.removesuffix("(") in (":-", "-->"):
            return "a bracket is not closed before it, or the clause above lacks its full stop"
        if token.startswith("."):
            return "a full stop that ends a clause is followed by a space or a new line"
        if token == "(" and _is_variable(previous):
            return f"a variable cannot be called; write {previous.lower()}(...)"
        if token == "(" and previous[0].isalpha():
            return f"no space between a name and its bracket: write {previous}(...)"
        line = self.positions.at(self.starts[self.position - 1])[0] if self.position else 1
        if (token[0].isalpha() or token[0] in "_'") and self.positions.at(self.start)[0] > line:
            return f"is a full stop or comma missing at the end of line {line}?"
        return ""

    def expect(self, closing: str) -> None:
        """Go past a closing bracket."""
        if self.tokens[self.position] != closing:
            raise self.unexpected(
                f"{closing!r}"
                if self.tokens[self.position] is END
                else f"{closing!r} or an operator"
            )
        self.position += 1
        self.nesting -= 1

    def expression(self, limit: int) -> Term:
        """Read a term whose operators bind at least as tightly as `limit`."""
        operators: list[_Operator] = []
        operands = [self.operand(operators, limit)]
        while (infix := _find_infix(self.tokens[self.position])) is not None and infix[0] <= limit:
            self.push_infix(infix, operands, operators)
            operands.append(self.operand(operators, limit))
        while operators:
            _reduce(operands, operators)
        return operands[0]

    def operand(self, operators: list[_Operator], limit: int) -> Term:
        """Read a term without operators, behind prefix operators that wait for it."""
        while (token := self.tokens[self.position]) in _PREFIX and self.is_prefix(token, limit):
            self.position += 1
            priority, right = _PREFIX[token]
            if operators:
                priority = min(priority, operators[-1].right)
            operators.append(_Operator(token, priority, right, False))
        return self.primary(token)

    def is_prefix(self, token: str, limit: int) -> bool:
        """Tell whether a prefix operator is followed by what it is applied to."""
        following = self.tokens[self.position + 1]
        if following is END or following in _CLOSING or _PREFIX[token][0] > limit:
            return False
        return following not in _INFIX or following in _PREFIX

    def push_infix(
        self,
        infix: tuple[int, int, _Operator],
        operands: list[Term],
        operators: list[_Operator],
    ) -> None:
        """Let an operator wait for its right argument.

        What binds more tightly gets its argument first.
        """
        priority, left, operator = infix
        while operators and operators[-1].priority <= left:
            _reduce(operands, operators)
        if operators and priority > operators[-1].right:
            message = f"{operator.name!r} cannot follow {operators[-1].name!r} here"
            raise self.fault(message, "put brackets around one of the two parts")
        operators.append(operator)
        rest = self.tokens[self.position][len(operator.name) :]
        if rest:
            self.tokens[self.position] = rest
            self.starts[self.position] += len(operator.name)
        else:
            self.position += 1

    def primary(self, token: str) -> Term:
        """Read a number, variable, atom, string, compound or bracketed term."""
        if token in self.functors:
            return self.compound(self.functors[token])
        term = self.known.get(token)
        if term is None:
            return self.new(token)
        self.position += 1
        if term.__class__ is Var:
            self.counts[token] += 1
        return term

    def new(self, token: str) -> Term:
        """Read a term that starts with a token not met before."""
        functional = token[-1] == "(" and not _is_number(token)
        term: Term
        if _is_variable(token) and not functional:
            term = Var(token)
            if token == "_":
                self.position += 1
                return term
            self.counts[token] = 1
        elif token in ("(", "[", "{"):
            return self.bracketed(token)
        elif (
            token is END
            or token in _CLOSING
            or token in _AFTER
            or _is_illegal(token)
            or token.startswith("/*")
        ):
            raise self.unexpected("a term")
        elif functional:
            self.functors[token] = self.name(token[:-1])
            return self.compound(self.functors[token])
        elif _is_number(token):
            term = self.number(token)
        else:
            term = String(self.unquote(token)) if token[0] == '"' else Atom(self.name(token))
        self.position += 1
        self.known[token] = term
        return term

    def number(self, token: str) -> Number:
        """Return the number that a token stands for."""
        try:
            return -number_of(token[1:]) if token[0] == "-" else number_of(token)
        except ValueError as error:
            raise self.fault(str(error)) from None

    def name(self, token: str) -> str:
        """Return the name of an atom or compound term."""
        if _is_variable(token):
            hint = f"names start with a lower-case letter: {token[0].lower()}{token[1:]}(...)"
            raise self.fault(f"the variable {token} is used as the name of a predicate", hint)
        name = self.unquote(token) if token[0] == "'" else token
        if name == "[]":
            raise self.fault(
                "the name '[]' would be taken for the empty list", "write [] or another name"
            )
        if len(name) > MAX_ATOM:
            raise self.fault(f"a name of {len(name):,} characters; at most {MAX_ATOM:,} are read")
        return name

    def unquote(self, token: str) -> str:
        """Return the text between quotes."""
        if len(token) > MAX_ATOM + 2:
            raise self.fault(
                f"quoted text of {len(token):,} characters; at most {MAX_ATOM:,} are read"
            )
        try:
            return unquote(token)
        except ValueError as error:
            raise self.fault(str(error)) from error

    def open(self) -> None:
        """Count an open bracket."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.fault(f"more than {MAX_NESTING} brackets are open")

    def arguments(self) -> list[Term]:
        """Read arguments or items with commas between them, up to what is no comma."""
        self.open()
        terms = [self.expression(999)]
        while self.tokens[self.position] == ",":
            self.position += 1
            terms.append(self.expression(999))
        return terms

    def compound(self, name: str) -> Term:
        """Read the arguments of a compound term."""
        self.position += 1
        terms = self.arguments()
        self.expect(")")
        return Struct(name, tuple(terms))

    def bracketed(self, opening: str) -> Term:
        """Read what is in brackets that follow no name."""
        self.position += 1
        following = self.tokens[self.position]
        if following in _CLOSING:
            if opening + following not in ("[]", "{}"):
                raise self.fault(f"{following!r} closes nothing here")
            self.position += 1
            return Atom(opening + following)
        if opening != "[":
            self.open()
            term = self.expression(1200)
            self.expect(")" if opening == "(" else "}")
            return term if opening == "(" else Struct("{}", (term,))
        terms = self.arguments()
        tail: Term = NIL
        if self.tokens[self.position] == "|":
            self.position += 1
            tail = self.expression(999)
        self.expect("]")
        return list_of(terms, tail)


def _find_infix(token: str) -> tuple[int, int, _Operator] | None:
    """Find the operator that a token is or starts with.

    It may be the minus of a number, or what an opening bracket follows.
    """
    if token in _INFIX:
        return _INFIX[token]
    if token[0] == "-" and _is_number(token):
        return _INFIX.get("-")
    if token[-1] == "(":
        return _INFIX.get(token[:-1])
    return None


def _reduce(operands: list[Term], operators: list[_Operator]) -> None:
    operator = operators.pop()
    right = operands.pop()
    operands.append(Struct(operator.name, (operands.pop(), right) if operator.infix else (right,)))


def _is_variable(token: str) -> bool:
    return "A" <= token[0] <= "Z" or token[0] == "_" or (token[0] > "z" and token[0].isupper())


def _is_number(token: str) -> bool:
    return token[0].isdecimal() or (token[0] == "-" and token[1:2].isdecimal())


def _is_illegal(token: str) -> bool:
    first = token[0]
    if first in "'\"":
        return not is_quoted(token.removesuffix("("))
    return not (first.isalnum() or first in _LEGAL)
