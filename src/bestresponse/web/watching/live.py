"""The plays of a run that have begun and are not over yet, read on from where its files were read last."""

from __future__ import annotations

import json
from pathlib import Path

from bestresponse.core.codec import submission_from_json
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.runs.run import Run
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.store.lines import find_spec_id
from bestresponse.runs.study import find_study

__all__ = ["LivePlays", "read_new_lines"]


def read_new_lines(path: Path, start: int) -> tuple[bytes, int]:
    """Return the complete lines after `start`, and where they end."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            new = file.read()
    except FileNotFoundError:
        return b"", start
    whole = new[: new.rfind(b"\n") + 1]
    return whole, start + len(whole)


class LivePlays:
    """Follow the plays of one run."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._read = {"records": 0, "submissions": 0}
        self._done: set[str] = set()
        self._begun: dict[str, list[Submission]] = {}
        self._specs: dict[str, JsonMapping] = {}

    def list_plays(self) -> list[StoredPlay]:
        """List the plays that are not over, with the answers so far; a play whose game is not known is left out."""
        self._done |= {spec for spec, _ in self._read_on("records")}
        for spec, line in self._read_on("submissions"):
            if spec not in self._done:
                self._begun.setdefault(spec, []).append(submission_from_json(json.loads(line)))
        self._begun = {spec: answers for spec, answers in self._begun.items() if spec not in self._done}
        self._find_specs()
        return [play for spec, answers in self._begun.items() if (play := self._make_play(spec, answers)) is not None]

    def _read_on(self, name: str) -> list[tuple[str, bytes]]:
        path = self._folder.path / f"{name}.jsonl"
        new, self._read[name] = read_new_lines(path, self._read[name])
        return [(find_spec_id(line, path, number), line) for number, line in enumerate(new.splitlines(), 1)]

    def _find_specs(self) -> None:
        """Find the data of the specs that are in play."""
        missing = self._begun.keys() - self._specs.keys()
        if not missing:
            return
        run = Run(self._folder, find_study(self._folder.manifest.study))
        for spec in run.study.list_specs(run.config):
            if spec.id in missing:
                self._specs[spec.id] = spec.data
                missing.discard(spec.id)
            if not missing:
                return

    def _make_play(self, spec: str, answers: list[Submission]) -> StoredPlay | None:
        data = self._specs.get(spec)
        if data is None:
            return None
        try:
            game = Run(self._folder, find_study(self._folder.manifest.study)).game(data)
        except (StoreError, UsageError):
            return None
        return StoredPlay(spec, data, Record(game.name, game.version, {}, tuple(answers), {})) if game else None
