"""What the user says about a town: its rules, who sits where, and who the residents are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bestresponse.cli.files import read_toml
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.water.rules import WaterRules
from bestresponse.players.llm.persona import Persona, published_personas, read_personas
from bestresponse.studies.water.config import is_bidder

__all__ = ["choose_players", "read_rules", "read_texts"]


def read_rules(
    roster: Path | None, days: int | None, low: int | None, high: int | None, abundance_given: bool
) -> tuple[WaterRules, bool]:
    """Return the rules, and whether they fix the supply instead of one of the published ranges."""
    table = {} if roster is None else read_toml(roster)
    own_supply = low is not None or high is not None or bool({"low", "high"} & table.keys())
    if abundance_given and own_supply:
        raise UsageError("the supply is given twice: use --abundance, or --low and --high (or the roster file)")
    rules = WaterRules() if roster is None else _rules(table, roster)
    given = {"days": days, "low": low, "high": high}
    changes: JsonObject = {name: value for name, value in given.items() if value is not None}
    return replace(rules, **changes), own_supply


def _rules(table: JsonMapping, path: Path) -> WaterRules:
    """`[[residents]]` tables with name, need and salary; other keys are rules."""
    residents = table.get("residents", [])
    if not isinstance(residents, list) or not residents:
        raise UsageError(f"{path}: there are no residents; expected [[residents]] with name, need and salary")
    for number, entry in enumerate(residents, 1):
        if not isinstance(entry, dict) or set(entry) != {"name", "need", "salary"}:
            raise UsageError(f"{path}: resident {number} needs exactly the keys name, need and salary")
    entries = [[entry["name"], entry["need"], entry["salary"]] for entry in residents]
    try:
        return WaterRules.from_json({**table, "residents": entries})
    except (TypeError, AttributeError):
        raise UsageError(f"{path}: expected numbers for rules, needs and salaries, and texts for names") from None


def choose_players(rules: WaterRules, model: str | None, bidder: str | None, seats: list[str]) -> tuple[str, ...]:
    """Choose one player a resident: the named one, else the model or bidder for all."""
    if model and bidder:
        raise UsageError("--model and --bidder both fill all seats; give one, and the other for single seats by --seat")
    if bidder and not is_bidder(bidder):
        raise UsageError(f"--bidder {bidder!r}: expected random, share:X, need, myopic, no-regret or solver")
    names = [resident.name for resident in rules.residents]
    filled = dict.fromkeys(names, model or bidder or "smollm2")
    for given in seats:
        name, equals, player = given.partition("=")
        if not equals or not player or name not in filled:
            raise UsageError(f"--seat {given!r}: expected RESIDENT=PLAYER with one of {', '.join(names)}")
        filled[name] = player
    return tuple(filled.values())


def read_texts(path: Path | None) -> Mapping[str, Persona]:
    """Return the personas of a file, or the published ones."""
    return published_personas() if path is None else read_personas(path)
