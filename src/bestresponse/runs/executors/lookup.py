"""Executors by the names that `--executor` takes."""

from __future__ import annotations

from bestresponse.core.errors import UsageError
from bestresponse.runs.executors.base import Executor
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.executors.ray import Ray
from bestresponse.runs.executors.threads import Threads

__all__ = ["EXECUTORS", "find_executor"]

EXECUTORS = ("threads", "processes", "ray", "ray:ADDRESS")


def find_executor(name: str) -> Executor:
    """Return the executor of that name; UsageError where there is none."""
    match name:
        case "threads":
            return Threads()
        case "processes":
            return Processes()
        case "ray":
            return Ray()
        case _ if name.startswith("ray:"):
            return Ray(name if name.startswith("ray://") else name.removeprefix("ray:"))
        case _:
            raise UsageError(f"--executor {name!r}: expected one of {', '.join(EXECUTORS)}")
