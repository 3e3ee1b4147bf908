"""What a run of the water study measured: rows, and the indicators by setting with intervals."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.core.json import JsonObject
from bestresponse.games.water.batch import Floats
from bestresponse.report.metrics import Figures, Heads, Metric, compute_figures
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import wilson
from bestresponse.studies.water.measure import (
    GameRow,
    Measured,
    MeasuredSetting,
    lowest_served,
    rsr,
    rsr_end,
)

__all__ = ["METRICS", "WaterResults"]


def _median_prices(one: MeasuredSetting) -> Floats:
    """Return the median over days of the smallest bid served, game by game; NaN where nobody was served."""
    prices = lowest_served(one.trace)
    return np.array([np.median(row[~np.isnan(row)]) if (~np.isnan(row)).any() else np.nan for row in prices])


METRICS: tuple[Metric[MeasuredSetting], ...] = (
    Metric("games", "games", "games that count", "", "", lambda one: len(one.repeats)),
    Metric(
        "void",
        "void",
        "games in which a seat gave no usable answer; they enter no figure",
        "",
        "",
        lambda one: one.void,
    ),
    Metric(
        "survivors",
        "survivors",
        "mean number alive after the last day, 95 % interval over games",
        "",
        ".2f",
        lambda one: one.average(one.survivors, "survivors"),
    ),
    Metric(
        "rsr_start", "RSR at the start", "expected supply / needs of all", "", ".2f", lambda one: rsr(one.trace.rules)
    ),
    Metric(
        "rsr_end",
        "RSR at the end",
        "expected supply / needs of the survivors, where there are any",
        "",
        ".2f",
        lambda one: one.average(rsr_end(one.trace), "rsr_end"),
    ),
    Metric(
        "median_price",
        "median price",
        "a game's median over days of the smallest bid served, mean over games",
        "$",
        ".0f",
        lambda one: one.average(_median_prices(one), "median_price"),
    ),
)
"""The indicators of a setting; how often each resident survived is added by `WaterResults.list_figures`."""


def _survive(seat: int) -> Callable[[MeasuredSetting], Interval | None]:
    def compute(one: MeasuredSetting) -> Interval | None:
        return wilson(int(one.trace.survived[:, seat].sum()), len(one.repeats)) if one.repeats else None

    return compute


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
    def figures(self) -> Figures:
        """The metrics of every setting, and for every resident the share of games survived."""
        residents = [
            Metric(
                "survived_" + re.sub(r"\W", "_", who.name),
                who.name,
                "share of games survived",
                "",
                ".2f",
                _survive(seat),
            )
            for seat, who in enumerate(self.measured.config.rules.residents)
        ]
        groups: dict[Heads, MeasuredSetting] = {(one.setting.name,): one for one in self.measured.settings}
        return compute_figures((*METRICS, *residents), ("setting",), groups)

    @cached_property
    def summary(self) -> JsonObject:
        """The figures of every setting, and how the answers of every player were read."""
        return {
            "settings": self.figures.to_json(),
            "answers": {name: read.to_json() for name, read in self.measured.answers.items()},
        }
