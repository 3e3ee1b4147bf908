"""One play of the benchmark as a row: what was asked, how the answer was read, and what it is worth.

Every row has every field; None stands where there is no such figure (no readable answer, or another kind of game).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

__all__ = ["NO_FIGURES", "BenchRow", "Figures", "get_number"]


class Asked(TypedDict):
    """What was asked, and how the answer was read; `attempts`, `claims`, `refuted` where reasoning was verified."""

    spec: str
    condition: str
    game: int
    variant: str
    model: str
    elicit: str
    format: str
    theme: str
    seat: str
    temperature: float | None
    rows: int
    cols: int
    status: str
    how: str
    strategy: list[float] | None
    attempts: int | None
    claims: int | None
    refuted: int | None


class Figures(TypedDict):
    """What an answer is worth; see `measure` and `general` for the definitions."""

    llm_value: float | None
    br_value: float | None
    nash_gap: float | None
    gap_normalised: float | None
    payoff_range: float | None
    support: int | None
    pure_equilibrium: bool | None
    entropy: float | None
    value: float | None
    exploitability: float | None
    exploitability_normalised: float | None
    gap_any_equilibrium: float | None
    equilibrium_distance: float | None
    gap_nearest: float | None
    dominated_mass: float | None
    security_loss: float | None
    worst_gap: float | None
    worst_normalised: float | None
    worst_exploitability_normalised: float | None


class BenchRow(Asked, Figures):
    """One play of the benchmark."""


NO_FIGURES: Figures = {
    "llm_value": None,
    "br_value": None,
    "nash_gap": None,
    "gap_normalised": None,
    "payoff_range": None,
    "support": None,
    "pure_equilibrium": None,
    "entropy": None,
    "value": None,
    "exploitability": None,
    "exploitability_normalised": None,
    "gap_any_equilibrium": None,
    "equilibrium_distance": None,
    "gap_nearest": None,
    "dominated_mass": None,
    "security_loss": None,
    "worst_gap": None,
    "worst_normalised": None,
    "worst_exploitability_normalised": None,
}


def get_number(row: Mapping[str, object], name: str) -> float | None:
    """Return the number in that field of a row; None where there is none."""
    value = row[name]
    return float(value) if isinstance(value, int | float) else None
