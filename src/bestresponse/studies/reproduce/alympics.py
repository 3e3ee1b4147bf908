"""The Water Allocation Challenge of ALYMPICS, found again from its recorded games.

The recorded bids are played again by our rules, the replies are read by our rules, and the indicators of the paper are
worked out from the result. Published values are those that the paper gives in its text; its table of survival rates is
a picture there. A published rate over 10 games agrees with a smaller sample where the games that are not at hand can
make up the difference.

A folder of recorded games holds `rounds.jsonl`, one line a day (`persona`, `low`, `high`, `number`, `day`, `supply`,
`bids`, `winners`, `after` with `balance`, `hp` and `dry_days_plus_one`), and `replies.jsonl`, one line a bid (`who`,
`day`, `reply`, `bid`). A bid above the balance was void there; a replay takes it for no bid. In a few rounds the
record serves one of two tied bidders twice and leaves the other out: those are told apart from true differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import ABUNDANCE, RESIDENTS, Drought, WaterRules, allocate
from bestresponse.players.llm.reading import read_bid
from bestresponse.report.document import Column, Table
from bestresponse.report.stats.statistics import wilson
from bestresponse.studies.reproduce.reproduction import Check, Reproduction, read_records


@dataclass(frozen=True, slots=True)
class RecordedTown:
    """One game: its setting and its days as they stand in the file."""

    persona: bool
    low: int
    high: int
    number: int
    days: tuple[JsonMapping, ...]

    @property
    def label(self) -> str:
        """The name of the game in reports."""
        return f"{'with' if self.persona else 'without'} persona, {self.low}-{self.high}, game {self.number}"


@dataclass(frozen=True, slots=True)
class ReplayedTown:
    """A game played again: the state it ends in, rounds with a tied bidder left out, and true differences."""

    game: RecordedTown
    end: Drought
    ties: tuple[int, ...]
    differences: tuple[str, ...]


def read_towns(folder: Path) -> tuple[RecordedTown, ...]:
    """The games of `folder`, days in order."""
    games: dict[tuple[bool, int, int, int], list[JsonMapping]] = {}
    for row in read_records(folder / "rounds.jsonl", *_FIELDS):
        games.setdefault((row["persona"], row["low"], row["high"], row["number"]), []).append(row)
    return tuple(
        RecordedTown(*key, tuple(sorted(rows, key=lambda row: int(row["day"])))) for key, rows in games.items()
    )


def read_replies(folder: Path) -> Iterator[JsonMapping]:
    """The replies of `folder`, each with the bid that was taken from it."""
    return read_records(folder / "replies.jsonl", "who", "reply", "bid")


def replay_town(recorded: RecordedTown, rules: WaterRules | None = None) -> ReplayedTown:
    """Play the recorded bids on the recorded supplies and compare every day with the record."""
    base = rules or WaterRules()
    game = Water(WaterRules(base.residents, recorded.low, recorded.high, len(recorded.days)))
    state, ties, differences = game.start(), [], []
    for row in recorded.days:
        state = game.apply(state, {NATURE: row["supply"]})
        bids = _bids(game, state, row["bids"])
        winners = allocate(game.rules.residents, bids, row["supply"])
        announced = tuple(role in row["winners"] for role in game.roles)
        if winners != announced and _tied_bidder_left_out(bids, winners, announced):
            ties.append(row["day"])
            winners = announced
        state = game.settle(state, bids, winners)
        differences += [f"day {row['day']}: {what}" for what in _compare(game, state, row)]
    return ReplayedTown(recorded, state, tuple(ties), tuple(differences))


def _bids(game: Water, state: Drought, given: Mapping[str, float]) -> tuple[float | None, ...]:
    """The recorded bids that count."""
    return tuple(
        float(given[role]) if role in given and standing.alive and 0 <= given[role] <= standing.balance else None
        for role, standing in zip(game.roles, state.standings, strict=True)
    )


def _tied_bidder_left_out(
    bids: tuple[float | None, ...], winners: tuple[bool, ...], announced: tuple[bool, ...]
) -> bool:
    """Whether all that the record lacks are winners who bid exactly what an announced winner bid."""
    served = {bid for bid, named in zip(bids, announced, strict=True) if named}
    lacking = [bid for bid, won, named in zip(bids, winners, announced, strict=True) if won and not named]
    added = any(named and not won for won, named in zip(winners, announced, strict=True))
    return bool(lacking) and not added and all(bid in served for bid in lacking)


def _compare(game: Water, state: Drought, row: JsonMapping) -> Iterable[str]:
    day = state.past[-1]
    won = sorted(role for role, served in zip(game.roles, day.winners, strict=True) if served)
    if won != sorted(set(row["winners"])):
        yield f"served were {', '.join(won) or 'none'}, not {', '.join(row['winners']) or 'none'}"
    living = {role for role, present in zip(game.roles, day.present, strict=True) if present}
    if living != set(row["bids"]):
        yield f"in the game were {', '.join(sorted(living))}, not {', '.join(sorted(row['bids']))}"
    for role, after in zip(game.roles, day.after, strict=True):
        told = row.get("after", {}).get(role)
        if told is None:
            continue
        found = (after.balance, after.health, after.dry_days + 1)
        expected = (told["balance"], told["hp"], told["dry_days_plus_one"])
        if not all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(found, expected, strict=True)):
            yield f"{role} has balance, health, dry days + 1 of {found}, not {expected}"


CITATION = "S. Mao et al., ALYMPICS: LLM Agents Meet Game Theory, COLING 2025, pp. 2845-2866 (arXiv:2311.03220)"
PUBLISHED_GAMES = 10
PUBLISHED_RSR = {"low": 0.3, "medium": 0.4, "high": 0.5}
PUBLISHED_SURVIVAL = {(False, "low", "Alex"): 0.10, (False, "low", "Bob"): 0.10}

_FIELDS = ("persona", "low", "high", "number", "day", "supply", "bids", "winners")
_NAMES = tuple(resident.name for resident in RESIDENTS)


@dataclass(frozen=True)
class _Group:
    """The replayed games of one setting."""

    persona: bool
    abundance: str
    games: tuple[ReplayedTown, ...]

    @property
    def name(self) -> str:
        low, high = ABUNDANCE[self.abundance]
        return f"{self.abundance} ({low}-{high}), {'with' if self.persona else 'without'} personas"

    @property
    def alive(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Games x residents."""
        return np.array([[s.alive for s in game.end.standings] for game in self.games], dtype=np.bool_)

    @property
    def survivors(self) -> float:
        return float(self.alive.sum(axis=1).mean())

    def prices(self, days: slice = slice(None)) -> float:
        """The median over days and games of the smallest bid served."""
        served = [
            min(bid for bid, won in zip(day.bids, day.winners, strict=True) if won and bid is not None)
            for game in self.games
            for day in game.end.past[days]
            if any(day.winners)
        ]
        return float(np.median(served))


