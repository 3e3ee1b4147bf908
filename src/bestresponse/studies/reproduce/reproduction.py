"""What a reproduction is: checks of published figures, and the table they were taken from."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_json, read_text
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.report.document import (
    Cell,
    Column,
    Document,
    Paragraph,
    Section,
    Table,
    cell_json,
)


def read_records(path: Path, *fields: str) -> Iterator[JsonObject]:
    """Yield the rows of a recorded file, one JSON object a line.

    Raises UsageError where it or one of `fields` is missing.
    """
    if not path.exists():
        raise UsageError(
            f"{path.parent} holds no {path.name}; expected the folder of the recorded runs"
        )
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            row = parse_json(line or "{}")
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: expected a JSON object ({error})") from None
        if missing := [name for name in fields if name not in row]:
            raise UsageError(f"{path}, line {number}: the field {missing[0]!r} is missing")
        if row:
            yield row


@dataclass(frozen=True, slots=True)
class Check:
    """One published figure or statement, and what was found.

    `agrees` is None where nothing can be compared.

    `tolerance` says how far the two may be apart and still agree.
    """

    what: str
    published: Cell
    found: Cell
    agrees: bool | None
    remark: str = ""
    tolerance: str = "equal"


def check_equal(what: str, published: Cell, found: Cell, remark: str = "") -> Check:
    """Compare what has to be equal, if anything was published."""
    agrees = None if published is None else found == published
    return Check(what, published, found, agrees, remark)


def compare_number(
    what: str,
    published: float | None,
    computed: float,
    tolerance: float,
    remark: str = "",
) -> Check:
    """Compare a number with the published one, if there is one, which was rounded."""
    agrees = None if published is None else abs(computed - published) <= tolerance + 1e-9
    return Check(
        what,
        published,
        found=round(computed, 4),
        agrees=agrees,
        remark=remark,
        tolerance=f"within {tolerance:g}",
    )


def _encode_table(table: Table) -> dict[str, object]:
    """Return a table as plain JSON data: each row with the names of its columns."""
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, map(cell_json, row), strict=True)) for row in table.rows]
    return {"caption": table.caption, "rows": rows}


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
        return self.table().embed(repr(self))

    @property
    def differing(self) -> tuple[Check, ...]:
        """The figures that differ from the published ones."""
        return tuple(check for check in self.checks if check.agrees is False)

    def to_json(self) -> dict[str, object]:
        """Return the value as plain JSON data."""
        return {
            "paper": self.paper,
            "citation": self.citation,
            "checks": [asdict(check) for check in self.checks],
            "agree": sum(check.agrees is True for check in self.checks),
            "differ": [check.what for check in self.differing],
            "tables": [_encode_table(table) for table in self.tables],
            **self.detail,
        }

    def table(self) -> Table:
        """Build the table of all checks."""
        words = {True: "yes", False: "NO", None: None}
        right = (Column("published", "right"), Column("found", "right"))
        columns = (
            Column("what"),
            *right,
            Column("agrees"),
            Column("agrees if"),
            Column("remark"),
        )
        rows = []
        for check in self.checks:
            agrees = words[check.agrees]
            tolerance = check.tolerance if agrees else None
            remark = check.remark or None
            rows.append((check.what, check.published, check.found, agrees, tolerance, remark))
        return Table(columns, tuple(rows), self.citation)

    def report(self) -> Document:
        """Build the report: what was compared, then the tables of the paper."""
        compared = [check for check in self.checks if check.agrees is not None]
        agree = sum(check.agrees is True for check in compared)
        words = Paragraph(
            f"{agree} of {len(compared)} compared figures agree, each within its stated tolerance."
        )
        tables = Section("Tables", self.tables)
        return Document(
            f"Reproduction: {self.paper}",
            self.citation,
            (Section("Figures", (words, self.table())), tables),
        )
