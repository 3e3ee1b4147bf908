"""What the calls of a run took, model by model: counted from its record, and told as a section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bestresponse.report.document import Column, Note, Section, Table
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.watching import Prices

__all__ = ["call_totals", "costs_section"]


def call_totals(folder: RunFolder, prices: Prices) -> Iterable[dict[str, Any]]:
    """Calls, tokens, seconds and dollars of every model."""
    sums: dict[str, dict[str, Any]] = {}
    for call in folder.calls():
        nothing = {"calls": 0, "prompt": 0, "completion": 0, "reasoning": 0, "seconds": 0.0, "money": 0.0}
        total = sums.setdefault(call["model"], {"model": call["model"], **nothing})
        usage = call["reply"]["usage"]
        total["calls"] += 1
        for kind in ("prompt", "completion", "reasoning"):
            total[kind] += usage.get(kind) or 0
        total["seconds"] += call["reply"]["latency"]
        cost = prices(call["model"], usage)
        total["money"] = None if cost is None or total["money"] is None else total["money"] + cost
    return sums.values()


def costs_section(calls: Iterable[Mapping[str, Any]]) -> Section | None:
    """What the run took, model by model: `calls` holds one mapping per model, as `call_totals` gives it."""
    rows = tuple(
        (c["model"], c["calls"], c["prompt"], c["completion"], c["reasoning"], c["seconds"], c["money"]) for c in calls
    )
    if not rows:
        return None
    columns = (
        Column("model"),
        Column("calls", "right", format=",.0f"),
        Column("prompt tokens", "right", format=",.0f"),
        Column("reply tokens", "right", format=",.0f"),
        Column("of these reasoning", "right", format=",.0f"),
        Column("seconds in calls", "right", "latencies added up; calls at the same time count each", ".1f"),
        Column("US dollars", "right", "where the price is known", ".4f"),
    )
    note = Note("A dash under dollars means that the price is not known, or that the model runs on your own machine.")
    return Section("Costs", (Table(columns, rows), note))
