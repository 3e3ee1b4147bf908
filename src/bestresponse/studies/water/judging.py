"""Judging play on the six published scales, by people and by models.

A sheet is a CSV file: one row a game and resident, one column a scale, filled in by one judge. Scores are whole
numbers from 1 to 5; anything else is refused with its place. People and models see the same: rules, persona, what
happened, and the resident's own words. `identity` is judged only where a model played with a persona. Several judges
are summed up by means, deviations and medians, by how far they agree, and by how far models agree with people.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from bestresponse.analysis import raters
from bestresponse.core.ask import PASS, Amount, Form
from bestresponse.core.episode import Episode
from bestresponse.core.errors import UsageError
from bestresponse.core.game import View
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision
from bestresponse.games.water.batch import Floats
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.games.water.wording import money
from bestresponse.models.base import Model
from bestresponse.players.llm.persona import Persona
from bestresponse.players.llm.player import LlmPlayer, Sampling
from bestresponse.players.llm.prompting import Style
from bestresponse.players.llm.reading import find_reasons
from bestresponse.report import tables
from bestresponse.report.stats.agreement import krippendorff_alpha
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.water.texts import TEXTS

__all__ = ["SCALES", "ScaleSummary", "Score", "judge_play", "judge_plays", "read_sheet", "rubric", "sheet", "summarise"]

SCALES = ("information", "reasoning", "effectiveness", "adaptability", "planning", "identity")
LOWEST, HIGHEST = 1, 5
PERSON, MODEL = "person", "model"
_MOST_WORDS = 24_000
_LONGEST_RULING = 1024
_ATTEMPTS = 3
_NOT_JUDGED = "n/a"


@dataclass(frozen=True, slots=True)
class Score:
    """What one judge gave one resident of one game on one scale."""

    judge: str
    game: str
    resident: str
    scale: str
    value: int
    kind: str = PERSON


@dataclass(frozen=True, slots=True)
class ScaleSummary:
    """One scale over all judged plays. An agreement is None where it is not defined, as with one judge.

    `people_and_models` is Krippendorff's alpha (interval) between what people and what models gave on average to the
    plays that both have judged.
    """

    scale: str
    scores: int
    judges: int
    mean: float | None
    deviation: float | None
    first_quartile: float | None
    median: float | None
    third_quartile: float | None
    fleiss: float | None
    krippendorff: float | None
    icc: float | None
    models_minus_people: float | None
    people_and_models: float | None


@cache
def rubric() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Each scale's title and what its five levels mean."""
    data = tomllib.loads(files("bestresponse.studies.water.texts").joinpath("rubric.toml").read_text("utf-8"))
    return {scale: (data[scale]["title"], tuple(data[scale]["levels"])) for scale in SCALES}


def sheet(plays: Iterable[StoredPlay], judge: str) -> str:
    """Write an empty sheet for one judge, with all that a model judge sees: fill in whole numbers from 1 to 5."""
    rows = [_sheet_row(play, resident[0], judge) for play in plays for resident in play.data["rules"]["residents"]]
    if not rows:
        raise UsageError("there is no finished game to judge")
    return tables.to_csv(rows)


def _sheet_row(play: StoredPlay, resident: str, judge: str) -> JsonObject:
    seen = _Seen.find(play, resident)
    return {
        "judge": judge,
        "kind": PERSON,
        "game": play.spec,
        "abundance": play.data["abundance"],
        "personas": play.data["persona"],
        "repeat": play.data["repeat"],
        "resident": resident,
        "persona": seen.persona,
        "what happened": seen.history,
        "words": seen.words,
        **{scale: "" if scale in seen.scales else _NOT_JUDGED for scale in SCALES},
        "remark": "",
    }


def read_sheet(text: str, where: str) -> tuple[Score, ...]:
    """Read the scores of a filled sheet; empty cells are not judged, anything but 1 to 5 is refused with its place."""
    scores: list[Score] = []
    for line, row in raters.read_sheet(text, ("judge", "game", "resident"), where, some_of=SCALES):
        for scale in SCALES:
            given = row.get(scale, "").strip()
            if given not in ("", _NOT_JUDGED):
                value = _read_score(given, f"{where}, line {line}, {scale}")
                scores.append(
                    Score(row["judge"], row["game"], row["resident"], scale, value, row.get("kind") or PERSON)
                )
    return tuple(scores)


def _read_score(given: str, where: str) -> int:
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if value not in range(LOWEST, HIGHEST + 1):
        raise UsageError(f"{where}: {given!r} is not a whole number from {LOWEST} to {HIGHEST}")
    return int(value)


