"""Everything found out about a program, as values.

The values can also travel between processes as JSON.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.core.notebook import format_html
from bestresponse.logic.engine import RuntimeFault
from bestresponse.logic.gate.check import REFUSING
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.programs.game_table import GameTable, Row
from bestresponse.logic.programs.positions import PositionTable, ProgramPosition

JsonList = list[Any]
"""A list as it was read from JSON: whoever reads it checks what it holds."""
_RAISE_ENDS = (
    "`bestresponse --logic-ends N ...` or `br.check(..., limits=Limits.within(35, N))` allows N"
)
_RAISE_TIME = (
    "`bestresponse --logic-seconds 600 ...` or `br.check(..., limits=Limits.within(600))` allows"
    " more"
)
_LIMIT_HINTS = {
    "machine": "this says nothing about the program: check it again when less else is running",
    "ends": f"{_RAISE_ENDS}; or let the game have fewer moves",
    "steps": f"does every rule come to an end? if so, {_RAISE_TIME}",
    "memory": f"does every rule come to an end? if so, {_RAISE_ENDS} and more memory",
    "number": "is a payoff or probability meant to be so long?",
    "": f"if the game is as large as it should be, {_RAISE_TIME}",
}
"""What to do about a limit, by a word in the message that tells of it."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything found out about a program: text, predicates, faults and table.

    The predicates are those that it defines.
    """

    source: str
    defined: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]
    table: GameTable | None = None
    positions: PositionTable | None = None
    """The game of a program whose plays are too many for a table."""

    def __repr__(self) -> str:
        verdict = "a game" if self.ok else "no game"
        errors = _count(len(self.errors), "error")
        warnings = _count(len(self.warnings), "warning")
        return f"Report({verdict}, {errors}, {warnings})"

    def _repr_html_(self) -> str:
        rows = ((d.severity.value, d.line or "", d.message, d.hint) for d in self.diagnostics)
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
    def not_compared(self) -> tuple[str, ...]:
        """What the rules may allow beside the table, and was not compared with it, in sentences."""
        return tuple(d.message for d in self.warnings if d.code == "orders")

    @property
    def refusals(self) -> tuple[Diagnostic, ...]:
        """Why the program must not run; empty if it may."""
        return tuple(d for d in self.errors if d.code in REFUSING)

    @property
    def ok(self) -> bool:
        """Whether this is a game that can be solved and played."""
        return not self.errors and (self.table is not None or self.positions is not None)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def describe_failure(error: LogicError) -> Diagnostic:
    """Return the diagnostic for an error or a limit while a program ran."""
    line = 0
    source_line = ""
    message = str(error)
    if isinstance(error, RuntimeFault):
        line = error.line
        source_line = error.source_line
        message = error.message
    limit = isinstance(error, LimitReached)
    hint = ""
    if limit:
        hint = next(hint for word, hint in _LIMIT_HINTS.items() if word in message)
    code = "limit" if limit else "error"
    return Diagnostic(
        Stage.RUNTIME,
        Severity.ERROR,
        line=line,
        column=1 if line else 0,
        source_line=source_line,
        message=message,
        hint=hint,
        code=code,
    )


def encode_value(value: object) -> object:
    """Return what JSON can hold of a number, a set or a value of this package.

    For `json.dumps(..., default=...)`.
    """
    match value:
        case Fraction():
            return value.numerator if value.denominator == 1 else str(value)
        case frozenset():
            return sorted(value)
        case _:
            assert is_dataclass(value)
            return [getattr(value, field.name) for field in fields(value)]


def decode_report(source: str, data: JsonList, rows: Iterable[JsonList] = ()) -> Report:
    """Return the report on `source` that came as JSON from a confined child.

    The rows of its table come separately.
    """
    _, defined, entries, table, positions = data
    diagnostics = []
    for stage, severity, *rest in entries:
        diagnostics.append(Diagnostic(Stage(stage), Severity(severity), *rest))
    decoded = None if table is None else _decode_table(table, rows)
    by_positions = (
        None if positions is None else _decode_positions(positions[0], positions[2], rows)
    )
    return Report(source, frozenset(defined), tuple(diagnostics), decoded, by_positions)


def _decode_positions(
    players: Iterable[str], plays: int, encoded: Iterable[JsonList]
) -> PositionTable:
    positions = tuple(
        ProgramPosition(
            player,
            tuple(moves),
            tuple(following),
            chances=tuple(map(Fraction, chances)),
            payoffs=tuple(map(Fraction, payoffs)),
            facts=tuple(facts),
        )
        for player, moves, following, chances, payoffs, facts in encoded
    )
    return PositionTable(tuple(players), positions, plays)


def _decode_table(data: JsonList, encoded: Iterable[JsonList]) -> GameTable:
    players, moves, _, every_order, private = data
    shared: dict[object, Any] = {}

    def freeze(part: object) -> Any:
        """Return a list as a tuple, equal ones as one: rows have few different parts."""
        frozen = tuple(map(freeze, part)) if isinstance(part, list) else part
        return shared.setdefault(frozen, frozen)

    rows = tuple(
        Row(
            freeze(made),
            tuple(map(Fraction, payoffs)),
            freeze(blocks),
            tuple([None if chance is None else Fraction(chance) for chance in chances]),
            freeze(percepts),
        )
        for made, payoffs, blocks, chances, percepts in encoded
    )
    return GameTable(
        tuple(players),
        tuple(map(tuple, moves)),
        rows,
        every_order,
        private,
    )
