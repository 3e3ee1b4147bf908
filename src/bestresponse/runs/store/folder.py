"""A run is a folder.

    manifest.json       what the run was (see `manifest`)
    submissions.jsonl   every answer of every seat, as it came:  {"spec", "role", "action", "status", ...}
    calls.jsonl         every call of a model:                   {"spec", "role", "model", "request", "reply"}
    records.jsonl       one line per finished play:              {"spec", "data", "record"}

The three .jsonl files are only appended to, a line at a time, so a process killed at any moment leaves a folder that
`RunFolder` opens again: finished plays are known by their record, begun ones go on from their submissions.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bestresponse.core.codec import record_from_json, record_to_json, submission_from_json, submission_to_json
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import StoreError
from bestresponse.core.files import read_text_file
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.report.files import explain_os_error, write_text
from bestresponse.runs.store.lines import Lines, encode_rows, read_lines, read_sorted
from bestresponse.runs.store.manifest import FORMAT, Manifest


class FolderLock:
    """Makes the folder, and is held until released or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
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
            why = f"another process is working in {folder}; wait for it or choose another --output-dir"
            raise StoreError(why) from None

    def release(self) -> None:
        """Let others write into the folder."""
        os.close(self._file)


_LARGEST_MANIFEST = 20_000_000


@dataclass(frozen=True, slots=True)
class StoredPlay:
    """A finished play: the id and data of its spec, and its record."""

    spec: str
    data: JsonMapping
    record: Record


def encode_plays(plays: Iterable[StoredPlay]) -> bytes:
    """Encode finished plays as the lines that a run keeps of them."""
    return encode_rows({"spec": play.spec, "data": play.data, "record": record_to_json(play.record)} for play in plays)


def decode_play(line: bytes) -> StoredPlay:
    """Return the finished play that `encode_plays` wrote."""
    row = json.loads(line)
    return StoredPlay(row["spec"], row["data"], record_from_json(row["record"]))


def encode_answer(spec: str, submission: Submission, more: JsonMapping | None = None) -> tuple[bytes, bytes]:
    """Encode one answer as the lines that a run keeps of its calls, and the line of the answer itself."""
    calls = encode_rows(
        {"spec": spec, "role": submission.role, "model": c.model, "request": c.request, "reply": c.reply}
        for c in submission.decision.calls
    )
    return calls, encode_rows([{"spec": spec, **submission_to_json(submission), **(more or {})}])


def decode_answer(line: bytes) -> Submission:
    """Return the answer that `encode_answer` wrote, without its calls."""
    return submission_from_json(json.loads(line))


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
            raise StoreError(f"{path} holds no run: there is no manifest.json in it") from None
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
                f"{path} was written by another version of bestresponse (format {manifest.format}, this one reads "
                f"format {FORMAT}); the version in its manifest.json can read it"
            )
        return cls(path, manifest)

    @classmethod
    def open(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Begin the run, or go on with it when the folder holds the same one."""
        lock = FolderLock(path)
        try:
            folder = cls._begin(path, manifest)
            for name in ("submissions", "calls", "records"):
                folder._files[name] = Lines(path / f"{name}.jsonl")
        except BaseException:
            lock.release()
            raise
        folder._lock = lock
        return folder

    @classmethod
    def _begin(cls, path: Path, manifest: Manifest) -> RunFolder:
        """Write the manifest of a new run; StoreError where the folder holds another run or another part of it."""
        if not (path / "manifest.json").exists():
            folder = cls(path, manifest)
            folder.write_manifest()
            return folder
        folder = cls.read(path)
        if folder.manifest.run != manifest.run:
            raise StoreError(f"{path} holds another run ({folder.manifest.run}, not {manifest.run})")
        if folder.manifest.shard != manifest.shard:
            raise StoreError(
                f"{path} holds {_name_part(folder.manifest)} and not {_name_part(manifest)}; choose another "
                "--output-dir for every part, and merge them"
            )
        for name, entry in manifest.models.items():
            if _read_source(folder.manifest.models.get(name)) != _read_source(entry):
                raise StoreError(
                    f"{path} was made with another function called {name}; rename yours, or choose another output_dir"
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

    def submit(self, spec: str, submission: Submission, more: JsonMapping | None = None) -> None:
        """Keep one answer and the calls it took; `more` is kept in the line of the answer."""
        self.submit_encoded(*encode_answer(spec, submission, more))

    def submit_encoded(self, calls: bytes, answer: bytes) -> None:
        """Keep an answer that was encoded elsewhere, its calls first."""
        if calls:
            self._files["calls"].append_raw(calls)
        self._files["submissions"].append_raw(answer)

    def finish(self, spec: str, data: JsonMapping, record: Record) -> None:
        """Keep the record of a finished play."""
        self.finish_encoded(encode_plays([StoredPlay(spec, data, record)]))

    def finish_encoded(self, lines: bytes) -> None:
        """Keep finished plays that were encoded elsewhere, all or none."""
        self._files["records"].append_raw(lines)

    def finished(self) -> set[str]:
        """The specs that have a record."""
        return {row["spec"] for row in read_lines(self.path / "records.jsonl")}

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
        """Yield finished plays in the order of their spec ids, one at a time: the same for equal sets of plays."""
        return map(self._read_play, self.sorted_records())

    def sorted_records(self) -> Iterator[JsonObject]:
        """Yield the lines of finished plays as plain data, in the order of their spec ids."""
        return read_sorted(self.path / "records.jsonl")

    def _read_play(self, row: JsonMapping) -> StoredPlay:
        try:
            return StoredPlay(row["spec"], row["data"], record_from_json(row["record"]))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{self.path / 'records.jsonl'} holds a line that is no record: {error!r}") from None

    def calls(self) -> Iterator[JsonObject]:
        """Every call of a model, one at a time."""
        return read_lines(self.path / "calls.jsonl")

    def write_manifest(self) -> None:
        """Write what the run is, as `read` reads it."""
        self.write_text("manifest.json", json.dumps(self.manifest.to_json(), indent=2, ensure_ascii=False) + "\n")

    def write_text(self, name: str, text: str) -> Path:
        """Write a whole file beside the run's own ones; readers see the old or the new one, never a half."""
        return write_text(self.path / name, text)


def _read_source(entry: JsonMapping | None) -> object:
    """Return the hash of a function's text, of a model that is a function in Python."""
    return None if entry is None else entry["identity"].get("source")


def _name_part(manifest: Manifest) -> str:
    return "the whole run" if manifest.shard is None else f"shard {manifest.shard}"
