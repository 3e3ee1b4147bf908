"""What a run was: arguments, versions, prompts, models. Enough to run it again; never a key."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version

from pydantic import TypeAdapter

from bestresponse.core.json import JsonMapping, JsonObject

FORMAT = 2
"""Raised whenever runs of earlier versions cannot be read any more."""

_PACKAGES = (
    "bestresponse", "numpy", "scipy", "numba", "httpx", "pydantic", "jinja2", "matplotlib", "xllamacpp",
    "genai-prices", "inspect-ai",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manifest:
    """`config` is the study's own description of what to play; a run's id is the hash of study and config."""

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
        return f"bestresponse {self.environment.get('packages', {}).get('bestresponse', '')}, run {self.run}"

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        data = asdict(self)
        data["command"] = list(self.command)
        return data

    @classmethod
    def from_json(cls, data: JsonMapping) -> Manifest:
        """Return the value that `to_json` wrote; ValueError or TypeError where it was written by something else."""
        return TypeAdapter(cls).validate_python({"format": 1, **data})


def environment(revision: str | None = None) -> JsonObject:
    """Tell the versions of everything that can change a number."""
    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
        "packages": packages,
        "revision": revision,
    }
