"""GGUF files: told from other files before an engine sees them.

A GGUF file begins with the four bytes `GGUF` and a little-endian format version
(https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
"""

import hashlib
import struct
from pathlib import Path

from bestresponse.core.errors import ModelUnavailable

__all__ = ["check_gguf", "file_hash"]

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)


def check_gguf(path: Path) -> None:
    """Raise `ModelUnavailable` unless the file exists and says it is a GGUF."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise ModelUnavailable(f"cannot read the model file {path}: {error.strerror or error}") from error
    if head[:4] != _MAGIC:
        raise ModelUnavailable(f"{path} is not a GGUF file: it begins with {head[:4]!r} instead of {_MAGIC!r}")
    if len(head) < 8 or (version := struct.unpack("<I", head[4:])[0]) not in _VERSIONS:
        found = f"version {version}" if len(head) == 8 else "nothing after its first word"
        raise ModelUnavailable(f"{path} is a GGUF file of a kind that cannot be read: {found}, expected version 2 or 3")


def file_hash(path: Path) -> str:
    """Return the SHA-256 of the file's bytes in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
