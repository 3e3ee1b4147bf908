"""The Water Allocation Challenge of ALYMPICS, found again from its recorded games.

The recorded bids are played again by our rules, the replies are read by our rules, and the
indicators of the paper are worked out from the result. Published values are those that the paper
gives in its text; its table of survival rates is a picture there. A published rate over 10 games
agrees with a smaller sample where the games that are not at hand can make up the difference.

`alympics_logs` says in which forms games are recorded. A bid above the balance was void there; a
replay takes it for no bid. In a few rounds the record serves one of two tied bidders twice and
leaves the other out: those are told apart from true differences.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import ABUNDANCE, RESIDENTS, Day, Drought, WaterRules, allocate
from bestresponse.players.llm.bids import read_bid
from bestresponse.report.document import Cell, Column, Table
from bestresponse.studies.reproduce.alympics_logs import read_recorded_games
from bestresponse.studies.reproduce.reproduction import Check, Reproduction, check_equal

CITATION = (
    "S. Mao et al., ALYMPICS: LLM Agents Meet Game Theory, COLING 2025, pp. 2845-2866"
    " (arXiv:2311.03220)"
)
PUBLISHED_GAMES = 10
PUBLISHED_RSR = {"low": 0.3, "medium": 0.4, "high": 0.5}
PUBLISHED_SURVIVAL = {(False, "low", "Alex"): 0.10, (False, "low", "Bob"): 0.10}
_SURE = 0.05
"""How often a trend this clear or clearer may come about by chance, so that it still counts as
one."""
_NAMES = tuple(resident.name for resident in RESIDENTS)


@dataclass(frozen=True, slots=True)
class ReplayedTown:
    """A recorded game played again: its final state, left-out days, and differences.

    Days with a tied bidder are left out, and the differences are true ones.
    """

    persona: bool
    abundance: str
    end: Drought
    ties: tuple[int, ...]
    differences: tuple[str, ...]


def replay_towns(rounds: Iterable[JsonMapping]) -> list[ReplayedTown]:
    """Play all recorded games again, days in order."""
    games: dict[tuple[bool, int, int, int], list[JsonMapping]] = defaultdict(list)
    for row in rounds:
        games[row["persona"], row["low"], row["high"], row["number"]].append(row)
    towns = []
    names = {limits: name for name, limits in ABUNDANCE.items()}
    for (persona, low, high, number), days in games.items():
        label = f"{'with' if persona else 'without'} persona, {low}-{high}, game {number}"
        if (low, high) not in names:
            known = ", ".join(f"{least}-{most}" for least, most in names)
            raise UsageError(f"{label}: the published supplies are {known}")
        game = Water(WaterRules(low=low, high=high, days=len(days)))
        state = game.start()
        ties = list[int]()
        differences = list[str]()
        for day in sorted(days, key=lambda day: int(day["day"])):
            state, tied = _replay_day(game, state, day)
            ties += [day["day"]] if tied else []
            differences += [
                f"{label}, day {day['day']}: {what}" for what in _find_differences(game, state, day)
            ]
        towns.append(
            ReplayedTown(
                persona,
                names[low, high],
                state,
                tuple(ties),
                tuple(differences),
            )
        )
    return towns


def _replay_day(game: Water, state: Drought, row: JsonMapping) -> tuple[Drought, bool]:
    """Play the recorded bids that count on the recorded supply.

    Say whether the record leaves a tied bidder out.
    """
    state = game.apply(state, {NATURE: row["supply"]})
    bids = []
    for role, standing in zip(game.roles, state.standings, strict=True):
        bid = row["bids"].get(role)
        counts = bid is not None and standing.alive and 0 <= bid <= standing.balance
        bids.append(float(bid) if counts else None)
    winners = allocate(game.rules.residents, bids, row["supply"])
    announced = tuple(role in row["winners"] for role in game.roles)
    served = {bid for bid, named in zip(bids, announced, strict=True) if named}
    lacking = []
    added = False
    for bid, won, named in zip(bids, winners, announced, strict=True):
        if won and not named:
            lacking.append(bid)
        if named and not won:
            added = True
    # All that the record lacks are winners who bid exactly what an announced winner bid.
    tied = bool(lacking) and not added and served.issuperset(lacking)
    return game.settle(state, tuple(bids), announced if tied else winners), tied


def _find_differences(game: Water, state: Drought, row: JsonMapping) -> Iterator[str]:
    """Yield in what the day that was played last differs from the record."""
    day = state.past[-1]
    won = sorted(role for role, served in zip(game.roles, day.winners, strict=True) if served)
    if won != sorted(set(row["winners"])):
        yield f"served were {', '.join(won) or 'none'}, not {', '.join(row['winners']) or 'none'}"
    living = {role for role, present in zip(game.roles, day.present, strict=True) if present}
    if living != set(row["bids"]):
        yield f"in the game were {', '.join(sorted(living))}, not {', '.join(sorted(row['bids']))}"
    for role, after in zip(game.roles, day.after, strict=True):
        if role in row.get("after", {}):
            replayed = (after.balance, after.health, after.dry_days + 1)
            expected = tuple(
                row["after"][role][name] for name in ("balance", "hp", "dry_days_plus_one")
            )
            if not all(
                math.isclose(a, b, abs_tol=1e-6) for a, b in zip(replayed, expected, strict=True)
            ):
                yield f"{role} has balance, health, dry days + 1 of {replayed}, not {expected}"


@dataclass(frozen=True)
class TownSetting:
    """The replayed games of one setting."""

    persona: bool
    abundance: str
    games: Sequence[ReplayedTown]

    @property
    def name(self) -> str:
        """The name of the setting in reports."""
        low, high = ABUNDANCE[self.abundance]
        return f"{self.abundance} ({low}-{high}), {'with' if self.persona else 'without'} personas"

    @property
    def alive(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Who is alive at the end, games x residents."""
        return np.array(
            [[s.alive for s in game.end.standings] for game in self.games], dtype=np.bool_
        )

    @property
    def survivors(self) -> float:
        """The mean number of residents who are alive at the end."""
        return float(self.alive.sum(axis=1).mean())

    def find_price(self, days: slice = slice(None)) -> float:
        """Return the median over days and games of the smallest bid served."""
        served = [
            find_day_price(day)
            for game in self.games
            for day in game.end.past[days]
            if any(day.winners)
        ]
        return float(np.median(served))

    @property
    def needs(self) -> Sequence[float]:
        """What the survivors of each game need a day; games without survivors are left out."""
        needs = self.alive @ np.array([resident.need for resident in RESIDENTS])
        return [float(need) for need in needs if need > 0]

    @property
    def rsr_end(self) -> float:
        """RSR_E: the expected supply over the needs of the survivors, mean over games."""
        supply = sum(ABUNDANCE[self.abundance]) / 2
        return float(np.mean([supply / need for need in self.needs])) if self.needs else math.nan

    @property
    def daily_medians(self) -> list[float]:
        """The median over games of the smallest bid served, day by day.

        Days on which nobody was are left out.
        """
        by_day: dict[int, list[float]] = defaultdict(list)
        for day in (day for game in self.games for day in game.end.past if any(day.winners)):
            by_day[day.number].append(find_day_price(day))
        return [float(np.median(by_day[number])) for number in sorted(by_day)]

    @property
    def price_rise(self) -> float:
        """How far the daily median rises above that of the first day."""
        medians = self.daily_medians
        return max(medians) - medians[0] if medians else math.nan


