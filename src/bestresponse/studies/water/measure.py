"""The indicators of the published study, from recorded games.

    RSR        expected daily supply / needs of the living, at the start and after the last day (paper, eq. 2)
    survivors  how many are alive after the last day
    p_n        the smallest bid that was served on day n

Games are rebuilt from the recorded bids, many at once. A void game enters no figure; it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.core.seeds import split
from bestresponse.games.water.batch import Floats, Trace, run_many
from bestresponse.games.water.rules import WaterRules
from bestresponse.players.llm.reading import find_reasons
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.reporting.answers import Answers, count_answers
from bestresponse.studies.water.config import Setting, WaterConfig

__all__ = [
    "Example",
    "GameRow",
    "Measured",
    "MeasuredSetting",
    "lowest_served",
    "measure",
    "rsr",
    "rsr_by_day",
    "rsr_end",
    "trace_of",
]


GameDays = list[tuple[int, dict[str, float]]]
"""The supply and the bids of every day."""


@dataclass(frozen=True)
class MeasuredSetting:
    """The games of one setting; `repeats` tells which repeat each row of the trace is."""

    setting: Setting
    repeats: tuple[int, ...]
    trace: Trace
    void: int
    seed: int
    example: Example | None = None

    @property
    def survivors(self) -> Floats:
        """How many survived, game by game."""
        counts: Floats = self.trace.survived.sum(axis=1).astype(np.float64)
        return counts

    def average(self, values: Floats, figure: str) -> Interval | None:
        """Average a figure over games, with an interval from resampling games; None where no game has it."""
        known = values[np.isfinite(values)]
        rng = np.random.default_rng(split(self.seed, "water", self.setting.name, figure))
        return cluster_bootstrap(known, rng=rng) if known.size else None


@dataclass(frozen=True, slots=True)
class Example:
    """One day of one game of a setting (`row` of its trace), with the reasons that seats gave for their bids."""

    row: int
    day: int
    reasons: Mapping[str, str]


class GameRow(TypedDict):
    """One game of a setting."""

    abundance: str
    personas: bool
    repeat: int
    survivors: int
    rsr_start: float
    rsr_end: float
    alive: dict[str, bool]


@dataclass(frozen=True)
class Measured:
    """A whole run."""

    config: WaterConfig
    settings: tuple[MeasuredSetting, ...]
    answers: Mapping[str, Answers]

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(len(one.repeats) for one in self.settings)

    def list_games(self) -> Iterator[GameRow]:
        """Yield one row for each game; `alive` says who survived."""
        for one in self.settings:
            start, end = rsr(one.trace.rules), rsr_end(one.trace)
            for row, repeat in enumerate(one.repeats):
                alive = zip(one.trace.rules.residents, one.trace.survived[row], strict=True)
                yield GameRow(
                    abundance=one.setting.abundance,
                    personas=one.setting.persona,
                    repeat=repeat,
                    survivors=int(one.survivors[row]),
                    rsr_start=start,
                    rsr_end=float(end[row]),
                    alive={resident.name: bool(lives) for resident, lives in alive},
                )

    def list_days(self) -> dict[str, list[str | float | None]]:
        """List every game, day and resident who was there, as columns of equal length."""
        columns: dict[str, list[str | float | None]] = {}
        for one in self.settings:
            for name, values in _list_days(one).items():
                columns.setdefault(name, []).extend(values)
        return columns


def _list_days(one: MeasuredSetting) -> dict[str, Sequence[str | float | None]]:
    t = one.trace
    there = np.nonzero(t.present)
    games, days, seats = there
    names = [resident.name for resident in t.rules.residents]
    return {
        "abundance": [one.setting.abundance] * len(games),
        "personas": [one.setting.persona] * len(games),
        "repeat": np.asarray(one.repeats, dtype=np.int64)[games].tolist(),
        "day": (days + 1).tolist(),
        "resident": [names[seat] for seat in seats.tolist()],
        "supply": t.supply[games, days].astype(np.int64).tolist(),
        "bid": [None if bid != bid else bid for bid in t.bids[there].tolist()],
        "served": t.served[there].tolist(),
        "balance": t.balance[there].tolist(),
        "health": t.health[there].tolist(),
        "dry_days": t.dry[there].astype(np.int64).tolist(),
    }


def measure(config: WaterConfig, plays: Iterable[JsonMapping]) -> Measured:
    """Rebuild every finished game, grouped by setting; `plays` are the lines of a run's records, as plain data."""
    found: dict[tuple[bool, str], list[tuple[int, GameDays]]] = {}
    void: Counter[tuple[bool, str]] = Counter()
    spoken: dict[tuple[bool, str], tuple[int, Sequence[JsonMapping]]] = {}
    answers: dict[str, Answers] = {}
    for play in plays:
        data, submissions = play["data"], play["record"]["submissions"]
        key = (data["persona"], data["abundance"])
        names = dict(zip((resident[0] for resident in data["rules"]["residents"]), data["players"], strict=True))
        count_answers(answers, submissions, names)
        if play["record"]["void"]:
            void[key] += 1
        else:
            found.setdefault(key, []).append((data["repeat"], _bids_only(submissions)))
            if data["repeat"] < spoken.get(key, (np.inf, ()))[0] and any(s.get("reasoning") for s in submissions):
                spoken[key] = data["repeat"], submissions
    settings = []
    for setting in config.settings:
        key = (setting.persona, setting.abundance)
        games = sorted(found.pop(key, []), key=lambda game: game[0])
        trace = trace_of(setting.rules, [days for _, days in games])
        repeats = tuple(repeat for repeat, _ in games)
        example = _choose_example(repeats, trace, *spoken[key]) if key in spoken else None
        settings.append(MeasuredSetting(setting, repeats, trace, void[key], config.seed, example))
    return Measured(config, tuple(settings), answers)


