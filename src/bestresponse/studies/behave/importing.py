"""Recorded play of others becomes a run: read by a mapping, checked row by row, nothing repaired.

A mapping is a TOML file that says which columns hold what (docs/behave.md). Moves are what counts:
payoffs are worked out from them by the table of the game and compared with the recorded ones. A row
that cannot be right is named with its line; a match with a move that is missing or unknown, or with
a round that is missing or there twice, is left out as a whole. Rounds may be in any order.
"""

import ast
import csv
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cached_property
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict, cast

import numpy as np

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.files import Unpacked, open_plain, read_text_file, read_toml
from bestresponse.core.json import JsonMapping, JsonObject, digest, refuse_repeated_keys
from bestresponse.core.registry import did_you_mean
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.models.base import Model
from bestresponse.report.blocks import table, text
from bestresponse.report.frames import Frame, column
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.settings import OF_CALLS, OF_PLAYS, RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, encode_rows, read_lines
from bestresponse.runs.study import Measured, Study
from bestresponse.theory.games.normal_form import NormalForm

MAPPINGS = Path(__file__).parent / "mappings"
ROLES = ("row", "column")
_BLOCK = 2_000
"""Matches that are written at a time."""
_SAME = 1e-9  # payoffs that differ by less are the same decimal, read and reckoned
Cells = Mapping[str, object]


@settings
class ImportConfig(RunSettings):
    """Turn recorded play from a CSV, JSONL or Parquet file into a run, and check every row.

    Payoffs are computed from the moves. Rows that do not fit are listed with their lines.
    """

    file: str | Path = setting(default="", kw_only=False, argument=True, how=True)
    """A .csv, .jsonl or .parquet file, also gzipped."""
    mapping: str = setting(
        default="",
        help="akata, fairgame, dilemma, friend-or-foe, or a TOML file that names the columns.",
    )
    output_dir: str | Path = setting(
        default="results", how=True, short="-o", help="Folder for the run."
    )
    source: str = setting(default="", option=False)
    digest: str = setting(default="", option=False)
    unused: ClassVar[frozenset[str]] = (
        OF_PLAYS | OF_CALLS | {"dry_run", "against", "fail_if", "junit"}
    )


