"""Refuse settings of a run in one sentence that names the option."""

from __future__ import annotations

from numbers import Integral

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean

__all__ = ["check_known", "check_sizes", "check_temperature"]


def check_sizes(*limits: tuple[str, int, int, int]) -> None:
    """Raise UsageError where an option's number is not a whole one between its two ends, both included."""
    for option, given, least, most in limits:
        if not isinstance(given, Integral) or not least <= given <= most:
            raise UsageError(f"{option} {given}: expected a whole number from {least} to {most:,}")


def check_temperature(given: float | None) -> None:
    """Raise UsageError where models cannot be asked at this temperature; None leaves it to the study."""
    if given is not None and not 0 <= given <= 5:
        raise UsageError(f"--temperature {given:g}: expected a number from 0 to 5")


def check_known(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    """Raise UsageError, with the nearest name, where something is named that there is not, or nothing at all."""
    if not given:
        raise UsageError(f"no {what} is named; known: {', '.join(known)}")
    for name in given:
        if name not in known:
            raise UsageError(
                f"there is no {what} {name!r}; known: {', '.join(known)}.{did_you_mean(name, list(known))}"
            )
