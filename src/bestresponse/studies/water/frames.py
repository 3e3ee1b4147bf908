"""The indicators of the Water Allocation Challenge, condition by condition.

    RSR        expected daily supply / needs of the living, at the start and after the last day
               (paper, eq. 2)
    survivors  how many are alive after the last day
    p_n        the smallest bid that was served on day n

Games are rebuilt from the recorded bids, many at once. A void game enters no metric; it is counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.game import NATURE
from bestresponse.core.seeds import split
from bestresponse.games.water.bidders import BIDDERS, Morning, Trace, kept_for, play_many, run_many
from bestresponse.games.water.rules import WaterRules
from bestresponse.players.llm.reading import find_reasons
from bestresponse.report.frames import Frame, MeanColumn, R, column
from bestresponse.report.stats.differences import holm, paired_difference
from bestresponse.report.stats.statistics import (
    Floats,
    Interval,
    bound_mean,
    cluster_bootstrap,
    open_interval,
    wilson,
)
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import Measured
from bestresponse.studies.water.config import WaterCondition, WaterConfig

_MOST_DAY_ROWS = 100_000
"""More rows of days than this are not listed: the records hold them, and writing them takes
minutes."""
_MOST_BASELINE_GAMES = 200
"""The caption in report.toml says it too."""
_LEVEL = 0.9545
"""How often two standard errors on each side hold the mean."""
GameDays = list[tuple[int, dict[str, float]]]
"""The supply and the bids of every day."""


class WaterGameRow(TypedDict):
    """One game; a void one has no result."""

    condition: str
    abundance: str
    personas: bool
    repeat: int
    survivors: int | None
    rsr_start: Annotated[float, column("RSR at the start", ".2f", "expected supply / needs of all")]
    rsr_end: Annotated[
        float | None, column("RSR at the end", ".2f", "expected supply / needs of the survivors")
    ]
    alive: Annotated[dict[str, bool] | None, column(help="who was alive after the last day")]


class SurvivalRow(TypedDict):
    """How often a resident survived."""

    condition: str
    resident: str
    survived: Annotated[Interval, column(format=".2f", help="share of games, 95 % interval")]


class ComparisonRow(TypedDict):
    """Two conditions that differ in one thing, paired by repeat.

    In a pair, the same seed draws the supplies.
    """

    comparison: str
    games: int
    difference: Annotated[Interval, column("survivors more, 95 % by sign flips", ".2f")]
    """paired by repeat; all that the test of p does not reject"""
    effect: Annotated[float | None, column(format=".2f", help="Cohen's d for paired data")]
    p: Annotated[float, column("p, exchangeable in every repeat", ".3f")]
    p_adjusted: Annotated[
        float, column("p, adjusted", ".3f", "Holm's correction for all comparisons of this table")
    ]


class PriceRow(TypedDict):
    """The smallest bid that was served on a day, over games."""

    condition: str
    day: int
    games: Annotated[int, column(help="games in which somebody was served")]
    least: MeanColumn
    first_quartile: MeanColumn
    median: Annotated[float, column("smallest bid served, $", ".2f")]
    third_quartile: MeanColumn
    most: MeanColumn
    mean_of_medians: Annotated[
        float, column(format=".2f", help="of all days, the same in every row")
    ]


class ResidentRow(TypedDict):
    """How a resident did on a day: mean with two standard errors.

    The mean is over the games in which it was there.
    """

    condition: str
    resident: str
    day: int
    bid: Annotated[Interval | None, column("bid, $", ".2f")]
    health: Annotated[Interval | None, column("health, points", ".2f", "in the evening")]
    balance: Annotated[Interval | None, column("balance, $", ".2f", "in the evening")]


class MorningRow(TypedDict):
    """How scarce water was on a morning; the last one is that after the last day."""

    condition: str
    day: Annotated[int, column("morning of day")]
    rsr: Annotated[Interval, column("supply / need", ".2f")]
    """expected supply / needs of the living, mean with two standard errors"""
    rsr_start: Annotated[float, column(format=".2f", help="expected supply / needs of all")]


class DayRow(TypedDict):
    """A day of a game as one resident had it."""

    condition: str
    repeat: int
    day: int
    supply: int
    resident: str
    bid: Annotated[float | None, column("bid, $", ".2f")]
    served: Annotated[bool, column("got water")]
    health: Annotated[float, column("health, points", ".0f", "in the evening")]
    balance: Annotated[float, column("balance, $", ".2f", "in the evening")]
    dry_days: int
    reasons: Annotated[
        str, column(help="what a model said about its bid; empty where it gave no reasons")
    ]


class ExampleRow(DayRow):
    """One day of the first game in which reasons were given."""

    need: Annotated[float, column("need, units")]


class BaselineRow(TypedDict):
    """Mean survivors with one bidder in all seats."""

    bidder: Annotated[str, column("bidder in all seats")]
    supply: str
    survivors: MeanColumn


@dataclass(frozen=True)
class ConditionGames:
    """The games of one condition; `repeats` tells which repeat each row of the trace is.

    `reasons` are those of the games in which a seat gave any: by repeat, then by day, then by
    resident.
    """

    condition: WaterCondition
    repeats: tuple[int, ...]
    trace: Trace
    void: int = 0
    seed: int = 0
    reasons: Mapping[int, Sequence[Mapping[str, str]]] = field(default_factory=dict)

    @property
    def survivors(self) -> Floats:
        """How many survived, game by game."""
        return np.asarray(self.trace.survived.sum(axis=1), dtype=np.float64)

    def select_survivors(self, repeats: Iterable[int]) -> Floats:
        """Return how many survived in these repeats."""
        rows = [self.repeats.index(repeat) for repeat in repeats]
        return self.survivors[rows]

    @property
    def rsr_start(self) -> float:
        """The resource satisfaction rate when all are alive."""
        rules = self.trace.rules
        return (rules.low + rules.high) / 2 / sum(resident.need for resident in rules.residents)

    @property
    def rsr(self) -> Floats:
        """The satisfaction rate of every game on the morning of each day and after the last.

        NaN without living.
        """
        rules = self.trace.rules
        needs = np.asarray([resident.need for resident in rules.residents], dtype=np.float64)
        living = (
            np.concatenate([self.trace.present, self.trace.survived[:, None, :]], axis=1) @ needs
        )
        mean = (rules.low + rules.high) / 2
        return np.asarray(
            np.divide(mean, living, out=np.full(living.shape, np.nan), where=living > 0)
        )

    def average(
        self,
        values: Floats,
        figure: str,
        bounds: tuple[float, float] | None = None,
    ) -> Interval | None:
        """Average a metric over games, with an interval from resampling games.

        Returns None where no game has it.

        Within `bounds`, the least and the most that a game could give, games that all ended alike
        are no proof.
        """
        known = values[np.isfinite(values)]
        if not known.size:
            return None
        rng = np.random.default_rng(split(self.seed, "water", self.condition.name, figure))
        return (
            cluster_bootstrap(known, rng=rng)
            if bounds is None
            else bound_mean(known, bounds, rng=rng)
        )


def find_prices(trace: Trace) -> Floats:
    """Return the smallest bid that was served, games x days; NaN on days when nobody was."""
    served = np.where(trace.served, trace.bids, np.inf).min(axis=2)
    return np.where(np.isinf(served), np.nan, served)


class ConditionMetrics(TypedDict):
    """The indicators of a condition.

    How often each resident survived is in the frame `survival`.
    """

    games: int
    """games that count"""
    void: int
    """games in which a seat gave no usable answer; they enter no metric"""
    survivors: Annotated[Interval | None, column(format=".2f")]
    """mean number alive after the last day, 95 % interval over games"""
    rsr_start: Annotated[float, column("RSR at the start", ".2f")]
    """expected supply / needs of all"""
    rsr_end: Annotated[Interval | None, column("RSR at the end", ".2f")]
    """expected supply / needs of the survivors, where there are any"""
    median_price: Annotated[Interval | None, column("median price ($)", ".0f")]
    """a game's median over days of the smallest bid served, mean over games"""


