"""Executors by the names that `--executor` takes."""

from __future__ import annotations

from bestresponse.core.errors import UsageError
from bestresponse.runs.executors.base import Executor
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.executors.ray import Ray
from bestresponse.runs.executors.threads import Threads

__all__ = ["EXECUTORS", "find_executor"]

EXECUTORS = ("threads", "processes", "ray")


def find_executor(name: str, address: str | None = None) -> Executor:
    """Return the executor of that name, for Ray at that address; UsageError where there is none."""
    if address is not None and name != "ray":
        raise UsageError(f"--address {address} is that of a Ray cluster: add --executor ray")
    match name:
        case "threads":
            return Threads()
        case "processes":
            return Processes()
        case "ray":
            return Ray(address)
        case _:
            raise UsageError(f"--executor {name!r}: expected one of {', '.join(EXECUTORS)}")
