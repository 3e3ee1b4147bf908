"""The last sections of a report: what calls cost, and how the run can be done again."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from math import fsum

from bestresponse.core.json import JsonMapping
from bestresponse.models.base import Usage
from bestresponse.models.wrappers.limits import find_price_by_identity
from bestresponse.players.llm.verified import bare_name
from bestresponse.report.document import Code, Column, KeyValues, Note, Section, Table
from bestresponse.runs.store.folder import Manifest

Prices = Callable[[str, Mapping[str, int | None]], float | None]
"""The price in US dollars of a model's usage; None where it is not known."""


@dataclass(slots=True)
class CallTotals:
    """What the calls of one model took, with the attempts that failed.

    `money` is None where the price is not known.
    """

    model: str
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    seconds: float = 0.0
    money: float | None = 0.0

    def to_json(self) -> dict[str, object]:
        """Return the totals as plain JSON data."""
        return asdict(self)


def price_by_model(manifest: Manifest) -> Prices:
    """Return the prices of a run's models, by the identity that its manifest recorded for each."""
    by_name = {}
    for name, entry in manifest.models.items():
        by_name[bare_name(name)] = find_price_by_identity(entry["identity"])

    def price(model: str, usage: Mapping[str, int | None]) -> float | None:
        return by_name[model](Usage(**usage)) if model in by_name else None

    return price


def count_calls(calls: Iterable[JsonMapping], prices: Prices) -> tuple[CallTotals, ...]:
    """Count calls, tokens, seconds and dollars of every model.

    The order of the calls does not matter.
    """
    sums: dict[str, CallTotals] = {}
    seconds: dict[str, list[float]] = defaultdict(list)
    money: dict[str, list[float | None]] = defaultdict(list)
    for call in calls:
        total = sums.setdefault(call["model"], CallTotals(call["model"]))
        usage = call["reply"]["usage"]
        total.calls += 1 + call["reply"].get("failed", 0)
        total.prompt += usage.get("prompt") or 0
        total.completion += usage.get("completion") or 0
        total.reasoning += usage.get("reasoning") or 0
        seconds[call["model"]].append(call["reply"]["latency"])
        money[call["model"]].append(prices(call["model"], usage))
    for name, total in sums.items():
        known = [cost for cost in money[name] if cost is not None]
        total.seconds = fsum(seconds[name])
        total.money = fsum(known) if len(known) == len(money[name]) else None
    return tuple(sums[name] for name in sorted(sums))


def sum_money(totals: Iterable[CallTotals]) -> float | None:
    """Add up the dollars of all models; None where one is not known."""
    costs = [total.money for total in totals]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def costs_section(totals: Iterable[CallTotals]) -> Section | None:
    """Build the report's section of costs; None where no call was made."""
    rows = tuple(
        (
            c.model,
            c.calls,
            c.prompt,
            c.completion,
            c.reasoning,
            c.seconds,
            c.money,
        )
        for c in totals
    )
    if not rows:
        return None
    columns = (
        Column("model"),
        Column("calls", "right", format=",.0f"),
        Column("prompt tokens", "right", format=",.0f"),
        Column("reply tokens", "right", format=",.0f"),
        Column("of these reasoning", "right", format=",.0f"),
        Column(
            "seconds in calls",
            "right",
            "latencies added up; calls at the same time count each",
            ".1f",
        ),
        Column("US dollars", "right", "where the price is known", ".4f"),
    )
    note = Note(
        "A dash under dollars means that the price is not known, or that the model runs on your own"
        " machine."
    )
    return Section("Costs", (Table(columns, rows), note))


def method_section(manifest: Manifest) -> Section:
    """Build the section with command, versions, models and settings."""
    environment = manifest.environment
    packages = ", ".join(
        f"{name} {version}" for name, version in environment.get("packages", {}).items()
    )
    about = (
        ("run", manifest.run),
        ("begun", manifest.created),
        ("python", environment.get("python")),
        ("platform", environment.get("platform")),
        ("packages", packages),
        ("revision", environment.get("revision") or "an installed release"),
        (
            "models",
            (
                json.dumps(manifest.models, ensure_ascii=False, sort_keys=True)
                if manifest.models
                else "none"
            ),
        ),
    )
    settings = Code(json.dumps(manifest.config, indent=2, ensure_ascii=False), "json")
    return Section(
        "How it was done", (Code(" ".join(manifest.command), "sh"), KeyValues(about), settings)
    )
