"""A run is a folder, and its plays are plain data whose ids are the hashes of them.

    manifest.json       what the run was (see `Manifest`)
    submissions.jsonl   every answer of every seat, as it came:  {"spec", "role", "action",
                        "status", ...}
    calls.jsonl         every call of a model:                   {"spec", "role", "model",
                        "request", "reply"}
    records.jsonl       one line per finished play:              {"spec", "data", "record"}

Every line of the .jsonl files ends with a hash of itself, so that a damaged one is refused. They
are only appended to, a line at a time, so a process killed at any moment leaves a
folder that `RunFolder` opens again: finished plays are known by their record, begun ones
go on from their submissions. A plan that is run again plays only what is missing; it is shared out
by the hash of every spec, so that parts of a run made anywhere merge into the whole.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import platform
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BufferedReader
from mmap import ACCESS_READ, mmap
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, from_json, to_json

from bestresponse.core.codec import (
    record_from_json,
    record_to_json,
    submission_from_json,
    submission_to_json,
)
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import SettingError, StoreError, UsageError
from bestresponse.core.files import open_plain, read_text_file
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.report.files import explain_os_error, write_bytes, write_text

_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Spec:
    """`data` holds everything that can change the play; equal data, equal id."""

    id: str
    data: JsonMapping

    @classmethod
    def of(cls, data: Mapping[str, object]) -> Spec:
        """Return the spec of these data, with the hash of them as its id."""
        return cls(digest(data), data)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count` parts, counted from 1.

    >>> str(Shard.parse("3/16"))
    '3/16'
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count <= _MOST:
            raise UsageError(
                f"shard {self.number}/{self.count}: expected a part from 1/n to n/n, such as 3/16"
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "3/16"; UsageError where it is something else."""
        match = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text)
        if match is None:
            raise SettingError(
                "shard", f"expected a part such as 3/16, the third of sixteen, got {text!r}"
            )
        return cls(int(match[1]), int(match[2]))

    def holds(self, spec: str) -> bool:
        """Say whether the play with that spec id belongs to this part.

        Every play belongs to exactly one.
        """
        start = hashlib.sha256(spec.encode("utf-8", "surrogatepass")).digest()[:8]
        return int.from_bytes(start, "big") % self.count == self.number - 1


_LONGEST = 1 << 26
"""Bytes of a line: a hundred times the longest record seen, and what a sparse file cannot make a
reader hold."""
_PIECE = 1 << 20
"""Bytes that are read of a line at a time."""
_SPEC = re.compile(rb'\{"spec":"([^"\\]*)"')
_CHECK = b',"line_hash":"'
"""Between what a line holds and the hash of it."""


_encode = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    separators=(",", ":"),
    check_circular=False,
).encode


def encode_rows(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Encode rows as lines of JSON, as `Lines` keeps them."""
    return b"".join(map(_encode_row, rows))


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows as lines of JSON; the file appears complete or not at all."""
    write_bytes(path, encode_rows(rows))


def _encode_row(row: Mapping[str, object]) -> bytes:
    """Encode one row as a line that ends with the hash of what stands before it."""
    content = _encode_content(row)
    return content + _CHECK + _hash(content) + b'"}\n' if row else b"{}\n"


def _is_sound(line: bytes) -> bool:
    """Say whether a line ends with its own hash, as `_encode_row` writes it."""
    content, _, end = line.rpartition(_CHECK)
    return end == _hash(content) + b'"}\n' or line == b"{}\n"


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).hexdigest().encode()


def _encode_content(row: Mapping[str, object]) -> bytes:
    """Encode one row without the bracket at its end.

    What only the encoder of the standard library refuses or keeps goes there, which is three times
    as slow.

    That is half a character of two (a lone surrogate), which it keeps, and a number that is none,
    which it refuses.
    """
    try:
        line = to_json(row)
    except PydanticSerializationError:
        line = b""
    if not line or b"NaN" in line or b"Infinity" in line:
        line = _encode(row).encode("utf-8", "backslashreplace")
    return line[:-1]


class Lines:
    """Appends whole lines, each with one write, from any thread.

    Opening cuts off a last line that was left without its end; a write that fails half way is taken
    back.
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

    def append(self, *rows: Mapping[str, object]) -> None:
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
    """Open for appending.

    Raises StoreError for a symbolic link, because what it names would be cut and written to.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(
                f"{path} is a symbolic link; a run is only written into files of its own"
            ) from None
        raise