def _choose_example(
    repeats: Sequence[int], trace: Trace, repeat: int, submissions: Sequence[JsonMapping]
) -> Example | None:
    """Choose the day after a third of the game, as far as somebody gave reasons then; else the last with reasons."""
    days: list[dict[str, str]] = []
    for given in submissions:
        if given["role"] == NATURE:
            days.append({})
        elif said := find_reasons(given.get("reasoning", "")):
            days[-1][given["role"]] = said
    told = [day for day, said in enumerate(days) if said]
    if not told:
        return None
    day = next((day for day in told if day + 1 >= trace.rules.days / 3), told[-1])
    return Example(repeats.index(repeat), day, days[day])


def rsr_by_day(trace: Trace) -> Floats:
    """Return the satisfaction rate of every game on the morning of each day and after the last; NaN without living."""
    needs = np.asarray([resident.need for resident in trace.rules.residents], dtype=np.float64)
    living = np.concatenate([trace.present, trace.survived[:, None, :]], axis=1) @ needs
    mean = (trace.rules.low + trace.rules.high) / 2
    rates: Floats = np.divide(mean, living, out=np.full(living.shape, np.nan), where=living > 0)
    return rates


def _bids_only(submissions: Iterable[JsonMapping]) -> GameDays:
    """The supplies and bids, day by day: all that a rebuilt game needs."""
    days: GameDays = []
    for given in submissions:
        if given["role"] == NATURE:
            days.append((given["action"], {}))
        elif given["action"] != PASS:
            days[-1][1][given["role"]] = given["action"]
    return days


def trace_of(rules: WaterRules, games: Sequence[GameDays]) -> Trace:
    """The games played again from their bids."""
    supply = np.zeros((len(games), rules.days))
    bids = np.full((len(games), rules.days, len(rules.residents)), np.nan)
    seats = {resident.name: seat for seat, resident in enumerate(rules.residents)}
    for row, days in enumerate(games):
        for day, (drawn, offers) in enumerate(days):
            supply[row, day] = drawn
            for role, bid in offers.items():
                bids[row, day, seats[role]] = bid
    return run_many(rules, supply, lambda morning: bids[:, morning.day - 1])


def rsr(rules: WaterRules) -> float:
    """The resource satisfaction rate when all are alive.

    >>> rsr(WaterRules())
    0.4
    """
    return (rules.low + rules.high) / 2 / sum(resident.need for resident in rules.residents)


def rsr_end(trace: Trace) -> Floats:
    """The resource satisfaction rate of each game after the last day; infinite where nobody is left."""
    needs = np.asarray([resident.need for resident in trace.rules.residents])
    left = (trace.survived * needs).sum(axis=1)
    mean = (trace.rules.low + trace.rules.high) / 2
    rates: Floats = np.divide(mean, left, out=np.full(len(left), np.inf), where=left > 0)
    return rates


def lowest_served(trace: Trace) -> Floats:
    """The smallest bid that was served, games x days; NaN on days when nobody was."""
    served = np.where(trace.served, trace.bids, np.inf).min(axis=2)
    return np.where(np.isinf(served), np.nan, served)
