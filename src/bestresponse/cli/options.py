"""Options that several commands share."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.core.errors import SettingError

OutputDir = Annotated[Path, typer.Option(help="Folder for runs, reports and the cache of replies.")]
CacheChoice = Annotated[str, typer.Option(help="Replies kept from earlier calls: off, read-write, refresh or replay.")]
BudgetCalls = Annotated[int | None, typer.Option(help="Stop before more calls than this.", min=0)]
BudgetTokens = Annotated[int | None, typer.Option(help="Stop before more tokens than this.", min=0)]
BudgetMoney = Annotated[float | None, typer.Option(help="Stop before spending more US dollars than this.", min=0)]
Workers = Annotated[
    int | None, typer.Option(help="Plays at the same time. [default: what the models take]", min=1, max=1024)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_pairs(option: str, typed: Iterable[str], form: str = "NAME=VALUE") -> dict[str, str]:
    """Read pairs that were typed for an option.

    >>> read_pairs("set", ["depth=3"])
    {'depth': '3'}
    """
    pairs = {}
    for words in typed:
        name, equals, value = words.partition("=")
        if not equals or not name or not value:
            raise SettingError(option, f"expected {form}, got {words!r}")
        pairs[name] = value
    return pairs
