"""What the web app does, as functions that pages and the interface for programs both call."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["COLUMNS", "File"]

_TEXTS = tomllib.loads(files("bestresponse.web.texts").joinpath("en", "codebook.toml").read_text("utf-8"))
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "decisions": _TEXTS["setup"] | _TEXTS["decisions"],
    "participants": _TEXTS["setup"] | _TEXTS["participants"],
    "payments": _TEXTS["payments"],
    "draws": _TEXTS["draws"],
    "times": _TEXTS["times"],
}
"""What every exported column means, in the order of the columns."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to be downloaded."""

    name: str
    media_type: str
    content: bytes
