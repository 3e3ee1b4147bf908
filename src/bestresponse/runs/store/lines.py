"""A file of JSON lines that is only ever appended to and survives being killed in the middle of a line."""

import errno
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path

from bestresponse.core.errors import StoreError
from bestresponse.core.files import open_plain
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.report.files import explain_os_error

_LONGEST = 1 << 26
"""Bytes of a line: a hundred times the longest record seen, and what a sparse file cannot make a reader hold."""
_SPEC = re.compile(rb'\{"spec":"([^"\\]*)"')


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def encode_rows(rows: Iterable[JsonMapping]) -> bytes:
    """Encode rows as lines of JSON, as `Lines` keeps them."""
    return "".join(f"{_encode(row)}\n" for row in rows).encode("utf-8", "backslashreplace")


class Lines:
    """Appends whole lines, each with one write, from any thread.

    Opening cuts off a last line that was left without its end; a write that fails half way is taken back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._file = _open(path)
            self._end = _sound_length(self._file)
            os.ftruncate(self._file, self._end)
        except OSError as error:
            raise explain_os_error(error, f"opening {path}") from None

    def append(self, *rows: JsonMapping) -> None:
        """Append all rows or none."""
        self.append_raw(encode_rows(rows))

    def append_raw(self, block: bytes) -> None:
        """Append complete lines as they are, all or none."""
        with self._lock:
            try:
                written = os.write(self._file, block)
                while written < len(block):
                    written += os.write(self._file, block[written:])
            except OSError as error:
                os.ftruncate(self._file, self._end)
                raise explain_os_error(error, f"writing {self.path}") from None
            self._end += len(block)

    def sync(self) -> None:
        """Ask the operating system to put everything on the disk."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _open(path: Path) -> int:
    """Open for appending; StoreError for a symbolic link, because what it names would be cut and written to."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(f"{path} is a symbolic link; a run is only written into files of its own") from None
        raise


def _sound_length(file: int) -> int:
    """Where the last complete line ends."""
    if not os.fstat(file).st_size:
        return 0
    with mmap(file, 0, access=ACCESS_READ) as lines:
        return lines.rfind(b"\n") + 1


def read_raw(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the complete lines after `start` with their ends; one without its end is left out. No file, no lines."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise explain_os_error(error, f"reading {path}") from None
    with file:
        file.seek(start)
        while (line := file.readline(_LONGEST)).endswith(b"\n"):
            yield line
        if len(line) == _LONGEST:
            raise StoreError(f"{path} holds a line of more than {_LONGEST:,} bytes, so it is not of a run")


def read_lines(path: Path) -> Iterator[JsonObject]:
    """Yield the complete lines of `path` as JSON objects; a last one without its end is left out."""
    for number, line in enumerate(read_raw(path), 1):
        yield _parse(line, path, number)


def read_sorted(path: Path) -> Iterator[JsonObject]:
    """Yield one line for each spec, ordered by spec id, so that what is computed does not depend on who was first.

    Only the place of every line is held in memory.
    """
    places: dict[str, tuple[int, int]] = {}
    offset = 0
    for number, line in enumerate(read_raw(path), 1):
        places.setdefault(find_spec_id(line, path, number), (offset, number))
        offset += len(line)
    if places:
        with open_plain(path) as file:
            for spec in sorted(places):
                start, number = places[spec]
                file.seek(start)
                yield _parse(file.readline(), path, number)


def find_spec_id(line: bytes, path: Path, number: int) -> str:
    """Return the spec id of a stored line; without parsing all of it where the line begins as `Lines` writes it."""
    if found := _SPEC.match(line):
        return found[1].decode("utf-8")
    spec = _parse(line, path, number).get("spec")
    if not isinstance(spec, str):
        raise StoreError(f"{path}, line {number}: expected the id of a spec, got {line[:60]!r}")
    return spec


def _parse(line: bytes, path: Path, number: int) -> JsonObject:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise StoreError(f"{path}, line {number}: expected one JSON object, got {line[:60]!r}")
    return row
