"""Read the files that a user names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject

__all__ = ["read_toml"]


def read_toml(path: Path) -> JsonObject:
    """Read a TOML file; UsageError where it is missing, unreadable or not TOML."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
