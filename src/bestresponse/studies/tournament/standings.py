"""Who earned how much: the standings of a tournament in one game.

The normalised payoff is (total - least) / (most - least), where least and most are the totals that
a player would earn with its lowest or highest payoff in every round (Mensfelt, Stathis and
Trencsenyi 2024, section 4.3), here for each seat by its own payoffs. Totals are over all matches in
both seats, against itself included.

Strategies that multiply by what they earn: shares grow in proportion to what a strategy earns
against all shares (Axelrod, The Evolution of Cooperation, 1984, chapter 2), that is the discrete
replicator, by the mean payoff per round over both seats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf, isclose
from typing import Annotated, Literal, TypedDict

import numpy as np

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.report.frames import NumberColumn, Value, column, find_estimate
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.uncertainty import SampledMeans, measure_error
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.repeated.automaton import behave_alike
from bestresponse.theory.repeated.round_robin import exact_round_robin

_GENERATIONS = 1_000


class StandingRow(TypedDict):
    """One who took part: metrics are over all matches that count, None where nothing was played."""

    game: str
    name: str
    kind: str
    per_round: Annotated[Value, column("payoff per round", ".3f")]
    """mean over all matches that count: in both seats, including self-play, unless the settings say
    otherwise; where plays are sampled, 95 % interval"""
    best_place: Annotated[int | None, column("place at best")]
    """1 + those whose payoff per round is surely higher, if plays are sampled (95 %)"""
    worst_place: Annotated[int | None, column("place at worst")]
    """those whose payoff per round is not surely lower"""
    first: Annotated[float | None, column("first seat", ".3f")]
    """payoff per round when moving in the first seat; none in symmetric games"""
    second: Annotated[float | None, column("second seat", ".3f")]
    """payoff per round when moving in the second seat; none in symmetric games"""
    share: Annotated[float | None, column("normalised", ".2%")]
    """0 %: always the lowest payoff of the seat, 100 %: always the highest"""
    total: Annotated[float | None, column(format=".1f")]
    """sum over all matches that count"""
    missing: Annotated[int | None, column("missing plays")]
    """plays that ended early, if any"""
    share_low: Annotated[float | None, column("normalised, at least", ".2%")]
    """if missing plays had earned the least"""
    share_high: Annotated[float | None, column("normalised, at most", ".2%")]
    """if missing plays had earned the most"""
    against_itself: float | None
    plays: int


class MatchRow(TypedDict):
    """What two earned in their match, the first and the second seat.

    Means over plays, None where none counts.
    """

    game: str
    first: str
    second: str
    first_total: NumberColumn
    second_total: NumberColumn
    first_per_round: NumberColumn
    second_per_round: NumberColumn
    first_deviation: NumberColumn
    """standard deviation over plays"""
    second_deviation: NumberColumn
    """standard deviation over plays"""
    plays: int
    missing: int


class GenerationRow(TypedDict):
    """The share of a strategy in a generation, where strategies multiply by what they earn."""

    generation: int
    strategy: str
    share: Annotated[float, column(format=".4f")]


def normalise(total: float, least: float, most: float, plays: float) -> float:
    """Return a total as a share of the range it could lie in after `plays` plays.

    Payoffs range from `least` to `most`.

    >>> normalise(24, least=2, most=8, plays=4)
    0.6666666666666666
    """
    if not most > least:
        raise UsageError(f"normalised payoffs need different payoffs; all are {least:g}")
    return (total - plays * least) / (plays * (most - least))


def find_standings(config: TournamentConfig, plays: Iterable[StoredPlay] = ()) -> Standings:
    """Put together worked-out and played matches; one that broke off is missing."""
    totals, rounds, errors = _work_out(config)
    spread = np.full_like(totals, np.nan)
    missing = np.zeros(totals.shape[:2])
    repetitions = float(config.repetitions or 1)
    counts = np.where(np.isnan(totals[:, :, 0]), 0.0, repetitions)
    matches: dict[tuple[int, ...], list[_PlayedMatch]] = {pair: [] for pair in config.played_pairs}
    for play in plays:
        pair = tuple(play.data["places"])
        if pair in matches and play.record.void is None:
            matches[pair].append(_PlayedMatch.read(config, play))

    def enter(pair: tuple[int, ...], played: Sequence[_PlayedMatch]) -> None:
        counts[pair] = repetitions
        missing[pair] = repetitions - len(played)
        if played:
            sample = np.array([(*match.payoffs, match.rounds) for match in played])
            totals[pair] = sample[:, :2].mean(axis=0)
            rounds[pair] = sample[:, 2].mean()
            errors[pair] = measure_error(sample)
        if len(played) > 1:
            spread[pair] = sample[:, :2].std(axis=0, ddof=1)

    for (first, second), played in matches.items():
        enter((first, second), played)
        if first != second and config.is_mirrored(first, second):
            enter((second, first), [match.mirrored for match in played])
            if config.seats == "both":  # the same plays count twice, as one match
                errors[first, second] *= 4
                errors[second, first] = 0.0
    return Standings(
        config,
        totals,
        rounds=rounds,
        spread=spread,
        errors=errors,
        missing=missing,
        plays=counts,
    )


@dataclass(frozen=True, slots=True)
class _PlayedMatch:
    """What both seats earned in one play of a match, and how many rounds it had."""

    payoffs: tuple[float, float]
    rounds: float

    @classmethod
    def read(cls, config: TournamentConfig, play: StoredPlay) -> _PlayedMatch:
        first, second = config.stage.form.players
        payoffs = play.record.payoffs[first], play.record.payoffs[second]
        return cls(payoffs, _count_rounds(config, play))

    @property
    def mirrored(self) -> _PlayedMatch:
        """The same match with the seats exchanged."""
        first, second = self.payoffs
        return _PlayedMatch((second, first), self.rounds)


def _count_rounds(config: TournamentConfig, play: StoredPlay) -> float:
    """Count the rounds of a play by the moves of the first seat, as they weigh."""
    first_seat = config.stage.form.players[0]
    rounds = sum(turn.role == first_seat for turn in play.record.submissions)
    if not rounds:
        pair = " against ".join(config.entries[index].name for index in play.data["places"])
        raise StoreError(
            f"the record of {pair} holds no moves, so its rounds are unknown; run the tournament"
            " anew"
        )
    return sum(map(config.repetition.weigh, range(rounds)))


def _work_out(config: TournamentConfig) -> tuple[Array, Array, Array]:
    """Work out every match between automata that is not played one by one.

    Returns totals, rounds, and the errors of payoffs per round, which are NaN for other matches.
    Where a strategy differs by seat,
    those of both seats meet, and first against second is kept.
    """
    seats = [config.find_automata(entry) for entry in config.entries]
    indices = [index for index, pair in enumerate(seats) if pair is not None]
    totals = np.full((len(seats), len(seats), 2), np.nan)
    rounds = np.full((len(seats), len(seats)), np.nan)
    errors = np.full((len(seats), len(seats), 2, 2), np.nan)
    if indices and not config.keeps_moves:
        pairs = [pair for pair in seats if pair is not None]
        first = [pair[0] for pair in pairs]
        if all(behave_alike(*pair) for pair in pairs):
            players = first
        else:
            players = [*first, *(pair[1] for pair in pairs)]
        result = exact_round_robin(players, config.stage.form, config.repetition)
        grid = np.ix_(indices, indices)
        part = (slice(len(first)), slice(-len(first), None))
        totals[grid] = result.totals[part]
        errors[grid] = 0.0
        rounds[grid] = result.rounds[part]
        if config.seats == "first":  # who never sits second has no strategy there
            for pair in product(indices, repeat=2):
                totals[pair] = totals[pair] if config.counts(*pair) else np.nan
    return totals, rounds, errors


@dataclass(frozen=True)
class Standings:
    """The mean totals of every match and the rounds it lasted; NaN where no play of it counts.

    `errors` are the covariances of payoffs per round; `missing` and `plays` count plays by pair.
    """

    config: TournamentConfig
    totals: Array
    rounds: Array
    spread: Array
    errors: Array
    missing: Array
    plays: Array

    @property
    def names(self) -> list[str]:
        """The names of those who take part, in the order of the settings."""
        return [entry.name for entry in self.config.entries]

    @cached_property
    def opponents(self) -> list[int]:
        """Whose matches count: everybody's, or those against one."""
        if self.config.against:
            return [self.names.index(self.config.against)]
        return list(range(len(self.names)))

    @cached_property
    def per_round(self) -> Array:
        """The mean payoffs per round that was played.

        Longer matches are thus no better ones.
        """
        return np.asarray(self.totals / self.rounds[:, :, None])

    @cached_property
    def between(self) -> Array:
        """What row earns a round against column, the mean of both seats where both count."""
        first = self.per_round[:, :, 0]
        if self.config.seats == "first":
            return np.asarray(first)
        second = self.per_round[:, :, 1].T
        return np.asarray((first + second) / 2)

    @cached_property
    def sampled(self) -> SampledMeans:
        """The payoffs per round of everybody as means over sampled matches."""
        counted = np.zeros(self.per_round.shape, dtype=bool)
        counted[:, self.opponents, 0] = True
        if self.config.seats == "both":
            counted[self.opponents, :, 1] = True
        counted &= ~np.isnan(self.per_round)
        first = np.where(counted[..., 0], self.per_round[..., 0], 0.0).sum(axis=1)
        second = np.where(counted[..., 1], self.per_round[..., 1], 0.0).sum(axis=0)
        size = counted[..., 0].sum(axis=1) + counted[..., 1].sum(axis=0)
        means = np.where(size > 0, (first + second) / np.maximum(size, 1), np.nan)
        return SampledMeans(means, self.errors, counted, self.plays - self.missing)

    @cached_property
    def rows(self) -> list[StandingRow]:
        """One row for each participant, best first; those without any play last."""
        rows = [self._make_row(index) for index in range(len(self.names))]
        # By payoffs, as winners are: normalised by seat, another order is possible where seats have
        # other payoffs.
        return sorted(rows, key=lambda row: (-_find_earned(row), row["name"]))

    @property
    def is_symmetric(self) -> bool:
        """Whether seats differ by chance alone, so that they are pooled."""
        mine, theirs = self.config.stage.form.payoffs
        return self.config.seats == "both" and bool(np.array_equal(mine, theirs.T))

    @property
    def places(self) -> list[int]:
        """The place of each row.

        Whoever earned the same shares the best of their places, as in 1, 1, 3.
        """
        earned = [_find_earned(row) for row in self.rows]
        places = []
        for mine in earned:
            better = [other for other in earned if other > mine and not self._is_level(other, mine)]
            places.append(1 + len(better))
        return places

    @property
    def winners(self) -> tuple[str, ...]:
        """Those who reach their target if targets are given, else the highest earners.

        The highest earners are those with the highest payoff per round.

        Who lacks matches has no total, and cannot win.
        """
        key: Literal["total", "per_round"] = "total" if self.config.target else "per_round"
        whole = [row for row in self.rows if row["total"] is not None]
        earned = {row["name"]: find_estimate(row[key]) or 0.0 for row in whole}
        goals = self.config.target
        if not goals:
            highest = max(earned.values(), default=0.0)
            goals = dict.fromkeys(earned, highest)

        winners = []
        for name, value in earned.items():
            if name in goals and self._is_level(value, goals[name]):
                winners.append(name)
        return tuple(winners)

    def _is_level(self, payoff: float, other: float) -> bool:
        """Return whether two earned the same, but for rounding.

        Rounding grows with the payoffs of the game.
        """
        payoff_range = float(np.ptp(self.config.stage.form.payoffs))
        return isclose(payoff, other, rel_tol=1e-12, abs_tol=1e-9 * payoff_range)

    def _make_row(self, index: int) -> StandingRow:
        entry = self.config.entries[index]
        against = self.opponents
        counting = 1 if self.config.seats == "first" else 2  # how many of both seats count
        totals = self._take_seats(index, self.totals[..., 0], self.totals[..., 1])[:counting]
        seats = self._take_seats(index, self.per_round[..., 0], self.per_round[..., 1])[:counting]
        shares = _normalise_seats(seats, self.config.stage.form.payoffs[:counting])

        played = self._take_seats(index, self.plays, self.plays)[:counting]
        gaps = self._take_seats(index, self.missing, self.missing)[:counting]
        lost = gaps / np.maximum(played, 1.0)
        missing = int(gaps.sum())
        # Bounds: the mean if every missing play had earned the least, and if it had earned the
        # most.
        kept = np.nan_to_num(shares) * (1 - lost)
        bounded = missing > 0 and not np.isnan(shares).all()
        against_itself = _mean(self.between[index, [index]]) if index in against else None
        per_round: Value = None
        if not np.isnan(seats).all():
            payoffs = self.config.stage.form.payoffs[:counting]
            per_round = self.sampled.estimate(index, (float(payoffs.min()), float(payoffs.max())))
        best, worst = self._find_places(index)
        return StandingRow(
            game=self.config.game.name,
            name=entry.name,
            kind=entry.kind,
            per_round=per_round,
            best_place=best,
            worst_place=worst,
            first=None if self.is_symmetric else _mean(seats[0]),
            second=None if self.is_symmetric else _mean(seats[1:]),
            share=_mean(shares),
            total=finite_or_none(totals.sum()),
            missing=missing or None,
            share_low=float(kept.mean()) if bounded else None,
            share_high=float((kept + lost).mean()) if bounded else None,
            against_itself=against_itself,
            plays=int(played.sum()),
        )

    def _find_places(self, index: int) -> tuple[int, int] | tuple[None, None]:
        """Return the best and the worst place that sampled plays leave to one who takes part."""
        places = self.sampled.places
        if places is None:
            return None, None
        best, worst = places
        return int(best[index]), int(worst[index])

    def _take_seats(self, index: int, first: Array, second: Array) -> Array:
        """Return what one who takes part has in the first seat, and in the second, by opponent."""
        return np.stack([first[index, self.opponents], second[self.opponents, index]])

    def list_matches(self) -> Iterator[MatchRow]:
        """Yield every match that counts."""
        for first, second in product(range(len(self.names)), repeat=2):
            if not self.config.counts(first, second):
                continue
            pair = (first, second)
            yield MatchRow(
                game=self.config.game.name,
                first=self.names[first],
                second=self.names[second],
                first_total=finite_or_none(self.totals[pair][0]),
                second_total=finite_or_none(self.totals[pair][1]),
                first_per_round=finite_or_none(self.per_round[pair][0]),
                second_per_round=finite_or_none(self.per_round[pair][1]),
                first_deviation=finite_or_none(self.spread[pair][0]),
                second_deviation=finite_or_none(self.spread[pair][1]),
                plays=int(self.plays[pair]),
                missing=int(self.missing[pair]),
            )

    @cached_property
    def complete(self) -> tuple[list[str], Array]:
        """The strategies whose matches against each other were all played, and their payoffs."""
        known = ~np.isnan(self.between)
        kept = [index for index in range(len(known)) if known[index, index]]
        while kept:
            gaps = (~known[np.ix_(kept, kept)]).sum(axis=1)
            if not gaps.any():
                break
            kept.pop(int(np.argmax(gaps)))
        return [self.names[index] for index in kept], self.between[np.ix_(kept, kept)]

    def list_shares(self, generations: int = _GENERATIONS) -> Iterator[GenerationRow]:
        """Yield the shares of strategies that multiply by what they earn, from equal ones.

        None for fewer than two.
        """
        names, payoffs = self.complete
        if len(names) < 2:
            return
        path = replicator(
            NormalForm.bimatrix(payoffs, payoffs.T),
            steps=generations,
            form="discrete",
            one_population=True,
            stride=max(1, generations // 100),
            background=self.config.background,
        )
        for generation, shares in zip(path.times, path.strategies[0], strict=True):
            for name, share in zip(names, shares, strict=True):
                yield GenerationRow(generation=int(generation), strategy=name, share=float(share))


def _mean(values: Array) -> float | None:
    seen = values[~np.isnan(values)]
    return float(seen.mean()) if len(seen) else None


def _find_earned(row: StandingRow) -> float:
    """Return the payoff per round, below every other where nothing was played."""
    earned = find_estimate(row["per_round"])
    return -inf if earned is None else earned


def _normalise_seats(earned: Array, payoffs: Array) -> Array:
    """Return what was earned per round as a share of the range of payoffs of its seat.

    Where all payoffs of a seat are the same, everybody earns the highest.
    """
    least = payoffs.min(axis=(1, 2))[:, None]
    width = np.ptp(payoffs, axis=(1, 2))[:, None]
    varies = width > 0
    shares = (earned - least) / np.where(varies, width, 1.0)
    return np.where(varies, shares, 1.0 + 0 * earned)


def finite_or_none(value: float) -> float | None:
    """Return a number as plain Python has it, None where it is not known."""
    return float(value) if np.isfinite(value) else None
