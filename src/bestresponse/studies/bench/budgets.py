"""What answers cost: loss beside tokens and dollars, for every player and way of asking."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Annotated, TypedDict

from bestresponse.core.json import JsonMapping
from bestresponse.report.frames import Heads, Value, ValueColumn, column, find_estimate
from bestresponse.runs.reporting.sections import count_calls, price_by_model
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Measured


class BudgetRow(TypedDict):
    """What a player read and wrote for an answer on average, and what it lost."""

    player: str
    asked_for: str
    tokens: Annotated[float, column("tokens per play", ",.0f", "read and written")]
    dollars: Annotated[float | None, column("dollars per play", ".5f", "if the price is known")]
    lost: ValueColumn
    """exploitability / range, or where there is none regret / range or gap / range"""
    best: Annotated[bool, column("Pareto front", help="loses less than all with fewer tokens")]


def list_budgets(
    measured: Measured,
    folder: RunFolder,
    find_loss: Callable[[Heads], Value],
) -> Iterator[BudgetRow]:
    """Yield who called models, those first whose plays take the fewest tokens.

    A single one has nobody to be compared with; what it took is among the costs of the run.
    """
    heads_of: dict[str, Heads] = {}
    for row in measured.rows:
        heads_of[str(row["spec"])] = row["model"], row["asked_for"]  # type: ignore[assignment]
    calls: dict[Heads, list[JsonMapping]] = defaultdict(list)
    plays: dict[Heads, set[str]] = defaultdict(set)
    for call in folder.calls():
        heads = heads_of.get(call["spec"], ())
        calls[heads].append(call)
        plays[heads].add(call["spec"])
    calls.pop((), None)  # of plays that are not finished
    rows = []
    for heads, made in calls.items() if len(calls) > 1 else ():
        (total,) = count_calls(made, price_by_model(folder.manifest))
        count = len(plays[heads])
        row = BudgetRow(
            player=str(heads[0]),
            asked_for=str(heads[1]),
            tokens=(total.prompt + total.completion) / count,
            dollars=None if total.money is None else total.money / count,
            lost=find_loss(heads),
            best=False,
        )
        rows.append(row)
    least = math.inf
    for row in sorted(rows, key=itemgetter("tokens")):
        lost = find_estimate(row["lost"])
        if lost is not None and lost < least:
            least = lost
            row["best"] = True
        yield row
