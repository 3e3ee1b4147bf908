"""What the web app does, as functions that pages and the interface for programs both call."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["File"]


@dataclass(frozen=True, slots=True)
class File:
    """A file to be downloaded."""

    name: str
    media_type: str
    content: bytes
