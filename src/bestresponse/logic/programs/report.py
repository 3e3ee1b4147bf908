"""Everything found out about a program, as values that can also travel between processes as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.logic.engine import RuntimeFault
from bestresponse.logic.gate.check import REFUSING
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.programs.game_table import GameTable, Row

__all__ = ["Expectation", "Report", "decode_report", "describe_failure", "encode_report"]

_RAISE_ENDS = "`bestresponse --logic-ends N ...` or `Limits.within(60, N)` allows N"
_RAISE_TIME = "`bestresponse --logic-seconds 600 ...` or `Limits.within(600)` allows more"
_LIMIT_HINTS = {
    "ends": f"{_RAISE_ENDS}; or let the game have fewer moves",
    "positions": f"a game may have ten positions for each end: {_RAISE_ENDS}",
    "steps": f"does every rule come to an end? if so, {_RAISE_TIME}",
    "memory": f"does every rule come to an end? if so, {_RAISE_ENDS} and more memory",
    "": f"if the game is as large as it should be, {_RAISE_TIME}",
}
"""What to do about a limit, by a word in the message that tells of it."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is known about the game beforehand: numbers of players and of moves per player; `None` where it is not."""

    players: int | None = None
    moves: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything found out about a program: its text, the predicates it defines, what is wrong, and its table."""

    source: str
    defined: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]
    table: GameTable | None = None

    def __repr__(self) -> str:
        found = "a game" if self.ok else "no game"
        counts = ((len(self.errors), "error"), (len(self.warnings), "warning"))
        return f"Report({found}, {', '.join(f'{n} {what}' if n == 1 else f'{n} {what}s' for n, what in counts)})"

    def _repr_html_(self) -> str:
        rows = ((one.severity.value, one.line or "", one.message, one.hint) for one in self.diagnostics)
        return format_html(repr(self), ("severity", "line", "message", "hint"), rows)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What must be repaired."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What may be a slip."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.WARNING)

    @property
    def refusals(self) -> tuple[Diagnostic, ...]:
        """Why the program must not run; empty if it may."""
        return tuple(d for d in self.errors if d.code in REFUSING)

    @property
    def ok(self) -> bool:
        """Whether this is a game that can be solved and played."""
        return not self.errors and self.table is not None


def describe_failure(error: LogicError) -> Diagnostic:
    """Return the diagnostic for an error or a limit while a program ran."""
    line, source_line, message = 0, "", str(error)
    if isinstance(error, RuntimeFault):
        line, source_line, message = error.line, error.source_line, error.message
    limit = isinstance(error, LimitReached)
    hint = next(hint for word, hint in _LIMIT_HINTS.items() if word in message) if limit else ""
    code = "limit" if limit else "error"
    return Diagnostic(Stage.RUNTIME, Severity.ERROR, line, 1 if line else 0, source_line, message, hint, code)


def encode_report(report: Report) -> JsonObject:
    """Return the report, without the program's text, as JSON data."""
    found = [
        (d.stage, d.severity, d.line, d.column, d.source_line, d.message, d.hint, d.code) for d in report.diagnostics
    ]
    table = None if report.table is None else _encode_table(report.table)
    return {"defined": sorted(report.defined), "diagnostics": found, "table": table}


def decode_report(source: str, data: JsonMapping) -> Report:
    """Return the report on `source` that `encode_report` wrote."""
    diagnostics = tuple(Diagnostic(Stage(stage), Severity(how), *rest) for stage, how, *rest in data["diagnostics"])
    table = None if data["table"] is None else _decode_table(data["table"])
    return Report(source, frozenset(data["defined"]), diagnostics, table)


def _encode_table(table: GameTable) -> JsonObject:
    """Number the different parts of rows (moves, blocks, probabilities, percepts), which are few."""
    parts: dict[object, int] = {}
    rows = [
        (
            [parts.setdefault(move, len(parts)) for move in row.moves],
            [_encode_number(payoff) for payoff in row.payoffs],
            parts.setdefault(row.blocks, len(parts)),
            [None if chance is None else _encode_number(chance) for chance in row.chances],
            parts.setdefault(row.percepts, len(parts)),
        )
        for row in table.rows
    ]
    return {
        "players": table.players,
        "moves": table.moves,
        "parts": list(parts),
        "rows": rows,
        "every_order": table.every_order,
        "private": table.private,
    }


def _decode_table(data: JsonMapping) -> GameTable:
    parts = [_freeze(part) for part in data["parts"]]
    rows = tuple(
        Row(
            tuple([parts[move] for move in moves]),
            tuple(map(_decode_number, payoffs)),
            parts[blocks],
            tuple([None if chance is None else _decode_number(chance) for chance in chances]),
            parts[percepts],
        )
        for moves, payoffs, blocks, chances, percepts in data["rows"]
    )
    moves = tuple(map(tuple, data["moves"]))
    return GameTable(tuple(data["players"]), moves, rows, data["every_order"], data["private"])


def _freeze(part: object) -> Any:
    return tuple(map(_freeze, part)) if isinstance(part, list) else part


def _encode_number(value: Fraction) -> int | tuple[int, int]:
    return value.numerator if value.denominator == 1 else (value.numerator, value.denominator)


def _decode_number(value: int | Sequence[int]) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(value[0], value[1])