def sum_up_condition(games: ConditionGames) -> ConditionMetrics:
    """Compute the indicators of a condition."""
    prices = [row[~np.isnan(row)] for row in find_prices(games.trace)]
    medians = np.array([np.median(row) for row in prices if row.size])
    everybody = float(len(games.trace.rules.residents))
    return ConditionMetrics(
        games=len(games.repeats),
        void=games.void,
        survivors=games.average(games.survivors, "survivors", (0.0, everybody)),
        rsr_start=games.rsr_start,
        rsr_end=games.average(games.rsr[:, -1], "rsr_end"),
        median_price=games.average(medians, "median_price"),
    )


def measure_water(config: WaterConfig, folder: RunFolder) -> Measured:
    """Rebuild every finished game, condition by condition."""
    readings = Readings()
    read: dict[tuple[bool, str], _ReadGames] = defaultdict(_ReadGames)
    for play in folder.sorted_plays():
        is_finished = any(readings.list_finished([play]))
        read[play.data["persona"], play.data["abundance"]].add(play, is_finished)

    measured = []
    games: list[WaterGameRow] = []
    for condition in config.conditions:
        known = read[condition.persona, condition.abundance]
        repeats = sorted(known.days)
        group = ConditionGames(
            condition,
            tuple(repeats),
            trace=rebuild_games(condition.rules, [known.days[repeat] for repeat in repeats]),
            void=len(known.void),
            seed=config.seed,
            reasons=known.reasons,
        )
        measured.append(group)
        games += _list_games(group, known.void)

    finished = [group for group in measured if group.repeats]
    residents_days = sum(int(group.trace.present.sum()) for group in finished)
    listed = finished if residents_days <= _MOST_DAY_ROWS else []

    def gather(
        row: type[R],
        list_rows: Callable[[ConditionGames], Iterable[R]],
        groups: Sequence[ConditionGames] = finished,
    ) -> Frame[R]:
        return Frame(row, [entry for group in groups for entry in list_rows(group)])

    frames = {
        "games": Frame(WaterGameRow, games),
        "survival": gather(SurvivalRow, _list_survival),
        "comparisons": Frame(ComparisonRow, _compare_conditions(config, finished)),
        "prices": gather(PriceRow, _list_prices),
        "residents": gather(ResidentRow, _list_residents),
        "mornings": gather(MorningRow, _list_mornings),
        "example": gather(ExampleRow, _list_example),
        "baselines": Frame(BaselineRow, list(_list_baselines(config)) if finished else []),
        "days": gather(DayRow, _list_days, listed),
        **readings.frames,
    }
    return Measured(
        frames,
        answered=sum(len(group.repeats) for group in measured),
        labels=("condition",),
        groups={(group.condition.name,): sum_up_condition(group) for group in measured},
    )


