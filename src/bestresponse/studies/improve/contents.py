"""Data and weights as settings of a training: named by a path, told apart by what they hold.

A run is found again by its settings. A folder that was exported anew under the same name, or other
weights in the same file, must therefore give another run: these settings keep a hash of the
contents beside the name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.files import open_plain
from bestresponse.models.providers.weights import WEIGHTS, find_weights_folder
from bestresponse.runs.inputs import Converted

_WEIGHT_FILES = ("*.json", "*.safetensors", "*.bin", "*.model", "*.txt", "*.jinja")
"""What a folder of weights is told apart by."""


class Hashed(str):
    """A name or a path, and the SHA-256 of what is there."""

    __slots__ = ("sha256",)
    sha256: str

    def __new__(cls, name: str, sha256: str) -> Hashed:
        """Keep the hash beside the name."""
        named = super().__new__(cls, name)
        named.sha256 = sha256
        return named

    def to_json(self) -> dict[str, str]:
        """Return both as plain data."""
        return {"name": str(self), "sha256": self.sha256}


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_plain(path.resolve()) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_files(paths: Sequence[Path]) -> str:
    """Return one hash of the names and the contents of several files, whatever their order."""
    joined = hashlib.sha256()
    for path in sorted(paths, key=lambda path: path.name):
        joined.update(f"{path.name} {hash_file(path)}\n".encode())
    return joined.hexdigest()


def hash_examples(name: str) -> str:
    """Return the hash of a folder's manifest, which holds the hash of every file."""
    folder = Path(name)
    if not folder.exists():
        raise UsageError(
            f"there is no folder {folder}; `bestresponse export sft -o {folder}` writes examples"
        )
    manifest = folder / "manifest.json"
    try:
        if manifest.exists():
            return hash_file(manifest)
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror or error}") from None
    raise StoreError(f"{folder} holds no examples: expected the folder of an export")


def hash_weights(name: str) -> str:
    """Return a hash of weights: of a known name the one it is checked by, else of the files."""
    if name in WEIGHTS:
        return WEIGHTS[name].sha256
    path = Path(name)
    try:
        folder = find_weights_folder(name)
        if folder is not None:
            return hash_files([found for glob in _WEIGHT_FILES for found in folder.glob(glob)])
        if path.exists():
            return hash_file(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    known = ", ".join(sorted(WEIGHTS))
    raise UsageError(
        f"there are no weights at {name}: expected a folder as `transformers` writes it, a GGUF"
        f" file, a name in the local cache of Hugging Face, or one of {known}"
    )


def _take_hashed(value: Any, stored: bool, find_hash: Callable[[str], str]) -> Hashed:
    if isinstance(value, Hashed):
        return value
    if isinstance(value, Mapping):
        return Hashed(str(value["name"]), str(value["sha256"]))
    return Hashed(str(value), "" if stored else find_hash(str(value)))


class WeightsSetting(Converted["str | Path", Hashed]):
    """Weights: a known name, a GGUF file or a folder."""

    @classmethod
    def convert(cls, value: Any, stored: bool) -> Hashed:
        """Hash the weights; those of a stored run are known by what was written then."""
        return _take_hashed(value, stored, hash_weights)

    @classmethod
    def to_json(cls, value: Hashed) -> dict[str, str]:
        """Return the name and the hash."""
        return value.to_json()


class FoldersSetting(Converted["str | Path | Sequence[str | Path]", "tuple[Hashed, ...]"]):
    """One folder of examples or several."""

    many = True
    files = True

    @classmethod
    def convert(cls, value: Any, stored: bool) -> tuple[Hashed, ...]:
        """Hash the folders; those of a stored run are known by what was written then."""
        given = (value,) if isinstance(value, str | Path) else tuple(value)
        return tuple(_take_hashed(folder, stored, hash_examples) for folder in given)

    @classmethod
    def to_json(cls, value: tuple[Hashed, ...]) -> list[dict[str, str]]:
        """Return names and hashes."""
        return [folder.to_json() for folder in value]
