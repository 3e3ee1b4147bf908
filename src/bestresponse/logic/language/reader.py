"""The reader: Prolog text into clauses with their places, all syntax errors at once.

After an error reading goes on behind the next full stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.parser import Parser, SyntaxFault
from bestresponse.logic.language.terms import Atom, Struct, Term
from bestresponse.logic.language.tokens import MAX_CHARACTERS, Places, hidden_character

__all__ = ["Clause", "Reading", "read", "read_term"]

MAX_ERRORS = 50


class Clause(NamedTuple):
    """One clause as read: its term, where it starts, its text and how often each named variable occurs in it."""

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
class Reading:
    """Every clause that could be read, and every reason why others could not."""

    clauses: tuple[Clause, ...]
    diagnostics: tuple[Diagnostic, ...]


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
    clauses: list[Clause] = []
    diagnostics: list[Diagnostic] = []
    parser = Parser(text, places)
    while parser.position < parser.last and len(diagnostics) < MAX_ERRORS:
        start = parser.start
        try:
            term = parser.clause()
            line, column = places.at(start)
            counts = tuple(parser.counts.items())
            clauses.append(Clause(term, line, column, text[start : parser.start + 1], counts))
        except SyntaxFault as fault:
            line, column = places.at(fault.offset)
            diagnostics.append(_diagnostic(line, column, places.line(line), fault.message, fault.hint, "syntax"))
        parser.skip()
    return Reading(tuple(clauses), tuple(diagnostics))


def _diagnostic(line: int, column: int, source_line: str, message: str, hint: str, code: str) -> Diagnostic:
    return Diagnostic(Stage.READER, Severity.ERROR, line, column, source_line, message, hint, code)