@dataclass
class _ReadGames:
    """The games of one condition as they were recorded, by their numbers."""

    days: dict[int, GameDays] = field(default_factory=dict)
    reasons: dict[int, list[dict[str, str]]] = field(default_factory=dict)
    void: list[int] = field(default_factory=list)

    def add(self, play: StoredPlay, is_finished: bool) -> None:
        """Add a game; of a void one only its number is kept."""
        repeat = play.data["repeat"]
        if not is_finished:
            self.void.append(repeat)
            return
        days: GameDays = []
        said: list[dict[str, str]] = []
        for submission in play.record.submissions:
            role = submission.role
            action = submission.decision.action
            if role == NATURE:
                days.append((action, {}))
                said.append({})
                continue
            if action != PASS:
                days[-1][1][role] = action
            if text := find_reasons(submission.decision.reasoning):
                said[-1][role] = text
        self.days[repeat] = days
        if any(said):
            self.reasons[repeat] = said


def _list_survival(group: ConditionGames) -> Iterator[SurvivalRow]:
    residents = group.trace.rules.residents
    for resident, alive in zip(residents, group.trace.survived.T, strict=True):
        yield SurvivalRow(
            condition=group.condition.name,
            resident=resident.name,
            survived=wilson(int(alive.sum()), len(group.repeats)),
        )