def judge_play(play: StoredPlay, resident: str, model: Model) -> tuple[Score, ...]:
    """Let a model judge one resident of one game; no scores where it gives no answer that can be used."""
    seen = _Seen.find(play, resident)
    ask = Form(tuple((scale, Amount(LOWEST, HIGHEST, whole=True)) for scale in seen.scales))
    style: Style = "reasoned" if model.abilities.schema else "line"
    judge = LlmPlayer(model, Sampling(max_tokens=_LONGEST_RULING), style, _ATTEMPTS, TEXTS.text("judge_system"))
    given = judge.decide(View("judge", seen.to_text(resident)), ask).action
    if given is None:
        return ()
    return tuple(Score(model.id, play.spec, resident, scale, int(given[scale]), MODEL) for scale in seen.scales)


def judge_plays(plays: Iterable[StoredPlay], models: Iterable[Model], workers: int = 1) -> tuple[Score, ...]:
    """Let every model judge every resident of every game, up to `workers` at the same time."""
    residents = [(play, resident[0]) for play in plays for resident in play.data["rules"]["residents"]]
    with ThreadPoolExecutor(workers, thread_name_prefix="judge") as pool:
        asked = [pool.submit(judge_play, play, name, model) for model in models for play, name in residents]
        try:
            return tuple(score for one in asked for score in one.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a judge sees of one resident: the rules and the persona it was told, how it went, and its own words."""

    rules: str
    persona: str
    history: str
    words: str
    scales: tuple[str, ...]

    @classmethod
    def find(cls, play: StoredPlay, resident: str) -> _Seen:
        game = Water(WaterRules.from_json(play.data["rules"]))
        view = game.view(Episode(game, play.record.submissions).state, resident)
        own = [s.decision for s in play.record.submissions if s.role == resident]
        longest = _MOST_WORDS // max(1, len(own))
        words = "\n".join(f"Day {day}, {_describe_bid(d, longest)}" for day, d in enumerate(own, 1))
        told = play.data.get("personas", {}).get(resident)
        persona = "" if told is None else _describe_persona(Persona(**told))
        return cls(view.briefing, persona, view.situation, words, SCALES if persona else SCALES[:-1])

    def to_text(self, resident: str) -> str:
        """Write the question to a model."""
        levels = [
            f"{scale} ({title}): " + " ".join(f"{level} = {text}" for level, text in enumerate(texts, LOWEST))
            for scale, (title, texts) in rubric().items()
            if scale in self.scales
        ]
        return TEXTS.fill(
            "judge",
            rules=self.rules,
            persona=self.persona or TEXTS.text("judge_nobody"),
            history=self.history,
            words=self.words,
            who=resident,
            rubric="\n".join(levels),
        )


def _describe_persona(persona: Persona) -> str:
    return TEXTS.fill(
        "judge_persona",
        who=persona.name,
        profession=persona.profession,
        personality=persona.personality,
        background=persona.background,
    )


def _describe_bid(decision: Decision, longest: int) -> str:
    """Say what somebody did on a day, and why, as far as it said so."""
    said = find_reasons(decision.reasoning)
    words = said if len(said) <= longest else said[:longest] + " ..."
    done = "no bid" if decision.action == PASS else f"bid ${money(decision.action)}"
    return f"{done}: {words}" if words else done


def summarise(scores: Iterable[Score]) -> tuple[ScaleSummary, ...]:
    """Sum up scale by scale. A judge who judges the same twice counts with the last."""
    given = tuple(scores)
    kinds = {score.judge: score.kind for score in given}
    by_scale: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
    for score in given:
        by_scale.setdefault(score.scale, {}).setdefault((score.game, score.resident), {})[score.judge] = score.value
    if not by_scale:
        raise UsageError("there are no scores yet: the sheets are empty")
    return tuple(_summarise_scale(scale, by_scale[scale], kinds) for scale in SCALES if scale in by_scale)


def _summarise_scale(
    scale: str, items: Mapping[tuple[str, str], Mapping[str, int]], kinds: Mapping[str, str]
) -> ScaleSummary:
    judges = sorted({judge for given in items.values() for judge in given})
    table = np.array([[given.get(judge, np.nan) for given in items.values()] for judge in judges])
    found = raters.summarise_ratings(table, range(LOWEST, HIGHEST + 1))
    models = np.array([kinds[judge] == MODEL for judge in judges])
    return ScaleSummary(
        scale,
        found.scores,
        found.raters,
        found.mean,
        found.deviation,
        found.first_quartile,
        found.median,
        found.third_quartile,
        found.fleiss,
        found.krippendorff,
        found.icc,
        *_compare_kinds(table[~models], table[models]),
    )


def _compare_kinds(people: Floats, models: Floats) -> tuple[float | None, float | None]:
    """Return models' minus people's mean over the items both judged, and the alpha between their item means."""
    if not len(people) or not len(models):
        return None, None
    both = np.isfinite(people).any(axis=0) & np.isfinite(models).any(axis=0)
    if not both.any():
        return None, None
    means = np.stack([np.nanmean(people[:, both], axis=0), np.nanmean(models[:, both], axis=0)])
    alpha = raters.compute_if_defined(lambda ratings: krippendorff_alpha(ratings, "interval"), means)
    return float((means[1] - means[0]).mean()), alpha