def reproduce(folder: Path) -> Reproduction:
    """Replay, read and compare everything in `folder`."""
    games = read_towns(folder)
    groups = _groups([replay_town(game) for game in games])
    reading = _reading(folder)
    checks = [*_rule_checks(groups), *_reading_checks(reading), *_survival_checks(groups), *_statements(groups)]
    detail: JsonObject = {
        "games": len(games),
        "rounds": sum(len(game.days) for game in games),
        "settings": [_plain(group) for group in groups.values()],
        "replay": _replay_counts(groups),
        "reading": reading,
    }
    return Reproduction("alympics", CITATION, tuple(checks), (_survival_table(groups),), detail)


Groups = dict[tuple[bool, str], _Group]


def _groups(replays: Iterable[ReplayedTown]) -> Groups:
    found: dict[tuple[bool, str], list[ReplayedTown]] = {}
    for one in replays:
        found.setdefault((one.game.persona, _abundance(one.game)), []).append(one)
    order = [(persona, abundance) for persona in (False, True) for abundance in ABUNDANCE]
    return {key: _Group(*key, tuple(found[key])) for key in order if key in found}


def _abundance(game: RecordedTown) -> str:
    for name, bounds in ABUNDANCE.items():
        if bounds == (game.low, game.high):
            return name
    known = ", ".join(f"{low}-{high}" for low, high in ABUNDANCE.values())
    raise UsageError(f"{game.label}: the published supplies are {known}")


def _replay_counts(groups: Groups) -> JsonObject:
    replays = [game for group in groups.values() for game in group.games]
    ties = sum(len(one.ties) for one in replays)
    differences = [f"{one.game.label}, {what}" for one in replays for what in one.differences]
    return {"ties_with_a_bidder_named_twice": ties, "differences": differences}


def _rule_checks(groups: Groups) -> Iterable[Check]:
    counts = _replay_counts(groups)
    rounds = sum(len(game.game.days) for group in groups.values() for game in group.games)
    same = rounds - len({what.partition(":")[0] for what in counts["differences"]})
    remark = f"in {counts['ties_with_a_bidder_named_twice']} of them the record serves one of two tied bidders twice"
    yield Check("rounds with the recorded winners, balances and health", rounds, same, same == rounds, remark)
    for abundance, published in PUBLISHED_RSR.items():
        low, high = ABUNDANCE[abundance]
        found = (low + high) / 2 / sum(resident.need for resident in WaterRules().residents)
        yield Check(
            f"RSR at the start, {abundance}", published, found, abs(found - published) < 1e-9, tolerance="to 1e-9"
        )


def _reading(folder: Path) -> dict[str, int]:
    counts = {"replies": 0, "right": 0, "wrong": 0, "unread": 0}
    if not (folder / "replies.jsonl").exists():
        return counts
    for row in read_replies(folder):
        named = read_bid(row["reply"])
        counts["replies"] += 1
        if named is None:
            counts["unread"] += 1
        else:
            bid = 0.0 if named.value == PASS else float(named.value)
            counts["right" if bid == row["bid"] else "wrong"] += 1
    return counts