def rebuild_games(rules: WaterRules, games: Sequence[GameDays]) -> Trace:
    """Play the games again from their bids."""
    supply = np.zeros((len(games), rules.days))
    bids = np.full((len(games), rules.days, len(rules.residents)), np.nan)
    seats = {resident.name: seat for seat, resident in enumerate(rules.residents)}
    for row, days in enumerate(games):
        for day, (drawn, offers) in enumerate(days):
            supply[row, day] = drawn
            for role, bid in offers.items():
                bids[row, day, seats[role]] = bid

    def repeat_bids(morning: Morning) -> Floats:
        return bids[:, morning.day - 1]

    return run_many(rules, supply, repeat_bids)


def _list_games(group: ConditionGames, void: Sequence[int]) -> Iterator[WaterGameRow]:
    names = [resident.name for resident in group.trace.rules.residents]
    places = {repeat: place for place, repeat in enumerate(group.repeats)}
    last_rates = group.rsr[:, -1].tolist()
    for repeat in sorted([*group.repeats, *void]):
        row = WaterGameRow(
            condition=group.condition.name,
            abundance=group.condition.abundance,
            personas=group.condition.persona,
            repeat=repeat,
            survivors=None,
            rsr_start=group.rsr_start,
            rsr_end=None,
            alive=None,
        )
        if repeat in places:
            alive = group.trace.survived[places[repeat]]
            rate = last_rates[places[repeat]]
            row["survivors"] = int(alive.sum())
            row["rsr_end"] = None if np.isnan(rate) else rate
            row["alive"] = dict(zip(names, alive.tolist(), strict=True))
        yield row


def _compare_conditions(
    config: WaterConfig, groups: Sequence[ConditionGames]
) -> list[ComparisonRow]:
    """Compare conditions that differ in one thing; personas are none where nobody is told them."""
    rng = np.random.default_rng(split(config.seed, "water comparison"))
    compared = []
    for first, second in combinations(groups, 2):
        same_persona = first.condition.persona == second.condition.persona
        same_supply = first.condition.abundance == second.condition.abundance
        common = sorted(set(first.repeats) & set(second.repeats))
        if same_persona == same_supply or (same_supply and not config.models) or len(common) < 2:
            continue
        residents = len(config.town.residents)
        test = paired_difference(
            second.select_survivors(common),
            first.select_survivors(common),
            rng=rng,
            bounds=(-residents, residents),
        )
        compared.append((f"{second.condition.name} - {first.condition.name}", test))
    if not compared:
        return []
    rows = []
    adjusted = holm([test.p_value for _, test in compared]).tolist()
    for (name, test), p in zip(compared, adjusted, strict=True):
        row = ComparisonRow(
            comparison=name,
            games=test.n,
            difference=test.difference,
            effect=test.effect,
            p=test.p_value,
            p_adjusted=p,
        )
        rows.append(row)
    return rows


def _list_prices(group: ConditionGames) -> Iterator[PriceRow]:
    served = []
    for day, prices in enumerate(find_prices(group.trace).T, 1):
        known = prices[~np.isnan(prices)]
        if known.size:
            served.append((day, known))
    if not served:
        return
    medians = [np.median(prices) for _, prices in served]
    level = float(np.mean(medians))
    for day, prices in served:
        least, first, median, third, most = map(float, np.quantile(prices, [0, 0.25, 0.5, 0.75, 1]))
        yield PriceRow(
            condition=group.condition.name,
            day=day,
            games=prices.size,
            least=least,
            first_quartile=first,
            median=median,
            third_quartile=third,
            most=most,
            mean_of_medians=level,
        )


