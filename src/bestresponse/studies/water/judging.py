"""Judging play on the six published scales, by people and by models.

A sheet is a CSV file: one row a game and resident, one column a scale, filled in by one judge. Scores are whole
numbers from 1 to 5; anything else is refused with its place. `identity` is judged only where residents had personas.
Several judges are summed up by medians and by how far they agree.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from bestresponse.analysis import raters
from bestresponse.core.ask import Amount, Form
from bestresponse.core.episode import Episode
from bestresponse.core.errors import UsageError
from bestresponse.core.game import View
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.players.llm.agent import Agent
from bestresponse.report import tables
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.water.texts import TEXTS

__all__ = ["SCALES", "ScaleSummary", "Score", "judge_play", "read_sheet", "rubric", "sheet", "summarise"]

SCALES = ("information", "reasoning", "effectiveness", "adaptability", "planning", "identity")
LOWEST, HIGHEST = 1, 5
_MOST_WORDS = 12_000
_NOT_JUDGED = "n/a"


@dataclass(frozen=True, slots=True)
class Score:
    """What one judge gave one resident of one game on one scale."""

    judge: str
    game: str
    resident: str
    scale: str
    value: int


@dataclass(frozen=True, slots=True)
class ScaleSummary:
    """One scale over all judged plays. An agreement is None where it is not defined, as with one judge."""

    scale: str
    scores: int
    judges: int
    first_quartile: float | None
    median: float | None
    third_quartile: float | None
    mean: float | None
    fleiss: float | None
    krippendorff: float | None
    icc: float | None


@cache
def rubric() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Each scale's title and what its five levels mean."""
    data = tomllib.loads(files("bestresponse.studies.water.texts").joinpath("rubric.toml").read_text("utf-8"))
    return {scale: (data[scale]["title"], tuple(data[scale]["levels"])) for scale in SCALES}


def _scales(persona: bool) -> tuple[str, ...]:
    return SCALES if persona else SCALES[:-1]


def sheet(plays: Iterable[StoredPlay], judge: str) -> str:
    """An empty sheet for one judge: fill in whole numbers from 1 to 5."""
    rows = [
        {
            "judge": judge,
            "game": play.spec,
            "abundance": play.data["abundance"],
            "personas": play.data["persona"],
            "repeat": play.data["repeat"],
            "resident": resident[0],
            **{scale: "" if scale in _scales(play.data["persona"]) else _NOT_JUDGED for scale in SCALES},
            "remark": "",
        }
        for play in plays
        if not play.record.void
        for resident in play.data["rules"]["residents"]
    ]
    if not rows:
        raise UsageError("there is no finished game to judge")
    return tables.to_csv(rows)


def read_sheet(text: str, where: str) -> tuple[Score, ...]:
    """Read the scores of a filled sheet; empty cells are not judged, anything but 1 to 5 is refused with its place."""
    scores: list[Score] = []
    for line, row in raters.read_sheet(text, ("judge", "game", "resident"), where, some_of=SCALES):
        for scale in SCALES:
            given = row.get(scale, "").strip()
            if given not in ("", _NOT_JUDGED):
                value = _read_score(given, f"{where}, line {line}, {scale}")
                scores.append(Score(row["judge"], row["game"], row["resident"], scale, value))
    return tuple(scores)


def _read_score(given: str, where: str) -> int:
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if value not in range(LOWEST, HIGHEST + 1):
        raise UsageError(f"{where}: {given!r} is not a whole number from {LOWEST} to {HIGHEST}")
    return int(value)


def judge_play(play: StoredPlay, resident: str, judge: Agent) -> tuple[Score, ...]:
    """What a model judge says about one resident of one game; no scores where it gives no answer that can be used."""
    scales = _scales(play.data["persona"])
    ask = Form(tuple((scale, Amount(LOWEST, HIGHEST, whole=True)) for scale in scales))
    decision = judge.decide(_to_judge(play, resident, scales), ask)
    if decision.action is None:
        return ()
    return tuple(Score(judge.name, play.spec, resident, scale, int(decision.action[scale])) for scale in scales)


def _to_judge(play: StoredPlay, resident: str, scales: tuple[str, ...]) -> View:
    game = Water(WaterRules.from_json(play.data["rules"]))
    state = Episode(game, play.record.submissions).state
    view = game.view(state, resident)
    own = [s.decision for s in play.record.submissions if s.role == resident]
    words = "\n".join(f"Day {day}: {d.reasoning or d.action}" for day, d in enumerate(own, 1))
    levels = [
        f"{scale} ({title}): " + " ".join(f"{level} = {text}" for level, text in enumerate(texts, LOWEST))
        for scale, (title, texts) in rubric().items()
        if scale in scales
    ]
    text = TEXTS.fill(
        "judge",
        rules=view.briefing,
        history=view.situation,
        words=words[:_MOST_WORDS],
        who=resident,
        rubric="\n".join(levels),
    )
    return View("judge", text)


def summarise(scores: Iterable[Score]) -> tuple[ScaleSummary, ...]:
    """Medians, quartiles and agreement, scale by scale. A judge who judges the same twice counts with the last."""
    by_scale: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
    for score in scores:
        by_scale.setdefault(score.scale, {}).setdefault((score.game, score.resident), {})[score.judge] = score.value
    if not by_scale:
        raise UsageError("there are no scores yet: the sheets are empty")
    return tuple(_summarise_scale(scale, by_scale[scale]) for scale in SCALES if scale in by_scale)


def _summarise_scale(scale: str, items: Mapping[tuple[str, str], Mapping[str, int]]) -> ScaleSummary:
    judges = sorted({judge for given in items.values() for judge in given})
    table = np.array([[given.get(judge, np.nan) for given in items.values()] for judge in judges])
    found = raters.summarise_ratings(table, range(LOWEST, HIGHEST + 1))
    return ScaleSummary(
        scale,
        found.scores,
        found.raters,
        found.first_quartile,
        found.median,
        found.third_quartile,
        found.mean,
        found.fleiss,
        found.krippendorff,
        found.icc,
    )
