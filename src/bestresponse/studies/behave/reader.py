"""Recorded rows become matches: every row is checked, and nothing is repaired."""

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject, digest
from bestresponse.report.frames import column
from bestresponse.studies.behave.layouts import PLACE, REST, ROLES, Cells, Layout, read_rows
from bestresponse.theory.games.normal_form import NormalForm

BLOCK = 2_000
"""Matches that are written at a time."""
_SAME = 1e-9  # payoffs that differ by less are the same decimal, read and reckoned


class ProblemRow(TypedDict):
    """Something in the file that does not fit."""

    line: int
    match: str
    problem: str
    detail: str
    effect: Annotated[str, column(help="what became of the match")]


class RowFault(ValueError):
    """What is wrong with a row, so that its match is left out.

    Gives the kind of problem and the detail.
    """


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a file.

    Holds all of them with nothing in them, those that stay the same within a match, and those that
    the file beside it has too.
    """

    empty: Cells
    constant: Sequence[str]
    shared: Sequence[str]


@dataclass
class _Match:
    """The rows of one match so far.

    `waiting` holds, with their lines, rounds whose predecessors are still to come.
    """

    first: Cells
    line: int
    moves: list[tuple[Any, Any]] = field(default_factory=list)
    trouble: tuple[int, str, str] | None = None
    waiting: dict[int, tuple[int, Cells]] = field(default_factory=dict)

    def check_constant(self, row: Cells, columns: _Columns) -> None:
        """Raise RowFault if a row says otherwise than the first who plays which game."""
        for name in columns.constant:
            if str(row.get(name)) != str(self.first.get(name)):
                raise RowFault("changed within a match", f"{name} is {row.get(name)!r}")

    def make_record(self, form: NormalForm, players: Sequence[str]) -> dict[str, object]:
        """Return the match as a record; payoffs are those of the moves, if all are known."""
        submissions = []
        totals = np.zeros(2)
        complete = True
        for first, second in self.moves:
            for seat, move in enumerate((first, second)):
                if move is not None:
                    action = form.actions[seat][move]
                    submissions.append({"role": ROLES[seat], "action": action, "status": "valid"})
            if second is None:
                complete = False
            else:
                totals += form.payoffs[:, first, second]
        return {
            "game": form.name,
            "version": 1,
            "players": dict(zip(ROLES, (*players, ""), strict=False)),
            "submissions": submissions,
            "payoffs": dict(zip(ROLES, totals.tolist(), strict=True)) if complete else {},
            "void": None,
            "endless": False,
        }


@dataclass
class Reader:
    """Reads the matches of a file.

    What does not fit is told to `complain`, with the line and what became of it.
    """

    path: Path
    layout: Layout
    complain: Callable[[ProblemRow], None]
    rows: int = 0
    left_out: int = 0

    def __post_init__(self) -> None:
        self.tables: dict[tuple[Any, ...], NormalForm] = {}
        self._joined: dict[str, Cells] = {}
        if self.layout.join:
            on = self.layout.join["on"]
            beside = self.path.parent / self.layout.join["file"]
            for line, row in read_rows(beside):
                before = self._joined.setdefault(str(row.get(on)), row)
                if before != row:
                    raise UsageError(
                        f"{beside}, line {line}: a row before it has the same {on!r} and other"
                        " cells"
                    )

    def list_matches(self) -> Iterator[JsonObject]:
        """Yield the plays of the file as lines of a run, in order of appearance."""
        matches: dict[tuple[Any, ...], _Match] = {}
        columns: _Columns | None = None
        for line, cells in read_rows(self.path):
            self.rows += 1
            if columns is None:
                columns = self._find_columns(cells)
            beside = self._joined.get(str(cells.get(self.layout.join.get("on", ""))), {})
            # A cell that a row lacks is empty; a text that is no column of its row would count as a
            # name.
            filled = {name: cell for name, cell in {**cells, **beside}.items() if cell is not None}
            row = {**columns.empty, **filled}
            named = [row.get(name) for name in self.layout.match]
            # A list or a table in a line of JSON tells matches apart by its text.
            key = tuple(str(cell) if isinstance(cell, dict | list) else cell for cell in named)
            key = key or (line,)
            match = matches.get(key) or _Match(row, line)
            try:
                self._check_joined(cells, beside, columns)
                match.check_constant(row, columns)
                for turn in self._split_row(row):
                    self._add_in_order(match, line, turn)
            except RowFault as fault:
                match.trouble = match.trouble or (line, *fault.args)
            if self.layout.match:
                matches[key] = match
            else:
                yield from self._finish(key, match)
        for key, match in matches.items():
            yield from self._finish(key, match)

    def _find_columns(self, cells: Cells) -> _Columns:
        """Find the columns that matter, by the first row of the file and of the one beside it."""
        on = self.layout.join.get("on", "")
        first_beside = next(iter(self._joined.values()), {})
        joined = [name for name in first_beside if name != on]
        empty = dict.fromkeys([*cells, *joined], "")
        needed = self.layout.check_columns(list(empty), self.path.name)
        constant = self.layout.list_constant_columns(empty)
        checked = {*needed, *constant}
        shared = [name for name in joined if name in cells and name in checked]
        return _Columns(empty, constant, shared)

    def _check_joined(self, cells: Cells, beside: Cells, columns: _Columns) -> None:
        """Raise RowFault if a row is too long, or does not fit the row that is joined to it."""
        join = self.layout.join
        if cells.get(REST):
            raise RowFault("too many cells", "more than there are columns")
        if join and not beside:
            raise RowFault("not joined", f"no row of {join['file']} has this {join['on']!r}")
        for name in columns.shared:
            if str(beside.get(name)) != str(cells.get(name)):
                detail = f"{name} is {cells.get(name)!r}, joined {beside.get(name)!r}"
                raise RowFault("joined cells differ", detail)

    def _split_row(self, row: Cells) -> Iterable[Cells]:
        """Return the rounds of a row: one, or as many as its lists are long."""
        if not self.layout.lists:
            return (row,)
        return _split_lists(row, (*self.layout.moves, *self.layout.payoffs))

    def _add_in_order(self, match: _Match, line: int, row: Cells) -> None:
        """Add a round to its match, or let it wait for those before it."""
        if not self.layout.round:
            self._add(match, line, row)
            return
        number = str(row.get(self.layout.round))
        later = number.isdecimal() and int(number) > len(match.moves)
        if not later or int(number) in match.waiting:
            raise RowFault("round out of order", f"{number} after {len(match.moves)}")
        match.waiting[int(number)] = (line, row)
        while (following := len(match.moves) + 1) in match.waiting:
            self._add(match, *match.waiting.pop(following))

    def _add(self, match: _Match, line: int, row: Cells) -> None:
        """Add the next round to its match."""
        layout = self.layout
        played = match.moves
        moves = []
        for seat, name in enumerate(layout.moves):
            moves.append(self._read_move(row.get(name), seat, row))
        paid = [_as_number(row.get(name)) for name in layout.payoffs]
        if layout.before and played:
            played[-1] = (played[-1][0], self._read_move(row.get(layout.before), 1, row))
        if layout.infer:
            payoffs = self._find_table(row).payoffs[0, moves[0]].tolist()
            fitting = [move for move, payoff in enumerate(payoffs) if _is_same(payoff, paid[0])]
            if len(fitting) != 1:
                raise RowFault(
                    "impossible payoff",
                    f"{paid[0]} cannot be earned by {layout.sides[0][moves[0]]}",
                )
            moves += fitting
        if len(moves) < 2:
            played.append((moves[0], None))
            return
        first, second = moves
        played.append((first, second))
        if not paid:
            return
        payoffs = self._find_table(row).payoffs[:, first, second]
        due = payoffs.tolist()[: len(paid)]
        if not all(map(_is_same, due, paid)):
            names = ", ".join(side[move] for side, move in zip(layout.sides, moves, strict=True))
            self._complain(
                line,
                match.line,
                problem="payoff mismatch",
                detail=f"{names} pays {format_payoffs(due)}, recorded is {format_payoffs(paid)}",
                effect="kept; payoffs are those of the moves",
            )

    def _read_move(self, cell: object, seat: int, row: Cells) -> int:
        """Return the number of an action."""
        layout = self.layout
        if cell is None or cell == "":
            raise RowFault("missing move", f"no move of {ROLES[seat]}")
        if isinstance(layout.codes, dict):
            cell = layout.codes.get(str(cell), cell)
        named = [row.get(name) for name in layout.codes] if isinstance(layout.codes, tuple) else []
        codes = named or layout.sides[seat]
        if str(cell) not in codes:
            raise RowFault("unknown move", f"{cell!r}")
        return codes.index(str(cell))

    def _find_table(self, row: Cells) -> NormalForm:
        layout = self.layout
        name = _fill(self.layout.game, row)
        key = (name, *(row.get(cell) for cell in layout.table if isinstance(cell, str)))
        if key not in self.tables:
            cells = layout.tables.get(name, ()) if layout.tables else layout.table
            rows, columns = map(len, layout.sides)
            filled = [row.get(cell) if isinstance(cell, str) else cell for cell in cells]
            numbers = list(map(_as_number, filled))
            if (layout.tables and not cells) or None in numbers:
                raise RowFault("no payoff table", f"of the game {name!r}")
            if len(cells) != 2 * rows * columns:
                raise UsageError(
                    f"the table of {name!r} needs {2 * rows * columns} numbers, got {len(cells)}"
                )
            payoffs = np.array(numbers, dtype=np.float64).reshape(rows, columns, 2)
            self.tables[key] = NormalForm(
                np.moveaxis(payoffs, 2, 0),
                ROLES,
                layout.sides,
                name,
            )
        return self.tables[key]

    def _finish(self, key: tuple[object, ...], match: _Match) -> Iterator[JsonObject]:
        """Yield the line of a match in a run, or complain where it is left out."""
        layout = self.layout
        row = match.first
        subjects = [_fill(name, row) for name in layout.subjects]
        form = self._settle(match, subjects)
        if match.trouble or form is None:
            self.left_out += 1
            line, problem, detail = match.trouble or (match.line, "", "")
            self._complain(line, match.line, problem, detail, "the match is left out")
            return

        treatment: dict[str, str | list[str]] = {}
        for name, cell in layout.treatment.items():
            if isinstance(cell, tuple):
                treatment[name] = [_fill(part, row) for part in cell]
            else:
                treatment[name] = _fill(cell, row)
        data = {
            "study": "import",
            "line": match.line,
            "key": list(map(str, key)),
            "rounds": len(match.moves),
            "form": {"name": form.name, "actions": form.actions, "payoffs": form.payoffs.tolist()},
            "subjects": subjects,
            "treatment": treatment,
        }
        record = match.make_record(form, [_fill(name, row) for name in layout.players])
        yield {"spec": digest(data), "data": data, "record": record}

    def _settle(self, match: _Match, subjects: Sequence[str]) -> NormalForm | None:
        """Return the table of a whole match; note in the match what is wrong where it has none."""
        if match.waiting and not match.trouble:
            number = min(match.waiting)
            line, _ = match.waiting[number]
            detail = f"{number} after {len(match.moves)}"
            match.trouble = (line, "round out of order", detail)
        if match.trouble:
            return None
        try:
            form = self._find_table(match.first)
            if len(subjects) == 2 and subjects[0] and subjects[0] == subjects[1]:
                raise RowFault("one subject in both seats", repr(subjects[0]))
        except RowFault as fault:
            match.trouble = (match.line, *fault.args)
            return None
        return form

    def _complain(
        self,
        line: int,
        start: int,
        problem: str,
        detail: str,
        effect: str,
    ) -> None:
        row = ProblemRow(
            line=line,
            match=f"from line {start}",
            problem=problem,
            detail=detail,
            effect=effect,
        )
        self.complain(row)


def _fill(text: str, row: Cells) -> str:
    """Return the cell of that column, or a text filled in from the row.

    Columns are filled in by name alone: the mapping may be from somebody else, and a width such as
    in {name:999999999} would fill memory.
    """
    if text in row:
        return str(row[text])
    for name in PLACE.findall(text):
        if name not in row:
            raise UsageError(f"the mapping names {text!r}, but the file has no column {name!r}")
    return PLACE.sub(lambda place: str(row[place[1]]), text)


def _as_number(cell: Any) -> float | None:
    """Return the number in a cell.

    Returns None where there is none, as in `nan`, which tables are full of.
    """
    try:
        return number if math.isfinite(number := float(cell)) else None
    except (OverflowError, TypeError, ValueError):
        return None


def _is_same(payoff: float, recorded: float | None) -> bool:
    return recorded is not None and abs(payoff - recorded) < _SAME


def _split_lists(row: Cells, names: Sequence[str]) -> Iterator[Cells]:
    """Yield a row for each round of a row whose cells are lists."""
    lists = []
    try:
        for name in names:
            cell = row.get(name)
            lists.append(cell if isinstance(cell, list) else ast.literal_eval(str(cell)))
        lengths = [len(cells) for cells in lists]
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise RowFault("no list", "expected a list of moves or payoffs in every cell") from None
    if len(set(lengths)) > 1:
        raise RowFault("unequal lengths", f"lists of {', '.join(map(str, lengths))} entries")
    if not lists[0]:
        raise RowFault("missing move", "the lists are empty")
    for cells in zip(*lists, strict=True):
        yield {**row, **dict(zip(names, cells, strict=True))}


def format_payoffs(payoffs: Sequence[float | None]) -> str:
    """Write payoffs for a message; "nothing" where there is none."""
    shown = ["nothing" if payoff is None else f"{payoff:g}" for payoff in payoffs]
    return ", ".join(shown)
