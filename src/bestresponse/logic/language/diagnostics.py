"""What is wrong with a logic program, as data a person or a model can act on.

Four stages find different faults: the *reader* (syntax), the *static* gate (names, arities,
forbidden goals), the *contract* of the extracted game (terminals, payoffs, order of moves) and the
*runtime* (errors and limits).
"""

from dataclasses import dataclass
from enum import StrEnum

from bestresponse.core.json import JsonObject


class Stage(StrEnum):
    """Which check found it."""

    READER = "reader"
    STATIC = "static"
    CONTRACT = "contract"
    RUNTIME = "runtime"


class Severity(StrEnum):
    """An error makes the game unusable or untrustworthy; a warning is a likely slip."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault: where it is, what it is, and what to do.

    Line and column count from 1; 0 means the program as a whole.
    """

    stage: Stage
    severity: Severity
    line: int
    column: int
    source_line: str
    message: str
    hint: str = ""
    code: str = ""

    def __str__(self) -> str:
        location = f"line {self.line}, column {self.column}: " if self.line else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{location}{self.severity.value}: {self.message}{hint}"

    def to_json(self) -> JsonObject:
        """Return it as plain data."""
        return {
            "stage": self.stage.value,
            "severity": self.severity.value,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "hint": self.hint,
            "source": self.source_line,
        }


def numbered(source: str) -> str:
    """The program with line numbers, as quoted back to its author."""
    lines = source.splitlines()
    width = len(str(len(lines)))
    return "\n".join(f"{number:>{width}} | {line}" for number, line in enumerate(lines, 1))