def _sound_length(file: int) -> int:
    """Where the last complete line ends."""
    if not os.fstat(file).st_size:
        return 0
    with mmap(file, 0, access=ACCESS_READ) as lines:
        return lines.rfind(b"\n") + 1


def read_raw(
    path: Path, start: int = 0, is_by_hand: Callable[[bytes], bool] = lambda line: False
) -> Iterator[bytes]:
    """Yield the complete lines after `start` with their ends; one without its end is left out.

    No file, no lines. Raises StoreError where a line does not end with its own hash; a line that
    somebody may write by hand need not.
    """
    for number, line in enumerate(_read_unchecked(path, start), 1):
        if not _is_sound(line) and not is_by_hand(line):
            where = f"line {number}" if not start else f"line {number} after byte {start:,}"
            raise StoreError(
                f"{path}, {where}: the line is damaged, as its hash shows; restore the file, or"
                " remove the line to play that part again"
            )
        yield line


def _read_unchecked(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the complete lines after `start`, damaged or not."""
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise explain_os_error(error, f"reading {path}") from None
    with file:
        file.seek(start)
        while (line := _read_line(file, path)).endswith(b"\n"):
            yield line


def _read_line(file: BufferedReader, path: Path) -> bytes:
    """Return the next line, read in pieces.

    Read as a whole, a line that is too long would take its memory twice before it is refused.
    """
    pieces = [file.readline(_PIECE)]
    while len(pieces[-1]) == _PIECE and not pieces[-1].endswith(b"\n"):
        if len(pieces) * _PIECE >= _LONGEST:
            raise StoreError(
                f"{path} holds a line of more than {_LONGEST:,} bytes, so it is not of a run"
            )
        pieces.append(file.readline(_PIECE))
    return b"".join(pieces)


def read_lines(
    path: Path, is_by_hand: Callable[[bytes], bool] = lambda line: False
) -> Iterator[JsonObject]:
    """Yield the complete lines of `path` as JSON objects.

    A last one without its end is left out.
    """
    for number, line in enumerate(read_raw(path, is_by_hand=is_by_hand), 1):
        yield parse_line(line, path, number)


def read_sorted(path: Path) -> Iterator[JsonObject]:
    """Yield one line for each spec, ordered by spec id.

    This way what is computed does not depend on who was first.

    Only the place of every line is held in memory.
    """
    positions: dict[str, tuple[int, int, int]] = {}
    offset = 0
    for number, line in enumerate(read_raw(path), 1):
        positions.setdefault(find_spec_id(line, path, number), (len(line), offset, number))
        offset += len(line)
    if positions:
        with open_plain(path) as file:
            for spec in sorted(positions):
                length, start, number = positions[spec]
                yield parse_line(os.pread(file.fileno(), length, start), path, number)


def find_spec_id(line: bytes, path: Path, number: int) -> str:
    """Return the spec id of a stored line.

    Without parsing all of it where the line begins as `Lines` writes it.
    """
    if match := _SPEC.match(line):
        with suppress(UnicodeDecodeError):
            return match[1].decode("utf-8")
    spec = parse_line(line, path, number).get("spec")
    if not isinstance(spec, str):
        raise StoreError(f"{path}, line {number}: expected the id of a spec, got {line[:60]!r}")
    return spec


def parse_line(line: bytes, path: Path, number: int) -> JsonObject:
    """Return the JSON object of a line of `path`; StoreError where it is none."""
    try:
        row = from_json(line)
    except ValueError:  # a lone surrogate, or more than 200 levels: the standard library reads both
        row = None
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
    if not isinstance(row, dict):
        raise StoreError(f"{path}, line {number}: expected one JSON object, got {line[:60]!r}")
    row.pop("line_hash", None)
    return row


FORMAT = 5
"""Raised whenever runs of earlier versions cannot be read any more."""

_PACKAGES = (
    "bestresponse",
    "numpy",
    "scipy",
    "numba",
    "httpx",
    "pydantic",
    "jinja2",
    "matplotlib",
    "xllamacpp",
    "genai-prices",
    "inspect-ai",
)
# Python parses the whole description of a package for its version: 20 ms for all of them, for every
# run and server.
_find_version = cache(version)


@dataclass(frozen=True, slots=True)
class Manifest:
    """`config` is the study's own description of what to play.

    A run's id is the hash of study and config.
    """

    run: str
    study: str
    config: JsonMapping
    command: tuple[str, ...] = ()
    created: str = ""
    environment: JsonMapping = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    models: JsonMapping = field(default_factory=dict)
    format: int = FORMAT
    shard: str | None = None
    """Which part of the run this is, such as "3/16"; None for the whole."""

    @property
    def footer(self) -> str:
        """The last line of a report: the version and the run it came from."""
        return (
            f"bestresponse {self.environment.get('packages', {}).get('bestresponse', '')}, run"
            f" {self.run}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the value as plain JSON data."""
        return {**asdict(self), "command": list(self.command)}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Manifest:
        """Return the value that `to_json` wrote.

        ValueError or TypeError where it was written by something else.
        """
        return TypeAdapter(cls).validate_python({"format": 1, **data})


def identify_settings(study: str, config: Mapping[str, object]) -> str:
    """Return the id of the run of that study with these settings: the hash of both."""
    return digest({"study": study, "config": config}, 12)


def environment(revision: str | None = None) -> dict[str, object]:
    """Tell the versions of everything that can change a number."""
    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = _find_version(name)
    return {
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
        "packages": packages,
        "revision": revision,
    }


@dataclass(frozen=True, slots=True)
class HostMachine:
    """A machine since its last start: its kernel's own mark, and the name that people know."""

    boot: str
    name: str

    @classmethod
    def find(cls) -> HostMachine:
        """Return the machine that this runs on."""
        name = platform.node() or "this machine"
        try:
            return cls(_BOOT.read_text("ascii").strip(), name)
        except OSError:  # elsewhere than on Linux
            return cls(name, name)

    @classmethod
    def parse(cls, line: bytes) -> HostMachine | None:
        """Return the machine that a lock names; None where it names none."""
        boot, _, name = line.decode("utf-8", "replace").strip().partition(" ")
        return cls(boot, name[:80]) if boot else None


_BOOT = Path("/proc/sys/kernel/random/boot_id")
_QUIET = 300.0
"""Seconds without a line from another machine after which it is taken to have stopped."""


class FolderLock:
    """Makes the folder, and is held until released or until the process ends, however it ends.

    Some network folders lock for one machine alone. So the lock names its machine until it is
    released, and another one is refused while lines are still being written.
    """

    def __init__(self, folder: Path) -> None:
        if folder.is_symlink():
            raise StoreError(f"{folder} is a symbolic link; a run has a folder of its own")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (NotADirectoryError, FileExistsError):
            blocked = folder
            while not blocked.exists():
                blocked = blocked.parent
            raise UsageError(f"{blocked} is a file; expected a folder for results") from None
        except OSError as error:
            raise explain_os_error(error, f"making the folder {folder}") from None
        try:
            self._file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise explain_os_error(error, f"writing into {folder}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            why = (
                f"another process is working in {folder}; wait for it or choose another"
                " output folder"
            )
            raise StoreError(why) from None
        except OSError as error:
            os.close(self._file)
            raise explain_os_error(error, f"locking {folder}") from None
        machine = HostMachine.find()
        try:
            _refuse_other_machine(folder, self._file, machine)
        except StoreError:
            os.close(self._file)
            raise
        with suppress(OSError):  # a full disk: what is to be written is told of first
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{machine.boot} {machine.name}\n".encode(), 0)

    def release(self) -> None:
        """Let others write into the folder."""
        with suppress(OSError):
            os.ftruncate(self._file, 0)
        os.close(self._file)


def _refuse_other_machine(folder: Path, lock: int, machine: HostMachine) -> None:
    """Raise StoreError where another machine holds the lock and has written a line just now."""
    holder = HostMachine.parse(os.pread(lock, 200, 0))
    if holder is None or holder.boot == machine.boot:
        return
    os.utime(lock)  # the clock of the folder's own machine, which may differ from ours
    now = os.fstat(lock).st_mtime
    written = [path.stat().st_mtime for path in folder.glob("*.jsonl")]
    quiet = now - max(written, default=0.0)
    if quiet < _QUIET:
        raise StoreError(
            f"the machine {holder.name!r} wrote into {folder} {max(quiet, 0):.0f} seconds ago; wait"
            f" for it, or choose another output folder. If it was stopped, try again after"
            f" {_QUIET / 60:.0f} minutes or remove {folder / '.lock'}"
        )


_LARGEST_MANIFEST = 20_000_000


@dataclass(frozen=True, slots=True)
class StoredPlay:
    """A finished play: the id and data of its spec, and its record."""

    spec: str
    data: JsonMapping
    record: Record


def encode_plays(plays: Iterable[StoredPlay]) -> bytes:
    """Encode finished plays as the lines that a run keeps of them."""
    return encode_rows(
        {"spec": play.spec, "data": play.data, "record": record_to_json(play.record)}
        for play in plays
    )


def decode_play(line: bytes) -> StoredPlay:
    """Return the finished play that `encode_plays` wrote."""
    row = json.loads(line)
    return StoredPlay(row["spec"], row["data"], record_from_json(row["record"]))


def encode_answer(
    spec: str,
    submission: Submission,
    more: Mapping[str, object] | None = None,
) -> tuple[bytes, bytes]:
    """Encode one answer as the lines of its calls and the line of the answer itself.

    These are the lines that a run keeps.
    """
    calls = encode_rows(
        {
            "spec": spec,
            "role": submission.role,
            "model": c.model,
            "request": c.request,
            "reply": c.reply,
        }
        for c in submission.decision.calls
    )
    return calls, _encode_row({"spec": spec, **submission_to_json(submission), **(more or {})})


def decode_answer(line: bytes) -> Submission:
    """Return the answer that `encode_answer` wrote, without its calls."""
    return submission_from_json(json.loads(line))


LINE_FILES = ("submissions", "calls", "records")
"""The files of a run that hold lines."""
_MARKS = ("provider", "model", "source", "sha256")
"""What tells models of one name apart: the hashes are those of a function's text and of a file of
weights."""


class RunFolder:
    """One run, open for writing (`open`) or only read (`read`)."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._lock: FolderLock | None = None
        self._files: dict[str, Lines] = {}

    @classmethod
    def read(cls, path: Path) -> RunFolder:
        """A run to look at; StoreError where `path` holds none."""
        file = path / "manifest.json"
        try:
            data = json.loads(read_text_file(file, _LARGEST_MANIFEST))
        except FileNotFoundError:
            raise StoreError(f"{path} contains no run: there is no manifest.json in it") from None
        except OSError as error:
            raise StoreError(f"{file} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{file} cannot be read: {error}") from None
        try:
            manifest = Manifest.from_json(data)
        except (TypeError, ValueError):
            raise StoreError(f"{file} is not the manifest of a run") from None
        if manifest.format != FORMAT:
            raise StoreError(
                f"{path} was written by another version of bestresponse (format {manifest.format},"
                f" this one reads format {FORMAT}); the version in its manifest.json can read it"
            )
        return cls(path, manifest)

    @classmethod
    def open(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Begin the run, or go on with it when the folder holds the same one."""
        lock = FolderLock(path)
        try:
            folder = cls._begin(path, manifest)
            for name in LINE_FILES:
                folder._files[name] = Lines(path / f"{name}.jsonl")
        except BaseException:
            lock.release()
            raise
        folder._lock = lock
        return folder

    @classmethod
    def _begin(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Write the manifest of a new run.

        Raises StoreError where it holds another run or part, or other prompts.
        """
        if not (path / "manifest.json").exists():
            folder = cls(path, manifest)
            folder.write_manifest()
            return folder
        folder = cls.read(path)
        if folder.manifest.run != manifest.run:
            raise StoreError(
                f"{path} holds another run ({folder.manifest.run}, not {manifest.run})"
            )
        if folder.manifest.shard != manifest.shard:
            raise StoreError(
                f"{path} holds {_name_part(folder.manifest)} and not {_name_part(manifest)}; choose"
                " another output folder for every part, and merge them"
            )
        if changed := sorted(
            {name for name, _ in folder.manifest.prompts.items() ^ manifest.prompts.items()}
        ):
            # the other plays would be asked in other words, and no metric would show it
            raise StoreError(
                f"{path} was begun with other prompts ({', '.join(changed[:3])}); choose another"
                " output folder, or read it with `bestresponse report`"
            )
        for name, entry in manifest.models.items():
            now = entry["identity"]
            before = folder.manifest.models.get(name, {"identity": {**now, "source": None}})[
                "identity"
            ]
            if any(before.get(mark) != now.get(mark) for mark in _MARKS):
                what = "function" if "source" in now else "model"
                raise StoreError(
                    f"{path} was made with another {what} called {name}; rename yours, or choose"
                    " another output_dir"
                )
        return folder

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files and release the lock."""
        for file in self._files.values():
            file.close()
        self._files = {}
        if self._lock:
            self._lock.release()
            self._lock = None

    def submit(
        self,
        spec: str,
        submission: Submission,
        more: Mapping[str, object] | None = None,
    ) -> None:
        """Keep one answer and the calls it took; `more` is kept in the line of the answer."""
        self.submit_encoded(*encode_answer(spec, submission, more))

    def submit_encoded(self, calls: bytes, answer: bytes) -> None:
        """Keep an answer that was encoded elsewhere, its calls first."""
        if calls:
            self._files["calls"].append_raw(calls)
        self._files["submissions"].append_raw(answer)

    def finish(self, spec: str, data: Mapping[str, object], record: Record) -> None:
        """Keep the record of a finished play."""
        self.finish_encoded(encode_plays([StoredPlay(spec, data, record)]))

    def finish_encoded(self, lines: bytes) -> None:
        """Keep finished plays that were encoded elsewhere, all or none."""
        self._files["records"].append_raw(lines)

    def finished(self) -> set[str]:
        """The specs that have a record."""
        path = self.path / "records.jsonl"
        lines = enumerate(read_raw(path), 1)
        return {find_spec_id(line, path, number) for number, line in lines}

    def begun(self, finished: set[str]) -> dict[str, list[Submission]]:
        """The submissions of plays without a record."""
        plays: dict[str, list[Submission]] = {}
        for row in read_lines(self.path / "submissions.jsonl"):
            if row["spec"] not in finished:
                plays.setdefault(row["spec"], []).append(submission_from_json(row))
        return plays

    def plays(self) -> Iterator[StoredPlay]:
        """Finished plays in the order they finished, one at a time."""
        return map(self._read_play, read_lines(self.path / "records.jsonl"))

    def sorted_plays(self) -> Iterator[StoredPlay]:
        """Yield finished plays in the order of their spec ids, one at a time.

        The order is the same for equal sets of plays.
        """
        return map(self._read_play, read_sorted(self.path / "records.jsonl"))

    def _read_play(self, row: JsonMapping) -> StoredPlay:
        try:
            return StoredPlay(row["spec"], row["data"], record_from_json(row["record"]))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self.path / 'records.jsonl'} holds a line that is no record: {error!r}"
            ) from None

    def calls(self) -> Iterator[JsonObject]:
        """Every call of a model, one at a time."""
        return read_lines(self.path / "calls.jsonl")

    def mark_finished(self, played: int = 1) -> None:
        """Write down that every play was made, with the hashes of the files.

        Where nothing was played now, a run that has lost lines since stays marked as it was.
        """
        if not played and (self.path / "finished").exists():
            return
        self.write_text("finished", f"{self.manifest.created}\n{self._hash_files()}\n")

    @property
    def finished_whole(self) -> bool:
        """Whether the run was finished and its files are what they were then."""
        try:
            told = read_text_file(self.path / "finished", _LARGEST_MANIFEST)
        except (OSError, UnicodeDecodeError):
            return False
        return self._hash_files() in told.splitlines()

    def _hash_files(self) -> str:
        """Return the hash of each file, as JSON."""
        hashes = {}
        for name in LINE_FILES:
            with suppress(FileNotFoundError), open_plain(self.path / f"{name}.jsonl") as file:
                hashes[name] = hashlib.file_digest(file, "blake2b").hexdigest()
        return json.dumps(hashes)

    def list_damage(self) -> Iterator[str]:
        """Say of every damaged line which it is, and of every play whose id is another's."""
        for name in LINE_FILES:
            path = self.path / f"{name}.jsonl"
            for number, line in enumerate(_read_unchecked(path), 1):
                if not _is_sound(line):
                    yield f"{path.name}, line {number}: its hash is of another line"
                elif name == "records":
                    row = parse_line(line, path, number)
                    if row.get("spec") != digest(row.get("data")):
                        yield f"{path.name}, line {number}: its id is of another play"
        run = identify_settings(self.manifest.study, self.manifest.config)
        if run != self.manifest.run:
            yield f"manifest.json: its settings are those of run {run}, not {self.manifest.run}"

    def write_manifest(self) -> None:
        """Write what the run is, as `read` reads it."""
        self.write_text(
            "manifest.json",
            json.dumps(self.manifest.to_json(), indent=2, ensure_ascii=False) + "\n",
        )

    def write_text(self, name: str, text: str) -> Path:
        """Write a whole file beside the run's own ones.

        Readers see the old or the new one, never a half.
        """
        return write_text(self.path / name, text)


def _name_part(manifest: Manifest) -> str:
    return "the whole run" if manifest.shard is None else f"shard {manifest.shard}"
