"""A file of JSON lines that is only ever appended to and survives being killed in the middle of a line."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.report.files import explain_os_error

__all__ = ["Lines", "read_lines"]


class Lines:
    """Appends whole lines, each with one write, from any thread.

    Opening cuts off a last line that was left without its end; a write that fails half way is taken back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._end = _sound_length(self._file)
            os.ftruncate(self._file, self._end)
        except OSError as error:
            raise explain_os_error(error, f"opening {path}") from None

    def append(self, *rows: Mapping[str, Any]) -> None:
        """All rows or none."""
        text = "".join(
            json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n" for row in rows
        )
        block = text.encode("utf-8", "backslashreplace")
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
        os.close(self._file)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _sound_length(file: int) -> int:
    """Where the last complete line ends."""
    size = os.fstat(file).st_size
    block = 1 << 16
    end = size
    while end > 0:
        start = max(0, end - block)
        cut = os.pread(file, end - start, start).rfind(b"\n")
        if cut >= 0:
            return start + cut + 1
        end = start
    return 0


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The complete lines of `path`; a last one without its end is left out. No file, no lines."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise explain_os_error(error, f"reading {path}") from None
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
            except ValueError:
                raise StoreError(f"{path}, line {number}: expected one JSON object, got {line[:60]!r}") from None
            if not isinstance(row, dict):
                raise StoreError(f"{path}, line {number}: expected one JSON object, got {line[:60]!r}")
            yield row
