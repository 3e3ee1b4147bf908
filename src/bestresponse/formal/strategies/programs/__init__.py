"""The published strategies as rules for `select/4`, one per file."""

from importlib.resources import files

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean

__all__ = ["PUBLISHED", "published_strategy"]

PUBLISHED = (
    "anti-default-move",
    "anti-tit-for-tat",
    "best-response",
    "default-move",
    "random",
    "tit-for-tat",
)
"""Mensfelt, Stathis and Trencsenyi 2024, table 5."""

AS_RUN = "best-response-as-published"
"""The best response of their section 3.2.3, which overlooks moves that earn less than the
opponent's."""


def published_strategy(name: str) -> str:
    """The rules of the strategy of that name.

    UsageError with the nearest name where there is none.
    """
    if name not in (*PUBLISHED, AS_RUN):
        raise UsageError(
            f"there is no published strategy named {name!r}.{did_you_mean(name, list(PUBLISHED))}"
        )
    return files(__package__).joinpath(f"{name}.pl").read_text("utf-8")
