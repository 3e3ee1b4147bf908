"""Who did how well: totals, payoffs a round, the normalised payoff, winners; and what missing plays could change.

The normalised payoff is (total - least) / (most - least), where least and most are the totals that a player would earn
with its lowest or highest payoff in every round (Mensfelt, Stathis and Trencsenyi 2024, section 4.3), here for each
seat by its own payoffs. Totals are over all matches in both seats, against itself included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isclose
from typing import Any, TypedDict

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.report.metrics import Figures, Heads, Metric, compute_figures
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.theory.games.normal_form import Array

__all__ = ["METRICS", "Standing", "StandingRow", "Standings", "normalised", "winners_by_target", "winners_by_total"]


def normalised(total: float, least: float, most: float, plays: float) -> float:
    """A total as a share of the range it could lie in after `plays` plays with payoffs from `least` to `most`.

    >>> normalised(24, least=2, most=8, plays=4)
    0.6666666666666666
    """
    if not most > least:
        raise UsageError(f"normalised payoffs need different payoffs; all are {least:g}")
    return (total - plays * least) / (plays * (most - least))


def winners_by_total(totals: Mapping[str, float]) -> tuple[str, ...]:
    """Everybody with the highest total."""
    best = max(totals.values())
    return tuple(name for name, total in totals.items() if isclose(total, best, rel_tol=1e-12, abs_tol=1e-9))


def winners_by_target(totals: Mapping[str, float], targets: Mapping[str, float]) -> tuple[str, ...]:
    """Everybody whose total is the one it was expected to reach."""
    return tuple(
        name
        for name, total in totals.items()
        if name in targets and isclose(total, targets[name], rel_tol=1e-12, abs_tol=1e-9)
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """One who took part. `share` is the normalised payoff, with the bounds that missing plays leave; `first` and
    `second` are payoffs a round in either seat; None where nothing was played."""

    name: str
    kind: str
    total: float | None
    per_round: float | None
    first: float | None
    second: float | None
    share: float | None
    bounds: tuple[float, float] | None
    against_itself: float | None
    missing: int
    plays: int


METRICS: tuple[Metric[Standing], ...] = (
    Metric(
        "per_round",
        "payoff a round",
        "mean over all matches, both seats, itself included",
        "",
        ".3f",
        lambda s: s.per_round,
    ),
    Metric("first", "first seat", "payoff a round when moving in the first seat", "", ".3f", lambda s: s.first),
    Metric("second", "second seat", "payoff a round when moving in the second seat", "", ".3f", lambda s: s.second),
    Metric(
        "share",
        "normalised",
        "0 %: always the lowest payoff of the seat, 100 %: always the highest",
        "",
        ".2%",
        lambda s: s.share,
    ),
    Metric("total", "total", "sum over all matches", "", ".1f", lambda s: s.total),
    Metric("missing", "missing plays", "plays that broke off, where some did", "", "", lambda s: s.missing or None),
    Metric(
        "share_low", "normalised, at least", "had missing plays earned the least", "", ".2%", lambda s: _get_bound(s, 0)
    ),
    Metric(
        "share_high", "normalised, at most", "had missing plays earned the most", "", ".2%", lambda s: _get_bound(s, 1)
    ),
)
"""Every figure of one who took part, in the order of the columns."""


def _get_bound(one: Standing, end: int) -> float | None:
    """Return an end of the bounds where plays are missing; elsewhere the share itself says all."""
    return one.bounds[end] if one.missing and one.bounds is not None else None


class StandingRow(TypedDict):
    """A `Standing` as a row of a table."""

    name: str
    kind: str
    total: float | None
    per_round: float | None
    first: float | None
    second: float | None
    share: float | None
    share_low: float | None
    share_high: float | None
    against_itself: float | None
    missing: int
    plays: int


def _to_row(one: Standing) -> StandingRow:
    low, high = one.bounds or (None, None)
    return StandingRow(
        name=one.name,
        kind=one.kind,
        total=one.total,
        per_round=one.per_round,
        first=one.first,
        second=one.second,
        share=one.share,
        share_low=low,
        share_high=high,
        against_itself=one.against_itself,
        missing=one.missing,
        plays=one.plays,
    )


def _replace_nan(value: Any) -> Any:
    """Return nested lists with None in place of NaN."""
    if isinstance(value, list):
        return [_replace_nan(one) for one in value]
    return None if np.isnan(value) else value


@dataclass(frozen=True)
class Standings:
    """The mean totals of every match; NaN where no play of it counts. `missing` and `plays` count plays by pair."""

    config: TournamentConfig
    totals: Array
    spread: Array | None
    missing: Array
    plays: Array
    method: str

    @cached_property
    def opponents(self) -> tuple[int, ...]:
        """Whose matches count: everybody's, or those against one."""
        names = [entry.name for entry in self.config.entries]
        return (names.index(self.config.against),) if self.config.against else tuple(range(len(names)))

    @cached_property
    def per_round(self) -> Array:
        """The payoffs of a round on average."""
        return np.asarray(self.totals / self.config.rules.expected_rounds)

    @cached_property
    def between(self) -> Array:
        """What row earns a round against column, the mean of both seats."""
        return np.asarray((self.per_round[:, :, 0] + self.per_round[:, :, 1].T) / 2)

    @property
    def rows(self) -> tuple[StandingRow, ...]:
        """One row for each participant, best first."""
        return tuple(_to_row(one) for one in self.table)

    @property
    def answered(self) -> int:
        """How many have played at all."""
        return sum(one.share is not None for one in self.table)

    @cached_property
    def summary(self) -> JsonObject:
        """The standings as plain data."""
        config = self.config
        return {
            "game": config.game.name,
            "rounds": config.rounds,
            "noise": config.noise,
            "continuation": config.continuation,
            "repetitions": config.repetitions,
            "method": self.method,
            "winners": list(self.winners),
            "standings": [
                {**asdict(one), "bounds": None if one.bounds is None else list(one.bounds)} for one in self.table
            ],
            "names": [entry.name for entry in config.entries],
            "totals": _replace_nan(self.totals.tolist()),
            "left_out": [{"name": name, "why": why} for name, why in config.left_out],
        }

    @cached_property
    def table(self) -> tuple[Standing, ...]:
        """Best first; those without any play last."""
        found = [self._standing(place) for place in range(len(self.config.entries))]
        return tuple(sorted(found, key=lambda s: (s.share is None, -(s.share or 0.0), s.name)))

    def list_figures(self) -> Figures:
        """List every metric of everybody, best first."""
        groups: dict[Heads, Standing] = {(place, one.name): one for place, one in enumerate(self.table, 1)}
        return compute_figures(METRICS, ("place", "strategy"), groups)

    @property
    def sums(self) -> dict[str, float]:
        """The totals of those whose matches were all played."""
        return {row.name: row.total for row in self.table if row.total is not None}

    @property
    def winners(self) -> tuple[str, ...]:
        """By target where targets are given, else by highest total."""
        if self.config.targets:
            return winners_by_target(self.sums, dict(self.config.targets))
        return winners_by_total(self.sums) if self.sums else ()

    def _standing(self, place: int) -> Standing:
        entry, against = self.config.entries[place], list(self.opponents)
        first, second = self.totals[place, against, 0], self.totals[against, place, 1]
        both = np.concatenate([first, second])
        rounds = self.config.rules.expected_rounds
        shares = np.concatenate([self._shares(first, 0), self._shares(second, 1)])
        gaps = np.isnan(shares)
        missing = int(self.missing[place, against].sum() + self.missing[against, place].sum())
        plays = int(self.plays[place, against].sum() + self.plays[against, place].sum())
        some = not gaps.all()
        return Standing(
            entry.name,
            entry.kind,
            float(both.sum()) if not gaps.any() else None,
            float(np.nanmean(both) / rounds) if some else None,
            _mean(first / rounds),
            _mean(second / rounds),
            float(np.nanmean(shares)) if some else None,
            _bounds(shares, np.concatenate([self._lost(place, against), self._lost(against, place)])) if some else None,
            _mean(self.between[place, [place]]) if place in against else None,
            missing,
            plays,
        )

    def _lost(self, first: int | list[int], second: int | list[int]) -> Array:
        """The part of the plays of each match that is missing."""
        plays = self.plays[first, second]
        return np.asarray(np.divide(self.missing[first, second], plays, out=np.zeros_like(plays), where=plays > 0))

    def _shares(self, totals: Array, seat: int) -> Array:
        own = self.config.game.form.payoffs[seat]
        least, most = float(own.min()), float(own.max())
        if most == least:
            return np.where(np.isnan(totals), np.nan, 1.0)
        return np.asarray(normalised(totals, least, most, self.config.rules.expected_rounds))  # type: ignore[arg-type]


def _mean(values: Array) -> float | None:
    seen = values[~np.isnan(values)]
    return float(seen.mean()) if len(seen) else None


def _bounds(shares: Array, lost: Array) -> tuple[float, float]:
    """The mean if every missing play had earned the least, and if it had earned the most."""
    kept = np.nan_to_num(shares) * (1 - lost)
    return float(kept.mean()), float((kept + lost).mean())
