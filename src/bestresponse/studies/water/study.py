"""The Water Allocation Challenge as a study: how its games are played, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.episode import Record, Submission
from bestresponse.core.files import read_prose
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Decision, Nature
from bestresponse.core.seeds import split
from bestresponse.games.water.bidders import Trace, is_bidder, play_many
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.base import ModelsByName
from bestresponse.report.blocks import box_series, lines, metrics_table, pivot, table, text
from bestresponse.report.frames import list_metrics
from bestresponse.runs import seats as seating
from bestresponse.runs.execution import Execution, Outcome, Progress, execute
from bestresponse.runs.reporting.answers import warn_of_gaps
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay, encode_plays
from bestresponse.runs.study import Estimate, Study
from bestresponse.studies.water.config import WaterConfig, describe_condition, list_water_games
from bestresponse.studies.water.frames import ConditionMetrics, measure_water

_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class _Block:
    """Games of one condition that are played together.

    `data` is what their specs have in common.
    """

    data: JsonObject
    seed: int
    repeats: tuple[int, ...]

    def make_spec(self, repeat: int) -> Spec:
        """Return the spec of one of the games."""
        return Spec.of({**self.data, "repeat": repeat, "seed": split(self.seed, "water", repeat)})


def play_bidders(
    config: WaterConfig,
    folder: RunFolder,
    how: Execution,
    total: int | None,
) -> Outcome:
    """Play what is missing of games in which no seat holds a model, many at a time."""
    finished = folder.finished()
    outcome = Outcome(found=len(finished))

    def list_blocks() -> Iterator[_Block]:
        for condition in config.conditions:
            whole = _Block(
                describe_condition(config, condition),
                config.seed,
                tuple(range(config.repeats)),
            )
            repeats = iter(whole.repeats)
            if finished or how.shard is not None:  # all of them need no ids to be told apart
                specs = how.choose(map(whole.make_spec, whole.repeats))
                repeats = (spec.data["repeat"] for spec in specs if spec.id not in finished)
            while block := tuple(islice(repeats, _AT_ONCE)):
                yield replace(whole, repeats=block)

    for encoded in how.executor.map(
        _play_block,
        list_blocks(),
        how.workers if how.workers > 1 else None,
    ):
        folder.finish_encoded(encoded)
        outcome.played += encoded.count(b"\n")
        how.on_progress(Progress(total, outcome.found, outcome.played, 0))
    return outcome


def _play_block(block: _Block) -> bytes:
    """Plan and play the games and encode their records.

    Whoever writes them then has little else to do.
    """
    specs = list(map(block.make_spec, block.repeats))
    bidders = [name for _, name in block.data["seats"]]
    trace = play_many(
        WaterRules.from_json(block.data["rules"]),
        bidders,
        [spec.data["seed"] for spec in specs],
    )
    records = list_records(trace, bidders)
    return encode_plays(
        StoredPlay(spec.id, spec.data, record) for spec, record in zip(specs, records, strict=True)
    )


def list_records(trace: Trace, bidders: Sequence[str]) -> Iterator[Record]:
    """Yield the records of games that were played many at once.

    They are the same as if each game had been played alone.
    """
    game = Water(trace.rules)
    names = {**dict(zip(game.roles, bidders, strict=True)), NATURE: Nature(0).name}
    for row in range(len(trace.supply)):
        submissions = []
        supplies = trace.supply[row].astype(int).tolist()
        present = trace.present[row].tolist()
        bids = trace.bids[row].tolist()
        passed = np.isnan(trace.bids[row]).tolist()
        for day in range(trace.rules.days):
            if not any(present[day]):
                break
            drawn = Decision(supplies[day])
            submissions.append(Submission(NATURE, drawn))
            for role, here, bid, none in zip(
                game.roles, present[day], bids[day], passed[day], strict=True
            ):
                if here:
                    decision = Decision(PASS if none else bid)
                    submissions.append(Submission(role, decision))
        survived = trace.survived[row].astype(float).tolist()
        payoffs = dict(zip(game.roles, survived, strict=True))
        yield Record(game.name, game.version, dict(names), tuple(submissions), payoffs)


def _find_town(data: JsonMapping) -> Water:
    return Water(WaterRules.from_json(data["rules"]))


def make_run(
    config: WaterConfig,
    folder: RunFolder,
    models: ModelsByName,
    how: Execution,
) -> Outcome:
    """Play what is missing; where every seat holds a bidder, many games at a time."""
    total = water.count_part(config, how.shard)
    if all(is_bidder(player) for player in config.seats.values()):
        return play_bidders(config, folder, how, total)
    start = water.start(config, models, how)
    return execute(
        how.choose(water.list_specs(config)),
        start,
        folder,
        total=total,
        on_progress=how.on_progress,
    )


def estimate_water_calls(config: WaterConfig) -> Estimate:
    """Count the calls of all games at most."""
    parts = []
    for condition in config.conditions:
        parts.append(seating.estimate_plays(config, Water(condition.rules), config.seats))
    games = config.repeats * len(parts)
    return Estimate.add(parts, f"{games:,} games of {config.town.days} days, seed {config.seed}")


_ERRORS = "mean over the games in which a resident was there, with two standard errors"
_RESIDENTS: dict[str, Any] = {"x": "day", "by": "resident", "split": "condition"}
_PROSE = read_prose(__file__)
water = Study(
    "water",
    WaterConfig,
    specs=list_water_games,
    play=lambda config, models: seating.make_player(
        lambda spec: _find_town(spec.data), config.offer_tools(models)
    ),
    measure=measure_water,
    metrics=list_metrics(ConditionMetrics),
    title="Who survives the drought?",
    subtitle=_PROSE["subtitle"],
    command="simulate water",
    unit="games",
    tables=2,
    game=lambda config, data: _find_town(data),
    count_plays=lambda config: config.repeats * len(config.conditions),
    prepare=seating.check_players,
    estimate_calls=estimate_water_calls,
    make_run=make_run,
    report=(
        warn_of_gaps,
        metrics_table("Who survived"),
        pivot(
            "survival",
            rows="condition",
            columns="resident",
            value="survived",
            caption="Share of games survived",
        ),
        table("comparisons", title="What made the difference"),
        box_series(
            "prices",
            "day",
            ("least", "first_quartile", "median", "third_quartile", "most"),
            "mean_of_medians",
            split="condition",
            title="What water cost",
            caption=_PROSE["prices"],
        ),
        lines(
            "residents",
            y="bid",
            title="Bids",
            caption=f"bids, {_ERRORS}",
            **_RESIDENTS,
        ),
        lines(
            "mornings",
            "day",
            "rsr",
            "condition",
            expected="rsr_start",
            title="How scarce water was",
            caption=_PROSE["scarcity"],
        ),
        lines(
            "residents",
            y="health",
            title="Health",
            caption=f"health in the evening, {_ERRORS}",
            **_RESIDENTS,
        ),
        lines(
            "residents",
            y="balance",
            title="Money",
            caption=f"balance in the evening, {_ERRORS}",
            **_RESIDENTS,
        ),
        table(
            "example",
            (
                "repeat",
                "day",
                "supply",
                "resident",
                "need",
                "bid",
                "served",
                "health",
                "balance",
                "reasons",
            ),
            title="An example",
            caption=_PROSE["example"],
            split="condition",
        ),
        pivot(
            "baselines",
            "bidder",
            "supply",
            "survivors",
            title="Beside bidders without a model",
            caption=_PROSE["baselines"],
        ),
        text(_PROSE["rules"], title="The rules of these games"),
        table("voids", title="Games without a result"),
    ),
)
"""Survival, scarcity and prices in many games of the Water Allocation Challenge."""
