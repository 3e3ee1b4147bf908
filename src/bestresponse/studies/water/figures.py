"""The figures of the water study: box plots of the price of water by day, and lines by day for each resident."""

from __future__ import annotations

import numpy as np

from bestresponse.games.water.batch import Floats, Trace
from bestresponse.report.figures import charts as figures
from bestresponse.report.figures.canvas import INK, QUIET, canvas, label, series_colour, to_svg
from bestresponse.studies.water.measure import lowest_served, rsr, rsr_by_day

__all__ = ["by_day", "price_boxes", "satisfaction"]


def price_boxes(trace: Trace) -> bytes | None:
    """One box a day of the smallest bid served, the daily medians as a line, their mean dashed; None without any."""
    prices = lowest_served(trace)
    days = [(day + 1, column[~np.isnan(column)]) for day, column in enumerate(prices.T)]
    days = [(day, column) for day, column in days if column.size]
    if not days:
        return None
    medians = [float(np.median(column)) for _, column in days]
    with canvas(height=3.9, grid="both") as axes:
        for day, column in days:
            low, first, third, high = np.quantile(column, [0, 0.25, 0.75, 1])
            axes.plot([day, day], [low, high], color=QUIET, linewidth=1.0, zorder=2)
            axes.bar(day, third - first, 0.56, first, facecolor=series_colour(0), alpha=0.25, zorder=3)
            axes.bar(day, third - first, 0.56, first, facecolor="none", edgecolor=QUIET, linewidth=1.0, zorder=3)
        numbers = [day for day, _ in days]
        axes.plot(numbers, medians, color=series_colour(0), linewidth=2, marker="o", markersize=4, zorder=4)
        axes.axhline(float(np.mean(medians)), color=INK, linewidth=1.2, linestyle="--", zorder=1)
        axes.set_xticks(numbers if len(numbers) <= 20 else numbers[:: len(numbers) // 10])
        axes.set_xlabel(label("day"))
        axes.set_ylabel(label("smallest bid served, $"))
        return to_svg(axes)


def satisfaction(trace: Trace) -> bytes | None:
    """Draw the mean resource satisfaction rate of the living by morning, with two standard errors; None without any."""
    rates = rsr_by_day(trace)
    counts = np.isfinite(rates).sum(axis=0)
    mornings = np.flatnonzero(counts)
    if not mornings.size:
        return None
    seen = rates[:, mornings]
    means = np.nanmean(seen, axis=0)
    errors = 2 * np.nanstd(seen, axis=0) / np.sqrt(counts[mornings])
    days = mornings + 1.0
    at_first = np.full(len(days), rsr(trace.rules))
    series = {"of the living": (days, means), "of all, as at the start": (days, at_first)}
    bands = {"of the living": (means - errors, means + errors)}
    return figures.lines(series, bands, x_label="morning of day", y_label="supply / need, in units of water")


def by_day(trace: Trace, values: Floats, y_label: str) -> bytes | None:
    """The mean of `values` by day for each resident who was there, with a band of two standard errors."""
    series, bands = {}, {}
    for seat, resident in enumerate(trace.rules.residents):
        known = np.where(trace.present[:, :, seat], values[:, :, seat], np.nan)
        counts = (~np.isnan(known)).sum(axis=0)
        days = np.flatnonzero(counts)
        if not days.size:
            continue
        with np.errstate(invalid="ignore"):
            seen = known[:, days]
            means = np.nanmean(seen, axis=0)
            errors = 2 * np.nanstd(seen, axis=0) / np.sqrt(counts[days])
        series[resident.name] = (days + 1.0, means)
        bands[resident.name] = (means - errors, means + errors)
    return figures.lines(series, bands, x_label="day", y_label=y_label) if series else None
