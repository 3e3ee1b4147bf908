"""The measured plays of a run by player, with the baselines.

Also holds the versions of the games that are measured separately.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Annotated, Any, TypedDict, cast

from bestresponse.core.lazy import LazyMapping
from bestresponse.players.llm.verified import make_label
from bestresponse.players.strategies import BASELINES, EQUILIBRIUM
from bestresponse.report.frames import Frame, R, column
from bestresponse.studies.bench.measure import (
    PlayRow,
    Rows,
    describe_asking,
    find_values,
    identify_case,
    measure_baseline,
    select_base,
    select_conditions,
    select_original,
)
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import BASE, BUCKET, BUCKETS, WORDING, Plan

COMPARED = {"gap_normalised": "gap / range", "exploitability_normalised": "exploitability / range"}
"""The metrics by which players are compared, and what they are called."""
_VERSION_METRICS = ("asked", "answered", *COMPARED, "success_1", "success_5")


@dataclass(frozen=True)
class Results:
    """The measured plays of a run."""

    plan: Plan
    rows: list[PlayRow]

    def group(self, rows: Iterable[PlayRow]) -> dict[tuple[str, str], list[PlayRow]]:
        """Group rows by player and way of asking, in the order of the settings."""
        groups: dict[tuple[str, str], list[PlayRow]] = {}
        for data, _ in self.plan.count_by_first():
            groups[make_label(data["model"]), describe_asking(self.plan, data)] = []
        for row in rows:
            groups[row["model"], row["asked_for"]].append(row)
        return {group: played for group, played in groups.items() if played}

    @cached_property
    def players(self) -> dict[str, list[PlayRow]]:
        """All rows of every player in every way of asking, by its name."""
        return {" / ".join(group): rows for group, rows in self.group(self.rows).items()}

    @cached_property
    def base(self) -> dict[str, list[PlayRow]]:
        """The rows of every player in the games as drawn under the base settings."""
        drawn: dict[str, list[PlayRow]] = {}
        for player, rows in self.players.items():
            drawn[player] = select_base(select_original(rows))
        return drawn

    @cached_property
    def baselines(self) -> Mapping[str, list[PlayRow]]:
        """The rows of every baseline on the games that were put to the models."""
        games: set[int] = set()
        for rows in self.base.values():
            games.update(row["game"] for row in rows)
        if not games:
            return {}

        measured = {}
        for name in (*BASELINES, EQUILIBRIUM):
            measured[name] = partial(measure_baseline, self.plan, name, sorted(games))
        return LazyMapping(measured)


class VersionRow(TypedDict):
    """The metrics of a player in one version of the games, a column each."""

    player: str
    version: str
    actions: Annotated[
        int | None, column("actions of each player", help="if it is the same in all games")
    ]


@dataclass(frozen=True, slots=True)
class Version:
    """Plays of one version of the games measured separately, and the frame for them."""

    frame: str
    player: str
    name: str
    rows: Rows


def list_versions(results: Results) -> Iterator[Version]:
    """Yield the versions of every player: the games that it answered, and those of the suite."""
    for player, rows in results.players.items():
        yield from _list_answered(results, player)
        original = select_original(rows)
        match results.plan.config.suite:
            case "sensitivity":
                for condition in results.plan.conditions:
                    told = [row for row in original if row["condition"] == condition]
                    yield Version("settings", player, condition, told)
            case "invariance":
                for variant in results.plan.variants:
                    told = [row for row in rows if row["variant"] in ("original", variant)]
                    yield Version("variants", player, variant, told)


def _list_answered(results: Results, player: str) -> Iterator[Version]:
    """Yield the games that a player answered where it did not answer all, with the baselines."""
    base = results.base[player]
    answered = {identify_case(row) for _, row in find_values(base, "nash_gap")}
    if not 0 < len(answered) < len(base):
        return
    version = f"the {len(answered)} that {player} answered"
    for name, played in {player: base, **results.baselines}.items():
        rows = [row for row in played if identify_case(row) in answered]
        yield Version("same_games", name, version, rows)


def tell_as_drawn(rows: Rows, variant: str) -> list[PlayRow]:
    """Return the rows of a variant as if the games had been drawn so.

    They are to be compared with the games as drawn.
    """
    told = []
    for row in rows:
        if row["variant"] != variant:
            continue
        seat = row["seat"]
        if variant == "swapped":
            seat = "col" if seat == "row" else "row"
        told.append(cast(PlayRow, {**row, "variant": "original", "seat": seat}))
    return told


def tabulate_versions(frame: str, results: Results) -> Frame[VersionRow]:
    """Compute the metrics of every version that one frame shows."""
    wanted = ("invariance",) if frame == "variants" else _VERSION_METRICS
    versions = []
    for version in list_versions(results):
        sizes = {row["rows"] for row in version.rows}
        head = VersionRow(
            player=version.player,
            version=version.name,
            actions=sizes.pop() if len(sizes) == 1 else None,
        )
        if version.frame == frame:
            versions.append((head, version.rows))
    table = _tabulate(VersionRow, versions, wanted)
    return replace(table, rows=[*table, *_compare_instructions(table)])


def _compare_instructions(rows: Iterable[VersionRow]) -> Iterator[VersionRow]:
    """Yield by player how far apart its figures are under the wordings of the instruction."""
    players: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["version"].startswith((BASE, WORDING)):
            players[row["player"]].append(row)
    for player, told in players.items():
        if len(told) > 1:
            spread = dict.fromkeys(told[0])
            for name in COMPARED:
                means = [row[name].estimate for row in told if row[name]]
                spread[name] = max(means) - min(means) if means else None
            version = f"spread of {len(told)} instructions"
            yield cast(VersionRow, spread | {"player": player, "version": version})


def _tabulate(
    kind: type[R],
    versions: Iterable[tuple[R, Rows]],
    wanted: Sequence[str],
) -> Frame[R]:
    """Compute these metrics of every version that has plays, as columns behind its head."""
    metrics = [metric for metric in METRICS if metric.name in wanted]
    table = []
    for head, rows in versions:
        if rows:
            figures = {metric.name: metric.compute(rows) for metric in metrics}
            table.append(cast(R, {**head, **figures}))
    return Frame(kind, table, {metric.name: metric.column for metric in metrics})


class BucketRow(TypedDict):
    """The metrics of a player in the games of one bucket, of one tier, or of all.

    The metrics are further columns.
    """

    player: str
    tier: Annotated[
        str,
        column(help="1: a saddle point; 2: a mix in games up to 3 x 3; 3: a mix in larger ones"),
    ]
    size: str
    range: Annotated[str, column("payoffs", help="narrow: from -10 to 10; medium: 50; wide: 100")]
    equilibrium: Annotated[str, column(help="pure: there is a saddle point; mixed: there is none")]


_BUCKET_METRICS = (
    "asked",
    "answered",
    "nash_gap",
    "nash_gap_median",
    "nash_gap_std",
    "gap_ratio",
    "gap_normalised",
    "exploitability_normalised",
    "success_1",
)
_ALL = "all"


def _list_buckets(results: Results, player: str) -> Iterator[tuple[BucketRow, Rows]]:
    """Yield the rows of a player in every bucket, every tier, and all buckets together."""
    played = select_conditions(select_original(results.players[player]), BUCKET)
    for bucket in BUCKETS:
        head = BucketRow(
            player=player,
            tier=bucket.tier,
            size=f"{bucket.size} x {bucket.size}",
            range=bucket.range,
            equilibrium=bucket.equilibrium,
        )
        yield head, select_conditions(played, bucket.name)
    tiers: dict[str, list[str]] = defaultdict(list)
    for bucket in BUCKETS:
        tiers[bucket.tier].append(bucket.name)
    tiers[_ALL] = [bucket.name for bucket in BUCKETS]
    for tier, names in tiers.items():
        head = BucketRow(
            player=player,
            tier=tier,
            size=_ALL,
            range=_ALL,
            equilibrium=_ALL,
        )
        yield head, select_conditions(played, *names)


def tabulate_buckets(results: Results) -> Frame[BucketRow]:
    """Compute the metrics of every bucket, tier and player; empty in other suites."""
    players = results.players if results.plan.config.suite == "buckets" else ()
    buckets = [_list_buckets(results, player) for player in players]
    return _tabulate(BucketRow, chain.from_iterable(buckets), _BUCKET_METRICS)
