"""Who did how well: totals, payoffs a round, the normalised payoff, winners; and what missing plays could change.

The normalised payoff is (total - least) / (most - least), where least and most are the totals that a player would earn
with its lowest or highest payoff in every round (Mensfelt, Stathis and Trencsenyi 2024, section 4.3), here for each
seat by its own payoffs. Totals are over all matches in both seats, against itself included.

Strategies that multiply by what they earn: shares grow in proportion to what a strategy earns against all shares
(Axelrod, The Evolution of Cooperation, 1984, chapter 2), that is the discrete replicator; the Moran process is that of
a finite population, see `theory.dynamics.moran`. Both use the mean payoff a round over both seats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isclose
from typing import TYPE_CHECKING, Annotated, TypedDict

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.seeds import split
from bestresponse.report.frames import column
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.tournament.entries import as_automata
from bestresponse.theory.dynamics.learning import replicator
from bestresponse.theory.dynamics.moran import count_takeovers
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.repeated.automaton import behave_alike
from bestresponse.theory.repeated.round_robin import exact_round_robin, play_round_robin

if TYPE_CHECKING:
    from bestresponse.studies.tournament.study import TournamentConfig

_GENERATIONS = 1_000
_MORAN_RUNS = 100


class StandingRow(TypedDict):
    """One who took part: figures are over all matches in both seats that count, None where nothing was played."""

    name: str
    kind: str
    per_round: Annotated[float | None, column("payoff a round", ".3f")]
    """mean over all matches, both seats, itself included"""
    first: Annotated[float | None, column("first seat", ".3f")]
    """payoff a round when moving in the first seat"""
    second: Annotated[float | None, column("second seat", ".3f")]
    """payoff a round when moving in the second seat"""
    share: Annotated[float | None, column("normalised", ".2%")]
    """0 %: always the lowest payoff of the seat, 100 %: always the highest"""
    total: Annotated[float | None, column(format=".1f")]
    """sum over all matches"""
    missing: Annotated[int | None, column("missing plays")]
    """plays that broke off, where some did"""
    share_low: Annotated[float | None, column("normalised, at least", ".2%")]
    """had missing plays earned the least"""
    share_high: Annotated[float | None, column("normalised, at most", ".2%")]
    """had missing plays earned the most"""
    against_itself: float | None
    plays: int


class MatchRow(TypedDict):
    """What two earned in their match, the first and the second seat; means over plays, None where none counts."""

    first: str
    second: str
    first_total: Annotated[float | None, column(format=".3f")]
    second_total: Annotated[float | None, column(format=".3f")]
    first_per_round: Annotated[float | None, column(format=".3f")]
    second_per_round: Annotated[float | None, column(format=".3f")]
    first_deviation: Annotated[float | None, column(format=".3f")]
    """standard deviation over plays"""
    second_deviation: Annotated[float | None, column(format=".3f")]
    """standard deviation over plays"""
    plays: int
    missing: int


class GenerationRow(TypedDict):
    """The share of a strategy in a generation, where strategies multiply by what they earn."""

    generation: int
    strategy: str
    share: Annotated[float, column(format=".4f")]


class MoranRow(TypedDict):
    """How often a strategy took over a population."""

    strategy: str
    wins: Annotated[int, column("took over")]
    share: Annotated[float, column("of all runs", ".2f")]


def normalise(total: float, least: float, most: float, plays: float) -> float:
    """Return a total as a share of the range it could lie in after `plays` plays with payoffs from `least` to `most`.

    >>> normalise(24, least=2, most=8, plays=4)
    0.6666666666666666
    """
    if not most > least:
        raise UsageError(f"normalised payoffs need different payoffs; all are {least:g}")
    return (total - plays * least) / (plays * (most - least))


def measure_standings(config: TournamentConfig, plays: Iterable[StoredPlay] = ()) -> Standings:
    """Put together worked-out and played matches; one that broke off is missing."""
    totals, spread = _work_out(config)
    missing = np.zeros(totals.shape[:2])
    repetitions = float(config.repetitions or 1)
    counts = np.where(np.isnan(totals[:, :, 0]), 0.0, repetitions)
    earned: dict[tuple[int, int], list[list[float]]] = {pair: [] for pair in config.asked_pairs}
    for play in plays:
        pair = tuple(play.data["places"])
        if pair in earned and play.record.void is None:
            earned[pair].append([play.record.payoffs[role] for role in config.stage.form.players])
    for (first, second), payoffs in earned.items():
        mirrored = first != second and config.is_mirrored(first, second)
        for pair, step in (((first, second), 1), ((second, first), -1))[: 2 if mirrored else 1]:
            counts[pair], missing[pair] = repetitions, repetitions - len(payoffs)
            if payoffs:
                totals[pair] = np.mean(payoffs, axis=0)[::step]
    return Standings(config, totals, spread, missing, counts)


def _work_out(config: TournamentConfig) -> tuple[Array, Array]:
    """Work out or play in bulk every match between automata: totals, and their deviation over plays; else NaN.

    Where a strategy differs by seat, those of both seats meet, and first against second is kept.
    """
    seats = [as_automata(entry, config.stage, config.default_move) for entry in config.entries]
    places = [place for place, pair in enumerate(seats) if pair is not None]
    totals, spread = np.full((2, len(seats), len(seats), 2), np.nan)
    if places:
        pairs = [pair for pair in seats if pair is not None]
        first = [pair[0] for pair in pairs]
        second = [] if all(behave_alike(*pair) for pair in pairs) else [pair[1] for pair in pairs]
        if config.repetitions is None:
            result = exact_round_robin([*first, *second], config.stage.form, config.rules)
        else:
            plays, seed = config.repetitions, split(config.seed, "matches")
            result = play_round_robin([*first, *second], config.stage.form, config.rules, repetitions=plays, seed=seed)
        grid, part = np.ix_(places, places), (slice(len(first)), slice(-len(first), None))
        totals[grid] = result.totals[part]
        spread[grid] = np.nan if result.spread is None else result.spread[part]
    return totals, spread


@dataclass(frozen=True)
class Standings:
    """The mean totals of every match; NaN where no play of it counts. `missing` and `plays` count plays by pair."""

    config: TournamentConfig
    totals: Array
    spread: Array
    missing: Array
    plays: Array

    @property
    def names(self) -> list[str]:
        """The names of those who take part, in the order of the settings."""
        return [entry.name for entry in self.config.entries]

    @cached_property
    def opponents(self) -> list[int]:
        """Whose matches count: everybody's, or those against one."""
        return [self.names.index(self.config.against)] if self.config.against else list(range(len(self.names)))

    @cached_property
    def per_round(self) -> Array:
        """The payoffs of a round on average."""
        return np.asarray(self.totals / self.config.rules.expected_rounds)

    @cached_property
    def between(self) -> Array:
        """What row earns a round against column, the mean of both seats."""
        return np.asarray((self.per_round[:, :, 0] + self.per_round[:, :, 1].T) / 2)

    @cached_property
    def rows(self) -> list[StandingRow]:
        """One row for each participant, best first; those without any play last."""
        rows = [self._make_row(place) for place in range(len(self.names))]
        return sorted(rows, key=lambda row: (row["share"] is None, -(row["share"] or 0.0), row["name"]))

    @property
    def winners(self) -> tuple[str, ...]:
        """Those who reach their target where targets are given, else those with the highest total."""
        totals = {row["name"]: row["total"] for row in self.rows if row["total"] is not None}
        goals = self.config.target or dict.fromkeys(totals, max(totals.values(), default=0.0))
        return tuple(
            name
            for name, total in totals.items()
            if name in goals and isclose(total, goals[name], rel_tol=1e-12, abs_tol=1e-9)
        )

    def _make_row(self, place: int) -> StandingRow:
        entry, against = self.config.entries[place], self.opponents
        seats = np.stack([self.totals[place, against, 0], self.totals[against, place, 1]])
        rounds, payoffs = self.config.rules.expected_rounds, self.config.stage.form.payoffs
        least, width = payoffs.min(axis=(1, 2))[:, None], np.ptp(payoffs, axis=(1, 2))[:, None]
        # Where all payoffs of a seat are the same, everybody earns the highest.
        shares = np.where(width > 0, (seats / rounds - least) / np.where(width > 0, width, 1.0), 1.0 + 0 * seats)
        played = np.stack([self.plays[place, against], self.plays[against, place]])
        gaps = np.stack([self.missing[place, against], self.missing[against, place]])
        lost = gaps / np.maximum(played, 1.0)
        missing = int(gaps.sum())
        # Bounds: the mean if every missing play had earned the least, and if it had earned the most.
        kept = np.nan_to_num(shares) * (1 - lost)
        bounded = missing and not np.isnan(shares).all()
        return StandingRow(
            name=entry.name,
            kind=entry.kind,
            per_round=_mean(seats / rounds),
            first=_mean(seats[0] / rounds),
            second=_mean(seats[1] / rounds),
            share=_mean(shares),
            total=_finite(seats.sum()),
            missing=missing or None,
            share_low=float(kept.mean()) if bounded else None,
            share_high=float((kept + lost).mean()) if bounded else None,
            against_itself=_mean(self.between[place, [place]]) if place in against else None,
            plays=int(played.sum()),
        )

    def list_matches(self) -> Iterator[MatchRow]:
        """Yield every match that counts, in both seats."""
        for first, second in product(range(len(self.names)), repeat=2):
            if first not in self.opponents and second not in self.opponents:
                continue
            figures = {
                f"{seat}_{name}": _finite(values[first, second, number])
                for name, values in (("total", self.totals), ("per_round", self.per_round), ("deviation", self.spread))
                for number, seat in enumerate(("first", "second"))
            }
            yield MatchRow(
                first=self.names[first],
                second=self.names[second],
                **figures,  # type: ignore[typeddict-item]
                plays=int(self.plays[first, second]),
                missing=int(self.missing[first, second]),
            )

    @cached_property
    def complete(self) -> tuple[list[str], Array]:
        """The strategies whose matches against each other were all played, and their payoffs."""
        known = ~np.isnan(self.between)
        places = [place for place in range(len(known)) if known[place, place]]
        while places:
            gaps = [(~known[np.ix_([place], places)]).sum() for place in places]
            if not any(gaps):
                break
            places.pop(int(np.argmax(gaps)))
        return [self.names[place] for place in places], self.between[np.ix_(places, places)]

    def list_shares(self, generations: int = _GENERATIONS) -> Iterator[GenerationRow]:
        """Yield the shares of strategies that multiply by what they earn, from equal ones; none for fewer than two."""
        names, payoffs = self.complete
        if len(names) < 2:
            return
        path = replicator(
            NormalForm.bimatrix(payoffs, payoffs.T),
            steps=generations,
            form="discrete",
            one_population=True,
            stride=max(1, generations // 100),
        )
        for generation, shares in zip(path.times, path.strategies[0], strict=True):
            for name, share in zip(names, shares, strict=True):
                yield GenerationRow(generation=int(generation), strategy=name, share=float(share))

    def list_takeovers(self) -> list[MoranRow]:
        """List how often each strategy took over a population that began with equal numbers of all, best first.

        Raises:
            UsageError: the population has fewer individuals than there are strategies, so some could never win.
        """
        names, payoffs = self.complete
        population = self.config.moran
        if len(names) < 2 or not population:
            return []
        if population < len(names):
            raise UsageError(
                f"moran: a population of {population} has no place for each of {len(names)} strategies; "
                f"expected at least {len(names)}"
            )
        # Equal numbers; where they do not come out even, the first strategies get one more.
        counts = [population // len(names) + (k < population % len(names)) for k in range(len(names))]
        result = count_takeovers(payoffs, counts, runs=_MORAN_RUNS, seed=split(self.config.seed, "moran"))
        rows = [
            MoranRow(strategy=name, wins=wins, share=wins / _MORAN_RUNS)
            for name, wins in [*zip(names, result.wins, strict=True), ("undecided", result.undecided)]
        ]
        return sorted(
            (row for row in rows if row["wins"]), key=lambda row: (row["strategy"] == "undecided", -row["wins"])
        )


def _mean(values: Array) -> float | None:
    seen = values[~np.isnan(values)]
    return float(seen.mean()) if len(seen) else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
