"""Read the files that a user names."""

from __future__ import annotations

from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_toml, read_text_file
from bestresponse.core.json import JsonObject

__all__ = ["read_toml"]


def read_toml(path: Path) -> JsonObject:
    """Read a TOML file; UsageError where it is missing, unreadable or not TOML."""
    try:
        return parse_toml(read_text_file(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