def find_day_price(day: Day) -> float:
    """Return the smallest bid that was served on a day on which somebody was."""
    return min(
        bid for bid, won in zip(day.bids, day.winners, strict=True) if won and bid is not None
    )


Settings = Mapping[tuple[bool, str], TownSetting]


def reproduce_alympics(folder: Path) -> Reproduction:
    """Replay, read and compare everything in `folder`."""
    recorded = read_recorded_games(folder)
    towns = replay_towns(recorded.rounds)
    settings = {}
    for key in product((False, True), ABUNDANCE):
        if games := [town for town in towns if (town.persona, town.abundance) == key]:
            settings[key] = TownSetting(*key, games)
    checks = [*_check_rules(towns), *_check_reading(recorded.replies), *_check_survival(settings)]
    checks += _check_statements(settings)
    columns = (
        Column("setting"),
        Column("games", "right"),
        *(
            Column(name, "right", format=".2f")
            for name in ("mean survivors", *_NAMES, "RSR_S", "RSR_E")
        ),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            setting.name,
            len(setting.games),
            setting.survivors,
            *map(float, setting.alive.mean(axis=0)),
            PUBLISHED_RSR[setting.abundance],
            setting.rsr_end,
        )
        for setting in settings.values()
    )
    return Reproduction(
        "alympics",
        CITATION,
        tuple(checks),
        (Table(columns, rows, "Survival by setting"),),
    )