def _average(values: Floats, least: float = 0.0, most: float = np.inf) -> Interval | None:
    """Average what is known with two standard errors on each side, within what can be.

    None where nothing is known; one value says nothing of others.
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    mean = float(known.mean())
    if known.size == 1:
        return open_interval(mean, 1)
    reach = 2 * float(known.std(ddof=1)) / known.size**0.5
    return Interval(
        mean,
        max(mean - reach, least),
        high=min(mean + reach, most),
        level=_LEVEL,
        method="two standard errors",
        n=known.size,
    )


def _list_residents(group: ConditionGames) -> Iterator[ResidentRow]:
    trace = group.trace
    for seat, resident in enumerate(trace.rules.residents):
        for day in range(trace.rules.days):
            there = trace.present[:, day, seat]
            if there.any():
                earned = resident.salary * (day + 1)
                health = trace.health[there, day, seat]
                yield ResidentRow(
                    condition=group.condition.name,
                    resident=resident.name,
                    day=day + 1,
                    bid=_average(trace.bids[there, day, seat], most=earned),
                    health=_average(health, -np.inf, trace.rules.most_health),
                    balance=_average(trace.balance[there, day, seat], most=earned),
                )


def _list_mornings(group: ConditionGames) -> Iterator[MorningRow]:
    for day, rates in enumerate(group.rsr.T, 1):
        if (mean := _average(rates)) is not None:
            yield MorningRow(
                condition=group.condition.name,
                day=day,
                rsr=mean,
                rsr_start=group.rsr_start,
            )


def _list_days(group: ConditionGames) -> Iterator[DayRow]:
    trace = group.trace
    names = [resident.name for resident in trace.rules.residents]
    for game, day, seat in np.argwhere(trace.present).tolist():
        place = (game, day, seat)
        bid = float(trace.bids[place])
        said = group.reasons.get(group.repeats[game])
        yield DayRow(
            condition=group.condition.name,
            repeat=group.repeats[game],
            day=day + 1,
            supply=int(trace.supply[game, day]),
            resident=names[seat],
            bid=None if np.isnan(bid) else bid,
            served=bool(trace.served[place]),
            health=float(trace.health[place]),
            balance=float(trace.balance[place]),
            dry_days=int(trace.dry[place]),
            reasons=said[day].get(names[seat], "") if said else "",
        )


def _list_example(group: ConditionGames) -> Iterator[ExampleRow]:
    """Yield the day after a third of the game, as far as somebody gave reasons then.

    Else the last with reasons.
    """
    if not group.reasons:
        return
    repeat = min(group.reasons)
    by_day = enumerate(group.reasons[repeat], 1)
    explained = [day for day, by_resident in by_day if by_resident]
    third = group.trace.rules.days / 3
    day = next((day for day in explained if day >= third), explained[-1])
    needs = {resident.name: resident.need for resident in group.trace.rules.residents}
    for row in _list_days(group):
        if (row["repeat"], row["day"]) == (repeat, day):
            yield ExampleRow(**row, need=needs[row["resident"]])


def _list_baselines(config: WaterConfig) -> Iterator[BaselineRow]:
    """Yield how many survive with one bidder in all seats.

    The solver where it is solved already, or plays itself.
    """
    supplies = {condition.supply: condition.rules for condition in config.conditions}
    solved = "solver" in config.seats.values() or all(map(kept_for, supplies.values()))
    games = min(config.repeats, _MOST_BASELINE_GAMES)
    for bidder in BIDDERS:
        if bidder == "solver" and not solved:
            continue
        for supply, rules in supplies.items():
            survivors = _play_baseline(rules, bidder, config.seed, games)
            yield BaselineRow(bidder=bidder, supply=supply, survivors=survivors)


@lru_cache(maxsize=256)
def _play_baseline(rules: WaterRules, bidder: str, seed: int, games: int) -> float:
    """Return the mean survivors; a run that is looked at again costs no further games."""
    seeds = [split(seed, "water", repeat) for repeat in range(games)]
    trace = play_many(rules, [bidder] * len(rules.residents), seeds)
    survivors = trace.survived.sum(axis=1)
    return float(survivors.mean())
