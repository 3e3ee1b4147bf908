"""Mappings and files of recorded play: which columns hold what, and the rows one by one."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import cached_property
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.files import Unpacked, open_plain, read_text_file, read_toml
from bestresponse.core.json import refuse_repeated_keys
from bestresponse.core.registry import did_you_mean
from bestresponse.runs.settings import setting, settings

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

MAPPINGS = Path(__file__).parent / "mappings"
ROLES = ("row", "column")
_LARGEST_PART = 1 << 26
"""Bytes that a row group of a Parquet file may unpack to; those of writers have a few million."""
_MOST_CELLS = 1_000_000
"""Cells of a Parquet file that are read at once."""
Cells = Mapping[str, object]
Entry = TypeVar("Entry")


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
        """Return the columns that hold moves, payoffs and what a row belongs to.

        Raises UsageError where one is missing.
        """
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


@settings
class Replays:
    """Which fields hold what: `steps.*.move` is the field `move` of every element of `steps`.

    `game` is the name of a game or a field; `games` says which game here a name stands for. In a
    table, rows with the same `match` are one play, and their fields are in `rows`. `codes_of` names
    another mapping whose codes are meant.
    """

    game: str = setting()
    moves: str = setting()
    name: str = setting(default="*")
    games: Mapping[str, str] = setting(default_factory=dict)
    match: str = setting(default="")
    players: tuple[str, ...] = setting(default=())
    subjects: tuple[str, ...] = setting(default=())
    by: str = setting(default="")
    skip: tuple[str, ...] = setting(default=())
    between: tuple[str, str] = setting(default=("", ""))
    drop: str = setting(default="")
    codes: Mapping[str, Mapping[str, str]] = setting(default_factory=dict)
    codes_of: str = setting(default="")
    payoffs: str = setting(default="")


_LONGEST_LINE = 10_000_000
"""Characters of a line: a few megabytes that are compressed can hold one of gigabytes."""
REST = "cells beyond the last column"
"""The name under which a row of a CSV file keeps a cell that no column has, as an unquoted comma
makes it."""
PLACE = re.compile(r"\{([^{}]*)\}")


def find_layout(mapping: str, file: Path) -> Layout:
    """Return what the mapping says of this file.

    Raises UsageError where it says nothing or something unknown.
    """
    found = _find_entry(mapping, file, "files", Layout)
    if found is None:
        path = find_mapping(mapping)
        raise UsageError(f"{path.name} has no [[files]] whose name fits {file.name}")
    return found


def find_replays(mapping: str, file: Path) -> Replays | None:
    """Return what the mapping says of this file of plays with turns; None where it is a table."""
    found = _find_entry(mapping, file, "replays", Replays)
    shared = found and found.codes_of and find_replays(found.codes_of, file)
    return replace(found, codes=shared.codes) if found and shared else found


def _find_entry(mapping: str, file: Path, key: str, kind: Callable[..., Entry]) -> Entry | None:
    path = find_mapping(mapping)
    entries = read_toml(path).get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path.name}: expected tables [[{key}]], each for files of one kind")
    for entry in entries:
        if fnmatch(file.name, str(entry.get("name", "*"))):
            try:
                return kind(**entry)
            except UsageError as error:
                raise UsageError(f"{path.name}: {error}") from None
    return None


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


KINDS = ("csv", "jsonl", "ndjson", "parquet", "json")
EXPECTED_KIND = "expected a .csv, .jsonl, .json or .parquet file, also with .gz"


def find_file_kind(path: Path) -> str:
    """Return the ending of a file without that of its packing."""
    return path.name.removesuffix(".gz").rpartition(".")[2]


def read_plays_json(path: Path) -> object:
    """Return what a file of JSON holds."""
    try:
        return json.loads(read_text_file(path), object_pairs_hook=refuse_repeated_keys)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


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
                yield from enumerate(_list_parquet_rows(parquet.ParquetFile(raw)), 1)
                return
            plain = Unpacked(raw) if path.suffix == ".gz" else raw
            lines = TextIOWrapper(plain, "utf-8-sig", newline="")
            if kind == "csv":
                rows = csv.reader(_list_lines(lines))
                header = [*next(rows, []), REST]
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
                raise UsageError(f"{path}: {EXPECTED_KIND}")
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except RecursionError:
        raise UsageError(
            f"{path} cannot be read: a line is nested too deeply to be a row"
        ) from None
    except (OSError, EOFError, UnicodeDecodeError, ValueError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _list_parquet_rows(file: "ParquetFile") -> Iterator[Cells]:
    """Yield the rows of a Parquet file, whose footer says what its parts unpack to.

    ValueError if a part would not fit into the memory that reading may take.
    """
    about = file.metadata
    for part in range(about.num_row_groups):
        size = about.row_group(part).total_byte_size
        if size > _LARGEST_PART:
            raise ValueError(
                f"row group {part + 1} unpacks to {size:,} bytes; at most {_LARGEST_PART:,} are"
                " read: write smaller row groups"
            )
        # A text that stands there once may be the cell of every row.
        most = min(2 * _LARGEST_PART // max(size, 1), _MOST_CELLS // max(about.num_columns, 1))
        for block in file.iter_batches(max(most, 1), row_groups=[part]):
            yield from block.to_pylist()


def _list_lines(lines: TextIOWrapper) -> Iterator[str]:
    """Yield the lines of a file.

    ValueError at one that no table has, before it is read into memory.
    """
    number = 0
    while line := lines.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"line {number} has more than {_LONGEST_LINE:,} characters")
        yield line
