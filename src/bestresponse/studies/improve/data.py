"""The data of a training: folders of examples, checked.

What is trained on is what was exported: every file is compared with its hash in the manifest, when
the training begins and each time it is read.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.files import parse_json, read_file
from bestresponse.studies.improve.answers import hash_prompts
from bestresponse.studies.improve.contents import hash_file
from bestresponse.studies.improve.examples import read_telling
from bestresponse.studies.improve.export import read_manifest
from bestresponse.studies.improve.rows import Conversation, ExportManifest

POOL = 4096
"""Examples that are read and mixed together."""
_LARGEST_FILE = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of examples: how many are for training, and the SHA-256 of every file."""

    path: Path
    count: int
    files: tuple[tuple[str, str], ...]

    def list_files(self, split: str) -> list[str]:
        """List the files of a split."""
        return [name for name, _ in self.files if name.startswith(f"{split}-")]

    def read(self, name: str) -> Iterator[Conversation]:
        """Yield the rows of a file.

        Raises StoreError where it is not what it was when it was exported, or is damaged.
        """
        path = self.path / name
        try:
            content = read_file(path, _LARGEST_FILE)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be read any more ({error.strerror}): put it back and run the same"
                " command to resume"
            ) from None
        if hashlib.sha256(content).hexdigest() != dict(self.files)[name]:
            raise StoreError(
                f"{path} has changed since it was exported: put the old file back to resume, or"
                " export to another folder and train on that"
            )
        try:
            yield from map(parse_json, content.decode("utf-8").splitlines())
        except ValueError as error:
            raise StoreError(f"{path} is damaged ({error}): remove it and export again") from None


Data = tuple[Folder, ...]
"""All folders of a training."""


def open_data(folders: Sequence[str]) -> Data:
    """Check folders of exports, and return them."""
    opened = [open_export(Path(folder)) for folder in folders]
    if not any(folder.count for folder in opened):
        raise UsageError(f"there are no examples to train on in {', '.join(map(str, folders))}")
    return tuple(opened)


def open_export(folder: Path, purpose: str = "sft") -> Folder:
    """Check a folder of an export.

    It must be complete, of today's prompts and for this purpose, and its files must be those of its
    manifest.
    """
    manifest = read_manifest(folder)
    check_prompts(folder, manifest)
    exported_for = manifest["settings"]["purpose"]
    if exported_for != purpose:
        raise StoreError(
            f"{folder} was exported with the purpose {exported_for}; expected {purpose}"
        )
    files = manifest["files"]
    if not files:
        raise StoreError(f"{folder} is not complete: run its export again, which goes on")
    for name, known in files.items():
        path = folder / name
        if Path(name).name != name:
            raise StoreError(
                f"{folder}: its manifest names {name!r}, which is not a file of this folder"
            )
        if not path.is_file():
            raise StoreError(f"{path} is missing: run the export again, which writes it anew")
        if hash_file(path) != known:
            raise StoreError(
                f"{path} is not the file that was exported: remove it and run the export again"
            )
    return Folder(folder, int(manifest["counts"]["train"]), tuple(sorted(files.items())))


def check_prompts(folder: Path, manifest: ExportManifest) -> None:
    """Refuse examples of other prompts or answers than are written now."""
    try:
        now = hash_prompts(read_telling(manifest["settings"]))
    except KeyError as error:
        raise StoreError(
            f"{folder}: its manifest.json names {error}, which is no format or theme of today:"
            " export to another folder"
        ) from None
    if manifest["prompts"] != now:
        raise StoreError(
            f"{folder} was made for other prompts ({manifest['prompts']}) than models are asked"
            f" with now ({now}): export to another folder"
        )


def draw_pools(data: Data, seed: int, first: int) -> Iterator[list[Conversation]]:
    """Yield pools of examples, for ever, in an order fixed by the seed, from the number `first` on.

    Every pool has something of every folder, in proportion to what is written there, so that
    nothing that was learnt is forgotten again.
    """
    total = sum(folder.count for folder in data)
    parts: list[tuple[Iterator[Conversation], int]] = []
    for number, folder in enumerate(data):
        if folder.count:
            examples = _draw_examples(folder, np.random.default_rng([seed, number]))
            parts.append((examples, int(np.ceil(folder.count / total * POOL))))
    for number in itertools.count():
        pool = [example for examples, count in parts for example in islice(examples, count)]
        if number >= first:
            yield pool


def _draw_examples(folder: Folder, rng: np.random.Generator) -> Iterator[Conversation]:
    """Yield the examples of a folder, file by file, for ever; those read least come first."""
    reads = Counter[str]()
    names = folder.list_files("train")
    while True:
        least = min(reads[name] for name in names)
        fresh = [name for name in names if reads[name] == least]
        name = fresh[int(rng.integers(len(fresh)))]
        reads[name] += 1
        yield from folder.read(name)


def choose_held_out(data: Data, seed: int, count: int) -> list[Conversation]:
    """Return questions of the validation split, about as many of every folder."""
    chosen: list[Conversation] = []
    for folder in data:
        files = folder.list_files("validation")[:1]
        examples = [example for name in files for example in folder.read(name)]
        order = np.random.default_rng([seed, 7]).permutation(len(examples))
        chosen += [examples[k] for k in order[: -(-count // len(data))]]
    return chosen
