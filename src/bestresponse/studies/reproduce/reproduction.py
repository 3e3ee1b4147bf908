"""What a reproduction is: checks of published figures, and the table they were taken from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.report.document import Cell, Column, Table

__all__ = ["Check", "Reproduction"]


@dataclass(frozen=True, slots=True)
class Check:
    """One published figure or statement, and what was found. `agrees` is None where nothing can be compared."""

    what: str
    published: Cell
    found: Cell
    agrees: bool | None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All that was compared for one paper. `detail` is plain data for programs."""

    paper: str
    citation: str
    checks: tuple[Check, ...]
    tables: tuple[Table, ...] = ()
    detail: JsonMapping = field(default_factory=dict)

    def __repr__(self) -> str:
        agree = sum(check.agrees is True for check in self.checks)
        return f"Reproduction({self.paper!r}, {agree} of {len(self.checks)} figures agree)"

    def _repr_html_(self) -> str:
        rows = ((one.what, one.published, one.found, one.agrees, one.remark) for one in self.checks)
        return format_html(repr(self), ("figure", "published", "found", "agrees", "remark"), rows)

    @property
    def differing(self) -> tuple[Check, ...]:
        """The figures that differ from the published ones."""
        return tuple(check for check in self.checks if check.agrees is False)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return {
            "paper": self.paper,
            "citation": self.citation,
            "checks": [asdict(check) for check in self.checks],
            "agree": sum(check.agrees is True for check in self.checks),
            "differ": [check.what for check in self.differing],
            **self.detail,
        }

    def table(self) -> Table:
        """The checks as a table."""
        words = {True: "yes", False: "NO", None: None}
        columns = (
            Column("what"), Column("published", "right"), Column("found", "right"), Column("agrees"), Column("remark"),
        )  # fmt: skip
        rows = tuple((c.what, c.published, c.found, words[c.agrees], c.remark or None) for c in self.checks)
        return Table(columns, rows, self.citation)