def _reading_checks(counts: dict[str, int]) -> Iterable[Check]:
    if counts["replies"]:
        remark = (
            f"{counts['right']} of {counts['replies']}; {counts['wrong']} read wrongly, {counts['unread']} not read"
        )
        right, wrong = counts["right"] / counts["replies"], counts["wrong"] / counts["replies"]
        enough = right >= 0.98 and wrong < 0.005
        tolerance = "at least 98 % are read, less than 0.5 % of all wrongly"
        yield Check("share of recorded bids that are read from the replies", 1.0, right, enough, remark, tolerance)


def _survival_checks(groups: Groups) -> Iterable[Check]:
    for (persona, abundance, resident), published in PUBLISHED_SURVIVAL.items():
        group = groups.get((persona, abundance))
        if group is None:
            continue
        alive = int(group.alive[:, _NAMES.index(resident)].sum())
        games = len(group.games)
        unseen = max(PUBLISHED_GAMES - games, 0)
        agrees = alive <= round(published * PUBLISHED_GAMES) <= alive + unseen
        remark = f"{alive} of {games} games; {PUBLISHED_GAMES} were published" if unseen else ""
        tolerance = "equal, or the games that are not at hand can make up the difference" if unseen else "equal"
        yield Check(f"survival of {resident}, {group.name}", published, alive / games, agrees, remark, tolerance)


def _survival_table(groups: Groups) -> Table:
    columns = (
        Column("setting"),
        Column("games", "right"),
        Column("mean survivors", "right", format=".2f"),
        *(Column(name, "right", format=".2f") for name in _NAMES),
        Column("published"),
    )
    rows = tuple(
        (
            group.name,
            len(group.games),
            group.survivors,
            *(float(rate) for rate in group.alive.mean(axis=0)),
            ", ".join(f"{who} {rate:.2f}" for who, rate in _published(group).items()) or None,
        )
        for group in groups.values()
    )
    return Table(columns, rows, "Survival by setting")


def _published(group: _Group) -> dict[str, float]:
    return {
        who: rate
        for (persona, abundance, who), rate in PUBLISHED_SURVIVAL.items()
        if (persona, abundance) == (group.persona, group.abundance)
    }


def _plain(group: _Group) -> JsonObject:
    low, high = ABUNDANCE[group.abundance]
    rates = {
        name: wilson(int(alive), len(group.games)) for name, alive in zip(_NAMES, group.alive.sum(axis=0), strict=True)
    }
    return {
        "setting": group.name,
        "persona": group.persona,
        "abundance": group.abundance,
        "low": low,
        "high": high,
        "games": len(group.games),
        "mean_survivors": group.survivors,
        "survival": {name: rate.estimate for name, rate in rates.items()},
        "survival_interval": {name: [rate.low, rate.high] for name, rate in rates.items()},
        "published_survival": _published(group),
    }


def _statements(groups: Groups) -> Iterable[Check]:
    """What the paper states in words, decided on the games at hand."""

    def rate(persona: bool, abundance: str, *who: str) -> float:
        return float(groups[persona, abundance].alive[:, [_NAMES.index(name) for name in who]].mean())

    def over(persona: bool, *who: str) -> float:
        return float(np.mean([rate(persona, abundance, *who) for abundance in ABUNDANCE]))

    def survivors(persona: bool, abundance: str) -> float:
        return groups[persona, abundance].survivors

    if len(groups) < 6:
        return
    low, mid, high = ABUNDANCE
    yield _more("fewer survive with low supply than with medium", survivors(False, mid), survivors(False, low))
    yield _more("fewer survive with low supply than with high", survivors(False, high), survivors(False, low))
    for poor in ("Alex", "Bob"):
        for rich in ("Cindy", "David", "Eric"):
            what = f"without personas {rich} survives more often than {poor}"
            yield _more(what, over(False, rich), over(False, poor))
    yield _more("personas raise survival with low supply", survivors(True, low), survivors(False, low))
    yield _more("personas lower survival with medium supply", survivors(False, mid), survivors(True, mid))
    for name in ("Cindy", "David"):
        yield _more(f"{name} survives less often with personas", over(False, name), over(True, name))
    yield _more("Eric survives more often with personas", over(True, "Eric"), over(False, "Eric"))
    for persona in (False, True):
        told = "with personas" if persona else "without personas"
        prices = (groups[persona, low].prices(), groups[persona, high].prices())
        yield _more(f"water is dearer with low supply than with high, {told}", *prices)
        early, late = (groups[persona, low].prices(days) for days in (slice(5, 10), slice(15, 20)))
        yield _more(f"with low supply the price falls after day 10, {told}", early, late, "days 6-10 and 16-20")


def _more(what: str, larger: float, smaller: float, remark: str = "") -> Check:
    sign = ">" if larger > smaller else "<="
    return Check(what, "stated", f"{larger:.2f} {sign} {smaller:.2f}", larger > smaller, remark, "the first is larger")
