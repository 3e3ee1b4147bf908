"""Defaults of a user or a project: the environment, and `[tool.bestresponse]` in the pyproject.toml
of the folder in which a command is typed.

What is typed, or named by --settings, comes first, then the environment, then the project. A
project's file may be somebody else's, so it is read as any file of settings is: it starts no
program, leads out of no folder, and an address in it is used only once the user has allowed it.
"""

import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.files import read_toml
from bestresponse.core.registry import did_you_mean
from bestresponse.report.text import visible
from bestresponse.runs.settings import list_settings, read_extra
from bestresponse.runs.settings_file import ForeignAddress, confine_settings

NAMES = {
    "model": "model",
    "output": "output_dir",
    "cache": "cache_dir",
    "budget": "budget",
    "workers": "workers",
}
"""What may have a default (`model` in a project, BESTRESPONSE_MODEL in the environment), and the
setting that it is."""
_PROJECT = Path("pyproject.toml")


def find_defaults(
    kind: type,
    options: Collection[str],
    allow: Callable[[ForeignAddress], None],
    read: Callable[[str, str], object],
) -> dict[str, object]:
    """Return the defaults of a command's options, and say where those of a project come from.

    `read` reads the text of a variable for a setting, as it reads what is typed.
    """
    known = list_settings(kind)
    mine = [name for name in options if not read_extra(known[name])["argument"]]
    project = {NAMES[name]: value for name, value in _read_project().items() if NAMES[name] in mine}
    found = confine_settings(_PROJECT, project, kind, allow)
    for name, value in found.items():
        told = f"{name} is {value}, as {_PROJECT} says"
        print(f"bestresponse: {visible(told)}", file=sys.stderr)
    for name, setting in NAMES.items():
        value = os.environ.get(f"BESTRESPONSE_{name.upper()}", "")
        if value and setting in mine:
            found[setting] = read(setting, value)
    return found


def _read_project() -> dict[str, object]:
    """Return the table of this package in the project's file; empty where there is none."""
    if not _PROJECT.is_file():
        return {}
    tool = read_toml(_PROJECT).get("tool", {})
    table = tool.get("bestresponse", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{_PROJECT}: tool.bestresponse is a table of settings")
    for name in table:
        if name not in NAMES:
            near = did_you_mean(name, list(NAMES))
            raise UsageError(f"{_PROJECT}: [tool.bestresponse] has no {name!r}.{near}")
    return table