def _check_rules(towns: Sequence[ReplayedTown]) -> Iterator[Check]:
    rounds = sum(len(town.end.past) for town in towns)
    differences = [what for town in towns for what in town.differences]
    same = rounds - len({what.partition(":")[0] for what in differences})
    ties = sum(len(town.ties) for town in towns)
    remark = f"in {ties} of them the record serves one of two tied bidders twice"
    remark += f"; first difference: {differences[0]}" if differences else ""
    yield check_equal("rounds with the recorded winners, balances and health", rounds, same, remark)
    for abundance, published in PUBLISHED_RSR.items():
        ratio = sum(ABUNDANCE[abundance]) / 2 / sum(resident.need for resident in RESIDENTS)
        agrees = abs(ratio - published) < 1e-9
        yield Check(
            f"RSR at the start, {abundance}",
            published,
            ratio,
            agrees,
            tolerance="to 1e-9",
        )


def _check_reading(replies: Iterable[JsonMapping]) -> Iterator[Check]:
    counts: Counter[str] = Counter()
    for row in replies:
        named = read_bid(row["reply"])
        if named is None:
            counts["unread"] += 1
            continue
        bid = 0.0 if named.value == PASS else float(named.value)
        counts["right" if bid == row["bid"] else "wrong"] += 1
    total = counts.total()
    if total:
        right = counts["right"]
        wrong = counts["wrong"]
        remark = f"{right} of {total}; {wrong} read wrongly, {counts['unread']} not read"
        enough = right >= 0.98 * total and wrong < 0.005 * total
        tolerance = "at least 98 % are read, less than 0.5 % of all wrongly"
        what = "share of recorded bids that are read from the replies"
        yield Check(
            what,
            1.0,
            found=right / total,
            agrees=enough,
            remark=remark,
            tolerance=tolerance,
        )


def _check_survival(settings: Settings) -> Iterator[Check]:
    for (persona, abundance, resident), published in PUBLISHED_SURVIVAL.items():
        setting = settings.get((persona, abundance))
        if setting is None:
            continue
        games = len(setting.games)
        alive = int(setting.alive[:, _NAMES.index(resident)].sum())
        unseen = max(PUBLISHED_GAMES - games, 0)
        agrees = alive <= round(published * PUBLISHED_GAMES) <= alive + unseen
        remark = f"{alive} of {games} games; {PUBLISHED_GAMES} were published" if unseen else ""
        tolerance = (
            "equal, or the games that are not at hand can make up the difference"
            if unseen
            else "equal"
        )
        yield Check(
            f"survival of {resident}, {setting.name}",
            published,
            found=alive / games,
            agrees=agrees,
            remark=remark,
            tolerance=tolerance,
        )


def _check_statements(settings: Settings) -> Iterator[Check]:
    """Decide on the games at hand what the paper states in words."""
    if len(settings) < 6:
        return
    for check in _list_statements(settings):
        yield (
            check
            if check.agrees
            else replace(check, remark=_add_missing_games(settings, check.remark))
        )


def _add_missing_games(settings: Settings, remark: str) -> str:
    """Say with a statement that differs how many of the published games it was decided on."""
    fewest = min(len(setting.games) for setting in settings.values())
    if fewest >= PUBLISHED_GAMES:
        return remark
    missing = (
        f"decided on {fewest} of the {PUBLISHED_GAMES} games of each setting; the others are not at"
        " hand"
    )
    return f"{remark}; {missing}" if remark else missing