@settings
class Layout:
    """What the columns of a file hold; a text that is no column is filled in from the row, as in
    "{study} {number}"."""

    players: tuple[str, ...] = setting()
    moves: tuple[str, ...] = setting()
    actions: tuple[str, ...] | tuple[tuple[str, ...], tuple[str, ...]] = setting()
    game: str = setting()
    name: str = setting(default="*")
    match: tuple[str, ...] = setting(default=())
    round: str = setting(default="")
    subjects: tuple[str, ...] = setting(default=())
    payoffs: tuple[str, ...] = setting(default=())
    before: str = setting(default="")
    infer: bool = setting(default=False)
    lists: bool = setting(default=False)
    table: tuple[float | str, ...] = setting(default=())
    tables: Mapping[str, tuple[float, ...]] = setting(default_factory=dict)
    codes: dict[str, str] | tuple[str, ...] = setting(default=())
    treatment: Mapping[str, str | tuple[str, ...]] = setting(default_factory=dict)
    join: Mapping[str, str] = setting(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.actions or not all(self.actions):
            raise SettingError("actions", "expected the names of the moves, got none")
        if not 1 <= len(self.moves) <= len(ROLES):
            raise SettingError(
                "moves", f"expected the columns of one or two seats, got {len(self.moves)}"
            )
        if self.infer and (len(self.moves) > 1 or not self.payoffs):
            raise SettingError(
                "infer", "expected one column in moves and at least one in payoffs to infer from"
            )
        if len(self.subjects) > len(ROLES):
            raise SettingError(
                "subjects", f"expected the names of one or two seats, got {len(self.subjects)}"
            )
        file = self.join.get("file", "")
        if file in (".", "..") or "/" in file or "\\" in file:
            raise UsageError(
                f"join: expected the name of a file beside the one that is imported, got {file!r}"
            )

    @cached_property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """The actions of both players; a plain list of names is that of either."""
        names = [(side,) if isinstance(side, str) else side for side in self.actions]
        if isinstance(self.actions[0], str):
            shared = tuple(chain.from_iterable(names))
            return shared, shared
        return tuple(names)

    def list_constant_columns(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that say who plays which game, which may not change within a match."""
        texts = [*self.players, self.game, *self.subjects, *map(str, self.table)]
        for cell in self.treatment.values():
            texts += [cell] if isinstance(cell, str) else cell
        named = []
        for name in columns:
            in_braces = f"{{{name}}}"
            if any(name == text or in_braces in text for text in texts):
                named.append(name)
        return named

    def check_columns(self, columns: Sequence[str], file: str) -> list[str]:
        """Return the columns that hold moves, payoffs and what a row belongs to; UsageError where
        one is missing."""
        codes = () if isinstance(self.codes, dict) else self.codes
        cells = [cell for cell in (*self.table, *codes) if isinstance(cell, str)]
        needed = [
            *self.moves,
            *self.payoffs,
            *self.match,
            self.round,
            self.before,
            self.join.get("on", ""),
            *cells,
        ]
        missing = [name for name in needed if name and name not in columns]
        if missing:
            raise UsageError(f"{file} has no column {missing[0]!r}; it has {', '.join(columns)}")
        return needed


class ProblemRow(TypedDict):
    """Something in the file that does not fit."""

    line: int
    match: str
    problem: str
    detail: str
    effect: Annotated[str, column(help="what became of the match")]


class PlayedRow(TypedDict):
    """What was played by whom."""

    game: str
    players: str
    matches: int
    moves: int


class FaultRow(TypedDict):
    """A kind of problem."""

    problem: str
    effect: str
    times: int


class FileRow(TypedDict):
    """The file as a whole."""

    rows: int
    matches: int
    left_out: int


_LONGEST_LINE = 10_000_000
"""Characters of a line: a few megabytes that are compressed can hold one of gigabytes."""
_REST = "cells beyond the last column"
"""The name under which a row of a CSV file keeps a cell that no column has, as an unquoted comma
makes it."""


_PLACE = re.compile(r"\{([^{}]*)\}")


class _Fault(ValueError):
    """What is wrong with a row, so that its match is left out: the kind of problem, and the
    detail."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a file: all of them with nothing in them, those that stay the same within a
    match, and those that the file beside it has too."""

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
        """Raise _Fault if a row says otherwise than the first who plays which game."""
        for name in columns.constant:
            if str(row.get(name)) != str(self.first.get(name)):
                raise _Fault("changed within a match", f"{name} is {row.get(name)!r}")

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
        }


def find_layout(mapping: str, file: Path) -> Layout:
    """Return what the mapping says of this file; UsageError where it says nothing or something
    unknown."""
    path = find_mapping(mapping)
    entries = read_toml(path).get("files", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path.name}: expected tables [[files]], each for files of one kind")
    for entry in entries:
        if fnmatch(file.name, str(entry.get("name", "*"))):
            try:
                return Layout(**entry)
            except UsageError as error:
                raise UsageError(f"{path.name}: {error}") from None
    raise UsageError(f"{path.name} has no [[files]] whose name fits {file.name}")


def find_mapping(mapping: str) -> Path:
    """Return the file of a built-in mapping, or the one that was named."""
    known = sorted(path.stem for path in MAPPINGS.glob("*.toml"))
    if mapping in known:
        return MAPPINGS / f"{mapping}.toml"
    if not mapping:
        raise SettingError(
            "mapping",
            f"this setting is missing; expected one of {', '.join(known)}, or a .toml file that"
            " says what the columns mean",
        )
    if not mapping.endswith(".toml"):
        hint = did_you_mean(mapping, known)
        raise SettingError(
            "mapping",
            f"expected one of {', '.join(known)}, or a .toml file; got {mapping!r}.{hint}",
        )
    return Path(mapping)


_KINDS = ("csv", "jsonl", "ndjson", "parquet")
_EXPECTED_KIND = "expected a .csv, .jsonl or .parquet file, also with .gz"


def find_file_kind(path: Path) -> str:
    """Return the ending of a file without that of its packing."""
    return path.name.removesuffix(".gz").rpartition(".")[2]


def read_rows(path: Path) -> Iterator[tuple[int, Cells]]:
    """Yield the rows of a table with their lines, the first row of a CSV file being line 2."""
    kind = find_file_kind(path)
    try:
        with open_plain(path) as raw:
            if kind == "parquet":
                try:
                    from pyarrow import parquet
                except ImportError:
                    raise UsageError(f"Parquet needs pyarrow: {install_hint('parquet')}") from None
                blocks = parquet.ParquetFile(raw).iter_batches()
                yield from enumerate((row for block in blocks for row in block.to_pylist()), 1)
                return
            plain = Unpacked(raw) if path.suffix == ".gz" else raw
            lines = TextIOWrapper(plain, "utf-8-sig", newline="")
            if kind == "csv":
                rows = csv.reader(_list_lines(lines))
                header = [*next(rows, []), _REST]
                named = [name for name in header if name]
                if len(set(named)) < len(named):
                    raise UsageError(
                        f"{path} has two columns of one name among {', '.join(named[:-1])}"
                    )
                for cells in rows:
                    # A short row lacks its last cells; they are missing, not an error of the file
                    # as a whole.
                    yield rows.line_num, dict(zip(header, cells, strict=False))
            elif kind in ("jsonl", "ndjson"):
                for number, line in enumerate(_list_lines(lines), 1):
                    if not line.strip():
                        continue
                    row = json.loads(line, object_pairs_hook=refuse_repeated_keys)
                    if not isinstance(row, dict):
                        raise ValueError(f"line {number} holds no object")
                    yield number, row
            else:
                raise UsageError(f"{path}: {_EXPECTED_KIND}")
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except RecursionError:
        raise UsageError(
            f"{path} cannot be read: a line is nested too deeply to be a row"
        ) from None
    except (OSError, EOFError, UnicodeDecodeError, ValueError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _list_lines(lines: TextIOWrapper) -> Iterator[str]:
    """Yield the lines of a file; ValueError at one that no table has, before it is read into
    memory."""
    number = 0
    while line := lines.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"line {number} has more than {_LONGEST_LINE:,} characters")
        yield line


@dataclass
class Reader:
    """Reads the matches of a file; what does not fit is told to `complain`, with the line and what
    became of it."""

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
            except _Fault as fault:
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
        """Raise _Fault if a row is too long, or does not fit the row that is joined to it."""
        join = self.layout.join
        if cells.get(_REST):
            raise _Fault("too many cells", "more than there are columns")
        if join and not beside:
            raise _Fault("not joined", f"no row of {join['file']} has this {join['on']!r}")
        for name in columns.shared:
            if str(beside.get(name)) != str(cells.get(name)):
                detail = f"{name} is {cells.get(name)!r}, joined {beside.get(name)!r}"
                raise _Fault("joined cells differ", detail)

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
            raise _Fault("round out of order", f"{number} after {len(match.moves)}")
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
                raise _Fault(
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
                detail=f"{names} pays {_show(due)}, recorded is {_show(paid)}",
                effect="kept; payoffs are those of the moves",
            )

    def _read_move(self, cell: object, seat: int, row: Cells) -> int:
        """Return the number of an action."""
        layout = self.layout
        if cell is None or cell == "":
            raise _Fault("missing move", f"no move of {ROLES[seat]}")
        if isinstance(layout.codes, dict):
            cell = layout.codes.get(str(cell), cell)
        named = [row.get(name) for name in layout.codes] if isinstance(layout.codes, tuple) else []
        codes = named or layout.sides[seat]
        if str(cell) not in codes:
            raise _Fault("unknown move", f"{cell!r}")
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
                raise _Fault("no payoff table", f"of the game {name!r}")
            if len(cells) != 2 * rows * columns:
                raise UsageError(
                    f"the table of {name!r} needs {2 * rows * columns} numbers, got {len(cells)}"
                )
            payoffs = np.array(numbers, dtype=np.float64).reshape(rows, columns, 2)
            self.tables[key] = NormalForm(np.moveaxis(payoffs, 2, 0), ROLES, layout.sides, name)
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
                raise _Fault("one subject in both seats", repr(subjects[0]))
        except _Fault as fault:
            match.trouble = (match.line, *fault.args)
            return None
        return form

    def _complain(self, line: int, start: int, problem: str, detail: str, effect: str) -> None:
        row = ProblemRow(
            line=line, match=f"from line {start}", problem=problem, detail=detail, effect=effect
        )
        self.complain(row)


def _fill(text: str, row: Cells) -> str:
    """Return the cell of that column, or a text filled in from the row.

    Columns are filled in by name alone: the mapping may be from somebody else, and a width such as
    in {name:999999999} would fill memory.
    """
    if text in row:
        return str(row[text])
    for name in _PLACE.findall(text):
        if name not in row:
            raise UsageError(f"the mapping names {text!r}, but the file has no column {name!r}")
    return _PLACE.sub(lambda place: str(row[place[1]]), text)


def _as_number(cell: Any) -> float | None:
    """Return the number in a cell; None where there is none, as in `nan`, which tables are full
    of."""
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
        raise _Fault("no list", "expected a list of moves or payoffs in every cell") from None
    if len(set(lengths)) > 1:
        raise _Fault("unequal lengths", f"lists of {', '.join(map(str, lengths))} entries")
    if not lists[0]:
        raise _Fault("missing move", "the lists are empty")
    for cells in zip(*lists, strict=True):
        yield {**row, **dict(zip(names, cells, strict=True))}


def _show(payoffs: Sequence[float | None]) -> str:
    shown = ["nothing" if payoff is None else f"{payoff:g}" for payoff in payoffs]
    return ", ".join(shown)


def prepare_import(config: ImportConfig) -> ImportConfig:
    """Make the content of all files part of the run's identity, so that another file makes another
    run."""
    path = Path(config.file)
    if not str(config.file):
        raise UsageError(
            "name the file to import and a mapping of its columns, such as rounds.csv --mapping"
            " akata"
        )
    if find_file_kind(path) not in _KINDS:
        raise UsageError(f"{path}: {_EXPECTED_KIND}")
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    join = find_layout(config.mapping, path).join
    files = [path, find_mapping(config.mapping)]
    if join:
        files.append(path.parent / join["file"])
    parts = []
    for part in files:
        try:
            with open_plain(part) as file:
                parts.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise UsageError(f"{part} cannot be read: {error.strerror}") from None
    return replace(config, source=path.name, digest=digest(parts))


def read_into_run(
    config: ImportConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution
) -> Outcome:
    """Write every match of the file as a play, and beside them what did not fit."""
    finished = folder.finished()
    outcome = Outcome()
    if (folder.path / "finished").exists():
        return Outcome(found=len(finished))
    path = Path(config.file)
    problems = list[ProblemRow]()
    reader = Reader(path, find_layout(config.mapping, path), problems.append)
    matches = (play for play in reader.list_matches() if play["spec"] not in finished)
    while block := list(islice(matches, _BLOCK)):
        folder.finish_encoded(encode_rows(block))
        outcome.played += len(block)
        how.on_progress(Progress(None, len(finished), outcome.played, 0))
    for form in reader.tables.values():
        for role, payoffs in zip(ROLES, form.payoffs, strict=True):
            if len(np.unique(payoffs)) < payoffs.size:
                detail = f"{form.name}: {role} gets {_show(payoffs.ravel().tolist())}"
                tied = ProblemRow(
                    line=0, match="", problem="tied payoffs", detail=detail, effect="kept"
                )
                problems.append(tied)
    folder.write_text("problems.jsonl", encode_rows(problems).decode())
    counts = {"rows": reader.rows, "left_out": reader.left_out}
    folder.write_text("rows.json", json.dumps(counts) + "\n")
    return outcome


def measure_import(config: ImportConfig, folder: RunFolder) -> Measured:
    """Count matches and rounds by game and player, and list what did not fit."""
    games: dict[tuple[str, str], PlayedRow] = {}
    for line in read_lines(folder.path / "records.jsonl"):
        record = line["record"]
        game = record["game"]
        players = " - ".join(filter(None, record["players"].values()))
        new = PlayedRow(game=game, players=players, matches=0, moves=0)
        row = games.setdefault((game, players), new)
        row["matches"] += 1
        row["moves"] += len(record["submissions"])
    problems = [cast(ProblemRow, row) for row in read_lines(folder.path / "problems.jsonl")]
    kinds = Counter((row["problem"], row["effect"]) for row in problems)
    counts = json.loads(read_text_file(folder.path / "rows.json"))
    matches = sum(row["matches"] for row in games.values())
    file = FileRow(rows=counts["rows"], matches=matches, left_out=counts["left_out"])
    faults = []
    for (kind, effect), times in kinds.items():
        faults.append(FaultRow(problem=kind, effect=effect, times=times))
    frames = {
        "file": Frame(FileRow, [file]),
        "games": Frame(PlayedRow, list(games.values())),
        "found": Frame(FaultRow, faults),
        "problems": Frame(ProblemRow, problems),
    }
    return Measured(frames, answered=matches)


def make_recorded_game(config: ImportConfig, data: JsonMapping) -> RepeatedGame:
    """Return the game of an imported match, of so many rounds as were played."""
    kept = data["form"]
    actions = tuple(map(tuple, kept["actions"]))
    form = NormalForm(kept["payoffs"], ROLES, actions, kept["name"])
    return RepeatedGame(form, data["rounds"])


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

import_plays = Study(
    "import",
    ImportConfig,
    measure=measure_import,
    title="Recorded play: {{ config.source }}",
    subtitle="read by the mapping {{ config.mapping }}",
    command="import",
    unit="matches",
    texts=(),
    game=make_recorded_game,
    prepare=prepare_import,
    count_plays=lambda config: None,
    make_run=read_into_run,
    report=(
        text(_PROSE["file"]),
        table("found", title="What does not fit"),
        table("games", title="What was played", most=60),
        table("problems", title="Row by row", caption="The first 100.", most=100),
    ),
)
"""Read recorded play of others into a run, checked row by row."""
