"""What was typed, and which revision of the code it ran."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestresponse.runs.invocation import Occasion

__all__ = ["command_line", "occasion", "revision"]


def occasion() -> Occasion:
    """Now, by this command, at this revision."""
    from datetime import datetime

    from bestresponse.runs.invocation import Occasion

    return Occasion(command_line(), datetime.now().astimezone().isoformat(timespec="seconds"), revision())


def command_line() -> tuple[str, ...]:
    """The command as it can be typed again, the program by its short name."""
    return ("bestresponse", *(shlex.quote(word) for word in sys.argv[1:]))


def revision() -> str | None:
    """The git revision where the code runs from a checkout; None where it is installed."""
    folder = Path(__file__).resolve().parents[3]
    if not (folder / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
