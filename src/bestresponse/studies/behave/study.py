"""What was played, as parameters with intervals.

These are strategies in repeated games, and noise and depth in single choices.

A run of this study keeps the plays of the runs that it describes in one form, a table with moves,
so that it can be measured anew without them. Moves of seats whose player is not known count as what
the others met, not as players.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from bestresponse.analysis.people import find_people
from bestresponse.core.errors import SettingError
from bestresponse.core.files import read_prose
from bestresponse.core.seeds import split
from bestresponse.report.blocks import intervals, lines, metrics_table, pivot, table
from bestresponse.report.frames import Frame, Heads, Value, ValueColumn, column, list_metrics
from bestresponse.runs.store.folder import RunFolder, read_lines
from bestresponse.runs.study import Measured, Study
from bestresponse.studies.behave.config import BehaveConfig
from bestresponse.studies.behave.estimates import (
    ClassRow,
    FittedRow,
    GroupRow,
    NumberRow,
    PlayerGroup,
    StrategyRow,
    as_float,
    choose_fits,
    estimate_choices,
    estimate_strategies,
)
from bestresponse.studies.behave.moves import (
    SeatMoves,
    UnusedRow,
    copy_plays,
    list_sequences,
    prepare_behave,
)


class RoundRow(TypedDict):
    """Cooperation in one round."""

    who: str
    round: int
    cooperation: Annotated[
        Value, column(format=".3f", help="95 % interval over subjects, or else matches")
    ]


class BesideRow(TypedDict):
    """A group beside people in the nearest dilemma."""

    group: str
    people: str
    first: Annotated[Value, column("first round", ".3f", "share of cooperation of the group")]
    people_first: Annotated[float, column("of people", ".3f")]
    difference: Annotated[
        float | None, column(format="+.3f", help="group minus people, in the first round")
    ]
    distance: Annotated[float | None, column("distance of strategies", ".3f")]
    """half the sum of differences of shares: 0 if identical, 1 if disjoint"""


class BehaviourMetrics(TypedDict):
    """The metrics of a group, with 95 % intervals over subjects or games.

    Intervals are over matches if subjects have no names.
    """

    matches: Annotated[int, column(format=".0f")]
    """matches with a player of the group"""
    first: Annotated[Value, column("first round", ".3f")]
    """share of cooperation in the first round"""
    cooperation: ValueColumn
    """share of cooperation in all rounds"""
    error: ValueColumn
    """probability of a move that the strategy does not prescribe"""
    qre: Annotated[Value, column("lambda", ".3g")]
    """precision of the logit equilibrium"""
    hierarchy: Annotated[Value, column("tau", ".3f")]
    """mean steps of reasoning"""
    level: ValueColumn
    """mean level of reasoning"""


def measure_behaviour(config: BehaveConfig, folder: RunFolder) -> Measured:
    """Put players into groups and estimate everything that was asked for."""
    groups: dict[tuple[str, ...], list[SeatMoves]] = defaultdict(list)
    for seen in list_sequences(folder):
        unknown = [name for name in config.by if name not in seen.labels]
        if unknown:
            raise SettingError(
                "by", f"there is no group {unknown[0]!r}; expected one of {', '.join(seen.labels)}"
            )
        key = tuple(str(seen.labels[name]) for name in config.by)  # a file may hold numbers
        groups[key].append(seen)
    frames: dict[str, list[Any]] = {name: [] for name in _ROWS}
    frames["left_out"] = list(read_lines(folder.path / "unused.jsonl"))
    figures: dict[Heads, BehaviourMetrics] = {}
    for heads in sorted(groups):
        name = ", ".join(filter(None, heads))
        seed = split(config.seed, "behave", *heads)
        group = PlayerGroup(groups[heads], seed)
        frames["groups"].append({"group": name})
        wanted = config.fit or choose_fits(group)
        models = [model for model in wanted if model != "strategies"]
        error: Value = None
        if "strategies" in wanted:
            error = estimate_strategies(config, name, group, frames)
        parameters: Mapping[str, Value] = {}
        if models:
            parameters = estimate_choices(config, name, group, models, frames)
        figures[heads] = BehaviourMetrics(
            matches=len({seen.match for seen in group.sequences}),
            first=group.average_cooperation(0, 1),
            cooperation=group.average_cooperation(),
            error=error,
            qre=parameters.get("lambda"),
            hierarchy=parameters.get("tau"),
            level=parameters.get("mean level"),
        )
        longest = max((len(moves) for _, moves in group.cooperation), default=0)
        for number in range(longest):
            share = group.average_cooperation(number, number + 1)
            frames["rounds"].append(RoundRow(who=name, round=number + 1, cooperation=share))
        if config.beside:
            _stand_beside(name, group, frames)
    return Measured(
        {name: Frame(kind, frames[name]) for name, kind in _ROWS.items()},
        answered=sum(map(len, groups.values())),
        labels=config.by,
        groups=figures,
    )


def _stand_beside(name: str, group: PlayerGroup, frames: dict[str, list[Any]]) -> None:
    """List the people whose dilemma is nearest to the group's.

    Also says how far the group is from them.
    """
    played = Counter(seen.form for seen in group.sequences)
    ((form, _),) = played.most_common(1)
    nearest = find_people(form)
    if not nearest:
        why = "the game is not a symmetric dilemma"
        frames["left_out"].append(
            UnusedRow(what=f"{name}: people beside", why=why, times=len(group.sequences))
        )
    first = group.average_cooperation(0, 1)
    estimated = [row for row in frames["strategies"] if row["group"] == name]
    shares = {row["strategy"]: as_float(row["share"]) for row in estimated}
    for people in nearest:
        distance = None
        if set(shares) == set(people.strategies):
            apart = [abs(share - people.strategies[kind]) for kind, share in shares.items()]
            distance = sum(apart) / 2
        row = BesideRow(
            group=name,
            people=people.label,
            first=first,
            people_first=people.first,
            # Of mixtures nobody knows whether the first move was to cooperate.
            difference=None if first is None else as_float(first) - people.first,
            distance=distance,
        )
        frames["beside"].append(row)

        listed = {row["who"] for row in frames["rounds"]}
        if people.label not in listed:
            for number, share in enumerate(people.rounds, 1):
                of_people = RoundRow(who=people.label, round=number, cooperation=share)
                frames["rounds"].append(of_people)


_ROWS: dict[str, type] = {
    "groups": GroupRow,
    "strategies": StrategyRow,
    "models": FittedRow,
    "rounds": RoundRow,
    "beside": BesideRow,
    "numbers": NumberRow,
    "classes": ClassRow,
    "left_out": UnusedRow,
}
"""The frames of a run."""
_PROSE = read_prose(__file__)
behave = Study(
    "behave",
    BehaveConfig,
    measure=measure_behaviour,
    metrics=list_metrics(BehaviourMetrics),
    title="What was played",
    subtitle=_PROSE["subtitle"],
    command="behave",
    unit="matches",
    tables=4,
    texts=(),
    prepare=prepare_behave,
    count_plays=lambda config: None,
    make_run=copy_plays,
    report=(
        metrics_table("What was played"),
        table("left_out", title="What was played", caption="Left out of all estimates."),
        table("beside", title="Compared with people"),
        pivot(
            "strategies",
            "group",
            "strategy",
            "share",
            title="Strategies",
            caption=_PROSE["strategies"],
        ),
        intervals(
            "strategies",
            label=("group", "strategy"),
            value="share",
            least=0.001,
            caption=_PROSE["intervals"],
        ),
        table("groups", caption="How the strategies were estimated."),
        lines(
            "rounds",
            x="round",
            y="cooperation",
            by="who",
            title="Cooperation by round",
            caption=_PROSE["rounds"],
        ),
        table(
            "models",
            title="Single choices",
            caption="Scores are those of held-out games, with ten folds.",
        ),
        table(
            "numbers",
            title="How many strategies",
            caption="The rarest strategy is removed, one at a time.",
        ),
    ),
)
"""What was played in recorded runs, as parameters with intervals."""
