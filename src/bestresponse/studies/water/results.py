"""What a run of the water study measured: rows, and the indicators by setting with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.core.json import JsonObject
from bestresponse.core.seeds import split
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import cluster_bootstrap, wilson
from bestresponse.studies.water.measure import GameRow, Measured, MeasuredSetting, lowest_served, rsr, rsr_end

__all__ = ["Summary", "WaterResults", "summaries"]


@dataclass(frozen=True)
class Summary:
    """The indicators of one setting, with intervals over its games."""

    one: MeasuredSetting
    survivors: Interval | None
    survival: tuple[Interval | None, ...]
    rsr_start: float
    rsr_end: Interval | None
    price: Interval | None


def summaries(measured: Measured) -> tuple[Summary, ...]:
    """One summary a setting, in the order of the settings."""
    return tuple(_summary(one, measured.config.seed, number) for number, one in enumerate(measured.settings))


def _summary(one: MeasuredSetting, seed: int, number: int) -> Summary:
    rng = np.random.default_rng(split(seed, "water summary", number))
    games = len(one.repeats)
    ends = rsr_end(one.trace)
    prices = lowest_served(one.trace)
    per_game = np.array([np.median(row[~np.isnan(row)]) for row in prices if (~np.isnan(row)).any()])
    return Summary(
        one,
        cluster_bootstrap(one.survivors, rng=rng) if games else None,
        tuple(wilson(int(alive), games) if games else None for alive in one.trace.survived.sum(axis=0)),
        rsr(one.trace.rules),
        cluster_bootstrap(ends[np.isfinite(ends)], rng=rng) if np.isfinite(ends).any() else None,
        cluster_bootstrap(per_game, rng=rng) if per_game.size else None,
    )


@dataclass(frozen=True)
class WaterResults:
    """The measured games of a run."""

    measured: Measured

    @cached_property
    def rows(self) -> tuple[GameRow, ...]:
        """One row for each game that counts."""
        return tuple(self.measured.list_games())

    @property
    def answered(self) -> int:
        """How many games count."""
        return self.measured.games

    @cached_property
    def by_setting(self) -> tuple[Summary, ...]:
        """The indicators of every setting."""
        return summaries(self.measured)

    @cached_property
    def summary(self) -> JsonObject:
        """The indicators by setting as plain data."""
        answers = {name: read.to_json() for name, read in self.measured.answers.items()}
        return {"settings": [_to_plain(one) for one in self.by_setting], "answers": answers}


def _to_plain(summary: Summary) -> JsonObject:
    residents = summary.one.trace.rules.residents
    return {
        "setting": summary.one.setting.name,
        "abundance": summary.one.setting.abundance,
        "personas": summary.one.setting.persona,
        "games": len(summary.one.repeats),
        "void": summary.one.void,
        "survivors": _to_json(summary.survivors),
        "survival": {who.name: _to_json(rate) for who, rate in zip(residents, summary.survival, strict=True)},
        "rsr_start": summary.rsr_start,
        "rsr_end": _to_json(summary.rsr_end),
        "median_price": _to_json(summary.price),
    }


def _to_json(interval: Interval | None) -> dict[str, float | int | None] | None:
    return None if interval is None else interval.to_json()