def _list_statements(settings: Settings) -> Iterator[Check]:
    """Compare what the paper states, one by one."""

    def over(persona: bool, name: str) -> float:
        return float(
            np.mean(
                [settings[persona, key].alive[:, _NAMES.index(name)].mean() for key in ABUNDANCE]
            )
        )

    def survivors(persona: bool, abundance: str) -> float:
        return settings[persona, abundance].survivors

    low, mid, high = ABUNDANCE
    yield _more(
        "fewer survive with low supply than with medium",
        survivors(False, mid),
        survivors(False, low),
    )
    yield _more(
        "fewer survive with low supply than with high",
        survivors(False, high),
        survivors(False, low),
    )
    for poor in ("Alex", "Bob"):
        for rich in ("Cindy", "David", "Eric"):
            what = f"without personas {rich} survives more often than {poor}"
            yield _more(what, over(False, rich), over(False, poor))
    yield _more(
        "personas raise survival with low supply",
        survivors(True, low),
        survivors(False, low),
    )
    yield _more(
        "personas lower survival with medium supply",
        survivors(False, mid),
        survivors(True, mid),
    )
    for name in ("Cindy", "David"):
        yield _more(
            f"{name} survives less often with personas",
            over(False, name),
            over(True, name),
        )
    yield _more("Eric survives more often with personas", over(True, "Eric"), over(False, "Eric"))
    for persona in (False, True):
        condition = "with personas" if persona else "without personas"
        prices = (settings[persona, low].find_price(), settings[persona, high].find_price())
        yield _more(f"water is dearer with low supply than with high, {condition}", *prices)
        early, late = (
            settings[persona, low].find_price(days) for days in (slice(5, 10), slice(15, 20))
        )
        yield _more(
            f"with low supply the price falls after day 10, {condition}",
            early,
            late,
            "days 6-10 and 16-20",
        )
        yield _check_rising(settings[persona, high], condition)
        rises = (settings[persona, low].price_rise, settings[persona, high].price_rise)
        what = f"the price rises further with low supply than with high, {condition}"
        yield _more(what, *rises, "from the daily median of day 1 to the highest")
        for less, more in ((low, mid), (mid, high)):
            ends = (settings[persona, less].rsr_end, settings[persona, more].rsr_end)
            what = f"RSR at the end is higher with {less} supply than with {more}, {condition}"
            yield _more(what, *ends, "mean over games with survivors")


def _check_rising(setting: TownSetting, condition: str) -> Check:
    """Decide whether prices rise with abundant water.

    Tests the daily medians for a trend by the test of Mann and Kendall.
    """
    from scipy.stats import kendalltau  # takes a second: only where a trend is tested

    medians = setting.daily_medians
    trend = kendalltau(range(len(medians)), medians)
    tau = (
        0.0 if math.isnan(trend.statistic) else float(trend.statistic)
    )  # prices that never change have no trend
    steps = sum(later >= earlier for earlier, later in pairwise(medians))
    remark = (
        f"daily medians from {medians[0]:g} to {medians[-1]:g}; {steps} of {len(medians) - 1} steps"
        " do not fall"
    )
    if steps < len(medians) - 1:
        remark += (
            ", so the trend is upward, but not monotonic from day to day as the paper words it"
        )
    agrees = bool(tau > 0 and trend.pvalue < _SURE)
    tolerance = f"Kendall's tau of price and day is positive, p < {_SURE:g}"
    what = f"with high supply the price rises throughout, {condition}"
    return Check(
        what,
        "stated",
        found=f"tau {tau:.2f}",
        agrees=agrees,
        remark=remark,
        tolerance=tolerance,
    )


def _more(what: str, larger: float, smaller: float, remark: str = "") -> Check:
    sign = ">" if larger > smaller else "<="
    return Check(
        what,
        "stated",
        found=f"{larger:.2f} {sign} {smaller:.2f}",
        agrees=larger > smaller,
        remark=remark,
        tolerance="the first is larger",
    )
