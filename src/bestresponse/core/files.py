"""Files that somebody else wrote: read, or refused with the cause.

Reading takes a time that grows with the length of the file.

Every reader of such files opens them by `open_plain`: limits on their kind, size, nesting and on
what they are unpacked to are here alone.
"""

import errno
import gzip
import json
import os
import re
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject

_LARGEST = 200_000_000
_LARGEST_UNPACKED = 2_000_000_000
_LONGEST = 2_000_000
_LONG_KEY = re.compile(
    r"""(?m:^|[\[{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){100}"""
)


def open_plain(path: Path) -> BufferedReader:
    """Open a file to read its bytes.

    OSError at once where it is a link, a pipe, a device or a folder.

    What is in a folder of somebody else must not lead to files elsewhere, and opening it must not
    wait.
    """
    try:
        file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115 - the caller closes it
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link; name the file itself") from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


def _open_without_waiting(path: str, flags: int) -> int:
    # Windows has neither.
    without_waiting = getattr(os, "O_NONBLOCK", 0)
    no_link = getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags | without_waiting | no_link)


class Unpacked(gzip.GzipFile):
    """What a compressed file holds; OSError where that is too much.

    A megabyte can be packed into a thousand bytes: the size of the file says nothing.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(fileobj=file, mode="rb")

    def read1(self, size: int = -1) -> bytes:
        """Read some bytes, as `TextIOWrapper` does."""
        try:
            data = super().read1(size)
        except zlib.error as error:
            raise OSError(errno.EINVAL, f"its compressed content is damaged ({error})") from None
        if self.tell() > _LARGEST_UNPACKED:
            raise OSError(errno.EFBIG, f"unpacked it has more than {_LARGEST_UNPACKED:,} bytes")
        return data


def read_file(path: Path, most: int = _LARGEST) -> bytes:
    """Return the bytes of a file.

    Raises OSError where `open_plain` raises it or there are more than `most`.
    """
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has {size:,} bytes; at most {most:,} are read")
        return file.read(most)


def read_text_file(path: Path, most: int = _LARGEST, errors: str = "strict") -> str:
    """Return the text of a UTF-8 file.

    Raises OSError if `open_plain` does or if the file is larger than `most` bytes. `errors` says
    what becomes of bytes that are no text, as in `bytes.decode`.
    """
    text = read_file(path, most).decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


_MOST_MEMBERS = 2_000


_DENSEST = 100
"""How many bytes a byte of an archive may unpack to; journals and tables have 10 to 30."""
_ALWAYS_UNPACKED = 20_000_000
"""Bytes that any archive may unpack to, however small it is."""


def read_archive(path: Path, most: int = _LARGEST_UNPACKED) -> dict[str, bytes]:
    """Return the files of a ZIP archive by their names.

    Raises UsageError if it is not an archive, is damaged, or holds more than `most` bytes. Nothing
    is written, so no name in it leads anywhere.
    """
    files: dict[str, bytes] = {}
    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > _MOST_MEMBERS:
                raise UsageError(f"{path} holds {len(members):,} files; expected {_MOST_MEMBERS:,}")
            packed_size = os.fstat(file.fileno()).st_size
            most = min(most, max(_ALWAYS_UNPACKED, _DENSEST * packed_size))
            left = most
            for member in members:
                if member.filename in files:
                    raise UsageError(f"{path} holds {member.filename[:60]!r} twice")
                with archive.open(member) as packed:
                    # The size that the archive states may be wrong.
                    content = packed.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise UsageError(f"{path} has more than {most:,} bytes when it is unpacked")
                files[member.filename] = content
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        RuntimeError,
    ) as error:
        # RuntimeError: encrypted, or packed by a method that is not known here
        raise UsageError(f"{path} is not a ZIP archive that can be read: {error}") from None
    return files


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; ValueError says why there is none.

    >>> parse_json("[1, 2]")
    [1, 2]
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path) -> Any:
    """Read a JSON file; UsageError where it is missing, unreadable or not JSON."""
    with _explain(path, "JSON"):
        return parse_json(read_text_file(path))


def read_text(path: Path, most: int = _LARGEST, errors: str = "strict") -> str:
    """Read a text file; UsageError where it is missing, unreadable or not in UTF-8."""
    with _explain(path, "text"):
        return read_text_file(path, most, errors)


def parse_toml(text: str) -> JsonObject:
    """Return the values of a TOML text; ValueError says why there are none.

    >>> parse_toml("x = [1, 2]")
    {'x': [1, 2]}
    """
    if len(text) > _LONGEST:
        raise ValueError(f"it has {len(text):,} characters; at most {_LONGEST:,} are read")
    if _LONG_KEY.search(text):
        raise ValueError("a key has more than 100 parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_toml(path: Path) -> JsonObject:
    """Read a TOML file; UsageError where it is missing, unreadable or not TOML."""
    with _explain(path, "TOML"):
        return parse_toml(read_text_file(path))


def read_prose(module: str) -> JsonObject:
    """Read the texts of a study's report, in `report.toml` beside its module."""
    return read_toml(Path(module).with_name("report.toml"))


@contextmanager
def _explain(path: Path, kind: str) -> Iterator[None]:
    """Let what is wrong with a file be said in a sentence that names it."""
    try:
        yield
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; expected a file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot be read: it is not text in UTF-8") from None
    except ValueError as error:
        raise UsageError(f"{path} is not {kind}: {error}") from None
